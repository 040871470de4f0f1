"""How records become samples: FieldSpec for the loaders, expressions for manifests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from registry.errors import did_you_mean

__all__ = [
    "Column",
    "Const",
    "Expression",
    "FieldSpec",
    "Hash",
    "ListOf",
    "OperationCall",
    "Pipe",
    "expression_columns",
    "parse_expression",
]


@dataclass
class FieldSpec:
    """Names of the columns that hold the parts of a sample."""

    input: str = "input"
    """Column of the prompt: text, or a list of `{role, content}` messages. It must not be empty."""
    target: str = "target"
    """Column of the ideal answer; missing is "", a list stays a list of texts."""
    choices: str = "choices"
    """Column of the answer choices: a list, or text split at commas, else at blanks."""
    id: str = "id"
    """Column of the identifier, a number or text."""
    metadata: list[str] | type[BaseModel] | None = None
    """Columns to keep as metadata, or a frozen pydantic model that reads them; None takes a
    column `metadata` (an object or JSON text) where there is one."""
    sandbox: str = "sandbox"
    """Column of the sandbox: a type, or a pair of type and configuration file."""
    files: str = "files"
    """Column of the files: an object of texts, or JSON text of one."""
    setup: str = "setup"
    """Column of the setup script."""


@dataclass(frozen=True)
class Column:
    """A column of the record: the exact name first, then a dotted path into it."""

    name: str


@dataclass(frozen=True)
class Const:
    """A value that is the same in every sample."""

    value: Any


@dataclass(frozen=True)
class ListOf:
    """Several expressions as one list; items that are lists are flattened into it."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Hash:
    """An id made of fields: the digest of their texts joined with NUL, `prefix_` before it."""

    fields: tuple[Expression, ...]
    prefix: str | None = None
    length: int | None = None
    """Hex digits kept; None keeps all."""
    algorithm: Literal["md5", "sha256"] = "md5"


@dataclass(frozen=True)
class OperationCall:
    """One step of a pipe: the operation's name and its arguments as the manifest gives them."""

    name: str
    arguments: Any = None


@dataclass(frozen=True)
class Pipe:
    """An expression with operations applied to its value, in order."""

    start: Expression
    operations: tuple[OperationCall, ...]


Expression = Column | Const | ListOf | Hash | Pipe
"""A part of the field language: what one field of a sample is made of."""

_FORMS = ("const", "from", "hash")


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
    fields = raw["hash"] if isinstance(raw["hash"], list) else [raw["hash"]]
    options = {key: value for key, value in raw.items() if key != "hash"}
    return Hash(fields=tuple(parse_expression(field) for field in fields), **options)


def _parse_from(raw: dict[str, Any]) -> Pipe:
    _only(raw, "from", "do")
    steps = raw.get("do", [])
    listed = steps if isinstance(steps, list) else [steps]
    return Pipe(parse_expression(raw["from"]), tuple(_parse_operation(step) for step in listed))


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


_PARSERS: dict[str, Callable[[dict[str, Any]], Expression]] = {
    "const": _parse_const,
    "from": _parse_from,
    "hash": _parse_hash,
}


def expression_columns(expression: Expression) -> list[str]:
    """Return the columns that an expression reads, in order."""
    match expression:
        case Column(name):
            return [name]
        case ListOf(items) | Hash(fields=items):
            return [name for item in items for name in expression_columns(item)]
        case Pipe(start, _):
            return expression_columns(start)
        case Const():
            return []
