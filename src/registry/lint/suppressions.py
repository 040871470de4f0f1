"""Comments that ignore a rule, `# registry: ignore RULE -- reason`: found, judged and applied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import yaml

from registry.errors import Problem
from registry.lint.selection import Selection, WordFault, word_fault
from registry.rules import RULES

__all__ = ["IgnoreComment", "apply_ignores", "read_ignores"]

_COMMENT = re.compile(r"#\s*registry:\s*ignore\b[ \t]*(?P<rest>[^\r\n]*)")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_EXAMPLE = "write `# registry: ignore RULE -- reason`"


@dataclass(frozen=True, kw_only=True)
class IgnoreComment:
    """A comment that says which problems of one line are meant to be."""

    line: int
    """Where it stands, 1-based."""
    column: int
    """As `line`."""
    target: int
    """The line whose problems it speaks of: its own, or the next below it that holds keys."""
    rules: tuple[str, ...]
    """Ids, as they were written."""
    reason: str
    """Why; empty where none is given."""


def read_ignores(text: str) -> list[IgnoreComment]:
    """Return the ignore comments of a YAML text; what only looks so inside a string is none."""
    if not _COMMENT.search(text):
        return []
    lines = text.split("\n")
    scalars = _scalar_lines(text)
    return [
        _comment(lines, number, found)
        for number, line in enumerate(lines)
        for found in _COMMENT.finditer(line)
        if not any(_covers(scalar, number, found.start()) for scalar in scalars)
        and (found.start() == 0 or line[found.start() - 1] in " \t")
    ]


@dataclass(frozen=True)
class _Scalar:
    start: tuple[int, int]
    end: tuple[int, int]
    is_block: bool


def _scalar_lines(text: str) -> list[_Scalar]:
    """Return where the scalars of a text are, as line and column from 0."""
    return [
        _Scalar(
            (token.start_mark.line, token.start_mark.column),
            (token.end_mark.line, token.end_mark.column),
            token.style in ("|", ">"),
        )
        for token in yaml.scan(text, Loader=_LOADER)
        if isinstance(token, yaml.ScalarToken)
    ]


def _covers(scalar: _Scalar, line: int, column: int) -> bool:
    if scalar.is_block and line == scalar.start[0]:
        return False  # after `|` only a comment can stand
    return scalar.start <= (line, column) < scalar.end


def _comment(lines: list[str], number: int, found: re.Match[str]) -> IgnoreComment:
    names, _, reason = found["rest"].partition("--")
    stands_alone = not lines[number][: found.start()].strip()
    target = number
    while stands_alone and target + 1 < len(lines) and _holds_nothing(lines[target]):
        target += 1
    return IgnoreComment(
        line=number + 1,
        column=found.start() + 1,
        target=target + 1,
        rules=tuple(re.findall(r"[^\s,]+", names)),
        reason=reason.strip(),
    )


def _holds_nothing(line: str) -> bool:
    return line.strip() == "" or line.lstrip().startswith("#")


def apply_ignores(
    problems: Sequence[Problem],
    comments: Sequence[IgnoreComment],
    *,
    file: str,
    selection: Selection,
    complete: bool,
) -> Iterator[Problem]:
    """Yield the problems of a file that no comment ignores, and those of the comments.

    Args:
        problems: Problems of this file.
        comments: Its ignore comments.
        file: Its name in messages.
        selection: The rules that are looked at; a comment on others is not called unused.
        complete: Whether everything was looked at; else nothing is called unused.
    """
    valid: dict[tuple[int, str], IgnoreComment] = {}
    for comment in comments:
        faults = list(_faults(comment))
        yield from (_problem(comment, fault, file) for fault in faults)
        if not faults:
            valid.update({(comment.target, rule): comment for rule in comment.rules})
    used = {(problem.line, problem.rule) for problem in problems} & set(valid)
    yield from (one for one in problems if (one.line, one.rule) not in used)
    for key, comment in valid.items():
        if complete and key not in used and key[1] in selection:
            fault = f"no problem of '{key[1]}' here", "take the comment out", "unused-ignore"
            yield _problem(comment, fault, file)


def _faults(comment: IgnoreComment) -> Iterator[WordFault]:
    if not comment.rules:
        yield "the comment names no rule", _EXAMPLE, "unknown-rule"
    for rule in comment.rules:
        fault = word_fault(rule, ignoring=True, families=False)
        if fault is not None:
            yield fault
    if not comment.reason:
        yield (
            "the comment gives no reason, so it ignores nothing",
            _EXAMPLE,
            "ignore-without-reason",
        )


def _problem(comment: IgnoreComment, fault: WordFault, file: str) -> Problem:
    message, hint, rule = fault
    return Problem(
        message=message,
        file=file,
        line=comment.line,
        column=comment.column,
        hint=hint,
        rule=rule,
        severity=RULES[rule].severity,
    )
