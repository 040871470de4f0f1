"""What other code understood is not used again, and code that has not changed is not read."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry.catalog import code_version as module

if TYPE_CHECKING:
    from collections.abc import Callable

whole = module._digest.__wrapped__
"""The digest of the bytes, which is not remembered."""

FILES = ("package/a.py", "package/inner/b.py", "schemas/index.schema.json")


def age(*paths: Path) -> None:
    """Make files older than those that may change under the same time stamp."""
    for path in paths:
        os.utime(path, (time.time() - 60, time.time() - 60))


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a checkout with some modules and a schema."""
    top = tmp_path / "checkout"
    for name in FILES:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(f"{name}\n", encoding="utf-8")
        age(top / name)
    use(top, monkeypatch)
    return top


def use(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOADED", time.time_ns() + 10**18)
    monkeypatch.setattr(module, "_package", lambda: top / "package")
    monkeypatch.setattr(module, "builtin_root", lambda: top / "datasets.yaml")


@pytest.fixture
def known(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], tuple[str, bool]]:
    """Give what tells the digest as a new process does, and whether it read the code for it."""
    (tmp_path / "kept").mkdir()

    def tell() -> tuple[str, bool]:
        read: list[str] = []

        def taken() -> str:
            read.append(whole())
            return read[0]

        with monkeypatch.context() as patch:
            patch.setattr(module, "code_digest", taken)
            return module.known_code_digest.__wrapped__(tmp_path / "kept"), bool(read)

    return tell


@pytest.mark.parametrize("name", FILES)
def test_every_module_and_schema_counts(code: Path, name: str) -> None:
    before = whole()
    (code / name).write_text(f"{name[::-1]}\n", encoding="utf-8")
    assert whole() != before


def test_other_files_and_where_the_code_lies_do_not_count(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = whole()
    (code / "package/a.pyc").write_bytes(b"x")
    use(code.rename(code.with_name("moved")), monkeypatch)
    assert whole() == before


def test_the_version_of_python_counts(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = whole()
    monkeypatch.setattr("sys.version", "3.99")
    assert whole() != before


def test_code_that_has_not_changed_is_not_read(known: Callable[[], tuple[str, bool]]) -> None:
    assert known() == (whole(), True)
    assert known() == (whole(), False)


@pytest.mark.parametrize("name", FILES)
def test_code_that_has_changed_is_read(
    code: Path, known: Callable[[], tuple[str, bool]], name: str
) -> None:
    before, _ = known()
    state = (code / name).stat()
    (code / name).write_text(f"{name[::-1]}\n", encoding="utf-8")
    # Of the same size and date, as archives with fixed dates have it; the inode tells.
    os.utime(code / name, ns=(state.st_atime_ns, state.st_mtime_ns))
    after, read = known()
    assert read
    assert after == whole() != before


def test_code_that_came_or_went_is_noticed(
    code: Path, known: Callable[[], tuple[str, bool]]
) -> None:
    digests = [known()[0]]
    shutil.copyfile(code / "package/a.py", code / "package/c.py")
    age(code / "package/c.py")
    digests.append(known()[0])
    (code / "package/a.py").unlink()
    digests.append(known()[0])
    assert len(set(digests)) == 3


def test_code_that_was_just_written_is_read_the_next_time_too(
    code: Path, known: Callable[[], tuple[str, bool]]
) -> None:
    (code / "package/a.py").write_text("new\n", encoding="utf-8")
    assert [known()[1], known()[1]] == [True, True]


def test_code_that_changed_after_it_was_loaded_is_that_of_this_process_alone(
    code: Path, known: Callable[[], tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, _ = known()
    monkeypatch.setattr(module, "_LOADED", time.time_ns())
    time.sleep(0.05)  # the clock of files is a coarse one
    (code / "package/a.py").write_text("new\n", encoding="utf-8")
    own, _ = known()
    assert own == module.code_digest()
    assert own not in (before, whole())
    assert known() == (own, False)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"states": 1}', b"\xff"])
def test_what_is_damaged_is_taken_anew(
    tmp_path: Path, known: Callable[[], tuple[str, bool]], content: bytes
) -> None:
    known()
    (kept,) = (tmp_path / "kept").iterdir()
    kept.write_bytes(content)
    assert known() == (whole(), True)
    assert known() == (whole(), False)


def test_a_digest_of_which_a_digit_changed_is_taken_anew(
    tmp_path: Path, known: Callable[[], tuple[str, bool]]
) -> None:
    digest, _ = known()
    (kept,) = (tmp_path / "kept").iterdir()
    other = digest.replace(digest[-1], "0" if digest[-1] != "0" else "1")
    kept.write_bytes(kept.read_bytes().replace(digest.encode(), other.encode()))
    assert [known(), known()] == [(digest, True), (digest, False)]


def test_a_folder_that_can_not_be_written_costs_time_only(
    tmp_path: Path, known: Callable[[], tuple[str, bool]]
) -> None:
    (tmp_path / "kept").rmdir()
    (tmp_path / "kept").write_bytes(b"")
    assert known() == (whole(), True)
