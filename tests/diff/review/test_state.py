"""The reviewed state: what belongs to it, how it is compared, and its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.boundary.boundary import Boundary
from registry.diff.models import Reach
from registry.diff.review.state import (
    ReviewedSide,
    ReviewedState,
    SamplesId,
    differences,
    has_fixed_bytes,
    read_state,
    side_of,
    write_state,
)
from registry.errors import ReviewError
from registry.lockfile.models import Lock, LockedSource, Pin
from registry.lockfile.spec_digest import spec_digest
from registry.manifest.models import DatasetSpec, to_spec

COMMIT = "1" * 40


def spec(folder: Path, source: dict[str, Any] | None = None, **more: Any) -> DatasetSpec:
    keys = source or {"type": "csv", "path": [str(folder / "a.csv")]}
    return to_spec({"name": "d", "folder": folder, "source": keys, **more})


def pin(of: DatasetSpec, **more: Any) -> Pin:
    given: dict[str, Any] = {
        "spec": spec_digest(of),
        "sources": (LockedSource(location="a.csv", size=1, sha256="0" * 64),),
        "samples": 3,
        "columns": ("q",),
        "ordered": f"sha256:{'a' * 64}",
        "unordered": f"sha256:{'b' * 64}",
        "format": 1,
    }
    return Pin(**{**given, **more})


def side(one: DatasetSpec, pinned: Pin | None = None, **more: Any) -> ReviewedSide:
    lock = Lock({} if pinned is None else {"d": pinned})
    boundary = Boundary().allowing([str(one.folder)])
    return side_of({"d": one}, lock, more.pop("index", {}), boundary, **more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("q\n1\n")
    return tmp_path


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


CHANGES: dict[str, dict[str, Any]] = {
    "samples": {"limit": 3},
    "documentation": {"license": "MIT"},
    "checks": {"expect": {"samples": 3}},
    "scores": {"eval": {"epochs": 2}},
}


@pytest.mark.parametrize("case", CHANGES)
def test_every_key_of_a_manifest_counts(folder: Path, case: str) -> None:
    more = {"view": CHANGES[case]} if case == "samples" else CHANGES[case]
    old, new = side(spec(folder)), side(spec(folder, **more))
    assert differences(old, new) == {"d": "its manifest changed"}
    assert differences(old, new, []) == {}


def test_bytes_pins_and_the_index_count(folder: Path) -> None:
    one = spec(folder)
    old = side(one, pin(one), index={"trust": ["m"], "version": 1, "datasets": {}})
    (folder / "a.csv").write_text("q\n2\n")
    new = side(one, pin(one, samples=4, columns=("a",)), index={"trust": ["n"], "version": 1})
    assert differences(old, new) == {
        "": "datasets.yaml includes or permits something else",
        "d": "a.csv, its pin (columns, samples) changed",
    }


def test_datasets_of_one_side_differ(folder: Path) -> None:
    one, none = side(spec(folder)), side_of({}, Lock(), {}, Boundary())
    assert differences(one, none) == {"d": "is gone, or can't be read"}
    assert differences(none, one) == {"d": "was not there"}


def test_same_catalog_in_another_folder_is_the_same(tmp_path: Path) -> None:
    sides = []
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("q\n1\n")
        sides.append(side(spec(tmp_path / name)))
    assert sides[0] == sides[1]
    assert str(tmp_path) not in repr(sides)


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


@pytest.mark.parametrize("case", FIXED)
def test_build_has_one_result_without_a_pin_only_for_known_bytes(tmp_path: Path, case: str) -> None:
    source, more, expected = FIXED[case]
    one = spec(tmp_path, source, **more)
    assert has_fixed_bytes(one, None) is expected
    assert has_fixed_bytes(one, pin(one))
    assert has_fixed_bytes(one, pin(one, spec=f"sha256:{'c' * 64}")) is expected


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
    assert "registry diff --out" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("format", 2, "format 2, not 1"), ("digest", "sha256:0", "so it was edited")],
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
    with pytest.raises(ReviewError, match="can't be written"):
        write_state(folder / "a.csv" / "x.json", state(folder))
