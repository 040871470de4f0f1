"""A manifest on its way through the fixes: line endings, equal data, and how it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ManifestError
from registry.lint.fixes.source_file import (
    ManifestFile,
    read_manifest_file,
    write_manifest_file,
)
from registry.yamldoc.reader import parse_yaml, read_yaml

MARK = b"\xef\xbb\xbf"


def file_of(text: str, path: Path = Path("m.yaml")) -> ManifestFile:
    return ManifestFile(path, text, parse_yaml(text, file="m.yaml"), Path())


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("a: 1\nb: 2\n", False),
        ("a: 1\r\nb: 2\r\n", False),
        ("a: 1\r\nb: 2\n", True),
        ("a: 1\rb: 2\r", True),
        ("a: 'x\u2028y'\n", True),
        ("a: 'x\x85y'\n", True),
    ],
)
def test_mixed_and_yaml_only_line_endings_are_detected(text: str, odd: bool) -> None:
    assert file_of(text).has_odd_breaks is odd


def test_text_with_the_same_data_is_accepted() -> None:
    changed = file_of("a: 1\nb: 2\n").with_text("# why\nb: 2\na: 1\n")
    assert changed is not None
    assert changed.text == "# why\nb: 2\na: 1\n"
    assert changed.document.position(("a",)).line == 3


@pytest.mark.parametrize("text", ["a: 2\n", "a: [", ""])
def test_text_with_different_data_is_rejected(text: str) -> None:
    assert file_of("a: 1\n").with_text(text) is None


def test_text_is_read_with_line_endings_but_without_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(MARK + "a: é\r\n".encode())
    file = read_manifest_file(path, read_yaml(path), tmp_path, is_index=True)
    assert (file.text, file.is_index, file.root) == ("a: é\r\n", True, tmp_path)


@pytest.mark.parametrize("mark", [b"", MARK])
def test_written_file_preserves_mode_and_byte_order_mark(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(mark + b"old: 1\n")
    path.chmod(0o640)
    write_manifest_file(file_of("new: é\r\n", path))
    assert path.read_bytes() == mark + "new: é\r\n".encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_writing_through_a_link_replaces_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "target.yaml", tmp_path / "m.yaml"
    target.write_text("old: 1\n", encoding="utf-8")
    link.symlink_to(target)
    write_manifest_file(file_of("new: 1\n", link))
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new: 1\n"


def test_unwritable_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"m\.yaml: can't write the file: No such file"):
        write_manifest_file(file_of("a: 1\n", tmp_path / "gone.yaml"))
