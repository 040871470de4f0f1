"""Arrow arrays that share memory with numpy, of lists, and of constants."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.arrow import (
    SCAN_BYTES,
    blank_strings,
    count_byte,
    int64_array,
    list_offsets,
    ranges,
    repeat_string,
    starts_with_visible_ascii,
    string_hashes,
    string_scalar,
    to_array,
)

TEXT = pa.large_string()
LISTS = pa.large_list(TEXT)


def test_int64_arrays_share_memory() -> None:
    numbers = np.array([3, -1, 2**62])
    array = int64_array(numbers)
    numbers[0] = 5
    assert (array.type, array.to_pylist()) == (pa.int64(), [5, -1, 2**62])
    assert int64_array(np.array([], np.int64)).to_pylist() == []


@pytest.mark.parametrize(
    "numbers",
    [
        np.array([1, 2], np.int8),
        np.array([1, 2], np.uint64),
        np.array([1, 9, 2, 9])[::2],
        np.array([2, 1])[::-1],
    ],
)
def test_other_integer_types_and_strides_are_copied(numbers: np.ndarray) -> None:
    array = int64_array(numbers)
    assert (array.type, array.to_pylist()) == (pa.int64(), [1, 2])


@pytest.mark.parametrize("text", ["", "x", "é\U0001f600\0"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_repeated_string_is_in_every_row(text: str, count: int) -> None:
    array = repeat_string(text, count)
    array.validate(full=True)
    assert (array.type, array.to_pylist()) == (TEXT, [text] * count)


def test_string_scalar_has_its_string() -> None:
    scalar = string_scalar("é")
    assert (scalar.type, scalar.as_py()) == (TEXT, "é")
    with pytest.raises(UnicodeEncodeError):
        repeat_string("\ud800", 1)


@pytest.mark.parametrize(
    ("column", "starts"),
    [
        (pa.array([["a", "b"], [], None, ["c"]], LISTS), [0, 2, 2, 2, 3]),
        (pa.array([["a", "b"], [], None, ["c"]], LISTS)[1:3], [2, 2, 2]),
        (pa.array(["é", None, "ab"], TEXT), [0, 2, 2, 4]),
        (pa.array(["é", None, "ab"], TEXT)[2:], [2, 4]),
        (pa.nulls(2, LISTS), [0, 0, 0]),
        (pa.array([], LISTS), [0]),
        (pa.array([["a"]], LISTS)[1:], [1]),
    ],
)
def test_list_offsets(column: pa.Array, starts: list[int]) -> None:
    assert list_offsets(column).tolist() == starts


@pytest.mark.parametrize("lengths", [[], [0], [3], [2, 0, 1, 4]])
def test_ranges_restart_for_each_list(lengths: list[int]) -> None:
    places = [place for length in lengths for place in range(length)]
    assert ranges(np.array(lengths, np.int64)).tolist() == places


def test_nothing_here_imports_pandas() -> None:
    code = """
import sys
import numpy as np
from registry.base.arrow import *
from registry.base.arrow import *
int64_array(np.arange(3)); column = repeat_string("x", 3); string_scalar("y")
list_offsets(column); starts_with_visible_ascii(column)
assert "pandas" not in sys.modules, "pandas is imported"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


VALUES = {
    pa.large_string(): st.text(max_size=4),
    pa.large_binary(): st.binary(max_size=4),
    pa.int64(): st.integers(-(1 << 63), (1 << 63) - 1),
    pa.float64(): st.floats(),
    pa.bool_(): st.booleans(),
    pa.large_list(pa.large_string()): st.lists(
        st.one_of(st.none(), st.text(max_size=3)), max_size=3
    ),
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
@given(data=st.data())
def test_lists_become_the_arrays_of_pyarrow(kind: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.one_of(st.none(), VALUES[kind]), max_size=20))
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "pandas", raising=False)
        found = to_array(values, kind)
    found.validate(full=True)
    expected = pa.array(values, kind)
    assert found.type == kind
    # NaN is not equal to itself.
    assert str(found.to_pylist()) == str(expected.to_pylist())
    assert found.null_count == expected.null_count


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", 1], pa.large_string()),
        (["\ud800"], pa.large_string()),
        ([b"a", 1], pa.large_binary()),
        ([1 << 63], pa.int64()),
        (["1"], pa.int64()),
        (["1"], pa.float64()),
        ([1, "a"], pa.bool_()),
        ([["a"], 5], pa.large_list(pa.large_string())),
        ([["a", 1]], pa.large_list(pa.large_string())),
    ],
)
def test_lists_that_pyarrow_refuses_are_refused_the_same(
    monkeypatch: pytest.MonkeyPatch, values: list[Any], kind: pa.DataType
) -> None:
    error = (TypeError, ValueError, OverflowError)
    with pytest.raises(error) as expected:
        pa.array(values, kind)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    with pytest.raises(type(expected.value)) as found:
        to_array(values, kind)
    assert str(found.value) == str(expected.value)


def test_strings_are_blank_that_python_strips_to_nothing() -> None:
    characters = [chr(code) for code in range(0x11000) if not 0xD800 <= code < 0xE000]
    texts = ["", *characters, *(f" {one}\n" for one in characters), None, "x"]
    expected = [place for place, text in enumerate(texts) if text is not None and not text.strip()]
    assert blank_strings(pa.array(texts, TEXT)).tolist() == expected
    for sound in ([], [None, None], ["x", "y"]):
        assert blank_strings(pa.array(sound, TEXT)).tolist() == []


@pytest.mark.parametrize("text", ["x", "!", "~", "x ", "\0", "\x7f", "", " x", "\n", "\x1f", "é"])
def test_first_byte_decides_about_visible_ascii(text: str) -> None:
    visible = "!" <= text[:1] <= "~"
    whole = pa.array(["before", text, "behind", None], TEXT)
    assert starts_with_visible_ascii(whole).tolist() == [True, visible, True, False]
    assert starts_with_visible_ascii(whole[1:2]).tolist() == [visible]


def test_array_of_nulls_has_no_visible_ascii() -> None:
    assert starts_with_visible_ascii(pa.array([], TEXT)).tolist() == []
    assert starts_with_visible_ascii(pa.array(["", ""], TEXT)).tolist() == [False, False]


@given(st.binary(max_size=20), st.sampled_from([0, 1, SCAN_BYTES, 2 * SCAN_BYTES + 1]))
def test_bytes_are_counted_as_python_does(data: bytes, before: int) -> None:
    text = b"," * before + data
    assert count_byte(",", text) == text.count(b",")


_strings = st.text("ab\0é", max_size=10) | st.builds(
    lambda text, times, end: text * times + end,
    st.text("ab", min_size=1, max_size=3),
    st.integers(1, 70),
    st.sampled_from(["", "\0", "c"]),
)


@settings(deadline=None)
@given(st.lists(_strings, max_size=20))
def test_hashes_differ_where_strings_do(strings: list[str]) -> None:
    column = pa.array(["before", *strings, "after"], pa.large_string())[1:-1]
    hashes = string_hashes(column).tolist()
    assert len(set(hashes)) == len(set(strings)) == len(set(zip(hashes, strings, strict=True)))


def test_string_has_the_same_hash_in_another_column() -> None:
    strings = ["", "a", "b" * 8, "c" * 200]
    first, second = (pa.array(one, pa.large_string()) for one in (strings, ["x", *strings[::-1]]))
    assert string_hashes(first).tolist() == string_hashes(second).tolist()[:0:-1]
