"""The manifest digest in a pin is the same on every machine and contains no secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from registry.base.locations import Location
from registry.catalog.catalog import Catalog
from registry.lockfile.spec_digest import location_in, portable, requested_location, spec_digest
from registry.manifest.models import DatasetSpec
from registry.manifest.source_models import FileSource

MANIFEST = """\
version: 1
datasets:
  qa:
    description: Questions.
    source: {{type: csv, path: [data/a.csv, "s3://bucket/*.csv"]}}
    {extra}
"""

FOLDER = Path("/home/me/catalog")


def spec_at(folder: Path, extra: str = "limit: 5") -> DatasetSpec:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "datasets.yaml").write_text(MANIFEST.format(extra=extra), encoding="utf-8")
    return Catalog.open(folder)["qa"]


def test_digest_does_not_depend_on_the_manifest_location(tmp_path: Path) -> None:
    assert spec_digest(spec_at(tmp_path / "a")) == spec_digest(spec_at(tmp_path / "b" / "c"))


@pytest.mark.parametrize(
    "extra",
    [
        "license: mit\n    limit: 5",
        "tags: [a]\n    limit: 5",
        "homepage: https://a.b\n    limit: 5",
        "expect: {samples: 5}\n    limit: 5",
        "eval: {scorer: match}\n    limit: 5",
        "limit: 5\n    shuffle: false",
        "limit: 5\n    on_duplicate: error",
    ],
)
def test_documentation_and_defaults_do_not_change_the_digest(tmp_path: Path, extra: str) -> None:
    assert spec_digest(spec_at(tmp_path, extra)) == spec_digest(spec_at(tmp_path))


def test_whether_unused_rows_of_a_lookup_are_an_error_does_not_change_the_digest(
    tmp_path: Path,
) -> None:
    join = "join: {{source: {{type: csv, path: x.csv}}, on: a, into: b, strict: {}}}"
    strict, lenient = (spec_at(tmp_path, join.format(one)) for one in ("true", "false"))
    assert spec_digest(strict) == spec_digest(lenient)


def test_a_mirror_does_not_change_the_digest(tmp_path: Path) -> None:
    spec = spec_at(tmp_path)
    assert isinstance(spec.source, FileSource)
    source = replace(spec.source, mirrors=("https://a.b/", "/copies/"))
    assert spec_digest(replace(spec, source=source)) == spec_digest(spec)


@pytest.mark.parametrize(
    "extra",
    [
        "limit: 6",
        "limit: 5\n    shuffle: true\n    seed: 1",
        "limit: 5\n    shuffle: true\n    seed: 2",
        "limit: 5\n    shuffle_choices: 1",
        "limit: 5\n    auto_id: true",
        "limit: 5\n    fields: {target: null}",
        "limit: 5\n    fields: {target: a}",
        "limit: 5\n    fields: {target: {object: {b: b, a: a}}}",
        "limit: 5\n    where: {value: a, equals: x}",
        "limit: 5\n    concat: [{path: x.csv}]",
        "limit: 5\n    join: {source: {type: csv, path: x.csv}, on: a, into: b}",
        "limit: 5\n    join: {source: {type: json, path: x.csv}, on: a, into: b}",
        "limit: 5\n    join: {source: {type: csv, path: y.csv}, on: a, into: b}",
    ],
)
def test_changes_that_affect_samples_change_the_digest(tmp_path: Path, extra: str) -> None:
    seen = {
        spec_digest(spec_at(tmp_path)),
        spec_digest(spec_at(tmp_path, "limit: 5\n    explode: a")),
        spec_digest(spec_at(tmp_path, "limit: 5\n    fields: {target: {object: {a: a, b: b}}}")),
    }
    assert spec_digest(spec_at(tmp_path, extra)) not in seen


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("/home/me/catalog/data/a.csv", "data/a.csv"),
        ("/home/me/shared/a.csv", "../shared/a.csv"),
        ("/mnt/a.csv", "/mnt/a.csv"),
        ("s3://bucket/a.csv", "s3://bucket/a.csv"),
        ("hf://datasets/a/b/c.csv", "hf://datasets/a/b/c.csv"),
    ],
)
def test_locations_are_as_portable_as_the_manifest(location: str, name: str) -> None:
    found = [named(Location(location), FOLDER) for named in (portable, requested_location)]
    assert found == [name, name]
    assert location_in(FOLDER, name) == location


def test_source_names_do_not_contain_url_secrets() -> None:
    url = "https://user:word@host/a.csv?sig=SECRET"
    assert portable(Location(url), FOLDER) == "https://host/a.csv?…"
    requested, query, word = (
        requested_location(Location(one), FOLDER)
        for one in (url, url + "2", url.replace("word", "other"))
    )
    assert requested.startswith("sha256:")
    assert query != requested == word


def test_built_in_catalog_data_has_a_distinct_name(tmp_path: Path) -> None:
    shipped = str(Path(__file__).parents[2] / "registry" / "data" / "demo-mcq.csv")
    name = portable(Location(shipped), tmp_path)
    assert name == "package:registry/registry/data/demo-mcq.csv"
    assert location_in(tmp_path, name) == shipped
