"""Code is found where no fence marks it, and coloured in time that grows with its length."""

from __future__ import annotations

import re
import time
from html import escape, unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.display.code import code_html, passages

PROMPT = 'from typing import List\n\n\ndef close(xs):\n    """ Are they?\n>>> close([1])\nTrue\n    """\n'


def parts(text: str, *, is_code: bool = False) -> list[tuple[str, str | None]]:
    return [(one.text, one.language) for one in passages(text, is_code=is_code)]


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        (PROMPT, ["python"]),
        (f"\n\n{PROMPT}", ["python"]),
        (f"Complete it:\n{PROMPT}Answer with code only, please.\n", [None, "python", None]),
        ("#include <stdio.h>\nint main() {\n  return 0;\n}\n", ["cpp"]),
        ("Mary had\na little lamb", [None]),
        ("import random", [None]),
        ("from here\nto there", [None]),
        ("class struggle\ndefines it", [None]),
        ("```python\nimport os\n```", [None]),
    ],
)
def test_code_is_known_by_how_its_lines_begin(text: str, languages: list[str | None]) -> None:
    for is_code in (False, True):
        assert [language for _, language in parts(text, is_code=is_code)] == languages


@pytest.mark.parametrize(
    "text",
    ["    return x\n", "    for a in b:\n        print(a)\n", "assert f(1) == 2\nassert f(2) == 3",
     "SELECT a\n  FROM b", "x = 1\ny = 2\n"],
)  # fmt: skip
def test_dataset_about_code_asks_for_less(text: str) -> None:
    assert [language is None for _, language in parts(text)] == [True]
    assert [language is None for _, language in parts(text, is_code=True)] == [False]


LINES = st.lists(
    st.sampled_from([*PROMPT.splitlines(), "words here", "", "    x = 1", '"""', "\t"])
)


@given(LINES, st.booleans())
def test_passages_are_the_text(lines: list[str], is_code: bool) -> None:
    text = "\n".join(lines)
    assert "".join(part for part, _ in parts(text, is_code=is_code)) == text


@given(
    st.text(st.sampled_from("a1 \n'\"#/*\\<&-=x\t"), max_size=80),
    st.sampled_from(["py", "c", "sql", "sh", "?"]),
)
def test_colours_change_no_character(text: str, language: str) -> None:
    html = code_html(text, language, lambda part: escape(part, quote=False))
    assert unescape(re.sub(r"</?span[^>]*>", "", html)) == text
    assert set(re.findall(r"<(.*?)>", html)) <= {
        "/span", *(f'span class="{one}"' for one in ("k", "s", "c", "m", "nf", "nc"))
    }  # fmt: skip


def test_classes_are_those_of_pygments() -> None:
    html = code_html('def f(x): return "a" + 1  # why', "python", str)
    for kind, word in (("k", "def"), ("nf", "f"), ("s", '"a"'), ("m", "1"), ("c", "# why")):
        assert f'<span class="{kind}">{word}</span>' in html


@pytest.mark.parametrize("part", ['"\\', "'", '"', "/*", "'''", "#", "\n ", "a", "--"])
@pytest.mark.parametrize("language", ["python", "c", "sql"])
def test_time_does_not_grow_with_the_square_of_the_length(part: str, language: str) -> None:
    start = time.process_time()
    code_html(part * (100_000 // len(part)), language, str)
    assert time.process_time() - start < 5
