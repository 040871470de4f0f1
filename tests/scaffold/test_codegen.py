"""The Python call of a loader that is equivalent to a dataset."""

from __future__ import annotations

import pytest

from registry.catalog.catalog import Catalog
from registry.scaffold.codegen import loader_call
from tests.conftest import CatalogRoot, permit


def call(catalog_root: CatalogRoot, text: str) -> str:
    """Return the call for a dataset `d`, given in YAML's flow style."""
    root = catalog_root({"d": f"datasets:\n  d: {text}\n"})
    permit(root, secrets={"QA_KEY": ["s3.amazonaws.com"]})
    return loader_call(Catalog.open(root)["d"])


CSV = "source: {type: csv, path: 'https://example.org/x.csv'}"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("{type: csv, path: 'https://h/x.csv'}", "csv_file='https://h/x.csv'"),
        ("{type: json, path: 'https://h/x.jsonl'}", "json_file='https://h/x.jsonl'"),
        ("{type: hf, path: org/name, split: test}", "path='org/name'"),
        ("{type: parquet, path: 'https://h/x.parquet'}", "data_files=['https://h/x.parquet']"),
    ],
)
def test_each_type_of_source_has_its_loader(
    catalog_root: CatalogRoot, source: str, line: str
) -> None:
    assert line in call(catalog_root, f"{{source: {source}}}")


def test_call_is_complete_python(catalog_root: CatalogRoot) -> None:
    keys = f"{{{CSV}, fields: {{input: q, target: a}}, shuffle: true, seed: 1, limit: 2}}"
    assert (
        call(catalog_root, keys)
        == """\
from registry import FieldSpec, csv_dataset

# the loader also reads columns named sandbox, files, setup
dataset = csv_dataset(
    csv_file='https://example.org/x.csv',
    sample_fields=FieldSpec(input='q', target='a'),
    shuffle=True,
    seed=1,
    limit=2,
)"""
    )


FIELDS = {
    "{input: q, metadata: [m]}": "FieldSpec(input='q', metadata=['m'])",
    "{input: q.text}": "map_fields({",
    "{input: q, metadata: [m.n]}": "map_fields({",
    "{input: q, metadata: []}": "map_fields({",
    "{input: q, metadata: m}": "map_fields({",
    "{input: q, target: null}": "map_fields({",
    "{input: {from: q, do: [upper]}}": "map_fields({",
}


@pytest.mark.parametrize("fields", FIELDS)
def test_field_spec_is_used_for_names_of_columns_only(
    catalog_root: CatalogRoot, fields: str
) -> None:
    text = call(catalog_root, f"{{{CSV}, fields: {fields}}}")
    assert f"    sample_fields={FIELDS[fields]}" in text
    assert FIELDS[fields].partition("(")[0] in text.splitlines()[0]


@pytest.mark.parametrize(
    ("fields", "columns"),
    [
        ("{input: q}", "sandbox, files, setup"),
        ("{input: q, setup: s}", "sandbox, files"),
        ("{input: q, setup: s, files: f, sandbox: x}", ""),
        ("{input: {const: q}}", ""),
    ],
)
def test_columns_that_only_the_loader_reads_are_named(
    catalog_root: CatalogRoot, fields: str, columns: str
) -> None:
    text = call(catalog_root, f"{{{CSV}, fields: {fields}}}")
    note = f"# the loader also reads columns named {columns}\n"
    assert (note in text) if columns else ("the loader also reads" not in text)


def test_default_fields_are_omitted(catalog_root: CatalogRoot) -> None:
    assert "sample_fields" not in call(catalog_root, f"{{{CSV}}}")


def test_secrets_are_read_from_the_environment(catalog_root: CatalogRoot) -> None:
    options = "{key: {env: QA_KEY}, client_kwargs: {region_name: eu}}"
    source = f"{{type: csv, path: s3://b/x.csv, fs_options: {options}}}"
    text = call(catalog_root, f"{{source: {source}}}")
    code = "{'key': __import__('os').environ['QA_KEY'], 'client_kwargs': {'region_name': 'eu'}}"
    assert f"    fs_options={code},\n" in text


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (f"{CSV}, on_duplicate: drop", "drop samples with a repeated id"),
        (f"{CSV}, on_duplicate: suffix", "append numbers to repeated ids"),
        (f"{CSV}, where: {{value: q, equals: 1}}", "apply where of the manifest"),
        (f"{CSV}, on_duplicate: drop, auto_id: true, corrections: e.yaml", "apply corrections of"),
        (f"{CSV}, explode: q, sample: {{n: 1, seed: 0}}", "apply explode, sample of the manifest"),
        ("source: {type: csv, path: ['https://h/a.csv', 'https://h/b.csv']}", "https://h/b.csv"),
        ("source: {type: csv, path: 'https://h/a.csv', skip_rows: 2}", "first 2 rows"),
        ("source: {type: json, path: 'https://h/a.json', lines: true}", "an object per line"),
    ],
)
def test_comment_names_features_that_no_loader_has(
    catalog_root: CatalogRoot, keys: str, words: str
) -> None:
    text = call(catalog_root, f"{{{keys}}}")
    (line,) = (one for one in text.splitlines() if one.startswith("# get_dataset also does: "))
    assert words in line
