"""A resolved dataset as the equivalent call of a loader, in Python."""

from __future__ import annotations

import pprint
from collections.abc import Iterator
from typing import Any

from registry.manifest.models import DatasetSpec, FieldsSpec
from registry.manifest.serialize import data_of, is_not_default

__all__ = ["loader_call"]


def loader_call(spec: DatasetSpec) -> str:
    """Return Python code that loads the same samples with a loader.

    What no loader can do (`on_duplicate`, several paths, skipped rows) is named in a comment.
    """
    given = data_of(spec.source, without={"type", "path", "columns"}, keep=is_not_default)
    if "fs_options" in given:
        given["fs_options"] = _Code(_with_environment(given["fs_options"]))
    call = spec.source.loader_call(given)
    if call is None:
        return f"# no loader reads the type {spec.source.type}: use get_dataset({spec.name!r})"
    loader, arguments = call
    mapping, function = _mapping(spec.fields)
    if mapping:
        arguments["sample_fields"] = _Code(mapping)
    arguments |= data_of(spec.view, keep=is_not_default)
    imports = ", ".join(sorted(name for name in {loader, function} if name))
    lines = [f"from registry import {imports}", ""]
    lines += [f"# get_dataset also does: {note}" for note in _notes(spec)]
    lines += [f"dataset = {loader}("]
    lines += [_argument(name, value) for name, value in arguments.items()]
    return "\n".join([*lines, ")"])


class _Code(str):
    """Text that is code already."""

    __slots__ = ()


def _argument(name: str, value: Any) -> str:
    text = str(value) if isinstance(value, _Code) else pprint.pformat(value, sort_dicts=False)
    return f"    {name}={text},".replace("\n", "\n    ")


def _with_environment(value: Any) -> str:
    """Return options as code that reads secrets from the environment."""
    if isinstance(value, dict) and set(value) == {"env"}:
        return f"__import__('os').environ[{value['env']!r}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{key!r}: {_with_environment(item)}" for key, item in value.items())
        return f"{{{inner}}}"
    return repr(value)


def _mapping(fields: FieldsSpec) -> tuple[str, str]:
    """Return the code of `sample_fields` and the name it needs; both empty for the defaults."""
    given = data_of(fields, keep=is_not_default)
    if not given:
        return "", ""
    if _is_field_spec(given):
        inner = ", ".join(f"{key}={value!r}" for key, value in given.items())
        return f"FieldSpec({inner})", "FieldSpec"
    lines = "".join(f"\n    {key!r}: {value!r}," for key, value in given.items())
    return f"map_fields({{{lines}\n}})", "map_fields"


def _is_field_spec(given: dict[str, Any]) -> bool:
    names = [value for key, value in given.items() if key != "metadata"]
    plain = all(isinstance(name, str) and "." not in name for name in names)
    metadata = given.get("metadata", [])
    if "metadata" in given and not (isinstance(metadata, list) and metadata):
        return False
    return plain and not any("." in name for name in metadata)


def _notes(spec: DatasetSpec) -> Iterator[str]:
    yield from spec.source.loader_notes()
    steps = ("concat", "join", "explode", "where", "mapper", "sample")
    done = [name for name in steps if getattr(spec, name)]
    if done:
        yield f"apply {', '.join(done)} of the manifest"
    if spec.on_duplicate == "drop":
        yield "leave out samples whose id was seen already"
    if spec.on_duplicate == "suffix":
        yield "number the ids that were seen already"
