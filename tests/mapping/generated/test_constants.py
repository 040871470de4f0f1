"""A constant is copied for each record, however it is written in the text."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from registry.manifest.expressions import Const
from registry.mapping.generated.batch import compile_batch

NESTED: Any = ["deepest"]
for _ in range(20):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    "value",
    ["a", 1, True, None, 1.5, [], {}, [1, ["a", {"b": [None]}]], list(range(200)), NESTED,
     {1: "a", None: {}, (1, 2): []}, date(2024, 5, 2), [date(2024, 5, 2)]],
    ids=repr,
)  # fmt: skip
def test_constant(value: Any) -> None:
    function = compile_batch(Const(value))
    assert function is not None
    first, second = function([], [1, 2], lambda index: None)
    assert repr(first) == repr(second) == repr(value)
    if isinstance(value, list | dict):
        first.clear()
        assert second == value
        assert function([], [3], lambda index: None) == [value]
