"""Remember what a check of a whole catalog found, for as long as nothing that it says changes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from registry.base.best_effort import best_effort_path, read_best_effort, write_best_effort
from registry.base.digest import digest_of
from registry.catalog.cached_files import compact_json
from registry.catalog.catalog import Catalog
from registry.errors import Problem
from registry.lint.runner import check, count_checked
from registry.settings import lock_file_of

__all__ = ["Checked", "check_whole"]

# They judge what a manifest says, beside the code of this package.
_JUDGES = ("jsonschema", "msgspec", "pyyaml")


@dataclass(frozen=True)
class Checked:
    """What a check found."""

    problems: list[Problem]
    datasets: int
    """How many it looked at."""


def check_whole(
    catalog: Catalog,
    cache_dir: Path,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    locked: bool = False,
) -> Checked:
    """Return what `check` finds in a catalog; what it found before where that still holds."""
    place, key = (
        best_effort_path(catalog.index, cache_dir, "check"),
        _key(catalog, select, ignore, locked),
    )
    known = None if key is None else _recall(place, key)
    if known is not None:
        return known
    found = check(catalog, select=select, ignore=ignore, locked=locked)
    checked = Checked(found, count_checked(catalog))
    if key is not None:
        problems = [problem.to_dict() for problem in checked.problems]
        data = {"key": key, "problems": problems, "datasets": checked.datasets}
        write_best_effort(place, compact_json(data))
    return checked


def _key(
    catalog: Catalog,
    select: Sequence[str],
    ignore: Sequence[str],
    locked: bool,
) -> str | None:
    """Return the digest of all that determines what a check finds, None for more than files."""
    if catalog.content is None:
        return None
    # Problems name files as they are seen from the working directory; paths may begin with `~`.
    places = [str(Path.cwd()), os.path.expanduser("~")]
    judges = {one: version(one) for one in _JUDGES}
    asked = [*places, judges, list(select), list(ignore), locked]
    return digest_of([catalog.content, _lock_digest(catalog), *asked])


def _lock_digest(catalog: Catalog) -> str | None:
    """Return the digest of the lockfile's bytes; of what can't be read, why that is."""
    try:
        return hashlib.sha256(lock_file_of(catalog.index).read_bytes()).hexdigest()
    except OSError as error:
        return error.strerror


def _recall(place: Path, key: str) -> Checked | None:
    kept = read_best_effort(place)
    data = None if kept is None else json.loads(kept.splitlines()[0])
    if data is None or data["key"] != key:
        return None
    return Checked([Problem(**one) for one in data["problems"]], data["datasets"])
