"""Hold a diff to the reference: what differs must be named, in each format and by `--fail-on`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.cli.commands.diff import FORMATS
from registry.diff.checkout import checkout_of, folder_checkout, rules_in
from registry.diff.compare import compare
from registry.diff.models import CatalogDiff, DatasetChange
from registry.diff.review import POLICY_CLASSES, ReviewedSide, refusals, side_of, violations
from registry.diff.sampling import SamplingOptions, with_samples
from registry.diff.snapshot import index_values, open_pair
from registry.diff.snapshots.contents import Contents, read_contents
from registry.lockfile.models import Lock, read_lock, write_lock
from registry.workflows.lock import LockRequest, lock_datasets, new_lock
from registry.workflows.lock_check import check_lock
from tests.git_repository import GitRepository
from tests.review_flow.oracle.catalog import BASE, Files
from tests.review_flow.oracle.changes import Change
from tests.review_flow.oracle.reference import Reference, Samples

__all__ = ["Oracle"]

_CLASS_OF = {"id": "ids", "target": "targets", "metadata": "metadata"}


@dataclass
class Oracle:
    """A repository with a locked catalog on `main`, and what the reference says of it."""

    repository: GitRepository
    base: dict[str, bytes]
    samples: dict[str, Samples]
    reference: Reference
    cache: Cache
    main: Contents
    """What a diff reads of `main`: once, as no change reaches it."""
    reviewed: ReviewedSide
    """What a review of `main` is of."""

    @property
    def locked(self) -> bool:
        """Whether `main` has a lockfile."""
        return "datasets.lock" in self.base

    @classmethod
    def make(cls, folder: Path, *, locked: bool) -> Oracle:
        """Make the repository; with `locked`, lock all datasets that run no code."""
        top = folder / "repository"
        repository = GitRepository.make(top, {"README.md": ""})
        _write(top, dict(BASE))
        cache = Cache(folder / "cache")
        catalog = Catalog.open(top / "datasets.yaml")
        names = [name for name in catalog if catalog[name].mapper is None]
        results = list(
            lock_datasets(
                names,
                LockRequest(catalog=catalog, cache=cache, offline=True),
                jobs=1,
                report=lambda *_: None,
            )
        )
        assert {one.status for one in results} == {"pinned"}, results
        write_lock(top / "datasets.lock", new_lock([Lock()], results, names))
        repository.commit()
        reference = Reference()
        base = {**BASE, "datasets.lock": (top / "datasets.lock").read_bytes()}
        if not locked:
            (top / "datasets.lock").unlink()
            repository.commit()
            base = dict(BASE)
        main = read_contents(checkout_of("main", top / "datasets.yaml", folder / "main"))
        _, _, reviewed = _side(top)
        return cls(repository, base, reference.samples_in(top), reference, cache, main, reviewed)

    def faults(self, change: Change) -> list[str]:
        """Return what the diff of a change hides, or shows wrongly."""
        top = self.repository.folder
        files = change.edit(self.base)
        if all(self.base.get(name) == data for name, data in files.items()):
            return []
        _write(top, files)
        try:
            found = self.reference.samples_in(top)
            diff = self._diff(top)
            faults = list(self._faults(change, found, diff))
            if diff.is_complete:
                faults += self._of_doors(top, self._differing(found), diff)
        finally:
            self.repository.git("reset", "--quiet", "--hard")
            self.repository.git("clean", "-fdxq")
        return faults

    def _differing(self, found: dict[str, Samples]) -> list[str]:
        return [
            name
            for name in sorted({*self.samples, *found} - {""})
            if self.samples.get(name) != found.get(name)
            # Else the samples are as they were.
            and not str(found.get(name)).startswith("ExpectationError")
        ]

    def _of_doors(self, top: Path, differing: list[str], diff: CatalogDiff) -> Iterator[str]:
        """Yield where what else compares two states answers otherwise than the diff."""
        catalog, lock, now = _side(top)
        own = [name for name in now.datasets if catalog[name].mapper is None]
        specs = {name: catalog[name] for name in own}
        reported = {one.name for one in diff.changes} | set(diff.not_compared)
        reported |= {name for one in diff.shared for name in ("", *one.inherited_by)}
        refused = refusals(self.reviewed, now, specs, lock, own)
        # Not those that nobody can compare: files that no pin has the digests of.
        differ = {name for name, why in refused.items() if why.startswith("not as reviewed")}
        doors = {"sync --reviewed": (own, differ)}
        if self.locked and lock.pins:
            # To check all takes as long as all else.
            others = [name for name in own if name not in reported][:3]
            asked = [name for name in own if name in differing or name in others]
            checks = check_lock(
                catalog, lock, self.cache, asked, unrun={}, jobs=1, report=lambda *_: None
            )
            doors["lock --check"] = asked, {one.name for one in checks if one.differences}
        for door, (asked, found) in doors.items():
            for name in found - reported:
                yield f"{door} refuses {name}, of which the diff says nothing"
            for name in {*differing} & {*asked} - found:
                yield f"{door} passes {name}, whose samples differ"

    def _diff(self, top: Path) -> CatalogDiff:
        checkout = folder_checkout(top / "datasets.yaml", "work tree")
        head = read_contents(checkout, rules_in(self.main.checkout, self.main.checkout.top).index)
        old, new = open_pair(self.main, head, runs_changed_code=False)
        options = SamplingOptions(cache=self.cache, build=True, offline=True, examples=1000)
        return with_samples(compare(old.snapshot, new.snapshot), old, new, options)

    def _faults(
        self, change: Change, found: dict[str, Samples], diff: CatalogDiff
    ) -> Iterator[str]:
        shown = {name: "\n".join(form(diff)) for name, form in FORMATS.items()}
        differing = self._differing(found)
        if change.hidden:
            if not diff.is_clean:
                yield "a difference where nothing counts differs"
            return
        if diff.is_clean or any("no differences" in text for text in shown.values()):
            yield "no differences"
        everything = violations(diff, frozenset(POLICY_CLASSES))
        if not everything and diff.is_complete:
            yield "no class for --fail-on"
        for name in change.names:
            for form, text in shown.items():
                if os.path.relpath(name, ".") not in text:
                    yield f"{form} does not name {name}"
        for name in differing:
            for form, text in shown.items():
                if diff.is_complete and name not in text:
                    yield f"{form} does not name {name}"
            if not (change.adds and self.locked):
                yield from self._of_dataset(name, found.get(name), diff)

    def _of_dataset(self, name: str, after: Samples | None, diff: CatalogDiff) -> Iterator[str]:
        change = next((one for one in diff.changes if name in (one.name, one.old_name)), None)
        if change is None:
            if name not in diff.not_compared and diff.is_complete:
                yield f"{name} differs, and is neither a change nor not compared"
            return
        before = self.samples.get(name)
        samples = change.samples
        if samples is None or samples.obstacle or samples.old is None:
            if change.status == "changed" and not (samples and samples.note) and diff.is_complete:
                yield f"{name}: no word on its samples"
            return
        if isinstance(before, list) and isinstance(after, list):
            yield from _of_samples(name, before, after, change, diff)


def _of_samples(
    name: str,
    before: list[dict[str, Any]],
    after: list[dict[str, Any]],
    change: DatasetChange,
    diff: CatalogDiff,
) -> Iterator[str]:
    samples = change.samples
    assert samples is not None
    if samples.is_same:
        yield f"{name}: 'no difference' in samples that differ"
    ids = [[json.dumps(one.get("id")) for one in side] for side in (before, after)]
    # By content, samples that moved and changed have no partner for certain.
    if samples.matched_by != "id" or ids[0] != ids[1]:
        return
    classes = violations(diff, frozenset(POLICY_CLASSES))
    labels = {one.label for one in samples.examples}
    for old, new in zip(before, after, strict=True):
        fields = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        for field in fields:
            word = _CLASS_OF.get(field, "inputs")
            if name not in classes.get(word, []) and diff.is_complete:
                yield f"{name}: {field} differs, and --fail-on {word} passes"
        if fields and f"id {old['id']}" not in labels:
            yield f"{name}: sample {old['id']} is not named"


def _side(top: Path) -> tuple[Catalog, Lock, ReviewedSide]:
    """Return the catalog of a checkout, its lockfile, and what `sync --reviewed` compares."""
    catalog = Catalog.open(top / "datasets.yaml", keep=False)
    lock = read_lock(top / "datasets.lock") or Lock()
    values = index_values(catalog, catalog.index_document(), str)
    specs = {name: catalog[name] for name in catalog}
    index = {key: one.value for key, one in values.items()}
    return catalog, lock, side_of(specs, lock, index, catalog.boundary)


def _write(top: Path, files: Files) -> None:
    for name, data in files.items():
        path = top / name
        if data is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
