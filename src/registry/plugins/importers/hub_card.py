"""Import the README of a dataset repository on the Hub: the `configs` of its front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registry.plugins.importers.models import (
    Imported,
    ImportedDataset,
    ImportOptions,
    LeftOut,
    NotImported,
    dataset_name,
    problem_at,
    unmapped_dataset,
)
from registry.plugins.importers.tolerant_yaml import parse_foreign_yaml, read_foreign_text

__all__ = ["front_matter", "read", "source_of_repository"]

_MAX_SPLITS = 1_000


def read(file: Path, options: ImportOptions) -> Imported:
    """Read the configurations and splits of a repository.

    Raises:
        ManifestError: the file can't be read, or has no front matter.
    """
    card = front_matter(file)
    source = source_of_repository(file, options)
    base = options.name or dataset_name(str(source["path"]).rpartition("/")[2])
    pairs = list(_splits(card))
    if len(pairs) > _MAX_SPLITS:
        raise problem_at(file, f"more than {_MAX_SPLITS:,} splits")
    if not pairs:
        why = "neither `configs` nor `dataset_info` names a split"
        return Imported(refused=(NotImported(base, why),))
    several_configs = len({config for config, _ in pairs}) > 1
    found = []
    for config, split in pairs:
        parts = [config] * several_configs + [split] * (len(pairs) > 1)
        name = dataset_name("-".join([base, *map(str, parts)]))
        found.append(_dataset(name, card, {**source, **_selection(config, split)}))
    return Imported(tuple(found))


def front_matter(file: Path) -> dict[str, Any]:
    """Return the mapping between the two `---` lines at the beginning of a README.

    Raises:
        ManifestError: there is none.
    """
    first, *lines = read_foreign_text(file).split("\n")
    ends = [number for number, line in enumerate(lines) if line.rstrip() == "---"]
    if first.rstrip() != "---" or not ends:
        raise problem_at(file, "no front matter between two lines of ---", line=1)
    value = parse_foreign_yaml("\n".join(lines[: ends[0]]), file, first_line=2).value
    if not isinstance(value, dict):
        raise problem_at(file, "the front matter is not a mapping", line=2)
    return value


def _splits(card: dict[str, Any]) -> Iterator[tuple[str | None, str]]:
    """Yield configurations and splits, in the order of the file."""
    configs = [one for one in _list(card.get("configs")) if isinstance(one, dict)]
    for config in configs:
        name = str(config.get("config_name", "default"))
        yield from ((name, split) for split in _splits_of_files(config.get("data_files")))
    if not configs:
        for info in _list(card.get("dataset_info")):
            if isinstance(info, dict):
                found = [one for one in _list(info.get("splits")) if isinstance(one, dict)]
                name = str(info.get("config_name", "default"))
                yield from ((name, str(one["name"])) for one in found if "name" in one)


def _splits_of_files(files: Any) -> list[str]:
    if isinstance(files, dict):
        return list(map(str, files))
    named = [str(one["split"]) for one in _list(files) if isinstance(one, dict) and "split" in one]
    # Files without a split are those of `train`, as `datasets` reads them.
    return named or (["train"] if files else [])


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _selection(config: str | None, split: str) -> dict[str, Any]:
    return {"split": split} if config in (None, "default") else {"name": config, "split": split}


def _dataset(name: str, card: dict[str, Any], source: dict[str, Any]) -> ImportedDataset:
    licenses = [one for one in _list(card.get("license")) if isinstance(one, str)]
    left_out = []
    if len(licenses) > 1:
        left_out.append(LeftOut("license", f"several: {', '.join(licenses)}", "evaluation"))
    about = {"license": licenses[0]} if len(licenses) == 1 else {}
    return unmapped_dataset(name, source, about=about, left_out=left_out)


# The Hub's cache: …/datasets--owner--name/snapshots/COMMIT/file
_CACHED = re.compile(r".*/datasets--(?P<path>[^/]+)/snapshots/(?P<commit>[0-9a-f]{40})/[^/]+")


def source_of_repository(file: Path, options: ImportOptions) -> dict[str, Any]:
    """Return the keys of a source: those that the user names, or those of the Hub's cache.

    Raises:
        ManifestError: neither says which repository it is.
    """
    if options.repository is not None:
        given = {"path": options.repository, "revision": options.revision}
    elif (found := _CACHED.fullmatch(file.absolute().as_posix())) is not None:
        path = found["path"].replace("--", "/")
        given = {"path": path, "revision": options.revision or found["commit"]}
    else:
        hint = "add --repository OWNER/NAME, or --repository ./FOLDER for a local copy"
        raise problem_at(file, "the file does not say which repository it belongs to", hint)
    return {"type": "hf", **{key: value for key, value in given.items() if value is not None}}
