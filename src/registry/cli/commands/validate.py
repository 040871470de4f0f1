"""`validate`: check manifests, and fix what can be fixed automatically."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from registry.base.local_files import display_path
from registry.catalog.catalog import Catalog
from registry.catalog.discovery import package_of
from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.output import print_json, print_line, print_table, with_root
from registry.cli.problems import FORMATS, full_lines
from registry.cli.terminal import print_styled, unescaped
from registry.errors import Problem, count_text
from registry.lint.fixes import FIXES, fix
from registry.lint.runner import CheckResult, check, check_catalog, count_checked, split_packages
from registry.lint.selection import Selection, effective_ignores, invalid_name, selected
from registry.lint.stray_files import nested_indexes
from registry.rules import RULES
from registry.settings import Settings, builtin_root, validate_seconds

__all__ = ["command"]

_READING, _CHECKING = 0.5, 0.8
"""The shares of the processor time after which no further file is read, and no dataset checked."""
_LISTED = ("id", "family", "reason", "severity", "blocking", "default", "fixable")
"""The attributes of a rule that `--rules --json` prints."""
_FOR_PEOPLE = ("text", "full", "concise")
_FORMATS = ("text", "full", *FORMATS)
_EXAMPLES = """\b
Example: registry validate registry/demo.yaml
registry validate --select secrets,unpinned-revision
registry validate --fix registry
registry validate --format sarif > problems.sarif
registry validate --strict --config-from origin/main

\b
Ignore a problem with a comment at the end of its line, or above it:
  # registry: ignore unpinned-revision -- it may move
  revision: main
"""


def _rules_option(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the names in an option; each must be a rule, a family or `all`."""
    names = tuple(name for text in given for name in re.split(r"[,\s]+", text) if name)
    for name in names:
        if found := invalid_name(name, ignoring=param.name == "ignore"):
            raise click.BadParameter(f"{found.message} ({found.hint})", ctx, param)
    return names


@click.command("validate", epilog=_EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATHS]...")
@click.option(
    "--select",
    multiple=True,
    metavar="RULES",
    callback=_rules_option,
    help="Report only these rules or families, whatever the index selects. `all` is every rule.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="RULES",
    callback=_rules_option,
    help="Don't report these; problems that make a dataset unusable can't be ignored.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option(
    "--fix",
    "fixing",
    is_flag=True,
    help="First fix files in place where possible; --select and --ignore say which problems.",
)
@click.option(
    "--format",
    "format_name",
    metavar="FORMAT",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="full quotes the lines; concise is one line for each problem; text is full on a terminal"
    " and concise in a pipe, where editors and grep read it; json; github and sarif are for code"
    " hosts.",
)
@click.option(
    "--packages",
    is_flag=True,
    help="Report the problems in files of included packages too, which only their authors can"
    " change; otherwise they are counted.",
)
@options.locked
@options.config_from
@options.as_json
@click.option("--rules", "list_rules", is_flag=True, help="List the rules and exit.")
@options.root
def command(
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    strict: bool,
    fixing: bool,
    format_name: str,
    packages: bool,
    locked: bool | None,
    config_from: str | None,
    as_json: bool,
    list_rules: bool,
    root: str | None,
) -> int:
    """Check the manifests of the catalog, or only some files or folders.

    Reports every problem with its file, line, column and rule. Makes no network request and imports
    no code. Exits with 1 if there is an error; with --locked a stale pin is an error. With
    --config-from it lists the comments that ignore a rule.
    """
    format_name = "json" if as_json else format_name
    if list_rules:
        _print_rules(as_json=format_name == "json")
        return CLEAN
    settings = Settings.from_environment(root=root, locked=locked)
    start, seconds = time.process_time(), validate_seconds()
    with options.rules_of(config_from, settings.index) as base:
        rules = None if base is None else base.index
        reading = partial(
            Catalog.open,
            settings.index,
            rules_from=rules,
            lenient=True,
            deadline=start + _READING * seconds,
        )
        catalog = reading()
        if fixing:
            # To stderr if stdout is for a program.
            fixed = selected(Selection(frozenset(FIXES)), select=select, ignore=ignore)
            _apply_fixes(catalog, paths, fixed, to_stderr=format_name not in _FOR_PEOPLE)
            catalog = reading()
        chosen: dict[str, Any] = {"select": select, "ignore": ignore, "locked": settings.locked}
        chosen["deadline"] = start + _CHECKING * seconds
        if paths:
            result = CheckResult(check(catalog, paths, **chosen), count_checked(catalog, paths))
        else:
            result = check_catalog(catalog, settings.cache_dir, **chosen)
    if config_from:
        _print_ignores(catalog)
    problems = result.problems
    if not packages and not paths:
        problems, of_packages = split_packages(catalog, problems)
        for index, theirs in of_packages.items():
            place = f"package:{package_of(index.parent)}"
            print_line(f"note: {place}: {_counts(theirs)} (--packages shows them)", err=True)
    _print_problems(problems, format_name)
    if format_name in _FOR_PEOPLE:
        print(_summary(problems, result.datasets, settings.index))
    failed = any(strict or problem.severity == "error" for problem in problems)
    return PROBLEMS if failed else CLEAN


def _print_problems(problems: Sequence[Problem], format_name: str) -> None:
    if format_name == "text":
        format_name = "full" if sys.stdout.isatty() else "concise"
    if format_name in ("full", "concise"):
        problems = [replace(problem, hint=with_root(problem.hint)) for problem in problems]
    if format_name == "full":
        for line in full_lines(problems, sys.stdout):
            print_styled(line, sys.stdout)
        return
    # Annotations are commands for GitHub; their values are escaped.
    out = unescaped(sys.stdout) if format_name == "github" else sys.stdout
    for line in FORMATS[format_name](problems):
        print(line, file=out)


def _print_ignores(catalog: Catalog) -> None:
    """Print the comments that ignore rules: whoever wrote the change also wrote them."""
    files = sorted(
        {entry.document.file for entry in catalog.written}
        | {display_path(Path(path)) for path, _ in nested_indexes(str(catalog.index.parent))}
    )
    for one in effective_ignores(files):
        place = f"{one.file}:{one.line}:{one.column}"
        print_line(f"note: {place}: ignores {', '.join(one.rules)} -- {one.reason}", err=True)


def _apply_fixes(
    catalog: Catalog, paths: Sequence[Path], rules: Selection, *, to_stderr: bool
) -> None:
    for result in fix(catalog, paths, rules=rules):
        for done in result.done:
            print_line(f"fixed {result.file}: {done}", err=to_stderr)
        for left in result.left:
            print_line(f"not fixed {result.file}: {left}", err=to_stderr)


def _print_rules(*, as_json: bool) -> None:
    if as_json:
        print_json([{key: getattr(rule, key) for key in _LISTED} for rule in RULES.values()])
        return
    rows = [
        (rule.id, rule.family, rule.severity, ", ".join(rule.notes), rule.reason)
        for rule in RULES.values()
    ]
    print_table(("rule", "family", "severity", "", "why"), rows)


def _summary(problems: Sequence[Problem], datasets: int, index: Path) -> str:
    if not problems:
        # Who forgot the datasets.yaml, or is in another folder, has checked nothing of their own.
        is_inside = index != builtin_root() or Path.cwd().is_relative_to(index.parent)
        where = "" if is_inside else " of the built-in catalog; none of your own was checked"
        return f"no problems ({count_text(datasets, 'dataset')}{where})"
    fixable = sum(RULES[problem.rule].fixable for problem in problems if problem.rule)
    text = _counts(problems)
    return f"{text}; --fix may fix {fixable}" if fixable else text


def _counts(problems: Sequence[Problem]) -> str:
    severities = [problem.severity for problem in problems]
    parts = [(severities.count("error"), "error"), (severities.count("warning"), "warning")]
    return ", ".join(count_text(number, word) for number, word in parts if number)
