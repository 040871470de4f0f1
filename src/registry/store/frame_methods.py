"""Frames, and access by id, of a dataset over a samples file: a mixin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from registry.samples.frames.methods import FrameMethods
from registry.samples.selection import int_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from registry.samples.frames.layout import MetadataForm, MetadataType
    from registry.samples.frames.rows import Frames
    from registry.samples.sample import Sample
    from registry.store.reader import SampleFile
    from registry.store.views import ViewArrays

    Kinds = dict[str, MetadataType] | None

__all__ = ["StoredFrameMethods"]

_Result = TypeVar("_Result")


class _Frame(Struct, frozen=True):
    """What a frame is made of, beside the file."""

    view: ViewArrays
    kinds: Kinds
    """Types of the keys of the metadata; None for JSON."""
    choice_starts: NDArray[np.int64] | None
    """`SampleFile.choice_starts`; None if the view has no order of choices."""


class StoredFrameMethods(FrameMethods):
    """Reads the columns of the file, and creates a Sample only for what a view changes.

    With a sample that its caller has changed, the dataset is read by samples.
    """

    _ids: tuple[ViewArrays, dict[int | str | None, int]] | None = None
    """Position of each id, and the view for which it holds."""

    if TYPE_CHECKING:  # what a dataset over a file has
        _file: SampleFile
        _view: ViewArrays
        _auto_id: bool
        _finish: Callable[[Sample], Sample] | None
        _location: str

        @property
        def _rows_at_once(self) -> int: ...
        def _changes(self, positions: Sequence[int] | None = None) -> dict[int, Sample]: ...
        def _rows(self, part: slice, view: ViewArrays | None = None) -> NDArray[np.int64]: ...
        def _select(self, numbers: Any, part: NDArray[np.int64]) -> NDArray[Any]: ...
        def _reading(self, read: Callable[[SampleFile], _Result]) -> _Result: ...
        def _build(
            self, rows: NDArray[np.int64], start: int, view: ViewArrays | None = None
        ) -> Iterator[Sample]: ...

    def _frames(self, size: int | None, metadata: MetadataForm) -> Frames:
        from registry.samples.frames.layout import frame_schema
        from registry.samples.frames.rows import Frames, check_arguments
        from registry.store.frame_columns import kinds_of_file

        check_arguments(size, metadata)
        if self._changes():
            return super()._frames(size, metadata)
        kinds = self._reading(kinds_of_file) if metadata == "struct" else None
        return Frames(frame_schema(kinds), self._frame_batches(self._view, size, kinds))

    def _frame_batches(
        self, view: ViewArrays, size: int | None, kinds: Kinds
    ) -> Iterator[pa.RecordBatch]:
        """Yield the samples of a view, which a later sort or shuffle does not change."""
        rows, most = self._rows(slice(None), view), size or self._rows_at_once
        starts = None if view.choices is None else self._reading(lambda file: file.choice_starts())
        frame = _Frame(view, kinds, starts)
        position = 0
        for part in [rows] if size else self._file.stretches(rows):
            for first in range(0, len(part), most):
                chosen = part[first : first + most]
                yield self._frame_batch(frame, chosen, position)
                position += len(chosen)

    def _frame_batch(self, frame: _Frame, rows: NDArray[np.int64], position: int) -> pa.RecordBatch:
        """Return rows of the file; the first has the given position in the view."""
        import pyarrow as pa

        from registry.base.arrow import int64_array
        from registry.samples.frames.layout import COLUMNS, frame_schema
        from registry.samples.frames.rows import columns_of
        from registry.store.frame_columns import changed_columns, frame_columns

        stored = self._reading(lambda file: file.select(rows))
        ordered = self._ordered_choices(frame, stored, rows)
        changed = changed_columns(stored, order=ordered is None, files=self._finish is not None)
        kept = [name for name in COLUMNS if name not in changed]
        columns = frame_columns(stored, kept, frame.kinds) | (ordered or {})
        if self._auto_id:
            columns["id"] = int64_array(rows + 1).cast(pa.large_string())
        if changed:
            samples = list(self._build(rows, position, frame.view))
            columns |= columns_of(samples, changed, first=position)
        arrays = [columns[name] for name in COLUMNS]
        return pa.RecordBatch.from_arrays(arrays, schema=frame_schema(frame.kinds))

    def _ordered_choices(
        self, frame: _Frame, stored: pa.RecordBatch, rows: NDArray[np.int64]
    ) -> dict[str, pa.Array] | None:
        """Return the columns that the order of choices changes; None if samples must say them."""
        if frame.choice_starts is None or "choices" not in stored.schema.names:
            return {}
        import numpy as np

        from registry.base.arrow import ranges
        from registry.store.frame_columns import reordered

        starts = frame.choice_starts[rows]
        counts = frame.choice_starts[rows + 1] - starts
        places = np.repeat(starts, counts) + ranges(counts)
        return reordered(stored, self._select(frame.view.choices, places))

    def _frame_key(self, metadata: MetadataForm) -> str | None:
        from hashlib import sha256

        from registry.base.digest import digest_of

        if self._changes():
            return None
        place = None if self._finish is None else self._location
        arrays = [
            None if numbers is None else sha256(numbers[:].tobytes()).hexdigest()
            for numbers in (self._rows(slice(None)), self._view.choices)
        ]
        return digest_of([self._file.batches, arrays, self._auto_id, place, metadata])

    def _position_of(self, identifier: int | str) -> int | None:
        if self._ids is None or self._ids[0] is not self._view:
            self._ids = (self._view, self._positions_of_ids())
        known = self._ids[1]
        key = identifier if identifier in known else int_of(identifier)
        position = None if key is None else known.get(key)
        # A changed sample may have this id now, or no longer.
        is_changed = self._changes(None if position is None else [position])
        return super()._position_of(identifier) if is_changed else position

    def _positions_of_ids(self) -> dict[int | str | None, int]:
        """Return the position of the first sample of each id."""
        from registry.store.frame_columns import ids_of_file

        rows = self._rows(slice(None)).tolist()
        ids = None if self._auto_id else self._reading(ids_of_file)
        found: dict[int | str | None, int] = {}
        for position, row in enumerate(rows):
            found.setdefault(row + 1 if ids is None else ids[row], position)
        found.pop(None, None)
        return found
