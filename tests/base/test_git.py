"""Which repository is read, and what of its settings and of the environment counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from registry.base.git import repository_of
from registry.errors import RevisionError
from tests.git_repository import GitRepository, git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return GitRepository.make(tmp_path / "repository", {"m/a.yaml": "a: 1"}).folder


def test_folder_outside_of_any_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RevisionError, match=r"not a git repository.*compared without git"):
        repository_of(tmp_path)


def test_git_that_is_not_installed_is_an_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RevisionError, match=r"git is not installed \(folders can be compared"):
        repository_of(folder)


def test_repository_is_found_from_a_folder_in_it_also_through_a_link(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(folder)
    for top in (folder, tmp_path / "link"):
        found = repository_of(top / "m")
        assert (found.top, found.git_dir) == (top, folder / ".git")


def test_linked_work_tree_is_a_repository(folder: Path, tmp_path: Path) -> None:
    git(folder, "worktree", "add", "--quiet", "--detach", str(tmp_path / "other"))
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "second")
    found = repository_of(tmp_path / "other" / "m")
    assert found.top == tmp_path / "other"
    assert found.git("rev-parse", "HEAD").strip() == git(folder, "rev-parse", "HEAD~1")


def test_work_tree_without_git_folder_is_found_by_the_variables(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".git").rename(tmp_path / "elsewhere")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    with pytest.raises(RevisionError, match="not a git repository"):
        repository_of(folder / "m")
    monkeypatch.setenv("GIT_WORK_TREE", str(folder))
    assert repository_of(folder / "m").top == folder


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"])
def test_repository_of_a_hook_is_not_that_of_the_catalog(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    other = GitRepository.make(tmp_path / "other", {"b.yaml": "b: 1"}).folder / ".git"
    head = git(folder, "rev-parse", "HEAD")
    monkeypatch.setenv(name, str(other / "objects" if "OBJECT" in name else other))
    assert repository_of(folder).git("rev-parse", "HEAD^{commit}").strip() == head


def test_settings_of_the_user_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COUNT": "1", "KEY_0": "alias.mine", "VALUE_0": "version"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert repository_of(folder).git("mine").startswith("git version")


@pytest.mark.parametrize("kind", ["LITERAL", "GLOB", "NOGLOB", "ICASE"])
def test_pathspecs_mean_the_same_whatever_tool_starts_us(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv(f"GIT_{kind}_PATHSPECS", "1")
    for written in (":(top,literal)m/a.yaml", ":(top,glob)**/a.yaml", "m/*.yaml"):
        assert repository_of(folder).git("ls-files", "--", written, "M/A.yaml") == "m/a.yaml\n"


def test_work_tree_of_the_settings_that_is_missing_is_an_error(folder: Path) -> None:
    git(folder, "config", "core.worktree", "../missing")
    with pytest.raises(RevisionError, match=r"missing.*compared without git"):
        repository_of(folder).git("ls-files")


def test_folder_whose_name_has_lines_is_found(tmp_path: Path) -> None:
    folder = GitRepository.make(tmp_path / "a\n/b\n", {"a.yaml": ""}).folder
    assert (folder / ".git", folder) == (repository_of(folder).git_dir, repository_of(folder).top)


def test_errors_of_git_show_no_raw_control_characters(folder: Path) -> None:
    with pytest.raises(RevisionError, match=r"Not a valid object name x\\u\{202e\}y"):
        repository_of(folder).git("cat-file", "blob", "x\u202ey")


def test_no_program_of_the_settings_runs(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    program.chmod(0o755)
    (folder / ".git/info/attributes").write_text("* filter=evil\n")
    for key in ("filter.evil.clean", "filter.evil.process", "gpg.program"):
        git(folder, "config", key, str(program))
    signed = f"{git(folder, 'cat-file', 'commit', 'HEAD')}\n".replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----\n\n", 1
    )
    (tmp_path / "commit").write_text(signed)
    name = git(folder, "hash-object", "-t", "commit", "-w", str(tmp_path / "commit"))
    git(folder, "config", "filter.evil.required", "true")
    git(folder, "config", "log.showSignature", "true")
    os.utime(folder / "m/a.yaml", (1, 1))
    found = repository_of(folder)
    assert found.status("m/a.yaml") == ""
    assert found.git("show", "--no-patch", "--format=%H", name) == f"{name}\n"
    assert not (tmp_path / "ran").exists()
    (folder / "m/a.yaml").write_text("a: 2")
    assert found.status("m/a.yaml") == " M m/a.yaml\n"
    git(folder, "config", "filter.a=b.clean", str(program))
    with pytest.raises(RevisionError, match="a filter with `=` in its name"):
        found.status("m/a.yaml")


@pytest.mark.parametrize("entry", [".", "", "bin"])
def test_program_git_of_the_catalog_is_not_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    program = folder / entry / "git"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    program.chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{entry}:{os.environ['PATH']}")
    assert repository_of(folder).top == folder
    assert not (tmp_path / "ran").exists()
