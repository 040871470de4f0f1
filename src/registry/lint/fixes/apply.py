"""Mend what is mechanical in the files of a catalog: a table of fixes, each text → text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from registry.catalog.catalog import Catalog, shown
from registry.errors import ManifestError, Problem
from registry.lint.fixes.key_order import order_keys
from registry.lint.fixes.pin_revisions import pin_revisions
from registry.lint.fixes.schema_comment import add_schema_line
from registry.lint.fixes.source_file import ManifestFile, write_manifest_file
from registry.lint.layout_checks import layout_files
from registry.lint.runner import files_under
from registry.lockfile.models import Lock, read_lock
from registry.settings import builtin_root, lock_file_of
from registry.yamldoc.reader import read_yaml

__all__ = ["FIXES", "Fixed", "fix"]

Fix = Callable[[ManifestFile, Lock], tuple[ManifestFile, list[str], list[str]]]
"""From a file to what it shall be, with what was done and what had to be left."""

FIXES: dict[str, Fix] = {
    "unpinned-revision": pin_revisions,
    "schema-line": lambda file, _: add_schema_line(file),
    "key-order": lambda file, _: order_keys(file),  # last: also of the keys that are new
}
"""What mends the problems of a rule; a fix more is a function and a row."""


@dataclass(frozen=True)
class Fixed:
    """What became of one file."""

    file: str
    done: tuple[str, ...] = ()
    """What was changed."""
    left: tuple[str, ...] = ()
    """What could not be."""


def fix(catalog: Catalog, paths: Iterable[Path] = ()) -> Iterator[Fixed]:
    """Mend the files of a catalog, or only some of them, and yield what became of each.

    Files of another index (`package:`) are left alone, and so are files with problems of form.

    Raises:
        LockError: the lockfile, which revisions are taken from, is not valid.
        ManifestError: the catalog is the built-in one, or a file can't be written.
    """
    is_own = Path.cwd().is_relative_to(catalog.index.parent)
    if catalog.index == builtin_root() and not is_own:
        message = "the built-in catalog is not written to"
        hint = "make a datasets.yaml of your own, or name it with --root"
        raise ManifestError([Problem(message=message, hint=hint, path="")])
    wanted = files_under(paths)
    places = {path.resolve() for path in wanted}
    index = read_yaml(catalog.index, shown_as=shown(catalog.index))
    lock_file = lock_file_of(catalog.index)
    lock = read_lock(lock_file, shown_as=shown(lock_file)) or Lock()
    broken = {problem.file for problem in catalog.problems}
    for file in list(layout_files(catalog.including(wanted), index, wanted)):
        if file.document.file in broken or (wanted and file.path.resolve() not in places):
            continue
        fixed = _fix_file(file, lock)
        if fixed.done or fixed.left:
            yield fixed


def _fix_file(file: ManifestFile, lock: Lock) -> Fixed:
    changed, done, left = file, list[str](), list[str]()
    for mend in FIXES.values():
        changed, more, kept = mend(changed, lock)
        done += more
        left += kept
    if changed.text != file.text:
        _write(changed)
    return Fixed(file.document.file, tuple(done), tuple(left))


def _write(file: ManifestFile) -> None:
    try:
        write_manifest_file(file)
    except OSError as error:
        message = f"can't write the file: {error.strerror}"
        problem = Problem(message=message, file=shown(file.path), path="", rule="unreadable-file")
        raise ManifestError([problem]) from error
