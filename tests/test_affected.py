"""`make affected` names the tests that a change reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.affected import ALWAYS, BY_FILE, ROOT, affected, changed_files
from tests.git_repository import GitRepository


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ("src/registry/mapping/regex.py", "tests/mapping tests/pipeline/test_pipeline.py"),
        ("src/registry/mapping/regex.py", "tests/security/test_attack_10_regex.py"),
        ("src/registry/rules.py", "tests/test_rules.py tests/lint/test_runner.py"),
        ("src/registry/plugins/doctor/secrets.py", "tests/plugins/doctor"),
        ("tests/decode/test_arrow_files.py", "tests/decode/test_arrow_files.py"),
        ("tests/security/pull_request.py", "tests/security/test_review_state.py"),
        ("tests/faults/conftest.py", "tests/faults"),
        ("tests/terminal/captures/a.txt", "tests/terminal"),
        ("Makefile", "tests/test_make.py"),
        ("docs/explanation/design.md", "tests/docs"),
        ("src/registry/gone.py", ""),
    ],
)
def test_change_reaches_tests(changed: str, reached: str) -> None:
    found = affected([changed])
    assert set(reached.split()) <= set(found)
    assert set(ALWAYS) <= set(found)


def test_change_leaves_out_what_does_not_import_it() -> None:
    found = affected(["src/registry/lint/runner.py"])
    assert "tests/lint" in found
    assert not {"tests/mapping", "tests/decode", "tests/store"} & set(found)


def test_a_folder_replaces_its_files() -> None:
    found = affected(["tests/faults/conftest.py", "tests/faults/test_fault_26_names.py"])
    assert found == ["tests/faults", *ALWAYS]


def test_listed_tests_exist() -> None:
    assert [
        one for tests in BY_FILE.values() for one in tests.split() if not (ROOT / one).exists()
    ] == []


def test_changed_files_are_those_of_the_branch_and_the_new_ones(tmp_path: Path) -> None:
    repository = GitRepository.make(tmp_path / "here", {"a.py": "1", "b.py": "1", "c.py": "1"})
    repository.git("switch", "--quiet", "--create", "topic")
    repository.write({"a.py": "2"})
    repository.commit()
    repository.git("switch", "--quiet", "main")
    repository.write({"c.py": "2"})
    repository.commit()
    repository.git("switch", "--quiet", "topic")
    repository.write({"b.py": "2", "ü d.py": "1"})
    assert changed_files(repository.folder, "main") == ["a.py", "b.py", "ü d.py"]
