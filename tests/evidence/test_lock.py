"""Pins from real files at hand are those that `registry lock` writes from their public addresses."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from registry.lockfile.models import Lock, read_lock
from tests.evidence.repositories import Files
from tests.evidence.rows import REPOSITORY
from tests.git_repository import GitRepository

ROWS = b"q,a\nOne?,1\nTwo?,2\n"


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, str]:
    """Make a folder with the bare repository `acme+qa`; return it and the commit of `d/qa.csv`."""
    work = GitRepository.make(tmp_path / "work", {"d/qa.csv": ROWS.decode()})
    work.git("clone", "-q", "--bare", str(work.folder), str(tmp_path / "all" / "acme+qa" / "repo"))
    return tmp_path / "all", work.git("rev-parse", "HEAD")


def test_lock_has_the_bytes_of_the_commit_and_the_samples(
    tmp_path: Path, repository: tuple[Path, str]
) -> None:
    folder, commit = repository
    root = tmp_path / "catalog"
    root.mkdir()
    url = f"https://raw.githubusercontent.com/acme/qa/{commit}/d"
    (root / "datasets.yaml").write_text(
        "version: 1\ndatasets:\n"
        f"  qa: {{source: {{type: csv, path: '{url}/qa.csv'}}, fields: {{input: q, target: a}}}}\n"
        f"  no: {{source: {{type: csv, path: '{url}/no.csv'}}, fields: {{input: q, target: a}}}}\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "tests.evidence.lock", "--root", str(root / "datasets.yaml")]
    done = subprocess.run(
        [*command, "--repositories", str(folder), "qa", "no"],
        cwd=REPOSITORY,
        env={**os.environ, "REGISTRY_RETRIES": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        "no.csv: no such file (only the commit that its manifest names is written)" in done.stderr
    )
    lock = read_lock(root / "datasets.lock") or Lock()
    (file,) = lock.pins["qa"].sources
    assert lock.pins["qa"].samples == 2
    assert (file.location, file.etag) == (f"{url}/qa.csv", None)
    assert file.sha256 == hashlib.sha256(ROWS).hexdigest()
    assert [row.revision for row in lock.commits["no"].sources] == [commit]


def test_copies_are_found_by_the_longest_part_of_their_path(tmp_path: Path) -> None:
    (tmp_path / "qa" / "en").mkdir(parents=True)
    (tmp_path / "qa" / "en" / "t.csv").write_bytes(b"en")
    (tmp_path / "qa" / "t.csv").write_bytes(b"any")
    urls = {f"https://example.org/{name}/t.csv": "qa" for name in ("en", "de")}
    found = Files(urls, folders=[tmp_path])
    assert [found.find(url) for url in urls] == [b"en", b"any"]
    assert found.find("https://example.org/other/t.csv") is None
