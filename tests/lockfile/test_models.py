"""The lockfile: the same pins are the same bytes, merges are easy, faults have places."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from registry import LockError
from registry.catalog.catalog import Catalog
from registry.lockfile import models as lockfile
from registry.lockfile.models import (
    Lock,
    LockedSource,
    Pin,
    lock_text,
    read_lock,
    read_pin,
    read_sides,
    write_lock,
)
from registry.lockfile.spec_digest import asked_of, location_in, portable, spec_digest
from registry.lockfile.text import HEAD
from registry.manifest.models import DatasetSpec
from registry.yamldoc.reader import Document, parse_yaml

DIGITS = "0123456789abcdef"


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def pin(number: int = 1, **keys: Any) -> Pin:
    values: dict[str, Any] = {
        "spec": digest(number),
        "sources": (LockedSource(location="data.csv", size=number, sha256=f"{number:064x}"),),
        "samples": number,
        "columns": ("q", "a"),
        "ordered": digest(number + 1),
        "unordered": digest(number + 2),
        "format": 1,
    }
    return Pin(**{**values, **keys})


def lock_of(*names: str) -> Lock:
    return Lock({name: pin(number) for number, name in enumerate(names, 1)})


# --- the text ---


def test_a_lock_is_written_plainly(tmp_path: Path) -> None:
    sources = (
        LockedSource(location="hf://datasets/a/b", asked="main", revision="c" * 40),
        LockedSource(
            location="s3://b/x y.csv", asked="s3://b/*.csv", etag='"e1"', size=3, sha256="0" * 64
        ),
    )
    lock = Lock({"qa": pin(sources=sources, columns=("q", "no", "a: b", "ü", "12"))})
    write_lock(tmp_path / "datasets.lock", lock)
    assert (tmp_path / "datasets.lock").read_text(encoding="utf-8") == (
        "# yaml-language-server: $schema=schemas/lock.schema.json\n"
        "# Written by `python -m registry lock`. Review it like code; don't edit it.\n"
        "version: 1\n"
        "datasets:\n"
        "  qa:\n"
        f"    spec: {digest(1)}\n"
        "    sources:\n"
        "      - location: hf://datasets/a/b\n"
        "        asked: main\n"
        f'        revision: "{"c" * 40}"\n'
        '      - location: "s3://b/x y.csv"\n'
        "        asked: s3://b/*.csv\n"
        '        etag: "\\"e1\\""\n'
        "        size: 3\n"
        f'        sha256: "{"0" * 64}"\n'
        "    samples: 1\n"
        '    columns: [q, "no", "a: b", "ü", "12"]\n'
        f"    ordered: {digest(2)}\n"
        f"    unordered: {digest(3)}\n"
        "    format: 1\n"
    )


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
hexes = st.text(DIGITS, min_size=64, max_size=64)
digests = hexes.map("sha256:{}".format)
names = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True)
files = st.builds(
    LockedSource,
    location=texts,
    asked=st.none() | texts,
    etag=st.none() | texts,
    version_id=st.none() | texts,
    size=st.integers(0, 1 << 50),
    sha256=hexes,
)
repositories = st.builds(
    LockedSource, location=texts, revision=st.text(DIGITS, min_size=40, max_size=40)
)
pins = st.builds(
    Pin,
    spec=digests,
    sources=st.lists(files | repositories, min_size=1, max_size=3).map(tuple),
    samples=st.integers(0, 1 << 40),
    columns=st.lists(texts | st.just(""), max_size=4).map(tuple),
    ordered=digests,
    unordered=digests,
    format=st.integers(1, 9),
)


@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(st.dictionaries(names, pins, max_size=4))
def test_what_is_written_is_read(tmp_path: Path, found: dict[str, Pin]) -> None:
    path = tmp_path / "datasets.lock"
    write_lock(path, Lock(found))
    assert read_lock(path) == Lock(found)
    assert all(read_pin(path, name) == one for name, one in found.items())
    assert lock_text(Lock(dict(reversed(found.items())))) == path.read_text(encoding="utf-8")


def test_a_pin_as_it_is_written_is_read_without_the_parser_of_yaml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "datasets.lock"
    write_lock(path, lock_of("qa", "qa-small"))
    monkeypatch.setattr(lockfile, "parse_yaml", lambda *_, **__: pytest.fail("YAML was parsed"))
    assert read_pin(path, "qa") == pin(1)
    assert read_pin(path, "qa-small") == pin(2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    samples: 1\n", "    samples:  1\n"),
        ("    samples: 1\n", "    samples: 0x1\n"),
        ("    samples: 1\n", "    samples: 1 # one\n"),
        ("    format: 1\n", "    format: 1\n\n"),
        ("    columns: [", "    columns: [ "),
        ("    sources:\n", "    sources: \n"),
        ("    sources:\n", "    sources: # these\n"),
        ("      - location: data.csv", '      - location: "data.csv"'),
        ("  qa:\n", "  # a comment\n  qa:\n"),
        ("  qa:\n", "  qa :\n"),
        ("  qa:\n", '  "q\\x61":\n'),
        ("  qa:\n", "  'qa':\n"),
        ("  qa:\n", "  ? qa\n  :\n"),
    ],
)
def test_a_pin_in_another_form_is_read_by_the_parser_of_yaml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    path = tmp_path / "datasets.lock"
    text = lock_text(lock_of("qa"))
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    parsed: list[str] = []

    def parse(text: str, *, file: str) -> Document:
        parsed.append(text)
        return parse_yaml(text, file=file)

    monkeypatch.setattr(lockfile, "parse_yaml", parse)
    assert read_pin(path, "qa") == pin(1)
    assert len(parsed) == 1


def test_a_lock_of_many_thousands_is_read(tmp_path: Path) -> None:
    path = tmp_path / "datasets.lock"
    whole = lock_of(*(f"data-{number:05}" for number in range(12_000)))
    write_lock(path, whole)
    assert path.stat().st_size > 4 << 20, "more than one document of YAML may be"
    assert read_lock(path) == whole
    assert read_pin(path, "data-11999") == whole.pins["data-11999"]
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("data-11999:", "data-00000:"), encoding="utf-8")
    with pytest.raises(LockError, match="the dataset 'data-00000' stands in it twice"):
        read_lock(path)


def test_there_need_be_no_lock(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "datasets.lock") is None
    assert read_pin(tmp_path / "datasets.lock", "qa") is None
    assert read_sides(tmp_path / "datasets.lock") == ()


@pytest.mark.parametrize("pinned", [(), ("qa", "qa-small", "2wiki")])
def test_that_a_dataset_is_not_in_it_is_told_without_the_parser_of_yaml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: tuple[str, ...]
) -> None:
    path = tmp_path / "datasets.lock"
    write_lock(path, lock_of(*pinned))
    monkeypatch.setattr(lockfile, "parse_yaml", lambda *_, **__: pytest.fail("YAML was parsed"))
    assert [read_pin(path, name) for name in ("q", "small", "spec", "datasets")] == [None] * 4


@pytest.mark.parametrize("indent", [1, 3, 4])
def test_a_pin_is_found_however_far_its_block_is_indented(tmp_path: Path, indent: int) -> None:
    path = tmp_path / "datasets.lock"
    head, _, body = lock_text(lock_of("qa", "zz")).partition("datasets:\n")
    moved = [" " * indent + line.removeprefix("  ") for line in body.splitlines(keepends=True)]
    path.write_text(head + "datasets:\n" + "".join(moved), encoding="utf-8")
    assert read_pin(path, "qa") == pin(1)


def test_a_dataset_that_is_not_in_it_has_no_pin(tmp_path: Path) -> None:
    path = tmp_path / "datasets.lock"
    write_lock(path, lock_of("qa", "qa-small"))
    assert read_pin(path, "q") is None
    assert read_pin(path, "spec") is None
    assert read_pin(path, "qa-small") == pin(2)


# --- merges ---


def merge(tmp_path: Path, ours: Lock, base: Lock, theirs: Lock) -> int:
    """Merge as git does; return the number of conflicts, and leave the result in `ours`."""
    for name, lock in {"ours": ours, "base": base, "theirs": theirs}.items():
        write_lock(tmp_path / name, lock)
    command = ["git", "merge-file", "ours", "base", "theirs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    return done.returncode


BASE = {"b": pin(2), "m": pin(3), "y": pin(4)}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({**BASE, "a": pin(5)}, {**BASE, "n": pin(6)}),
        ({**BASE, "c": pin(5)}, {**BASE, "z": pin(6)}),
        ({**BASE, "b": pin(7)}, {**BASE, "n": pin(6)}),
        ({**BASE, "b": pin(7)}, {**BASE, "y": pin(8)}),
        ({"m": pin(3), "y": pin(4)}, {**BASE, "z": pin(6)}),
    ],
)
def test_changes_of_two_branches_merge(
    tmp_path: Path, ours: dict[str, Pin], theirs: dict[str, Pin]
) -> None:
    assert merge(tmp_path, Lock(ours), Lock(BASE), Lock(theirs)) == 0
    kept = {name: one for name, one in BASE.items() if name in ours and name in theirs}
    changed = {name: one for name, one in {**ours, **theirs}.items() if BASE.get(name) != one}
    changed |= {name: one for name, one in ours.items() if BASE.get(name) != one}
    assert read_lock(tmp_path / "ours") == Lock({**kept, **changed})


def test_a_conflict_is_said_with_its_line_and_both_sides_can_be_read(tmp_path: Path) -> None:
    ours, theirs = {**BASE, "m": pin(10)}, {**BASE, "m": pin(11)}
    assert merge(tmp_path, Lock(ours), Lock(BASE), Lock(theirs)) > 0
    path = tmp_path / "ours"
    line = path.read_text(encoding="utf-8").splitlines().index("<<<<<<< ours") + 1
    for read in (lambda: read_lock(path), lambda: read_pin(path, "b")):
        with pytest.raises(LockError) as caught:
            read()
        (problem,) = caught.value.problems
        assert str(problem) == (
            f"{path}:{line}:1 $: a merge left a conflict here"
            " (take either side, or leave it, and run `python -m registry lock`)"
        )
    assert read_sides(path) == (Lock(ours), Lock(theirs))


# --- faults ---

GOOD = lock_text(Lock({"qa": pin()}))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("samples: 1", "samples: many", "11:5 $.datasets.qa.samples: must be an integer, is 'many'"),
        ("samples: 1", "sample: 1", "11:5 $.datasets.qa.sample: unknown key 'sample' (did you mean 'samples'?)"),
        ("        size: 1\n", "", "8:9 $.datasets.qa.sources[0]: the key 'size' is missing (Bytes of the file.)"),
        (f"spec: {digest(1)}", "spec: sha256:1", "6:5 $.datasets.qa.spec: 'sha256:1' does not match"),
        ("version: 1", "version: 2", "3:1 $.version: must be 1, is 2"),
        ("  qa:", "  Q A:", "5:3 $.datasets['Q A']: 'Q A' is not a valid dataset name"),
        ("format: 1", "format: 1\n  qa: {}", "16:3 $: the key 'qa' stands here a second time"),
        ("format: 1", 'format: 1\n  "qa": {}', "16:3 $: the key 'qa' stands here a second time"),
        ("format: 1", "format: 1\n  # more\n    more: 1", "17:5 $.datasets.qa.more: unknown key 'more'"),
        ("        size: 1\n", "        size: 1\n        asked: null\n", "10:9 $.datasets.qa.sources[0].asked: must be a string, is None"),
        ("format: 1", "format: [", "16:1 $: not YAML: "),
    ],
)  # fmt: skip
def test_a_fault_is_said_with_its_place(tmp_path: Path, old: str, new: str, problem: str) -> None:
    path = tmp_path / "datasets.lock"
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    for read in (read_lock, lambda path, **how: read_pin(path, "qa", **how)):
        with pytest.raises(LockError) as caught:
            read(path, shown_as="datasets.lock")
        assert any(
            str(one).startswith(f"datasets.lock:{problem}") for one in caught.value.problems
        ), str(caught.value)
        assert "or remove the file and run `python -m registry lock`" in str(caught.value)


def test_all_faults_are_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "datasets.lock"
    text = GOOD.replace("samples: 1", "samples: -1").replace("format: 1", "format: 0")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LockError) as caught:
        read_lock(path)
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"datasets: {}\n", b"[]\n"])
def test_what_is_no_lock_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "datasets.lock"
    path.write_bytes(content)
    with pytest.raises(LockError):
        read_lock(path)
    with pytest.raises(LockError):
        read_pin(path, "qa")


def test_a_folder_in_its_place_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LockError, match="can't be read: Is a directory"):
        read_lock(tmp_path)
    with pytest.raises(LockError, match="can't be written"):
        write_lock(tmp_path, Lock())


def test_a_source_is_a_file_or_a_commit() -> None:
    with pytest.raises(ValueError, match="neither a commit nor size and digest"):
        LockedSource(location="x.csv", size=1)


def test_the_head_names_the_schema_for_editors() -> None:
    first, _, _ = HEAD.partition("\n")
    assert first == "# yaml-language-server: $schema=schemas/lock.schema.json"


# --- the digest of a manifest ---

MANIFEST = """\
version: 1
datasets:
  qa:
    description: Questions.
    source: {{type: csv, path: [data/a.csv, "s3://bucket/*.csv"]}}
    {extra}
"""


def spec_at(folder: Path, extra: str = "limit: 5") -> DatasetSpec:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "datasets.yaml").write_text(MANIFEST.format(extra=extra), encoding="utf-8")
    return Catalog.open(folder)["qa"]


def test_a_manifest_has_one_digest_wherever_it_lies(tmp_path: Path) -> None:
    assert spec_digest(spec_at(tmp_path / "a")) == spec_digest(spec_at(tmp_path / "b" / "c"))


@pytest.mark.parametrize(
    "extra",
    [
        "license: mit\n    limit: 5",
        "tags: [a]\n    limit: 5",
        "homepage: https://a.b\n    limit: 5",
        "expect: {samples: 5}\n    limit: 5",
        "limit: 5\n    shuffle: false",
        "limit: 5\n    on_duplicate: error",
    ],
)
def test_documentation_and_defaults_do_not_count(tmp_path: Path, extra: str) -> None:
    assert spec_digest(spec_at(tmp_path, extra)) == spec_digest(spec_at(tmp_path))


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
        "limit: 5\n    where: {value: a, equals: x}",
        "limit: 5\n    concat: [{path: x.csv}]",
        "limit: 5\n    join: {source: {type: csv, path: x.csv}, on: a, into: b}",
        "limit: 5\n    join: {source: {type: json, path: x.csv}, on: a, into: b}",
        "limit: 5\n    join: {source: {type: csv, path: y.csv}, on: a, into: b}",
    ],
)
def test_what_samples_depend_on_counts(tmp_path: Path, extra: str) -> None:
    seen = {
        spec_digest(spec_at(tmp_path)),
        spec_digest(spec_at(tmp_path, "limit: 5\n    explode: a")),
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
    folder = Path("/home/me/catalog")
    assert portable(location, folder) == asked_of(location, folder) == name
    assert location_in(folder, name) == location


def test_secrets_of_urls_are_in_no_name() -> None:
    url = "https://user:word@host/a.csv?sig=SECRET"
    folder = Path("/home/me/catalog")
    assert portable(url, folder) == "https://host/a.csv?…"
    assert asked_of(url, folder).startswith("sha256:")
    assert asked_of(url, folder) != asked_of(url + "2", folder)
    assert asked_of(url, folder) == asked_of(url.replace("word", "other"), folder)


def test_data_of_the_built_in_catalog_has_a_name_of_its_own(tmp_path: Path) -> None:
    shipped = Path(__file__).parents[2] / "registry" / "data" / "demo-mcq.csv"
    assert portable(str(shipped), tmp_path) == "package:registry/registry/data/demo-mcq.csv"
    assert location_in(tmp_path, portable(str(shipped), tmp_path)) == str(shipped)
