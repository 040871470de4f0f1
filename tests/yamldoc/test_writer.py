"""What is written as YAML is read back, by our parser and by that of YAML 1.1."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from registry.base.escape import escape_lines
from registry.yamldoc.reader import parse_yaml
from registry.yamldoc.writer import block_lines, block_text, flow_text, quoted_text

# Numbers, dates and words of YAML 1.1 or 1.2 alone, marks, breaks, and what nobody sees.
ODD = """
007 0o7 0x1F 1e5 12e4 1_000 1:30 2020-01-01 1e400 .inf +.5 5. -0 on off yes n null ~ TRUE = << - ?
: # ' " '' | > ! &a *a @a % --- ... [a] {a} {{x}} , ` \\ :: ::x ##[x] ##vso[x] section_start:1:x é 😀
""".split()  # noqa: SIM905 (words are read, not quotes)
BREAKS = ["", " ", "a: b", "a #b", " a ", "\t", "\n", "a\n", "\n\na", "a\r\nb", "a\n  b\n\n"]
UNSEEN = [
    "\x00",
    "\x1b[2J",
    "\x7f",
    "\x85",
    "a\x85b",
    "\u2028",
    "\u202e",
    "\ufeffa",
    "\u200d",
    "\xa0",
]
TEXTS = [*ODD, *BREAKS, *UNSEEN, "word " * 200, "x" * 2_000]
PIECES = st.sampled_from([*TEXTS, "👩\u200d💻"])
HOSTILE = PIECES | st.text() | st.lists(PIECES, max_size=4).map("".join)
VALUES = st.recursive(
    HOSTILE | st.none() | st.booleans() | st.integers(-9, 1 << 40) | st.floats(-1e300, 1e300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=3),
    max_leaves=8,
)


def is_read(text: str, value: Any) -> None:
    assert repr(parse_yaml(text, file="").value) == repr(value)  # True is not 1, nor 1 1.0
    assert yaml.load(text, yaml.CSafeLoader) == value


@given(VALUES)
@example(TEXTS)
@example([{text: text} for text in TEXTS])
@example([True, 1, 1.0, -0.0, 0.1234567890123, 5e-324, 1e22, -(2**63), 2**63 - 1])
def test_any_value_is_read_back_and_controls_nothing(value: Any) -> None:
    written = block_text({"datasets": value}, width=60)
    is_read(written, {"datasets": value})
    for write in (flow_text, quoted_text):
        one = write(value)
        assert one.splitlines() == [one]
        is_read(f"datasets:\n  - {one}  # why\n", {"datasets": [value]})
        written += one
    assert escape_lines(written) == written


@given(VALUES)
def test_lines_for_a_reader_are_of_the_value(value: Any) -> None:
    assume("\\x85" not in repr(value))  # PyYAML takes it for a line break
    is_read("\n".join([*block_lines(["\n", value, 0]), ""]), ["\n", value, 0])


def test_plain_text_is_written_as_usual() -> None:
    same = ["é 日本"]
    data = {"b": ["x", same, same], "a": {"long": "word " * 30, "off": "off", "1.5": 1.5}}
    copied = {**data, "b": ["x", same, list(same)]}
    usual = yaml.safe_dump(copied, sort_keys=False, allow_unicode=True, width=100)
    assert block_text(data) == usual


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (flow_text, "{a b: 😀, c: ['1e5', \"x\\ny\", null, true]}"),
        (quoted_text, '{"a b": "😀", "c": ["1e5", "x\\ny", null, true]}'),
        (
            lambda value: "\n".join(block_lines(value)),
            "a b: 😀\nc:\n- '1e5'\n- |-\n  x\n  y\n- null\n- true",
        ),
    ],
)
def test_texts_are_as_readable_as_they_can_be(write: Any, text: str) -> None:
    assert write({"a b": "😀", "c": ["1e5", "x\ny", None, True]}) == text
