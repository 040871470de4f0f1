"""The fields of what `export` and `to_parquet` write: the columns of every dataset."""

from __future__ import annotations

from typing import Any

from registry.samples.fields import FIELDS
from registry.scaffold.inference.columns import Columns, Inference

__all__ = ["FRAME_COLUMNS", "FRAME_FIELDS", "infer_frame"]

FRAME_COLUMNS = frozenset(name for field in FIELDS for name, kind in field.columns if kind != "int")
"""Those of `registry.samples.frames.layout`."""

FRAME_FIELDS: dict[str, Any] = {
    "input": {"if": {"value": "messages", "equals": None}, "then": "input", "else": "messages"},
    "choices": "choices",
    "target": {"if": {"value": "targets", "equals": None}, "then": "target", "else": "targets"},
    "id": "id",
    "metadata": "metadata",
    "description": "description",
}
"""The fields of any export to Parquet."""

# Field → its column, and the one that has its values where that one is null.
_PAIRS = {"input": ("input", "messages"), "target": ("target", "targets")}
_LISTS = ("messages", "choices", "targets")
_EXPORTED = "a column of `registry export`"


def infer_frame(columns: Columns) -> dict[str, Inference] | None:
    """Return the fields of an export; None if the columns are others, or the user names some."""
    if set(columns.names) != FRAME_COLUMNS or columns.given:
        return None
    fields = {}
    for name in FRAME_FIELDS:
        found = _filled(name, columns)
        if name == "metadata" and "" in columns.values(name):
            # A field that is left out reads the column of its name, and "" is no JSON.
            why = "some cells are empty" if found else "no values"
            fields[name] = Inference(None, why)
        elif found:
            columns.use(*found)
            lost = "messages" in found and _has_rest(columns)
            reason = f"{_EXPORTED}, without `rest` of its messages" if lost else _EXPORTED
            fields[name] = Inference(_either(found, columns), reason)
        elif name == "id":
            fields[name] = Inference(None, "no values")
    return fields


def _filled(name: str, columns: Columns) -> list[str]:
    """Return the columns of a field that have values."""
    pair = _PAIRS.get(name, (name,))
    return [one for one in pair if any(value not in (None, "") for value in columns.values(one))]


def _either(names: list[str], columns: Columns) -> Any:
    """Return the expression of a column, or of the second where it has a value."""
    *others, last = names
    texts = [one for one in columns.values(last) if isinstance(one, str)]
    # Cells of CSV: lists are JSON, and an empty one is a null.
    value: Any = {"from": last, "do": ["parse"]} if any(texts) and last in _LISTS else last
    if not others and not ("" in texts and last in _LISTS):
        return value
    empty = {"value": last, "equals": "" if "" in texts else None}
    return {"if": empty, "then": others[0] if others else None, "else": value}


def _has_rest(columns: Columns) -> bool:
    """Return whether messages have more than text, such as parts or tool calls."""
    for value in columns.values("messages"):
        if isinstance(value, str) and '"rest":"' in value:
            return True
        if isinstance(value, list) and any(one.get("rest") for one in value):
            return True
    return False
