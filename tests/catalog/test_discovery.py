"""The files that an index includes, with states that show every change, and what it permits."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.base.local_files import ABSENT, FileState
from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.boundary.paths import Entries, GlobLimitError
from registry.catalog.catalog import Catalog
from registry.catalog.discovery import (
    GlobMatches,
    boundary_of,
    find_included,
    list_files,
    listing_digest,
    match_glob,
    package_of,
)
from registry.errors import ManifestError
from registry.settings import builtin_root

TREE = [
    *("a.yaml", "b.yml", ".hidden.yaml", "B.yaml", "a[1].yaml", "é.yaml", "m.yaml/inner.yaml"),
    *("s/a.yaml", "s/.h/a.yaml", "s/t/a.yaml", "s/t/u/b.yaml", ".d/a.yaml", "t/x.YAML"),
]
PATTERNS = [
    *("*.yaml", "./*.yaml", "s/*.yaml", "s//*.yaml", "*", ".*", "**", "**/*.yaml", "s/**", "*/a.yaml"),
    *("s/**/a.yaml", "none/*.yaml", "a.yaml", "none.yaml", "s/", "*/", "?.yaml", "[ab].y*", "a[[]1].yaml"),
    *("../*/*.yaml", "s/../*.yaml", ".d/*.yaml", "s/.h/*", "*.yaml/*", "a.yaml/*", "**/", "", "l/*.yaml"),
    *("s/*", "s/t/**/*.yaml", "**.yaml", "s/**.yaml"),
]  # fmt: skip

PERMISSIONS = {
    "trust": ["ours.mod:read"],
    "hosts": ["minio.example.org"],
    "secrets": {"QA_KEY": ["minio.example.org"]},
    "paths": ["../shared", "no\0file"],
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in TREE:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")
    (root / "l").symlink_to("s")
    (root / "broken.yaml").symlink_to("nowhere")
    return root


def matches_of(pattern: str, root: Path) -> GlobMatches:
    (matches,) = find_included([pattern], root, UNBOUNDED)
    assert isinstance(matches, GlobMatches)
    return matches


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_match_the_same_files_as_glob(root: Path, pattern: str) -> None:
    for one in (pattern, f"{root}/{pattern}"):
        expected = sorted(glob.glob(one, root_dir=root, recursive=True))
        assert [path for path, _ in matches_of(one, root)] == [root / path for path in expected]


@pytest.mark.parametrize("pattern", ["a\0*.yaml", "s\0/*.yaml", "\0", "s\0/**/*.yaml"])
def test_pattern_with_a_null_character_matches_nothing(root: Path, pattern: str) -> None:
    assert list(matches_of(pattern, root)) == []


@pytest.mark.parametrize("pattern", ["*.yaml", "**/*.yaml", "s/a.yaml"])
def test_matches_include_file_states(root: Path, pattern: str) -> None:
    found = list(matches_of(pattern, root))
    assert found
    assert found == [(path, FileState.or_absent(path)) for path, _ in found]


def test_broken_link_is_matched_as_absent(root: Path) -> None:
    assert dict(matches_of("broken*.yaml", root)) == {root / "broken.yaml": ABSENT}


def test_states_are_found_in_an_unlistable_folder(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, flags: int) -> int:
        raise PermissionError(path)

    monkeypatch.setattr("registry.catalog.discovery.os.open", refuse)
    assert dict(matches_of("s/a.yaml", root)) == {
        root / "s/a.yaml": FileState.of(root / "s/a.yaml")
    }


# --- packages ---


def test_built_in_catalog_is_found_by_its_name() -> None:
    assert find_included(["package:registry"], Path(), UNBOUNDED) == [str(builtin_root())]


def test_index_of_a_package_is_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ships_an_index", "ships_none"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise AssertionError", encoding="utf-8")
    index = tmp_path / "ships_an_index" / "datasets.yaml"
    index.write_text("version: 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    none = ("ships_none", "json", "a b", "__main__", "os.path", "", "../up")
    patterns = [f"package:{name}" for name in ("ships_an_index", *none)]
    assert find_included(patterns, Path(), UNBOUNDED) == [str(index), *[None] * len(none)]


# --- the digest ---


def digest(root: Path, *patterns: str) -> str:
    return listing_digest(
        [list_files(str(root / "a.yaml"), patterns or ["s/*.yaml", "*.yml"], UNBOUNDED)]
    )


def test_digest_is_stable_without_changes(root: Path) -> None:
    assert digest(root) == digest(root)
    (root / "other").write_text("", encoding="utf-8")
    assert digest(root) == digest(root)


CHANGES: dict[str, Callable[[Path], object]] = {
    "index": lambda root: (root / "a.yaml").write_text("longer than before", encoding="utf-8"),
    "edited": lambda root: (root / "s/a.yaml").write_text("longer than before", encoding="utf-8"),
    "new time": lambda root: os.utime(root / "s/a.yaml", (1, 1)),
    "added": lambda root: (root / "s/z.yaml").write_text("", encoding="utf-8"),
    "deleted": lambda root: (root / "b.yml").unlink(),
    "renamed": lambda root: (root / "b.yml").rename(root / "c.yml"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_digest_changes_with_every_file(root: Path, change: Callable[[Path], object]) -> None:
    before = digest(root)
    change(root)
    assert digest(root) != before


def test_digest_depends_on_the_patterns_and_their_order(root: Path) -> None:
    digests = {
        digest(root, *names) for names in (["a*"], ["a*", "b*"], ["b*", "a*"], ["package:x"])
    }
    assert len(digests) == 4


def test_package_of_a_folder_is_the_one_that_include_finds_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "has_a_catalog"
    package.mkdir()
    (package / "__init__.py").touch()
    assert package_of(package) == ""
    (package / "datasets.yaml").write_text("version: 1\n", encoding="utf-8")
    assert package_of(package) == "has_a_catalog"
    assert package_of(builtin_root().parent) == "registry"
    assert package_of(tmp_path) == ""


@pytest.fixture
def glob_root(tmp_path: Path) -> Path:
    for name in ("a.yaml", "s/b.yaml", "s/t/c.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("pattern", ["**/**/*.yaml", "**/s/**/*.yaml", "/usr/**/**/**/*.nothing"])
def test_second_double_star_is_refused(glob_root: Path, pattern: str) -> None:
    with pytest.raises(GlobLimitError, match=r"^more than one `\*\*`$"):
        match_glob(pattern, str(glob_root), Entries(100))


def test_entries_are_counted_in_all_folders(glob_root: Path) -> None:
    assert len(match_glob("**/*.yaml", str(glob_root), Entries(10))) == 3
    with pytest.raises(GlobLimitError, match=r"^lists more than 9 files and folders$"):
        match_glob("**/*.yaml", str(glob_root), Entries(9))


def test_folder_that_is_missing_or_a_file_has_no_matches(glob_root: Path) -> None:
    for pattern in ("none/**", "a.yaml/**"):
        assert match_glob(pattern, str(glob_root), Entries(100)) == []


def test_entries_of_several_globs_are_counted_together(glob_root: Path) -> None:
    entries = Entries(10)
    match_glob("**/*.yaml", str(glob_root), entries)
    with pytest.raises(GlobLimitError):
        match_glob("*.yaml", str(glob_root), entries)


# --- what the root index permits ---


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
