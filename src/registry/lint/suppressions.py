"""Comments that ignore a rule, `# registry: ignore RULE -- reason`: read, checked, applied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from registry.errors import Problem
from registry.lint.selection import Selection, invalid_name
from registry.rules import RULES, Finding
from registry.yamldoc.reader import DataPath

__all__ = ["IgnoreComment", "apply_ignores", "parse_ignores", "read_ignores"]

_COMMENT = re.compile(r"#\s*registry:\s*ignore\b[ \t]*(?P<rest>[^\r\n]*)")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_EXAMPLE = "write `# registry: ignore RULE -- reason`"


@dataclass(frozen=True, kw_only=True)
class IgnoreComment:
    """A comment that marks problems of one line as intended."""

    line: int
    """Its own line, 1-based."""
    column: int
    """Its own column, 1-based."""
    target: int
    """The line whose problems it ignores: its own, or the next one below with keys."""
    rules: tuple[str, ...]
    """Ids, as they were written."""
    reason: str
    """Why; empty if none is given."""
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
    """Return the ignore comments of a file; none if it is not valid YAML."""
    try:
        return parse_ignores(Path(file).read_bytes().decode("utf-8-sig"), file=file)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []  # the reader of manifests reports it


def parse_ignores(text: str, *, file: str = "") -> list[IgnoreComment]:
    """Return the ignore comments of YAML text; what looks like one inside a string is not one."""
    if not _COMMENT.search(text):
        return []
    lines = text.split("\n")
    # A block scalar starts on the line after its `|`, behind which only a comment can follow.
    strings = [
        (
            (token.start_mark.line + 1, 0)
            if token.style in ("|", ">")
            else (token.start_mark.line, token.start_mark.column),
            (token.end_mark.line, token.end_mark.column),
        )
        for token in yaml.scan(text, Loader=_LOADER)
        if isinstance(token, yaml.ScalarToken)
    ]
    comments = []
    for number, line in enumerate(lines):
        for match in _COMMENT.finditer(line):
            before = line[: match.start()]
            is_comment = before == "" or before[-1] in " \t"
            if not is_comment or any(
                start <= (number, match.start()) < end for start, end in strings
            ):
                continue
            target = number
            if not before.strip():  # on a line of its own, it is about the next line with keys
                while target + 1 < len(lines) and lines[target].strip()[:1] in ("", "#"):
                    target += 1
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


def apply_ignores(
    problems: Sequence[Problem],
    comments: Sequence[IgnoreComment],
    *,
    selection: Selection,
    complete: bool,
) -> Iterator[Problem]:
    """Yield the problems of a file that no comment ignores, and those of the comments.

    Args:
        problems: Problems of this file.
        comments: Its ignore comments.
        selection: The rules that are reported; a comment about others is not called unused.
        complete: Whether every check was run; otherwise no comment is called unused.
    """
    valid: dict[tuple[int, str], IgnoreComment] = {}
    for comment in comments:
        findings = list(_findings(comment))
        yield from (found.at(comment) for found in findings)
        if not findings:
            valid.update({(comment.target, rule): comment for rule in comment.rules})
    used = {(problem.line, problem.rule) for problem in problems} & set(valid)
    yield from (one for one in problems if (one.line, one.rule) not in used)
    for (line, rule), comment in valid.items():
        if complete and (line, rule) not in used and rule in selection:
            message = f"no problem of '{rule}' on line {line}"
            yield Finding((), message, "remove the comment", "unused-ignore").at(comment)


def _findings(comment: IgnoreComment) -> Iterator[Finding]:
    """Yield what makes a comment invalid, so that it ignores nothing."""
    if not comment.rules:
        yield Finding((), "the comment names no rule", _EXAMPLE, "unknown-rule")
    for rule in comment.rules:
        if found := invalid_name(rule, ignoring=True, families=False):
            yield found
    if not comment.reason:
        message = "the comment gives no reason, so it ignores nothing"
        yield Finding((), message, _EXAMPLE, "ignore-without-reason")
