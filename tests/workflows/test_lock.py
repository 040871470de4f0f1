"""Pins of datasets: what is pinned, kept and moved, and how a move is described."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from registry.base.materials import Material
from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.errors import SourceError
from registry.lockfile.models import PIN_FORMAT, Lock, Pin
from registry.workflows.lock import (
    LockRequest,
    LockResult,
    describe_move,
    lock_datasets,
    new_lock,
)
from tests.lockfile.pins import DIGEST, pin_of
from tests.workflows.conftest import QA, RECORDS

AWAY = "datasets:\n  qa: {source: {type: csv, path: 'https://127.0.0.1:1/qa.csv'}}\n"


def lock_one(
    folder: Path,
    cache_dir: Path,
    old: Sequence[Pin] = (),
    *,
    upgrade: bool = False,
    offline: bool = False,
) -> LockResult:
    """Lock `qa`, which has these pins; two are the sides of a merge conflict."""
    request = LockRequest(
        catalog=Catalog.open(folder),
        cache=Cache(cache_dir),
        old=[Lock({"qa": pin}) for pin in old],
        upgrade={"qa"} if upgrade else (),
        offline=offline,
    )
    (result,) = lock_datasets(["qa"], request, jobs=1, report=lambda name, progress: None)
    return result


@pytest.fixture
def pin(folder: Path, cache_dir: Path) -> Pin:
    result = lock_one(folder, cache_dir)
    assert (result.status, result.stale, result.error) == ("pinned", False, None)
    assert result.pin is not None
    return result.pin


def test_pin_has_versions_columns_and_digests(pin: Pin) -> None:
    assert (pin.samples, pin.columns, pin.format) == (2, ("q", "a"), PIN_FORMAT)
    assert [(one.location, one.size) for one in pin.sources] == [("qa.csv", len(RECORDS))]
    assert pin.ordered.startswith("sha256:")


@pytest.mark.parametrize(("metadata", "columns"), [("[]", ("q",)), ("[late]", ("q", "x", "late"))])
def test_pin_has_the_columns_that_the_manifest_names_wherever_they_start(
    folder: Path, cache_dir: Path, metadata: str, columns: tuple[str, ...]
) -> None:
    lines = [*['{"q": "x"}'] * 1001, '{"q": "y", "x": 1}', '{"q": "z", "late": 1}', '{"no": 1}']
    (folder / "qa.jsonl").write_text("\n".join(lines))
    fields = f"fields: {{input: {{template: '{{q|-}}'}}, metadata: {metadata}}}"
    text = f"datasets:\n  qa: {{source: {{type: json, path: qa.jsonl}}, {fields}}}\n"
    (folder / "m" / "qa.yaml").write_text(text)
    result = lock_one(folder, cache_dir)
    assert result.pin is not None
    assert result.pin.columns == columns


def test_pin_of_an_unchanged_manifest_is_kept(folder: Path, cache_dir: Path, pin: Pin) -> None:
    result = lock_one(folder, cache_dir, [pin])
    assert (result.status, result.pin, result.differences) == ("kept", pin, ())


@pytest.mark.parametrize(
    ("content", "message"), [(None, "qa.csv: no such file"), ("q,a\nX,1\n", "differs from its pin")]
)
def test_pin_that_no_longer_holds_is_kept_and_reported(
    folder: Path, cache_dir: Path, pin: Pin, content: str | None, message: str
) -> None:
    (folder / "qa.csv").unlink()
    if content is not None:
        (folder / "qa.csv").write_text(content)
    result = lock_one(folder, cache_dir, [pin])
    assert (result.status, result.pin) == ("broken", pin)
    (difference,) = result.differences
    assert difference.message.endswith(message)
    (reported,) = result.to_dict()["differences"]
    assert reported["message"] == difference.message


@pytest.mark.parametrize("upgrade", [False, True])
@pytest.mark.parametrize("is_ours", [False, True])
def test_pin_of_a_newer_release_is_kept(
    folder: Path, cache_dir: Path, pin: Pin, upgrade: bool, is_ours: bool
) -> None:
    newer = replace(pin, format=PIN_FORMAT + 1)
    result = lock_one(folder, cache_dir, [newer] if is_ours else [pin, newer], upgrade=upgrade)
    assert (result.status, result.pin) == ("failed", newer)
    assert "of a newer release (upgrade eval-registry)" in str(result.error)


def test_changed_manifest_is_pinned_again(folder: Path, cache_dir: Path, pin: Pin) -> None:
    (folder / "m" / "qa.yaml").write_text(QA.replace("}}\n", "}, limit: 1}\n"))
    result = lock_one(folder, cache_dir, [pin])
    assert result.status == "repinned"
    assert result.pin is not None
    assert (result.pin.samples, result.pin.sources) == (1, pin.sources)


def test_side_of_a_conflict_that_fits_the_manifest_is_kept(
    folder: Path, cache_dir: Path, pin: Pin
) -> None:
    other = replace(pin, spec="sha256:" + "0" * 64)
    assert lock_one(folder, cache_dir, [other, pin]).pin == pin
    assert lock_one(folder, cache_dir, [pin, other]).pin == pin


def test_upgrade_of_unchanged_bytes_moves_nothing(folder: Path, cache_dir: Path, pin: Pin) -> None:
    result = lock_one(folder, cache_dir, [pin], upgrade=True)
    assert (result.status, result.pin, result.change) == ("unmoved", pin, "")


def test_upgrade_describes_what_moved(folder: Path, cache_dir: Path, pin: Pin) -> None:
    (folder / "qa.csv").write_text(RECORDS.replace("2\n", "two\n"))
    result = lock_one(folder, cache_dir, [pin], upgrade=True)
    assert result.status == "moved"
    assert result.pin is not None
    versions = f"{pin.sources[0].short} → {result.pin.sources[0].short}"
    assert result.change == f"{versions}, 2 samples, 1 changed"


def test_upgrade_without_the_old_samples_is_not_compared(
    folder: Path, tmp_path: Path, pin: Pin
) -> None:
    (folder / "qa.csv").write_text(RECORDS.replace("2\n", "two\n"))
    result = lock_one(folder, tmp_path / "empty", [pin], upgrade=True)
    assert result.change.endswith("not compared: the old ones are not in the cache")


FAILURES = [  # manifest, status, part of the message
    (QA.replace("qa.csv", "gone.csv"), "failed", "gone.csv: no such file"),
    (QA.replace("input: q", "input: none"), "failed", "none"),
    (AWAY, "unreachable", "refuses the connection"),
    ("datasets:\n  qa: {extends: none}\n", "failed", "none"),
]


@pytest.mark.parametrize(("manifest", "status", "message"), FAILURES)
def test_old_pin_is_kept_if_pinning_fails(
    folder: Path, cache_dir: Path, pin: Pin, manifest: str, status: str, message: str
) -> None:
    (folder / "m" / "qa.yaml").write_text(manifest)
    result = lock_one(folder, cache_dir, [pin])
    assert (result.status, result.pin) == (status, pin)
    assert message in str(result.error)
    data = result.to_dict()
    assert (data["samples"], data["error"]["type"]) == (2, type(result.error).__name__)


def test_a_commit_of_the_manifest_is_the_pin_where_it_can_t_be_reached(
    folder: Path, cache_dir: Path
) -> None:
    source = f"{{type: hf, path: o/n, split: test, revision: {'a' * 40}}}"
    (folder / "m" / "qa.yaml").write_text(f"datasets: {{qa: {{source: {source}}}}}\n")
    result = lock_one(folder, cache_dir, offline=True)
    assert (result.status, result.pin, result.commit is None) == ("commit", None, False)


def make_pin(samples: int = 3, **keys: Any) -> Pin:
    return pin_of(samples, **{"ordered": "sha256:aaaaaaaaaa", **keys})


def test_new_lock_has_new_pins_and_drops_other_names() -> None:
    ours, theirs, new = (make_pin(samples=n) for n in (1, 2, 3))
    old = [Lock({"a": ours, "gone": ours}), Lock({"a": theirs, "b": theirs})]
    results = [
        LockResult(name="c", status="pinned", pin=new),
        LockResult(name="d", status="failed", error=SourceError("x")),
    ]
    lock = new_lock(old, results, {"a", "b", "c", "d"})
    assert lock.pins == {"a": ours, "b": theirs, "c": new}


def source(digit: str) -> Material:
    return Material(location="hf://datasets/a/b", revision=digit * 40)


ONE, TWO = make_pin(sources=(source("1"),)), make_pin(sources=(source("2"),))
REORDERED, OTHER = (make_pin(ordered="sha256:bbbbbbbbbb", unordered=one) for one in (DIGEST, "v"))
MOVES = {  # description: old pin, new pin, changed samples
    f"{source('1').short} → {source('2').short}, 3 samples, none changed": (ONE, TWO, 0),
    f"none → {source('2').short}, 3 samples, none changed": (
        ONE,
        make_pin(sources=(source("1"), source("2"))),
        0,
    ),
    "samples aaaaaaa → bbbbbbb, 3 samples, in a different order": (make_pin(), REORDERED, 0),
    "samples aaaaaaa → bbbbbbb, 1,300 samples (1,200 before), 1,100 changed": (
        make_pin(1200),
        replace(OTHER, samples=1300),
        1100,
    ),
    "samples aaaaaaa → bbbbbbb, 1 sample (2 before), 1 changed": (
        make_pin(2),
        replace(OTHER, samples=1),
        1,
    ),
    "samples aaaaaaa → bbbbbbb, 3 samples, not compared: the old ones are not in the cache": (
        make_pin(),
        OTHER,
        None,
    ),
}


@pytest.mark.parametrize("text", MOVES)
def test_move_is_described(text: str) -> None:
    assert describe_move(*MOVES[text]) == text


def test_conflict_that_can_t_be_pinned_anew_keeps_ours_and_fails(
    folder: Path, cache_dir: Path, pin: Pin
) -> None:
    other = Material(location="qa.csv", size=1, sha256="0" * 64)
    theirs = replace(pin, sources=(other,))
    (folder / "qa.csv").unlink()
    result = lock_one(folder, cache_dir, [pin, theirs])
    assert (result.status, result.pin) == ("failed", pin)
    assert result.note == "both sides pinned other bytes or samples; took the pin of ours for now"
    assert result.to_dict()["merge"] == result.note


def test_conflict_of_samples_alone_keeps_the_pinned_bytes(
    folder: Path, cache_dir: Path, pin: Pin
) -> None:
    wrong = replace(pin, samples=7)
    result = lock_one(folder, cache_dir, [wrong, replace(pin, samples=8)])
    assert result.pin == pin
    assert result.note.endswith("so it was pinned anew")
