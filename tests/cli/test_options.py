"""Shared options: which datasets they choose, and where the catalog and its pins are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest

from registry.catalog.catalog import Catalog
from registry.cli import options
from registry.cli.options import duration, size
from registry.errors import RevisionError
from tests.cli.invocation import SYNTAX, write

CONTEXT = click.Context(click.Command("x"))
OPTION = click.Option(["--x"])


def test_only_what_is_wrong_with_the_base_is_an_error_of_its_option(own: Path) -> None:
    with (
        pytest.raises(RevisionError, match="of the command"),
        options.rules_of(str(own), own / "datasets.yaml"),
    ):
        raise RevisionError("of the command")


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
    assert options.choose(options.open_catalog(str(own)), names, tags) == chosen


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


def test_only_problems_of_files_without_datasets_are_printed(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(own, "twice", "datasets:\n  qa: {extends: qa-one}\n  mine: {extends: qa}\n")
    catalog = Catalog.open(own)
    assert catalog.problems
    assert options.print_stray_problems(catalog) is False
    assert capsys.readouterr().err == ""
    write(own, "broken", SYNTAX)
    assert options.print_stray_problems(Catalog.open(own)) is True
    assert capsys.readouterr().err.startswith("error: m/broken.yaml:2:")


SECONDS = {"0d": 0, "90s": 90, "5m": 300, "12h": 43_200, "1.5D": 129_600, "2w": 1_209_600}
SIZES = {
    "0B": 0,
    "1kB": 1000,
    "1KB": 1000,
    "1KiB": 1024,
    "1.5GB": 1_500_000_000,
    "20gb": 20_000_000_000,
    "2TiB": 2 << 40,
}


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        *((duration, text, seconds) for text, seconds in SECONDS.items()),
        *((size, text, count) for text, count in SIZES.items()),
        (duration, None, None),
        (size, None, None),
    ],
)
def test_durations_and_sizes(read: Callable[..., object], text: str | None, value: object) -> None:
    assert read(CONTEXT, OPTION, text) == value


NO_DURATIONS = ("", "30", "d", "-1d", "1 d", "1e3d", "٣d", "30 days", "1.d", "nand", "infd", "20GB")
NO_SIZES = ("", "20", "GB", "-1GB", "1,5GB", "20 GB", "1G", "30d", "0x1B")


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        *((duration, text, "a duration: .* such as 12h or 30d") for text in NO_DURATIONS),
        *((size, text, "a size: .* such as 500MB or 20GB") for text in NO_SIZES),
    ],
)
def test_what_is_no_duration_or_size_is_refused(
    read: Callable[..., object], text: str, words: str
) -> None:
    with pytest.raises(click.BadParameter, match=rf"is not {words} \(units"):
        read(CONTEXT, OPTION, text)
