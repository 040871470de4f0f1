"""The reviewed state: what belongs to it, how it is compared, and its file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.base.materials import SamplesId
from registry.cache.cache import Cache
from registry.diff.models import Reach
from registry.diff.review.state import (
    ReviewedSide,
    ReviewedState,
    read_state,
    reviewed_state,
    write_state,
)
from registry.diff.snapshot import open_snapshots
from registry.errors import ReviewError
from registry.load.dataset import get_dataset
from tests.diff.review.sides import pin, side, spec

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
