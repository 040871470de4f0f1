"""The schema line: where it is found and added, and its content."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.lint.fixes.schema_comment import add_schema_line, has_schema_line, schema_reference
from registry.lint.fixes.source_file import ManifestFile
from registry.manifest.schema import read_schema
from registry.yamldoc.reader import parse_yaml

URL = read_schema("manifest")["$id"]
LINE = f"# yaml-language-server: $schema={URL}"


def file_of(text: str, **options: bool) -> ManifestFile:
    document = parse_yaml(text, file="m.yaml")
    return ManifestFile(Path("m.yaml"), text, document, Path("nowhere"), **options)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{LINE}\na: 1\n", True),
        ("#yaml-language-server:$schema=x\na: 1\n", True),
        (f"\n# First.\n{LINE}\n", True),
        (f"a: 1\n{LINE}\n", False),
        (f"a: 1  {LINE}\n", False),
        ("# yaml-language-server: $schema=\na: 1\n", False),
        ("", False),
    ],
)
def test_schema_line_is_found_among_the_comments_at_the_top(text: str, found: bool) -> None:
    assert has_schema_line(text) is found


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_added_line_comes_first_with_the_line_ending_of_the_file(end: str) -> None:
    text = f"# About it.{end}datasets: {{}}{end}"
    file, done, left = add_schema_line(file_of(text))
    assert file.text == f"{LINE}{end}{text}"
    assert (done, left) == (["added the schema line"], [])
    assert add_schema_line(file) == (file, [], [])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_url_makes_room_for_a_copy(tmp_path: Path, end: str) -> None:
    text = f"# About it.{end}{LINE}{end}datasets: {{}}{end}"
    path = tmp_path / "registry" / "m.yaml"
    file = ManifestFile(path, text, parse_yaml(text, file="m.yaml"), tmp_path)
    assert add_schema_line(file) == (file, [], [])
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "manifest.schema.json").write_text("{}", encoding="utf-8")
    changed, done, left = add_schema_line(file)
    assert changed.text == text.replace(URL, "../schemas/manifest.schema.json")
    assert (done, left) == (["the schema line names the copy in the catalog"], [])
    assert add_schema_line(changed) == (changed, [], [])


@pytest.mark.parametrize("line", [f"{LINE}x", "# yaml-language-server: $schema=other.json"])
def test_other_schema_lines_are_left(tmp_path: Path, line: str) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "manifest.schema.json").write_text("{}", encoding="utf-8")
    text = f"{line}\ndatasets: {{}}\n"
    file = ManifestFile(tmp_path / "m.yaml", text, parse_yaml(text, file="m.yaml"), tmp_path)
    assert add_schema_line(file) == (file, [], [])


def test_index_gets_the_schema_of_the_index() -> None:
    file, _, _ = add_schema_line(file_of("version: 1\n", is_index=True))
    assert read_schema("index")["$id"] in file.text


def test_line_is_added_above_a_yaml_directive() -> None:
    file, _, left = add_schema_line(file_of("%YAML 1.1\n---\ndatasets: {}\n"))
    assert file.text == f"{LINE}\n%YAML 1.1\n---\ndatasets: {{}}\n"
    assert left == []


def test_file_whose_data_would_change_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    file = file_of("datasets: {}\n")
    monkeypatch.setattr(ManifestFile, "with_text", lambda *_: None)
    left = ["the schema line can't be added above the first line"]
    assert add_schema_line(file) == (file, [], left)


def test_schema_inside_the_catalog_is_referenced_by_relative_path(tmp_path: Path) -> None:
    folder = tmp_path / "registry" / "deep"
    assert schema_reference("manifest", root=tmp_path, folder=folder) == URL
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "manifest.schema.json").write_text("{}", encoding="utf-8")
    reference = schema_reference("manifest", root=tmp_path, folder=folder)
    assert reference == "../../schemas/manifest.schema.json"
