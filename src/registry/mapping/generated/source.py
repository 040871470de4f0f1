"""The text of a generated function: its lines, and the names that they use.

Nothing that a manifest says is part of the text: constants, columns and patterns are bound to names
that are counted here, as the author of a manifest may be hostile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from registry.manifest.expressions import Expression, OperationCall
from registry.mapping.row import MISSING, get_column

__all__ = ["MISSING_KIND", "AsideError", "NotGeneratedError", "Source", "Value"]

# Python allows 20 nested loops and `try`, and 100 levels of indentation.
_MOST_LOOPS = 8
_MOST_LEVELS = 40

Parse = Callable[[str], Any]

MISSING_KIND = "any"
"""The kind of a value of any type, which may be MISSING."""


class AsideError(Exception):
    """Raised in a generated function: another way has to evaluate this record."""


class NotGeneratedError(Exception):
    """No function can be generated for the expression."""


class Value(NamedTuple):
    """A value in a generated function."""

    name: str
    """The name that it has there."""
    kind: str
    """The name of its exact type; `scalar` for str, bool, int or float; `given` for any type;
    `any` for any type, or MISSING."""


_ANY_ITEM = Value("", "given")


class Source:
    """The text of a function while it is generated."""

    def __init__(
        self,
        emit_expression: Callable[[Source, Expression], Value],
        emit_steps: Callable[[Source, Value, Sequence[OperationCall]], Value],
        parsed: Callable[[Parse], Mapping[str, Any]],
    ) -> None:
        """Start an empty text.

        Args:
            emit_expression: Adds the lines that evaluate an expression, and returns its value.
            emit_steps: Adds the lines that apply operations to a value.
            parsed: Returns what looks up the values of texts that a function parses.
        """
        self._emit_expression = emit_expression
        self._emit_steps = emit_steps
        self.parsed = parsed
        """Text → value, for a function that parses it; functions of a mapping share the values."""
        self.names: dict[str, Any] = {"Aside": AsideError, "MISSING": MISSING}
        """Global names of the function."""
        self.columns: dict[str, str] = {}
        """Column or dotted path that the function reads → its name in the text."""
        self.reads_number = False
        """Whether it reads the number of the record, as `number`."""
        self._lines: list[tuple[int, str]] = []
        self._level = self._loops = self._count = 0
        self._kinds: dict[str, str] = {}
        self._items: dict[str, Value] = {}  # list → a value that has the type of each of its items
        self._found: dict[Hashable, Value] = {}
        self._scopes: list[dict[str, Value]] = []  # the columns that items of lists add

    @property
    def lines(self) -> list[str]:
        """The lines, indented from the start of the line."""
        return [f"{' ' * level}{text}" for level, text in self._lines]

    def expression(self, expression: Expression) -> Value:
        """Add the lines that evaluate an expression; the value may be MISSING."""
        return self._emit_expression(self, expression)

    def steps(self, value: Value, calls: Sequence[OperationCall]) -> Value:
        """Add the lines that apply operations to a value, which may be MISSING."""
        return self._emit_steps(self, value, calls)

    def line(self, text: str) -> None:
        """Add a line."""
        self._lines.append((self._level, text))

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Add a line, and indent those that follow; what they find out of types holds in them."""
        self.line(head)
        if self._level > _MOST_LEVELS:
            raise NotGeneratedError
        outside = self._kinds, self._found
        self._kinds, self._found = dict(self._kinds), dict(self._found)
        self._level += 1
        yield
        self._level -= 1
        self._kinds, self._found = outside

    @contextmanager
    def loop(
        self, items: Value, names: tuple[str, str] | None = None
    ) -> Iterator[tuple[Value, Value]]:
        """Add a loop over a list; the lines that follow may use the item and its index.

        Args:
            items: The list.
            names: Columns that the item and its index are to expressions; None for no columns.
        """
        if self._loops >= _MOST_LOOPS:
            raise NotGeneratedError
        self._loops += 1
        item, index = self.like(self.item_of(items), self.fresh()), Value(self.fresh(), "int")
        if names is not None:
            self._scopes.append({names[0]: item, names[1]: index})
        head = len(self._lines)
        with self.block(f"for {index.name}, {item.name} in enumerate({items.name}):"):
            yield item, index
        is_used = re.compile(rf"\b{index.name}\b").search
        if not any(is_used(text) for _, text in self._lines[head + 1 :]):
            self._lines[head] = (self._level, f"for {item.name} in {items.name}:")
        if names is not None:
            self._scopes.pop()
        self._loops -= 1

    def once(self, key: Hashable, emit: Callable[[], Value]) -> Value:
        """Return the value that has been found here for a key, or find it now.

        Args:
            key: Stands for what is evaluated, of the same columns.
            emit: Adds its lines.
        """
        scoped = (key, *(id(scope) for scope in self._scopes))
        if scoped not in self._found:
            self._found[scoped] = emit()
        return self._found[scoped]

    def fresh(self) -> str:
        """Return a name for a local variable."""
        self._count += 1
        return f"v{self._count}"

    def bind(self, value: Any) -> str:
        """Return a global name that has a value."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def assign(self, text: str, kind: str) -> Value:
        """Add the assignment of a Python expression to a new variable."""
        value = Value(self.fresh(), kind)
        self.line(f"{value.name} = {text}")
        return value

    def column(self, name: str) -> Value:
        """Return a column of the record, or of the item of a loop around this line."""
        head, dot, rest = name.partition(".")
        for scope in reversed(self._scopes):
            if head in scope:
                value = scope[head]
                return self._path(value, rest) if dot else value
        local = self.columns.setdefault(name, f"c{len(self.columns)}")
        return Value(local, MISSING_KIND)

    def scope_of(self, path: str) -> dict[str, Value]:
        """Return the columns of the innermost item that a path starts in; empty if it does not."""
        head = path.partition(".")[0]
        return next((scope for scope in reversed(self._scopes) if head in scope), {})

    def _path(self, value: Value, rest: str) -> Value:
        key = self.bind(rest)
        if "." in rest:
            inner = f"{self.bind(get_column)}({value.name}, {key})"
        else:
            inner = f"{value.name}.get({key}, MISSING)"
        return self.assign(f"{inner} if type({value.name}) is dict else MISSING", MISSING_KIND)

    def kind(self, value: Value) -> str:
        """Return what is known here of the type of a value."""
        return self._kinds.get(value.name, value.kind)

    def item_of(self, items: Value) -> Value:
        """Return a value of the type that each item of a list is known to have."""
        return self._items.get(items.name, _ANY_ITEM)

    def has_items(self, items: Value, item: Value) -> Value:
        """Return a list whose items have the type of a value here, which is known from now on."""
        self._items[items.name] = self.like(item, item.name)
        return items

    def like(self, value: Value, name: str) -> Value:
        """Return a value with another name, of the type that is known of a value."""
        if value.name in self._items:
            self._items[name] = self._items[value.name]
        return Value(name, self.kind(value))

    def expect(self, value: Value, *kinds: str) -> Value:
        """Return a value, after a line that steps aside unless it has one of some exact types."""
        if self.kind(value) not in kinds:
            tests = (f"type({value.name}) is not {kind}" for kind in kinds)
            self.step_aside_if(" and ".join(tests))
            if len(kinds) == 1:
                self._kinds[value.name] = kinds[0]
        return Value(value.name, self.kind(value))

    def required(self, value: Value) -> Value:
        """Return a value, after a line that steps aside if it is MISSING."""
        if self.kind(value) == MISSING_KIND:
            self.step_aside_if(f"{value.name} is MISSING")
            self._kinds[value.name] = "given"
        return Value(value.name, self.kind(value))

    def narrow(self, value: Value, kind: str) -> None:
        """State what the lines before have found out of the type of a value."""
        self._kinds[value.name] = kind

    def step_aside_if(self, condition: str) -> None:
        """Add a line that leaves the record to another way if a condition holds."""
        self.line(f"if {condition}: raise Aside")
