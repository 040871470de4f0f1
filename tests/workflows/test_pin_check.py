"""What the check of a pin finds, and how it is summarized."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from registry.base.materials import Material
from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import LockStaleError, SourceError
from registry.load.materials import locked_sources
from registry.lockfile.pinned import PinnedSources
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import spec_of_source
from registry.sources.pins import SourceContext
from registry.workflows.pin_check import (
    Difference,
    PinCheck,
    Reason,
    compare_sources,
    pin_offline,
    summary_of,
)
from tests.conftest import Https
from tests.lockfile.pins import pin_of


def checked(name: str, *reasons: Reason) -> PinCheck:
    check = PinCheck(name, is_checked=True)
    for reason in reasons:
        check.skip(reason, "samples", "ordered")
    return check


def test_equal_fields_are_no_difference() -> None:
    check = PinCheck("qa")
    check.compare("samples", 3, 3)
    assert check.differences == []
    check.compare("samples", 7, 3)
    hint = "`registry lock --upgrade qa` pins what is there now"
    assert check.differences == [Difference("qa", "samples is 7 in its pin, but 3", hint)]
    assert str(check.differences[0]) == f"qa: samples is 7 in its pin, but 3 ({hint})"


def test_values_of_a_difference_are_shortened_and_escaped() -> None:
    check = PinCheck("qa")
    check.compare("columns", ["\x1b[31m" + "x" * 1000], [])
    assert "\x1b" not in check.differences[0].message
    assert len(check.differences[0].message) < 200


def test_summary_counts_pins_by_reason() -> None:
    checks = [
        checked("a"),
        checked("b", Reason.BYTES, Reason.SAMPLES),
        checked("c", Reason.SAMPLES),
        PinCheck("not-pinned"),
    ]
    assert summary_of(checks) == (
        "1 pin checked completely, 2 in part: source bytes not in the cache (1), samples not in"
        " the cache (2)"
    )
    assert summary_of([checked("a"), checked("b")]) == "2 pins checked completely"


def test_an_error_has_one_hint() -> None:
    check = PinCheck("qa")
    check.fails(SourceError("qa: a.csv: no such file"), "restore it")
    check.fails(SourceError("a.csv: outside (allow it)"), "restore it")
    assert [str(one) for one in check.differences] == [
        "qa: a.csv: no such file (restore it)",
        "qa: a.csv: outside (allow it)",
    ]


def spec_of(folder: Path, **source: Any) -> DatasetSpec:
    return DatasetSpec(name="qa", folder=folder, source=spec_of_source(source, folder))


def context_of(
    cache_dir: Path, sources: tuple[Material, ...] | None, folder: Path
) -> SourceContext:
    lock = None
    if sources is not None:
        lock = PinnedSources(dataset="qa", folder=folder, sources=sources)
    return SourceContext(
        boundary=UNBOUNDED, cache=Cache(cache_dir), offline=sources is not None, lock=lock
    )


def check(
    spec: DatasetSpec, sources: tuple[Material, ...], cache_dir: Path
) -> tuple[list[str], dict[str, Reason]]:
    """Return the differences and the unchecked fields of a pin with these sources."""
    context, found = context_of(cache_dir, sources, spec.folder), PinCheck("qa")
    pin = pin_of(sources=sources)
    compare_sources(found, spec, pin, pin_offline(spec, context), context)
    return [one.message for one in found.differences], {
        one.field: one.reason for one in found.unchecked
    }


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text(f"q\n{name}\n")
    return tmp_path


def rows_of(spec: DatasetSpec, cache_dir: Path) -> tuple[Material, ...]:
    return locked_sources(spec, pin_offline(spec, context_of(cache_dir, None, spec.folder)))


def test_present_files_have_no_differences(files: Path, cache_dir: Path) -> None:
    spec = spec_of(files, type="csv", path="*.csv")
    assert check(spec, rows_of(spec, cache_dir), cache_dir) == ([], {})


def test_changed_files_are_listed(files: Path, cache_dir: Path) -> None:
    spec = spec_of(files, type="csv", path="*.csv")
    rows = rows_of(spec, cache_dir)
    (files / "a.csv").write_text("q\nchanged\n")
    assert check(spec, rows, cache_dir)[0] == ["a.csv differs from its pin"]
    (files / "b.csv").write_text("q\nchanged\n")
    assert check(spec, rows, cache_dir)[0] == ["a.csv, b.csv are different from their pins"]


def test_new_and_missing_files_are_listed(files: Path, cache_dir: Path) -> None:
    spec = spec_of(files, type="csv", path="*.csv")
    rows = rows_of(spec, cache_dir)
    for number in range(7):
        (files / f"n{number}.csv").write_text("q\nx\n")
    (files / "a.csv").unlink()
    assert check(spec, rows, cache_dir)[0] == [
        "n0.csv, n1.csv, n2.csv, n3.csv, n4.csv and 2 more are in its sources, but not pinned",
        "a.csv is pinned, but not in its sources",
    ]


def test_order_of_files_is_compared(files: Path, cache_dir: Path) -> None:
    spec = spec_of(files, type="csv", path=["b.csv", "a.csv"])
    rows = rows_of(spec, cache_dir)
    assert check(spec, rows[::-1], cache_dir)[0] == ["its sources are pinned in another order"]


def test_path_without_a_pin_is_an_error(files: Path, cache_dir: Path) -> None:
    spec = spec_of(files, type="csv", path="a.csv")
    other = rows_of(spec_of(files, type="csv", path="b.csv"), cache_dir)
    with pytest.raises(LockStaleError, match=r"does not pin a\.csv"):
        check(spec, other, cache_dir)


def test_remote_bytes_are_compared_where_they_are_cached(
    tmp_path: Path, cache_dir: Path, https: Https
) -> None:
    url = https.put("/a.csv", b"q\nOne?\n", etag="v1")
    spec = spec_of(tmp_path, type="csv", path=url)
    rows = rows_of(spec, cache_dir)
    https.requests.clear()
    etag = {"sources[0].etag": Reason.VALIDATOR}
    assert check(spec, rows, cache_dir) == ([], etag)
    wrong = (replace(rows[0], size=1),)
    assert check(spec, wrong, cache_dir)[0] == ["sources[0].size is 1 in its pin, but 7"]
    bytes_of = {"sources[0].size": Reason.BYTES, "sources[0].sha256": Reason.BYTES}
    assert check(spec, rows, tmp_path / "cold") == ([], etag | bytes_of)
    Cache(cache_dir).blob(rows[0].sha256 or "").write_bytes(b"q\nTwo!\n")
    (message,) = check(spec, rows, cache_dir)[0]
    assert message == f"the bytes of {url} in the cache are damaged"
    assert https.requests == []
