"""Other packages add commands, formats, importers and types of sources by entry points."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from registry import extensions
from registry.errors import ExtensionError
from registry.extensions import extension
from registry.manifest import schema
from tests.cli.conftest import run
from tests.cli.invocation import Invocation, Run

__all__ = ["run"]

Install = Callable[..., None]

CODE = '''
import click
from registry.api import FileReader, FileSource, NotColumnarError, open_text
from registry.plugins.export.formats import Format
from registry.plugins.importers.models import Imported, ImportedDataset, Importer

@click.command()
def hello() -> None:
    """Greet."""
    print("hello")

class LinesSource(FileSource, frozen=True, kw_only=True, tag="lines"):
    type = "lines"
    reader = "acme:LinesReader"
    schema = {"properties": {"type": {}, "path": {"type": "string"}}, "required": ["path"],
              "additionalProperties": False}

class LinesReader(FileReader):
    def decode(self, file, *, strict=True):
        with open_text(file, "utf-8") as lines:
            for line in lines:
                yield {"q": line.strip(), "a": "1"}

    def decode_tables(self, file, wanted):
        raise NotColumnarError("lines are read one by one")

upper = Format(name="upper", suffix=".up", writer="acme:write", summary="capitals")

def write(exported, file):
    file.writelines(f"{sample.input.upper()}\\n".encode() for sample in exported.samples())

def read(file, options):
    keys = {"source": {"type": "json", "path": file.read_text().strip()}, "fields": {"input": "q"}}
    return Imported((ImportedDataset("noted", keys),))

notes = Importer(detects=lambda file: file.suffix == ".note", read=read)
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a distribution with entry points, in a folder of the path."""

    def call(name: str = "acme", code: str = CODE, **points: dict[str, str]) -> None:
        folder = tmp_path / "installed"
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [
            line
            for kind, rows in points.items()
            for line in (f"[eval_registry.{kind}]", *(f"{key} = {to}" for key, to in rows.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines))
        (folder / f"{name}.py").write_text(code)
        monkeypatch.syspath_prepend(folder)
        forget()

    yield call
    forget()
    sys.modules.pop("acme", None)


def forget() -> None:
    """Forget what this process knows of installed packages, which don't change while it runs."""
    extensions.extension_points.cache_clear()
    schema._validator.cache_clear()
    schema._schemas.cache_clear()


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "rows.jsonl").write_text('{"q": "one", "a": "1"}\n')
    source = {"type": "json", "path": "rows.jsonl"}
    dataset = {"description": "Rows.", "source": source, "fields": {"input": "q", "target": "a"}}
    (folder / "datasets.yaml").write_text(json.dumps({"version": 1, "datasets": {"rows": dataset}}))
    monkeypatch.chdir(folder)
    return folder


def test_command_is_listed_and_run_and_replaces_none_of_ours(install: Install, run: Run) -> None:
    install(commands={"hello": "acme:hello", "list": "acme:hello"})
    assert "Other packages:\n  hello" in run("--help").out
    assert run("hello") == Invocation(0, "hello\n", "")
    wrong = run("helo")
    assert (wrong.code, "did you mean 'hello'?" in wrong.err) == (2, True)
    assert "List the datasets" in run("list", "--help").out


@pytest.mark.parametrize(
    "arguments", [["--format", "upper", "--out", "rows.txt"], ["--out", "r.up"]]
)
def test_format_is_chosen_by_name_and_by_suffix(
    install: Install, catalog: Path, run: Run, arguments: list[str]
) -> None:
    install(exporters={"upper": "acme:upper"})
    assert run("export", "rows", *arguments).code == 0
    assert (catalog / arguments[-1]).read_text() == "ONE\n"
    wrong = run("export", "rows", "--out", "x", "--format", "uper")
    assert (wrong.code, "no format 'uper' (did you mean 'upper'?)" in wrong.err) == (2, True)


def test_importer_reads_what_ours_does_not_know(install: Install, catalog: Path, run: Run) -> None:
    (catalog / "a.note").write_text("rows.jsonl\n")
    install(importers={"notes": "acme:notes"})
    for arguments in ([], ["--from", "notes"]):
        assert "noted:" in run("import", "a.note", *arguments).out
    wrong = run("import", "a.note", "--from", "note")
    assert (wrong.code, "did you mean 'notes'?" in wrong.err) == (2, True)


def test_type_of_source_is_validated_and_read(install: Install, catalog: Path, run: Run) -> None:
    (catalog / "rows.txt").write_text("first line\nsecond line\n")
    index = (catalog / "datasets.yaml").read_text().replace('"rows.jsonl"', '"rows.txt"')
    (catalog / "datasets.yaml").write_text(index.replace('"json"', '"lines"'))
    install(sources={"lines": "acme:LinesSource"})
    assert '"first line"' in run("preview", "rows", "--json").out
    (catalog / "datasets.yaml").write_text(
        index.replace('"type": "json"', '"type": "lines", "x": 1')
    )
    invalid = run("validate")
    assert (invalid.code, "unknown key 'x'" in invalid.out) == (1, True)


def test_plugin_that_can_not_be_imported_is_named(
    install: Install, catalog: Path, run: Run
) -> None:
    install(code="import nowhere_at_all", exporters={"upper": "acme:upper"})
    with pytest.raises(ExtensionError, match=r"plugin 'upper' of acme 1\.0 can't be imported"):
        extension("exporters", "upper")
    failed = run("export", "rows", "--out", "x", "--format", "upper")
    assert (failed.code, "No module named 'nowhere_at_all'" in failed.err) == (1, True)
    # Another format is found without it.
    assert run("export", "rows", "--out", "x.jsonl").code == 0
    out = run("doctor", "--offline").out
    assert "warn  plugin" in out
    assert "upper" in out


def test_wrong_kind_of_object_is_an_error(install: Install, run: Run) -> None:
    install(exporters={"upper": "acme:notes"}, commands={"hello": "acme:upper"})
    assert run("export", "demo-mcq", "--out", "x", "--format", "upper").code == 1
    assert run("hello") == Invocation(1, "", "error: the plugin 'hello' is no click.Command\n")


def test_name_of_two_packages_is_of_neither(install: Install, catalog: Path, run: Run) -> None:
    both = {"exporters": {"upper": "acme:upper"}, "importers": {"notes": "acme:notes"}}
    install("acme", commands={"hello": "acme:hello"}, **both)
    install("other", commands={"hello": "acme:hello"}, **both)
    assert "hello" not in run("--help").out
    for name, *arguments in (
        ("hello", "hello"),
        ("upper", "export", "rows", "--out", "x", "--format", "upper"),
        ("notes", "import", "x", "--from", "notes"),
    ):
        refused = run(*arguments)
        assert (refused.code, refused.err.count("acme 1.0"), refused.err.count("other 1.0")) == (
            1,
            *(1, 1),
        )
        assert f"error: the plugin '{name}' of " in refused.err
    assert run("doctor", "--offline").out.count("nobody can tell which one is meant") == 3
