"""Lists and arrays select samples as they select items of numpy's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.samples.selection import int_of, is_index, positions_of


@given(st.lists(st.integers(-7, 6)))
def test_positions_are_those_of_numpy(selected: list[int]) -> None:
    wanted = np.arange(7)[np.array(selected, np.int64)].tolist()
    assert positions_of(selected, 7) == wanted
    assert positions_of(np.array(selected, np.int32), 7) == wanted


@given(st.lists(st.booleans(), min_size=1))
def test_bools_select_as_in_numpy(mask: list[bool]) -> None:
    wanted = np.flatnonzero(mask).tolist()
    assert positions_of(mask, len(mask)) == wanted
    assert positions_of(np.array(mask), len(mask)) == wanted


@pytest.mark.parametrize(
    ("selected", "positions"),
    [
        *((two, [2, 1]) for two in (range(2, 0, -1), pa.array([2, 1]), [np.int8(2), True + 0])),
        *((none, []) for none in ([], np.array([]), range(0), [None] * 3)),
        *((mask, [0]) for mask in ([True, None, False], [True, pd.NA, pd.NA])),
    ],
)
def test_other_sequences_and_bools_with_nulls_select(selected: Any, positions: list[int]) -> None:
    assert positions_of(selected, 3) == positions


@pytest.mark.parametrize(
    ("selected", "error", "message"),
    [
        ([3], IndexError, "index 3 of a dataset of 3 samples"),
        ([-4], IndexError, "index -4 of a dataset of 3 samples"),
        ([True, False], IndexError, "2 bools for a dataset of 3 samples"),
        ([0, True], TypeError, "not by both"),
        ([1.0], TypeError, "float"),
        ((0, 1), TypeError, "not by a tuple"),
        (np.array([[0, 1]]), TypeError, "list"),
        (None, TypeError, "not by a NoneType"),
    ],
)
def test_anything_else_is_an_error(selected: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        positions_of(selected, 3)


def test_an_array_of_one_integer_is_no_index() -> None:
    assert [is_index(one) for one in (3, np.int64(3), True)] == [True] * 3
    assert [is_index(one) for one in (np.array([3]), [3], "3", 3.0)] == [False] * 4


@pytest.mark.parametrize("text", ["0", "-12", "7"])
def test_text_of_an_int(text: str) -> None:
    assert int_of(text) == int(text)


@pytest.mark.parametrize("text", ["", "07", "-0", "1.0", "+1", " 1", "1\n", "٣", 3])
def test_any_other_text_is_not_that_of_an_int(text: Any) -> None:
    assert int_of(text) is None
