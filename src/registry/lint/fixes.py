"""Apply the fixes of `validate --fix` to the files of a catalog."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from registry.base.names import display_path
from registry.catalog.catalog import Catalog
from registry.errors import ManifestError, Problem
from registry.lint.layout import (
    ManifestFile,
    add_schema_line,
    layout_files,
    order_keys,
    write_manifest_file,
)
from registry.lint.runner import files_under
from registry.lint.selection import parse_ignores
from registry.lockfile.models import Lock, read_lock
from registry.manifest.source import Repository, is_commit
from registry.manifest.source_models import source_model
from registry.settings import builtin_root, lock_file_of
from registry.yamldoc.reader import json_path, parse_yaml

__all__ = ["FIXES", "FixResult", "fix", "pin_revisions"]


Fix = Callable[[ManifestFile, Lock], tuple[ManifestFile, list[str], list[str]]]
"""Takes a file; returns the fixed file, the changes made and the changes that failed."""


def pin_revisions(file: ManifestFile, lock: Lock) -> tuple[ManifestFile, list[str], list[str]]:
    """Write the commit that the lock has for a source into the dataset that defines the source.

    The pinned samples do not change.
    """
    done, left = list[str](), list[str]()
    for name, repository in list(_floating(file)):
        place = json_path(("datasets", name, "source"))
        # From all pins, as dependents inherit the source: all must have the same commit.
        commits = {
            pinned.revision
            for pin in lock.pins.values()
            for pinned in pin.sources
            if pinned.revision is not None
            and pinned.location == repository.location
            and pinned.requested == repository.revision
        }
        if name not in lock.pins or not commits:
            continue
        if len(commits) > 1:
            left.append(f"datasets.lock pins the source of {place} to several commits")
            continue
        (commit,) = commits
        changed = _with_revision(file, name, commit)
        if changed is None:
            left.append(f"the revision {commit} can't be written into {place}")
            continue
        file = changed
        lock_again = f"`registry lock {name}` updates the pin"
        done.append(f"took the revision of {place} from datasets.lock ({lock_again})")
    return file, done, left


def _floating(file: ManifestFile) -> Iterator[tuple[str, Repository]]:
    """Yield the repositories without a commit, unless a comment ignores the problem."""
    ignored = {
        comment.target
        for comment in parse_ignores(file.text)
        if "unpinned-revision" in comment.rules and comment.reason
    }
    for name, entry in (file.document.value.get("datasets") or {}).items():
        source = entry.get("source") if isinstance(entry, dict) else None
        if not isinstance(source, dict):
            continue
        repository = source_model(source).repository_of(source)
        if repository is None or is_commit(repository.revision):
            continue
        key = "path" if repository.revision is None else "revision"
        if file.document.position(("datasets", name, "source", key)).line not in ignored:
            yield name, repository


def _with_revision(file: ManifestFile, name: str, commit: str) -> ManifestFile | None:
    """Return the file with only the revision changed; None if that is not possible."""
    # Not a deepcopy: an alias is the same object as its anchor, so both would change.
    value = file.document.value
    dataset = value["datasets"][name]
    changed = {**dataset, "source": {**dataset["source"], "revision": commit}}
    wanted = {**value, "datasets": {**value["datasets"], name: changed}}
    if file.has_odd_breaks:
        return None
    # Without quotes, a commit of only digits, or like 12e4…, is a number in YAML.
    for written in (commit, f'"{commit}"'):
        try:
            text = _edited(file.text, name, written)
            document = parse_yaml(text, file=file.document.file)
        except (KeyError, ManifestError):
            continue
        if document.value == wanted:
            return replace(file, text=text, document=document)
    return None


def _edited(text: str, name: str, written: str) -> str:
    """Return the text with the revision replaced, or inserted after the path."""
    source = _value(_value(_value(yaml.compose(text, yaml.SafeLoader), "datasets"), name), "source")
    keys = {key.value: (key, value) for key, value in source.value}
    if "revision" in keys:
        value = keys["revision"][1]
        return text[: value.start_mark.index] + written + text[value.end_mark.index :]
    key, path = keys["path"]
    if source.flow_style:
        end = path.end_mark.index
        return f"{text[:end]}, revision: {written}{text[end:]}"
    end = text.find("\n", path.end_mark.index)
    end = len(text) if end < 0 else end
    tail = "\r" if text[:end].endswith("\r") else ""
    indent = " " * key.start_mark.column
    return f"{text[:end]}\n{indent}revision: {written}{tail}{text[end:]}"


def _value(node: Any, key: str) -> Any:
    """Return the value of a key; raises KeyError for a key that `<<` merges."""
    return {name.value: value for name, value in node.value}[key]


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
