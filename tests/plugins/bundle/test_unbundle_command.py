"""`unbundle`: what is printed, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.invocation import Run


@pytest.fixture
def file(run: Run, own: Path, tmp_path: Path) -> Path:
    """Give a bundle of one dataset."""
    assert run("lock").code == 0
    path = tmp_path / "out.tar.zst"
    assert run("bundle", "qa", "-o", str(path)).code == 0
    return path


def test_the_datasets_open_from_the_new_folder(run: Run, file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    result = run("unbundle", str(file), "--root", str(folder))
    assert result.code == 0, result.err
    assert result.lines[0] == f"1 dataset in {folder}: qa"
    assert run("preview", "qa", "--root", str(folder), "--offline").code == 0
    again = run("unbundle", str(file), "--root", str(folder), "--json").json
    assert (again["datasets"], again["written"]) == (["qa"], [])


@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_only_the_expected_file_is_taken(run: Run, file: Path, tmp_path: Path, prefix: str) -> None:
    digest = run("bundle", "qa", "-o", str(file), "--json").json["sha256"]
    root = ("--root", str(tmp_path / "new"))
    assert run("unbundle", str(file), *root, "--digest", f"{prefix}{digest}").code == 0
    refused = run("unbundle", str(file), *root, "--digest", f"{prefix}{'0' * 64}")
    assert refused.code == 1
    assert f"its sha256 is {digest}, not" in refused.err


def test_a_cut_file_is_an_error_in_one_line(run: Run, file: Path, tmp_path: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])
    result = run("unbundle", str(file), "--root", str(tmp_path / "new"))
    assert result.code == 1
    (line,) = result.err.splitlines()
    assert line.startswith(f"error: {file}: ")
    assert not (tmp_path / "new").exists()


def test_a_limit_of_the_size_is_kept(run: Run, file: Path, tmp_path: Path) -> None:
    result = run("unbundle", str(file), "--root", str(tmp_path / "new"), "--max-size", "1kB")
    assert result.code == 1
    assert "1,000 are allowed" in result.err


def test_a_missing_file_is_an_error_in_one_line(run: Run, tmp_path: Path) -> None:
    for options in ((), ("--digest", "0" * 64)):
        root = ("--root", str(tmp_path / "new"))
        result = run("unbundle", str(tmp_path / "missing"), *root, *options)
        assert result.code == 1
        assert result.err.startswith(f"error: {tmp_path / 'missing'}: can't be read: ")
