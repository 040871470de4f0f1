"""`package:` in a checkout under review names installed packages only, and nothing through links."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SECRET = "hunter2-of-the-runner"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Write a checkout beside a private folder, which it makes a package by a link."""
    home = tmp_path / "home"
    (home / "documents").mkdir(parents=True)
    (home / "documents" / "x.csv").write_text(f"input,target\n{SECRET},x\n")
    (home / "documents" / "datasets.yaml").write_text(f"{SECRET}: 1\n")
    (home / "documents" / "__init__.py").touch()
    checkout = tmp_path / "home" / "checkout"
    checkout.mkdir()
    (checkout / "linked").symlink_to(home / "documents")
    (checkout / "own").mkdir()
    (checkout / "own" / "__init__.py").touch()
    (checkout / "own" / "x.csv").symlink_to(home / "documents" / "x.csv")
    (checkout / "datasets.yaml").write_text(
        "version: 1\ninclude: ['package:linked']\ndatasets:\n"
        "  linked: {source: {type: csv, path: 'package:linked/x.csv'}}\n"
        "  documents: {source: {type: csv, path: 'package:documents/x.csv'}}\n"
        "  own: {source: {type: csv, path: 'package:own/x.csv'}}\n"
        "  glob: {source: {type: csv, path: 'package:own/*.csv'}}\n"
    )
    return checkout


def run(folder: Path, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the module, as somebody does who has not read that the console script is safer."""
    environment = {**os.environ, "REGISTRY_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-m", "registry", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("where", ["checkout", "home"])
def test_no_folder_of_the_working_directory_is_a_package(
    checkout: Path, tmp_path: Path, where: str
) -> None:
    folder, root = (checkout, ".") if where == "checkout" else (checkout.parent, "checkout")
    if where == "home":
        (checkout.parent / "documents" / "__init__.py").unlink()
    for arguments in (["validate"], ["sync"], ["list"], ["lock"]):
        done = run(folder, tmp_path / "cache", *arguments, "--root", root)
        assert SECRET not in done.stdout + done.stderr, done
        assert "Traceback" not in done.stderr, done
    done = run(folder, tmp_path / "cache", "sync", "--json", "--root", root)
    assert done.stdout.count('"status": "failed"') == 4, done


def test_a_package_that_the_user_put_on_the_path_is_read(checkout: Path, tmp_path: Path) -> None:
    (checkout / "own" / "x.csv").unlink()
    (checkout / "own" / "x.csv").write_text("input,target\nmine,x\n")
    index = (checkout / "datasets.yaml").read_text()
    (checkout / "datasets.yaml").write_text(index.replace("include: ['package:linked']", ""))
    done = run(checkout, tmp_path / "cache", "preview", "own", "--root", ".")
    assert (done.returncode, "mine" in done.stdout) == (0, True), done
