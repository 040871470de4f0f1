"""Texts compared word by word, and excerpts of the result."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.diff import words as compared
from registry.diff.models import Chunk
from registry.diff.words import excerpt, is_similar, item_diff, matches, word_diff

words = st.lists(st.sampled_from("abc"), max_size=30)


def shown(chunks: tuple[Chunk, ...]) -> str:
    forms = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}
    return "".join(forms[chunk.sign].format(chunk.text) for chunk in chunks)


DIFFS = [
    ("", "", ""),
    ("a b", "a b", "a b"),
    ("", "a", "{+a+}"),
    ("a b c", "a x c", "a [-b-]{+x+} c"),
    ("a b c d", "a x y d", "a [-b c-]{+x y+} d"),
    ("one, two", "one; two", "one[-,-]{+;+} two"),
    ("same", "same more", "same{+ more+}"),
    ("größe ist", "größer ist", "[-größe-]{+größer+} ist"),
    ("a\nb", "a b", "a[-\n-]{+ +}b"),
    ("鸭子每天下蛋", "鸭子每天吃蛋", "鸭子每天[-下-]{+吃+}蛋"),
    ("ఒక ఇంటిపై", "ఒక ఇంటికి", "ఒక [-ఇంటిపై-]{+ఇంటికి+}"),
    ("वह खाता है", "वह खाती है", "वह [-खाता-]{+खाती+} है"),
]


@pytest.mark.parametrize(("old", "new", "expected"), DIFFS)
def test_words_are_compared(old: str, new: str, expected: str) -> None:
    assert shown(word_diff(old, new)) == expected


text = st.text(st.sampled_from("ab .,\n"), max_size=40)


@given(old=text, new=text)
def test_both_texts_can_be_read_from_a_diff(old: str, new: str) -> None:
    chunks = word_diff(old, new)
    assert "".join(one.text for one in chunks if one.sign != "+") == old
    assert "".join(one.text for one in chunks if one.sign != "-") == new
    assert all(one.text for one in chunks)


LONG = [f"word{n}" for n in range(3_000)]
LONG_TEXTS = {
    "different words": LONG,
    "one sentence": ["The", "grass", "is", "green", ",", "the", "sky", "is", "blue", "."] * 600,
    "two words": ["a", "b"] * 3_000,
}


@pytest.mark.parametrize("case", LONG_TEXTS)
def test_edits_at_both_ends_of_a_long_text_hide_none_in_the_middle(case: str) -> None:
    words = LONG_TEXTS[case]
    half = len(words) // 2
    old = " ".join(["First", *words[:half], "NOT", *words[half:], "last"])
    new = " ".join(["1st", *words[:half], *words[half:], "end"])
    changes = [chunk for chunk in word_diff(old, new) if chunk.sign != "="]
    assert [text.strip() for _, text in changes] == ["First", "1st", "NOT", "last", "end"]


def test_excerpt_keeps_the_context_of_changes() -> None:
    long = " ".join(f"word{n}" for n in range(100))
    start, end = (" ".join(f"word{n}" for n in some) for some in (range(6), range(95, 100)))
    chunks = excerpt(word_diff(f"{long} old {long}", f"{long} new {long}"))
    assert shown(chunks) == f"… {end} [-old-]{{+new+}} {start} …"
    chunks = excerpt(word_diff(f"a {long} b", f"x {long} y"))
    assert shown(chunks) == f"[-a-]{{+x+}} {start} … {end} [-b-]{{+y+}}"


def test_long_change_keeps_its_ends() -> None:
    (chunk,) = excerpt((Chunk("+", "start " + "x" * 1000 + " end"),))
    assert chunk.text.startswith("start x")
    assert chunk.text.endswith("x end")
    assert " …770 more characters… " in chunk.text
    assert len(chunk.text) <= 265


@pytest.mark.parametrize(
    ("old", "new", "alike"),
    [
        ("What is the capitol of France?", "What is the capital of France?", True),
        ("How many?", "Where to?", False),
        ("", "", True),
        ("Q", "R", False),
        ("of all the words " * 60, "but " + "of all the words " * 60, True),  # each is frequent
    ],
)
def test_texts_with_mostly_equal_words_are_similar(old: str, new: str, *, alike: bool) -> None:
    assert is_similar(old, new) is alike


ALIKE = {
    "Cyrillic letter": ("pay", "p\u0430y", "[-pay-]{+p\\u{430}y+}"),
    "all letters": ("pay", "\u0440\u0430\u0443", "[-pay-]{+\\u{440}\\u{430}\\u{443}+}"),
    "decomposed": ("caf\u00e9", "cafe\u0301", "[-caf\\u{e9}-]{+cafe\\u{301}+}"),
    "full width": ("a1", "\uff41\uff11", "[-a1-]{+\\u{ff41}\\u{ff11}+}"),
    "no-break space": ("a b", "a\u00a0b", "a[-␣-]{+\\u{a0}+}b"),
    "thin space": ("a b", "a\u2009b", "a[-␣-]{+\\u{2009}+}b"),
    "other words": ("dom", "\u0434\u043e\u043c", "[-dom-]{+\u0434\u043e\u043c+}"),
    "accent": ("resume", "r\u00e9sum\u00e9", "[-resume-]{+r\u00e9sum\u00e9+}"),
}


@pytest.mark.parametrize("case", ALIKE)
def test_sides_of_a_change_never_look_alike(case: str) -> None:
    old, new, expected = ALIKE[case]
    assert shown(excerpt(word_diff(old, new))) == expected


def test_letter_that_looks_like_another_is_marked_in_what_is_added() -> None:
    (chunk,) = excerpt([Chunk("+", "Wh\u0430t is \u03b2-\u043a\u043e\u0442?")])
    assert chunk.text == "Wh\\u{430}t is \u03b2-\u043a\u043e\u0442?"


def check(old: list[str], new: list[str]) -> int:
    """Check that matches are equal parts in order; return how many words they have."""
    i = j = total = 0
    for one in matches(old, new):
        assert one.size > 0
        assert (one.old >= i, one.new >= j) == (True, True)
        assert old[one.old : one.old + one.size] == new[one.new : one.new + one.size]
        i, j, total = one.old + one.size, one.new + one.size, total + one.size
    return total


@given(old=words, new=words)
def test_matches_are_equal_parts_in_order(old: list[str], new: list[str]) -> None:
    check(old, new)
    with pytest.MonkeyPatch.context() as patch:  # as in long lists
        patch.setattr(compared, "_MAX_PAIRS", 4)
        patch.setattr(compared, "_ANCHOR_WORDS", 2)
        check(old, new)
        # Without anchors the edits are the fewest.
        patch.setattr(compared, "_MAX_PAIRS", 0)
        patch.setattr(compared, "_MAX_SPLITS", 0)
        assert check(old, new) == longest_common(old, new)


def longest_common(old: list[str], new: list[str]) -> int:
    row = [0] * (len(new) + 1)
    for one in old:
        before = row[:]
        for j, two in enumerate(new):
            row[j + 1] = before[j] + 1 if one == two else max(before[j + 1], row[j])
    return row[-1]


def test_all_edits_of_a_long_list_are_found() -> None:
    old = [str(random.Random(7).random() * n) for n in range(20_000)]
    new = list(old)
    for place in range(0, 20_000, 50):
        new[place] = "edited"
    assert check(old, new) == 20_000 - 400


@pytest.mark.parametrize("alphabet", [1, 2, 50, 100_000])
def test_work_is_bounded(alphabet: int) -> None:
    chance = random.Random(1)
    old, new = ([str(chance.randrange(alphabet)) for _ in range(20_000)] for _ in "ab")
    start = time.process_time()
    check([*old, "x"], ["y", *new])
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["Mars", "Sun"], ["Mars", "Sun"], "Mars\nSun"),
        (["Mars"], ["Sun"], "[-Mars-]{+Sun+}"),
        (["Mars"], ["Sun", "Mars"], "{+Sun\n+}Mars"),
        (["Mars", "red one"], ["Mars"], "Mars\n[-red one-]"),
        (["Mars"], ["Mars", ""], "Mars\n"),
        ([], ["Sun"], "{+Sun+}"),
    ],
)
def test_items_are_compared_as_lines(old: list[str], new: list[str], expected: str) -> None:
    assert shown(item_diff(old, new)) == expected
