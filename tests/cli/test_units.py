"""Durations and sizes are exact, or an error that says what one is."""

from __future__ import annotations

import click
import pytest

from registry.cli.units import duration, size

CONTEXT = click.Context(click.Command("x"))
OPTION = click.Option(["--x"])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0d", 0), ("90s", 90), ("5m", 300), ("12h", 43_200), ("1.5D", 129_600), ("2w", 1_209_600)],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration(CONTEXT, OPTION, text) == seconds


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0B", 0),
        ("1kB", 1000),
        ("1KB", 1000),
        ("1KiB", 1024),
        ("1.5GB", 1_500_000_000),
        ("20gb", 20_000_000_000),
        ("2TiB", 2 << 40),
    ],
)
def test_sizes(text: str, count: int) -> None:
    assert size(CONTEXT, OPTION, text) == count


def test_an_option_that_is_not_given_stays_none() -> None:
    assert duration(CONTEXT, OPTION, None) is None
    assert size(CONTEXT, OPTION, None) is None


@pytest.mark.parametrize(
    "text", ["", "30", "d", "-1d", "1 d", "1e3d", "٣d", "30 days", "1.d", "nand", "infd", "20GB"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(
        click.BadParameter, match=r"is not a duration: .* such as 12h or 30d \(units"
    ):
        duration(CONTEXT, OPTION, text)


@pytest.mark.parametrize("text", ["", "20", "GB", "-1GB", "1,5GB", "20 GB", "1G", "30d", "0x1B"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(
        click.BadParameter, match=r"is not a size: .* such as 500MB or 20GB \(units"
    ):
        size(CONTEXT, OPTION, text)
