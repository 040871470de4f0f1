"""Find columns named `sandbox`, `files` or `setup` that records have and no field reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from registry.mapping.columns_used import mapping_dependencies
from registry.mapping.conditions import is_empty

if TYPE_CHECKING:
    from registry.decode.frame import AnyFrame
    from registry.manifest.models import DatasetSpec

__all__ = ["UnreadColumns"]

_NAMES = frozenset({"sandbox", "files", "setup"})
"""Fields that run code or place files, so only a field that the manifest names reads a column."""


class UnreadColumns:
    """Notes which of a few columns have a value, while the records are decoded."""

    def __init__(self, names: Collection[str] = ()) -> None:
        """Look for columns of these names."""
        self.missing = frozenset(names)
        """Columns without a value so far."""
        self.found: frozenset[str] = frozenset()
        """Columns in which a record has a value."""

    @classmethod
    def of(cls, spec: DatasetSpec) -> UnreadColumns:
        """Look for the columns that a dataset, whose fields compile, reads nowhere."""
        if spec.mapper is not None:  # which may use any column
            return cls()
        read = mapping_dependencies(spec.fields, spec.where)
        if read is None:  # the whole record
            return cls()
        steps = [one.column for one in spec.explodes]
        steps += [spec.join.on] if spec.join is not None and spec.join.on else []
        return cls(_NAMES - {name.partition(".")[0] for name in (*read, *steps)})

    def add_record(self, record: Mapping[str, Any]) -> None:
        """Look at a record."""
        for name in self.missing:
            if not is_empty(record.get(name)):
                self._find(name)

    def add_frame(self, frame: AnyFrame) -> None:
        """Look at the records of a frame; a NotColumnarError as that of its `values`."""
        for name in self.missing.intersection(frame.names):
            if not all(map(is_empty, frame.values(name))):
                self._find(name)

    def _find(self, name: str) -> None:
        self.found |= {name}
        self.missing -= {name}
