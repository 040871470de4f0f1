"""Every door gives the same samples of a dataset, or the same refusal, and says the same of it.

A door is a way to open a dataset: a function, a command, a page, a URL or a task of Inspect.
"""

from __future__ import annotations

import html
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fsspec
import pytest

from registry import get_dataset
from registry.catalog.catalog import Catalog
from registry.cli import main
from registry.errors import (
    DatasetNotFoundError,
    DeprecatedNameWarning,
    LockStaleError,
    ManifestError,
    MappingError,
    RegistryError,
    SourceError,
)
from registry.plugins.browse.live_catalog import LiveCatalog
from registry.settings import Settings
from tests.cli.conftest import run
from tests.cli.invocation import Run, verbs

__all__ = ["run"]

INDEX = "version: 1\ninclude: [m/*.yaml]\ntrust: ['nowhere:one']\n"
MANIFEST = """\
datasets:
  plain:
    description: Questions.
    license: cc-by-nc-4.0
    source: {type: csv, path: test.csv}
    fields: {input: q, target: a, id: id, metadata: [s]}
    eval: {scorer: includes}
  split:
    extends: plain
    splits: {test: {path: test.csv}, dev: {path: dev.csv}}
    default_split: test
    fewshot: {split: dev, n: 2}
  always: {extends: split, fewshot: {apply: true}}
  fixed: {extends: plain, corrections: errata.yaml}
  part: {extends: plain, sample: {n: 3, seed: 1}}
  where: {extends: plain, where: {value: s, equals: a}}
  view: {extends: plain, shuffle: true, seed: 3, limit: 3}
  stale: {extends: plain, limit: 4}
  old: {extends: plain, deprecated: {since: 2026-01-01, use: plain, reason: Short}}
  was: {renamed_to: plain}
groups:
  by: {from: plain, by: s, values: [a, b]}
  splits: {from: split, by: s, values: [a, b]}
  late: {from: old, by: s, values: [a, b]}
"""
REFUSED = """\
datasets:
  new: {extends: plain, limit: 5}
  gone: {extends: plain, source: {path: gone.csv}}
  unread: {extends: plain, fields: {input: nope}}
  code: {source: {type: csv, path: test.csv}, mapper: 'mappers:one'}
  package: {source: {type: csv, path: test.csv}, mapper: 'nowhere:one'}
"""
ERRATA = "corrections: [{id: test2, field: target, was: '2', now: '99', reason: Wrong.}]\n"
DEPRECATED = "'old' is deprecated since 2026-01-01: Short (use 'plain')"
NOTICES = {
    "was": "'was' is called 'plain' now (use that name)",
    "old": DEPRECATED,
    "late/a": DEPRECATED,
}
"""Name → what is said of it on the way."""
SAMPLES: list[tuple[str, dict[str, Any], str]] = [
    ("plain", {}, "plain verified 1-A"),
    ("plain", {"locked": True}, "plain verified 1-A"),
    ("plain", {"offline": True}, "plain verified 1-A"),
    ("split", {}, "split verified 1-A"),
    ("split", {"split": "dev", "locked": True}, "split:dev verified 1-A"),
    ("split:dev", {}, "split:dev verified 1-A"),
    ("split", {"fewshot": 1}, "split verified 1-A"),
    ("always", {}, "always verified 1-A"),
    ("always", {"fewshot": 0}, "always verified 1-A"),
    ("fixed", {}, "fixed verified 1-A"),
    ("fixed", {"corrections": False}, "fixed verified None"),
    ("by/a", {"locked": True}, "by/a verified 1-A"),
    ("splits/b", {"split": "dev"}, "splits/b:dev verified 1-A"),
    ("splits/b:dev", {}, "splits/b:dev verified 1-A"),
    ("part", {}, "part verified 1-A"),
    ("where", {}, "where verified 1-A"),
    ("view", {}, "view verified 1-A"),
    ("new", {}, "new floating None"),
    ("stale", {}, "stale floating None"),
    ("stale", {"frozen": True}, "stale floating None"),
    ("was", {}, "plain verified 1-A"),
    ("old", {}, "old verified 1-A"),
    ("late/a", {}, "late/a verified 1-A"),
]
"""Name, arguments, and what its provenance says."""
ERRORS: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("nope", {}, DatasetNotFoundError, "no dataset 'nope' in "),
    ("by/c", {}, DatasetNotFoundError, "no member 'c' in the group by"),
    ("split", {"split": "dve"}, DatasetNotFoundError, "split has no split 'dve' (did you mean 'd"),
    ("gone", {}, SourceError, "gone.csv: no such file"),
    ("unread", {}, ManifestError, "m/z.yaml:4:37 $.datasets.unread.fields.input: no column 'no"),
    ("code", {}, ManifestError, "$.datasets.code.mapper: the mapper 'mappers:one' is not trusted"),
    ("package", {}, MappingError, "can't import the mapper nowhere:one: there is no package"),
    ("new", {"locked": True}, LockStaleError, "new: datasets.lock does not pin it (`registry loc"),
    ("new", {"frozen": True}, LockStaleError, "new: datasets.lock does not pin it (`registry loc"),
    ("stale", {"locked": True}, LockStaleError, "stale: datasets.lock pins it for an older manif"),
    ("part", {"fewshot": 1}, ManifestError, "argument `fewshot`"),
]
Row = tuple[str, str, str]
"""Id, input and target of a sample."""


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a catalog, lock it, and change it after that."""
    folder = tmp_path_factory.mktemp("doors") / "catalog"
    (folder / "m").mkdir(parents=True)
    for name, count in (("test", 8), ("dev", 4)):
        rows = (f"{name}{n},{'ab'[n % 2]},{name} {n}?,{n}\n" for n in range(count))
        (folder / f"{name}.csv").write_text("".join(["id,s,q,a\n", *rows]))
    (folder / "errata.yaml").write_text(ERRATA)
    (folder / "datasets.yaml").write_text(INDEX)
    (folder / "m" / "a.yaml").write_text(MANIFEST)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGISTRY_CACHE_DIR", str(folder.with_name("cache")))
        assert main(["lock", "--root", str(folder)]) == 0
    (folder / "m" / "a.yaml").write_text(MANIFEST.replace("limit: 4", "limit: 2"))
    (folder / "m" / "z.yaml").write_text(REFUSED)
    return folder


@pytest.fixture(autouse=True)
def here(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(catalog.with_name("cache")))
    monkeypatch.chdir(catalog)
    return catalog


def row_of(data: Mapping[str, Any]) -> Row:
    """Return a sample as any door gives it, the examples before its question included."""
    turns = data["input"]
    text = turns if isinstance(turns, str) else "|".join(str(one["content"]) for one in turns)
    return data["id"], text, data["target"]


@dataclass(frozen=True)
class Answer:
    """What a door gives: samples, how many there are, where they are from, or an error."""

    code: int
    text: str
    rows: list[Row] | None = None
    count: int | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)


Door = Callable[[str, dict[str, Any], Run], Answer | None]
"""Opens a dataset as the arguments of `get_dataset` say; None if it has no such arguments."""


def by_call(name: str, given: dict[str, Any], run: Run) -> Answer:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DeprecatedNameWarning)
        try:
            found = get_dataset(name, **given)
        except RegistryError as error:
            return Answer(1, str(error))
    said = [str(one.message) for one in caught]
    rows = [row_of(one.model_dump()) for one in found]
    return Answer(0, "".join(said), rows, provenance=found.provenance.as_data())


def by_task(name: str, given: dict[str, Any], run: Run) -> Answer:
    from inspect_ai._util.error import PrerequisiteError

    from registry.inspect.task import dataset

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecatedNameWarning)
            found: Any = dataset(name, **given).dataset
    except PrerequisiteError as error:
        return Answer(1, str(error.message).replace("\\[", "["))
    rows = [row_of(one.model_dump()) for one in found]
    return Answer(0, "", rows, provenance=found.provenance.as_data())


def by_url(name: str, given: dict[str, Any], run: Run) -> Answer:
    how = {key: given[key] for key in given.keys() & {"locked", "frozen", "offline"}}
    query = "&".join(f"{key}={given[key]}".lower() for key in given.keys() - how.keys())
    path = f"{name}.jsonl{'?' if query else ''}{query}"
    system = fsspec.filesystem("registry", **how)
    try:
        rows = [row_of(json.loads(line)) for line in system.cat_file(path).splitlines()]
    except (RegistryError, FileNotFoundError) as error:
        return Answer(1, str(error))
    return Answer(0, "", rows, provenance=system.info(path)["provenance"])


def by_command(verb: str, *more: str) -> Door:
    """Return the door of a command."""

    def door(name: str, given: dict[str, Any], run: Run) -> Answer | None:
        options = {str(one.name) for one in verbs()[verb].params}
        line = [verb, name, *more]
        for key, value in given.items():
            option = "no_corrections" if key == "corrections" else key
            if option not in options and key != "split":
                return None
            line.append(f"--{option.replace('_', '-')}")
            line += [] if isinstance(value, bool) else [str(value)]
        ran = run(*line)
        text = ran.err
        if verb in ("preview", "export"):
            rows = [row_of(json.loads(one)) for one in ran.lines]
            return Answer(ran.code, text, rows)
        data = json.loads(ran.out or "{}")
        (found,) = data if isinstance(data, list) else [data]
        if verb == "show":
            return Answer(ran.code, text, provenance=found)
        return Answer(ran.code, f"{text}{found.get('error') or ''}", count=found.get("samples"))

    return door


def by_page(name: str, given: dict[str, Any], run: Run) -> Answer | None:
    """Open the page of a browser, which has no choices but the dataset."""
    if name not in Catalog.open() or not {"locked", "frozen", "offline"}.issuperset(given):
        return None
    live = LiveCatalog(Settings.from_environment(**given), build=True)
    text = html.unescape(live.dataset_page(name) or "")
    try:
        table = live.table(name)
    except RegistryError:
        return Answer(1, text)
    return Answer(0, text, count=None if table is None else table.rows)


DOORS: dict[str, Door] = {
    "get_dataset": by_call,
    "registry/dataset": by_task,
    "registry://": by_url,
    "preview": by_command("preview", "-n", "99", "--json"),
    "export": by_command("export", "--format", "jsonl", "--out", "-"),
    "show": by_command("show", "--provenance", "--json"),
    "describe": by_command("describe", "--json"),
    "sync": by_command("sync", "--json"),
    "browse": by_page,
}


@pytest.mark.parametrize(("name", "given", "state"), SAMPLES)
def test_all_doors_give_the_same_samples(
    name: str, given: dict[str, Any], state: str, run: Run
) -> None:
    expected = by_call(name, given, run)
    assert expected.rows
    found = expected.provenance
    assert f"{found['name']} {found['state']} {found.get('version')}" == state
    for door, opened in DOORS.items():
        if (one := opened(name, given, run)) is None:
            continue
        assert one.code == 0, door
        if door in ("registry/dataset", "registry://", "preview", "export"):
            assert one.rows == expected.rows, door
        # What `sync` builds for a member is the whole dataset.
        if door in ("describe", "browse") or (door == "sync" and "/" not in name):
            assert one.count == len(expected.rows), door
        if door in ("registry/dataset", "registry://", "show"):
            # An export does not depend on the commit of the catalog.
            assert {**found, **one.provenance, "digest": found["digest"]} == found, door
            assert one.provenance["state"] == found["state"], door
        if door not in ("registry/dataset", "registry://", "browse"):
            assert NOTICES.get(name, "") in one.text, door


@pytest.mark.parametrize(("name", "given", "kind", "message"), ERRORS)
def test_all_doors_give_the_same_refusal(
    name: str, given: dict[str, Any], kind: type[Exception], message: str, run: Run
) -> None:
    with pytest.raises(kind):
        get_dataset(name, **given)
    for door, opened in DOORS.items():
        if (one := opened(name, given, run)) is not None:
            # Each of several datasets is named before its error.
            assert (one.code, message in one.text) == (1, True), (door, one)
