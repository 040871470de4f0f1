"""Fixing files: which parts change, and which files are never touched."""

from __future__ import annotations

import shutil
from collections.abc import Container
from pathlib import Path

import pytest
import yaml

from registry.base.materials import Material
from registry.catalog.catalog import Catalog
from registry.cli import main
from registry.errors import ManifestError
from registry.lint.fixes import FIXES, FixResult, fix, pin_revisions, reordered
from registry.lint.layout import ManifestFile, ranks_of
from registry.lockfile.models import Lock, Pin
from registry.rules import RULES
from registry.yamldoc.document import DataPath
from registry.yamldoc.reader import parse_yaml
from tests.git_repository import write_files
from tests.lint import pins

ROOT = Path(__file__).parents[2]
MANIFEST = "datasets:\n  d:\n    limit: 1\n    source: {type: csv, path: x.csv}\n"
INDEX = "version: 1\ninclude: [m/*.yaml]\n"
ALIASES_GO_DOWN = {"agents.yaml"}
"""Files with an alias in one dataset's keys, whose keys can't stand in reverse."""
COMMIT = "c30699e8356da336a370243923dbaf21066bb9fe"
OTHER = "d" * 40


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a catalog with one manifest in the current folder."""
    monkeypatch.chdir(tmp_path)
    return write_files(tmp_path, {"datasets.yaml": INDEX, "m/a.yaml": MANIFEST})


def fixed(*paths: Path) -> list[FixResult]:
    return list(fix(Catalog.open(), paths))


def test_every_fixable_rule_has_a_fix() -> None:
    assert set(FIXES) == {rule.id for rule in RULES.values() if rule.fixable}


def test_schema_inside_the_catalog_is_referenced_by_path(root: Path) -> None:
    shutil.copytree(ROOT / "schemas", root / "schemas")
    fixed()
    for name, schema in {
        "datasets.yaml": "schemas/index.schema.json",
        "m/a.yaml": "../schemas/manifest.schema.json",
    }.items():
        first = (root / name).read_text(encoding="utf-8").splitlines()[0]
        assert first.partition("$schema=")[2] == schema


def test_only_the_named_files_are_fixed(root: Path) -> None:
    assert [one.file for one in fixed(Path("m"))] == ["m/a.yaml"]
    assert (root / "datasets.yaml").read_text(encoding="utf-8") == INDEX


@pytest.mark.parametrize(
    ("arguments", "has_line", "is_ordered"),
    [
        (["--select", "schema-line"], True, False),
        (["--select", "key-order"], False, True),
        (["--select", "style"], True, True),
        (["--ignore", "key-order"], True, False),
        (["--select", "secrets"], False, False),
        ([], True, True),
    ],
)
def test_only_the_selected_rules_are_fixed(
    root: Path, arguments: list[str], has_line: bool, is_ordered: bool
) -> None:
    main(["validate", "--fix", *arguments])
    text = (root / "m" / "a.yaml").read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server") == has_line
    assert (text.index("source") < text.index("limit")) == is_ordered


def test_named_file_outside_the_catalog_is_fixed_too(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other") / "b.yaml"
    other.write_text(MANIFEST.replace("d:", "b:"), encoding="utf-8")
    (result,) = fixed(other)
    assert result.done == ("added the schema line", "put the keys of $.datasets.b in order")


@pytest.mark.parametrize("broken", ["datasets: [\n", "datasets: {d: {bogus: 1}}\n"])
def test_invalid_file_is_not_changed(root: Path, broken: str) -> None:
    (root / "m" / "a.yaml").write_text(broken, encoding="utf-8")
    assert [one.file for one in fixed()] == ["datasets.yaml"]
    assert (root / "m" / "a.yaml").read_text(encoding="utf-8") == broken


def test_files_of_other_catalogs_are_not_changed(root: Path, tmp_path: Path) -> None:
    before = (ROOT / "datasets.yaml").read_bytes()
    index = "version: 1\ninclude: [m/*.yaml, 'package:registry']\n"
    (root / "datasets.yaml").write_text(index, encoding="utf-8")
    assert {one.file for one in fixed()} == {"datasets.yaml", "m/a.yaml"}
    assert (ROOT / "datasets.yaml").read_bytes() == before


def test_built_in_catalog_cannot_be_fixed(root: Path) -> None:
    with pytest.raises(ManifestError, match="the built-in catalog is read-only"):
        list(fix(Catalog.open(ROOT)))


def reversed_keys(text: str, keys: Container[str], indent: int) -> str:
    """Return a manifest with the keys at one depth reversed, each with the lines below it."""
    out: list[str] = []
    blocks: list[list[str]] = []
    lines = [*text.splitlines(), ""]
    for number, line in enumerate(lines):
        # An empty line is as deep as the next one, as in a block of text.
        filled = next((one for one in lines[number:] if one.strip()), "")
        depth = len(filled) - len(filled.lstrip())
        word = line.strip().partition(":")[0]
        if depth == indent and word in keys:
            blocks.append([line])
        elif blocks and depth > indent:
            blocks[-1].append(line)
        else:
            out += [row for block in reversed(blocks) for row in block]
            blocks = []
            out.append(line)
    return "\n".join(out)


SHIPPED = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "registry").glob("*.yaml"))
    if path.name != "groups.yaml"
}
"""The manifests with datasets."""


def test_shipped_manifests_with_shuffled_keys_are_fixed_and_resolve_the_same(root: Path) -> None:
    write_files(root / "m", SHIPPED)
    (root / "m" / "a.yaml").unlink()
    before = dict(Catalog.open())
    mixed = dict(SHIPPED)
    for name in SHIPPED.keys() - ALIASES_GO_DOWN:
        once = reversed_keys(SHIPPED[name], [*ranks_of(("datasets", "d"))], 4)
        mixed[name] = reversed_keys(once, [*ranks_of(())], 6)
    write_files(root / "m", {name: text.partition("\n")[2] for name, text in mixed.items()})
    results = {one.file.removeprefix("m/"): one for one in fixed(Path("m"))}
    assert results.keys() == SHIPPED.keys()
    for name, result in results.items():
        assert "added the schema line" in result.done
        assert (mixed[name] != SHIPPED[name]) == any("in order" in done for done in result.done)

    assert dict(Catalog.open()) == before
    left = [FixResult(one.file, (), one.left) for one in results.values() if one.left]
    assert fixed(Path("m")) == left


def pin(commit: str, requested: str | None = "main", path: str = "a/b") -> Pin:
    location = f"hf://datasets/{path}"
    return pins.pin(Material(location=location, requested=requested, revision=commit))


def manifest(text: str) -> ManifestFile:
    path = Path("m.yaml")
    return ManifestFile(path, text, parse_yaml(text, file="m.yaml"), path.parent)


def block(*lines: str, end: str = "\n") -> str:
    head = ["datasets:", "  d:", "    source:"]
    return end.join([*head, *(f"      {line}" for line in lines), "    limit: 1", ""])


def flow(keys: str) -> str:
    return f"datasets:\n  d: {{source: {{{keys}}}, limit: 1}}  # why\n"


HF = ("type: hf", "path: a/b")
WRITTEN = [
    (
        block(*HF, "revision: main  # moves", "split: t"),
        block(*HF, f"revision: {COMMIT}  # moves", "split: t"),
        "main",
    ),
    (
        block("type: hf", "path: 'a/b'  # there", "split: t"),
        block("type: hf", "path: 'a/b'  # there", f"revision: {COMMIT}", "split: t"),
        None,
    ),
    (
        block(*HF, "split: t", end="\r\n"),
        block(*HF, f"revision: {COMMIT}", "split: t", end="\r\n"),
        None,
    ),
    (
        flow("type: hf, path: a/b, split: ünï"),
        flow(f"type: hf, path: a/b, revision: {COMMIT}, split: ünï"),
        None,
    ),
    (
        flow("type: hf, path: a/b, revision: 'main'"),
        flow(f'type: hf, path: a/b, revision: "{"1" * 40}"'),
        "main",
    ),
]


@pytest.mark.parametrize(("before", "after", "requested"), WRITTEN)
def test_commit_is_written_and_nothing_else_changes(
    before: str, after: str, requested: str | None
) -> None:
    pinned = pin(COMMIT if COMMIT in after else "1" * 40, requested)
    file, done, left = pin_revisions(manifest(before), Lock({"d": pinned}))
    assert file.text == after
    assert file.document == parse_yaml(after, file="m.yaml")
    assert (len(done), left) == (1, [])
    assert "`registry lock d` updates the pin" in done[0]
    assert pin_revisions(file, Lock({"d": pinned})) == (file, [], []), "once is enough"


FLOATING = block("type: hf", "path: a/b", "revision: main")
IGNORED = "revision: main  # registry: ignore unpinned-revision -- meant"


@pytest.mark.parametrize(
    ("text", "pins"),
    [
        (FLOATING, {}),
        (FLOATING, {"other": pin(COMMIT)}),
        (FLOATING, {"d": pin(COMMIT, "v1")}),
        (FLOATING, {"d": pin(COMMIT, path="a/c")}),
        (block("type: hf", "path: a/b", IGNORED), {"d": pin(COMMIT)}),
        (block("type: hf", "path: a/b", f"revision: {OTHER}"), {"d": pin(COMMIT, None)}),
        (block("type: hf", "path: ./a"), {"d": pin(COMMIT, None)}),
        (block("type: csv", "path: a/b"), {"d": pin(COMMIT, None)}),
        ("datasets:\n  d: {extends: e}\n", {"d": pin(COMMIT)}),
        ("version: 1\n", {"d": pin(COMMIT)}),
    ],
)
def test_unpinned_and_ignored_revisions_are_not_changed(text: str, pins: dict[str, Pin]) -> None:
    file = manifest(text)
    assert pin_revisions(file, Lock(pins)) == (file, [], [])


def test_source_with_several_commits_is_not_changed() -> None:
    file = manifest(FLOATING)
    lock = Lock({"d": pin(COMMIT), "dependent": pin(OTHER)})
    left = ["datasets.lock pins the source of $.datasets.d.source to several commits"]
    assert pin_revisions(file, lock) == (file, [], left)


SHARED = "datasets: {d: {source: &s {type: hf, path: a/b, revision: main}}, e: {source: *s}}\n"


def test_source_with_an_alias_in_another_dataset_is_not_changed() -> None:
    file = manifest(SHARED)
    left = [f"the revision {COMMIT} can't be written into $.datasets.d.source"]
    assert pin_revisions(file, Lock({"d": pin(COMMIT)})) == (file, [], left)


RANKS = {"a": 0, "b": 1, "c": 2}


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("b: 1\na: 2\n", (), "a: 2\nb: 1\n"),
        ("b: 1\nz: 0\na: 2\n", (), "z: 0\na: 2\nb: 1\n"),
        ("# head\n\nb: 1\n# of a\na: 2\n", (), "# head\n\n# of a\na: 2\nb: 1\n"),
        ("# of b\n# too\nb:\n  - 1\n  # in b\na: 2\n", (), "a: 2\n# of b\n# too\nb:\n  - 1\n  # in b\n"),
        ("x:\n  b: [1,\n      2]\n  a: |\n    t\ny: 1\n", ("x",), "x:\n  a: |\n    t\n  b: [1,\n      2]\ny: 1\n"),
        ("x:\n  b: 1\n  a: 2\n\n# of y\ny: 1\n", ("x",), "x:\n  a: 2\n  b: 1\n\n# of y\ny: 1\n"),
        ("b: 1\na: 2", (), "a: 2\nb: 1"),
        ("b: 1\r\na: 2", (), "a: 2\r\nb: 1"),
        ("b: 1\r\na: 2\r\n", (), "a: 2\r\nb: 1\r\n"),
        ("x: {b: 1,  a: 2}  # c\n", ("x",), "x: {a: 2,  b: 1}  # c\n"),
        ("x: {b: 1,\n    a: 'é, {x}'}\n", ("x",), "x: {a: 'é, {x}',\n    b: 1}\n"),
        ("x:\n- y:\n    b: 1\n    a: 2\n", ("x", 0, "y"), "x:\n- y:\n    a: 2\n    b: 1\n"),
    ],
)  # fmt: skip
def test_keys_are_sorted_by_rank(text: str, path: DataPath, expected: str) -> None:
    found = reordered(text, path, RANKS)
    assert found == expected
    assert yaml.safe_load(found) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("x:\n- b: 1\n  a: 2\n", ("x", 0), id="a key behind a dash"),
        pytest.param("? b\n: 1\n? a\n: 2\n", (), id="a question mark before the key"),
        pytest.param("x: {b: 1, # c\n a: 2}\n", ("x",), id="a comment between braces"),
        pytest.param("y: &y {b: 1, a: 2}\nx:\n  z: *y\n", ("x", "z"), id="an alias in its place"),
        pytest.param("y: &y {b: 1}\nx: {c: *y, a: 2}\n", ("x",), id="an alias as a value"),
        pytest.param("x: 1\n", ("x",), id="no mapping"),
        pytest.param("b: &y 1\na: &y 2\n", (), id="an anchor that is defined again"),
        pytest.param("x: {}\n", ("y",), id="no such key"),
    ],
)
def test_keys_that_cannot_be_moved_as_text_are_not_reordered(text: str, path: DataPath) -> None:
    assert reordered(text, path, RANKS) is None
