"""Apply the fixes of `validate --fix` to the files of a catalog."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from registry.catalog.catalog import Catalog, display_path
from registry.errors import ManifestError, Problem
from registry.lint.fixes.key_order import order_keys
from registry.lint.fixes.pin_revisions import pin_revisions
from registry.lint.fixes.schema_comment import add_schema_line
from registry.lint.fixes.source_file import ManifestFile, write_manifest_file
from registry.lint.layout_checks import layout_files
from registry.lint.runner import files_under
from registry.lockfile.models import Lock, read_lock
from registry.settings import builtin_root, lock_file_of

__all__ = ["FIXES", "FixResult", "fix"]

Fix = Callable[[ManifestFile, Lock], tuple[ManifestFile, list[str], list[str]]]
"""Takes a file; returns the fixed file, the changes made and the changes that failed."""

FIXES: dict[str, Fix] = {
    "unpinned-revision": pin_revisions,
    "schema-line": lambda file, _: add_schema_line(file),
    "key-order": lambda file, _: order_keys(file),  # last, as other fixes add keys
}
"""The fix of each fixable rule."""


@dataclass(frozen=True)
class FixResult:
    """The changes to one file."""

    file: str
    done: tuple[str, ...] = ()
    """Changes that were made."""
    left: tuple[str, ...] = ()
    """Changes that could not be made."""


def fix(
    catalog: Catalog, paths: Iterable[Path] = (), *, rules: Container[str] = FIXES
) -> Iterator[FixResult]:
    """Fix the files of a catalog, or only some of them, and yield the changes to each.

    Files of another index (`package:`) and files with schema problems are not touched, and only
    problems of the `rules` are fixed.

    Raises:
        LockError: the lockfile, from which revisions are taken, is not valid.
        ManifestError: the catalog is the built-in one, or a file can't be written.
    """
    is_own = Path.cwd().is_relative_to(catalog.index.parent)
    if catalog.index == builtin_root() and not is_own:
        message = "the built-in catalog is read-only"
        hint = "create a datasets.yaml of your own, or name one with --root"
        raise ManifestError([Problem(message=message, hint=hint, path="")])
    wanted = files_under(paths)
    places = {path.resolve() for path in wanted}
    index = catalog.index_document()
    lock_file = lock_file_of(catalog.index)
    lock = read_lock(lock_file, shown_as=display_path(lock_file)) or Lock()
    broken = {problem.file for problem in catalog.problems}
    chosen = [apply for rule, apply in FIXES.items() if rule in rules]
    # A list, so that all files are read and validated before the first is written.
    for file in list(layout_files(catalog.including(wanted), index, wanted)):
        if file.document.file in broken or (wanted and file.path.resolve() not in places):
            continue
        fixed, done, left = file, list[str](), list[str]()
        for apply in chosen:
            fixed, more_done, more_left = apply(fixed, lock)
            done += more_done
            left += more_left
        if fixed.text != file.text:
            write_manifest_file(fixed)
        if done or left:
            yield FixResult(file.document.file, tuple(done), tuple(left))
