"""Read, check and apply comments that ignore a rule: `# registry: ignore RULE -- reason`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import yaml

from registry.base.local_files import open_regular
from registry.errors import Problem
from registry.lint.selection import Selection, invalid_name
from registry.rules import RULES, Finding
from registry.settings import lock_limit
from registry.yamldoc.reader import DataPath

__all__ = [
    "IgnoreComment",
    "apply_ignores",
    "effective_ignores",
    "parse_ignores",
    "read_ignores",
]

_Mark = tuple[int, int]
"""A line and a column, 0-based."""
_COMMENT = re.compile(r"#\s*registry:\s*ignore\b[ \t]*(?P<rest>[^\r\n]*)")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_EXAMPLE = "write `# registry: ignore RULE -- reason`"


@dataclass(frozen=True, kw_only=True)
class IgnoreComment:
    """A comment that marks problems on one line as intended."""

    line: int
    """The line of the comment, 1-based."""
    column: int
    """The column of the comment, 1-based."""
    target: int
    """The line whose problems it ignores: its own, or the next line below with keys."""
    rules: tuple[str, ...]
    """Ids as written."""
    reason: str
    """Empty if the comment has no reason."""
    file: str = ""
    """The file's name in messages."""

    def problem(self, _: DataPath, message: str, hint: str = "", *, rule: str) -> Problem:
        """Return a problem of the comment, which has no path in the document."""
        return Problem(
            message=message,
            file=self.file,
            line=self.line,
            column=self.column,
            hint=hint,
            rule=rule,
            severity=RULES[rule].severity,
        )


def read_ignores(file: str) -> list[IgnoreComment]:
    """Return the ignore comments of a file; an empty list if it is not valid YAML."""
    try:
        with open_regular(file) as opened:
            data = opened.read(lock_limit())  # no other file may be larger
        return parse_ignores(data.decode("utf-8-sig"), file=file)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []  # the reader of manifests reports it


def parse_ignores(text: str, *, file: str = "") -> list[IgnoreComment]:
    """Return the ignore comments in YAML text, except text inside strings."""
    if not _COMMENT.search(text):
        return []
    lines, strings = text.split("\n"), _string_spans(text)
    comments = []
    for number, line in enumerate(lines):
        for match in _COMMENT.finditer(line):
            before = line[: match.start()]
            is_comment = before == "" or before[-1] in " \t"
            if not is_comment or _is_inside((number, match.start()), strings):
                continue
            # On a line of its own, it applies to the next line with keys.
            target = number if before.strip() else _next_with_keys(lines, number)
            names, _, reason = match["rest"].partition("--")
            comment = IgnoreComment(
                line=number + 1,
                column=match.start() + 1,
                target=target + 1,
                rules=tuple(re.findall(r"[^\s,]+", names)),
                reason=reason.strip(),
                file=file,
            )
            comments.append(comment)
    return comments


def _string_spans(text: str) -> list[tuple[_Mark, _Mark]]:
    """Return where the strings of YAML text start and end, in order."""
    # A block scalar starts on the line after its `|`, which may be followed by a comment.
    return [
        (
            (token.start_mark.line + 1, 0)
            if token.style in ("|", ">")
            else (token.start_mark.line, token.start_mark.column),
            (token.end_mark.line, token.end_mark.column),
        )
        for token in yaml.scan(text, Loader=_LOADER)
        if isinstance(token, yaml.ScalarToken)
    ]


def _next_with_keys(lines: Sequence[str], number: int) -> int:
    """Return the number of the first line, from one on, that is not empty and no comment."""
    while number + 1 < len(lines) and lines[number].strip()[:1] in ("", "#"):
        number += 1
    return number


def _is_inside(place: _Mark, strings: Sequence[tuple[_Mark, _Mark]]) -> bool:
    """Return whether a place is in one of the strings, which are in order."""
    number = bisect_right(strings, place, key=itemgetter(0)) - 1
    return number >= 0 and place < strings[number][1]


def effective_ignores(files: Iterable[str]) -> Iterator[IgnoreComment]:
    """Yield the comments in files that can ignore something: valid ones."""
    for file in files:
        yield from (one for one in read_ignores(file) if not any(_comment_findings(one)))


def apply_ignores(
    problems: Sequence[Problem],
    comments: Sequence[IgnoreComment],
    *,
    selection: Selection,
    complete: bool,
) -> Iterator[Problem]:
    """Yield the problems of a file that no comment ignores, and problems with its comments.

    Args:
        problems: Problems of this file.
        comments: Its ignore comments.
        selection: The rules to report; a comment about another rule is not reported as unused.
        complete: Whether all checks ran; if not, no comment is reported as unused.
    """
    valid: dict[tuple[int, str], IgnoreComment] = {}
    for comment in comments:
        findings = list(_comment_findings(comment))
        yield from (found.at(comment) for found in findings)
        if not findings:
            valid.update({(comment.target, rule): comment for rule in comment.rules})
    used = {(problem.line, problem.rule) for problem in problems} & set(valid)
    yield from (one for one in problems if (one.line, one.rule) not in used)
    for (line, rule), comment in valid.items():
        if complete and (line, rule) not in used and rule in selection:
            message = f"no problem of '{rule}' on line {line}"
            yield Finding((), message, "remove the comment", "unused-ignore").at(comment)


def _comment_findings(comment: IgnoreComment) -> Iterator[Finding]:
    """Yield violations that make a comment invalid, so that it has no effect."""
    if not comment.rules:
        yield Finding((), "the comment names no rule", _EXAMPLE, "unknown-rule")
    for rule in comment.rules:
        if found := invalid_name(rule, ignoring=True, families=False):
            yield found
    if not comment.reason:
        message = "the comment gives no reason, so it ignores nothing"
        yield Finding((), message, _EXAMPLE, "ignore-without-reason")
