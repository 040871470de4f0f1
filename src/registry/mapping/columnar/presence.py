"""Find out from whole columns which of the columns that a manifest names exist."""

from __future__ import annotations

from registry.decode.frame import MISSING, Frame
from registry.mapping.columnar.record_batch import RecordBatchView
from registry.mapping.missing_columns import UnseenColumns

__all__ = ["see_columns"]


def see_columns(unseen: UnseenColumns, view: RecordBatchView) -> None:
    """Remove the columns that records have from those not seen yet.

    It may miss one, such as a path that only records decide. So a column that stays unseen has to
    be looked for record by record.
    """
    # Nearly always after the first batch. A header alone is no record that has a column.
    if not unseen.uses or view.count == 0:
        return
    frame = view.frame

    def exists(name: str) -> bool:
        if name in view.constants:
            return True
        if view.holds_values(name):
            return any(value is not MISSING for value in view.values(name))
        if isinstance(frame, Frame) and frame.means_value(name):
            return True
        column = view.column(name)
        return column is not None and column.null_count < len(column)

    unseen.remove_if(exists)
