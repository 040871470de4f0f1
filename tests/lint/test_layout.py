"""A manifest on its way through the fixes: line endings, equal data, and how it is written."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import Mock

import pytest

from registry.catalog.catalog import Catalog
from registry.errors import ManifestError
from registry.lint.fixes import add_schema_line, order_keys
from registry.lint.layout import (
    ManifestFile,
    has_schema_line,
    key_order,
    layout_files,
    ranks_of,
    read_manifest_file,
    schema_line,
    write_manifest_file,
)
from registry.manifest.schema import read_schema
from registry.manifest.source_models import CsvSource, HfSource, JsonSource, ParquetSource
from registry.rules import Finding
from registry.yamldoc.reader import DataPath, parse_yaml, read_yaml
from tests.git_repository import write_files

MARK = b"\xef\xbb\xbf"

URL = read_schema("manifest")["$id"]
LINE = f"# yaml-language-server: $schema={URL}"

ROOT = Path(__file__).parents[2]


def file_of(
    text: str, path: Path = Path("m.yaml"), root: Path = Path("nowhere"), **options: bool
) -> ManifestFile:
    return ManifestFile(path, text, parse_yaml(text, file="m.yaml"), root, **options)


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
def test_written_file_preserves_its_byte_order_mark(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(mark + b"old: 1\n")
    write_manifest_file(file_of("new: é\r\n", path))
    assert path.read_bytes() == mark + "new: é\r\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_writing_through_a_link_replaces_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "target.yaml", tmp_path / "m.yaml"
    target.write_text("old: 1\n", encoding="utf-8")
    link.symlink_to(target)
    write_manifest_file(file_of("new: 1\n", link))
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new: 1\n"


def test_unwritable_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ManifestError, match=r"m\.yaml: can't write the file: No such file"):
        write_manifest_file(file_of("a: 1\n", tmp_path / "gone.yaml"))
    refuse = Mock(side_effect=PermissionError(13, "Permission denied"))
    monkeypatch.setattr("registry.lint.layout.write_atomic", refuse)
    path = write_files(tmp_path, {"m.yaml": ""}) / "m.yaml"
    with pytest.raises(ManifestError, match=r"m\.yaml: can't write the file: Permission"):
        write_manifest_file(file_of("a: 1\n", path))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{LINE}\na: 1\n", True),
        ("#yaml-language-server:$schema=x\na: 1\n", True),
        (f"\n# First.\n{LINE}\n", True),
        (f"a: 1\n{LINE}\n", False),
        (f"a: 1  {LINE}\n", False),
        ("# yaml-language-server: $schema=\na: 1\n", False),
        ("# yaml-language-server: off\na: 1\n", False),
        ("", False),
    ],
)
def test_schema_line_is_found_among_the_comments_at_the_top(text: str, found: bool) -> None:
    assert has_schema_line(text) is found
    missing = Finding((), "no comment names the schema for editors", "`validate --fix` adds it")
    assert list(schema_line(file_of(text))) == ([] if found else [missing])


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
    path = tmp_path / "registry" / "deep" / "m.yaml"
    file = file_of(text, path, tmp_path)
    assert add_schema_line(file) == (file, [], [])
    write_files(tmp_path, {"schemas/manifest.schema.json": "{}"})
    changed, done, left = add_schema_line(file)
    assert changed.text == text.replace(URL, "../../schemas/manifest.schema.json")
    assert (done, left) == (["the schema line names the copy in the catalog"], [])
    assert add_schema_line(changed) == (changed, [], [])


@pytest.mark.parametrize("line", [f"{LINE}x", "# yaml-language-server: $schema=other.json"])
def test_other_schema_lines_are_left(tmp_path: Path, line: str) -> None:
    write_files(tmp_path, {"schemas/manifest.schema.json": "{}"})
    text = f"{line}\ndatasets: {{}}\n"
    file = file_of(text, tmp_path / "m.yaml", tmp_path)
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


def ordered(text: str) -> tuple[str, list[str]]:
    """Put the keys of a text in order; return it and the keys that could not be moved."""
    file, done, left = order_keys(file_of(text))
    again, more, still = order_keys(file)
    assert (again.text, more, still) == (file.text, [], left), "a second run changes nothing"
    assert parse_yaml(file.text, file="").value == parse_yaml(text, file="").value
    assert sorted("".join(file.text.split())) == sorted("".join(text.split())), "nothing is lost"
    assert bool(done) == (file.text != text)
    return file.text, left


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            ("datasets:\n  d:\n    source: {type: hf, path: x, split: t}\n"
            "    concat:\n      - {split: a, name: b}\n      -\n        split: c\n        name: d\n"),
            ("datasets:\n  d:\n    source: {type: hf, path: x, split: t}\n"
            "    concat:\n      - {name: b, split: a}\n      -\n        name: d\n        split: c\n"),
        ),
        (
            ("datasets:\n  d:\n    source: {type: csv, path: x}\n"
            "    join:\n      on: a\n      source:\n        path: y\n        type: csv\n      into: b\n"),
            ("datasets:\n  d:\n    source: {type: csv, path: x}\n"
            "    join:\n      on: a\n      source:\n        type: csv\n        path: y\n      into: b\n"),
        ),
        (
            "datasets:\n  a: &a {source: {type: csv, path: x}}\n  d:\n    limit: 1\n    <<: *a\n    tags: [t]\n",
            "datasets:\n  a: &a {source: {type: csv, path: x}}\n  d:\n    <<: *a\n    tags: [t]\n    limit: 1\n",
        ),
        (
            "datasets:\n  d:\n    limit: 1\n    # Last words of the limit.\n\n\n    source: {type: csv, path: x}\n    # The end of d.\n# The end.\n",
            "datasets:\n  d:\n    source: {type: csv, path: x}\n    # The end of d.\n    limit: 1\n    # Last words of the limit.\n\n\n# The end.\n",
        ),
    ],
)  # fmt: skip
def test_block_and_flow_mappings_are_put_in_order(text: str, expected: str) -> None:
    assert ordered(text) == (expected, [])


@pytest.mark.parametrize(
    "text",
    [
        # An alias must stay below its anchor.
        "datasets:\n  d:\n    limit: &n 1\n    source: {type: csv, path: x, skip_rows: *n}\n",
        # An alias has the position of its anchor.
        "datasets:\n  c: {source: &s {type: csv, path: x}}\n  d: {limit: 1, source: *s}\n",
        # Mixed line endings.
        "datasets:\n  d:\r\n    limit: 1\n    source: {type: csv, path: x}\n",
    ],
)
def test_immovable_keys_are_left_and_reported(text: str) -> None:
    changed, left = ordered(text)
    assert changed == text
    assert len(left) == 1
    assert left[0].startswith("the keys of $.datasets.d")


def test_unsorted_mapping_does_not_prevent_sorting_of_others() -> None:
    text = (
        "datasets:\n  a:\n    limit: &n 1\n    source: {type: csv, path: x, skip_rows: *n}\n"
        "  b: {limit: 1, source: {type: csv, path: x}}\n"
    )
    changed, left = ordered(text)
    assert changed.endswith("b: {source: {type: csv, path: x}, limit: 1}\n")
    assert len(left) == 1


def test_merged_keys_are_not_ordered() -> None:
    text = (
        "datasets:\n  a: &a {source: {type: csv, path: x}, limit: 1}\n"
        "  b:\n    <<: *a\n    tags: [t]\n    seed: 1\n"
    )
    assert list(key_order(file_of(text).document)) == []


# --- the order ---

DATASET: DataPath = ("datasets", "d")
SOURCE: DataPath = (*DATASET, "source")


def test_key_order_lists_every_key() -> None:
    models = (CsvSource, JsonSource, ParquetSource, HfSource)
    keys = {key for model in models for key in model.__struct_fields__}
    assert ranks_of(SOURCE).keys() == {"type", *keys}


def test_manual_lists_keys_in_this_order() -> None:
    page = (ROOT / "docs" / "reference" / "manifests.md").read_text(encoding="utf-8")
    listed = page.partition("keys of a dataset in this order: ")[2].partition("[rules.md]")[0]
    dataset, source = (re.findall("`([a-z0-9_]+)`", part) for part in listed.split("; and those"))
    assert (dataset, source) == ([*ranks_of(DATASET)], [*ranks_of(SOURCE)])


def test_first_key_out_of_order_is_reported_with_the_key_it_belongs_before() -> None:
    text = "datasets:\n  d: {limit: 1, tags: [a], license: mit, source: {path: x, type: csv}}\n"
    assert list(key_order(file_of(text).document)) == [
        Finding(("datasets", "d", "tags"), "'tags' belongs before 'limit'", "`validate --fix` moves it"),
        Finding(("datasets", "d", "source", "type"), "'type' belongs before 'path'", "`validate --fix` moves it"),
    ]  # fmt: skip


@pytest.mark.parametrize("datasets", ["[d]", "{d: 5}", "{d: {source: 5, concat: x, join: y}}"])
def test_what_is_no_mapping_has_no_order(datasets: str) -> None:
    assert list(key_order(file_of(f"datasets: {datasets}\n").document)) == []


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a catalog with one manifest in its folder and one outside; return the latter."""
    files = {
        "root/datasets.yaml": "version: 1\ninclude: [m.yaml, ../other.yaml]\npaths: [../other.yaml]\n",
        "root/m.yaml": "datasets: {d: {source: {type: csv, path: x}}}\n",
        "other.yaml": "datasets: {e: {source: {type: csv, path: x}}}\n",
    }
    write_files(tmp_path, files)
    monkeypatch.chdir(tmp_path / "root")
    return tmp_path / "other.yaml"


def names(named: tuple[Path, ...] = ()) -> list[tuple[str, bool]]:
    index = read_yaml(Path("datasets.yaml"))
    files = layout_files(Catalog.open(), index, named)
    return [(file.path.name, file.is_index) for file in files]


def test_files_outside_the_folder_of_the_index_are_left_out_unless_named(outside: Path) -> None:
    assert names() == [("datasets.yaml", True), ("m.yaml", False)]
    assert ("other.yaml", False) in names((outside,))
