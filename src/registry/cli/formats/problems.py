"""How problems are printed: a table of formats, each problems → lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from registry.cli.formats.sarif import sarif_log
from registry.errors import Problem

__all__ = ["FORMATS", "counted"]


def counted(number: int, word: str) -> str:
    """Return a number of things: `1 error`, `2 errors`."""
    return f"{number} {word}" + ("" if number == 1 else "s")


def _text(problems: Iterable[Problem]) -> Iterator[str]:
    for problem in problems:
        severity = "warning: " if problem.severity == "warning" else ""
        rule = f" [{problem.rule}]" if problem.rule else ""
        yield f"{problem.place}: {severity}{problem.text}{rule}"


def _json(problems: Iterable[Problem]) -> Iterator[str]:
    data = [problem.to_dict() for problem in problems]
    yield json.dumps(data, indent=2, ensure_ascii=False)


def _github(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield workflow commands, which GitHub Actions shows at the lines of a pull request."""
    for problem in problems:
        place = {"line": problem.line, "col": problem.column} if problem.line else {}
        given = {"file": problem.file, **place, "title": problem.rule}
        properties = ",".join(
            f"{key}={_escaped_property(str(value))}" for key, value in given.items() if value
        )
        message = _escaped(f"{problem.path}: {problem.text}" if problem.path else problem.text)
        yield f"::{problem.severity} {properties}::{message}"


# As the runner reads them: `%` first, for it stands in what the others become.
_ESCAPES = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY_ESCAPES = ((":", "%3A"), (",", "%2C"))


def _escaped(text: str) -> str:
    for character, escape in _ESCAPES:
        text = text.replace(character, escape)
    return text


def _escaped_property(text: str) -> str:
    text = _escaped(text)
    for character, escape in _PROPERTY_ESCAPES:
        text = text.replace(character, escape)
    return text


def _sarif(problems: Iterable[Problem]) -> Iterator[str]:
    yield json.dumps(sarif_log(problems), indent=2, ensure_ascii=False)


FORMATS: dict[str, Callable[[Iterable[Problem]], Iterator[str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
}
"""Formats by the word that `--format` takes."""
