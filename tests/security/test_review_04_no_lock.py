"""A deleted lockfile does not pass the check."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.git_repository import HERMETIC, GitRepository


def test_check_of_a_deleted_lock_is_a_difference(tmp_path: Path) -> None:
    def check(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-m", "registry", "lock", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n")
    (tmp_path / "m.yaml").write_text(
        "datasets:\n  qa: {source: {type: json, path: 'https://127.0.0.1:1/qa.jsonl'}}\n"
    )
    assert check().returncode == 0
    assert check("--check").returncode == 0
    (tmp_path / "datasets.lock").unlink()
    done = check("--check")
    assert done.returncode == 1
    assert done.stdout == "datasets.lock: there is no lockfile (`registry lock` writes one)\n"


def test_check_by_the_rules_of_a_base_says_that_the_change_deletes_it(tmp_path: Path) -> None:
    repository = GitRepository.make(
        tmp_path / "repository",
        {
            "datasets.yaml": "version: 1\ninclude: [m.yaml]\n",
            "m.yaml": "datasets: {}\n",
            "datasets.lock": "version: 1\ndatasets: {}\n",
        },
    )
    (repository.folder / "datasets.lock").unlink()
    command = [sys.executable, "-I", "-m", "registry", "lock", "--check", "--config-from", "main"]
    environment = {**os.environ, **HERMETIC}
    done = subprocess.run(
        command,
        cwd=repository.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done
    assert "the base has one: the change deletes it, and every pin" in done.stdout
