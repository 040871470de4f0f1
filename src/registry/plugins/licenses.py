"""`licenses`: list the licenses of datasets, and fail where one is denied."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from registry.api import (
    CLEAN,
    LICENSE_PARTS,
    PROBLEMS,
    count_text,
    denied_by,
    did_you_mean,
    is_denial,
    list_names,
    notice_text,
    options,
    origins_of,
    print_json,
    print_line,
    print_table,
    valid_specs,
)

if TYPE_CHECKING:
    from registry import Catalog
    from registry.api import DatasetSpec

__all__ = ["command"]

_SHOWN = 3
_UNKNOWN = "(not known)"


def _words(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words between commas, and refuse one that denies nothing."""
    words = [word.strip() for value in values for word in value.split(",")]
    for word in words:
        if not is_denial(word):
            near = did_you_mean(word, ("none", *LICENSE_PARTS))
            known = f"none, {', '.join(LICENSE_PARTS)} or an id of SPDX, such as CC-BY-NC-4.0"
            raise click.BadParameter(f"{word!r} is none of {known}{f' ({near})' if near else ''}")
    return tuple(words)


@click.command(
    "licenses",
    epilog="\b\nExample: registry licenses --tag mcq\n"
    "registry licenses --deny NC,ND,none\n"
    "registry licenses demo-mcq --notice",
)
@options.names
@options.tags
@click.option(
    "--deny",
    multiple=True,
    callback=_words,
    metavar="WORDS",
    help="Fail if a dataset has such a license: ids of SPDX, or parts of ids, with commas between"
    " them; `none` is a dataset without a license.",
)
@click.option("--notice", is_flag=True, help="Print the text to put beside a copy of the data.")
@options.as_json
@options.root
def command(
    names: tuple[str, ...],
    tags: tuple[str, ...],
    deny: tuple[str, ...],
    notice: bool,
    as_json: bool,
    root: str | None,
) -> int:
    """List the licenses of all datasets, or of NAMES, and where they were read.

    Makes no request. Of the alternatives of an `OR` one that is not denied is enough. The exit code
    is 1 if a dataset is denied, or its manifest is invalid.
    """
    if notice and as_json:
        raise click.UsageError("--notice is text, and --json is not")
    opened = options.open_catalog(root)
    catalog = opened.catalog
    broken = options.print_stray_problems(catalog)
    specs, has_invalid = valid_specs(catalog, options.choose(opened, names, tags))
    denied = {spec.name: word for spec in specs if (word := denied_by(spec, deny))}
    if as_json:
        print_json([_data(spec, denied.get(spec.name)) for spec in specs])
    elif notice:
        for line in notice_text(specs).splitlines():
            print_line(line)
    elif not deny:
        _print(specs)
    if not as_json:
        for spec in specs:
            if spec.name in denied:
                why = f"{_text(spec)} ({denied[spec.name]})"
                print_line(f"{spec.name}: {why}{_place(spec, catalog)}")
    if deny and not as_json:
        print_line(f"{len(denied):,} of {count_text(len(specs), 'dataset')} denied", err=True)
    return PROBLEMS if denied or broken or has_invalid else CLEAN


def _text(spec: DatasetSpec) -> str:
    return _UNKNOWN if spec.license is None else str(spec.license)


def _place(spec: DatasetSpec, catalog: Catalog) -> str:
    """Return where a license is written."""
    found = [one for one in origins_of(spec, catalog.entries) if one.key == "license"]
    return "".join(f": {one.place}" for one in found if one.file)


def _data(spec: DatasetSpec, word: str | None) -> dict[str, Any]:
    stated, access = spec.license, spec.access
    return {
        "name": spec.name,
        "license": None if stated is None else str(stated),
        "read_at": stated and stated.read_at,
        "none_stated": stated and stated.none_stated,
        "looked_at": stated and stated.looked_at,
        "access": None if access is None else str(access),
        "access_url": access and access.url,
        "denied_by": word,
    }


def _print(specs: Iterable[DatasetSpec]) -> None:
    """Print each license with its datasets, the most frequent first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for spec in specs:
        access = "" if spec.access is None else str(spec.access)
        groups.setdefault((_text(spec), access), []).append(spec.name)
    rows = [
        (license_, access or "-", f"{len(found):,}", list_names(found, _SHOWN))
        for (license_, access), found in sorted(
            groups.items(), key=lambda one: (-len(one[1]), one[0])
        )
    ]
    print_table(("license", "access", "datasets", "which"), rows)
