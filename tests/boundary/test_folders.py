"""Folders that `datasets` reads in place: their links and cards lead to no file outside."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.boundary.folders import CARDS, check_folder, leaves_folder
from registry.errors import ReachError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "catalog" / "data" / "deep").mkdir(parents=True)
    (tmp_path / "catalog" / "other").mkdir()
    (tmp_path / "catalog" / "other" / "x.json").touch()
    (tmp_path / "outside").mkdir()
    return tmp_path / "catalog" / "data"


def check(folder: Path) -> None:
    check_folder(str(folder), Boundary().allowing([str(folder.parent)]))


def test_links_within_the_catalog_are_followed(folder: Path) -> None:
    (folder / "deep" / "up").symlink_to(folder)
    (folder / "other").symlink_to(folder.parent / "other")
    (folder / "broken").symlink_to(folder / "missing")
    check(folder)


@pytest.mark.parametrize("name", ["link", "deep/link", "../other/link"])
def test_a_link_out_of_the_catalog_is_refused(folder: Path, name: str) -> None:
    (folder / "other").symlink_to(folder.parent / "other")
    (folder / name).symlink_to(folder.parents[1] / "outside")
    with pytest.raises(ReachError, match="outside the catalog's folder"):
        check(folder)
    check_folder(str(folder), UNBOUNDED)


def test_a_pipe_is_refused(folder: Path) -> None:
    os.mkfifo(folder / "deep" / "pipe.json")
    with pytest.raises(ReachError, match="device, pipe or socket"):
        check(folder)


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
        (f"---\nconfigs: []\n---\n{'x' * (1 << 20)}", "larger than 1 MiB"),
    ],
)
def test_a_card_that_leads_out_is_refused(folder: Path, text: str, fault: str) -> None:
    (folder / "README.md").write_text(text)
    with pytest.raises(ReachError, match=fault):
        check(folder)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# A title\n",
        "---\n- a list\n---\n",
        "---\nconfigs: [{config_name: /x, data_files: data/**/*.json, sep: /}]\n---\n# Title\n",
    ],
)
def test_other_cards_are_fine(folder: Path, text: str) -> None:
    (folder / "README.md").write_text(text)
    (folder / ".huggingface.yaml").write_text("configs: [{data_files: x.json}]\n")
    check(folder)


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
        "---\na\n---",
        "\n\n---\na\n---\nb\n---\n",
        "---\r\na\r\n---\r\n",
        "---\n---x\n---\n",
        "---\na\n--- \t\nb\n---\n",
        "---\n\n---\n",
        "---\n---\n",
        "--- \na\n---\n",
        "# Title\n---\na\n---\n",
    ):
        theirs, ours = REGEX_YAML_BLOCK.search(text), re.match(CARDS["README.md"], text, re.DOTALL)
        assert (theirs and theirs[2]) == (ours and ours[1]), text
