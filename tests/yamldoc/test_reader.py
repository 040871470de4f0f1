"""Files become documents; unreadable files are reported with reason and position."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ManifestError
from registry.yamldoc.reader import read_yaml


def file_problems(path: Path, data: bytes) -> list[str]:
    path.write_bytes(data)
    with pytest.raises(ManifestError) as caught:
        read_yaml(path, shown_as="m.yaml")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("data", "place", "byte"),
    [
        (b"a: \xff\n", "1:4", "0xff"),
        (b"a: 1\r\nbc: \xe9t\xe9\r\n", "2:5", "0xe9"),
        (b"a: \xed\xa0\x80\n", "1:4", "0xed"),
        (b"\xff\xfea\x00", "1:1", "0xff"),
        pytest.param(b"\xef\xbb\xbfa: \xff\n", "1:4", "0xff", id="behind a byte-order mark"),
        pytest.param(b"\xef\xbb\xbfa: 1\nb: \xff\n", "2:4", "0xff", id="below one"),
        pytest.param("é: ".encode() + b"\xff\n", "1:4", "0xff", id="behind a wide character"),
    ],
)
def test_invalid_utf8_is_reported_with_line_and_column(
    tmp_path: Path, data: bytes, place: str, byte: str
) -> None:
    assert file_problems(tmp_path / "m.yaml", data) == [
        f"m.yaml:{place} $: byte {byte} is not UTF-8 (save it as UTF-8)"
    ]


def test_byte_order_mark_and_crlf_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: |\r\n  x\r\n")
    document = read_yaml(path)
    assert document.value == {"a": 1, "b": "x\n"}
    assert document.position(("a",)) == (1, 1)
    assert document.file == str(path)


def test_file_size_is_limited_to_one_mebibyte(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    whole = b"a: " + b"x" * ((1 << 20) - 3)
    assert file_problems(path, whole + b"x") == [
        "m.yaml:1:1 $: the file is larger than 1 MiB (split it)"
    ]
    path.write_bytes(whole)
    assert len(read_yaml(path).value["a"]) == (1 << 20) - 3


def test_unreadable_file_is_reported_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        read_yaml(tmp_path / "none.yaml", shown_as="none.yaml")
    assert str(caught.value) == "none.yaml:1:1 $: can't read the file: No such file or directory"
    with pytest.raises(ManifestError) as caught:
        read_yaml(tmp_path, shown_as="folder")
    assert str(caught.value) == "folder:1:1 $: can't read the file: Is a directory"
