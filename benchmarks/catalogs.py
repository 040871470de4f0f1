"""Write the catalogs: one of the datasets that are measured, and ones of many manifests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from benchmarks.place import Place

__all__ = [
    "KNOWN",
    "REMOTE",
    "SEED",
    "SYNCED",
    "TINY",
    "write_catalog",
    "write_change",
    "write_datasets",
    "write_manifests",
]

_REPOSITORY = Path(__file__).parents[1]

KNOWN = "known"
"""The one dataset of a catalog of many manifests whose data is there."""
REMOTE = "s3://benchmark/rows.jsonl"
SEED = 42
SYNCED = "synced"
"""Tag of the datasets that are built side by side."""
TINY = "-tiny"
"""Ends the name of a dataset with ten rows that is like another."""

_FIELDS = {
    "input": "question",
    "choices": "choices",
    "target": "answer",
    "id": "id",
    "metadata": ["subject"],
}
# A digest, and captures of patterns, one of them of texts that hardly repeat.
_BY_RECORD: dict[str, Any] = {
    **_FIELDS,
    "id": {"hash": ["question", "choices"], "prefix": "q", "length": 12},
    "metadata": {
        "area": {"from": "subject", "do": [{"regex": r"^(\w+)"}]},
        "asked": {"from": "question", "do": [{"regex": r"; (.*)\?$"}]},
    },
}
_SHUFFLED = {"shuffle": True, "seed": SEED}


def _datasets(place: Place) -> dict[str, dict[str, Any]]:
    sizes = place.sizes
    return {
        **_sized(place, "jsonl", sizes.rows, "jsonl", fields=_FIELDS),
        **_sized(place, "hub", sizes.rows, "parquet", fields=_FIELDS),
        **_sized(place, "many", sizes.many, "jsonl", fields=_FIELDS),
        **_sized(place, "most", sizes.most, "jsonl", fields=_FIELDS),
        **_sized(place, "few-shuffled", sizes.few, "jsonl", fields=_FIELDS, **_SHUFFLED),
        **_sized(place, "many-shuffled", sizes.many, "jsonl", fields=_FIELDS, **_SHUFFLED),
        **{f"synced-{number}": _synced(place, number) for number in range(4)},
        "real-lengths": _real_lengths(place),
        "real-explored": {**_real_lengths(place), "limit": sizes.explored},
        "remote": {
            "source": {"type": "json", "path": REMOTE},
            "fields": _FIELDS,
            "limit": 100,
        },
    }


def _real_lengths(place: Place) -> dict[str, Any]:
    """Return gsm8k's mapping over many records, whose ids are too long to meet."""
    manifest = yaml.safe_load((_REPOSITORY / "registry" / "gsm8k.yaml").read_text(encoding="utf-8"))
    fields = manifest["datasets"]["gsm8k"]["fields"]
    return {
        "source": {"type": "json", "path": str(place.data(place.sizes.large, "real.jsonl"))},
        "fields": {**fields, "id": {**fields["id"], "length": 24}},
    }


def _synced(place: Place, number: int) -> dict[str, Any]:
    """Return one of the datasets that are built side by side, different from the others."""
    metadata = {**_BY_RECORD["metadata"], "part": {"const": number}}
    return {
        "source": _source(place.data(place.sizes.synced, "jsonl")),
        "fields": {**_BY_RECORD, "metadata": metadata},
        "tags": [SYNCED],
    }


def _sized(
    place: Place, name: str, count: int, suffix: str, **keys: Any
) -> dict[str, dict[str, Any]]:
    """Return a dataset over so many rows, and the same over ten."""
    counts = {name: count, f"{name}{TINY}": place.sizes.tiny}
    return {
        one: {"source": _source(place.data(rows, suffix)), **keys} for one, rows in counts.items()
    }


def _source(file: Path) -> dict[str, Any]:
    if file.suffix == ".parquet":
        return {"type": "hf", "path": "parquet", "split": "train", "data_files": str(file)}
    return {"type": "json", "path": str(file)}


def write_catalog(place: Place) -> None:
    """Write the catalog of the datasets that are measured."""
    index = {
        "version": 1,
        "include": ["registry/*.yaml"],
        "paths": ["../data"],
    }
    _write(place.catalog / "datasets.yaml", index)
    _write(place.catalog / "registry" / "rows.yaml", {"datasets": _datasets(place)})


def write_manifests(place: Place, count: int) -> None:
    """Write a catalog of `count` files with one dataset each; one that is there stays."""
    root = place.manifests(count)
    if (root / "datasets.yaml").exists():
        return
    known = {"source": _source(place.data(place.sizes.tiny, "jsonl")), "fields": _FIELDS}
    _write(root / "registry" / f"{KNOWN}.yaml", {"datasets": {KNOWN: known}})
    for name, text in _manifests(count - 1):
        (root / "registry" / f"{name}.yaml").write_text(text, encoding="utf-8")
    index = {"version": 1, "include": ["registry/*.yaml"], "paths": ["../data"]}
    _write(root / "datasets.yaml", index)


def write_change(place: Place, count: int) -> None:
    """Write two catalogs of `count` datasets of a hundred rows each, all of which differ."""
    for side, operation in (("base", "lower"), ("head", "upper")):
        _write_side(place.change(count) / side, count, operation)


def write_datasets(place: Place, count: int) -> None:
    """Write a catalog of `count` datasets of a hundred rows each; one that is there stays."""
    if not (place.datasets(count) / "datasets.yaml").exists():
        _write_side(place.datasets(count), count, "lower")


def _write_side(root: Path, count: int, operation: str) -> None:
    for number in range(count):
        name = f"d{number:05d}"
        rows = "".join(
            f"{row},What is {row} plus {number}?,x{row + number}\n" for row in range(100)
        )
        data = root / "data" / f"{name}.csv"
        data.parent.mkdir(parents=True, exist_ok=True)
        data.write_text(f"id,question,answer\n{rows}", encoding="utf-8")
        target = {"from": "answer", "do": [operation]}
        dataset = {
            "source": {"type": "csv", "path": f"data/{name}.csv"},
            "fields": {"input": "question", "target": target, "id": "id"},
        }
        _write(root / "registry" / f"{name}.yaml", {"datasets": {name: dataset}})
    _write(root / "datasets.yaml", {"version": 1, "include": ["registry/*.yaml"]})


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")


def _manifests(count: int) -> Iterator[tuple[str, str]]:
    for number in range(count):
        name = f"suite-{number:05d}"
        revision = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()
        source = _SOURCES[number % len(_SOURCES)].format(number=number, revision=revision)
        yield name, _MANIFEST.format(name=name, number=number, source=source)


_SOURCES = (
    """type: hf
      path: examples/suite-{number}
      split: test
      revision: {revision}""",
    """type: csv
      path: s3://examples/suite/{number}.csv.gz
      encoding: utf-8""",
    """type: json
      path: s3://examples/suite/{number}.jsonl""",
)
_MANIFEST = """\
datasets:
  {name}:
    description: Questions of suite {number}, with four choices each.
    homepage: https://example.org/suites/{number}
    license: mit
    tags: [knowledge, mcq]
    source:
      {source}
    fields:
      input: {{template: "{{context}}\\n\\n{{question}}", with: {{context: passage.text}}}}
      choices: [A, B, C, D]
      target: {{from: answer, do: [letter]}}
      id: {{hash: [question, A, B, C, D], prefix: suite, length: 8}}
      metadata: {{topic: subject, level: {{from: grade, do: [int]}}}}
    on_duplicate: drop
    expect: {{samples: {number}}}
    shuffle: true
    seed: {number}
    limit: 100
"""
