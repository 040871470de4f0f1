"""`show`: a dataset fully resolved, its cache and pin, its call, and the origin of each value."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from registry import get_dataset
from registry.catalog.catalog import Catalog
from registry.cli.commands.show import comment_start, marked_yaml, without_defaults
from registry.manifest.merge import Entry, Layer
from registry.manifest.models import DatasetSpec
from registry.manifest.origins import Origin
from registry.manifest.resolve import resolve
from registry.manifest.validation import validate
from registry.yamldoc.document import paths_in
from registry.yamldoc.reader import DataPath, parse_yaml
from tests.cli.invocation import HUB, Run, write
from tests.records import parquet_bytes

DEMO = ("demo-chat", "demo-mcq", "demo-mcq-small")

OWN, PARENT = (
    Origin(key="k", value=1, layer=layer, file="m/a.yaml", line=line, dataset=dataset)
    for layer, line, dataset in (("own", 3, "d"), ("parent", 4, "p"))
)


INDEX = Origin(key="k", value=1, layer="default", file="datasets.yaml", line=12)
BUILT_IN = Origin(key="k", value=1, layer="default")
PARTS = ["::", "error", "##[x]", "##vso[", "\n", " ", "\x1b", "\u2028", "\u202e", "'", '"', "\\"]
HOSTILE = st.lists(st.sampled_from([*PARTS, "word " * 30])).map("".join)


def assert_is_manifest_of(text: str, spec: DatasetSpec) -> None:
    document = parse_yaml(text, file="show")
    assert validate(document, "manifest") == []
    entry = Entry(spec.name, document, spec.folder, Layer("default", {}))
    assert resolve(spec.name, {spec.name: entry}) == spec


@pytest.mark.parametrize("name", DEMO)
def test_output_is_a_manifest_of_the_same_dataset(run: Run, demo: Path, name: str) -> None:
    result = run("show", name)
    assert result.code == 0
    assert_is_manifest_of(result.out, Catalog.open(demo)[name])


EVERYTHING = """\
datasets:
  everything:
    source: {type: csv, path: [qa.csv, b.csv], encoding: latin-1, columns: {part: 1}}
    concat: [{skip_rows: 1}, {columns: {part: 2}}]
    join: {source: {type: json, path: side.jsonl}, on: q, into: side, missing: 'null'}
    explode: side.items
    where: {any: [{value: q, equals: 1}, {not: {value: a, empty: true}}]}
    fields:
      input: {template: "{q}{?hint} {hint}{/}"}
      target: {from: a, do: [{split: ","}, {index: -1}, strip]}
      choices: null
      id: {hash: [q], prefix: x, length: 8}
      metadata: {"*": side, kind: {if: {value: a, less: 3}, then: q}}
    on_duplicate: suffix
    sample: {n: 2, seed: 1}
    expect: {samples: 2, unique_ids: true}
    eval: {solver: [{name: system_message, args: {template: Hi}}, generate], scorer: match, epochs: 2}
    auto_id: true
    shuffle: true
    seed: 0
    shuffle_choices: 0
    limit: 0
"""


def test_every_key_of_a_manifest_is_shown(run: Run, own: Path) -> None:
    write(own, "everything", EVERYTHING)
    result = run("show", "everything")
    assert result.code == 0, result.err
    assert_is_manifest_of(result.out, Catalog.open(own)["everything"])


def test_only_what_was_written_is_shown_unless_all_is(run: Run, own: Path) -> None:
    shown = run("show", "qa-one").out
    assert "sandbox" not in shown
    assert "encoding" not in shown
    assert "description: Questions.  # from m/qa.yaml:3\n" in shown
    assert "    limit: 1\n" in shown
    everything = run("show", "qa-one", "--all").out
    assert "sandbox: null  # default\n" in everything
    assert_is_manifest_of(everything, Catalog.open(own)["qa-one"])


@pytest.mark.parametrize(
    ("old", "new", "line", "counted", "listed"),
    [
        ("", "", "verified: version 1-A", "", "1 verified"),
        ("format: 1\n", "format: 9\n", "pinned in format 9, of a newer release: version 1-A",
         "1 by a newer release", "1 with a pin of a newer release (upgrade eval-registry)"),
        ("spec: sha256:", "spec: sha256:0", "pinned for an older manifest: version 1-A",
         "1 of them for an older manifest", "1 with a stale pin (registry lock)"),
    ],
)  # fmt: skip
def test_state_of_the_pin_is_shown_listed_and_counted(
    run: Run, own: Path, old: str, new: str, line: str, counted: str, listed: str
) -> None:
    assert "# floating: not pinned (registry lock qa)" in run("show", "qa").lines
    run("lock", "qa")
    lock = own / "datasets.lock"
    text = lock.read_text(encoding="utf-8")
    assert old in text
    digest = re.compile("(?<=spec: sha256:)0[0-9a-f]{64}")
    changed = digest.sub(lambda found: found[0][:64], text.replace(old, new) if old else text)
    lock.write_text(changed, encoding="utf-8")
    assert any(one.startswith(f"# {line}") for one in run("show", "qa").lines)
    assert run("show", "qa", "--json").json["pin"]["stale"] is bool(old)
    assert counted in run("stats").out
    assert listed in run("list").err


def test_commit_of_a_manifest_is_shown(run: Run, own: Path) -> None:
    write(own, "hub", HUB.replace("split:", f"revision: {'a' * 40}, split:"))
    words = "commit: the manifest names that of its bytes (registry lock hub verifies them)"
    assert run("show", "hub").lines[-2] == f"# {words}"
    run("lock", "hub", "--offline")
    assert run("show", "hub").lines[-2] == f"# {words}"
    write(own, "hub", HUB.replace("split:", f"revision: {'b' * 40}, split:"))
    words = "pinned at the commit of an older manifest (`registry lock --offline hub` updates it)"
    assert run("show", "hub").lines[-2] == f"# {words}"


def test_last_line_shows_whether_samples_are_cached(run: Run, own: Path, cache_dir: Path) -> None:
    assert run("show", "qa").lines[-1] == "# not cached (registry sync qa)"
    assert run("show", "qa", "--json").json["cache"] is None
    run("sync", "qa")
    last = run("show", "qa").lines[-1]
    assert last.startswith("# cached: 3 samples, ")
    assert str(cache_dir) in last
    cache = run("show", "qa-one", "--json").json["cache"]
    assert cache["samples"] == 3
    assert Path(cache["folder"]).is_relative_to(cache_dir)


def test_json_has_spec_cache_and_pin(run: Run, own: Path) -> None:
    shown = run("show", "qa-one", "--json").json
    assert set(shown) == {"name", "spec", "cache", "pin", "state"}
    assert shown["spec"]["limit"] == 1
    assert shown["spec"]["source"]["path"] == [str(own / "qa.csv")]


def executed(code: str) -> Any:
    assert "# get_dataset also does: " not in code, "it names what no loader can do"
    names: dict[str, Any] = {}
    exec(code, names)
    return names["dataset"]


@pytest.mark.parametrize("name", DEMO)
def test_call_returns_the_same_samples(run: Run, demo: Path, name: str) -> None:
    result = run("show", name, "--call")
    assert result.code == 0
    dataset = executed(result.out)
    assert list(dataset) == list(get_dataset(name))
    assert len(dataset) > 0


CSV = "source: {type: csv, path: qa.csv, "
JSON = "source: {type: json, path: d.json}, "
CALLS = {
    "fields of the language": f"{JSON}fields: {{input: {{from: q, do: [upper]}}, target: a, id: {{hash: [q]}}}}",
    "a field without a value": f"{JSON}fields: {{input: q, target: null, id: a}}",
    "dotted columns": f"{JSON}fields: {{input: q, target: metadata.m, metadata: [q, metadata.m]}}",
    "no metadata": f"{JSON}fields: {{input: q, metadata: []}}",
    "a view": f"{JSON}fields: {{input: q, target: a}}, auto_id: true, shuffle: true, seed: 5, limit: 2",
    "names of columns": f"{CSV}fieldnames: [q, a]}}, fields: {{input: q}}",
    "a dialect": f"{CSV}encoding: latin-1, delimiter: ';', fieldnames: [q]}}, fields: {{input: q}}",
    "Parquet in order": "source: {type: parquet, path: d.parquet}, fields: {input: q}, shuffle: true, seed: 1",
}


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("keys", CALLS.values(), ids=CALLS)
def test_call_of_any_dataset_returns_the_same_samples(run: Run, own: Path, keys: str) -> None:
    records = [{"q": f"Q{number}", "a": str(number), "metadata": {"m": 1}} for number in range(9)]
    (own / "d.json").write_text(json.dumps(records), encoding="utf-8")
    (own / "d.parquet").write_bytes(parquet_bytes(records))
    write(own, "d", f"datasets:\n  d: {{{keys}}}\n")
    found, wanted = executed(run("show", "d", "--call").out), get_dataset("d")
    assert [(one.id, one.input, one.target, one.metadata) for one in found] == [
        (one.id, one.input, one.target, one.metadata) for one in wanted
    ]


def test_call_names_features_that_no_loader_has(run: Run, own: Path) -> None:
    write(own, "everything", EVERYTHING)
    out = run("show", "everything", "--call").out
    features = ("concat, join, explode, where, sample", "1 more path:")
    assert [words for words in features if words not in out] == []


# --- --origin ---

ORIGIN_INDEX = "version: 1\ninclude: [m.yaml]\ndefaults:\n  on_duplicate: drop\n"
ORIGIN_MANIFEST = """\
datasets:
  qa:
    source: {type: csv, path: qa.csv}
    fields:
      input: q
  qa-one:
    extends: qa
    description: "One \\e[31m\\u202equestion."
    limit: 1
"""
DIGITS = "0123456789abcdef" * 4
ORIGIN_LOCK = f"""\
version: 1
datasets:
  qa-one:
    spec: sha256:{DIGITS}
    sources:
      - location: qa.csv
        size: 3
        sha256: {DIGITS}
    samples: 3
    columns: [q]
    ordered: sha256:{DIGITS}
    unordered: sha256:{DIGITS}
    format: 1
"""


@pytest.fixture
def origins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a catalog whose values come from every layer, into the current folder."""
    files = {
        "datasets.yaml": ORIGIN_INDEX,
        "m.yaml": ORIGIN_MANIFEST,
        "datasets.lock": ORIGIN_LOCK,
        "qa.csv": "q\nOne?\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


ORIGINS = {
    "description": ("own", "m.yaml:8"),
    "source.type": ("parent qa", "m.yaml:3"),
    "fields.input": ("parent qa", "m.yaml:5"),
    "fields.target": ("default", "built in"),
    "on_duplicate": ("default", "datasets.yaml:4"),
    "limit": ("own", "m.yaml:9"),
    "shuffle": ("default", "built in"),
    "pin.sources[0].location": ("lock", "datasets.lock:6"),
    "pin.sources[0].sha256": ("lock", "datasets.lock:8"),
    "pin.samples": ("lock", "datasets.lock:9"),
}


def test_origin_names_the_layer_and_the_place_of_each_value(run: Run, origins: None) -> None:
    result = run("show", "qa-one", "--origin")
    assert (result.code, result.err) == (0, "")
    lines = {line.split()[0]: line for line in result.lines}
    for key, (layer, place) in ORIGINS.items():
        assert lines[key].endswith(f"  {place}")
        assert f"  {layer}  " in lines[key].replace(place, f"  {place}")


def test_origin_escapes_control_characters_but_in_json(run: Run, origins: None) -> None:
    out = run("show", "qa-one", "--origin").out
    assert "One \\u{1b}[31m\\u{202e}question." in out
    assert "0123456789ab…" in out
    assert not {"\x1b", "\u202e"} & set(out)
    found = {one["key"]: one for one in run("show", "qa-one", "--origin", "--json").json}
    place = {"layer": "own", "file": "m.yaml", "line": 9, "dataset": "qa-one"}
    assert found["limit"] == {"key": "limit", "value": 1, **place}
    assert found["description"]["value"] == "One \x1b[31m\u202equestion."
    assert found["pin.samples"]["file"] == "datasets.lock"
    assert set(ORIGINS) <= set(found)


def test_values_of_others_have_their_place() -> None:
    data = {"a": 1, "b": {"c": "x", "e": [1]}, "f": "two\nlines"}
    origins: dict[DataPath, Origin] = {
        ("a",): OWN,
        ("b", "c"): PARENT,
        ("b", "e"): INDEX,
        ("f",): PARENT,
    }
    text = marked_yaml(data, "d", origins, width=60)
    assert text == (
        "datasets:\n"
        "  d:\n"
        "    a: 1\n"
        "    b:\n"
        "      c: x  # from m/a.yaml:4\n"
        "      e:  # from datasets.yaml:12\n"
        "      - 1\n"
        "    # from m/a.yaml:4\n"
        "    f: 'two\n"
        "\n"
        "      lines'\n"
    )
    assert marked_yaml({"b": "x"}, "d", {("b",): BUILT_IN}, width=60).endswith("b: x  # default\n")


def test_comment_that_does_not_fit_is_above() -> None:
    text = marked_yaml({"key": "a value"}, "d", {("key",): PARENT}, width=20)
    assert text.splitlines()[2:] == ["    # from m/a.yaml:4", "    key: a value"]


def test_defaults_of_the_program_are_left_out() -> None:
    origins: dict[DataPath, Origin] = {
        ("a",): OWN,
        ("b", "c"): BUILT_IN,
        ("d", "e"): BUILT_IN,
        ("d", "f"): INDEX,
    }
    data = {"a": 1, "b": {"c": 1}, "d": {"e": 1, "f": 2}, "g": {}}
    assert without_defaults(data, origins) == {"a": 1, "d": {"f": 2}, "g": {}}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a: 1  # default", "a: 1"),
        ("  # from m.yaml:3", ""),
        ("a: 'x  # from y'", "a: 'x  # from y'"),
        ("a: 1", "a: 1"),
    ],
)
def test_start_of_a_comment(line: str, value: str) -> None:
    assert line[: comment_start(line)] == value


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="ab #:'\"\n\t|>-", max_size=150),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), VALUES), st.integers(10, 90))
@example({"a": ":\n"}, 28)
def test_comments_change_no_data(data: dict[str, object], width: int) -> None:
    paths = (path for path in paths_in(data) if all(isinstance(step, str) for step in path))
    origins = {path: (PARENT, INDEX, BUILT_IN)[number % 3] for number, path in enumerate(paths)}
    del origins[()]
    text = marked_yaml(data, "d", origins, width=width)
    assert yaml.safe_load(text) == {"datasets": {"d": data}}


@pytest.mark.parametrize("length", range(40, 100))
def test_lines_are_folded_whatever_the_length_of_a_path(length: int) -> None:
    words = "A description that is longer than the terminal is wide, with a path beside it."
    text = marked_yaml({"description": words, "path": "/" * length}, "d", {}, width=60)
    described, path = text.split("    path: ")
    assert max(map(len, described.split("\n"))) <= 60
    assert path == "/" * length + "\n"


def test_provenance_is_that_of_the_dataset(run: Run, demo: Path) -> None:
    expected = get_dataset("demo-mcq-small", root=demo).provenance.as_data()
    result = run("show", "demo-mcq-small", "--provenance")
    assert (result.code, yaml.safe_load(result.out)) == (0, expected)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--call", "--origin"), "--call and --origin exclude each other"),
        (("--origin", "--provenance"), "--origin and --provenance exclude each other"),
        (("--call", "--json"), "--json is not for --call"),
    ],
)
def test_only_one_thing_is_shown(run: Run, own: Path, given: tuple[str, ...], words: str) -> None:
    result = run("show", "qa", *given)
    assert (result.code, result.out) == (2, "")
    assert words in result.err
