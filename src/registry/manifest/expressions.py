"""The abstract syntax of the field language (expressions and conditions), and its parser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from registry.errors import did_you_mean, near_or_known
from registry.manifest.templates import TemplatePart, parse_template

__all__ = [
    "MEDIA_KINDS",
    "PART_KINDS",
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
    "Node",
    "Not",
    "ObjectOf",
    "OperationCall",
    "Pipe",
    "RowNumber",
    "Template",
    "children",
    "parse_comparisons",
    "parse_condition",
    "parse_expression",
    "parse_operations",
]


class Column(Struct, frozen=True):
    """A column of the record: its exact name, or else a dotted path into a column."""

    name: str


class Const(Struct, frozen=True):
    """The same value in every sample."""

    value: Any


class ListOf(Struct, frozen=True):
    """Several expressions as one list; items that are lists are flattened into it."""

    items: tuple[Expression, ...]


class ObjectOf(Struct, frozen=True):
    """A mapping of expressions; a missing column gives null."""

    items: tuple[tuple[str, Expression], ...]


class Template(Struct, frozen=True):
    """A string with columns filled in."""

    parts: tuple[TemplatePart, ...]
    values: Mapping[str, Expression] = {}
    """Named expressions, which shadow columns."""


class Hash(Struct, frozen=True, kw_only=True):
    """An id computed from fields: the digest of their strings joined with NUL, after `prefix_`."""

    fields: tuple[Expression, ...]
    """The hashed values; empty means every column that contains a string, sorted by name."""
    prefix: Expression | None = None
    length: int | None = None
    """Number of hex digits; None means all."""
    algorithm: Literal["md5", "sha256"] = "md5"


class RowNumber(Struct, frozen=True):
    """The number of the record in its source."""

    start: int = 1
    """Number of the first record."""
    width: int | None = None
    """Width of a zero-padded string; None gives an int."""


class If(Struct, frozen=True):
    """One of two expressions, chosen by a condition."""

    condition: Condition
    then: Expression
    otherwise: Expression = Const(None)


class Messages(Struct, frozen=True):
    """A conversation: a role and the expressions of its content for each turn."""

    turns: tuple[tuple[str, tuple[tuple[str, Expression], ...]], ...]
    """Role and parts (kind, such as text, and expression); a turn without a value is omitted."""


class OperationCall(Struct, frozen=True):
    """One step of a pipe: the operation's name and its argument as in the manifest."""

    name: str
    arguments: Any = None


class Pipe(Struct, frozen=True):
    """An expression with operations applied to its value, in order."""

    start: Expression
    operations: tuple[OperationCall, ...]


Expression = Column | Const | ListOf | ObjectOf | Template | Hash | RowNumber | If | Messages | Pipe
"""How one field of a sample is computed."""


class Comparisons(Struct, frozen=True):
    """Comparisons of one value with constants; all must hold."""

    tests: tuple[tuple[str, Any], ...]
    """Names of comparisons with their operands."""
    value: Expression | None = None
    """The compared value; None if the context supplies it."""


class AllOf(Struct, frozen=True):
    """All of several conditions."""

    conditions: tuple[Condition, ...]


class AnyOf(Struct, frozen=True):
    """At least one of several conditions."""

    conditions: tuple[Condition, ...]


class Not(Struct, frozen=True):
    """The negation of a condition."""

    condition: Condition


Condition = Comparisons | AllOf | AnyOf | Not
"""A requirement on a record, in `where` and `if`."""

Node = Expression | Condition


def children(node: Node) -> tuple[Node, ...]:
    """Return the expressions and conditions that a node consists of, in the order written.

    Those in the arguments of operations are parsed where the operations are known.
    """
    match node:
        case ListOf(items):
            return items
        case ObjectOf(pairs):
            return tuple(item for _, item in pairs)
        case Template(_, values):
            return tuple(values.values())
        case Hash(fields=fields, prefix=prefix):
            return fields if prefix is None else (*fields, prefix)
        case If(condition, then, otherwise):
            return condition, then, otherwise
        case Messages(turns):
            return tuple(part for _, parts in turns for _, part in parts)
        case Pipe(start):
            return (start,)
        case Comparisons(_, value):
            return () if value is None else (value,)
        case AllOf(conditions) | AnyOf(conditions):
            return conditions
        case Not(condition):
            return (condition,)
        case Column() | Const() | RowNumber():
            return ()


MEDIA_KINDS = ("image", "audio", "video", "document")
"""The kinds of content of a message that may be files."""
PART_KINDS = ("text", *MEDIA_KINDS)
"""The kinds of content of a message."""

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
_ROLES = ("system", "user", "assistant")


def parse_expression(raw: Any) -> Expression:
    """Parse an expression of a manifest.

    Raises:
        ValueError: it is invalid; the message says why.
    """
    match raw:
        case str():
            return Column(raw)
        case list() | tuple():
            return ListOf(tuple(map(parse_expression, raw)))
        case {"const": value}:
            _refuse_keys_beside(raw, "const")
            return Const(value)
        case {"template": _}:
            return _parse_template(raw)
        case {"hash": _}:
            return _parse_hash(raw)
        case {"row_number": _}:
            return _parse_row_number(raw)
        case {"object": items}:
            _refuse_keys_beside(raw, "object")
            if not isinstance(items, dict):
                raise ValueError("`object` takes a mapping from key to expression")
            return ObjectOf(tuple((key, parse_expression(item)) for key, item in items.items()))
        case {"if": _}:
            return _parse_if(raw)
        case {"messages": turns}:
            _refuse_keys_beside(raw, "messages")
            return Messages(_parse_turns(turns))
        case {"from": start}:
            _refuse_keys_beside(raw, "from", "do")
            return Pipe(parse_expression(start), parse_operations(raw.get("do", [])))
        case _:
            raise _not_an_expression(raw)


def _not_an_expression(raw: Any) -> ValueError:
    if not isinstance(raw, dict):
        return ValueError(f"{raw!r} is not an expression (write a constant as {{const: {raw!r}}})")
    hint = next((hint for key in raw if (hint := did_you_mean(str(key), _FORMS))), "")
    message = f"an expression must have one of the keys {', '.join(_FORMS)}"
    return ValueError(f"{message} ({hint})" if hint else message)


def _parse_optional(raw: Any) -> Expression | None:
    return None if raw is None else parse_expression(raw)


def _parse_template(raw: dict[str, Any]) -> Template:
    _refuse_keys_beside(raw, "template", "with")
    if not isinstance(raw["template"], str):
        raise ValueError("`template` takes a string")
    values = {name: parse_expression(item) for name, item in raw.get("with", {}).items()}
    return Template(parse_template(raw["template"]), values)


def _parse_hash(raw: dict[str, Any]) -> Hash:
    _refuse_keys_beside(raw, "hash", "prefix", "length", "algorithm")
    fields, prefix, length = raw["hash"], raw.get("prefix"), raw.get("length")
    if length is not None and type(length) is not int:
        raise ValueError("`length`, the number of hex digits, takes an integer")
    if raw.get("algorithm", "md5") not in ("md5", "sha256"):
        raise ValueError("`algorithm` is md5 or sha256")
    if fields == "*":
        fields = []
    return Hash(
        fields=tuple(map(parse_expression, fields if isinstance(fields, list) else [fields])),
        prefix=Const(prefix) if isinstance(prefix, str) else _parse_optional(prefix),
        **{key: raw[key] for key in ("length", "algorithm") if key in raw},
    )


def _parse_row_number(raw: dict[str, Any]) -> RowNumber:
    _refuse_keys_beside(raw, "row_number", "width")
    start, width = raw["row_number"], raw.get("width")
    if type(start) is not int or (width is not None and type(width) is not int):
        raise ValueError("`row_number` (the first number) and `width` take integers")
    return RowNumber(start, width)


def _parse_if(raw: dict[str, Any]) -> If:
    _refuse_keys_beside(raw, "if", "then", "else")
    if "then" not in raw:
        raise ValueError("`if` needs `then`")
    then, otherwise = _parse_optional(raw["then"]), _parse_optional(raw.get("else"))
    return If(parse_condition(raw["if"]), then or Const(None), otherwise or Const(None))


def _parse_turns(raw: Any) -> tuple[tuple[str, tuple[tuple[str, Expression], ...]], ...]:
    if not isinstance(raw, list) or not raw:
        raise ValueError("`messages` takes a list of {role, content}")
    turns = []
    for turn in raw:
        if not isinstance(turn, dict) or set(turn) != {"role", "content"}:
            raise ValueError("a message must have the keys `role` and `content`, and no others")
        role, content = turn["role"], turn["content"]
        if role not in _ROLES:
            raise ValueError(f"{role!r} is not one of the roles {', '.join(_ROLES)}")
        if isinstance(content, list):
            turns.append((role, tuple(map(_parse_part, content))))
        else:
            turns.append((role, (("", parse_expression(content)),)))
    return tuple(turns)


def _parse_part(raw: Any) -> tuple[str, Expression]:
    if isinstance(raw, dict) and len(raw) == 1:
        ((kind, content),) = raw.items()
        if kind in PART_KINDS:
            return kind, parse_expression(content)
    kinds = ", ".join(PART_KINDS)
    raise ValueError(f"a part of a message must be {{kind: expression}}, with a kind of {kinds}")


def parse_operations(raw: Any) -> tuple[OperationCall, ...]:
    """Parse the operations of a pipe: a single operation or a list.

    Raises:
        ValueError: an operation is neither a name nor `{name: argument}`.
    """
    calls = []
    for step in raw if isinstance(raw, list) else [raw]:
        if isinstance(step, str):
            calls.append(OperationCall(step))
        elif isinstance(step, dict) and len(step) == 1:
            calls += [OperationCall(name, arguments) for name, arguments in step.items()]
        else:
            raise ValueError(f"{step!r} is not an operation (write a name, or {{name: argument}})")
    return tuple(calls)


def _refuse_keys_beside(raw: dict[str, Any], *known: str) -> None:
    for key in raw:
        if key not in known:
            hint = did_you_mean(key, known)
            message = f"unknown key '{key}' next to '{known[0]}'"
            raise ValueError(f"{message} ({hint})" if hint else message)


def parse_condition(raw: Any) -> Condition:
    """Parse a condition of a manifest; all conditions in a list must hold.

    Raises:
        ValueError: it is invalid; the message says why.
    """
    match raw:
        case list():
            return AllOf(tuple(map(parse_condition, raw)))
        case {"all": conditions}:
            _refuse_keys_beside(raw, "all")
            return AllOf(tuple(map(parse_condition, conditions)))
        case {"any": conditions}:
            _refuse_keys_beside(raw, "any")
            return AnyOf(tuple(map(parse_condition, conditions)))
        case {"not": condition}:
            _refuse_keys_beside(raw, "not")
            return Not(parse_condition(condition))
        case {"value": value, **comparisons}:
            return Comparisons(parse_comparisons(comparisons).tests, parse_expression(value))
        case dict():
            message = "a condition must have `value` and comparisons, or one of all, any, not"
            raise ValueError(message)
        case _:
            message = f"{raw!r} is not a condition (write {{value: column, equals: …}})"
            raise ValueError(message)


def parse_comparisons(raw: Any) -> Comparisons:
    """Parse `{equals: …, regex: …}`: comparisons of a value that the context supplies.

    Raises:
        ValueError: there is no comparison, or an unknown one.
    """
    if not isinstance(raw, dict) or not raw:
        raise ValueError(f"takes comparisons: {', '.join(COMPARISONS)}")
    for key in raw:
        if key not in COMPARISONS:
            hint = near_or_known(str(key), COMPARISONS, "known")
            raise ValueError(f"unknown comparison '{key}' ({hint})")
    return Comparisons(tuple(raw.items()))
