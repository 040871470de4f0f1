"""Shared options: which datasets they choose, and where the catalog and its pins are found."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from registry.catalog.catalog import Catalog
from registry.cli import options
from registry.errors import DatasetNotFoundError, LockError
from registry.lockfile.pin_cache import pin_of
from tests.cli.invocation import SYNTAX, write


@pytest.mark.parametrize(
    ("names", "tags", "chosen"),
    [
        ((), (), ["qa", "qa-one"]),
        (("qa-one",), (), ["qa-one"]),
        (("qa-one", "qa", "qa-one"), (), ["qa-one", "qa"]),
        ((), ("small",), ["qa", "qa-one"]),
        ((), ("small", "text"), ["qa"]),
        (("qa", "qa-one"), ("text",), ["qa"]),
    ],
)
def test_names_and_tags_choose_datasets_in_order(
    own: Path, names: tuple[str, ...], tags: tuple[str, ...], chosen: list[str]
) -> None:
    assert options.choose(Catalog.open(own), names, tags) == chosen


@pytest.mark.parametrize(
    ("names", "tags", "message"),
    [
        ((), ("big",), "no dataset has the tag big (tags: small, text)"),
        (("qa-one",), ("small", "text"), "no dataset has the tag small and text"),
    ],
)
def test_tags_without_a_matching_dataset_are_a_usage_error(
    own: Path, names: tuple[str, ...], tags: tuple[str, ...], message: str
) -> None:
    with pytest.raises(click.UsageError) as raised:
        options.choose(Catalog.open(own), names, tags)
    assert message in raised.value.message


def test_unknown_name_is_an_error_before_tags_are_checked(own: Path) -> None:
    with pytest.raises(DatasetNotFoundError, match="no dataset 'aq'"):
        options.choose(Catalog.open(own), ("qa", "aq"), ("nothing",))


def test_arguments_override_the_environment(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_ROOT", str(tmp_path / "nowhere"))
    monkeypatch.setenv("REGISTRY_OFFLINE", "1")
    catalog, cache, settings = options.open_catalog(str(own), offline=False, locked=True)
    assert list(catalog) == ["qa", "qa-one"]
    assert cache.root.is_relative_to(tmp_path / "cache")
    assert (settings.offline, settings.locked, settings.frozen) == (False, True, False)
    assert options.settings_of(None).index == tmp_path / "nowhere"


def test_dataset_without_a_lockfile_has_no_pin(own: Path) -> None:
    assert pin_of("qa", options.settings_of(None)) is None


def test_invalid_lockfile_is_an_error_with_its_place(own: Path) -> None:
    (own / "datasets.lock").write_text("version: 1\ndatasets: []\n", encoding="utf-8")
    with pytest.raises(LockError, match=r"datasets\.lock"):
        options.source_pinner_of(options.settings_of(None))


def test_problems_of_files_without_datasets_are_printed(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert options.print_stray_problems(Catalog.open(own)) is False
    assert capsys.readouterr().err == ""
    write(own, "broken", SYNTAX)
    assert options.print_stray_problems(Catalog.open(own)) is True
    assert capsys.readouterr().err.startswith("error: m/broken.yaml:2:")


def test_problems_of_files_with_datasets_are_not_printed(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(own, "twice", "datasets:\n  qa: {extends: qa-one}\n  mine: {extends: qa}\n")
    catalog = Catalog.open(own)
    assert catalog.problems
    assert options.print_stray_problems(catalog) is False
    assert capsys.readouterr().err == ""
