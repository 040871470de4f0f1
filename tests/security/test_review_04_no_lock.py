"""A deleted lockfile does not pass the check."""

from __future__ import annotations

from pathlib import Path

from tests.command_line import run
from tests.git_repository import HERMETIC, GitRepository


def test_check_of_a_deleted_lock_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n")
    (tmp_path / "m.yaml").write_text(
        "datasets:\n  qa: {source: {type: json, path: 'https://127.0.0.1:1/qa.jsonl'}}\n"
    )
    assert run(tmp_path, "lock").code == 0
    assert run(tmp_path, "lock", "--check").code == 0
    (tmp_path / "datasets.lock").unlink()
    done = run(tmp_path, "lock", "--check")
    assert done.code == 1
    assert done.out == "datasets.lock: there is no lockfile (`registry lock` writes one)\n"


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
    done = run(repository.folder, "lock", "--check", "--config-from", "main", environment=HERMETIC)
    assert done.code == 1, done
    assert "the base has one: the change deletes it, and every pin" in done.out
