"""Which files a local path, folder or glob names, and that nothing outside is listed."""

from __future__ import annotations

import glob
import os
import re
import time
from pathlib import Path

import pytest
from fsspec.utils import glob_translate
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED, Boundary, Limits
from registry.boundary.paths import (
    CARDS,
    allow_location,
    check_folder,
    fixed_folder,
    leaves_folder,
    list_files,
    path_matcher,
)
from registry.errors import ReachError, SourceError
from tests.git_repository import write_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = ("b.csv", "a.csv", "x.json", "sub/c.csv", "sub/.d", ".DS_Store", ".git/HEAD")
    write_files(tmp_path, {"outside/secret.csv": "hunter2"})
    return write_files(tmp_path / "catalog", dict.fromkeys(names, ""))


@pytest.fixture
def boundary(folder: Path) -> Boundary:
    return Boundary().allowing([str(folder)])


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("a.csv", ["a.csv"]),
        (".DS_Store", [".DS_Store"]),
        ("", ["a.csv", "b.csv", "sub/.d", "sub/c.csv", "x.json"]),
        ("sub", ["sub/c.csv"]),
        ("*.csv", ["a.csv", "b.csv"]),
        ("**/*.csv", ["a.csv", "b.csv", "sub/c.csv"]),
        ("*", ["a.csv", "b.csv", "x.json"]),
        ("missing", []),
        ("missing/*.csv", []),
    ],
)
def test_files_of_a_local_path_are_sorted(
    folder: Path, boundary: Boundary, path: str, files: list[str]
) -> None:
    found = list_files(str(folder / path) if path else str(folder), boundary)
    assert [Path(one).relative_to(folder).as_posix() for one in found] == files


def test_a_file_whose_name_looks_like_a_glob_is_that_file(folder: Path, boundary: Boundary) -> None:
    (folder / "[ab].csv").write_bytes(b"")
    assert list_files(str(folder / "[ab].csv"), boundary) == [str(folder / "[ab].csv")]


@pytest.mark.parametrize(
    "pattern",
    [
        *("**", "**/*", "*/*", "**/c*", "*/**/c.csv", "**/sub/**/*.csv", "s*/c.csv", "**/.d"),
        *("**/**/[ab].csv", ".*", "sub/**", "?.csv", "*.{csv}", "a.csv/*", "**/m/*", "**/**"),
    ],
)
def test_globs_match_what_the_module_glob_matches(folder: Path, pattern: str) -> None:
    write_files(folder, {"sub/deep/sub/c.csv": ""})
    (folder / "linked").symlink_to(folder / "sub")
    (folder / "broken.csv").symlink_to(folder / "missing")
    (folder / "itself").symlink_to("itself")
    path = str(folder / pattern)
    expected = sorted(set(filter(os.path.isfile, glob.glob(path, recursive=True))))
    assert list_files(path, UNBOUNDED) == expected


@pytest.mark.parametrize(
    "path", ["../outside/*.csv", "../outside", "../**/*.csv", "../../*", "link/*", "**/*.csv", "l*"]
)
def test_nothing_outside_is_listed(folder: Path, boundary: Boundary, path: str) -> None:
    (folder / "link").symlink_to(folder.parent / "outside")
    (folder / "l.csv").symlink_to(folder.parent / "outside" / "secret.csv")
    with pytest.raises(ReachError, match="outside the catalog's folder"):
        list_files(os.path.normpath(folder / path), boundary)


def test_a_location_that_a_call_names_is_allowed_and_nothing_else(folder: Path) -> None:
    none, secret = Boundary(), folder.parent / "outside" / "secret.csv"
    (folder / "l.csv").symlink_to(secret)
    files = [str(path) for path in (folder / "a.csv", folder / "l.csv", secret.parent)]
    allowed = {"l.csv": [False, True, False], "*.csv": [True, True, False], "": [True, True, False]}
    for name, expected in allowed.items():
        boundary = allow_location(none, Location(str(folder / name)))
        assert list(map(boundary.contains, files)) == expected, name
    named = Location("https://user:word@host.org:8443/x.csv")
    assert allow_location(none, named) == replace(
        none, hosts=frozenset({"host.org:8443"}), named=named
    )
    assert allow_location(none, Location("package:words/a.csv")) == none


def test_links_that_form_a_cycle_end(folder: Path, boundary: Boundary) -> None:
    for name in ("one", "two"):
        (folder / "sub" / name).symlink_to(folder)
    found = list_files(str(folder / "**" / "c.csv"), boundary)
    assert found == [str(folder / "sub" / "c.csv")]


def test_pipes_and_nested_repositories_are_no_data(folder: Path, boundary: Boundary) -> None:
    os.mkfifo(folder / "pipe.csv")
    write_files(folder, {"sub/.git/config": ""})
    assert list_files(str(folder / "p*.csv"), boundary) == []
    assert str(folder / "sub" / ".git" / "config") not in list_files(str(folder), boundary)
    with pytest.raises(ReachError, match=r"`\.git` folder"):
        list_files(str(folder / ".git" / "*"), boundary)


@pytest.mark.parametrize(
    ("path", "fixed"),
    [("/a/b.csv", "/a/b.csv"), ("/a/*.csv", "/a"), ("/*/b", "/"), ("/a/b[1]/**/c", "/a")],
)
def test_the_fixed_folder_of_a_glob_has_no_wildcard(path: str, fixed: str) -> None:
    assert fixed_folder(path) == fixed


@pytest.mark.parametrize("name", ["data [v2]", "what?", "a*b"])
def test_an_existing_folder_may_have_a_name_that_looks_like_a_glob(folder: Path, name: str) -> None:
    root = folder.rename(folder.with_name(name))
    boundary = Boundary().allowing([str(root)])
    assert list_files(f"{root}/**/*.csv", boundary) == [
        f"{root}/{file}" for file in ("a.csv", "b.csv", "sub/c.csv")
    ]
    assert list_files(f"{root}/a.csv", boundary) == [f"{root}/a.csv"]
    assert list_files(f"{root}/gone.csv", boundary) == []
    assert fixed_folder(f"{root}/s[u]b/*") == str(root)


@pytest.mark.parametrize("pattern", ["*.csv", "**/*.csv", "sub/../*.csv", "", "**/**/**/*.nothing"])
def test_what_is_listed_is_limited(folder: Path, boundary: Boundary, pattern: str) -> None:
    path = os.path.join(folder, pattern)
    list_files(path, replace(boundary, limits=Limits(files=30)))
    with pytest.raises(SourceError) as caught:
        list_files(path, replace(boundary, limits=Limits(files=3)))
    message = "to list it takes more than 3 files and folders (`limits: {files: …}` in the root"
    assert message in str(caught.value)


def test_a_glob_with_many_stars_ends(tmp_path: Path) -> None:
    deep = "/".join("abcdefghijklmnopqrstuvwxyz")
    write_files(tmp_path, {f"{deep}/found": ""})
    boundary = Boundary().allowing([str(tmp_path)])
    start = time.process_time()
    pattern = str(tmp_path / "**/*/**/*/**/*/**/*/**/found")
    assert list_files(pattern, boundary) == [f"{tmp_path}/{deep}/found"]
    assert time.process_time() - start < 5


PIECES = st.lists(st.text("ab.", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)
GLOBS = st.lists(
    st.sampled_from(["**", "*", "a*", "*.b", "?", "[ab]*", "*a*b*", "ab", "a.b"]),
    min_size=1,
    max_size=4,
).map("/".join)


@settings(max_examples=500, deadline=None)
@given(pattern=GLOBS, name=PIECES)
def test_globs_of_members_mean_what_those_of_fsspec_mean(pattern: str, name: str) -> None:
    expected = re.fullmatch(glob_translate(pattern), name) is not None
    assert path_matcher(pattern)(name) is expected


def test_a_glob_does_not_backtrack_without_end() -> None:
    start = time.process_time()
    assert not path_matcher("*a" * 30 + "b")("a" * 60_000)
    assert not path_matcher("**/" * 30 + "b")("a/" * 3_000 + "a")
    assert time.process_time() - start < 5


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "catalog" / "data" / "deep").mkdir(parents=True)
    write_files(tmp_path, {"catalog/other/x.json": "", "outside/x": ""})
    return tmp_path / "catalog" / "data"


def check(data: Path) -> None:
    check_folder(str(data), Boundary().allowing([str(data.parent)]))


def test_links_within_the_catalog_are_followed(data: Path) -> None:
    (data / "deep" / "up").symlink_to(data)
    (data / "other").symlink_to(data.parent / "other")
    (data / "broken").symlink_to(data / "missing")
    (data / "itself").symlink_to("itself")
    check(data)


@pytest.mark.parametrize("name", ["link", "deep/link", "../other/link"])
def test_a_link_out_of_the_catalog_is_refused(data: Path, name: str) -> None:
    (data / "other").symlink_to(data.parent / "other")
    (data / name).symlink_to(data.parents[1] / "outside")
    with pytest.raises(ReachError, match="outside the catalog's folder"):
        check(data)
    check_folder(str(data), UNBOUNDED)


def test_a_pipe_is_refused(data: Path) -> None:
    os.mkfifo(data / "deep" / "pipe.json")
    with pytest.raises(ReachError, match="device, pipe or socket"):
        check(data)


CHAIN = "\n".join(["a0: &a0 /etc/x", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 2001))])
"""A value that is nested by aliases alone."""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("---\nconfigs: [{data_files: /etc/x.json}]\n---\n", "'/etc/x.json' leads out"),
        ("---\r\nconfigs: [{data_files: {t: [ok, ~/x]}}]\r\n---\r\n", "'~/x' leads out"),
        ("---\nconfigs: [{data_dir: ../x, data_files: y}]\n---\n", "'../x' leads out"),
        ("---\nconfigs: [{data_files: [{split: t, path: a/../b}]}]\n---", "'a/../b' leads out"),
        ("---\nconfigs: &c [*c, {data_files: .git/x}]\n---\n", "'.git/x' leads out"),
        ("---\n---x: 1\nconfigs: [{data_files: /etc/x}]\n---\n", "'/etc/x' leads out"),
        ("---\nconfigs: [{data_files: /etc/x}]\n--- \t\n---x\n", "'/etc/x' leads out"),
        *[
            (f"---\nconfigs: {value}\n---\n", "not valid YAML")
            for value in ("[", "[" * 20_000, "2024-99-99", "9" * 5_000, "!!timestamp x")
        ],
        (f"---\nconfigs: {'[' * 65}/x{']' * 65}\n---\n", "nested deeper than 64 levels"),
        (f"---\n{CHAIN}\nconfigs: {{data_files: *a2000}}\n---\n", "'/etc/x' leads out"),
        ("---\na: &a [/etc/x]\nconfigs: [*a, {data_files: *a}]\n---\n", "'/etc/x' leads out"),
        (f"---\nconfigs: []\n---\n{'x' * (1 << 20)}", "larger than 1 MiB"),
    ],
)
def test_a_card_that_leads_out_is_refused(data: Path, text: str, fault: str) -> None:
    (data / "README.md").write_text(text)
    with pytest.raises(ReachError, match=fault):
        check(data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# A title\n",
        "---\n- a list\n---\n",
        "---\nconfigs: [{config_name: /x, data_files: data/**/*.json, sep: /}]\n---\n# Title\n",
    ],
)
def test_other_cards_are_fine(data: Path, text: str) -> None:
    (data / "README.md").write_text(text)
    (data / ".huggingface.yaml").write_text("configs: [{data_files: x.json}]\n")
    check(data)


@pytest.mark.parametrize(
    ("path", "leaves"),
    [
        *[("a/b*.json", False), ("a..b", False), ("/a", True), ("~", True), ("a/..", True)],
        *[("file://a", True), (".GIT/config", True), (".gi[t]/x", True), (".hidden/x", False)],
    ],
)
def test_paths_that_leave_a_folder(path: str, leaves: bool) -> None:
    assert leaves_folder(path) is leaves


def test_the_yaml_of_a_card_is_found_as_the_hub_finds_it() -> None:
    from huggingface_hub.repocard import REGEX_YAML_BLOCK

    for text in (
        *("---\na\n---", "\n\n---\na\n---\nb\n---\n", "---\r\na\r\n---\r\n"),
        *("---\n---x\n---\n", "---\na\n--- \t\nb\n---\n", "---\n\n---\n", "---\n---\n"),
        *("--- \na\n---\n", "# Title\n---\na\n---\n"),
    ):
        theirs, ours = REGEX_YAML_BLOCK.search(text), re.match(CARDS["README.md"], text, re.DOTALL)
        assert (theirs and theirs[2]) == (ours and ours[1]), text
