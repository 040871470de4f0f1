"""The field language: expressions and conditions as a manifest writes them, parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from registry.errors import did_you_mean
from registry.manifest.templates import TemplatePart, parse_template, template_columns

__all__ = [
    "AllOf",
    "AnyOf",
    "Column",
    "Comparisons",
    "Condition",
    "Const",
    "Expression",
    "Hash",
    "If",
    "ListOf",
    "Messages",
    "Not",
    "ObjectOf",
    "OperationCall",
    "Pipe",
    "RowNumber",
    "Template",
    "expression_columns",
    "is_expression",
    "parse_comparisons",
    "parse_condition",
    "parse_expression",
    "parse_operations",
]


class Column(Struct, frozen=True):
    """A column of the record: the exact name first, then a dotted path into it."""

    name: str


class Const(Struct, frozen=True):
    """A value that is the same in every sample."""

    value: Any


class ListOf(Struct, frozen=True):
    """Several expressions as one list; items that are lists are flattened into it."""

    items: tuple[Expression, ...]


class ObjectOf(Struct, frozen=True):
    """A map of expressions; a column that is missing gives null."""

    items: tuple[tuple[str, Expression], ...]


class Template(Struct, frozen=True):
    """Text with columns put in."""

    parts: tuple[TemplatePart, ...]
    values: Mapping[str, Expression] = {}
    """Expressions under names of their own, before columns."""


class Hash(Struct, frozen=True, kw_only=True):
    """An id made of fields: the digest of their texts joined with NUL, `prefix_` before it."""

    fields: tuple[Expression, ...]
    """What is hashed; empty means every column that holds text, by name."""
    prefix: Expression | None = None
    length: int | None = None
    """Hex digits kept; None keeps all."""
    algorithm: Literal["md5", "sha256"] = "md5"


class RowNumber(Struct, frozen=True):
    """The number of the record in its source."""

    start: int = 1
    """Number of the first record."""
    width: int | None = None
    """Digits of text with zeros in front; None gives a number."""


class If(Struct, frozen=True):
    """One expression or another."""

    condition: Condition
    then: Expression
    otherwise: Expression = Const(None)


class Messages(Struct, frozen=True):
    """A conversation: roles with the expressions of their contents."""

    turns: tuple[tuple[str, tuple[tuple[str, Expression], ...]], ...]
    """Role, and parts: kind (text, image, …) and expression. A turn without a value vanishes."""


class OperationCall(Struct, frozen=True):
    """One step of a pipe: the operation's name and its argument as the manifest gives it."""

    name: str
    arguments: Any = None


class Pipe(Struct, frozen=True):
    """An expression with operations applied to its value, in order."""

    start: Expression
    operations: tuple[OperationCall, ...]


Expression = Column | Const | ListOf | ObjectOf | Template | Hash | RowNumber | If | Messages | Pipe
"""What one field of a sample is made of."""


class Comparisons(Struct, frozen=True):
    """Comparisons of one value with constants; all must hold."""

    tests: tuple[tuple[str, Any], ...]
    """Name of the comparison and its operand."""
    value: Expression | None = None
    """What is compared; None where the context gives the value."""


class AllOf(Struct, frozen=True):
    """Every one of several conditions."""

    conditions: tuple[Condition, ...]


class AnyOf(Struct, frozen=True):
    """At least one of several conditions."""

    conditions: tuple[Condition, ...]


class Not(Struct, frozen=True):
    """The opposite of a condition."""

    condition: Condition


Condition = Comparisons | AllOf | AnyOf | Not
"""What `where` and `if` ask of a record."""

COMPARISONS = (
    "equals",
    "not_equals",
    "in",
    "not_in",
    "less",
    "at_most",
    "greater",
    "at_least",
    "regex",
    "empty",
)
_FORMS = ("const", "template", "hash", "row_number", "object", "if", "messages", "from")
_PART_KINDS = ("text", "image", "audio", "video", "document")


def is_expression(raw: dict[str, Any]) -> bool:
    """Return whether a map is an expression, by its keys."""
    return any(form in raw for form in _FORMS)


def parse_expression(raw: Any) -> Expression:
    """Turn an expression as a manifest writes it into its parts.

    Raises:
        ValueError: it is no expression; the message says why.
    """
    if isinstance(raw, str):
        return Column(raw)
    if isinstance(raw, list | tuple):
        return ListOf(tuple(parse_expression(item) for item in raw))
    if not isinstance(raw, dict):
        raise ValueError(f"{raw!r} is no expression; write a constant as {{const: {raw!r}}}")
    form = next((name for name in _FORMS if name in raw), None)
    if form is None:
        hint = next((text for key in raw if (text := did_you_mean(str(key), _FORMS))), "")
        raise ValueError(f"an expression has one of {', '.join(_FORMS)} {hint}".strip())
    return _PARSERS[form](raw)


def _parse_const(raw: dict[str, Any]) -> Const:
    _only(raw, "const")
    return Const(raw["const"])


def _parse_hash(raw: dict[str, Any]) -> Hash:
    _only(raw, "hash", "prefix", "length", "algorithm")
    given = raw["hash"]
    fields = [] if given == "*" else given if isinstance(given, list) else [given]
    options = {key: raw[key] for key in ("length", "algorithm") if key in raw}
    prefix = raw.get("prefix")
    return Hash(
        fields=tuple(parse_expression(item) for item in fields),
        prefix=Const(prefix) if isinstance(prefix, str) else _optional(prefix),
        **options,
    )


def _optional(raw: Any) -> Expression | None:
    return None if raw is None else parse_expression(raw)


def _parse_object(raw: dict[str, Any]) -> ObjectOf:
    _only(raw, "object")
    if not isinstance(raw["object"], dict):
        raise ValueError("`object` is a map from key to expression")
    return ObjectOf(tuple((key, parse_expression(item)) for key, item in raw["object"].items()))


def _parse_row_number(raw: dict[str, Any]) -> RowNumber:
    _only(raw, "row_number", "width")
    start, width = raw["row_number"], raw.get("width")
    if type(start) is not int or (width is not None and type(width) is not int):
        raise ValueError("row_number is the first number, width the digits: whole numbers")
    return RowNumber(start, width)


def _parse_if(raw: dict[str, Any]) -> If:
    _only(raw, "if", "then", "else")
    if "then" not in raw:
        raise ValueError("`if` needs `then`")
    otherwise = raw.get("else")
    return If(
        parse_condition(raw["if"]), _expression_or_null(raw["then"]), _expression_or_null(otherwise)
    )


def _expression_or_null(raw: Any) -> Expression:
    return Const(None) if raw is None else parse_expression(raw)


def _parse_messages(raw: dict[str, Any]) -> Messages:
    _only(raw, "messages")
    if not isinstance(raw["messages"], list) or not raw["messages"]:
        raise ValueError("`messages` is a list of {role, content}")
    return Messages(tuple(_parse_turn(turn) for turn in raw["messages"]))


def _parse_turn(raw: Any) -> tuple[str, tuple[tuple[str, Expression], ...]]:
    if not isinstance(raw, dict) or set(raw) != {"role", "content"}:
        raise ValueError("a message has `role` and `content`")
    if raw["role"] not in ("system", "user", "assistant"):
        raise ValueError(f"the role {raw['role']!r} is none of system, user, assistant")
    content = raw["content"]
    if isinstance(content, list):
        return raw["role"], tuple(_parse_part(part) for part in content)
    return raw["role"], (("", parse_expression(content)),)


def _parse_part(raw: Any) -> tuple[str, Expression]:
    if isinstance(raw, dict) and len(raw) == 1:
        ((kind, content),) = raw.items()
        if kind in _PART_KINDS:
            return kind, parse_expression(content)
    raise ValueError(f"a part of a message is one of {', '.join(_PART_KINDS)} with an expression")


def _parse_from(raw: dict[str, Any]) -> Pipe:
    _only(raw, "from", "do")
    return Pipe(parse_expression(raw["from"]), parse_operations(raw.get("do", [])))


def parse_operations(raw: Any) -> tuple[OperationCall, ...]:
    """Turn the steps of a pipe into calls; a ValueError says what is no step."""
    return tuple(_parse_operation(step) for step in (raw if isinstance(raw, list) else [raw]))


def _parse_operation(raw: Any) -> OperationCall:
    if isinstance(raw, str):
        return OperationCall(raw)
    if isinstance(raw, dict) and len(raw) == 1:
        ((name, arguments),) = raw.items()
        return OperationCall(name, arguments)
    raise ValueError(f"{raw!r} is no operation; write a name, or {{name: argument}}")


def _only(raw: dict[str, Any], *known: str) -> None:
    for key in raw:
        if key not in known:
            hint = did_you_mean(key, known)
            raise ValueError(f"unknown key '{key}' beside '{known[0]}' {hint}".strip())


def _parse_template(raw: dict[str, Any]) -> Template:
    _only(raw, "template", "with")
    if not isinstance(raw["template"], str):
        raise ValueError("a template is text")
    values = {name: parse_expression(item) for name, item in raw.get("with", {}).items()}
    return Template(parse_template(raw["template"]), values)


def parse_condition(raw: Any) -> Condition:
    """Turn a condition as a manifest writes it into its parts; a list means all of its items.

    Raises:
        ValueError: it is no condition; the message says why.
    """
    if isinstance(raw, list):
        return AllOf(tuple(parse_condition(item) for item in raw))
    if not isinstance(raw, dict):
        raise ValueError(f"{raw!r} is no condition; write {{value: column, equals: …}}")
    for key, make in (("all", AllOf), ("any", AnyOf)):
        if key in raw:
            _only(raw, key)
            return make(tuple(parse_condition(item) for item in raw[key]))
    if "not" in raw:
        _only(raw, "not")
        return Not(parse_condition(raw["not"]))
    if "value" not in raw:
        raise ValueError("a condition has `value` with comparisons, or one of all, any, not")
    tests = {key: item for key, item in raw.items() if key != "value"}
    return Comparisons(parse_comparisons(tests).tests, parse_expression(raw["value"]))


def parse_comparisons(raw: Any) -> Comparisons:
    """Turn `{equals: …, regex: …}` into comparisons of a value that the context gives."""
    if not isinstance(raw, dict) or not raw:
        raise ValueError(f"takes comparisons: {', '.join(COMPARISONS)}")
    for key in raw:
        if key not in COMPARISONS:
            hint = did_you_mean(str(key), COMPARISONS) or f"known: {', '.join(COMPARISONS)}"
            raise ValueError(f"no comparison '{key}' ({hint})")
    return Comparisons(tuple(raw.items()))


_PARSERS: dict[str, Callable[[dict[str, Any]], Expression]] = {
    "const": _parse_const,
    "from": _parse_from,
    "hash": _parse_hash,
    "if": _parse_if,
    "messages": _parse_messages,
    "object": _parse_object,
    "row_number": _parse_row_number,
    "template": _parse_template,
}


def expression_columns(expression: Expression) -> Iterator[str]:
    """Yield the columns that an expression reads, except those in arguments of operations."""
    match expression:
        case Column(name):
            yield name
        case Template(parts, values):
            yield from (name for name in template_columns(parts) if name not in values)
            for value in values.values():
                yield from expression_columns(value)
        case ListOf(items) | Hash(fields=items):
            for item in items:
                yield from expression_columns(item)
        case ObjectOf(pairs):
            for _, item in pairs:
                yield from expression_columns(item)
        case If(condition, then, otherwise):
            yield from condition_columns(condition)
            yield from expression_columns(then)
            yield from expression_columns(otherwise)
        case Messages(turns):
            for _, parts_of_turn in turns:
                for _, part in parts_of_turn:
                    yield from expression_columns(part)
        case Pipe(start, _):
            yield from expression_columns(start)


def condition_columns(condition: Condition) -> Iterator[str]:
    """Yield the columns that a condition reads."""
    match condition:
        case Comparisons(_, value):
            if value is not None:
                yield from expression_columns(value)
        case AllOf(conditions) | AnyOf(conditions):
            for item in conditions:
                yield from condition_columns(item)
        case Not(inner):
            yield from condition_columns(inner)
