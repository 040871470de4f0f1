"""What the check of a pin finds: differences, and fields that it can't derive again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from registry.errors import RegistryError, count_text, shorten

__all__ = ["SAMPLES", "Difference", "PinCheck", "Reason", "Unchecked", "summary_of"]

SAMPLES = ("samples", "ordered", "unordered")
"""The fields of a pin that are derived from its samples."""


class Reason(StrEnum):
    """Why a field can't be derived again; the summary counts pins by these."""

    BYTES = "source bytes not in the cache"
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

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON data."""
        return asdict(self)


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
