"""`validate`: check manifests, and mend what is mechanical."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec.structs import asdict

from registry.catalog.catalog import Catalog
from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.formats.problems import FORMATS, counted
from registry.cli.output import print_json, print_table
from registry.errors import ManifestError, Problem
from registry.lint.fixes.apply import Fixed, fix
from registry.lint.result_cache import Checked, check_whole
from registry.lint.runner import check, count_checked
from registry.lint.selection import word_fault
from registry.rules import RULES, Rule
from registry.settings import Settings

__all__ = ["command"]

_EXAMPLES = """\b
Example: python -m registry validate registry/demo.yaml
python -m registry validate --select secrets,unpinned-revision
python -m registry validate --fix registry
python -m registry validate --format sarif > problems.sarif

\b
One line is exempted with a comment at its end, or above it:
  revision: main  # registry: ignore unpinned-revision -- moves on purpose
"""


def _rules_option(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the words of an option; each must be a rule, a family or `all`."""
    words = tuple(word for text in given for word in re.split(r"[,\s]+", text) if word)
    for word in words:
        fault = word_fault(word, ignoring=param.name == "ignore")
        if fault is not None:
            message, hint, _ = fault
            raise click.BadParameter(f"{message} ({hint})", ctx, param)
    return words


@click.command("validate", epilog=_EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATHS]...")
@click.option(
    "--select",
    multiple=True,
    metavar="RULES",
    callback=_rules_option,
    help="Report only these rules or families; wins over the index. `all` is every rule.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="RULES",
    callback=_rules_option,
    help="Leave these out; not what stops a dataset from being used.",
)
@click.option("--strict", is_flag=True, help="Warnings count as errors for the exit code.")
@click.option("--fix", "mend", is_flag=True, help="First mend what is mechanical, in place.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How problems are printed; sarif and github are for code hosts.",
)
@options.locked
@options.as_json
@click.option("--rules", "list_rules", is_flag=True, help="List the rules and end.")
@options.root
def command(
    paths: tuple[Path, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    strict: bool,
    mend: bool,
    form: str,
    locked: bool | None,
    as_json: bool,
    list_rules: bool,
    root: str | None,
) -> int:
    """Check the manifests of the catalog, or only some files or folders.

    All problems are reported, each with its file, line, column and rule. Makes no request and
    imports no code. Ends with 1 where there is an error; with --locked a stale pin is one.
    """
    form = "json" if as_json else form
    if list_rules:
        _print_rules(as_json=form == "json")
        return CLEAN
    try:
        catalog, _, settings = options.open_catalog(root, locked=locked)
    except ManifestError as error:  # of the index itself
        problems, datasets = list(error.problems), 0
    else:
        if mend:
            catalog = _mended(catalog, paths, aloud=form == "text")
        checked = _checked(catalog, paths, settings, select, ignore)
        problems, datasets = checked.problems, checked.datasets
    for line in FORMATS[form](problems):
        print(line)
    if form == "text":
        print(_summary(problems, datasets))
    return PROBLEMS if _fails(problems, strict=strict) else CLEAN


def _fails(problems: Sequence[Problem], *, strict: bool) -> bool:
    return any(strict or problem.severity == "error" for problem in problems)


def _summary(problems: Sequence[Problem], datasets: int) -> str:
    if not problems:
        return f"no problems ({counted(datasets, 'dataset')})"
    severities = [problem.severity for problem in problems]
    parts = [(severities.count("error"), "error"), (severities.count("warning"), "warning")]
    text = ", ".join(counted(number, word) for number, word in parts if number)
    fixable = sum(RULES[problem.rule].fixable for problem in problems if problem.rule)
    return f"{text}; --fix mends {fixable} where it is safe" if fixable else text


def _mended(catalog: Catalog, paths: Sequence[Path], *, aloud: bool) -> Catalog:
    """Mend the files and say what was done; return the catalog as it is then."""
    for fixed in fix(catalog, paths):
        for line in _fixed_lines(fixed):
            click.echo(line, err=not aloud)
    return Catalog.open(catalog.index)


def _fixed_lines(fixed: Fixed) -> Iterator[str]:
    yield from (f"fixed {fixed.file}: {done}" for done in fixed.done)
    yield from (f"left {fixed.file}: {left}" for left in fixed.left)


def _print_rules(*, as_json: bool) -> None:
    if as_json:
        print_json([asdict(rule) for rule in RULES.values()])
        return
    rows = [
        (rule.id, rule.family, rule.severity, _notes(rule), rule.reason) for rule in RULES.values()
    ]
    print_table(("rule", "family", "severity", "", "why"), rows)


def _notes(rule: Rule) -> str:
    words = {"can't be ignored": rule.stops, "off": not rule.default, "--fix": rule.fixable}
    return ", ".join(word for word, applies in words.items() if applies)


def _checked(
    catalog: Catalog,
    paths: tuple[Path, ...],
    settings: Settings,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
) -> Checked:
    if not paths:
        cache_dir, locked = settings.cache_dir, settings.locked
        return check_whole(catalog, cache_dir, select=select, ignore=ignore, locked=locked)
    problems = check(catalog, paths, select=select, ignore=ignore, locked=settings.locked)
    return Checked(problems, count_checked(catalog, paths))
