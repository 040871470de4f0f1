"""`doctor`: check this machine, and say what to do next."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

import click
from msgspec.structs import asdict, replace

from registry.api import (
    CLEAN,
    PROBLEMS,
    columns_of,
    escape_control,
    options,
    paint,
    print_json,
    print_styled,
    wrap,
)
from registry.plugins.doctor import Observation, mask, secrets_of
from registry.plugins.doctor.network import (
    host_observations,
    network_observations,
    setting_observations,
    token_of,
)
from registry.plugins.doctor.setup import (
    cache_observations,
    catalog_observations,
    open_catalog,
    plugin_observations,
    version_observations,
)

__all__ = ["command"]

_COLORS = {"ok": "green", "warn": "yellow", "fail": "red"}
_LEFT = 22
"""Columns before the text."""


@click.command("doctor", epilog="Example: registry doctor --offline")
@options.offline
@options.as_json
@options.root
def command(offline: bool | None, as_json: bool, root: str | None) -> int:
    """Check the installation, the catalog, the cache, the settings and what is reachable.

    Each line is ok, warn or fail, with one next step. No secret is printed, so the report can be
    shared. The only requests are to the Hub, the remote cache and the web servers of the catalog;
    with --offline there are none. The exit code is 1 if a check fails.
    """
    token, _ = token_of(os.environ)
    secrets = secrets_of(os.environ, token)
    observations = []
    for observation in _observations(root, offline=offline):
        shown = replace(
            observation,
            text=escape_control(mask(observation.text, secrets)),
            next=escape_control(mask(observation.next, secrets)),
        )
        observations.append(shown)
        if not as_json:  # at once: some checks wait for a server
            _print(shown)
    if as_json:
        print_json([asdict(one) for one in observations])
    return PROBLEMS if any(one.status == "fail" for one in observations) else CLEAN


def _observations(root: str | None, *, offline: bool | None) -> Iterator[Observation]:
    yield from version_observations()
    yield from plugin_observations()
    settings = options.settings_of(root)
    catalog = open_catalog(settings)
    if isinstance(catalog, Observation):
        yield catalog
    else:
        yield from catalog_observations(settings, catalog)
    yield from cache_observations(settings.cache_dir)
    yield from setting_observations(os.environ)
    if not (settings.offline if offline is None else offline):
        yield from network_observations(os.environ)
        if not isinstance(catalog, Observation):
            yield from host_observations(catalog)


def _print(observation: Observation) -> None:
    """Print an observation in lines that fit the terminal, with the next step below it."""
    status = paint(
        f"{observation.status:<4}", sys.stdout, fg=_COLORS[observation.status], bold=True
    )
    for line in _wrapped(f"{status}  {observation.name:<{_LEFT - 7}} ", observation.text):
        print_styled(line, sys.stdout)
    if observation.next:
        for line in _wrapped(f"{'':{_LEFT}}next: ", observation.next, indent=_LEFT + 6):
            print_styled(line, sys.stdout)
    sys.stdout.flush()


def _wrapped(start: str, text: str, indent: int = _LEFT) -> Iterable[str]:
    if not sys.stdout.isatty():
        return [start + text]
    first, *more = wrap(text, max(columns_of(sys.stdout) - indent, 20))
    return [start + first, *(" " * indent + line for line in more)]
