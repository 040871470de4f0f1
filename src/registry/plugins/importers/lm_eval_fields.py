"""Translate `doc_to_text`, `doc_to_choice` and `doc_to_target` of lm-evaluation-harness to fields.

`input` is the context that the harness sends without few-shot examples, `choices` are the
continuations that it compares, `target` is the letter of the correct one, or the text to generate.
Each is the name of a column or a template of Jinja, of which those of a simple shape are
translated: texts, `{{expressions}}` and `{% if %}`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from registry.api import letter_of
from registry.plugins.importers.field_code import (
    Translator,
    UntranslatableError,
    constant_of,
    list_of_constants,
    parse_code,
    pipe,
    template_of,
)
from registry.plugins.importers.tolerant_yaml import Tagged

__all__ = [
    "choices_of",
    "input_of",
    "target_of",
    "translate_jinja",
]


# The harness takes a str for a column if the data has one of that name, else for a template.
_COLUMN = re.compile(r"[A-Za-z_][\w.-]*(?: [\w.-]+)*")


def input_of(config: dict[str, Any]) -> Any:
    """Return the expression of `input`: description, question and prefix of the answer.

    Raises:
        UntranslatableError: there is none.
    """
    question = config.get("doc_to_text")
    start, middle = _prompt_parts(config.get("description")), _parts(question)
    end = _prompt_parts(config.get("gen_prefix"))
    if not any((*start, *middle, *end)):
        raise UntranslatableError("the prompt is empty, which the input of a sample must not be")
    if isinstance(question, str) and _is_column(question) and not start and not end:
        return question
    if not end:
        return template_of([*start, *middle])
    return _before_prefix(start, middle, end, str(config.get("target_delimiter", " ")))


def choices_of(config: dict[str, Any]) -> Any:
    """Return the expression of `choices`.

    Raises:
        UntranslatableError: there is none.
    """
    raw = config.get("doc_to_choice")
    if isinstance(raw, dict):
        raw = list(raw.values())
    match raw:
        case list():
            if all(isinstance(item, str | int | float) for item in raw):
                return {"const": raw}
            raise UntranslatableError("a choice is neither a string nor a number")
        case str() if "{{" not in raw and raw.lstrip().startswith("["):
            return {"const": constant_of(parse_code(raw))}
        case str() if _is_column(raw):
            return raw
        case str():
            node = _single_expression(raw)
            if node is None:
                raise UntranslatableError(f"`{raw}` is not one expression")
            return _JINJA.expression(node)
    raise _code(raw)


def target_of(config: dict[str, Any], choices: Any) -> Any:
    """Return the expression of `target`: a letter where there are choices, else a text.

    Raises:
        UntranslatableError: there is none.
    """
    raw = config.get("doc_to_target")
    if choices is None:
        if isinstance(raw, list) and all(isinstance(item, str) for item in raw):
            return {"const": raw}
        if isinstance(raw, str) and "{{" in raw and (node := _single_expression(raw)) is not None:
            return _JINJA.expression(node)  # a list of answers, too: the harness parses its text
        if isinstance(raw, str) and _is_column(raw):
            return raw
        return template_of(_parts("" if raw is None else raw))
    match raw:
        case bool():
            raise UntranslatableError("true or false is not the number of a choice")
        case int():
            return {"const": _letter(raw)}
        case str() if _is_column(raw):
            # An int is an index, and a str is one of the choices: the data decides.
            is_text = {"value": raw, "regex": ""}
            return {
                "if": is_text,
                "then": pipe(raw, {"letter_in": choices}),
                "else": pipe(raw, "letter"),
            }
        case str():
            return _rendered_target(raw, choices)
    raise _code(raw)


def _rendered_target(raw: str, choices: Any) -> Any:
    """Return the letter for the text of a template: digits are an index, else it is a choice."""
    node = _single_expression(raw)
    match node:
        case ast.Call(ast.Attribute(labels, "index"), [value], []):
            return pipe(_JINJA.expression(value), {"letter_in": _JINJA.expression(labels)})
        case ast.BinOp(value, ast.Sub(), ast.Constant(1)):
            return pipe(_JINJA.expression(value), {"letter": {"base": 1}})
        case ast.Subscript(labels, index) if (items := list_of_constants(labels)) is not None:
            if choices == {"const": items} and not any(_is_digits(item) for item in items):
                match index:
                    case ast.BinOp(value, ast.Sub(), ast.Constant(1)):
                        return pipe(_JINJA.expression(value), {"letter": {"base": 1}})
                return pipe(_JINJA.expression(index), "letter")
    text = translate_jinja(raw)
    if isinstance(text, dict) and set(text) == {"const"}:
        return _constant_target(text["const"], choices)
    return {
        "if": {"value": text, "regex": r"\A[0-9]+\Z"},
        "then": pipe(text, "letter"),
        "else": pipe(text, {"letter_in": choices}),
    }


def _constant_target(text: str, choices: Any) -> Any:
    if not _is_digits(text):
        return pipe({"const": text}, {"letter_in": choices})
    if len(text) > 9:  # Python refuses to convert thousands of digits
        raise UntranslatableError(f"{text[:9]}… is not the number of a choice")
    return {"const": _letter(int(text))}


def _letter(index: int) -> str:
    if index < 0:
        raise UntranslatableError(f"{index} is not the number of a choice")
    return letter_of(index)


def _is_digits(value: Any) -> bool:
    # `²` is a digit too, and no number.
    return isinstance(value, str) and value.isascii() and value.isdigit()


def _parts(raw: Any) -> list[Any]:
    """Return the parts of a text, which is the name of a column or a template."""
    match raw:
        case str() if _is_column(raw):
            return [{"value": raw}]
        case str():
            return _jinja_parts(raw)
        case int() if not isinstance(raw, bool):
            return [str(raw)]
    raise _code(raw)


def _prompt_parts(raw: Any) -> list[Any]:
    """Return the parts of a text that is rarely the name of a column."""
    if isinstance(raw, str) and raw.isidentifier():
        raise UntranslatableError(f"`{raw}` is a column or a text, which depends on the data")
    if isinstance(raw, str) and _is_column(raw):
        return [raw]
    return _parts(raw) if raw else []


def _before_prefix(start: list[Any], middle: list[Any], end: list[Any], delimiter: str) -> Any:
    """Return the prompt with a prefix of the answer.

    The delimiter stands between question and prefix unless there is whitespace, or no question.
    """
    together = template_of([*start, *middle, *end])
    separated = template_of([*start, *middle, delimiter, *end])
    if not isinstance(end[0], str):
        raise UntranslatableError("gen_prefix: whether it starts with a space is not known")
    if end[0][0].isspace() or not middle:
        return together
    if isinstance(middle[-1], str):
        return together if middle[-1][-1].isspace() else separated
    ends_with_space = {"value": template_of(middle), "regex": r"\A\Z|\s\Z"}
    return {"if": ends_with_space, "then": together, "else": separated}


def _is_column(raw: str) -> bool:
    return _COLUMN.fullmatch(raw) is not None


def _code(raw: Any) -> UntranslatableError:
    if isinstance(raw, Tagged):
        return UntranslatableError(f"`{raw}` is Python code, which is not executed")
    return UntranslatableError(f"{raw!r} is not a template" if raw is not None else "it is missing")


_MAX_BRANCHES = 20
"""Levels of `{% if %}`."""

_OPEN = re.compile(r"\{\{|\{%|\{#")
_CLOSE = {"{{": "}}", "{%": "%}", "{#": "#}"}
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


_JINJA = Translator(_column_of)
"""Each name in a template is a column."""


@dataclass(frozen=True)
class _Branch:
    """Parts of a template that depend on a condition."""

    test: ast.expr
    then: list[_Part]
    otherwise: list[_Part]


_Part = str | ast.expr | _Branch
_Token = tuple[str, str]


def _parse_jinja(text: str) -> list[_Part]:
    """Return the texts, expressions and `if` statements of a template.

    Raises:
        UntranslatableError: it has another statement, or an expression that is not simple.
    """
    tokens = list(_tokens(text.replace("\r\n", "\n").replace("\r", "\n")))[::-1]  # as Jinja does
    parts, _ = _block(tokens, 0)
    return parts


def _tokens(text: str) -> Iterator[_Token]:
    """Yield texts as `("", text)`, and code with the two characters that open it."""
    start, strip_next = 0, False
    while (found := _OPEN.search(text, start)) is not None:
        before, opening = text[start : found.start()], found.group()
        end = text.find(_CLOSE[opening], found.end())
        if end < 0:
            raise UntranslatableError(f"a `{opening}` is not closed")
        code = text[found.end() : end]
        before = before.lstrip() if strip_next else before
        before = before.rstrip() if code.startswith("-") else before
        strip_next = code.endswith("-")
        if before:
            yield "", before
        yield opening, code.removeprefix("-").removesuffix("-")
        start = end + 2
    rest = text[start:].lstrip() if strip_next else text[start:]
    if rest:
        yield "", rest


def _block(tokens: list[_Token], depth: int) -> tuple[list[_Part], _Token]:
    """Return the parts up to the statement that ends a block, and that statement.

    `tokens` are in reverse order, and those that are read are removed.
    """
    parts: list[_Part] = []
    while tokens:
        opening, code = tokens.pop()
        word, _, rest = code.strip().partition(" ")
        if opening == "":
            parts.append(code)
        elif opening == "{{":
            parts.append(parse_code(code))
        elif opening == "{%" and word == "if":
            parts.append(_branch(rest, tokens, depth + 1))
        elif opening == "{%" and depth and word in ("elif", "else", "endif"):
            return parts, (word, rest)
        else:
            statement = f"{opening}{code}{_CLOSE[opening]}"
            raise UntranslatableError(f"`{statement[:60]}` is a statement of Jinja")
    if depth:
        raise UntranslatableError("an `{% if %}` is not closed")
    return parts, ("", "")


def _branch(test: str, tokens: list[_Token], depth: int) -> _Branch:
    """Return an `if` whose condition was read, up to its `endif`."""
    if depth > _MAX_BRANCHES:
        raise UntranslatableError(f"more than {_MAX_BRANCHES} `if` within each other")
    condition = parse_code(test)
    then, (word, rest) = _block(tokens, depth)
    otherwise: list[_Part] = []
    if word == "elif":
        otherwise = [_branch(rest, tokens, depth + 1)]
    elif word == "else":
        otherwise, (word, rest) = _block(tokens, depth)
        if word != "endif":
            raise UntranslatableError(f"`{word}` after `else`")
    return _Branch(condition, then, otherwise)


def _single_expression(text: str) -> ast.expr | None:
    """Return the expression of a template that is nothing else, such as `{{answer}}`."""
    parts = _parse_jinja(text)
    return parts[0] if len(parts) == 1 and isinstance(parts[0], ast.expr) else None


def _jinja_parts(text: str) -> list[str | dict[str, Any]]:
    """Return the parts of a template, as `template_of` takes them.

    Raises:
        UntranslatableError: an expression has no equivalent.
    """
    return [_translated(part) for part in _parse_jinja(text)]


def _translated(part: _Part) -> str | dict[str, Any]:
    match part:
        case str():
            return part
        case _Branch(test, then, otherwise):
            branches = [template_of(list(map(_translated, one))) for one in (then, otherwise)]
            condition = _JINJA.condition(test)
            return {"value": {"if": condition, "then": branches[0], "else": branches[1]}}
        case _:
            return {"value": _JINJA.expression(part)}


def translate_jinja(text: str) -> Any:
    """Return the expression of the field language for a template.

    Raises:
        UntranslatableError: it has none.
    """
    return template_of(_jinja_parts(text))
