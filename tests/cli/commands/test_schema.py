"""`schema`: the schemas as they ship, for editors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from registry.manifest.schema import SCHEMAS, SchemaName
from registry.yamldoc.reader import parse_yaml
from tests.cli.invocation import Invocation, Run
from tests.conftest import REPOSITORY, CatalogRoot

PAGE = (REPOSITORY / "docs" / "how-to" / "editor.md").read_text(encoding="utf-8")
MANIFEST = """\
datasets:
  qa: {source: {type: csv, path: qa.csv}, fields: {input: q}}
"""


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_printed_byte_for_byte_without_a_catalog(
    run: Run, name: SchemaName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "datasets.yaml").write_text("broken: [", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REGISTRY_ROOT", str(tmp_path / "nowhere"))
    file = REPOSITORY / "schemas" / f"{name}.schema.json"
    assert run("schema", name) == Invocation(0, file.read_text(encoding="utf-8"), "")
    assert run("schema").json["title"] == "Dataset manifest"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("manifset", "no schema 'manifset' (did you mean 'manifest'?)"),
        ("LOCK", "no schema 'LOCK' (did you mean 'lock'?)"),
        ("zzzzzz", "no schema 'zzzzzz' (schemas: manifest, index, corrections, lock)"),
    ],
)
def test_unknown_name_is_an_error_with_a_hint(run: Run, name: str, words: str) -> None:
    result = run("schema", name)
    assert (result.code, result.out, words in result.err) == (2, "", True)


def test_printed_schema_validates_documents_alone(run: Run) -> None:
    """Check as an editor does, which knows no more than the files that were written."""
    schemas = {name: run("schema", name).json for name in SCHEMAS}
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in schemas.values()
    )
    index = Draft202012Validator(schemas["index"], registry=registry)
    document = {"version": 1, **parse_yaml(MANIFEST, file="m.yaml").value}
    assert index.is_valid(document)
    document["datasets"]["qa"]["bogus"] = 1
    (error,) = index.iter_errors(document)
    assert list(error.absolute_path) == ["datasets", "qa"]


def test_fix_names_the_copies_that_init_writes(
    run: Run, catalog_root: CatalogRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = catalog_root({"qa": MANIFEST})
    (root / "qa.csv").write_text("q\nOne?\n", encoding="utf-8")
    monkeypatch.chdir(root)
    assert run("init").code == 0
    assert "registry validate --fix --select schema-line\n" in PAGE
    assert run("validate", "--fix", "--select", "schema-line").code == 0
    copies = {"registry/qa.yaml": "../schemas/manifest", "datasets.yaml": "schemas/index"}
    for file, copy in copies.items():
        line = f"# yaml-language-server: $schema={copy}.schema.json\n"
        assert (root / file).read_text().startswith(line)


def test_settings_on_the_page_name_each_file_once() -> None:
    (text,) = re.findall(r"```json title=[^\n]*\n(.*?)```", PAGE, re.DOTALL)
    settings = json.loads(text)
    by_schema = settings["yaml.schemas"]
    assert set(by_schema) == {f"schemas/{name}.schema.json" for name in SCHEMAS}
    assert by_schema["schemas/index.schema.json"] == "datasets.yaml"
    assert by_schema["schemas/lock.schema.json"] == "datasets.lock"
    # An editor matches `registry/**/*.yaml` as glob does: also what lies deeper.
    patterns = by_schema["schemas/manifest.schema.json"]
    assert list(REPOSITORY.glob(patterns)), "no manifest of this repository is matched"
    assert settings["files.associations"] == {"datasets.lock": "yaml"}
