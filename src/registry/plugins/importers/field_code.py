"""Translate expressions of Python's grammar, also those of Jinja, to the field language.

Only the syntax tree is read; nothing is evaluated. What has no equivalent raises
`UntranslatableError`; what is translated gives the same value, or an error where the original gives
a value that depends on Python's notation, such as a list in a prompt.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from registry.api import start_of

__all__ = [
    "Translator",
    "UntranslatableError",
    "check_depth",
    "constant_of",
    "list_of_constants",
    "parse_code",
    "pipe",
    "template_of",
]

MAX_CODE = 20_000
"""Characters of an expression."""
MAX_BITS = 10_000
"""Bits of a number: `0xff…` may have any."""
MAX_DEPTH = 150
"""Levels of a syntax tree."""

_Tree = TypeVar("_Tree", bound=ast.AST)

# `str.strip` and `\s` agree on what whitespace is.
_METHODS: dict[str, Any] = {
    "lower": "lower",
    "upper": "upper",
    "capitalize": "capitalize",
    "strip": "strip",
    "lstrip": {"sub": {"pattern": r"\A\s+", "to": ""}},
    "rstrip": {"sub": {"pattern": r"\s+\Z", "to": ""}},
}
_FILTERS: dict[str, Any] = {
    "trim": "strip",
    "lower": "lower",
    "upper": "upper",
    "length": "len",
    "count": "len",
    "first": {"index": 0},
    "last": {"index": -1},
}
_EQUALITY: dict[type[ast.cmpop], str] = {ast.Eq: "equals", ast.NotEq: "not_equals"}
_TESTS = {**_EQUALITY, ast.In: "in", ast.NotIn: "not_in"}
_COUNTS = {
    **_EQUALITY,
    ast.Lt: "less",
    ast.LtE: "at_most",
    ast.Gt: "greater",
    ast.GtE: "at_least",
}
# Jinja prefers these to the keys of a dict.
_ATTRIBUTES = frozenset(dir(dict))


class UntranslatableError(Exception):
    """An expression has no equivalent in the field language; the message says which part."""


def parse_code(text: str) -> ast.expr:
    """Return the syntax tree of an expression."""
    if len(text) > MAX_CODE:
        raise UntranslatableError(f"an expression of more than {MAX_CODE:,} characters")
    try:
        return check_depth(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UntranslatableError(f"`{start_of(text)}` is not a simple expression") from error


def check_depth(tree: _Tree) -> _Tree:
    """Return a tree that functions that recurse, and messages, can take.

    Raises:
        RecursionError: it is too deep.
        ValueError: it has a number that Python does not write in decimal.
    """
    level: list[ast.AST] = [tree]
    for _ in range(MAX_DEPTH):
        if any(map(_is_huge, level)):
            raise ValueError(f"a number of more than {MAX_BITS:,} bits")
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
    raise RecursionError(f"nested more than {MAX_DEPTH} levels deep")


def _is_huge(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, int) and value.bit_length() > MAX_BITS


def constant_of(node: ast.expr) -> Any:
    """Return the value of a literal; a list of literals as a list.

    Raises:
        UntranslatableError: it is not a literal.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [constant_of(item) for item in node.elts]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = constant_of(node.operand)
        if type(value) in (int, float):
            return -value
    raise _untranslatable(node)


def list_of_constants(node: ast.expr) -> list[Any] | None:
    """Return the items of a list of literals, else None."""
    try:
        return constant_of(node) if isinstance(node, ast.List | ast.Tuple) else None
    except UntranslatableError:
        return None


def pipe(expression: Any, *operations: Any) -> Any:
    """Return an expression with operations applied after its own."""
    if isinstance(expression, dict) and set(expression) == {"from", "do"}:
        return {"from": expression["from"], "do": [*expression["do"], *operations]}
    return {"from": expression, "do": list(operations)}


def template_of(parts: Sequence[str | dict[str, Any]]) -> Any:
    """Return the template of texts, and of expressions as `{"value": expression}`."""
    parts = [_folded(part) for part in parts]
    text, values = "", dict[str, Any]()
    columns = {part["value"] for part in parts if isinstance(part, dict) and _is_plain_column(part)}
    for part in parts:
        if isinstance(part, str):
            text += part.replace("{", "{{").replace("}", "}}")
        else:
            value = part["value"]
            name = value if _is_plain_column(part) else _name_for(value, values, columns)
            text += f"{{{name}}}"
    if not any(isinstance(part, dict) for part in parts):
        return {"const": "".join(map(str, parts))}
    return {"template": text, "with": values} if values else {"template": text}


def _folded(part: str | dict[str, Any]) -> str | dict[str, Any]:
    """Return a constant as a text."""
    match part:
        case {"value": {"const": str() | int() | float() | None as value}}:
            return str(value)
    return part


def _is_plain_column(part: Any) -> bool:
    """Return whether a part of a template is a column whose name the template can spell."""
    name = part["value"] if isinstance(part, dict) else None
    return isinstance(name, str) and not set(name) & set("{}|?/")


def _name_for(expression: Any, values: dict[str, Any], columns: set[str]) -> str:
    for name, given in values.items():
        if given == expression:
            return name
    number = len(values) + 1
    while f"part{number}" in columns or f"part{number}" in values:
        number += 1
    values[f"part{number}"] = expression
    return f"part{number}"


class Translator:
    """Translates syntax trees; `column_of` tells which of them are columns."""

    def __init__(self, column_of: Callable[[ast.expr], Any]) -> None:
        """Store the function that returns the expression of a column, or None."""
        self._column_of = column_of

    def expression(self, node: ast.expr) -> Any:
        """Return the expression of the field language for a syntax tree.

        Raises:
            UntranslatableError: it has none.
        """
        if (column := self._column_of(node)) is not None:
            return column
        match node:
            case ast.Constant() | ast.UnaryOp():
                return {"const": constant_of(node)}
            case ast.Attribute(value, name) if name not in _ATTRIBUTES:
                return _member(self.expression(value), name)
            case ast.Subscript(value, index):
                return self._subscript(value, index)
            case ast.List(items) | ast.Tuple(items):
                constants = list_of_constants(node)
                if constants is not None:
                    return {"const": constants}
                return [self.expression(item) for item in items]
            case ast.Call(ast.Attribute(value, name), arguments, []):
                return self._method(node, value, name, arguments)
            case ast.Call(ast.Name("str"), [value], []) | ast.FormattedValue(value, -1, None):
                return template_of([{"value": self.expression(value)}])
            case ast.Call(ast.Name("len"), [value], []):
                return pipe(self.expression(value), "len")
            case ast.BinOp(_, ast.Add(), _) | ast.JoinedStr():
                return template_of(self._texts(node))
            case ast.BinOp(value, ast.BitOr(), filter_):
                return self._filter(node, value, filter_)
            case ast.IfExp(test, then, otherwise):
                return {
                    "if": self.condition(test),
                    "then": self.expression(then),
                    "else": self.expression(otherwise),
                }
        raise _untranslatable(node)

    def condition(self, node: ast.expr) -> Any:
        """Return the condition of the field language for comparisons with literals."""
        match node:
            case ast.Compare(ast.Call(ast.Name("len"), [_], []) as length, [operator], [right]) if (
                type(operator) in _COUNTS and type(number := constant_of(right)) is int
            ):
                return {"value": self.expression(length), _COUNTS[type(operator)]: number}
            case ast.Compare(left, [operator], [right]) if type(operator) in _TESTS:
                operand = constant_of(right)
                is_list = isinstance(operator, ast.In | ast.NotIn)
                if is_list and not isinstance(operand, list):
                    raise _untranslatable(node)
                tuples = [one for one in ast.walk(right) if isinstance(one, ast.Tuple)]
                if isinstance(left, ast.List | ast.Tuple) or any(
                    one is not right or not is_list for one in tuples
                ):
                    raise _untranslatable(node)  # a tuple equals no list, and ours are flat
                return {
                    "value": self.expression(left),
                    **_comparison(_TESTS[type(operator)], operand),
                }
            case ast.Compare(
                left,
                [ast.Is() | ast.IsNot() as operator],
                [ast.Constant(None) | ast.Name("none")],  # Python's name of it, and Jinja's
            ):
                name = "equals" if isinstance(operator, ast.Is) else "not_equals"
                return {"value": self.expression(left), name: None}
            case ast.BoolOp(operator, values):
                key = "all" if isinstance(operator, ast.And) else "any"
                return {key: [self.condition(value) for value in values]}
            case ast.UnaryOp(ast.Not(), inner):
                return {"not": self.condition(inner)}
        raise _untranslatable(node)

    def _subscript(self, value: ast.expr, index: ast.expr) -> Any:
        inner = self.expression(value)
        match index:
            case ast.Slice(lower, upper, None):
                bounds = [None if one is None else constant_of(one) for one in (lower, upper)]
                if not all(one is None or type(one) is int for one in bounds):
                    raise _untranslatable(index)
                return pipe(inner, {"slice": bounds})
            case ast.Constant(str() as key):
                return _member(inner, key)
            case ast.Constant() | ast.UnaryOp():
                position = constant_of(index)
                if type(position) is int:
                    return pipe(inner, {"index": position})
                raise _untranslatable(index)
        if (table := self._shifted(value, index)) is not None:
            return table
        return pipe(inner, {"index": self.expression(index)})

    def _shifted(self, value: ast.expr, index: ast.expr) -> Any:
        """Return `[…][column - 1]` as a table from numbers to items."""
        items = list_of_constants(value)
        match index:
            case ast.BinOp(number, ast.Sub(), ast.Constant(int() as base)) if items is not None:
                table = {str(place + base): item for place, item in enumerate(items)}
                return pipe(self.expression(number), {"map": table})
        return None

    def _method(
        self, node: ast.expr, value: ast.expr, name: str, arguments: Sequence[ast.expr]
    ) -> Any:
        match node:
            case ast.Call(ast.Attribute(ast.Constant(str() as separator), "join"), [items], []):
                return pipe(self.expression(items), {"join": separator})
        match name, [constant_of(one) for one in arguments]:
            case _, [] if name in _METHODS:
                return pipe(self.expression(value), _METHODS[name])
            case "strip", [str() as characters]:
                return pipe(self.expression(value), {"strip": characters})
            case "replace", [str() as old, str() as new] if old:
                return pipe(self.expression(value), {"replace": {old: new}})
            case "split", [str() as separator] if separator:
                return pipe(self.expression(value), {"split": separator})
        raise _untranslatable(node)

    def _filter(self, node: ast.expr, value: ast.expr, filter_: ast.expr) -> Any:
        # In Jinja a filter binds tighter than an operator, in Python's grammar it does not.
        if isinstance(value, ast.BinOp) and not isinstance(value.op, ast.BitOr):
            raise _untranslatable(node)
        inner = self.expression(value)
        match filter_:
            case ast.Name("string"):
                return template_of([{"value": inner}])
            case ast.Name(name) if name in _FILTERS:
                return pipe(inner, _FILTERS[name])
            case ast.Call(ast.Name("join"), [ast.Constant(str() as separator)], []):
                return pipe(inner, {"join": separator})
            case ast.Call(
                ast.Name("replace"), [ast.Constant(str() as old), ast.Constant(str() as new)], []
            ) if old:
                return pipe(inner, {"replace": {old: new}})
        raise _untranslatable(node)

    def _texts(self, node: ast.expr) -> list[str | dict[str, Any]]:
        """Return the parts of a concatenation, of which one at least must be a str for certain."""
        match node:
            case ast.Constant(str() as text):
                return [text]
            case ast.JoinedStr(values):
                return [part for value in values for part in self._texts(value)]
            case ast.FormattedValue(value, -1, None):
                return [{"value": self.expression(value)}]
            case ast.BinOp(left, ast.Add(), right):
                if not (_is_text(left) or _is_text(right)):  # numbers, or lists
                    raise _untranslatable(node)
                return [*self._texts(left), *self._texts(right)]
            case ast.Constant():
                raise _untranslatable(node)
        return [{"value": self.expression(node)}]


def _comparison(name: str, operand: Any) -> dict[str, Any]:
    """Return a comparison; in Python false equals 0, and true 1, in a manifest they do not."""
    items = operand if name in ("in", "not_in") else [operand]
    numbers = [item for item in items if isinstance(item, int | float) and item in (0, 1)]
    twins = [int(item) if isinstance(item, bool) else bool(item) for item in numbers]
    if not twins:
        return {name: operand}
    return {"in" if name in ("in", "equals") else "not_in": [*items, *twins]}


def _is_text(node: ast.expr) -> bool:
    match node:
        case ast.Constant(str()) | ast.JoinedStr():
            return True
        case ast.BinOp(left, ast.Add(), right):
            return _is_text(left) or _is_text(right)
        case ast.Call(ast.Attribute(_, name), _, []):
            return name in {*_METHODS, "replace", "join"}
    return False


def _member(expression: Any, key: str) -> Any:
    if isinstance(expression, str) and key:
        return f"{expression}.{key}"
    return pipe(expression, {"index": {"const": key}})


def _untranslatable(node: ast.AST) -> UntranslatableError:
    return UntranslatableError(f"`{start_of(ast.unparse(node))}` has no equivalent")
