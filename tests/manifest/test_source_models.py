"""The source types, and the properties that follow from their keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from registry.base.locations import Location
from registry.errors import SourceError
from registry.manifest.models import to_spec
from registry.manifest.source import Repository, Source
from registry.manifest.source_models import (
    GENERIC_BUILDERS,
    SOURCE_TYPES,
    CsvSource,
    FileSource,
    HfSource,
    JsonSource,
    ParquetSource,
    data_file_list,
    infer_source_keys,
    is_folder,
    source_model,
    to_source,
)

SHA = "a" * 40
URL = "https://u:p@host/x.csv?sig=1"
HUB = HfSource(path="owner/name", split="test")
FOLDER = HfSource(path="/data", split="test")
BUILDER = HfSource(path="json", split="t", data_files={"t": ["a.json", "https://h/b.json"]})
FILES = CsvSource(path=("/a/x.csv", "/a/y.csv"))
REMOTE = JsonSource(path=(URL, "/a/y.json"))
ALL = [HUB, FOLDER, BUILDER, FILES, REMOTE]


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (lambda one: list(one.paths()), [[], ["/data"], ["a.json", "https://h/b.json"], ["/a/x.csv", "/a/y.csv"], [URL, "/a/y.json"]]),
        (lambda one: one.is_remote, [True, False, True, False, True]),
        (lambda one: one.repository, [Repository("owner/name", None), None, None, None, None]),
        (lambda one: one.location, ["owner/name", "/data", "json", "/a/x.csv", "https://host/x.csv?…"]),
        (lambda one: one.base_location, [None, None, None, "/a/x.csv", URL]),
        (lambda one: one.rename_paths(str.upper), [{}, {"path": "/DATA"}, {"data_files": {"t": ["A.JSON", "HTTPS://H/B.JSON"]}}, {"path": ["/A/X.CSV", "/A/Y.CSV"]}, {"path": [URL.upper(), "/A/Y.JSON"]}]),
        (lambda one: one.shuffle_order, ["hub", "hub", "hub", "file", "file"]),
        (lambda one: one.is_stream, [False, False, False, True, True]),
        (lambda one: one.columns_vary, [False, False, False, False, True]),
    ],
    ids=["paths", "is_remote", "repository", "location", "base", "rename", "order", "stream", "vary"],
)  # fmt: skip
def test_source_properties_follow_from_its_keys(fact: Any, expected: list[Any]) -> None:
    assert [fact(source) for source in ALL] == expected


def test_parquet_is_shuffled_like_its_loader() -> None:
    assert ParquetSource(path=("x",)).shuffle_order == "hub"


@pytest.mark.parametrize(
    ("revision", "cached", "expected"),
    [(None, True, False), (None, False, True), ("main", False, True), (SHA, False, False)],
)
def test_only_sources_that_can_change_are_rebuilt(
    revision: str | None, cached: bool, expected: bool
) -> None:
    assert HfSource(path="a/b", split="t", revision=revision, cached=cached).builds_anew is expected
    assert not FILES.builds_anew


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"type": "hf", "path": "a/b", "revision": "main"}, Repository("a/b", "main")),
        ({"type": "hf", "path": "./a"}, None),
        ({"type": "hf", "path": ".a"}, None),
        ({"type": "hf", "path": "csv"}, None),
        ({"type": "hf", "path": 3}, None),
        ({"type": "hf"}, None),
        ({"type": "csv", "path": "a/b"}, None),
        ({"path": "a/b"}, None),
    ],
)
def test_repository_is_extracted_from_possibly_invalid_keys(
    keys: dict[str, Any], expected: Repository | None
) -> None:
    assert source_model(keys).repository_of(keys) == expected


def test_repository_name_matches_the_lockfile() -> None:
    assert Repository("owner/name", None).location == "hf://datasets/owner/name"


@pytest.mark.parametrize("path", ["owner/name", "name", *sorted(GENERIC_BUILDERS)])
def test_repository_name_is_not_a_folder(path: str) -> None:
    assert not is_folder(path)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("a/x.csv", {"type": "csv"}),
        ("x.CSV.gz", {"type": "csv"}),
        ("x.tsv", {"type": "csv", "delimiter": "\t"}),
        ("https://h/x.tab?a=b.json", {"type": "csv", "delimiter": "\t"}),
        ("x.json", {"type": "json"}),
        ("https://h/x.jsonl?sig=a.csv", {"type": "json"}),
        ("x.ndjson.zst", {"type": "json"}),
        ("s3://b/*.parquet", {"type": "parquet"}),
        ("x.txt", None),
        ("x", None),
    ],
)
def test_suffix_determines_the_source_type(location: str, expected: dict[str, Any] | None) -> None:
    assert infer_source_keys(location) == expected


@pytest.mark.parametrize(
    ("data_files", "expected"),
    [
        (None, []),
        ("a", ["a"]),
        (["a", "b"], ["a", "b"]),
        ({"t": "a", "u": ["b", "c"]}, ["a", "b", "c"]),
    ],
)
def test_data_files_are_normalized_to_one_list(data_files: Any, expected: list[str]) -> None:
    assert data_file_list(data_files) == expected


@pytest.mark.parametrize(
    ("source", "loader", "arguments", "notes"),
    [
        (CsvSource(path=("x.csv",)), "csv_dataset", {"csv_file": "x.csv", "k": 1}, []),
        (CsvSource(path=(URL,), skip_rows=2), "csv_dataset", {"csv_file": Location(URL).public, "k": 1}, ["add the query (after `?`) or user of the URL, which may be secret", "skip the first 2 rows"]),
        (CsvSource(path=("a", "b"), dialect="excel-tab", delimiter=","), "csv_dataset", {"csv_file": "a", "k": 1}, ["read 1 more path: b", "use commas: the loader reads its default delimiter as the dialect's tab"]),
        (JsonSource(path=("x.json",)), "json_dataset", {"json_file": "x.json", "k": 1}, []),
        (ParquetSource(path=("a", URL)), "hf_dataset", {"path": "parquet", "split": "train", "data_files": ["a", Location(URL).public]}, ["add the query (after `?`) or user of the URL, which may be secret"]),
        (HUB, "hf_dataset", {"path": "owner/name", "k": 1}, []),
    ],
)  # fmt: skip
def test_equivalent_loader_call_is_returned(
    source: Source, loader: str, arguments: dict[str, Any], notes: list[str]
) -> None:
    assert source.loader_call({"k": 1}) == (loader, arguments)
    assert list(source.loader_notes()) == notes


def test_type_key_selects_the_source_class() -> None:
    assert to_source(Source, {"type": "csv", "path": ["x"]}) == CsvSource(path=("x",))
    part = {"type": "hf", "path": "a/b", "split": "t"}
    spec = to_spec({"name": "d", "folder": Path(), "source": part, "concat": [part]})
    assert spec.sources == (HfSource(path="a/b", split="t"),)


@pytest.mark.parametrize(
    "keys", [{}, {"type": "cvs", "path": ["x"]}, {"type": ["csv"]}, "x.csv", None], ids=str
)
def test_keys_without_a_known_type_are_rejected(keys: Any) -> None:
    with pytest.raises(msgspec.ValidationError, match="a source with a known type"):
        to_source(Source, keys)


def test_every_type_is_listed_under_its_tag() -> None:
    assert list(SOURCE_TYPES) == ["csv", "json", "parquet", "hf"]
    for name, model in SOURCE_TYPES.items():
        config: Any = getattr(model, "__struct_config__", None)
        assert (model.type, config.tag) == (name, name)
    assert source_model({"type": "cvs"}) is FileSource


@pytest.mark.parametrize(
    ("path", "location", "columns"),
    [
        ("/c/raw/{lang}/test.jsonl", "/c/raw/de/test.jsonl", {"lang": "de"}),
        ("/c/raw/{lang}/test.jsonl", "/real/raw/de/test.jsonl", {"lang": "de"}),
        ("s3://b/{lang}-{year}.csv", "s3://b/de-2024.csv", {"lang": "de", "year": "2024"}),
        ("/c/{lang}/{lang}.csv", "/c/de/de.csv", {"lang": "de"}),
        ("/c/**/{lang}/*.c?v", "/c/a/b/de/x.csv", {"lang": "de"}),
        ("/c/{lang}.tar(1)+.csv", "/c/de.tar(1)+.csv", {"lang": "de"}),
        ("/c/{lang}.csv", "/c/sub/de.csv", {"lang": "de"}),
        ("/c/{lang}/[!a-c].csv", "/c/de/x.csv", {"lang": "de"}),
        ("/c/[a]/{lang}.csv", "/c/[a]/de.csv", {"lang": "de"}),
        ("/c/a{not a name}.csv", "/c/a{not a name}.csv", {}),
    ],
)
def test_captures_are_columns_of_a_file(path: str, location: str, columns: dict[str, str]) -> None:
    source = CsvSource(path=(path,), columns={"year": "1999"})
    assert source.of_file(location).columns == {"year": "1999"} | columns
    assert set(source.captures) == columns.keys()
    assert source.of_file(location).paths() == source.paths()


def test_a_file_for_which_names_in_braces_have_no_values_is_an_error() -> None:
    with pytest.raises(SourceError, match=r"^/c/de/en\.csv: .* written twice has one value"):
        CsvSource(path=("/c/{lang}/{lang}.csv",)).of_file("/c/de/en.csv")
    others = CsvSource(path=("/c/{lang}/{lang}.csv", "/c/x.csv"))
    assert others.of_file("/c/x.csv") == others
