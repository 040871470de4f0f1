"""Operations on chat messages and media: results and errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from registry.boundary.boundary import UNBOUNDED, Limits
from registry.errors import MappingError
from registry.mapping.field_mapper import FieldMapper, map_fields
from tests.mapping.operations.one_step import forbids, refuses, returns

test_an_operation_returns = returns(
    ("messages", "Hello", [{"role": "user", "content": "Hello"}]),
    ("data_uri", "data:image/png;base64,AA==", "data:image/png;base64,AA=="),
    ("data_uri", {"bytes": b"\xff\xd8\xff", "path": None}, "data:image/jpeg;base64,/9j/"),
    ({"data_uri": "image/x"}, b"a", "data:image/x;base64,YQ=="),
    ("messages", [{"role": "tool", "content": "x", "tool_call_id": "c"}], [{"tool_call_id": "c", "role": "tool", "content": "x"}]),
    ("data_uri", b"RIFF1234WEBP", "data:image/webp;base64,UklGRjEyMzRXRUJQ"),
    ("data_uri", b"RIFF1234WAVE", "data:audio/wav;base64,UklGRjEyMzRXQVZF"),
    ("data_uri", b"RIFF1234AVI ", "data:application/octet-stream;base64,UklGRjEyMzRBVkkg"),
    ("data_uri", b"\x89PNG\r\n\x1a\n", "data:image/png;base64,iVBORw0KGgo="),
    ("data_uri", b"", "data:application/octet-stream;base64,"),
)  # fmt: skip


test_a_value_of_the_wrong_type_is_refused = refuses(
    ("messages", 5, "messages", "needs a string or a list of messages"),
    ("data_uri", "a.png", "data_uri", "needs the bytes of an image, {bytes, path}, or an absolute path"),
)  # fmt: skip


test_an_invalid_argument_is_refused_before_any_record = forbids(
    ({"messages": {"roles": {"human": "person"}}}, "`roles` is a mapping from a role's name to system, user, assistant, tool"),
    ({"messages": {"roles": []}}, "`roles` is a mapping from a role's name to system, user, assistant, tool"),
    ({"messages": {"rolse": {}}}, "unknown option 'rolse', known: role, content, roles, system"),
    ({"data_uri": 5}, "takes a media type such as image/png, a string"),
)  # fmt: skip


def test_data_uri_of_a_path_contains_the_file(tmp_path: Path) -> None:
    path = tmp_path / "dot.gif"
    path.write_bytes(b"GIF89a")
    mapper = map_fields({"input": {"from": "image", "do": ["data_uri"]}})
    for image in (str(path), {"bytes": None, "path": str(path)}):
        assert mapper({"image": image}).input == "data:image/gif;base64,R0lGODlh"
    inside = FieldMapper(mapper.fields)
    small = replace(UNBOUNDED, limits=Limits(sample_bytes=5))
    bounded = FieldMapper(mapper.fields, boundary=small)
    unread = "can't read the file:"
    for image, by, message in (
        ("dot.gif", mapper, "needs the bytes of an image, {bytes, path}, or an absolute path"),
        ({"bytes": None, "path": "dot.gif"}, mapper, "needs the bytes of an image"),
        (f"{tmp_path}/gone.gif", mapper, f"{unread} No such file or directory, value"),
        (str(tmp_path), mapper, f"{unread} Is a directory, value"),
        (str(path), inside, f"{path}: is outside"),
        (str(path), bounded, f"{unread} it has more than 5 bytes (`limits: {{sample_bytes: …}}`"),
    ):
        with pytest.raises(MappingError, match=re.escape(f"operation data_uri: {message}")):
            by({"image": image})
