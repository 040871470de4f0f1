"""Remember the resolved datasets of a catalog, as long as its files do not change."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any

from msgspec import Struct

from registry.boundary.boundary import Boundary
from registry.manifest.merge import Entry, Merged
from registry.manifest.models import DatasetSpec
from registry.manifest.paths import outside_path
from registry.manifest.resolve import checked_entry, spec_of
from registry.manifest.source_models import infer_source_keys

__all__ = ["ResolvedSpecs"]

_MOST = 64
_SCALARS = (bool, int, float, str, type(None))


class _Resolved(Struct, frozen=True):
    boundary: Boundary
    merged: Merged
    spec: DatasetSpec


class ResolvedSpecs:
    """The datasets that were resolved last; equal calls give the same object."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        """Resolve from these entries, which stay as they are."""
        self._entries = entries
        self._known: dict[Hashable, _Resolved] = {}

    def resolve(
        self,
        name: str,
        *,
        boundary: Boundary,
        overrides: Mapping[str, Any] | None = None,
        source: str | None = None,
    ) -> DatasetSpec:
        """Return the resolved dataset `name`; arguments and errors as `registry.manifest.resolve`.

        Only files may differ from one call to the next, and with them whether a path leads outside
        the boundary: that is checked each time.
        """
        key = _key_of(name, overrides or {}, source)
        known = None if key is None else self._known.get(key)
        if known is not None and known.boundary == boundary and not any(outside_path(known.merged)):
            return known.spec
        merged = checked_entry(
            name, self._entries, boundary=boundary, overrides=overrides, source=source
        )
        spec = spec_of(self._entries[name], merged)
        if key is not None:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = _Resolved(boundary, merged, spec)
        return spec


def _key_of(name: str, overrides: Mapping[str, Any], source: str | None) -> Hashable:
    """Return all that a spec depends on besides the entries and the boundary; None if unknown."""
    if not all(isinstance(value, _SCALARS) for value in overrides.values()):
        return None
    # Whether it is a folder decides about the type of anything else.
    if source is not None and infer_source_keys(source) is None:
        return None
    # An equal number of another type is an error, or another dataset: `limit: true` and `limit: 1`.
    values = tuple((key, type(value), value) for key, value in overrides.items())
    return name, values, source, os.getcwd(), os.path.expanduser("~")
