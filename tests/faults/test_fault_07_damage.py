"""A flipped byte or any other damage in the cache is never served: it is rebuilt, or reported."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from tests.conftest import CatalogRoot, Https
from tests.faults.damaged_cache import COLD, HARMS, WARM, digest_of, files_of, outcomes, verdict
from tests.servers.hub import HubEmulator, parquet_repo

# Long texts, so that there are two batches of samples.
ROWS = [
    {"q": f"{number} " * 10_000, "a": "ABC"[number % 3], "c": ["x", "y", f"{number}"]}
    for number in range(70)
]
MANIFEST = """
datasets:
  web: &web
    source: {{type: json, path: '{url}'}}
    fields: {{input: q, target: a, choices: c}}
    shuffle: true
    seed: 1
    shuffle_choices: 2
  web-again: {{<<: *web, fields: {{input: a, target: a, choices: c}}}}
  hub: &hub
    source: {{type: hf, path: org/name, split: test, revision: {revision}}}
    fields: {{input: q, target: a}}
  hub-again: {{<<: *hub, fields: {{input: a, target: q}}}}
  local:
    source: {{type: json, path: data.jsonl}}
    fields: {{input: q, target: a, choices: c}}
    shuffle: true
    seed: 3
    shuffle_choices: 4
"""
ONE_FILE = (
    *("cut", "cut by a byte", "empty", "zero", "zeros at the end", "longer", "gone", "foreign"),
    "deep JSON",
)
ANY = ("folder", "link to nothing", "link to itself", "pipe")


@pytest.fixture
def root(catalog_root: CatalogRoot, https: Https, hub: HubEmulator) -> Path:
    """Write a catalog of sources of every kind."""
    url = https.put(
        "/data.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS).encode(), etag="1"
    )
    short = [{"q": f"What is {number}?", "a": str(number)} for number in range(50)]
    revision = hub.commit("org/name", parquet_repo({"cfg": {"test": short}}))
    root = catalog_root({"data": MANIFEST.format(url=url, revision=revision)})
    path = root / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:5]))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return root


@pytest.fixture
def pristine(root: Path, cache_dir: Path, tmp_path: Path) -> Path:
    """Fill a cache with all but the samples of COLD; return a copy."""
    for name in WARM:
        digest_of(get_dataset(name, root=root))
    return cache_dir.rename(tmp_path / "pristine")


@pytest.fixture
def right(root: Path, pristine: Path) -> dict[str, str]:
    """Return the digest of each dataset in an intact cache."""
    (found,) = outcomes(root, pristine, [{"names": [*WARM, *COLD], "offline": True}])
    assert len(set(found.values())) == 5
    assert all(len(digest) == 64 for digest in found.values()), found
    return found


def flips_of(pristine: Path, count: int) -> list[dict[str, Any]]:
    """Return random flips of one bit or several, the same ones each time; half of them offline."""
    draw = random.Random(7)
    files = files_of(pristine)
    kinds = {path.split("/")[1] for path in files}
    assert kinds >= {"samples", "views", "records", "sources", "index", "blobs"}
    flips = []
    for number in range(count):
        path = files[number % len(files)]
        flips.append(
            {
                "harm": "flip",
                "path": path,
                "position": position_in((pristine / path).stat().st_size, draw),
                "mask": draw.choice([1 << draw.randrange(8), draw.randrange(1, 256)]),
                "names": names_for(path),
                "offline": draw.random() < 0.5,
            }
        )
    return flips


def names_for(path: str) -> list[str]:
    """Return the datasets to load after a damage to a path of the cache."""
    # Only a build reads these.
    return [*WARM, *(COLD if path.split("/")[1] in ("blobs", "records", "sources") else ())]


def position_in(size: int, draw: random.Random) -> int:
    """Return a position: anywhere, or near the start or the end, where the format's own bytes are."""
    near = min(size, 2000)
    return draw.choice(
        [draw.randrange(size), draw.randrange(near), size - 1 - draw.randrange(near)]
    )


def damages_of(pristine: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the damages that are not flips: what is done, to which path, with which other path."""
    files = files_of(pristine)
    folders = sorted({str(Path(path).parent) for path in files if path.count("/") == 3})
    for path in files:
        yield from ((harm, path, "") for harm in (*ONE_FILE, *ANY))
        others = [other for other in files if is_like(path, other)]
        yield from (("swap", path, other) for other in others if other > path)
    for path in folders:
        yield from ((harm, path, "") for harm in ("gone", "file", "foreign", *ANY[1:]))
        yield "extra file", f"{path}/meta.json", ""
        others = [other for other in folders if is_like(path, other)]
        yield from (("swap", path, other) for other in others if other > path)


def is_like(path: str, other: str) -> bool:
    """Return whether two paths are of the same kind, so that one may be taken for the other."""
    one, two = Path(path), Path(other)
    return one.parts[1] == two.parts[1] and one.suffix == two.suffix and one != two


def test_neither_flipped_bytes_nor_other_damage_is_ever_served(
    root: Path, pristine: Path, right: dict[str, str], thorough: bool
) -> None:
    damages: list[dict[str, Any]] = [
        {"harm": harm, "path": path, "other": other, "names": names_for(path), "offline": offline}
        for harm, path, other in damages_of(pristine)
        for offline in (False, True)
    ]
    assert {damage["harm"] for damage in damages} == HARMS.keys() - {"flip"}
    if not thorough:
        damages = random.Random(7).sample(damages, 50)
    damages += flips_of(pristine, 2000 if thorough else 50)
    counts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    bad = []
    for damage, found in zip(damages, outcomes(root, pristine, damages), strict=True):
        for name in damage["names"]:
            one = verdict(name, found, right, offline=damage["offline"])
            counts[damage["harm"] == "flip"][one] += 1
            if one not in ("right", "reported"):
                bad.append((one, damage, name, found.get(name)))
    assert bad == []
    for each in counts.values():
        assert each["right"] > each["reported"] > 0, counts
