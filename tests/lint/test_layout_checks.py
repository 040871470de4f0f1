"""The checks of layout, and the files that they are run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.lint.fixes.source_file import ManifestFile
from registry.lint.layout_checks import key_order, layout_files, schema_line
from registry.rules import Finding
from registry.yamldoc.reader import parse_yaml, read_yaml

LINE = "# yaml-language-server: $schema=x\n"


def file_of(text: str) -> ManifestFile:
    return ManifestFile(Path("m.yaml"), text, parse_yaml(text, file="m.yaml"), Path())


@pytest.mark.parametrize(
    ("text", "is_missing"),
    [
        (f"{LINE}a: 1\n", False),
        (f"# About it.\n\n{LINE}a: 1\n", False),
        ("a: 1\n", True),
        (f"a: 1\n{LINE}", True),
        ("# yaml-language-server: off\na: 1\n", True),
    ],
)
def test_schema_line_is_required_above_the_content(text: str, is_missing: bool) -> None:
    expected = Finding((), "no comment names the schema for editors", "`validate --fix` adds it")
    assert list(schema_line(file_of(text))) == [expected] * is_missing


def test_first_key_out_of_order_is_reported_with_the_key_it_belongs_before() -> None:
    text = "datasets:\n  d: {limit: 1, license: mit, source: {path: x, type: csv}}\n"
    assert list(key_order(file_of(text).document)) == [
        Finding(("datasets", "d", "license"), "'license' belongs before 'limit'", "`validate --fix` moves it"),
        Finding(("datasets", "d", "source", "type"), "'type' belongs before 'path'", "`validate --fix` moves it"),
    ]  # fmt: skip


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a catalog with one manifest in its folder and one outside; return the latter."""
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.chdir(root)
    files = {
        "root/datasets.yaml": "version: 1\ninclude: [m.yaml, ../other.yaml]\npaths: [../other.yaml]\n",
        "root/m.yaml": "datasets: {d: {source: {type: csv, path: x}}}\n",
        "other.yaml": "datasets: {e: {source: {type: csv, path: x}}}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "other.yaml"


def names(named: tuple[Path, ...] = ()) -> list[tuple[str, bool]]:
    index = read_yaml(Path("datasets.yaml"))
    files = layout_files(Catalog.open(), index, named)
    return [(file.path.name, file.is_index) for file in files]


def test_files_outside_the_folder_of_the_index_are_left_out(outside: Path) -> None:
    assert names() == [("datasets.yaml", True), ("m.yaml", False)]


def test_named_file_outside_the_folder_is_included(outside: Path) -> None:
    assert ("other.yaml", False) in names((outside,))
