"""Say of a log which data it was made from, whether that is pinned now, and what rebuilds it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from registry import RegistryError
from registry.api import (
    ArrowDataset,
    Provenance,
    count_text,
    data_of,
    did_you_mean,
    installed_release,
    is_not_default,
    list_names,
    samples_id,
)
from registry.plugins.results.here import Here, Match, Needed, find_dataset, match, pinned_samples
from registry.plugins.results.runs import Run

__all__ = ["Receipt", "Verdict", "receipt_of"]

Verdict = Literal["same", "different", "unknown"]
FoundBy = Literal["provenance", "digest", "fingerprint", "content"]
_UNPINNED = "datasets.lock does not pin {name}, and its samples can't be known without a request"
_NAMED = 3
"""Locations or ids that a sentence names."""


class Rebuilt(Struct, frozen=True, kw_only=True):
    """What became of opening exactly the samples of a log."""

    equal: bool
    """Whether they are those of the log."""
    text: str
    """What was compared, or which part is missing."""


class Receipt(Struct, frozen=True, kw_only=True):
    """What a log says about its data, compared with what is pinned now."""

    file: str
    tool: str
    model: str | None
    task: str | None
    samples: int
    """Samples in the log, without repetitions."""
    verdict: Verdict
    """Whether its data is what datasets.lock pins now."""
    reasons: tuple[str, ...]
    """Why, in sentences; the first one is the most important."""
    found_by: FoundBy | None = None
    """What identifies the data."""
    dataset: str | None = None
    """The dataset of the catalog that has it."""
    stated: Provenance | None = None
    """What the log says."""
    match: Match | None = None
    needed: Needed | None = None
    """What a rebuild takes; None if that is not known."""
    rebuilt: Rebuilt | None = None
    """With `--rebuild`."""


class _Finding(Struct, frozen=True, kw_only=True):
    verdict: Verdict
    reasons: tuple[str, ...]
    found_by: FoundBy | None = None
    dataset: str | None = None
    match: Match | None = None
    needed: Needed | None = None


def receipt_of(run: Run, here: Here, *, rebuild: bool = False) -> Receipt:
    """Return the receipt of a run.

    Args:
        run: What the log says.
        here: The catalog, the lockfile and the cache to compare with.
        rebuild: Open exactly the samples of the log; they are built if necessary.
    """
    found = _found(run, here)
    if run.problem is not None:
        # What it says may be true, but nothing shows it.
        verdict: Verdict = "unknown" if found.verdict == "same" else found.verdict
        found = replace(found, verdict=verdict, reasons=(run.problem, *found.reasons))
    return Receipt(
        file=run.file,
        tool=run.tool,
        model=run.model,
        task=run.task,
        samples=len(run.repetitions()),
        stated=run.provenance,
        rebuilt=_rebuilt(run, found, here) if rebuild else None,
        **asdict(found),
    )


def _found(run: Run, here: Here) -> _Finding:
    """Return the data of a run, by the best of what its log has."""
    if run.provenance is not None:
        return _by_provenance(run.provenance, here)
    for is_original in (False, True) if run.ordered is not None else ():
        if names := here.names_with(run.ordered or "", original=is_original):
            name = next((one for one in names if one in (run.dataset, run.task)), names[0])
            without = ", without corrections" if is_original else ""
            return _Finding(
                verdict="same",
                reasons=(f"datasets.lock pins these samples as {name}{without}",),
                found_by="digest",
                dataset=name,
                needed=here.needed(name),
            )
    for stated in filter(None, (run.dataset, run.task)):
        now = here.fingerprint(stated) if stated in here.catalog else ""
        if now and now == run.fingerprint:
            return _Finding(
                verdict="same",
                reasons=(f"its fingerprint is that of {stated} now",),
                found_by="fingerprint",
                dataset=stated,
                needed=here.needed(stated),
            )
    return _by_content(run, here)


def _by_provenance(stated: Provenance, here: Here) -> _Finding:
    """Compare what a log says with what is pinned now."""
    name, is_original = stated.name or "", stated.original
    now, notice = here.name_now(name)
    others = here.names_with(stated.ordered, original=is_original) if stated.ordered else []
    if now:
        found = _compared(stated, now, here)
        if found.verdict == "same" or not others:
            return replace(found, reasons=(*found.reasons, *filter(None, (notice,))))
    if others:
        reason = f"datasets.lock pins these samples as {others[0]}: {name} was renamed"
        return _Finding(
            verdict="same",
            reasons=(reason,),
            found_by="provenance",
            dataset=others[0],
            needed=here.needed(others[0], stated),
        )
    hint = notice or did_you_mean(name, list(here.catalog))
    reason = f"the catalog has no dataset {name!r}, and none with these samples"
    return _Finding(
        verdict="unknown",
        reasons=(f"{reason} ({hint})" if hint else reason,),
        found_by="provenance",
        needed=Needed("missing", (f"a manifest of {name}",)),
    )


def _compared(stated: Provenance, name: str, here: Here) -> _Finding:
    """Compare what a log says with the dataset of the same name."""
    pin, now = here.pin(name), here.fingerprint(name, original=stated.original)
    verdict: Verdict = "same"
    pinned = pinned_samples(pin, original=stated.original)
    if pinned is not None and pinned.ordered == stated.ordered:
        without = ", without corrections" if stated.original else ""
        reasons = [f"datasets.lock pins these samples now{without}"]
    elif now and now == stated.fingerprint:
        # The same bytes and the same mapping: what is left to differ is the view of the log.
        reasons = [f"they are built from what {name} is now"]
    elif pin is None and not now:
        verdict, reasons = "unknown", [_UNPINNED.format(name=name)]
    elif pin is None and stated.ordered and stated.ordered == here.ordered(name, stated):
        reasons = [f"{name} has these samples now, by another fingerprint"]
    else:
        verdict, reasons = "different", list(_differences(stated, name, here))
    if stated.modified:
        reasons.append(f"after they were opened they were {', '.join(stated.modified)}")
    return _Finding(
        verdict=verdict,
        reasons=tuple(reasons),
        found_by="provenance",
        dataset=name,
        needed=here.needed(name, stated),
    )


def _differences(stated: Provenance, name: str, here: Here) -> Iterator[str]:
    """Yield what is no longer as a log says, in the order in which it is to be read."""
    pin, spec = here.pin(name), here.catalog.resolve(name)
    places = {one.location for one in pin.sources} if pin else {spec.location}
    # Of a file that is not below the index, a provenance has only the name.
    known = places | {PurePath(place).name for place in places if place.startswith(("..", "/"))}
    if stated.pins and known.isdisjoint(one.location for one in stated.pins):
        then = list_names([one.location for one in stated.pins], _NAMED)
        now = list_names(sorted(places), _NAMED)
        yield f"{name} is another dataset now: it was made of {then}, and is made of {now}"
        return
    yield f"{name} has other samples now"
    versions = dict(pin.versions) if pin else {}
    for one in stated.pins:
        found = versions.get(one.location)
        if found is not None and found != (one.revision or one.sha256):
            yield f"{one.location} was {one.short}, and is {found[:7]} now"
    pinned = pinned_samples(pin, original=stated.original)
    if pinned is not None and pinned.samples != stated.samples:
        had = count_text(stated.samples, "sample")
        yield f"{name} had {had}, and has {pinned.samples:,} now"
    view = data_of(spec.view, keep=is_not_default)
    if view != stated.view:
        yield f"the view was {_view_text(stated.view)}, and is {_view_text(view)} in the manifest"
    if (release := installed_release()) != stated.release:
        yield f"release {stated.release} of this package made them; this is {release}"


def _view_text(view: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in view.items()) or "the order of the source"


def _by_content(run: Run, here: Here) -> _Finding:
    """Find the data of a log that says nothing by the texts of its samples."""
    if not run.samples:
        reason = "the log has neither a provenance nor samples"
        return _Finding(verdict="unknown", reasons=(reason,))
    found = find_dataset(run, here)
    if found is None:
        reasons = ["not known here: no dataset that opens without a request has one of its samples"]
        if run.dataset in here.catalog:
            reasons.append(f"the catalog has a dataset {run.dataset}, but not these samples in it")
        return _Finding(verdict="unknown", reasons=tuple(reasons))
    total = len(run.repetitions())
    reasons = [f"{found.exact:,} of {total:,} samples are in {found.dataset}, by input and target"]
    if found.other_target:
        ids = list_names(found.other_target, _NAMED)
        reasons.append(
            f"{len(found.other_target):,} have the input of one, and another target: {ids}"
        )
    if found.absent:
        ids = list_names(found.absent, _NAMED)
        reasons.append(f"{len(found.absent):,} are not in it: {ids}")
    if here.pin(found.dataset) is None:
        reasons.append(f"datasets.lock does not pin {found.dataset}")
    return _Finding(
        verdict="same" if found.exact == total else "different",
        reasons=tuple(reasons),
        found_by="content",
        dataset=found.dataset,
        match=found,
        needed=here.needed(found.dataset),
    )


def _rebuilt(run: Run, found: _Finding, here: Here) -> Rebuilt:
    """Open exactly the samples of a log, and compare them with what it says."""
    if found.dataset is None:
        return Rebuilt(equal=False, text="missing: which data it was")
    stated = run.provenance
    try:
        dataset = (
            here.open(found.dataset, offline=None)
            if stated is None
            else here.open_stated(stated, found.dataset, offline=None)
        )
    except (RegistryError, ValueError) as error:
        return Rebuilt(equal=False, text=f"missing: {str(error).splitlines()[0]}")
    samples = [one for one, *_ in run.repetitions()]
    counted = match(samples, found.dataset, dataset)
    in_log = f"{counted.exact:,} of {len(samples):,} samples of the log are in it"
    if others := counted.other_target + counted.absent:
        in_log += f", but not {list_names(others, _NAMED)}"
    if stated is not None and stated.modified:
        return Rebuilt(
            equal=False,
            text=f"missing: the code by which they were {', '.join(stated.modified)}; before that,"
            f" {in_log}",
        )
    wanted, is_whole = run.ordered, counted.exact == len(samples)
    digest = samples_id(dataset).ordered if isinstance(dataset, ArrowDataset) else None
    if wanted is None:
        return Rebuilt(equal=is_whole, text=f"the log has no digest; {in_log}")
    if digest != wanted:
        return Rebuilt(equal=False, text=f"other samples: {digest} in place of {wanted}; {in_log}")
    # What was evaluated may be something else than what the log says: its samples show it.
    text = f"{count_text(len(dataset), 'sample')} with the digest of the log; {in_log}"
    return Rebuilt(equal=is_whole, text=text)
