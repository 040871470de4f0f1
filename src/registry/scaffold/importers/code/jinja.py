"""Translate Jinja templates of a simple shape: texts and `{{expressions}}`, no statements."""

from __future__ import annotations

import ast
import re
from typing import Any

from registry.scaffold.importers.code.field_code import (
    Translator,
    UntranslatableError,
    parse_code,
    template_of,
)

__all__ = ["JINJA", "jinja_parts", "parse_jinja", "single_expression", "translate_jinja"]

_OPEN = re.compile(r"\{\{|\{%|\{#")
_CONSTANTS = {"true": True, "false": False, "none": None, "True": True, "False": False}
_GLOBALS = frozenset(
    ("range", "dict", "lipsum", "cycler", "joiner", "namespace", "loop", "self", "None")
)


def _column_of(node: ast.expr) -> Any:
    if not isinstance(node, ast.Name):
        return None
    if node.id in _CONSTANTS:
        return {"const": _CONSTANTS[node.id]}
    if node.id in _GLOBALS:
        raise UntranslatableError(f"`{node.id}` is a name of Jinja")
    return node.id


JINJA = Translator(_column_of)
"""Each name in a template is a column."""


def parse_jinja(text: str) -> list[str | ast.expr]:
    """Return the texts and expressions of a template.

    Raises:
        UntranslatableError: it has a statement, or an expression that is not simple.
    """
    parts: list[str | ast.expr] = []
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # as Jinja does
    start, strip_next = 0, False
    while (found := _OPEN.search(text, start)) is not None:
        before = text[start : found.start()]
        if found.group() != "{{":
            end = text.find("%}", found.end())
            statement = text[found.start() : end + 2 if end > 0 else found.start() + 40]
            raise UntranslatableError(f"`{statement[:60]}` is a statement of Jinja")
        end = text.find("}}", found.end())
        if end < 0:
            raise UntranslatableError("a `{{` is not closed")
        code = text[found.end() : end]
        before = before.lstrip() if strip_next else before
        before = before.rstrip() if code.startswith("-") else before
        strip_next = code.endswith("-")
        code = code.removeprefix("-").removesuffix("-")
        parts += [before, parse_code(code)] if before else [parse_code(code)]
        start = end + 2
    rest = text[start:].lstrip() if strip_next else text[start:]
    return [*parts, rest] if rest else parts


def single_expression(text: str) -> ast.expr | None:
    """Return the expression of a template that is nothing else, such as `{{answer}}`."""
    parts = parse_jinja(text)
    return parts[0] if len(parts) == 1 and isinstance(parts[0], ast.expr) else None


def jinja_parts(text: str) -> list[str | dict[str, Any]]:
    """Return the parts of a template, as `template_of` takes them.

    Raises:
        UntranslatableError: an expression has no equivalent.
    """
    return [
        part if isinstance(part, str) else {"value": JINJA.expression(part)}
        for part in parse_jinja(text)
    ]


def translate_jinja(text: str) -> Any:
    """Return the expression of the field language for a template.

    Raises:
        UntranslatableError: it has none.
    """
    return template_of(jinja_parts(text))
