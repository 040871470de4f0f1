"""Bytes of pictures and sounds beside a text become parts of its message."""

from __future__ import annotations

from typing import Any

import pytest

from registry.mapping.field_mapper import map_fields
from registry.scaffold.columns import Columns, Inference
from registry.scaffold.pictures import with_pictures
from tests.scaffold.pipes import pipe

PNG = b"\x89PNG\r\n\x1a\n"
URI = pipe("x", "data_uri")
LIST = pipe("x", {"each": ["data_uri"]})


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ([PNG, b"GIF89a"], {"image": URI}),
        ([{"bytes": PNG, "path": "a.png"}], {"image": URI}),
        ([[PNG], [PNG, PNG]], {"image": LIST}),
        ([b"ID3"], {"audio": URI}),
        (
            [PNG, None],
            {"image": {"if": {"value": "x", "empty": False}, "then": URI, "else": {"const": None}}},
        ),
        (["images/0.png", "images/a b.JPG"], {"image": "x"}),
        ([PNG, b"ID3"], None),
        (["a.png", "b"], None),
        ([b"text"], None),
        ([{"bytes": None, "path": "a.png"}], None),
        (["data:image/png;base64,AA=="], None),
    ],
)
def test_bytes_are_parts_before_the_text(values: list[Any], part: Any) -> None:
    records = [{"question": "?", "x": value} for value in values]
    found = with_pictures(Inference("question", ""), Columns(records, used={"question"})).expression
    if part is None:
        assert found == "question"
        return
    message = {"role": "user", "content": [part, {"text": "question"}]}
    assert found == {"messages": [message]}
    mapper = map_fields({"input": found})
    assert all(mapper(record).input for record in records)
