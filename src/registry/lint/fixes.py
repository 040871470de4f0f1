"""Apply the fixes of `validate --fix` to the files of a catalog, preserving comments and layout."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from registry.base.local_files import display_path
from registry.catalog.catalog import Catalog
from registry.errors import ManifestError, Problem
from registry.lint.layout import (
    ManifestFile,
    has_schema_line,
    layout_files,
    misplaced_keys,
    ranks_of,
    schema_reference,
    write_manifest_file,
)
from registry.lint.runner import files_under
from registry.lint.selection import parse_ignores
from registry.lockfile.models import Lock, read_lock
from registry.manifest.schema import SchemaName, read_schema
from registry.manifest.source import Repository, is_commit
from registry.manifest.source_models import source_model
from registry.settings import builtin_root, lock_file_of
from registry.yamldoc.reader import DataPath, json_path, parse_yaml

__all__ = [
    "FIXES",
    "FixResult",
    "add_schema_line",
    "fix",
    "order_keys",
    "pin_revisions",
    "reordered",
]

Fix = Callable[[ManifestFile, Lock], tuple[ManifestFile, list[str], list[str]]]
"""Takes a file; returns the fixed file, the changes made and the changes that failed."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
    source = _mapping_at(text, ("datasets", name, "source"))
    if source is None:
        return text
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


def add_schema_line(file: ManifestFile) -> tuple[ManifestFile, list[str], list[str]]:
    """Add the schema line if it is missing, or put the catalog's own copy in the place of the URL.

    The URL identifies the schema, but no server has it, so an editor can't follow it.
    """
    name: SchemaName = "index" if file.is_index else "manifest"
    if has_schema_line(file.text):
        return _with_copy(file, name)
    end = "\r\n" if file.text.partition("\n")[0].endswith("\r") else "\n"
    reference = schema_reference(name, root=file.root, folder=file.path.parent)
    changed = file.with_text(f"# yaml-language-server: $schema={reference}{end}{file.text}")
    if changed is None:
        return file, [], ["the schema line can't be added above the first line"]
    return changed, ["added the schema line"], []


def _with_copy(file: ManifestFile, name: SchemaName) -> tuple[ManifestFile, list[str], list[str]]:
    reference = schema_reference(name, root=file.root, folder=file.path.parent)
    start, url, rest = file.text.partition(f"$schema={read_schema(name)['$id']}")
    is_line = url and has_schema_line(start + url) and rest[:1] in ("", "\r", "\n")
    if not is_line or url.endswith(f"={reference}"):
        return file, [], []
    changed = file.with_text(f"{start}$schema={reference}{rest}")
    if changed is None:
        return file, [], ["the schema line can't be changed"]
    return changed, ["the schema line names the copy in the catalog"], []


def order_keys(file: ManifestFile) -> tuple[ManifestFile, list[str], list[str]]:
    """Put keys in order by moving full lines, together with the comments above them.

    Skips a mapping that shares lines with another, or whose value would change because an alias
    would be above its anchor.
    """
    done: list[str] = []
    left: list[str] = []
    refused: set[DataPath] = set()
    while True:
        paths = (key[:-1] for key, _ in misplaced_keys(file.document))
        path = next((path for path in paths if path not in refused), None)
        if path is None:
            return file, done, left
        text = None if file.has_odd_breaks else reordered(file.text, path, ranks_of(path))
        changed = None if text is None else file.with_text(text)
        where = json_path(path)
        # A mapping that is still out of order after moving would be tried forever.
        if changed is None or any(key[:-1] == path for key, _ in misplaced_keys(changed.document)):
            refused.add(path)
            left.append(f"the keys of {where} can't be moved as lines; put them in order by hand")
        else:
            file = changed
            done.append(f"put the keys of {where} in order")


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


def reordered(text: str, path: DataPath, ranks: Mapping[str, int]) -> str | None:
    """Return the text with the keys of the mapping at `path` sorted by rank, unranked keys first.

    None if the keys can't be moved as lines or within braces. The caller must parse the result: an
    alias may now be above its anchor.
    """
    node = _mapping_at(text, path)
    if node is None:
        return None
    pairs = range(len(node.value))
    order = sorted(pairs, key=lambda pair: ranks.get(node.value[pair][0].value, -1))
    lines = text.split("\n")
    return _reordered_flow(lines, node, order) if node.flow_style else _moved(lines, node, order)


def _mapping_at(text: str, path: DataPath) -> Any:
    """Return the mapping at `path`; None if it comes from an alias or `<<`."""
    try:
        node: Any = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError:  # an anchor is defined again, which PyYAML refuses
        return None
    for step in path:
        if isinstance(step, int):
            inner = node.value[step]
        else:
            inner = next((value for key, value in node.value if key.value == step), None)
        # PyYAML resolves an alias to the node of its anchor, which is further up.
        if inner is None or inner.start_mark.index < node.start_mark.index:
            return None
        node = inner
    return node if isinstance(node, yaml.MappingNode) else None


def _moved(lines: list[str], node: Any, order: list[int]) -> str | None:
    """Return the text with the lines of a block mapping's keys in another order."""
    column = node.value[0][0].start_mark.column
    rows = [key.start_mark.line for key, _ in node.value]
    if any(lines[row][:column].strip() for row in rows):
        return None  # a key after the dash of a list item, or after a question mark
    starts = []
    for row in rows:
        start = row
        while start > 0 and lines[start - 1].startswith(f"{' ' * column}#"):
            start -= 1  # comments directly above a key move with it
        starts.append(start)
    end = _end_of(lines, node, column)
    blocks = [lines[start:stop] for start, stop in pairwise((*starts, end))]
    moved = [line for pair in order for line in blocks[pair]]
    changed = [*lines[: starts[0]], *moved, *lines[end:]]
    if lines[0].endswith("\r"):  # CRLF: all lines but the new last one must have the "\r"
        bare = [line.removesuffix("\r") for line in changed]
        changed = [*(f"{line}\r" for line in bare[:-1]), bare[-1]]
    return "\n".join(changed)


def _end_of(lines: list[str], node: Any, column: int) -> int:
    """Return the line after a block mapping, without less indented comments, which follow it."""
    mark = node.end_mark
    # libyaml adds a missing line break at the end of a text, so the mark may be after all lines.
    last = "".join(lines[mark.line : mark.line + 1])
    end = int(mark.line) + bool(last[: mark.column].strip())
    while end > 0:
        line = lines[end - 1].strip()
        indent = len(lines[end - 1]) - len(lines[end - 1].lstrip())
        if line and not (line.startswith("#") and indent < column):
            break
        end -= 1
    return end


def _reordered_flow(lines: list[str], node: Any, order: list[int]) -> str | None:
    """Return the text with the pairs of `{…}` in another order, and the separators unchanged."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    text = "\n".join(lines)

    def index(mark: Any) -> int:
        return starts[int(mark.line)] + int(mark.column)

    spans = [(index(key.start_mark), index(value.end_mark)) for key, value in node.value]
    inside = (index(node.start_mark), index(node.end_mark))
    edges = [inside[0], *(edge for span in spans for edge in span), inside[1]]
    gaps = [text[edges[number] : edges[number + 1]] for number in range(0, len(edges), 2)]
    if edges != sorted(edges) or any("#" in gap for gap in gaps):
        return None  # an alias, whose node is that of its anchor, or a comment
    pairs = [text[slice(*spans[pair])] for pair in order]
    middle = "".join(part for both in zip(gaps, [*pairs, ""], strict=True) for part in both)
    return text[: inside[0]] + middle + text[inside[1] :]
