"""Where a run works, with what, and how large its data is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["FULL", "QUICK", "Place", "Sizes"]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How many of everything; the names of cases and datasets are those of the full run."""

    tiny: int
    """Rows that are loaded before the clock starts, so that imports are done."""
    few: int
    """Rows of the small warm dataset."""
    rows: int
    """Rows of the cold cases."""
    synced: int
    """Rows of each of the datasets that are built side by side."""
    many: int
    """Rows of the large warm dataset, and of the memory case."""
    most: int
    """Rows of the second memory run, and of the remote file."""
    large: int
    """Records of a real file's lengths."""
    explored: int
    """Those that the table of samples has."""
    manifests: int
    """Manifests of the large catalog."""
    few_manifests: int
    """Manifests of the small one."""
    changed: int
    """Datasets that a diff compares, all of them changed."""
    shown: int
    """Datasets of a site."""


FULL = Sizes(
    tiny=10,
    few=1_000,
    rows=200_000,
    synced=400_000,
    many=1_000_000,
    most=4_000_000,
    large=1_000_000,
    explored=100_000,
    manifests=10_000,
    few_manifests=10,
    changed=1_000,
    shown=10_000,
)
QUICK = Sizes(
    tiny=10,
    few=50,
    rows=300,
    synced=200,
    many=1_500,
    most=6_000,
    large=50,
    explored=40,
    manifests=30,
    few_manifests=3,
    changed=5,
    shown=5,
)


@dataclass(frozen=True)
class Place:
    """A work folder: data and catalogs, kept between runs, and caches."""

    folder: Path
    sizes: Sizes
    real: Path | None = None
    """A folder with files of `real.yaml`, under any names."""
    python: Path | None = None
    """The interpreter of the environment that has inspect_evals."""

    def data(self, count: int, suffix: str) -> Path:
        """Return the file with so many rows."""
        return self.folder / "data" / f"rows-{count}.{suffix}"

    @property
    def catalog(self) -> Path:
        """The catalog of the datasets that are measured."""
        return self.folder / "catalog"

    def manifests(self, count: int) -> Path:
        """Return the catalog with so many manifests."""
        return self.folder / f"manifests-{count}"

    def change(self, count: int) -> Path:
        """Return the folder of two catalogs, between which so many datasets change."""
        return self.folder / f"change-{count}"

    def datasets(self, count: int) -> Path:
        """Return the catalog of so many small datasets that can all be built."""
        return self.folder / f"datasets-{count}"

    @property
    def caches(self) -> Path:
        """Our caches: a kept one for each case, and new ones for cold builds."""
        return self.folder / "caches"

    @property
    def peer_cache(self) -> Path:
        """Where Inspect AI keeps what it loaded with `datasets`."""
        return self.folder / "peer"
