"""What an export says about where its samples come from: equal on every machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from registry.api import data_of, is_not_default, is_set, portable, spec_digest

if TYPE_CHECKING:
    from registry.api import DatasetSpec, Pin

__all__ = ["PROVENANCE_KEY", "provenance_of", "provenance_text"]

PROVENANCE_KEY = "registry"
"""Key of the provenance in the metadata of Arrow and Parquet schemas."""


def provenance_of(
    spec: DatasetSpec, pin: Pin | None, fingerprint: str, samples: int
) -> dict[str, Any]:
    """Return the provenance of a dataset as JSON data.

    Args:
        spec: The dataset, with the view that is exported.
        pin: What `datasets.lock` pins for it.
        fingerprint: Digest of everything that determines its samples, without the view.
        samples: How many samples the view has.
    """
    documentation = {"description": spec.description, "homepage": spec.homepage}
    return {
        "dataset": spec.name,
        **{key: value for key, value in documentation.items() if value is not None},
        "license": spec.license,
        "samples": samples,
        "fingerprint": fingerprint,
        "manifest": spec_digest(spec),
        "view": data_of(spec.view, keep=is_not_default),
        # No path of this machine: another one must write the same bytes.
        "source": sorted({portable(source.location, spec.folder) for source in spec.all_sources}),
        "pin": None if pin is None else data_of(pin, keep=is_set),
    }


def provenance_text(provenance: dict[str, Any]) -> str:
    """Return a provenance as JSON on one line."""
    return json.dumps(provenance, ensure_ascii=False, separators=(",", ":"))
