"""What this machine has of the data that a log names: its catalog, its lockfile, its cache."""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Unpack

from msgspec import Struct, convert
from msgspec.structs import replace

from registry import Dataset, RegistryError, get_dataset
from registry.api import (
    ArrowDataset,
    CacheEntry,
    Location,
    Material,
    OpenCatalog,
    Opening,
    Original,
    Overrides,
    Pin,
    Provenance,
    View,
    choice_of,
    file_sha256,
    location_in,
    open_entry,
    samples_id,
)
from registry.plugins.results.runs import Run, RunSample, index_in

__all__ = ["Here", "Match", "Needed", "find_dataset", "match", "pinned_samples"]


_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def pinned_samples(pin: Pin | None, *, original: bool = False) -> Pin | Original | None:
    """Return what a pin says of its samples, or of those without corrections."""
    return pin and pin.original if original else pin


class Needed(Struct, frozen=True):
    """What building the samples of a log takes."""

    state: str
    """`here`, `download` or `missing`."""
    parts: tuple[str, ...] = ()
    """What has to be downloaded, or is missing."""


class Here(OpenCatalog):
    """A catalog with its lockfile and the cache."""

    def pin(self, name: str) -> Pin | None:
        """Return the pin of a dataset; None also where the catalog lacks it."""
        return self.pins.get(name) if name in self.catalog else None

    def names_with(self, ordered: str, *, original: bool = False) -> list[str]:
        """Return the datasets for which the lockfile has this digest of their samples.

        `original` means their samples without corrections.
        """
        pinned = {name: pinned_samples(self.pin(name), original=original) for name in self.catalog}
        return [name for name, one in pinned.items() if one and one.ordered == ordered]

    def name_now(self, name: str) -> tuple[str, str]:
        """Return the present name of a dataset, "" if it has none, and what to say about it."""
        notice = ""
        with contextlib.suppress(RegistryError):
            notice = self.catalog.notice(name)
            return self.catalog.named(name), notice
        return "", notice

    def fingerprint(self, name: str, *, original: bool = False) -> str:
        """Return what identifies the samples of a dataset; empty if only a request can tell.

        `original` means its samples without corrections.
        """
        return self._found(name, original=original)[0]

    def _found(self, name: str, *, original: bool = False) -> tuple[str, CacheEntry | None]:
        """Return the fingerprint of a dataset, and its cached samples."""
        try:
            return self.call_of(name, {"corrections": False} if original else None).find()
        except RegistryError:
            return "", None

    def openable(self) -> Iterator[tuple[str, str]]:
        """Yield each dataset that can be opened without a request, with its fingerprint."""
        for name in self.catalog:
            fingerprint, entry = self._found(name)
            if fingerprint and (entry is not None or not self.catalog.resolve(name).is_remote):
                yield name, fingerprint

    @staticmethod
    def as_stored(dataset: Dataset) -> Dataset:
        """Return samples with names of files as the source has them, not of this machine."""
        return dataset.as_stored() if isinstance(dataset, ArrowDataset) else dataset

    def open(self, name: str, *, offline: bool | None, **overrides: Unpack[Overrides]) -> Dataset:
        """Open a dataset as `get_dataset` does.

        Raises:
            RegistryError: it can't be opened.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # `sync` and `get_dataset` say them
            root = self.settings.index
            return get_dataset(name, root=root, offline=offline, **overrides)

    def ordered(self, name: str, stated: Provenance) -> str | None:
        """Return the digest of what a dataset has now for the view of a provenance.

        None if only a request can tell.
        """
        try:
            overrides = self._overrides(stated, name)
            overrides.pop("revision", None)  # of then
            dataset = self.open(name, offline=True, **overrides)
        except (RegistryError, ValueError):
            return None
        return samples_id(dataset).ordered if isinstance(dataset, ArrowDataset) else None

    def open_stated(self, stated: Provenance, name: str, *, offline: bool | None) -> Dataset:
        """Open the samples that a provenance names, under the name that they have here.

        Raises:
            RegistryError: they can't be opened.
        """
        entry = self._cached(stated.fingerprint)
        if entry is not None:
            opening = Opening.of(self.catalog.resolve(name), self.catalog.boundary)
            changed = replace(opening, name=name, view=convert(stated.view, View))
            return open_entry(changed, entry, self.cache, str(stated.fingerprint))
        return self.open(name, offline=offline, **self._overrides(stated, name))

    def _overrides(self, stated: Provenance, name: str) -> dict[str, Any]:
        """Return the arguments of `get_dataset` that lead to the samples of a provenance."""
        spec = self.catalog.resolve(name)
        then, now = convert(stated.view, View), spec.view
        overrides = {
            key: getattr(then, key)
            for key in View.__struct_fields__
            if repr(getattr(then, key)) != repr(getattr(now, key))  # 1 == True
        }
        pin = self.pin(name)
        if stated.original:
            overrides["corrections"] = False
        if stated.split not in (None, spec.split, getattr(spec.source, "split", None)):
            overrides["split"] = stated.split
        if stated.fewshot is not None:
            # Null for what it does not say, so that a default counts and not the manifest of now.
            keys = spec.fewshot.__struct_fields__ if spec.fewshot else tuple(stated.fewshot)
            unsaid = ("apply", "companion", "fingerprint")
            overrides["fewshot"] = {
                key: stated.fewshot.get(key) for key in keys if key not in unsaid
            }
        elif spec.examples is not None:
            overrides["fewshot"] = False
        revisions = {one.revision for one in stated.pins if one.revision}
        known = {one.revision for one in pin.sources} if pin else set()
        repository = spec.source.repository
        known.add(repository and repository.revision)
        if len(revisions) == 1 and not revisions <= known:
            overrides["revision"] = revisions.pop()
        return overrides

    def needed(self, name: str, stated: Provenance | None = None) -> Needed:
        """Return what building samples takes: those of a provenance, else those of now.

        Nothing is requested, so a download may turn out to be impossible.
        """
        pin, spec = self.pin(name), self.catalog.resolve(name)
        sources = pin.sources if pin else ()
        fingerprint, entry = self._found(name)
        if stated is not None and stated.fingerprint != fingerprint:
            entry = self._cached(stated.fingerprint)
        if entry is not None:
            return Needed("here")
        now = {one.location: one.sha256 for one in sources}
        elsewhere = {
            PurePath(path).name: path
            for source in spec.all_sources
            for path in source.paths()
            if Location(path).is_local and not Path(path).is_relative_to(self.catalog.index.parent)
        }
        missing: list[str] = []
        downloads: list[str] = []
        for one in sources if stated is None else stated.pins:
            if one.revision:
                downloads.append(f"{one.location} at {one.short}")
            elif (path := location_in(self.catalog.index.parent, one.location)).is_local:
                # Of a file that is not below the index, a provenance has only the name.
                missing += self._local_fault(one, elsewhere.get(one.location, path))
            elif now.get(one.location, one.sha256) != one.sha256:
                missing.append(f"{one.location}: datasets.lock pins other bytes of it now")
            else:
                downloads.append(one.location)
        if not (missing or downloads or sources) and spec.is_remote:
            downloads.append(spec.location)
        if missing:
            return Needed("missing", tuple(missing))
        return Needed("download", tuple(downloads)) if downloads else Needed("here")

    def _cached(self, fingerprint: str | None) -> CacheEntry | None:
        """Return the cached samples of a fingerprint, which may come from anybody's log."""
        is_digest = fingerprint is not None and _DIGEST.fullmatch(fingerprint)
        return self.cache.find("samples", str(fingerprint)) if is_digest else None

    def _local_fault(self, pin: Material, path: str) -> list[str]:
        """Return why a local file is not the one that was pinned, if it isn't."""
        # A log may name any file: only those that the catalog may read are looked at.
        if self.catalog.boundary.refusal(path) is not None or not os.path.exists(path):
            return [f"{pin.location}: no such file here"]
        # The digest of a folder is of the names and digests of its files: the build compares it.
        if Path(path).is_file() and pin.sha256 != file_sha256(path):
            return [f"{pin.location}: this file has other bytes now"]
        return []


class Match(Struct, frozen=True, kw_only=True):
    """How many samples of a log a dataset contains."""

    dataset: str
    of: int
    """Number of samples of the dataset."""
    exact: int
    """Samples of the log whose input and target are those of a sample of the dataset."""
    inputs: int
    """Samples of the log whose input is that of one, whatever its target."""
    other_target: tuple[str, ...] = ()
    """Ids of samples whose input is in the dataset, with another target."""
    absent: tuple[str, ...] = ()
    """Ids of samples that are not in the dataset."""
    also: tuple[str, ...] = ()
    """Other datasets over the same samples."""


def find_dataset(run: Run, here: Here) -> Match | None:
    """Return the dataset with most samples of a log, of those that open without a request.

    One whose name the log states is preferred. None if no dataset has a sample of it.
    """
    groups: dict[str, list[str]] = {}
    for name, fingerprint in here.openable():
        groups.setdefault(fingerprint, []).append(name)
    stated = {text for text in (run.dataset, run.task) if text}
    samples = [one for one, *_ in run.repetitions()]
    best: Match | None = None
    for names in sorted(groups.values(), key=stated.isdisjoint):
        # Of those over the same samples: the one that is named, else the one with all samples.
        names.sort(
            key=lambda name: (name not in stated, here.catalog.resolve(name).view.is_part, name)
        )
        try:
            found = match(samples, names[0], here.open(names[0], offline=True), names[1:])
        except RegistryError:
            continue  # its source is not here, or not valid: `validate` and `sync` say why
        if best is None or (found.exact, found.inputs) > (best.exact, best.inputs):
            best = found
        if best.exact == len(samples):
            break
    return best if best is not None and best.inputs else None


def match(
    samples: Sequence[RunSample], name: str, dataset: Dataset, also: Iterable[str] = ()
) -> Match:
    """Count the samples of a log that a dataset contains; white space makes no difference."""
    wanted: dict[str, list[int]] = {}
    targets: list[set[str]] = []
    for number, sample in enumerate(samples):
        targets.append(_targets(sample.target, sample.choices))
        for text in _inputs(sample.input) | _texts_of_record(sample.metadata):
            wanted.setdefault(text, []).append(number)
    inputs: set[int] = set()
    exact: set[int] = set()
    for one in dataset:
        for text in _inputs(one.input):
            for number in wanted.get(text, ()):
                inputs.add(number)
                if targets[number] & _targets(one.target, one.choices):
                    exact.add(number)
    differing = inputs - exact
    numbered = [(number, str(one.id)) for number, one in enumerate(samples)]
    return Match(
        dataset=name,
        of=len(dataset),
        exact=len(exact),
        inputs=len(inputs),
        other_target=tuple(one for number, one in numbered if number in differing),
        absent=tuple(one for number, one in numbered if number not in inputs),
        also=tuple(also),
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def _inputs(value: Any) -> set[str]:
    """Return the texts by which an input is known: records of EEE have those of users alone."""
    if isinstance(value, str):
        return {_plain(value)}
    messages = [
        (one["role"], _message_text(one.get("content")))
        if isinstance(one, Mapping)
        else (one.role, one.text)
        for one in value
    ]
    users = [text for role, text in messages if role == "user"]
    return {_plain(" ".join(text for _, text in messages)), _plain(" ".join(users))}


def _message_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content or ()
    return " ".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))


def _texts_of_record(record: Mapping[str, Any]) -> set[str]:
    """Return the texts of a record: lm-eval logs it beside the prompt that was made of it."""
    return {_plain(one) for one in record.values() if isinstance(one, str)} - {""}


def _targets(target: str | Sequence[str], choices: Sequence[str] | None) -> set[str]:
    """Return a target in each way that tools write it: its text, and that of the choice it names.

    A choice is named by its letter or, as in records of lm-eval, by its index.
    """
    found = {_plain(target if isinstance(target, str) else " ".join(target))}
    if isinstance(target, str) and choices:
        index = index_in(choices, target)
        index = choice_of(target, choices) if index is None else index
        if index is not None:
            found.add(_plain(choices[index]))
    return found
