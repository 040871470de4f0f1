"""Datasets whose file says where the data is, and not which columns are input and target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from registry.plugins.importers.models import ImportedDataset, LeftOut

__all__ = ["UnsupportedError", "unmapped_dataset"]

_SHOWN_COLUMNS = 20


class UnsupportedError(Exception):
    """An entry that no source of a manifest reads; the message says why."""


def unmapped_dataset(
    name: str,
    source: dict[str, Any],
    *,
    about: dict[str, Any] | None = None,
    columns: Sequence[str] = (),
    left_out: Sequence[LeftOut] = (),
) -> ImportedDataset:
    """Return a dataset without `fields`, which are listed as left out.

    Args:
        name: Its name.
        source: The keys of its source.
        about: Description, homepage and license, as far as the file has them.
        columns: The columns of the data, if the file names them.
        left_out: What else was left out.
    """
    shown = ", ".join(columns[:_SHOWN_COLUMNS]) + ("…" if len(columns) > _SHOWN_COLUMNS else "")
    known = f"; columns: {shown}" if columns else ""
    why = f"the file does not say which columns are input and target{known}"
    given = {key: value for key, value in (about or {}).items() if value}
    keys = {**given, "source": source}
    return ImportedDataset(name, keys, (LeftOut("fields", why), *left_out))
