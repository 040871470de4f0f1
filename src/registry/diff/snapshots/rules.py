"""The index whose rules a change is judged by: that of the base, not its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from registry.catalog.catalog import valid_index
from registry.diff.checkout import Checkout, checkout_of
from registry.errors import ManifestError

__all__ = ["Rules", "no_rules", "open_rules", "rules_in"]


@dataclass(frozen=True)
class Rules:
    """The index that decides what is permitted and reported."""

    index: Path
    checkout: Checkout
    """The base, of which it usually is the index."""
    is_valid: bool = True
    """Whether the base has a valid index; otherwise it permits nothing, and the defaults count."""


def rules_in(checkout: Checkout, temporary: Path) -> Rules:
    """Return the rules of a checkout; `temporary` is a folder for those of an invalid index."""
    try:
        valid_index(checkout.index)
    except ManifestError:
        return no_rules(checkout, temporary)
    return Rules(checkout.index, checkout)


def no_rules(checkout: Checkout, temporary: Path) -> Rules:
    """Return the rules that permit nothing, written to a temporary folder."""
    index = temporary / "nothing.yaml"
    index.write_text("version: 1\n", encoding="utf-8")
    return Rules(index, checkout, is_valid=False)


@contextmanager
def open_rules(base: str, index: Path) -> Iterator[Rules]:
    """Open the rules of a base; they exist until the context exits.

    Args:
        base: A folder with a `datasets.yaml`, such a file, or a git revision.
        index: The catalog whose revisions are meant.

    Raises:
        RevisionError: the base can't be read.
    """
    with TemporaryDirectory(prefix="registry-rules-") as temporary:
        folder = Path(temporary).resolve()
        yield rules_in(checkout_of(base, index, folder / "base"), folder)
