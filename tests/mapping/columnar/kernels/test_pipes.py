"""Pipes apply their operations in order, to values or to the items of lists."""

from __future__ import annotations

import pyarrow as pa
import pytest

from registry.manifest.expressions import parse_operations
from registry.mapping.columnar.expressions import evaluate
from registry.mapping.columnar.kernels.arrays import NoKernelError
from registry.mapping.columnar.kernels.pipes import Scope, apply
from tests.mapping.columnar.kernels.by_value import check, has_no_kernel
from tests.mapping.columnar.views import view_of


def test_operations_are_applied_in_order() -> None:
    check(["strip", {"split": ","}, {"index": -1}, "upper"], [" a,b ", "c"])
    check([{"default": None}, {"coalesce": "o"}, "upper"], ["", "x"], o=["y", "z"])
    check([{"test": {"in": ["a"], "empty": False}}, {"map": {"true": 1, "false": 0}}], ["a", "b"])
    check([{"keep": {"not_in": ["a"]}}, {"each": ["upper", {"slice": [0, 1]}]}], [["ab", "a"], []])
    check([], ["a"])


def test_an_operation_without_a_kernel_leaves_the_pipe_to_records() -> None:
    has_no_kernel(["strip", {"parse": "json"}], ["1", "2"])
    has_no_kernel([{"split": ","}, {"each": {"to": "item"}}], ["a", "b"])


def test_items_read_no_record() -> None:
    operations = parse_operations({"letter_in": "labels"})
    view = view_of(labels=pa.array([["a", "b"]]))
    letters = apply(operations, pa.array(["b"]), Scope(view, evaluate))
    assert letters.to_pylist() == ["B"]
    with pytest.raises(NoKernelError):
        apply(operations, pa.array(["b"]), None)
    check({"each": [{"slice": [1, None]}, {"index": 0}]}, [["ab", "cd"], []])


def test_null_labels_are_left_to_records() -> None:
    has_no_kernel({"letter_in": "labels"}, ["a", "b"], labels=[["a"], None])
