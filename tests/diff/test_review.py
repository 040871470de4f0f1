"""The reviewed state and its file, what is refused after a review, and what `--fail-on` finds."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.base.materials import Material, SamplesId
from registry.boundary.boundary import Boundary
from registry.cache.cache import Cache
from registry.diff.models import (
    CatalogDiff,
    DatasetChange,
    InheritedChange,
    KeyChange,
    NewReach,
    Reach,
    SampleChange,
)
from registry.diff.review import (
    POLICY_CLASSES,
    ReviewedSide,
    ReviewedState,
    parse_classes,
    read_state,
    refusals,
    reviewed_state,
    side_of,
    violations,
    write_state,
)
from registry.diff.severity import ChangeClass
from registry.diff.snapshot import open_snapshots
from registry.errors import ReviewError
from registry.load.dataset import get_dataset
from registry.lockfile.models import Lock, Pin
from registry.lockfile.spec_digest import spec_digest
from registry.manifest.models import DatasetSpec, to_spec
from tests.lockfile.pins import pin_of

MANIFEST = """\
datasets:
  qa:
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a}
  coded:
    source: {type: csv, path: qa.csv}
    mapper: codedpackage.mapping:to_sample
"""
CODE = """\
from registry import Sample


def to_sample(record):
    return Sample(input=record["q"], target=record["a"])
"""

COMMIT = "1" * 40

ALL = frozenset(POLICY_CLASSES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("q\n1\n")
    return tmp_path


def spec(folder: Path, source: dict[str, Any] | None = None, **more: Any) -> DatasetSpec:
    keys = source or {"type": "csv", "path": [str(folder / "a.csv")]}
    return to_spec({"name": "d", "folder": folder, "source": keys, **more})


def pin(of: DatasetSpec, **more: Any) -> Pin:
    sources = (Material(location="a.csv", size=1, sha256="0" * 64),)
    given: dict[str, Any] = {"spec": spec_digest(of), "sources": sources, "columns": ("q",)}
    return pin_of(**{"samples": 3, "ordered": f"sha256:{'a' * 64}", **given, **more})


def side(one: DatasetSpec, pinned: Pin | None = None, **more: Any) -> ReviewedSide:
    lock = Lock({} if pinned is None else {"d": pinned})
    boundary = Boundary().allowing([str(one.folder)])
    return side_of({"d": one}, lock, more.pop("index", {}), boundary, **more)


def test_side_names_digests_of_everything(folder: Path) -> None:
    reach = {"d": {Reach("host", "h.example")}, "": {Reach("permission", "trust: m")}}
    found = side(spec(folder), samples={"d": SamplesId(3, "sha256:x")}, reach=reach)
    one = found.datasets["d"]
    assert list(one.files) == ["a.csv"]
    assert (one.pin, one.samples, one.reach) == (None, SamplesId(3, "sha256:x"), ["host h.example"])
    assert found.reach == ["permission trust: m"]


def test_pinned_samples_are_those_of_a_pin_that_agrees(folder: Path) -> None:
    one = spec(folder)
    assert side(one, pin(one)).datasets["d"].samples == SamplesId(3, f"sha256:{'a' * 64}")
    stale = pin(one, spec=f"sha256:{'c' * 64}")
    assert side(one, stale).datasets["d"].samples is None


def test_same_catalog_in_another_folder_is_the_same(tmp_path: Path) -> None:
    sides = []
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("q\n1\n")
        csv = {"type": "csv", "path": [f"{tmp_path}/{name}/a.csv"]}
        join = {"source": csv, "on": "q", "into": "b"}
        corrected = {**csv, "type": "corrections"}
        keys: dict[str, Any] = {"concat": [csv], "join": join, "corrections": corrected}
        sides.append(side(spec(tmp_path / name, **keys)))
    assert sides[0] == sides[1]
    assert str(tmp_path) not in repr(sides)


@pytest.mark.parametrize(
    "keys",
    [
        *({"expect": {"samples": 3}}, {"accept": ["blank_inputs"]}, {"license": {"spdx": "MIT"}}),
        *({"deprecated": {"reason": "has leaked"}}, {"fewshot": {"dataset": "e", "n": 2}}),
        {"join": {"source": {"type": "csv", "path": ["/b.csv"]}, "on": "q", "into": "b"}},
    ],
)
def test_every_key_is_part_of_a_side(folder: Path, keys: dict[str, Any]) -> None:
    """A key that no sample depends on, too: it was read by those who reviewed the change."""
    assert side(spec(folder, **keys)) != side(spec(folder))
    if "join" in keys:
        strict = {"join": {**keys["join"], "strict": True}}
        assert side(spec(folder, **keys)) != side(spec(folder, **strict))


# --- the file ---


def state(folder: Path) -> ReviewedState:
    one = spec(folder)
    return ReviewedState(base=side(one), head=side(one, pin(one)))


def test_file_has_the_state_and_its_digest(folder: Path) -> None:
    path = folder / "review.json"
    written = write_state(path, state(folder))
    assert read_state(path) == written
    first = path.read_bytes()
    assert write_state(path, state(folder)) == written
    assert path.read_bytes() == first


BROKEN = {
    "nothing": (b"", "no reviewed state: "),
    "other JSON": (b"{}", "no reviewed state: "),
    "deep JSON": (b'{"base":' + b"[" * 100_000, "no reviewed state: "),
    "other bytes": (b"\xff\xfe", "no reviewed state: "),
}


@pytest.mark.parametrize("case", BROKEN)
def test_invalid_file_is_an_error_that_says_what_to_do(tmp_path: Path, case: str) -> None:
    data, message = BROKEN[case]
    path = tmp_path / "review.json"
    path.write_bytes(data)
    with pytest.raises(ReviewError, match=message) as caught:
        read_state(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "registry diff --reviewed FILE" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("format", 1, "format 1, not 2"), ("digest", "sha256:0", "so it was edited")],
)
def test_edited_file_is_an_error(folder: Path, key: str, value: Any, message: str) -> None:
    path = folder / "review.json"
    write_state(path, state(folder))
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(ReviewError, match=message):
        read_state(path)


def test_file_that_can_t_be_read_or_written_is_an_error(folder: Path) -> None:
    with pytest.raises(ReviewError, match="can't be read"):
        read_state(folder / "gone.json")
    for path in (folder / "a.csv" / "x.json", Path()):
        with pytest.raises(ReviewError, match="can't be written"):
            write_state(path, state(folder))


def catalog(folder: Path, trust: str) -> Path:
    folder.mkdir()
    (folder / "datasets.yaml").write_text(f"version: 1\ninclude: [m.yaml]\n{trust}")
    (folder / "m.yaml").write_text(MANIFEST)
    (folder / "qa.csv").write_text("q,a\nOne?,1\n")
    return folder


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site" / "codedpackage"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "mapping.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(folder.parent))
    for name in ("codedpackage", "codedpackage.mapping"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def heads(base: Path, head: Path, cache: Path) -> ReviewedSide:
    with open_snapshots(str(base), str(head), head / "datasets.yaml") as (old, new):
        return reviewed_state(old, new, Cache(cache)).head


def test_cached_samples_are_known(tmp_path: Path, cache_dir: Path, package: None) -> None:
    trust = "trust: ['codedpackage.mapping:to_sample']\n"
    base, head = (catalog(tmp_path / name, trust) for name in ("base", "head"))
    assert {one.samples for one in heads(base, head, cache_dir).datasets.values()} == {None}
    for name in ("qa", "coded"):
        get_dataset(name, root=head)
    found = heads(base, head, cache_dir).datasets
    assert [one.samples and one.samples.number for one in found.values()] == [1, 1]


def test_code_that_only_the_head_trusts_is_not_imported(
    tmp_path: Path, cache_dir: Path, package: None
) -> None:
    base = catalog(tmp_path / "base", "")
    head = catalog(tmp_path / "head", "trust: ['codedpackage.mapping:to_sample']\n")
    found = heads(base, head, cache_dir).datasets
    assert "codedpackage.mapping" not in sys.modules
    assert found["coded"].samples is None
    assert "mapper codedpackage.mapping:to_sample" in found["coded"].reach


# --- what is not as reviewed, and what may be anything although it is ---


def changes(old: ReviewedSide, new: ReviewedSide, names: list[str] | None = None) -> dict[str, str]:
    found = refusals(old, new, {}, Lock(), names)
    return {name: why.removeprefix("not as reviewed: ") for name, why in found.items()}


CHANGES: dict[str, dict[str, Any]] = {
    "samples": {"limit": 3},
    "documentation": {"license": {"spdx": "MIT"}},
    "checks": {"expect": {"samples": 3}},
    "scores": {"eval": {"epochs": 2}},
}


@pytest.mark.parametrize("case", CHANGES)
def test_every_key_of_a_manifest_counts(folder: Path, case: str) -> None:
    more = {"view": CHANGES[case]} if case == "samples" else CHANGES[case]
    old, new = side(spec(folder)), side(spec(folder, **more))
    assert changes(old, new) == {"d": "its manifest changed"}
    assert changes(old, new, []) == {}


def test_bytes_pins_and_the_index_count(folder: Path) -> None:
    one = spec(folder)
    old = side(one, pin(one), index={"trust": ["m"], "version": 1, "datasets": {}})
    (folder / "a.csv").write_text("q\n2\n")
    new = side(one, pin(one, samples=4, columns=("a",)), index={"trust": ["n"], "version": 1})
    assert changes(old, new) == {
        "": "datasets.yaml includes or permits something else, or a group changed",
        "d": "a.csv, its pin (columns, samples) changed",
    }


def test_datasets_of_one_side_differ(folder: Path) -> None:
    one, none = side(spec(folder)), side_of({}, Lock(), {}, Boundary())
    assert changes(one, none) == {"d": "is gone, or can't be read"}
    assert changes(none, one) == {"d": "was not there"}


HUB = {"type": "hf", "path": "org/name", "split": "test"}
FIXED: dict[str, tuple[dict[str, Any] | None, dict[str, Any], bool]] = {
    "a local file": (None, {}, True),
    "code": (None, {"mapper": "m:f"}, False),
    "files beside the data": (None, {"fields": {"files": {"a": "b"}}}, False),
    "a server": ({"type": "csv", "path": ["https://h.example/a.csv"]}, {}, False),
    "a package": ({"type": "csv", "path": ["package:json/a.csv"]}, {}, False),
    "a branch": (HUB, {}, False),
    "a commit": ({**HUB, "revision": COMMIT}, {}, True),
}


def refused(one: DatasetSpec, pinned: Pin | None = None, **more: Any) -> dict[str, str]:
    same = side(one, pinned, **more)
    return refusals(same, same, {"d": one}, Lock({} if pinned is None else {"d": pinned}))


@pytest.mark.parametrize("case", FIXED)
def test_bytes_that_may_be_any_are_refused_without_samples(tmp_path: Path, case: str) -> None:
    source, more, is_fixed = FIXED[case]
    one = spec(tmp_path, source, **more)
    hint = "(`registry lock d` pins it, `diff --build --reviewed FILE` compares them)"
    message = f"was reviewed without its samples, which may be any {hint}"
    expected = {} if is_fixed else {"d": message}
    assert refused(one) == expected
    assert refused(one, pin(one, spec=f"sha256:{'c' * 64}")) == expected
    assert refused(one, pin(one)) == {}
    assert refused(one, samples={"d": SamplesId(3, "sha256:x")}) == {}


# --- the classes of `--fail-on` ---


def key(name: str) -> KeyChange:
    return KeyChange(key=name, kind="", old=None, new=None)


def changed(key_name: str, kind: ChangeClass, **more: Any) -> DatasetChange:
    given = {"status": "changed", "kinds": (kind,), "keys": (key(key_name),), **more}
    return DatasetChange(name="d", **given)


def words(*changes: DatasetChange, **more: Any) -> set[str]:
    return set(violations(CatalogDiff(base="", head="", changes=changes, **more), ALL))


def test_classes_are_named_by_their_first_word() -> None:
    assert set(ChangeClass) == {
        kind for word in POLICY_CLASSES for kind in ChangeClass if kind.split()[0] == word
    }
    assert parse_classes("targets, reach") == {"targets", "reach"}


@pytest.mark.parametrize(
    ("text", "word"), [("inputs,license", "license"), ("", ""), ("inputs,", "")]
)
def test_unknown_class_is_an_error_with_all_classes(text: str, word: str) -> None:
    with pytest.raises(ValueError, match=f"no class '{word}' .classes: source, code, inputs,"):
        parse_classes(text)


def test_only_the_given_classes_count() -> None:
    diff = CatalogDiff(base="", head="", changes=(changed("limit", ChangeClass.SUBSET),))
    assert violations(diff, frozenset({"subset", "order"})) == {"subset": ["d"]}
    assert violations(diff, frozenset({"inputs"})) == {}


def test_renamed_dataset_is_removed_for_those_who_use_its_old_name() -> None:
    renamed = DatasetChange(name="d", status="renamed", old_name="e")
    assert words(renamed) == {"renamed", "removed"}


def test_index_reach_and_datasets_of_one_side_have_words_of_their_own() -> None:
    removed, added = (DatasetChange(name=one, status=one) for one in ("removed", "added"))
    renamed = changed("limit", ChangeClass.SUBSET, status="renamed")
    reach = (NewReach("host", "h.example", ("d",)),)
    found = words(removed, added, renamed, shared=(key("trust"),), reach=reach)
    assert found == {"removed", "added", "renamed", "subset", "index", "reach"}


@pytest.mark.parametrize("name", ["bytes.a.csv", "pin.sources[0].sha256", "source.path"])
def test_new_bytes_may_be_anything_until_their_samples_are_compared(name: str) -> None:
    unknown = {"source", "inputs", "targets", "ids", "metadata"}
    assert words(changed(name, ChangeClass.SOURCE)) == unknown
    note = SampleChange(note="not compared: head is not cached")
    assert words(changed(name, ChangeClass.SOURCE, samples=note)) == unknown
    same = SampleChange(old=2, new=2)
    assert words(changed(name, ChangeClass.SOURCE, samples=same)) == {"source"}
    targets = SampleChange(old=2, new=2, changed=1, fields={"target": 1})
    assert words(changed(name, ChangeClass.SOURCE, samples=targets)) == {"source", "targets"}


def test_inherited_change_and_new_code_may_be_anything_too() -> None:
    inherited = changed("limit", ChangeClass.SOURCE, inherited=(InheritedChange("pin", "e"),))
    assert "targets" in words(inherited)
    assert "targets" in words(changed("mapper", ChangeClass.INPUTS))
    assert "targets" in words(changed("explode.column", ChangeClass.SUBSET))
    assert "metadata" in words(changed("fewshot.of.fields.input", ChangeClass.INPUTS))
    assert "ids" in words(changed("on_duplicate", ChangeClass.SUBSET))
    assert "targets" not in words(changed("fields.input", ChangeClass.INPUTS))


def test_samples_show_the_other_classes() -> None:
    samples = SampleChange(old=3, new=4, added=1, changed=1, moved=1, fields={"id": 1})
    found = words(changed("seed", ChangeClass.ORDER, samples=samples))
    assert found == {"subset", "ids", "order"}


def test_removed_and_added_samples_may_be_edited_ones() -> None:
    samples = SampleChange(old=3, new=3, added=1, removed=1)
    assert "targets" in words(changed("where", ChangeClass.SUBSET, samples=samples))
