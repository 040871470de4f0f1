"""Datasets without fields say so, with the columns that are known."""

from __future__ import annotations

from registry.plugins.importers.unmapped import unmapped_dataset


def test_columns_are_shown() -> None:
    source = {"type": "csv", "path": "a.csv"}
    columns = [f"c{number}" for number in range(30)]
    found = unmapped_dataset(
        "d", source, about={"license": "mit", "homepage": None}, columns=columns
    )
    assert found.keys == {"license": "mit", "source": {"type": "csv", "path": "a.csv"}}
    (fields,) = found.left_out
    assert fields.why.endswith("c18, c19…")
    assert not found.is_whole
