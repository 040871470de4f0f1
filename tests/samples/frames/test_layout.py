"""The documented columns are those of every frame."""

from __future__ import annotations

import re

import pyarrow as pa

from registry.samples.frames.layout import COLUMNS, MESSAGE, frame_schema
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "reference" / "interop.md").read_text("utf-8")


def test_page_lists_every_column_with_its_type() -> None:
    section = PAGE.partition("\n## Arrow and frames\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", section, re.MULTILINE)
    names = {
        pa.large_string(): "string",
        pa.large_list(pa.large_string()): "list<string>",
        pa.large_list(MESSAGE): "list<struct<role, content, id, rest>>",
    }
    assert rows == [(field.name, names[field.type]) for field in frame_schema()]


def test_members_of_a_message_are_texts() -> None:
    assert {member.name: member.type for member in MESSAGE} == dict.fromkeys(
        ("role", "content", "id", "rest"), pa.large_string()
    )


def test_struct_of_metadata_changes_only_that_column() -> None:
    made, plain = frame_schema({"n": "int", "any": "json"}), frame_schema()
    assert made.field("metadata").type == pa.struct([("n", pa.int64()), ("any", pa.large_string())])
    assert made.names == plain.names == list(COLUMNS)
    assert [one for one in made if one.name != "metadata"] == [
        one for one in plain if one.name != "metadata"
    ]
