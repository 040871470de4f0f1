"""Reading an index and its includes: entries in order, and problems with their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry import ManifestError
from registry.base.local_files import FileState
from registry.catalog.catalog import read_uncached
from registry.catalog.reader import CatalogReader, ParsedFile, parse_file
from registry.manifest.merge import index_defaults
from registry.yamldoc.reader import ParsedText, parse_yaml

if TYPE_CHECKING:
    from registry.manifest.schema import SchemaName

SOURCE = "source: {type: csv, path: x.csv}"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "datasets.yaml", "version: 1\ninclude: [m/*.yaml]\ntrust: ['pkg:f']\n")
    write(tmp_path / "m/a.yaml", f"datasets:\n  one: {{{SOURCE}}}\n  two: {{{SOURCE}}}\n")
    write(tmp_path / "m/b.yaml", f"datasets:\n  three: {{{SOURCE}}}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def read(index: Path) -> CatalogReader:
    reader = CatalogReader(read_uncached)
    reader.read_index(index)
    reader.finish()
    return reader


def problems_of(reader: CatalogReader) -> list[str]:
    return [str(problem.displayed(str)) for problem in reader.problems]


def test_datasets_are_in_the_order_of_the_files(root: Path) -> None:
    reader = read(root / "datasets.yaml")
    assert list(reader.entries) == ["one", "two", "three"]
    assert reader.entries["three"].folder == root
    assert reader.permissions == {root / "datasets.yaml": {"trust": ["pkg:f"]}}
    assert [index.path for index in reader.indexes] == [str(root / "datasets.yaml")]
    assert reader.problems == []


def test_existing_names_cannot_be_reused(root: Path) -> None:
    known = read(root / "datasets.yaml").entries
    reader = CatalogReader(read_uncached, known)
    document = parse_yaml(f"datasets:\n  one: {{{SOURCE}}}\n  new: {{{SOURCE}}}\n", file="n.yaml")
    defaults = index_defaults(parse_yaml("version: 1\n", file="datasets.yaml"))
    reader.add_manifest(parse_file(ParsedText(document), "manifest"), root, defaults)
    reader.finish()
    assert list(reader.entries) == ["one", "two", "three", "new"]
    assert "new" not in known
    assert problems_of(reader) == [
        "n.yaml:2:3 $.datasets.one: the name 'one' is already in use (by m/a.yaml:2)"
    ]


def test_file_is_read_once_under_different_paths(root: Path) -> None:
    (root / "link").symlink_to(root / "m")
    (root / "m/c.yaml").symlink_to(root / "m/a.yaml")
    patterns = "[m/*.yaml, ./m/a.yaml, m/../m/b.yaml, link/*.yaml]"
    write(root / "datasets.yaml", f"version: 1\ninclude: {patterns}\n")
    files: list[str] = []

    def counted(path: Path, schema: SchemaName, state: FileState) -> ParsedFile:
        files.append(path.name)
        return read_uncached(path, schema, state)

    reader = CatalogReader(counted)
    reader.read_index(root / "datasets.yaml")
    assert files == ["datasets.yaml", "a.yaml", "b.yaml"]
    assert reader.problems == []


def test_first_manifest_that_leads_out_of_the_catalog_is_named(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "x.yaml"
    write(outside, "datasets: {}\n")
    for name in ("y", "z"):
        (root / "m" / f"{name}.yaml").symlink_to(outside)
    (problem,) = problems_of(read(root / "datasets.yaml"))
    assert f"/m/y.yaml' leads to {outside}, which is outside the catalog's folder" in problem


def test_a_catalog_has_at_most_five_datasets_for_each_manifest_that_it_may_have(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_MAX_MANIFESTS", "3")
    names = "".join(f"  d{number}: {{{SOURCE}}}\n" for number in range(16))
    write(root / "m/a.yaml", f"datasets:\n{names}")
    reader = read(root / "datasets.yaml")
    assert "three" not in reader.entries
    (problem,) = problems_of(reader)
    assert "is not read to the end: the catalog has more than 15 datasets" in problem


def test_invalid_index_is_an_error_and_has_a_state(root: Path) -> None:
    write(root / "datasets.yaml", "version: 2\n")
    reader = CatalogReader(read_uncached)
    with pytest.raises(ManifestError, match=r"datasets\.yaml:1:1 \$\.version: must be 1, is 2"):
        reader.read_index(root / "datasets.yaml")
    assert [index.state for index in reader.indexes] == [FileState.of(root / "datasets.yaml")]
