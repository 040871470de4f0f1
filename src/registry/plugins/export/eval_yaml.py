"""`eval.yaml`: the tasks file of a dataset repository on the Hub, which Inspect AI runs.

It names columns of a repository and no more, so most mappings can't be written: then an error says
which part. What it can't pin, the commit and the ids, is named in comments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from registry.api import (
    SETTINGS,
    ExportError,
    HfSource,
    OwnColumn,
    block_text,
    data_of,
    is_not_default,
)

if TYPE_CHECKING:
    from registry.api import DatasetSpec, FieldsSpec
    from registry.plugins.export.exported import Exported

__all__ = ["write"]

_LITERAL = "literal:"
_UNREAD = tuple(name for name in SETTINGS if name != "description")


def write(exported: Exported, file: BinaryIO) -> None:
    """Write the file.

    Raises:
        ExportError: the dataset has a part that an eval.yaml can't say.
    """
    spec = exported.spec
    source = _source(spec)
    task = {
        "id": spec.name,
        **({"config": source.name} if source.name is not None else {}),
        "split": source.split,
        "field_spec": _field_spec(spec.name, spec.fields, exported),
        **_evaluation(spec, exported),
    }
    data = {"evaluation_framework": "inspect-ai", "tasks": [task]}
    file.write("".join([*_comments(spec, source), block_text(data)]).encode())


def _refuse(spec_name: str, part: str, why: str) -> ExportError:
    return ExportError(f"{spec_name}: eval.yaml can't say `{part}`: {why}")


def _source(spec: DatasetSpec) -> HfSource:
    source = spec.source
    if not isinstance(source, HfSource) or source.repository is None:
        raise _refuse(spec.name, "source", "it is a file of the repository that has the data")
    for key in ("data_dir", "data_files", "columns"):
        if getattr(source, key):
            raise _refuse(spec.name, f"source.{key}", "it reads a split of a configuration")
    for step in spec.steps:
        raise _refuse(spec.name, step, "each record is a sample")
    if spec.examples is not None:
        raise _refuse(spec.name, "fewshot", "each record is a sample")
    if spec.on_duplicate != "error":
        raise _refuse(spec.name, "on_duplicate", "each record is a sample")
    for key in data_of(spec.view, keep=is_not_default):
        raise _refuse(spec.name, key, "it reads all records in their order")
    return source


def _comments(spec: DatasetSpec, source: HfSource) -> Iterator[str]:
    yield f"# {spec.name}: put this file into the repository {source.path}\n"
    if source.revision is not None:
        run = f"inspect eval hf/{source.path}@{source.revision}"
        yield f"# not pinned here: the manifest has the revision {source.revision} ({run})\n"
    if spec.fields.id is not None:
        yield "# no ids here: Inspect numbers the samples\n"


def _field_spec(name: str, fields: FieldsSpec, exported: Exported) -> dict[str, Any]:
    for key in _UNREAD:
        if getattr(fields, key) is not None:
            raise _refuse(name, f"fields.{key}", "it has no such field")
    choices = _choices(name, fields.choices, exported)
    found = {
        "input": _input(name, fields.input),
        "target": _target(name, fields.target, has_choices=choices is not None),
        "choices": choices,
        "metadata": _metadata(name, fields.metadata, exported),
        "description": fields.description,
    }
    if isinstance(found["input"], dict):
        found |= found["input"]
    if fields.description is not None and not isinstance(fields.description, str):
        raise _refuse(name, "fields.description", "it takes a column")
    return {key: value for key, value in found.items() if value is not None}


def _input(name: str, raw: Any) -> Any:
    match raw:
        case str():
            return str(raw)
        case {
            "if": {"value": str() as image, "empty": False},
            "then": {"messages": [{"role": "user", "content": [{"text": text}, {"image": other}]}]},
            "else": str() as column,
        } if image == other and text == column:
            return {"input": column, "input_image": image}
    raise _refuse(name, "fields.input", "it takes a column, and one of an image")


def _target(name: str, raw: Any, *, has_choices: bool) -> str:
    match raw:
        case str() if not has_choices and not raw.startswith(_LITERAL):
            return str(raw)
        case {"const": str() as text}:
            return f"{_LITERAL}{text}"
        case {
            "if": {"value": str() as value, "regex": ""},
            "then": str() as column,
            "else": {"from": str() as index, "do": ["letter"]},
        } if has_choices and value == column == index:
            return column
    column = raw if isinstance(raw, str) else "answer"
    if not has_choices:
        raise _refuse(name, "fields.target", "it takes a column or a constant")
    then = f"then: {column}, else: {{from: {column}, do: [letter]}}"
    hint = f"{{if: {{value: {column}, regex: ''}}, {then}}}"
    why = f"with choices, its integers are indexes and its strings targets: that is {hint}"
    raise _refuse(name, "fields.target", why)


def _choices(name: str, raw: Any, exported: Exported) -> Any:
    if isinstance(raw, OwnColumn):
        return str(raw) if any(one.choices is not None for one in exported.samples()) else None
    if raw is None or isinstance(raw, str):
        return raw
    if isinstance(raw, list | tuple) and all(isinstance(one, str) for one in raw):
        return list(raw)
    raise _refuse(name, "fields.choices", "it takes a column or a list of columns")


def _metadata(name: str, raw: Any, exported: Exported) -> list[str] | None:
    if raw is None or (
        isinstance(raw, OwnColumn) and not any(one.metadata for one in exported.samples())
    ):
        return None
    if isinstance(raw, dict) and all(key == value for key, value in raw.items()):
        return list(raw)
    if isinstance(raw, list | tuple) and all(isinstance(one, str) for one in raw):
        return list(raw)
    raise _refuse(name, "fields.metadata", "it takes a list of columns")


def _evaluation(spec: DatasetSpec, exported: Exported) -> dict[str, Any]:
    given = spec.eval
    scorers = [] if given is None else [_call(one) for one in given.scorer]
    if not scorers:
        if any(one.choices is None for one in exported.samples()):
            message = f"{spec.name}: an eval.yaml needs `eval.scorer` (add it to the manifest)"
            raise ExportError(message)
        scorers = [{"name": "choice"}]
    default = "multiple_choice" if scorers[0]["name"] == "choice" else "generate"
    solvers = [] if given is None else [_call(one) for one in given.solver]
    found: dict[str, Any] = {"solvers": solvers or [{"name": default}], "scorers": scorers}
    for key in ("epochs", "epoch_reducer"):
        if given is not None and (value := getattr(given, key)) is not None:
            found[key] = value
    return found


def _call(one: Any) -> dict[str, Any]:
    return {"name": one.name, **({"args": dict(one.args)} if one.args else {})}
