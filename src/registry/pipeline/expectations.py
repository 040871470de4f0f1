"""Decide which questionable samples are an error and which a warning.

The counts come from `quality` and are stored with the samples. So a cached dataset is checked
without reading a sample, and a change of `expect` or `accept` builds nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from registry.errors import ExpectationError, shorten
from registry.manifest.models import DatasetSpec

__all__ = ["QualityWarning", "check_samples", "quality_warnings", "warning_texts"]

_MAX_VALUE = 40
_UNUSED_ROWS = "unused_lookup_rows"


class QualityWarning(Struct, frozen=True, kw_only=True):
    """One kind of questionable sample in a dataset."""

    kind: str
    """The name under `accept`, or `unused_accept`."""
    message: str
    """What, in how many samples, and in which ones; one line."""
    count: int = 0
    """Number of samples, or of unused columns."""
    first: tuple[Mapping[str, Any], ...] = ()
    """Record, file, id and value of the first ones."""

    def to_dict(self) -> dict[str, Any]:
        """Return the warning as JSON data."""
        return asdict(self)


class _Found(Struct, frozen=True):
    """The samples of one kind."""

    spec: DatasetSpec
    count: int
    samples: int
    """Number of all samples."""

    @property
    def is_all(self) -> bool:
        return self.count == self.samples


def _names_target(found: _Found) -> bool:
    return found.spec.mapper is not None or "target" in found.spec.fields.named


def _wants_targets(found: _Found) -> bool:
    """Return whether the manifest reads targets, in place of writing one constant."""
    target = found.spec.fields.target
    is_constant = isinstance(target, dict) and target.keys() == {"const"}
    return _names_target(found) and not is_constant


# Kind → what it is, and when it is worth a warning.
_KINDS: dict[str, tuple[str, Callable[[_Found], bool]]] = {
    "blank_inputs": ("blank input", lambda found: True),
    # Python code that gives no targets at all means it.
    "blank_targets": (
        "blank target",
        lambda found: _wants_targets(found) and not (found.is_all and found.spec.mapper),
    ),
    "targets_outside_choices": ("target outside the choices", _names_target),
    "missing_ids": ("no id", lambda found: not found.is_all and not found.spec.view.auto_id),
    "missing_choices": ("no choices", lambda found: False),
    "few_choices": ("fewer than two choices", lambda found: True),
    "repeated_choices": ("the same choice twice", lambda found: True),
    "unused_columns": ("columns that no field reads", lambda found: True),
    _UNUSED_ROWS: ("rows of", lambda found: True),
}

# Key of `expect` → the kinds that fail it.
_EXPECTATIONS: dict[str, tuple[str, ...]] = {
    "unique_ids": ("missing_ids",),
    "target_in_choices": ("missing_choices", "blank_targets", "targets_outside_choices"),
    "nonempty_targets": ("blank_targets",),
    "nonempty_inputs": ("blank_inputs",),
    "several_choices": ("missing_choices", "few_choices"),
    "distinct_choices": ("repeated_choices",),
}


def check_samples(spec: DatasetSpec, meta: Mapping[str, Any]) -> None:
    """Raise an error if samples fail `expect`, or all have a blank target.

    Args:
        spec: The dataset.
        meta: Content of `meta.json` of its samples.

    Raises:
        ExpectationError: with the number of samples that fail, and the first ones.
    """
    counts = _counts(meta)
    problems = [
        f"expect.{key} fails: {_message(kind, counts[kind], meta)}"
        for key, kinds in _EXPECTATIONS.items()
        for kind in kinds
        if getattr(spec.expect, key) and kind in counts
        # `auto_id` numbers the samples when they are read.
        if not (kind == "missing_ids" and spec.view.auto_id)
    ]
    if spec.join is not None and spec.join.strict and _UNUSED_ROWS in counts:
        problems.append(f"join.strict fails: {_message(_UNUSED_ROWS, counts[_UNUSED_ROWS], meta)}")
    blank = counts.get("blank_targets")
    if not problems and blank is not None and "blank_targets" not in spec.accept:
        found = _Found(spec, blank["count"], meta["samples"])
        # The first samples alone don't show that there is no target at all.
        if found.is_all and meta["limit"] is None and not spec.mapper and _wants_targets(found):
            hint = "is `fields.target` right? `accept: [blank_targets]` says that it is meant"
            problems.append(f"{_message('blank_targets', blank, meta)} ({hint})")
    if problems:
        raise ExpectationError(f"{spec.name}: {'; '.join(problems)}")


def quality_warnings(spec: DatasetSpec, meta: Mapping[str, Any]) -> list[QualityWarning]:
    """Return what is questionable in samples and not accepted, and what `accept` names in vain.

    Args:
        spec: The dataset.
        meta: Content of `meta.json` of its samples.
    """
    counts = {
        kind: one
        for kind, one in _counts(meta).items()
        if _KINDS[kind][1](_Found(spec, one["count"], meta["samples"]))
    }
    warnings = [
        QualityWarning(
            kind=kind,
            message=_message(kind, one, meta),
            count=one["count"],
            first=tuple(one["first"]),
        )
        for kind, one in counts.items()
        if kind not in spec.accept
    ]
    if meta["limit"] is None:  # a later sample may need it
        message = "`accept` names {}, which no sample needs (remove it)"
        warnings += [
            QualityWarning(kind="unused_accept", message=message.format(kind))
            for kind in spec.accept
            if kind not in counts
        ]
    return warnings


def warning_texts(spec: DatasetSpec, meta: Mapping[str, Any]) -> list[str]:
    """Return what users of the samples, who may not have written the manifest, must know."""
    hint = "`accept: [{}]` in the manifest says that it is meant"
    return [
        f"{spec.name}: {warning.message} ({hint.format(warning.kind)})"
        for warning in quality_warnings(spec, meta)
        if warning.kind != "unused_accept"
    ]


def _counts(meta: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the stored counts, with those that follow from columns without any value."""
    lacking = {"count": meta["samples"], "first": []}
    counts = dict(meta["quality"])
    if meta["samples"] and "choices" not in meta["columns"]:
        counts["missing_choices"] = lacking
    if meta["samples"] and {"id", "id_number"}.isdisjoint(meta["columns"]):
        counts["missing_ids"] = lacking
    return counts


def _message(kind: str, found: Mapping[str, Any], meta: Mapping[str, Any]) -> str:
    phrase, first = _KINDS[kind][0], found["first"]
    if kind == "unused_columns":
        return f"{phrase}: {', '.join(one['value'] for one in first)}"
    if kind == _UNUSED_ROWS:
        return f"{phrase} {first[0]['value']}"
    count, samples = found["count"], meta["samples"]
    share = "all" if count == samples else f"{count:,} of"
    places = _places(first) + ([] if count <= len(first) else ["…"])
    share = "the only sample" if samples == 1 else f"{share} {samples:,} samples"
    return f"{phrase} in {share}" + (f": {', '.join(places)}" if first else "")


def _places(first: list[dict[str, Any]]) -> list[str]:
    """Return the positions of samples: the first one in full, and of the others what differs."""
    places, file = [], None
    for one in first:
        place = str(one["record"])
        if one["file"] != file:
            place = f"{one['file']} record {place}"
            about = [f"id {shorten(one['id'], width=_MAX_VALUE)}"] if one["id"] is not None else []
            if one["value"] not in (None, ""):
                about.append(shorten(one["value"], width=_MAX_VALUE))
            place += f" ({', '.join(about)})" if about else ""
        file = one["file"]
        places.append(place)
    return places
