"""Only the root index, and the user, permit what lies outside the catalog."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.boundary.boundary import Boundary
from registry.catalog.catalog import Catalog
from registry.catalog.permissions import boundary_of
from registry.errors import ManifestError

PERMISSIONS = {
    "trust": ["ours.mod:read"],
    "hosts": ["minio.example.org"],
    "secrets": {"QA_KEY": ["minio.example.org"]},
    "paths": ["../shared", "no\0file"],
}


def test_permissions_become_the_boundary(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    indexes = [tmp_path / "catalog" / "datasets.yaml", tmp_path / "package" / "datasets.yaml"]
    boundary = boundary_of(PERMISSIONS, indexes, ["/mnt/data"])
    folders = (f"{tmp_path}/catalog", f"{tmp_path}/package", f"{tmp_path}/shared", "/mnt/data")
    assert boundary == Boundary(
        folders=folders,
        hosts=frozenset({"minio.example.org"}),
        secrets={"QA_KEY": ("minio.example.org",)},
        trust=frozenset({"ours.mod:read"}),
    )


def write_index(folder: Path, permissions: str) -> Path:
    """Write an index, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / "datasets.yaml"
    index.write_text(f"version: 1\n{permissions}", encoding="utf-8")
    return index


def test_included_indexes_permit_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_index(tmp_path / "packages" / "theirs", "hosts: [evil.example]\npaths: [/]\n")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    boundary = Catalog.open(
        write_index(tmp_path / "root", "include: ['package:theirs']\n")
    ).boundary
    assert boundary.hosts == frozenset()
    assert boundary.folders == (f"{tmp_path}/root", f"{tmp_path}/packages/theirs")


def test_a_review_judges_by_the_index_of_its_base(tmp_path: Path) -> None:
    head = write_index(tmp_path / "head", "hosts: [evil.example]\npaths: [/]\n")
    base = write_index(tmp_path / "base", "hosts: [known.example]\n")
    boundary = Catalog.open(head, rules_from=base).boundary
    assert boundary.hosts == {"known.example"}
    assert boundary.folders == (str(tmp_path / "head"),)


def test_the_user_allows_paths_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_ALLOW_PATHS", "/mnt/a:/mnt/b")
    assert Catalog.open(write_index(tmp_path, "")).boundary.folders[1:] == ("/mnt/a", "/mnt/b")


@pytest.mark.parametrize(
    ("entry", "valid"),
    [
        ("minio.example.org", True),
        ("10.0.0.7:9000", True),
        ("'::1'", True),
        ("'[fd00::7]:9000'", True),
        ("https://minio.example.org", False),
        ("minio.example.org/path", False),
        ("me@minio.example.org", False),
        ("'*.example.org'", False),
        ("''", False),
    ],
)
@pytest.mark.parametrize("key", ["hosts: [ENTRY]", "secrets: {QA_KEY: [ENTRY]}"])
def test_a_host_is_a_name_or_an_address(
    tmp_path: Path, key: str, entry: str, *, valid: bool
) -> None:
    index = write_index(tmp_path, key.replace("ENTRY", entry) + "\n")
    if valid:
        assert Catalog.open(index).boundary.hosts | Catalog.open(index).boundary.secrets.keys()
    else:
        with pytest.raises(ManifestError, match=r"datasets\.yaml:\d+:\d+ \$\.(hosts|secrets)"):
            Catalog.open(index)
