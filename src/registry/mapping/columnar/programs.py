"""The functions that evaluate expressions without a kernel, compiled when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from registry.manifest.expressions import (
    AllOf,
    AnyOf,
    Comparisons,
    Condition,
    Expression,
    Not,
    parse_expression,
)
from registry.mapping.columnar.growth import Growth, growth_of
from registry.mapping.columns_used import (
    ColumnDependencies,
    condition_dependencies,
    expression_dependencies,
    uses_row_number,
)
from registry.mapping.conditions import compile_condition
from registry.mapping.evaluate import compile_expression
from registry.mapping.generated.batch import (
    BatchFunction,
    compile_batch,
    compile_batch_condition,
)
from registry.mapping.generated.runtime import ParsedTexts
from registry.mapping.row import Evaluator

__all__ = ["Program", "Programs"]


@dataclass(frozen=True)
class Program:
    """An expression or condition in executable form."""

    node: Expression | Condition
    """Kept, so that no other node gets its identity."""
    evaluate: Evaluator
    """Returns the value for one record."""
    function: BatchFunction | None
    """Returns the values for many records; None if records have to be evaluated one by one."""
    dependencies: ColumnDependencies
    """The columns that it reads."""
    growth: Growth | None
    """How large its values can become; None if only they tell."""
    numbered: bool
    """Whether it reads the number of the record, so that no value repeats."""


class Programs:
    """The programs of a mapping, by the identity of their expressions."""

    def __init__(self) -> None:
        self._programs: dict[int, Program] = {}
        self.texts = ParsedTexts()
        """What the functions have parsed of the records of a view; to be cleared after it."""
        # With the argument itself, so that no other one gets its identity.
        self._parsed: dict[int, tuple[Any, Expression]] = {}

    def parse(self, raw: Any) -> Expression:
        """Return the expression in the argument of an operation, parsed once."""
        if id(raw) not in self._parsed:
            self._parsed[id(raw)] = (raw, parse_expression(raw))
        return self._parsed[id(raw)][1]

    def of(self, node: Expression | Condition) -> Program:
        """Return the program of an expression or condition."""
        if id(node) not in self._programs:
            self._programs[id(node)] = _compile(node, self.texts)
        return self._programs[id(node)]


def _compile(node: Expression | Condition, texts: ParsedTexts) -> Program:
    if isinstance(node, AllOf | AnyOf | Comparisons | Not):
        evaluate: Callable[..., object] = compile_condition(node, compile_expression)
        function, reads = compile_batch_condition(node, texts), condition_dependencies(node)
        growth: Growth | None = Growth()
    else:
        evaluate = compile_expression(node)
        function, reads = compile_batch(node, texts), expression_dependencies(node)
        growth = growth_of(node)
    return Program(node, evaluate, function, reads, growth, uses_row_number(node))
