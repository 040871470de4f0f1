"""A flipped byte in any file of the cache is never served: it is found, and rebuilt or reported."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from tests.conftest import CatalogRoot, Https
from tests.faults.damaged_cache import COLD, WARM, digest_of, files_of, outcomes
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
"""


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
        # Only a build reads these.
        names = [*WARM, *(COLD if path.split("/")[1] in ("blobs", "records", "sources") else ())]
        flips.append(
            {
                "path": path,
                "position": position_in((pristine / path).stat().st_size, draw),
                "mask": draw.choice([1 << draw.randrange(8), draw.randrange(1, 256)]),
                "names": names,
                "offline": draw.random() < 0.5,
            }
        )
    return flips


def position_in(size: int, draw: random.Random) -> int:
    """Return a position: anywhere, or near the start or the end, where the format's own bytes are."""
    near = min(size, 2000)
    return draw.choice(
        [draw.randrange(size), draw.randrange(near), size - 1 - draw.randrange(near)]
    )


def test_flipped_bytes_are_never_served(
    root: Path,
    pristine: Path,
    right: dict[str, str],
    thorough: bool,
) -> None:
    flips = flips_of(pristine, 2000 if thorough else 90)
    counts: Counter[str] = Counter()
    bad = []
    for flip, found in zip(flips, outcomes(root, pristine, flips), strict=True):
        verdicts = {judge(name, found, right, offline=flip["offline"]) for name in flip["names"]}
        counts.update(verdicts)
        if not verdicts <= {"right", "reported"}:
            bad.append((flip, {name: found.get(name) for name in flip["names"]}))
    print(dict(counts))
    assert bad == []


def judge(name: str, found: dict[str, str], right: dict[str, str], *, offline: bool) -> str:
    """Return what became of a dataset after a flip."""
    text = found.get(name, "")
    if text == right[name]:
        return "right"
    if not text:
        return "crash"
    if text.startswith("foreign"):
        return "foreign error"
    if len(text) == 64:
        return "wrong"
    return "reported" if offline else "not rebuilt"
