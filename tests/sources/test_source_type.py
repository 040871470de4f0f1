"""A new type of source is a model with its row, a reader and a definition in the schema.

The type `lines` (a text file, one record per line) is defined here and used through the real entry
points. A branch on the type of a source anywhere in the package makes this fail.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest

from registry import get_dataset, sources
from registry.cache.cache import Cache
from registry.decode.frame import Frame, NotColumnarError, Wanted
from registry.decode.stream import SourceBytes
from registry.errors import MappingError, SourceError
from registry.manifest import schema, source_models, validation
from registry.manifest.resolve import spec_of_source
from registry.manifest.source_models import CsvSource, FileSource, HfSource
from registry.sources import files
from registry.sources.hub.source import HubReader
from registry.sources.source_type import SourceType, reader_of, records_of
from tests.cli.conftest import run
from tests.cli.invocation import Run

__all__ = ["run"]
from tests.sources.conftest import context_of

# --- The new type: model and reader ---


class LinesSource(FileSource, frozen=True, kw_only=True, tag="lines"):
    """Text files: a record with the column `line` for each line."""

    type = "lines"
    reader = f"{__name__}:LinesReader"
    suffixes = (".txt",)

    comment: str | None = None
    """Lines that start with this are left out."""


class LinesReader(files.FileReader):
    """Pins and fetches as for all files."""

    def __init__(self, source: LinesSource) -> None:
        super().__init__(source)
        self._comment = source.comment

    def decode(self, file: SourceBytes, *, strict: bool = True) -> Iterator[dict[str, Any]]:
        """Yield a record for each line."""
        with file.open() as opened:
            for line in opened.read().decode().splitlines():
                if self._comment is None or not line.startswith(self._comment):
                    yield {"line": line}

    def decode_tables(self, file: SourceBytes, wanted: Wanted) -> Generator[Frame]:
        """Leave all records to `decode`."""
        raise NotColumnarError("lines are read one by one")


DEFINITION = {
    "description": "Text files.",
    "additionalProperties": False,
    "properties": {
        "type": {"description": "Lines of text.", "const": "lines"},
        "columns": {"$ref": "#/$defs/columns"},
        "path": {"$ref": "#/$defs/path"},
        "fs_options": {"$ref": "#/$defs/fs_options"},
        "comment": {"description": "Lines to leave out.", "type": ["string", "null"]},
    },
}


@pytest.fixture(autouse=True)
def lines_type(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the type: a row of the table, and a definition in the schema of manifests."""
    monkeypatch.setitem(source_models.SOURCE_TYPES, "lines", LinesSource)
    shipped = schema.schema_text

    def text(name: Literal["index", "lock", "manifest"]) -> str:
        whole = json.loads(shipped(name))
        if name == "manifest":
            definitions = whole["$defs"]
            definitions["linesSource"] = DEFINITION
            definitions["source"]["properties"]["type"]["enum"].append("lines")
            condition = {"properties": {"type": {"const": "lines"}}, "required": ["type"]}
            definition = {"$ref": "#/$defs/linesSource"}
            definitions["source"]["allOf"].append({"if": condition, "then": definition})
        return json.dumps(whole)

    monkeypatch.setattr(schema, "schema_text", text)
    forget(schema, validation)
    yield
    monkeypatch.undo()
    forget(schema, validation)


def forget(*modules: ModuleType) -> None:
    """Clear what modules have compiled of the schemas."""
    for module in modules:
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


# --- Its life, through the real entry points ---

MANIFEST = """\
version: 1
datasets:
  sayings:
    description: Sayings.
    license: mit
    source: {type: lines, path: data/*.txt, comment: "#"}
    fields: {input: line, target: {const: yes}}
  more: {extends: sayings, source: {columns: {lang: en}}, fields: {metadata: [lang]}}
  both:
    description: Both.
    license: mit
    source: {type: lines, path: data/a.txt}
    concat: [{}, {path: data/b.txt}]
    fields: {input: line, target: {const: yes}}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return catalog(tmp_path / "head")


def catalog(folder: Path, manifest: str = MANIFEST, **texts: str) -> Path:
    (folder / "data").mkdir(parents=True)
    for name, text in {"a": "one\n# two\nthree\n", "b": "four\n", **texts}.items():
        (folder / "data" / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / "datasets.yaml").write_text(manifest, encoding="utf-8")
    return folder


def inputs(name: str, root: Path, **arguments: Any) -> list[str]:
    return [str(sample.input) for sample in get_dataset(name, root=root, **arguments)]


def test_a_valid_manifest_has_no_problems_and_a_wrong_key_is_reported_at_its_line(
    run: Run, root: Path, tmp_path: Path
) -> None:
    done = run("validate", "--strict", "--root", str(root))
    assert done.code == 0, done.out + done.err
    wrong = MANIFEST.replace('comment: "#"', "coment: 1")
    done = run("validate", "--root", str(catalog(tmp_path / "wrong", wrong)))
    assert done.code == 1
    assert "datasets.yaml:6:" in done.out + done.err
    assert "unknown key 'coment' (did you mean 'comment'?)" in done.out + done.err


def test_it_is_locked_synced_and_opened_cold_and_warm(run: Run, root: Path) -> None:
    done = run("lock", "--root", str(root))
    assert done.code == 0, done.out + done.err
    pinned = (root / "datasets.lock").read_text(encoding="utf-8")
    assert "data/a.txt" in pinned
    assert str(root) not in pinned
    assert run("sync", "--locked", "--root", str(root)).code == 0
    assert run("lock", "--check", "--root", str(root)).code == 0
    for _ in range(2):
        assert inputs("sayings", root, locked=True, offline=True) == ["one", "three", "four"]
    assert inputs("more", root, locked=True) == ["one", "three", "four"]
    assert inputs("both", root, frozen=True) == ["one", "# two", "three", "four"]


def test_a_changed_file_is_an_error_with_a_pin_and_rebuilt_without(run: Run, root: Path) -> None:
    assert inputs("sayings", root) == ["one", "three", "four"]
    assert run("lock", "--root", str(root)).code == 0
    (root / "data" / "b.txt").write_text("five\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"b\.txt"):
        inputs("sayings", root)
    (root / "datasets.lock").unlink()
    assert inputs("sayings", root) == ["one", "three", "five"]


def test_views_overrides_and_errors_are_those_of_any_file(
    run: Run, root: Path, tmp_path: Path
) -> None:
    assert inputs("sayings", root, limit=1) == ["one"]
    assert sorted(inputs("sayings", root, shuffle=True, seed=3)) == ["four", "one", "three"]
    (root / "other.txt").write_text("six\n", encoding="utf-8")
    assert inputs("sayings", root, source=str(root / "other.txt")) == ["six"]
    wrong = MANIFEST.replace("{const: yes}", "{from: line, do: [int]}")
    with pytest.raises(MappingError, match="record 1"):
        inputs("both", catalog(tmp_path / "x", wrong))
    done = run("show", "sayings", "--call", "--root", str(root))
    assert done.code == 0, done.out + done.err
    assert "no loader reads the type lines" in done.out + done.err


def test_diff_compares_two_states_of_it(run: Run, root: Path, tmp_path: Path) -> None:
    base = catalog(tmp_path / "base", b="before\n")
    done = run("diff", "--build", str(base), str(root))
    assert done.code == 1
    assert "data/b.txt" in done.out + done.err
    assert "before" in done.out + done.err
    assert "four" in done.out + done.err
    assert run("diff", str(root), str(root)).code == 0


# --- The table and the protocol ---


def test_every_row_has_a_reader_that_implements_the_protocol() -> None:
    readers: list[SourceType] = [  # mypy holds these to the protocol
        files.FileReader(CsvSource(path=("x",))),
        HubReader(HfSource(path="a/b", split="test")),
        LinesReader(LinesSource(path=("x",))),
    ]
    found = {type(reader_of(model(path=("x",), **{"split": "s"} if name == "hf" else {}))) for name, model in source_models.SOURCE_TYPES.items()}  # type: ignore[call-arg]  # fmt: skip
    assert found == {type(reader) for reader in readers}


def test_the_package_exports_no_name_that_hides_its_module() -> None:
    # `import registry.sources.pin as m` gave a function when a module had that name.
    names = [module.name for module in pkgutil.iter_modules(sources.__path__)]
    for name in names:
        importlib.import_module(f"registry.sources.{name}")
    assert [name for name in names if not isinstance(vars(sources)[name], ModuleType)] == []


def test_records_are_read_file_by_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"input": name}), encoding="utf-8")
    source = spec_of_source({"type": "json", "path": ["a.jsonl", "b.jsonl"]}, tmp_path)
    context = context_of(Cache(tmp_path / "cache"))
    records = records_of(source, reader_of(source).pin(context), context)
    assert list(records) == [{"input": "a"}, {"input": "b"}]
