"""Open the two snapshots of a diff: resolve their datasets, with the origin of each value."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from registry.boundary.boundary import Boundary
from registry.catalog.catalog import Catalog
from registry.diff.checkout import Checkout, checkout_of, folder_checkout, rules_in
from registry.diff.git_tree import files_below
from registry.diff.models import Reach, Snapshot
from registry.diff.reach import index_reach, reach_of
from registry.diff.severity import SAME_SAMPLES, change_class
from registry.diff.snapshots.contents import Contents, common_digests, local_patterns, read_contents
from registry.diff.snapshots.mapper_code import ChangedCode, changed_code
from registry.diff.snapshots.named_files import NamedFile, named_files
from registry.diff.snapshots.pair import (
    PACKAGE_KEY,
    Unread,
    changed_in_packages,
    find_unread,
    nested_indexes,
    package_notes,
)
from registry.errors import Problem
from registry.lockfile.models import Lock
from registry.manifest.models import DatasetSpec, View
from registry.manifest.origins import Origin, origins_of
from registry.yamldoc.reader import Document

__all__ = ["OpenSnapshot", "index_values", "open_pair", "open_snapshots"]

_NOT_OF_EXAMPLES = {*View.__struct_fields__, "fewshot"} - {"auto_id"}
"""Keys of the samples of a dataset, but not of the examples that another takes from it."""
_KEY_WITH_PATHS = re.compile(
    r"(fewshot\.of\.)?((source|concat\[\d+\]|join\.source)\.(path|data_files)\b.*|corrections)"
    r"|pin\.sources\[\d+\]\..*"
)
"""Keys whose values name files; in any other, the name of the checkout's folder is only text."""
_PINNED_PLACE = re.compile(r"pin\.sources\[\d+\]\.location")
_DATASET_KEYS = ("version", "defaults", "datasets", "groups")
"""Keys of the index that are reported at its datasets or groups, or not at all."""


@dataclass(frozen=True)
class OpenSnapshot:
    """One snapshot, with the specs and pins that its samples are loaded by."""

    checkout: Checkout
    snapshot: Snapshot
    specs: Mapping[str, DatasetSpec] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
    boundary: Boundary = field(default_factory=Boundary)
    """What the datasets may reach."""
    changed_code: Mapping[str, ChangedCode] = field(default_factory=dict)
    """Mappers that are not run for either side, although the base trusts them."""

    def extract_siblings(self, names: Iterable[str]) -> None:
        """Extract all files beside the data of datasets, as their samples may refer to them."""
        tree, top = self.checkout.tree, self.checkout.top
        if tree is None:
            return
        patterns = {path for name in names for path in local_patterns(self.specs[name])}
        inside = {Path(os.path.dirname(path)) for path in patterns}
        folders = {
            folder.relative_to(top).as_posix()
            for folder in inside
            if folder.is_relative_to(top) and not re.search(r"[*?\[]", str(folder))
        }
        # All at once, as each copy starts a process of git.
        tree.copy(files_below(tree, folders), top)


@contextmanager
def open_snapshots(
    base: str | None, head: str | None, index: Path, *, runs_changed_code: bool = False
) -> Iterator[tuple[OpenSnapshot, OpenSnapshot]]:
    """Open both snapshots; the files of revisions exist until the context exits.

    Args:
        base: A folder with a `datasets.yaml`, such a file, or a git revision; None is the commit
            where the current branch left the main branch.
        head: The same; None is the folder of `index` in its present state.
        index: The catalog whose revisions are meant.
        runs_changed_code: Whether mappers whose code differs from the base may be run.

    Raises:
        RevisionError: a revision can't be read.
    """
    with TemporaryDirectory(prefix="registry-diff-") as temporary:
        folder = Path(temporary).resolve()
        old = read_contents(checkout_of(base, index, folder / "base"))
        new = read_contents(
            folder_checkout(index, "work tree")
            if head is None
            else checkout_of(head, index, folder / "head"),
            rules_in(old.checkout, folder).index,
        )
        yield open_pair(old, new, runs_changed_code=runs_changed_code)


def open_pair(
    old: Contents, new: Contents, *, runs_changed_code: bool, runs_code: bool = True
) -> tuple[OpenSnapshot, OpenSnapshot]:
    """Return both sides of a diff, with what is only known by comparing their contents.

    Args:
        old: The base.
        new: The head.
        runs_changed_code: Whether mappers whose code differs from the base may be run.
        runs_code: Whether any mapper may be run: else the code of both sides alone is compared,
            and that of untrusted mappers too.
    """
    digests = {
        name: common_digests(old.files.get(name, {}), new.files.get(name, {}))
        for name in old.specs.keys() | new.specs.keys()
    }
    both_readable = old.catalog is not None and new.catalog is not None
    packages = changed_in_packages(old, new) if both_readable else {}
    has_locks = old.has_valid_lock and new.has_valid_lock
    changed = _changed_code(old, new, runs_code=runs_code)
    named = named_files(old, new)
    sides = []
    for number, (side, other) in enumerate(((old, new), (new, old))):
        sides.append(
            _Side(
                side if has_locks else replace(side, pins={}),
                {name: pair[number] for name, pair in digests.items()},
                {name: pair[number] for name, pair in packages.items()},
                find_unread(side, other),
                changed,
                runs_changed_code,
                named,
                number,
            )
        )
    # A catalog may have thousands of datasets, of which few change: comparing parsed values first
    # avoids finding the origin of each value of all others.
    unchanged = frozenset(
        name
        for name in old.specs.keys() & new.specs.keys()
        if sides[0].determinants(name) == sides[1].determinants(name)
    )
    notes = tuple(package_notes(old, new)) if both_readable else ()
    notes += tuple(dict.fromkeys(note for side in (old, new) for note in _forbidden_notes(side)))
    unrun = () if runs_changed_code else changed.values()
    changes = tuple(Problem(message=one.message, file=one.file) for one in unrun)
    first, second = (side.open(unchanged, notes) for side in sides)
    snapshot = second.snapshot
    reach = snapshot.reach.get("", frozenset()) | nested_indexes(old, new)
    snapshot = replace(
        snapshot,
        problems=(*snapshot.problems, *changes),
        reach={**snapshot.reach, "": reach},
    )
    return first, replace(second, snapshot=snapshot)


def _changed_code(old: Contents, new: Contents, *, runs_code: bool) -> dict[str, ChangedCode]:
    """Return why mappers that the base trusts are not run."""
    used = {spec.mapper for side in (old, new) for spec in side.specs.values() if spec.mapper}
    mappers = old.boundary.trust & used if runs_code else used
    return changed_code(mappers, old.checkout, new.checkout, with_work_tree=runs_code)


def _forbidden_notes(side: Contents) -> Iterator[str]:
    for name, patterns in side.forbidden.items():
        hint = "`paths` in the index of the base, or REGISTRY_ALLOW_PATHS, allows it"
        paths = ", ".join(patterns)
        yield f"not compared: {paths} of {name}, outside the catalog's folder ({hint})"


@dataclass(frozen=True)
class _Side:
    """One side of a diff, with what can only be known by comparing it with the other side."""

    contents: Contents
    digests: Mapping[str, Mapping[str, str]]
    """Dataset → local file → digest of its data."""
    packages: Mapping[str, Origin]
    """Dataset → digest of its manifest, if it differs because of an installed package."""
    unread: Unread
    changed_code: Mapping[str, ChangedCode]
    """Mapper → how its code differs from the base."""
    runs_changed_code: bool
    named: Mapping[str, Mapping[str, NamedFile]]
    """Dataset → file that its samples name → how it differs."""
    number: int
    """0 is the base, 1 the head."""

    def determinants(self, name: str) -> list[Any]:
        """Return all that determines a dataset; values by their `repr`, as 1 == True."""
        contents = self.contents
        assert contents.catalog is not None  # noqa: S101 (it has a dataset)
        companion = contents.specs[name].companion
        # Of what examples are taken from, which need not resolve by itself, only the manifest: its
        # data are among the dataset's own.
        names = {name} if companion is None else {name, companion.name}
        chains = [list(contents.catalog.lineage(one)) for one in sorted(names)]
        entries = [entry for chain in chains for entry in chain]
        relative = contents.checkout.relative
        package = self.packages.get(name)
        return [
            [repr(entry.value) for entry in entries],
            [entry.name for entry in entries],
            [repr(chain[0].defaults.value) for chain in chains],
            [relative(str(entry.folder)) for entry in entries],
            [(one.key, repr(one.value)) for one in contents.pins.get(name, ())],
            self.digests[name],
            package and package.value,
            [(path, one.digests[self.number]) for path, one in self.named.get(name, {}).items()],
            self._code_digests(name),
        ]

    def open(self, unchanged: frozenset[str], notes: tuple[str, ...]) -> OpenSnapshot:
        contents = self.contents
        checkout, catalog = contents.checkout, contents.catalog
        label, problems = checkout.label, (*contents.problems, *self.unread.problems)
        if catalog is None:
            snapshot = Snapshot(label=label, datasets={}, problems=problems, unreadable=True)
            return OpenSnapshot(checkout, snapshot)
        document = catalog.index_document()
        snapshot = Snapshot(
            label=label,
            datasets={
                name: {} if name in unchanged else self._values(catalog, name)
                for name in contents.specs
            },
            index=index_values(catalog, document, contents.file_name),
            reach={
                "": index_reach(document.value),
                **{
                    name: reach_of(spec, checkout.relative) | frozenset(self._code(name))
                    for name, spec in contents.specs.items()
                },
            },
            problems=problems,
            unrun=frozenset(
                name
                for name, spec in contents.specs.items()
                if spec.mapper in self.changed_code and not self.runs_changed_code
            ),
            broken=(frozenset(catalog) - frozenset(contents.specs)) | self.unread.datasets,
            notes=notes,
            renamed={old: name for name in catalog for old in catalog.former(name)}
            if catalog.retired
            else {},
        )
        return OpenSnapshot(
            checkout,
            snapshot,
            contents.specs,
            contents.lock,
            contents.boundary,
            self.changed_code,
        )

    def _code_digests(self, name: str) -> dict[str, str | None]:
        """Return the digests of the mapper's files that differ, as paths from the catalog."""
        changed = self.changed_code.get(self.contents.specs[name].mapper or "")
        relative, top = self.contents.checkout.relative, self.contents.checkout.top
        files = {} if changed is None else changed.files
        return {relative(str(top / path)): pair[self.number] for path, pair in files.items()}

    def _code(self, name: str) -> Iterator[Reach]:
        """Yield the code in the sandbox that the change writes."""
        for path, one in self.named.get(name, {}).items():
            if self.number and one.is_code and one.digests[1] is not None:
                yield Reach("code in the sandbox", path)

    def _values(self, catalog: Catalog, name: str) -> dict[str, Origin]:
        """Return every value of a dataset, its pin and the digests of its local files."""
        contents, checkout = self.contents, self.contents.checkout
        values = {one.key: one for one in origins_of(contents.specs[name], catalog.entries)}
        values |= _companion_values(contents.specs[name], catalog)
        # The bytes belong to the dataset that names the source, so that a change is reported there
        # once and inherited by all that extend it.
        owner = values.get("source.path", values["source.type"]).dataset
        for one in contents.pins.get(name, ()):
            dataset = owner if one.key.startswith("pin.sources") else name
            values[one.key] = replace(one, dataset=dataset)
        own = self.contents.specs[name].corrections
        corrections = "" if own is None else str(self.contents.checkout.relative(own.path[0]))
        corrector = values["corrections"].dataset
        _rename_pinned(values, corrections)
        named = {path: one.digests[self.number] for path, one in self.named.get(name, {}).items()}
        layers = {"bytes": self.digests[name], "named": named, "code": self._code_digests(name)}
        for layer, digests in layers.items():
            for path, digest in digests.items():
                key, file = f"{layer}.{path}", os.path.normpath(checkout.folder / path)
                of = owner if layer == "bytes" else name
                if layer == "bytes" and path == corrections:
                    key, of = f"corrections.{path}", corrector
                values[key] = Origin(key=key, value=digest, layer=layer, file=file, dataset=of)
        for key, one in values.items():
            value = checkout.relative(one.value) if _KEY_WITH_PATHS.fullmatch(key) else one.value
            values[key] = replace(one, value=value, file=contents.file_name(one.file))
        if name in self.packages:
            values[PACKAGE_KEY] = self.packages[name]
        return values


def _companion_values(spec: DatasetSpec, catalog: Catalog) -> dict[str, Origin]:
    """Return what determines the examples of a dataset, by keys below its own `fewshot`."""
    companion, fewshot = spec.companion, spec.fewshot
    if companion is None or fewshot is None or companion.name == spec.name:
        return {}
    values = {}
    for one in origins_of(companion, catalog.entries):
        first = re.split(r"[.\[]", one.key)[0]
        # Another split of the dataset has its keys, which are compared as its own, for the samples.
        is_own = fewshot.dataset is None and first not in ("source", "corrections")
        if not is_own and first not in _NOT_OF_EXAMPLES and change_class(first) not in SAME_SAMPLES:
            key = f"fewshot.of.{one.key}"
            values[key] = replace(one, key=key)
    return values


def _rename_pinned(values: dict[str, Origin], corrections: str) -> None:
    """Name the pin of the corrections, which is the last of the sources, for what it is."""
    of = next(
        (
            one.key.removesuffix("location")
            for one in values.values()
            if _PINNED_PLACE.fullmatch(one.key) and corrections and one.value == corrections
        ),
        None,
    )
    for key in [key for key in values if of is not None and key.startswith(of)]:
        one = values.pop(key)
        name = f"pin.corrections.{key.removeprefix(of or '')}"
        values[name] = replace(one, key=name)


def index_values(
    catalog: Catalog, document: Document, file_name: Callable[[str], str]
) -> dict[str, Origin]:
    """Return the values of an index, those of its datasets left out, and those of all groups.

    A member of a group that comes or goes changes their mean.
    """
    own = {
        key: Origin(
            key=key,
            value=value,
            layer="index",
            file=file_name(str(catalog.index)),
            line=document.position((key,)).line,
        )
        for key, value in document.value.items()
        if key not in _DATASET_KEYS
    }
    return own | {
        f"groups.{name}.{key}": Origin(
            key=f"groups.{name}.{key}",
            value=value,
            layer="own",
            file=file_name(entry.document.file),
            line=entry.document.position(("groups", name, key)).line,
        )
        for name, entry in catalog.groups.items()
        for key, value in entry.value.items()
    }
