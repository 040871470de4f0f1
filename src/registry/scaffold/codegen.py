"""Generate the Python call of a loader that is equivalent to a dataset."""

from __future__ import annotations

import pprint
from typing import Any

from registry.manifest.models import DatasetSpec, FieldsSpec
from registry.manifest.serialize import data_of, is_not_default

__all__ = ["loader_call"]

_READ_UNNAMED = ("sandbox", "files", "setup")
"""Fields that a FieldSpec reads from the columns of their names, and a manifest doesn't."""


def loader_call(spec: DatasetSpec) -> str:
    """Return Python code that loads the same samples with a loader.

    Comments name the features that no loader has: `on_duplicate`, several paths, skipped rows.
    """
    given = data_of(
        spec.source, without={"type", "path", "sha256", "mirrors", "columns"}, keep=is_not_default
    )
    if "fs_options" in given:
        given["fs_options"] = _Code(_with_environment(given["fs_options"]))
    call = spec.source.loader_call(given)
    if call is None:
        return f"# no loader reads the type {spec.source.type}: use get_dataset({spec.name!r})"
    loader, arguments = call
    mapping, function = _mapping(spec.fields)
    if mapping:
        arguments["sample_fields"] = _Code(mapping)
    arguments |= data_of(spec.view, without={"only"}, keep=is_not_default)
    imports = ", ".join(sorted(name for name in {loader, function} if name))
    lines = [f"from registry import {imports}", ""]
    notes = list(spec.source.loader_notes())
    if spec.steps:
        notes.append(f"apply {', '.join(spec.steps)} of the manifest")
    if spec.examples is not None:
        notes.append("put examples before each question (`fewshot`)")
    if spec.view.only is not None:
        notes.append(f"keep samples with the metadata {spec.view.only}")
    if spec.duplicate_rule == "drop":
        notes.append("drop samples with a repeated id")
    if spec.duplicate_rule == "suffix":
        notes.append("append numbers to repeated ids")
    lines += [f"# get_dataset also does: {note}" for note in notes]
    unread = [name for name in _READ_UNNAMED if getattr(spec.fields, name) is None]
    if unread and function != "map_fields":
        lines += [f"# the loader also reads columns named {', '.join(unread)}"]
    lines += [f"dataset = {loader}("]
    for name, value in arguments.items():
        code = str(value) if isinstance(value, _Code) else pprint.pformat(value, sort_dicts=False)
        lines.append(f"    {name}={code},".replace("\n", "\n    "))
    return "\n".join([*lines, ")"])


class _Code(str):
    """Python code, which must not be quoted."""

    __slots__ = ()


def _with_environment(value: Any) -> str:
    """Return options as Python code that reads secrets from the environment."""
    if isinstance(value, dict) and set(value) == {"env"}:
        return f"__import__('os').environ[{value['env']!r}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{key!r}: {_with_environment(item)}" for key, item in value.items())
        return f"{{{inner}}}"
    return repr(value)


def _mapping(fields: FieldsSpec) -> tuple[str, str]:
    """Return the code of `sample_fields` and the name it imports; both empty for the defaults."""
    given = data_of(fields, keep=is_not_default)
    if not given:
        return "", ""
    # FieldSpec takes names of columns; a dot, an expression or other metadata needs `map_fields`.
    metadata = given.get("metadata", ["metadata"])
    names = [value for key, value in given.items() if key != "metadata"]
    names += metadata if isinstance(metadata, list) and metadata else [None]
    if all(isinstance(name, str) and "." not in name for name in names):
        inner = ", ".join(f"{key}={value!r}" for key, value in given.items())
        return f"FieldSpec({inner})", "FieldSpec"
    lines = "".join(f"\n    {key!r}: {value!r}," for key, value in given.items())
    return f"map_fields({{{lines}\n}})", "map_fields"
