"""Select the problems to report: by the rules of the index and the command line, and by comments.

A comment ignores a rule on one line: `# registry: ignore RULE -- reason`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import yaml
from msgspec import structs

from registry.base.conversion import convert
from registry.base.local_files import open_regular
from registry.errors import Problem, Severity, did_you_mean
from registry.manifest.models import Validation
from registry.rules import ALL, RULE_FAMILIES, RULES, Finding
from registry.settings import lock_limit
from registry.yamldoc.reader import DataPath, Document, is_within

__all__ = [
    "IgnoreComment",
    "Selection",
    "apply_ignores",
    "configured",
    "effective_ignores",
    "invalid_name",
    "parse_ignores",
    "read_ignores",
    "selected",
]

# A file with such a problem is not read any further, so hiding it would make the file look valid.
_ALWAYS = frozenset(rule.id for name in ("yaml", "schema", "rules") for rule in RULE_FAMILIES[name])
_DEFAULT = frozenset(rule.id for rule in RULES.values() if rule.default)
_BLOCKING = frozenset(rule.id for rule in RULES.values() if rule.blocking)
_Mark = tuple[int, int]
"""A line and a column, 0-based."""
_COMMENT = re.compile(r"#\s*registry:\s*ignore\b[ \t]*(?P<rest>[^\r\n]*)")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_EXAMPLE = "write `# registry: ignore RULE -- reason`"


@dataclass(frozen=True)
class Selection:
    """The rules to report, and the severities that replace the rules' own."""

    rules: frozenset[str] = _DEFAULT
    severity: Mapping[str, Severity] | None = None

    def __contains__(self, rule: object) -> bool:
        return rule in self.rules

    def with_error(self, rule: str) -> Selection:
        """Return the selection with an additional rule, reported as an error."""
        severity: dict[str, Severity] = {**(self.severity or {}), rule: "error"}
        return Selection(self.rules | {rule}, severity)

    def without(self, rules: Collection[str]) -> Selection:
        """Return the selection without some rules."""
        return replace(self, rules=self.rules.difference(rules))

    def apply(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Yield the selected problems with the configured severities."""
        severities = self.severity or {}
        for problem in problems:
            if problem.rule in self.rules:
                severity = severities.get(problem.rule, problem.severity)
                same = severity == problem.severity
                yield problem if same else structs.replace(problem, severity=severity)


def invalid_name(
    name: str, *, ignoring: bool, families: bool = True, path: DataPath = ()
) -> Finding | None:
    """Check the name of a rule or a family; None if it is valid.

    Args:
        name: The name as written.
        ignoring: Whether it is ignored or made a warning, which is invalid for a blocking rule.
        families: Whether families and `all` are allowed.
        path: Where it was written.
    """
    known = (*RULES, *RULE_FAMILIES, ALL) if families else tuple(RULES)
    if name not in known:
        hint = did_you_mean(name, known) or "`validate --rules` lists them"
        return Finding(path, f"no rule '{name}'", hint, "unknown-rule")
    if ignoring and not _rules_named([name]) - _BLOCKING:
        hint = "fix the problem: it makes the dataset unusable"
        return Finding(path, f"'{name}' can't be ignored", hint, "rule-not-ignorable")
    return None


def selected(base: Selection, *, select: Iterable[str], ignore: Iterable[str]) -> Selection:
    """Return a selection narrowed by the command line, whose `select` replaces the index's.

    Raises:
        KeyError: a name is neither a rule nor a family.
    """
    wanted, unwanted = _rules_named(select), _rules_named(ignore) - _BLOCKING
    rules = wanted | _ALWAYS if wanted else base.rules
    return replace(base, rules=rules - unwanted)


def configured(index: Document, *, invalid: Iterable[str] = ()) -> tuple[Selection, list[Problem]]:
    """Return the selection under `validate` in an index, and its problems.

    If there are problems, or one of the paths that are known to be `invalid` is in it, the
    selection is the default.
    """
    if any(path == "$" or is_within(path, "$.validate") for path in invalid):
        return Selection(), []
    given = index.value.get("validate") or {}
    problems = [
        found.at(index)
        for path, name, ignoring in _configured_names(given)
        if (found := invalid_name(name, ignoring=ignoring, path=("validate", *path)))
    ]
    if problems:
        return Selection(), problems
    config = convert(given, Validation)
    wanted = _DEFAULT if config.select is None else _rules_named(config.select) | _BLOCKING
    rules = wanted - (_rules_named(config.ignore) - _BLOCKING)
    severities = {
        rule: severity
        for name, severity in config.severity.items()
        for rule in _rules_named([name]) - _BLOCKING
    }
    return Selection(rules, severities), []


def _configured_names(given: Mapping[str, object]) -> Iterator[tuple[DataPath, str, bool]]:
    """Yield each name in the configuration: path, name, whether it is ignored or weakened."""
    for key in ("select", "ignore"):
        names = given.get(key) or ()
        for number, name in enumerate(names if isinstance(names, list) else ()):
            yield (key, number), name, key == "ignore"
    severities = given.get("severity")
    for name, severity in severities.items() if isinstance(severities, dict) else ():
        yield ("severity", name), name, severity == "warning"


def _rules_named(names: Iterable[str]) -> frozenset[str]:
    """Return the ids of the rules for names of rules and families."""
    found: set[str] = set()
    for name in names:
        if name == ALL:
            found.update(RULES)
        elif name in RULE_FAMILIES:
            found.update(rule.id for rule in RULE_FAMILIES[name])
        else:
            found.add(RULES[name].id)
    return frozenset(found)


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
            target = number
            if not before.strip():  # on a line of its own, it applies to the next line with keys
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
