"""`package:` in a checkout under review names installed packages only, and nothing through links."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.git_repository import write_files

SECRET = "hunter2-of-the-runner"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Write a checkout beside a private folder, which it makes a package by a link."""
    home = tmp_path / "home"
    index = (
        "version: 1\ninclude: ['package:linked']\ndatasets:\n"
        "  linked: {source: {type: csv, path: 'package:linked/x.csv'}}\n"
        "  documents: {source: {type: csv, path: 'package:documents/x.csv'}}\n"
        "  own: {source: {type: csv, path: 'package:own/x.csv'}}\n"
        "  glob: {source: {type: csv, path: 'package:own/*.csv'}}\n"
    )
    files = {
        "documents/x.csv": f"input,target\n{SECRET},x\n",
        "documents/datasets.yaml": f"{SECRET}: 1\n",
        "documents/__init__.py": "",
        "checkout/own/__init__.py": "",
        "checkout/datasets.yaml": index,
    }
    checkout = write_files(home, files) / "checkout"
    (checkout / "linked").symlink_to(home / "documents")
    (checkout / "own" / "x.csv").symlink_to(home / "documents" / "x.csv")
    return checkout


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the module, as somebody does who has not read that the console script is safer."""
    command = [sys.executable, "-m", "registry", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("where", ["checkout", "home"])
def test_no_folder_of_the_working_directory_is_a_package(checkout: Path, where: str) -> None:
    folder, root = (checkout, ".") if where == "checkout" else (checkout.parent, "checkout")
    if where == "home":
        (checkout.parent / "documents" / "__init__.py").unlink()
    for command in ("validate", "list", "lock", "sync --json"):
        done = run(folder, *command.split(), "--root", root)
        assert SECRET not in done.stdout + done.stderr, done
        assert "Traceback" not in done.stderr, done
    assert done.stdout.count('"status": "failed"') == 4, done


def test_a_package_that_the_user_put_on_the_path_is_read(checkout: Path) -> None:
    (checkout / "own" / "x.csv").unlink()
    (checkout / "own" / "x.csv").write_text("input,target\nmine,x\n")
    index = (checkout / "datasets.yaml").read_text()
    (checkout / "datasets.yaml").write_text(index.replace("include: ['package:linked']", ""))
    done = run(checkout, "preview", "own", "--root", ".")
    assert (done.returncode, "mine" in done.stdout) == (0, True), done
