"""Which samples of two states are one: nothing that is gone is taken for an edit of another."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from registry.diff import matching
from registry.diff.matching import Matching, Samples, digest_table, field_bytes, field_text, match
from registry.diff.samples import compare_samples
from registry.samples.fields import COMPARED
from registry.samples.messages import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText
from registry.samples.sample import Sample

TEMPLATE = "Read the text, think step by step, and answer with one number at the end of a line."
PASSAGE = " ".join(f"passage{n}" for n in range(120))


def sample(text: str, target: str = "") -> Sample:
    """Make a sample whose id is a hash of its input, as in most of the catalog."""
    return Sample(input=text, target=target, id=hashlib.sha256(text.encode()).hexdigest()[:12])


def matched(old: list[Sample], new: list[Sample]) -> Matching:
    sides = Samples(old), Samples(new)
    return match(*sides, *map(digest_table, sides))


def question(number: int, *, before: str = "", words: int = 10) -> str:
    """Return a text of words that no other question has, as far as its number differs."""
    return f"{before} " + " ".join(f"w{number}x{n}" for n in range(words))


@dataclass(frozen=True)
class Case:
    """Two states, and which samples of them are one."""

    old: list[Sample]
    new: list[Sample]
    pairs: set[tuple[int, int]]
    removed: set[int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Make a state, and one after edits, removals, additions and perhaps another order.

    All samples have the template, and every third one the same passage.
    """
    rng = random.Random(draw(st.integers(0, 1 << 20)))
    count = draw(st.integers(6, 30))  # fewer leave open what is a template
    fates = draw(st.lists(st.sampled_from("kkket-"), min_size=count, max_size=count))
    before = [TEMPLATE if n % 3 else f"{TEMPLATE} {PASSAGE}" for n in range(count)]
    old = [sample(question(n, before=before[n]), str(n % 4)) for n in range(count)]
    new: list[tuple[int | None, Sample]] = []
    for n, fate in enumerate(fates):
        text, target = str(old[n].input), str(old[n].target)
        if fate in "et":
            text = text.replace(f"w{n}x{rng.randrange(10)}", "edited")
        if fate == "t":
            target = "another"
        if fate != "-":
            new.append((n, sample(text, target)))
    for n in range(draw(st.integers(0, 5))):
        text = question(1000 + n, before=rng.choice(before))
        new.insert(rng.randrange(len(new) + 1), (None, sample(text, str(n % 4))))
    if draw(st.booleans()):
        rng.shuffle(new)
    pairs = {(i, j) for j, (i, _) in enumerate(new) if i is not None}
    removed = {n for n, fate in enumerate(fates) if fate == "-"}
    return Case(old, [one for _, one in new], pairs, removed)


@given(cases())
def test_edits_have_their_partner_and_no_removal_is_hidden(case: Case) -> None:
    found = matched(case.old, case.new)
    removed, _ = found.unmatched(len(case.old), len(case.new))
    assert set(found.pairs) == case.pairs
    assert set(removed) == case.removed


texts = st.lists(st.sampled_from(["a b c", "a b d", "a b", "x y", "", "7"]), max_size=12)


@given(old=texts, new=texts, ids=st.booleans())
@example(old=["a b"], new=["a b", "a b c"], ids=True)
def test_each_sample_has_one_partner_or_is_counted(
    old: list[str], new: list[str], *, ids: bool
) -> None:
    before, after = (
        [Sample(input=text, id=n if ids else None) for n, text in enumerate(side, start)]
        for start, side in ((0, old), (3, new))
    )
    found = matched(before, after)
    assert len({i for i, _ in found.pairs}) == len({j for _, j in found.pairs}) == len(found.pairs)
    change = compare_samples(Samples(before), Samples(after))
    assert len(old) - change.removed == len(new) - change.added == len(found.pairs)


REPLACED = {
    "a question on one passage": (
        f"{PASSAGE} Who is Ann's aunt?",
        f"{PASSAGE} Where does Bo live?",
    ),
    "a template": ("What is 17 plus 25, in words?", "What is 31 plus 48, in words?"),
    "nothing alike": ("Who wrote Faust?", "How far is the moon?"),
    "no words": ("?", "!"),
}


@pytest.mark.parametrize("case", REPLACED)
def test_replaced_sample_is_one_removed_and_one_added(case: str) -> None:
    gone, come = REPLACED[case]
    same = [sample(f"{PASSAGE} Why is question {n} here?", "x") for n in range(3)]
    same += [sample(f"What is {n} plus {n + 7}, in words?", "x") for n in range(3)]
    found = matched([sample(gone, "a"), *same], [*same, sample(come, "b")])
    assert (found.unmatched(7, 7), found.similar) == (([0], [6]), 0)


def test_equal_inputs_are_no_evidence_if_others_have_them() -> None:
    old = [Sample(input="What is in the picture?", files={"p": str(n)}, id=n) for n in range(3)]
    new = [*old[1:], Sample(input="What is in the picture?", files={"p": "9"}, id=9)]
    assert matched(old, new).unmatched(3, 3) == ([0], [2])


def test_edited_sample_is_found_wherever_it_is_and_whatever_else_changed() -> None:
    old = [sample(question(n), "a") for n in range(200)]
    new = [*old[100:], *old[:100]]
    new[150] = sample(f"{new[150].input} more", "b")
    found = matched(old, new)
    assert ((50, 150) in found.pairs, found.similar) == (True, 1)


def test_short_ids_that_are_equal_by_chance_cost_no_other_sample_its_partner() -> None:
    old = [Sample(input=question(n), id=f"o{n}") for n in range(50)]
    new = [Sample(input=f"Please: {question(n)}", id=f"n{n}") for n in range(50)]
    old[5].id = new[40].id = "chance"
    rest = {(n, n) for n in range(50) if n not in (5, 40)}
    assert set(matched(old, new).pairs) >= {*rest, (5, 40)}


def test_search_is_bounded_and_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_MOST_SEARCHED", 3)
    scored = []
    score = matching._Index.score

    def counted(*args: object) -> float:
        scored.append(args)
        return score(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(matching._Index, "score", counted)
    old = [sample(question(n), "a") for n in range(40)]
    new = [sample(f"{one.input} more", "b") for one in old]
    random.Random(1).shuffle(new)
    change = compare_samples(Samples(old), Samples(new))
    assert change.unsearched == 2 * 37
    assert change.added == change.removed == 40 - change.similar
    assert len(scored) <= 3 * 2 * matching._MOST_SCORED


def test_pairs_do_not_depend_on_the_order_of_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    places = random.Random(3).sample(range(60), 12)  # so each word is in twelve texts
    old = [f"{n}x {' '.join(f'w{(n + place) % 60}' for place in places)}" for n in range(60)]
    new = [f"edited {text.partition(' ')[2]}" for text in old[::-1]]
    # So few places that it matters which of equally rare words are looked up first.
    monkeypatch.setattr(matching, "_MOST_VISITED", 5)
    code = (
        "from registry.diff import matching\n"
        "from registry.samples.sample import Sample\n"
        "matching._MOST_VISITED = 5\n"
        f"sides = [matching.Samples([Sample(input=one) for one in side]) for side in {[old, new]!r}]\n"
        "print(matching.match(*sides, *map(matching.digest_table, sides)).pairs)"
    )
    # This process has another seed: a random one, unless the test is run again.
    other = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = matched(*([Sample(input=one) for one in side] for side in (old, new))).pairs
    assert len(found) > 30
    assert other == f"{found}\n"


# --- fields: bytes that are compared, and text that is read ---


def made(**fields: Any) -> Sample:
    return Sample(**{"input": "q", **fields})


def test_every_field_but_the_id_is_compared() -> None:
    assert set(COMPARED) == set(Sample.model_fields) - {"id"}


DIFFERENT: dict[str, tuple[str, Any, Any]] = {
    "a str and a list": ("target", "[1]", ["1"]),
    "a number and a bool": ("metadata", {"a": 1}, {"a": True}),
    "nothing and an empty str": ("setup", None, ""),
    "sandbox types": ("sandbox", "docker", ("docker", "a.yaml")),
    "half a surrogate pair": ("input", "\ud800", "?"),
    "roles": ("input", [ChatMessageUser(content="q")], [ChatMessageSystem(content="q")]),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_bytes_differ_if_the_field_does(case: str) -> None:
    field, old, new = DIFFERENT[case]
    before, after = (field_bytes(made(**{field: value}), field) for value in (old, new))
    assert before != after


def chat(name: str) -> list[ChatMessageUser]:
    return [ChatMessageUser(content="q", id=name)]


EQUAL: dict[str, tuple[str, Any, Any]] = {
    "ids of messages": ("input", chat("x"), chat("y")),
    "the order of keys": ("metadata", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
}


@pytest.mark.parametrize("case", EQUAL)
def test_bytes_are_equal_if_only_this_differs(case: str) -> None:
    field, *values = EQUAL[case]
    old, new = (made(id=1, **{field: value}) for value in values)
    assert field_bytes(old, field) == field_bytes(new, field)
    assert compare_samples(Samples([old]), Samples([new])).is_same


def test_no_path_is_removed() -> None:
    one = made(target="/home/runner/work/name/name/20")
    assert field_bytes(one, "target") == b"=/home/runner/work/name/name/20"
    assert field_text(one, "target") == "/home/runner/work/name/name/20"


IMAGE = ChatMessageUser(content=[ContentText(text="look"), ContentImage(image="i.png")])
TEXTS: dict[str, tuple[str, Any, str]] = {
    "none": ("choices", None, ""),
    "a str": ("target", "A", "A"),
    "a list of targets": ("target", ["A", "B"], "A\nB"),
    "targets that look like others": (
        "target",
        ["1", "null", " x", "a\nb"],
        '"1"\n"null"\n" x"\n"a\\nb"',
    ),
    "choices": ("choices", ["x", "y"], "A) x\nB) y"),
    "metadata": ("metadata", {"b": 1, "a": "ü"}, "a: ü\nb: 1"),
    "metadata of lines": (
        "metadata",
        {"a": "x\ny: 2", "y": "2", "z": [1]},
        'a: x\n  y: 2\ny: "2"\nz: [1]',
    ),
    "a sandbox": ("sandbox", ("docker", "a.yaml"), '["docker", "a.yaml"]'),
    "messages": (
        "input",
        [ChatMessageSystem(content="s"), ChatMessageUser(content="q")],
        "system: s\nuser: q",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_field_is_readable(case: str) -> None:
    field, value, text = TEXTS[case]
    assert field_text(made(**{field: value}), field) == text


def test_message_with_an_image_is_json_without_its_id() -> None:
    text = field_text(made(input=[IMAGE]), "input")
    assert text.startswith("user: {")
    assert '"image": "i.png"' in text
    assert '"id"' not in text
