"""Compile an expression or condition to one Python function over the values of its columns.

The text of the function is generated, as `dataclasses` generates methods, and compiled once: calls
of nested closures, and checks whose outcome is known, are most of what the evaluation of a record
costs. A record that the function can't decide is left to the evaluator of `mapping.evaluate`.
"""

from __future__ import annotations

import functools
import hashlib
import linecache
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from registry.manifest.expressions import Condition, Expression
from registry.mapping.columns_used import operations_in
from registry.mapping.generated.conditions import emit_condition
from registry.mapping.generated.expressions import emit_expression
from registry.mapping.generated.operations import emit_steps
from registry.mapping.generated.runtime import ParsedTexts
from registry.mapping.generated.source import NotGeneratedError, Source

__all__ = ["BatchFunction", "compile_batch", "compile_batch_condition"]

Slow = Callable[[int], Any]
"""Evaluates the expression for the record at an index."""


@dataclass(frozen=True)
class BatchFunction:
    """A generated function that evaluates an expression for many records."""

    columns: tuple[str, ...]
    """Names and dotted paths that it reads, in the order of its arguments."""
    source: str
    """Its text."""
    function: Callable[[Sequence[Sequence[Any]], Sequence[int], Slow], list[Any]]
    """The function itself."""

    def __call__(
        self, columns: Sequence[Sequence[Any]], numbers: Sequence[int], slow: Slow
    ) -> list[Any]:
        """Return the value for each record.

        The caller limits the size of all values together and the time, so it gives few records at
        a time.

        Args:
            columns: The values of each of `self.columns`; MISSING where a record lacks it.
            numbers: The numbers of the records.
            slow: Called with the index of each record that this function leaves to it; it returns
                the exact value, or raises the MappingError of the record.
        """
        return self.function(columns, numbers, slow)


def compile_batch(expression: Expression, texts: ParsedTexts | None = None) -> BatchFunction | None:
    """Return the function of an expression.

    Returns None if it reads the whole record, or files, whose boundary belongs to a row.

    Args:
        expression: The expression.
        texts: Where functions of a mapping keep what they parse, until the caller clears it.

    Raises:
        ValueError: the expression is invalid.
    """
    return _compile(expression, lambda source: source.expression(expression).name, texts)


def compile_batch_condition(
    condition: Condition, texts: ParsedTexts | None = None
) -> BatchFunction | None:
    """Return the function of a condition, which returns a bool for each record.

    Returns None as `compile_batch`.

    Raises:
        ValueError: the condition is invalid.
    """
    return _compile(condition, lambda source: emit_condition(source, condition), texts)


def _compile(
    node: Expression | Condition, emit: Callable[[Source], str], texts: ParsedTexts | None
) -> BatchFunction | None:
    if any(call.name == "data_uri" for call in operations_in(node)):
        return None
    source = Source(emit_expression, emit_steps, (texts or ParsedTexts()).of)
    try:
        result = emit(source)
    except (NotGeneratedError, RecursionError):  # nested too deep for Python's own limits
        return None
    text, names = _text(source, result), dict(source.names)
    # The text is made of names, numbers and Python's own words, never of what a manifest says.
    exec(_code(text), names)  # nosec B102 # noqa: S102
    return BatchFunction(tuple(source.columns), text, names["batch"])


@functools.lru_cache(maxsize=256)
def _code(text: str) -> CodeType:
    """Return the code of a text, which many expressions share: they differ in constants only."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    name = f"<generated function {digest[:16]}>"
    # As for the methods of a dataclass, a debugger and a traceback show the lines.
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    code = compile(text, name, "exec")
    # Only the cache of this function has the code, so the lines go when it forgets the text.
    weakref.finalize(code, linecache.cache.pop, name, None).atexit = False
    return code


def _text(source: Source, result: str) -> str:
    """Return the whole text of a function that appends `result` for each record."""
    names = ["index", *source.columns.values()]
    values = ["range(len(numbers))", *(f"columns[{k}]" for k in range(len(source.columns)))]
    if source.reads_number:
        names.append("number")
        values.append("numbers")
    lines = [
        "def batch(columns, numbers, slow):",
        " values = []",
        f" for {', '.join(names)}, in zip({', '.join(values)}):",
        "  try:",
        *(f"   {line}" for line in source.lines),
        f"   value = {result}",
        "  except Exception:",
        "   value = slow(index)",
        "  values.append(value)",
        " return values",
    ]
    return "\n".join(lines) + "\n"
