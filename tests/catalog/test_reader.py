"""Reading an index and its includes: entries in order, and problems with their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry import ManifestError
from registry.base.local_files import FileState
from registry.catalog.catalog import read_uncached
from registry.catalog.reader import CatalogReader, LocatedProblem, ParsedFile, parse_file
from registry.errors import Problem
from registry.manifest.merge import index_defaults
from registry.yamldoc.reader import ParsedText, parse_partially, parse_yaml

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


def test_pattern_without_a_match_is_reported(root: Path) -> None:
    write(root / "datasets.yaml", "version: 1\ninclude: [m/*.yaml, n/*.yaml, 'package:no_such'] \n")
    assert problems_of(read(root / "datasets.yaml")) == [
        "datasets.yaml:2:21 $.include[1]: 'n/*.yaml' matches nothing (check the spelling)",
        "datasets.yaml:2:31 $.include[2]: 'package:no_such' matches nothing (check the spelling)",
    ]


def test_duplicate_name_is_reported_with_the_position_of_the_first(root: Path) -> None:
    write(root / "m/b.yaml", f"datasets:\n  two: {{{SOURCE}}}\n")
    reader = read(root / "datasets.yaml")
    assert problems_of(reader) == [
        "m/b.yaml:2:3 $.datasets.two: the name 'two' is already in use (by m/a.yaml:3)"
    ]
    assert reader.entries["two"].document.file == "m/a.yaml"


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


def test_invalid_index_is_an_error_and_has_a_state(root: Path) -> None:
    write(root / "datasets.yaml", "version: 2\n")
    reader = CatalogReader(read_uncached)
    with pytest.raises(ManifestError, match=r"datasets\.yaml:1:1 \$\.version: must be 1, is 2"):
        reader.read_index(root / "datasets.yaml")
    assert [index.state for index in reader.indexes] == [FileState.of(root / "datasets.yaml")]


def test_indexes_of_packages_are_read_once_and_their_problems_reported(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = "include: ['package:ring_a', 'package:ring_a', 'package:broken_c', m/*.yaml]\n"
    write(root / "datasets.yaml", f"version: 1\n{ours}")
    write(root / "lib/ring_a/__init__.py", "")
    write(root / "lib/broken_c/__init__.py", "")
    inline = f"datasets:\n  theirs: {{{SOURCE}}}\n"
    write(root / "lib/ring_a/datasets.yaml", f"version: 1\ninclude: ['package:ring_a']\n{inline}")
    write(root / "lib/broken_c/datasets.yaml", "version: 2\n")
    monkeypatch.syspath_prepend(root / "lib")
    reader = read(root / "datasets.yaml")
    assert list(reader.entries) == ["theirs", "one", "two", "three"]
    assert reader.entries["theirs"].folder == root / "lib/ring_a"
    assert problems_of(reader) == [
        "lib/broken_c/datasets.yaml:1:1 $.version: must be 1, is 2",
    ]


@pytest.mark.parametrize(
    "text", ["datasets: [", "- a\n", "datasets: 1\n", "datasets: {a: 1}\n", ""]
)
def test_file_of_the_wrong_form_is_reported_without_affecting_others(root: Path, text: str) -> None:
    write(root / "m/a.yaml", text)
    reader = read(root / "datasets.yaml")
    assert list(reader.entries) == ["three"]
    assert {problem.problem.file for problem in reader.problems} == {"m/a.yaml"}


def test_unparsable_file_has_no_document() -> None:
    parsed = parse_file(parse_partially(b"a: [", file="m.yaml"), "manifest")
    assert parsed.document is None
    assert [problem.file for problem in parsed.problems] == ["m.yaml"]


def test_problem_is_displayed_with_all_its_files() -> None:
    problem = Problem(message="taken", file="/a/b.yaml", line=1, column=1, hint="by")
    located = LocatedProblem(problem, "/a/c.yaml", 7)
    displayed = located.displayed(lambda file: file.removeprefix("/a/"))
    assert (displayed.file, displayed.hint) == ("b.yaml", "by c.yaml:7")
    assert LocatedProblem(problem).displayed(str) == problem
