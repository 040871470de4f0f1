"""Datasets of the catalog for Inspect AI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from registry.load.dataset import Options
    from registry.samples.inspect_dataset import InspectDataset

__all__ = ["get_dataset"]


def get_dataset(
    name: str,
    *,
    root: str | Path | None = None,
    source: str | None = None,
    **options: Unpack[Options],
) -> InspectDataset:
    """Return `registry.get_dataset(…).to_inspect()`; the arguments are those of that function.

    Raises:
        MissingDependencyError: Inspect AI is not installed. Other errors as that function.
    """
    # Imported here, as every command of Inspect imports this package for its entry point.
    from registry.load.dataset import get_dataset as get_ours

    return get_ours(name, root=root, source=source, **options).to_inspect()
