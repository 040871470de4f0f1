"""Datasets of the catalog for Inspect AI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from registry.load.dataset import Overrides
    from registry.samples.inspect_dataset import InspectDataset

__all__ = ["get_dataset"]


def get_dataset(
    name: str,
    *,
    root: str | Path | None = None,
    offline: bool | None = None,
    refresh: bool = False,
    locked: bool | None = None,
    frozen: bool | None = None,
    source: str | None = None,
    **overrides: Unpack[Overrides],
) -> InspectDataset:
    """Return `registry.get_dataset(…).to_inspect()`; the arguments are those of that function.

    Raises:
        MissingDependencyError: Inspect AI is not installed. Other errors as that function.
    """
    # Imported here, as every command of Inspect imports this package for its entry point.
    from registry.load.dataset import get_dataset as get_ours

    return get_ours(
        name,
        root=root,
        offline=offline,
        refresh=refresh,
        locked=locked,
        frozen=frozen,
        source=source,
        **overrides,
    ).to_inspect()
