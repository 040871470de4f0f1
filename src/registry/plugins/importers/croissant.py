"""Import a Croissant file (https://docs.mlcommons.org/croissant): its record sets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registry.api import FRAME_COLUMNS, FRAME_FIELDS, NAMES, language_tags, license_expression
from registry.plugins.importers.models import (
    Imported,
    ImportedDataset,
    ImportOptions,
    LeftOut,
    NotImported,
    UnsupportedError,
    dataset_name,
    mappings_in,
    problem_at,
    unmapped_dataset,
)
from registry.plugins.importers.tolerant_yaml import read_foreign_text

__all__ = ["read"]

_TYPES = {
    "text/csv": "csv",
    "text/tsv": "csv",
    "text/tab-separated-values": "csv",
    "application/json": "json",
    "application/jsonlines": "json",
    "application/x-ndjson": "json",
    "application/x-parquet": "parquet",
    "application/vnd.apache.parquet": "parquet",
}
_HUB = re.compile(r"https://huggingface\.co/datasets/([\w.-]+(?:/[\w.-]+)?)(?:/tree/|$)")
_SPLITS = re.compile(r"\(([\w.-]+(?:\|[\w.-]+)*)\)/")
# The Hub names the page of a license; others that of Creative Commons.
_LICENSE = re.compile(
    r"https?://(?:choosealicense\.com|spdx\.org)/licenses/([\w.-]+?)(?:\.html)?/?"
)
_CC = re.compile(r"https?://creativecommons\.org/licenses/([a-z-]+)/([0-9.]+)/?.*")
_CC0 = re.compile(r"https?://creativecommons\.org/publicdomain/zero/1\.0/?.*")
_ARCHIVES = {"application/zip": "zip", "application/x-tar": "tar", "application/gzip": "tar"}


def read(file: Path, options: ImportOptions) -> Imported:
    """Read the record sets that one set of files contains.

    Raises:
        ManifestError: the file can't be read, or is no Croissant file.
    """
    data = _json(file)
    base = options.name or dataset_name(str(data.get("name", file.stem)))
    files = mappings_in(data.get("distribution"))
    objects = {_key(one): _beside(one, file.parent) for one in files}
    sets = mappings_in(data.get("recordSet"))
    found: list[ImportedDataset] = []
    refused: list[NotImported] = []
    for record_set in sets:
        part = str(record_set.get("name") or _key(record_set))
        name = base if len(sets) == 1 else dataset_name(f"{base}-{part}")
        try:
            found += _datasets(name, data, record_set, objects)
        except UnsupportedError as error:
            refused.append(NotImported(name, str(error)))
    if not sets:
        refused.append(NotImported(base, "no `recordSet`"))
    return Imported(tuple(found), tuple(refused))


def _json(file: Path) -> dict[str, Any]:
    text = read_foreign_text(file)
    try:
        if max(text.count("["), text.count("{")) > 100_000:
            raise problem_at(file, "too many values")
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise problem_at(file, f"not JSON: {error.msg}", line=error.lineno) from error
    except (RecursionError, ValueError) as error:
        raise problem_at(file, f"not JSON: {error}") from error
    if not isinstance(data, dict) or ("recordSet" not in data and "distribution" not in data):
        raise problem_at(file, "neither `recordSet` nor `distribution`: not a Croissant file")
    return data


def _beside(one: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a FileObject or FileSet whose location, if it is relative, is in the file's folder."""
    key = "contentUrl" if "contentUrl" in one else "includes"
    path = one.get(key)
    if not isinstance(path, str) or "://" in path or "containedIn" in one:
        return one
    return {**one, key: (folder / path).as_posix()}


def _datasets(
    name: str, data: dict[str, Any], record_set: dict[str, Any], objects: dict[str, dict[str, Any]]
) -> Iterator[ImportedDataset]:
    """Yield the dataset of a record set; one for each split of a repository on the Hub."""
    fields = mappings_in(record_set.get("field"))
    if not fields:
        raise UnsupportedError("the record set has no fields")
    if "data" in record_set:
        raise UnsupportedError("its records are in the Croissant file itself")
    ids = {_source_of(one) for one in fields} - {""}
    if len(ids) != 1:
        what = "no file" if not ids else f"several files ({', '.join(sorted(ids))})"
        raise UnsupportedError(f"its fields come from {what}")
    one = objects.get(ids.pop(), {})
    columns = [column for field in fields if (column := _column(field))]
    given: dict[str, Any] = {
        "columns": columns,
        "left_out": tuple(_left_out(data, fields)),
        "about": _about(data),
    }
    if {str(field.get("name")) for field in fields} == FRAME_COLUMNS:
        yield _exported(name, _source(one, objects), _about(data))
        return
    splits = _hub_splits(one, fields, objects)
    if not splits:
        yield unmapped_dataset(name, _source(one, objects), **given)
    for split, source in splits.items():
        given["about"] = {**_about(data), "tags": None}  # the Hub's are sizes, formats, libraries
        yield unmapped_dataset(dataset_name(f"{name}-{split}"), source, **given)


def _exported(name: str, source: dict[str, Any], about: dict[str, Any]) -> ImportedDataset:
    """Return a dataset of a file that `registry export` wrote, whose columns are known."""
    keys = {key: value for key, value in about.items() if value}
    why = "they run code or place files: add what the samples need"
    rest = ", ".join(name for name in NAMES if name not in FRAME_FIELDS)
    left_out = LeftOut(f"fields.{rest}", why)
    return ImportedDataset(name, {**keys, "source": source, "fields": FRAME_FIELDS}, (left_out,))


def _about(data: dict[str, Any]) -> dict[str, Any]:
    url, text = data.get("url"), data.get("description")
    is_web = isinstance(url, str) and url.startswith(("https://", "http://"))
    return {
        "description": " ".join(text.split()) or None if isinstance(text, str) else None,
        "homepage": url if is_web else None,
        "license": _license(data.get("license")),
        "tags": list(dict.fromkeys(_words(data.get("keywords")))),
        "languages": language_tags(data.get("inLanguage")),
    }


def _words(given: Any) -> Iterator[str]:
    """Yield the words that can be tags; schema.org lets a text have several, between commas."""
    words = given.split(",") if isinstance(given, str) else given if isinstance(given, list) else ()
    for word in words:
        tag = word.strip() if isinstance(word, str) else ""
        if tag:
            yield tag


def _license(given: Any) -> str | None:
    """Return a license as an SPDX expression; None if it is none, such as the URL of a text."""
    text = str(given)
    if found := _LICENSE.fullmatch(text):
        text = found[1]
    elif found := _CC.fullmatch(text):
        text = f"cc-{found[1]}-{found[2]}"
    elif _CC0.fullmatch(text):
        text = "cc0-1.0"
    try:
        license_expression(text)
    except ValueError:
        return None
    return text


def _hub_splits(
    one: dict[str, Any], fields: list[dict[str, Any]], objects: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the sources of the splits, if the files are those of a repository on the Hub."""
    container = objects.get(_reference(one.get("containedIn")), {})
    repository = _HUB.match(str(container.get("contentUrl")))
    if repository is None or container.get("encodingFormat") not in ("git+https", "https"):
        return {}
    config = str(one.get("includes", "")).partition("/")[0]
    splits = [split for field in fields for split in _splits_of(field)]
    if not splits or "*" in config:
        raise UnsupportedError("it does not name the splits of its repository")
    source = {"type": "hf", "path": repository[1]}
    name = {} if config in ("default", "") else {"name": config}
    return {split: {**source, **name, "split": split} for split in splits}


def _splits_of(field: dict[str, Any]) -> list[str]:
    """Return the splits in the pattern by which the Hub's files get the field `split`."""
    source = field.get("source")
    transform = source.get("transform") if isinstance(source, dict) else None
    pattern = transform.get("regex") if isinstance(transform, dict) else None
    if not isinstance(pattern, str) or not _key(field).endswith("split"):
        return []
    found = _SPLITS.search(pattern)
    return found[1].split("|") if found else []


def _left_out(data: dict[str, Any], fields: list[dict[str, Any]]) -> Iterator[LeftOut]:
    for one in fields:
        source = one.get("source")
        is_changed = isinstance(source, dict) and ("transform" in source or "format" in source)
        if is_changed and not _splits_of(one):
            yield LeftOut(f"field {_key(one)}", "a transformation of its value")
        if "references" in one and not _splits_of(one):
            yield LeftOut(f"field {_key(one)}", "a reference to another record set")
    given = data.get("license")
    if isinstance(given, list):
        yield LeftOut("license", "several licenses", "evaluation")
    elif given is not None and _license(given) is None:
        yield LeftOut("license", f"no SPDX expression: {given}", "evaluation")


def _source(one: dict[str, Any], objects: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the keys of the source of a FileObject or FileSet."""
    encoding = one.get("encodingFormat")
    kind = _TYPES.get(str(encoding))
    if kind is None:
        raise UnsupportedError(f"the format {encoding} of its file")
    container = objects.get(_reference(one.get("containedIn")))
    path = one.get("contentUrl") or one.get("includes")
    if not isinstance(path, str):
        raise UnsupportedError("its file has no location")
    extra = {"delimiter": "\t"} if str(encoding).startswith("text/t") else {}
    if container is None:
        return {"type": kind, "path": path, **extra}
    archive = _ARCHIVES.get(str(container.get("encodingFormat")))
    outer = container.get("contentUrl")
    if archive is None or not isinstance(outer, str):
        raise UnsupportedError(f"its files are in {_key(container)}, which is not an archive")
    return {"type": kind, "path": f"{archive}://{path}::{outer}", **extra}


def _source_of(field: dict[str, Any]) -> str:
    source = field.get("source")
    if not isinstance(source, dict):
        return _reference(source).partition("/")[0]
    return _reference(
        source.get("fileObject") or source.get("fileSet") or source.get("distribution")
    )


def _column(field: dict[str, Any]) -> str:
    source = field.get("source")
    extract = source.get("extract") if isinstance(source, dict) else None
    if isinstance(extract, dict):
        return str(extract.get("column") or extract.get("jsonPath") or "")
    return ""


def _reference(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("@id", ""))
    return re.sub(r"^#?\{?|\}$", "", value) if isinstance(value, str) else ""


def _key(one: dict[str, Any]) -> str:
    return str(one.get("@id") or one.get("name") or "")
