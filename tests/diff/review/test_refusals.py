"""What is not as reviewed, and what may be anything although it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.base.materials import SamplesId
from registry.boundary.boundary import Boundary
from registry.diff.review.refusals import refusals
from registry.diff.review.state import ReviewedSide, side_of
from registry.lockfile.models import Lock, Pin
from registry.manifest.models import DatasetSpec
from tests.diff.review.sides import pin, side, spec

COMMIT = "1" * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("q\n1\n")
    return tmp_path


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
