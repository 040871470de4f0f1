"""`validate`: check manifests."""

from __future__ import annotations

from pathlib import Path

import click

from registry.catalog import Catalog
from registry.check import check, count_checked
from registry.check_memory import Checked, check_whole
from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.render import print_json
from registry.errors import ManifestError

__all__ = ["command"]


@click.command("validate", epilog="Example: python -m registry validate registry/demo.yaml")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATHS]...")
@options.as_json
@options.root
def command(paths: tuple[Path, ...], as_json: bool, root: str | None) -> int:
    """Check the manifests of the catalog, or only some files or folders.

    All problems are reported, each with its file, line and column. Makes no request.
    """
    try:
        catalog, _, settings = options.open_catalog(root)
    except ManifestError as error:  # of the index itself
        problems, datasets = list(error.problems), 0
    else:
        checked = _checked(catalog, paths, settings.cache_dir)
        problems, datasets = checked.problems, checked.datasets
    if as_json:
        print_json([problem.to_dict() for problem in problems])
    else:
        for problem in problems:
            print(problem)
        print(_summary(len(problems), datasets))
    return PROBLEMS if problems else CLEAN


def _checked(catalog: Catalog, paths: tuple[Path, ...], cache_dir: Path) -> Checked:
    if not paths:
        return check_whole(catalog, cache_dir)
    return Checked(check(catalog, paths), count_checked(catalog, paths))


def _summary(problems: int, datasets: int) -> str:
    if problems:
        return f"{problems} problem{'s' if problems > 1 else ''}"
    return f"no problems ({datasets} datasets)"
