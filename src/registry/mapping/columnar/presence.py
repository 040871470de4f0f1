"""Find out from whole columns which of the columns that a manifest names exist."""

from __future__ import annotations

from registry.decode.frame import MISSING, ValueFrame
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

    def exists(name: str) -> bool:
        if name in view.constants:
            return True
        if isinstance(view.frame, ValueFrame):
            return view.kinds(name) != {type(MISSING)}
        column = view.arrow_column(name)
        is_column = name in view.frame.names  # whose nulls are values
        return is_column or (column is not None and column.null_count < len(column))

    unseen.remove_if(exists)
