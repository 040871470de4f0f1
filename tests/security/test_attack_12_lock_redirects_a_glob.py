"""A lock-only edit that makes a reviewed glob read another file is refused wherever it is used."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.git_repository import write_files
from tests.security.audit import run_audited

SOURCE = "{type: csv, path: 'data/*.csv', fieldnames: [q]}"
DATASET = f"{{source: {SOURCE}, fields: {{input: q, target: {{const: x}}}}}}"
INDEX = f"version: 1\ndatasets: {{qa: {DATASET}}}\n"
SECRET = "SECRET-of-the-runner"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a locked catalog, and a secret beside it."""
    secret = dict.fromkeys(["secret", "catalog/private.csv"], f"{SECRET}\n")
    files = {"catalog/datasets.yaml": INDEX, "catalog/data/a.csv": "Question?\n"}
    folder = write_files(tmp_path, {**files, **secret}) / "catalog"
    assert run_audited(["lock"], folder=folder).code == 0
    return folder


@pytest.mark.parametrize(
    ("key", "target"),
    [
        ("asked", "/etc/hostname"),
        ("requested", "../secret"),
        ("requested", "data/../../secret"),
        ("requested", "private.csv"),
        ("requested", "data/../private.csv"),
    ],
)
def test_a_redirected_glob_is_an_error_and_the_file_is_not_opened(
    folder: Path, key: str, target: str
) -> None:
    path = folder / "datasets.lock"
    text = path.read_text()
    assert "location: data/a.csv\n" in text
    redirected = text.replace("location: data/a.csv", f"location: {target}")
    path.write_text(redirected.replace("requested", key))
    done = run_audited(["validate"], folder=folder)
    is_outside = not (folder / target).resolve().is_relative_to(folder)
    assert (f"datasets.lock pins '{target}', which is outside" in done.text) == is_outside
    assert done.code == (1 if is_outside else 0), done.text
    reached = str((folder / target).resolve())
    for arguments in (["lock", "--check"], ["sync"], ["preview", "qa"], ["lock"]):
        done = run_audited(arguments, folder=folder)
        assert done.code == 1, (arguments, done.text)
        assert f"pins {target} for data/*.csv" in done.text, (arguments, done.text)
        assert "`registry lock --upgrade qa`" in done.text
        assert SECRET not in done.text
        assert reached not in {str(Path(one).resolve()) for one in done.opened}
    assert run_audited(["lock", "--upgrade", "qa"], folder=folder).code == 0
    assert path.read_text() == text


def test_a_link_that_the_glob_matches_is_not_followed_out_of_the_catalog(folder: Path) -> None:
    secret = folder.parent / "secret"
    (folder / "data" / "b.csv").symlink_to(secret)
    data = secret.read_bytes()
    row = (
        "      - location: data/b.csv\n        requested: data/*.csv\n"
        f'        size: {len(data)}\n        sha256: "{hashlib.sha256(data).hexdigest()}"\n'
    )
    path = folder / "datasets.lock"
    path.write_text(path.read_text().replace("    samples: 1", f"{row}    samples: 2"))
    for arguments in (["lock", "--check"], ["sync"]):
        done = run_audited(arguments, folder=folder)
        assert done.code == 1, (arguments, done.text)
        assert "outside the catalog's folder" in done.text
        assert SECRET not in done.text
        assert str(secret.resolve()) not in done.opened
