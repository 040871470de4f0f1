"""Durations and sizes on the command line: a number and a unit."""

from __future__ import annotations

import re
from collections.abc import Mapping

import click

__all__ = ["duration", "size"]

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BYTES |= {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def duration(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """Return the seconds of a duration such as `30d`; the callback of an option."""
    return None if value is None else _amount(value, "duration", _SECONDS, "12h or 30d")


def size(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Return the bytes of a size such as `20GB`; the callback of an option."""
    return None if value is None else int(_amount(value, "size", _BYTES, "500MB or 20GB"))


def _amount(value: str, what: str, units: Mapping[str, int], example: str) -> float:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]+)", value)
    factors = {unit.casefold(): factor for unit, factor in units.items()}
    factor = factors.get(found[2].casefold()) if found else None
    if found is None or factor is None:
        message = f"'{value}' is not a {what}: give a number and a unit, such as {example}"
        raise click.BadParameter(f"{message} (units: {', '.join(units)})")
    return float(found[1]) * factor
