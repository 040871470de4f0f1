"""Translate `doc_to_text`, `doc_to_choice` and `doc_to_target` of lm-evaluation-harness to fields.

`input` is the context that the harness sends without few-shot examples, `choices` are the
continuations that it compares, `target` is the letter of the correct one, or the text to generate.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from registry.api import letter_of
from registry.plugins.importers.field_code import (
    UntranslatableError,
    constant_of,
    list_of_constants,
    parse_code,
    pipe,
    template_of,
)
from registry.plugins.importers.jinja import JINJA, jinja_parts, single_expression, translate_jinja
from registry.plugins.importers.tolerant_yaml import Tagged

__all__ = ["choices_of", "input_of", "target_of"]

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
            node = single_expression(raw)
            if node is None:
                raise UntranslatableError(f"`{raw}` is not one expression")
            return JINJA.expression(node)
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
        if isinstance(raw, str) and "{{" in raw and (node := single_expression(raw)) is not None:
            return JINJA.expression(node)  # a list of answers, too: the harness parses its text
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
    node = single_expression(raw)
    match node:
        case ast.Call(ast.Attribute(labels, "index"), [value], []):
            return pipe(JINJA.expression(value), {"letter_in": JINJA.expression(labels)})
        case ast.BinOp(value, ast.Sub(), ast.Constant(1)):
            return pipe(JINJA.expression(value), {"letter": {"base": 1}})
        case ast.Subscript(labels, index) if (items := list_of_constants(labels)) is not None:
            if choices == {"const": items} and not any(_is_digits(item) for item in items):
                shifted = isinstance(index, ast.BinOp)
                return _indexed(index) if shifted else pipe(JINJA.expression(index), "letter")
    text = translate_jinja(raw)
    if isinstance(text, dict) and set(text) == {"const"}:
        return _constant_target(text["const"], choices)
    return {
        "if": {"value": text, "regex": r"\A[0-9]+\Z"},
        "then": pipe(text, "letter"),
        "else": pipe(text, {"letter_in": choices}),
    }


def _indexed(index: ast.expr) -> Any:
    match index:
        case ast.BinOp(value, ast.Sub(), ast.Constant(1)):
            return pipe(JINJA.expression(value), {"letter": {"base": 1}})
    raise UntranslatableError(f"the index `{ast.unparse(index)}` has no equivalent")


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
            return jinja_parts(raw)
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
