"""Compare a pin with what it pins: what differs, and which fields can't be derived again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec.structs import replace

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.errors import RegistryError, count_text, list_names, shorten
from registry.load.materials import locked_sources
from registry.manifest.source import Source, is_commit
from registry.sources.files import pin_files
from registry.sources.pinned_files import parts_again
from registry.sources.pins import Pins
from registry.sources.source_type import reader_of

if TYPE_CHECKING:
    from registry.base.materials import Material
    from registry.lockfile.models import Pin
    from registry.manifest.models import DatasetSpec
    from registry.sources.pins import SourceContext, SourcePin

__all__ = [
    "BUILD_BYTES",
    "SAMPLES",
    "Difference",
    "PinCheck",
    "Reason",
    "Unchecked",
    "compare_sources",
    "pin_offline",
    "summary_of",
]


SAMPLES = ("samples", "ordered", "unordered")
"""The fields of a pin that are derived from its samples."""
BUILD_BYTES = 1 << 26
"""Size of the sources that a check builds; others are checked if their samples are cached."""

_MAX_FILES = 5
"""Number of files of a glob that are listed."""


class Reason(StrEnum):
    """Why a field can't be derived again; the summary counts pins by these."""

    BYTES = "source bytes not in the cache"
    PARTS = "of a file only the parts that are read are in the cache"
    BRANCH = "only the Hub knows the commit of a branch"
    VALIDATOR = "only the server knows an ETag or VersionId"
    GLOB = "only the server knows what a glob matches"
    SAMPLES = "samples not in the cache"
    LARGE = "sources above 64 MiB are not built"
    MAPPER = "a mapper runs only by the rules of a base, `--config-from`"
    PACKAGE = "a package is not installed"
    ACCESS = "a source denies access"
    CACHE = "the cache can't be written"
    SOURCES = "other fields differ"


@dataclass(frozen=True)
class Difference:
    """One difference between a lockfile and what it was made of."""

    name: str
    """The dataset, or the lockfile itself."""
    message: str
    hint: str
    """What to do next."""

    def __str__(self) -> str:
        text = f"{self.name}: {self.message}"
        return f"{text} ({self.hint})" if self.hint else text


@dataclass(frozen=True)
class Unchecked:
    """A field of a pin that can't be derived again here."""

    field: str
    """Its key, such as `samples` or `sources[0].sha256`."""
    reason: Reason


@dataclass
class PinCheck:
    """What became of the fields of one pin."""

    name: str
    is_checked: bool = False
    """Whether it is for the present manifest, so that its fields were compared."""
    differences: list[Difference] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)

    def differs(self, message: str, hint: str = "") -> None:
        """Note a difference; by default the hint is to pin what is there now."""
        upgrade = f"`registry lock --upgrade {self.name}` pins what is there now"
        self.differences.append(Difference(self.name, message, hint or upgrade))

    def fails(self, error: RegistryError, hint: str) -> None:
        """Note an error; the hint is for one whose message does not end with its own."""
        message = str(error).removeprefix(f"{self.name}: ")
        shown = "" if message.endswith(")") else hint
        self.differences.append(Difference(self.name, message, shown))

    def skip(self, reason: Reason, *fields: str) -> None:
        """Note fields that are not checked."""
        self.unchecked += [Unchecked(name, reason) for name in fields]

    def compare(self, key: str, pinned: object, found: object, hint: str = "") -> None:
        """Compare a field."""
        if pinned != found:
            self.differs(f"{key} is {shorten(pinned)} in its pin, but {shorten(found)}", hint)


def summary_of(checks: Sequence[PinCheck]) -> str:
    """Return how many pins were checked completely, and why the others were not."""
    pins = [one for one in checks if one.is_checked]
    in_part = [one for one in pins if one.unchecked]
    text = f"{count_text(len(pins) - len(in_part), 'pin')} checked completely"
    if not in_part:
        return text
    reasons: dict[str, int] = {}
    for check in in_part:
        for reason in dict.fromkeys(one.reason for one in check.unchecked):
            reasons[reason] = reasons.get(reason, 0) + 1
    listed = ", ".join(f"{reason} ({number:,})" for reason, number in reasons.items())
    return f"{text}, {len(in_part):,} in part: {listed}"


def pin_offline(spec: DatasetSpec, context: SourceContext) -> Pins:
    """Pin local sources as they are now, with their globs expanded, and remote ones as locked.

    Raises:
        LockError: a source is not pinned, or its pin is for locations that it can't match.
        SourceError: a local file can't be read.
    """

    def pin(source: Source) -> SourcePin:
        if source.is_remote or context.lock is None:
            return reader_of(source).pin(context)
        for path in source.paths():
            context.lock.files(path)
        return reader_of(source).pin(replace(context, lock=None))

    side = None if spec.join is None else pin(spec.join.source)
    corrections = None if spec.corrections is None else pin(spec.corrections)
    companion = None if spec.companion is None else pin_offline(spec.companion, context)
    return Pins(tuple(map(pin, spec.sources)), side, corrections=corrections, companion=companion)


def compare_sources(
    check: PinCheck, spec: DatasetSpec, pin: Pin, pins: Pins, context: SourceContext
) -> None:
    """Compare each field of the sources in a pin with those of `pin_offline`."""
    rows = locked_sources(spec, pins)
    _compare_rows(check, rows, pin.sources)
    remote = {row.location for row in rows if row.revision or not Location(row.location).is_local}
    for number, row in enumerate(pin.sources):
        if row.location in remote:
            _check_remote(check, f"sources[{number}]", row, context)


def _compare_rows(check: PinCheck, found: Sequence[Material], pinned: Sequence[Material]) -> None:
    now, then = [row.location for row in found], [row.location for row in pinned]
    if now != then:
        new = [one for one in now if one not in then]
        gone = [one for one in then if one not in now]
        if new:
            check.differs(f"{_listed(new)} in its sources, but not pinned")
        if gone:
            check.differs(f"{_listed(gone)} pinned, but not in its sources")
        if not new and not gone:
            check.differs("its sources are pinned in another order")
        return
    pairs = list(zip(found, pinned, strict=True))
    changed = [row.location for row, old in pairs if row.sha256 != old.sha256]
    if len(changed) == 1:
        check.differs(f"{changed[0]} differs from its pin")
    elif changed:
        check.differs(f"{_listed(changed)} different from their pins")
    for number, (row, old) in enumerate(pairs):
        if row.sha256 == old.sha256:
            for key in ("requested", "revision", "etag", "version_id", "size", "parts"):
                check.compare(f"sources[{number}].{key}", getattr(old, key), getattr(row, key))


def _listed(locations: Sequence[str]) -> str:
    """Return names with a verb: `a.csv is`, `a.csv, b.csv and 7 more are`."""
    return f"{list_names(locations, _MAX_FILES)} {'is' if len(locations) == 1 else 'are'}"


def _check_remote(check: PinCheck, key: str, row: Material, context: SourceContext) -> None:
    """Check a row of a remote source against the bytes in the cache."""
    if row.revision is not None:
        if row.requested is not None and not is_commit(row.requested):
            check.skip(Reason.BRANCH, f"{key}.revision")
        return
    if row.requested is not None and not row.requested.startswith("sha256:"):
        check.skip(Reason.GLOB, f"{key}.location")
    check.skip(
        Reason.VALIDATOR, *(f"{key}.{one}" for one in ("etag", "version_id") if getattr(row, one))
    )
    parts, blob = row.parts, context.cache.blob(row.sha256 or "")
    is_whole = blob.is_file()
    if parts is not None and not is_whole:
        blob = context.cache.blob(parts.sha256)
    if not blob.is_file():
        own = () if parts is None else (f"{key}.parts",)
        check.skip(Reason.BYTES, f"{key}.size", f"{key}.sha256", *own)
        return
    # The cache is not a place that a manifest reaches.
    (file,) = pin_files([Location(blob)], {}, replace(context, boundary=UNBOUNDED, lock=None)).files
    if file.sha256 != blob.name:
        hint = f"`registry sync --refresh {check.name}` fetches them again"
        check.differs(f"the bytes of {row.location} in the cache are damaged", hint)
    elif not is_whole:
        check.skip(Reason.PARTS, f"{key}.size", f"{key}.sha256")
    else:
        check.compare(f"{key}.size", row.size, file.size)
        check.compare(f"{key}.parts", parts, parts_again(blob, parts))
