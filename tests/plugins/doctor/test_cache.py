"""The cache is checked without changing it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from registry.plugins.doctor.cache import cache_observations
from registry.plugins.doctor.observation import Observation
from tests.cli.invocation import Run


def found(folder: Path) -> dict[str, Observation]:
    return {one.name: one for one in cache_observations(folder)}


def test_cache_that_is_not_there_yet_is_fine_and_stays_away(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "cache"
    observations = found(folder)
    assert {name: one.status for name, one in observations.items()} == {"cache": "ok", "disk": "ok"}
    assert observations["cache"].text.startswith(f"{folder}, format ")
    assert not folder.parent.exists()


def test_content_is_counted(run: Run, own: Path, cache_dir: Path) -> None:
    assert run("sync", "qa").code == 0
    observations = found(cache_dir)
    assert {one.status for one in observations.values()} == {"ok"}
    assert observations["cache content"].text.startswith("1 item ")


def test_damaged_old_and_foreign_files_are_named(run: Run, own: Path, cache_dir: Path) -> None:
    assert run("sync", "qa").code == 0
    (entry,) = cache_dir.glob("v2/samples/*")
    (entry / "meta.json").write_bytes(b"{}")
    (cache_dir / "v2" / "notes.txt").write_text("mine", encoding="utf-8")
    (cache_dir / "v1").mkdir()
    observations = found(cache_dir)
    content = observations["cache content"]
    assert (content.status, content.text) == ("warn", "1 item damaged")
    assert content.next == "registry cache verify"
    assert observations["cache files"].text.endswith("v2: notes.txt")
    assert str(cache_dir / "v1") in observations["cache formats"].next
    assert entry.exists()


def test_folder_that_can_t_be_written_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    cache = found(tmp_path / "file")["cache"]
    assert (cache.status, cache.next) == (
        "fail",
        "set REGISTRY_CACHE_DIR to a folder of your own, with space",
    )


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_folder_that_others_can_write_fails(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    (cache,) = found(folder).values()
    assert cache.status == "fail"
    assert "writable by every user" in cache.text


def test_little_space_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def usage(path: Any) -> Any:
        return type("Usage", (), {"free": 1000})

    monkeypatch.setattr(shutil, "disk_usage", usage)
    disk = found(tmp_path)["disk"]
    assert (disk.status, disk.text) == ("warn", "1.0 kB free")
