"""Import what dataset repositories of the Hub describe: the eval.yaml, and the README."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registry.api import NAMES, card_of
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
from registry.plugins.importers.tolerant_yaml import (
    ForeignYaml,
    parse_foreign_yaml,
    read_foreign_text,
    read_foreign_yaml,
)

__all__ = ["front_matter", "read_card", "read_eval", "source_of_repository"]


_MAX_SPLITS = 1_000

_FILE = ("tasks", "name", "description", "evaluation_framework")
_TASK = (
    *("id", "config", "split", "field_spec", "shuffle_choices", "epochs", "epoch_reducer"),
    *("solvers", "scorers"),
)
_FIELDS = ("input", "target", "choices", "metadata", "input_image", "description")
_UNREAD = tuple(name for name in NAMES if name not in _FIELDS)
_KINDS = {"choices": "column or list of columns", "metadata": "list of columns"}
_LITERAL = "literal:"


def read_card(file: Path, options: ImportOptions) -> Imported:
    """Read the configurations and splits of a repository.

    Raises:
        ManifestError: the file can't be read, or has no front matter.
    """
    data = front_matter(file)
    card = card_of(data)
    source = source_of_repository(file, options)
    base = options.name or dataset_name(str(source["path"]).rpartition("/")[2])
    pairs = card.splits
    if len(pairs) > _MAX_SPLITS:
        raise problem_at(file, f"more than {_MAX_SPLITS:,} splits")
    if not pairs:
        why = "neither `configs` nor `dataset_info` names a split"
        return Imported(refused=(NotImported(base, why),))
    about, left_out = {"license": card.license, "languages": list(card.languages)}, list[LeftOut]()
    if isinstance(given := data.get("license"), list) and len(given) > 1:
        left_out.append(LeftOut("license", f"several: {', '.join(map(str, given))}", "evaluation"))
    several_configs = len({config for config, _ in pairs}) > 1
    found = []
    for config, split in pairs:
        parts = [config] * several_configs + [split] * (len(pairs) > 1)
        name = dataset_name("-".join([base, *map(str, parts)]))
        selection = {"split": split} if config == "default" else {"name": config, "split": split}
        found.append(
            unmapped_dataset(name, {**source, **selection}, about=about, left_out=left_out)
        )
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


def read_eval(file: Path, options: ImportOptions) -> Imported:
    """Read the tasks of a file.

    Raises:
        ManifestError: it can't be read, or Inspect would refuse it.
    """
    document = read_foreign_yaml(file)
    tasks = document.value.get("tasks") if isinstance(document.value, dict) else None
    if not isinstance(tasks, list) or not tasks:
        raise problem_at(file, "no list under `tasks`: not an eval.yaml")
    source = source_of_repository(file, options)
    base = options.name or dataset_name(str(source["path"]).rpartition("/")[2])
    description = document.value.get("description")
    is_text = isinstance(description, str) and description.strip() != ""
    about = {"description": " ".join(description.split())} if is_text else {}
    found = []
    for index, task in enumerate(tasks):
        _check(file, document, index, task, needs_id=len(tasks) > 1)
        is_only = len(tasks) == 1
        name = base if is_only else dataset_name(f"{base}-{task['id']}")
        left_out = tuple(_left_out(task, document, index))
        found.append(ImportedDataset(name, {**about, **_keys(task, source)}, left_out))
    return Imported(tuple(found))


def _check(file: Path, document: ForeignYaml, index: int, task: Any, *, needs_id: bool) -> None:
    """Refuse what Inspect refuses."""
    line = document.lines.get(("tasks", index))
    if not isinstance(task, dict):
        raise problem_at(file, f"tasks[{index}] is not a mapping", line=line)
    if unknown := [str(key) for key in task if key not in _TASK]:
        where = document.lines.get(("tasks", index, unknown[0]), line)
        hint = f"its keys are {', '.join(_TASK)}"
        raise problem_at(file, f"tasks[{index}]: unknown key '{unknown[0]}'", hint, line=where)
    fields = task.get("field_spec")
    if not isinstance(fields, dict):
        raise problem_at(file, f"tasks[{index}].field_spec is not a mapping", line=line)
    where = document.lines.get(("tasks", index, "field_spec"), line)
    for key, value in fields.items():
        if key not in (*_FIELDS, *_UNREAD):
            raise problem_at(file, f"tasks[{index}].field_spec: unknown key '{key}'", line=where)
        if not _is_valid_field(key, value):
            message = f"tasks[{index}].field_spec.{key} is not a {_KINDS.get(key, 'column')}"
            raise problem_at(file, message, line=where)
    for key in ("solvers", "scorers"):
        given = task.get(key)
        valid = isinstance(given, list) and given and all(map(_is_call, given))
        if not valid:
            message = f"tasks[{index}].{key} is not a list of {{name, args}}"
            raise problem_at(file, message, line=document.lines.get(("tasks", index, key), line))
    identifier = task.get("id")
    if identifier is not None and not isinstance(identifier, str):
        raise problem_at(file, f"tasks[{index}].id is not a string", line=line)
    if needs_id and not isinstance(task.get("id"), str):
        raise problem_at(file, f"tasks[{index}] needs an `id`, as there are several", line=line)


def _is_valid_field(key: str, value: Any) -> bool:
    if value is None:
        return key not in ("input", "target")
    if isinstance(value, list):
        return key in _KINDS and all(isinstance(item, str) for item in value)
    return isinstance(value, str) and key != "metadata"


def _is_call(value: Any) -> bool:
    is_mapping = isinstance(value, dict) and set(value) <= {"name", "args"}
    return is_mapping and isinstance(value.get("name"), str)


def _keys(task: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    config = task.get("config")
    source = {**source, "split": str(task.get("split", "test"))}
    if config not in (None, "default"):
        source["name"] = str(config)
    fields = task["field_spec"]
    solvers = [_call(one) for one in task["solvers"] if one["name"] != "use_tools"]
    scorers = [_call(one) for one in task["scorers"]]
    given = {key: task[key] for key in ("epochs", "epoch_reducer") if task.get(key) is not None}
    return {
        "tags": ["eval-yaml"],
        "source": source,
        "fields": {
            "input": _input(fields),
            "choices": fields.get("choices"),
            "target": _target(fields),
            "id": None,
            "metadata": fields.get("metadata"),
            **({"description": fields["description"]} if fields.get("description") else {}),
        },
        "eval": {**({"solver": solvers} if solvers else {}), "scorer": scorers, **given},
    }


def _input(fields: dict[str, Any]) -> Any:
    column, image = fields.get("input", "input"), fields.get("input_image")
    if not image:
        return column
    message = {"role": "user", "content": [{"text": column}, {"image": image}]}
    has_image = {"value": image, "empty": False}
    return {"if": has_image, "then": {"messages": [message]}, "else": column}


def _target(fields: dict[str, Any]) -> Any:
    target = fields.get("target", "target")
    if target.startswith(_LITERAL):
        return {"const": target.removeprefix(_LITERAL)}
    if not fields.get("choices"):
        return target
    # Inspect takes an int for an index, and leaves a str as it is.
    is_text = {"value": target, "regex": ""}
    return {"if": is_text, "then": target, "else": {"from": target, "do": ["letter"]}}


def _call(one: dict[str, Any]) -> Any:
    return {"name": one["name"], "args": one["args"]} if one.get("args") else one["name"]


def _left_out(task: dict[str, Any], document: ForeignYaml, index: int) -> Iterator[LeftOut]:
    def line(key: str) -> int | None:
        return document.lines.get(("tasks", index, key))

    for key in document.value:
        if key not in _FILE:
            yield LeftOut(str(key), "about all tasks", "evaluation", document.lines.get((key,)))
    if task.get("shuffle_choices"):
        why = "it has no seed; `shuffle_choices: SEED` shuffles them in the same way each time"
        yield LeftOut("shuffle_choices", why, line=line("shuffle_choices"))
    if any(one["name"] == "use_tools" for one in task["solvers"]):
        why = "use_tools: its tools are code"
        yield LeftOut("solvers", why, "evaluation", line("solvers"))
    for key in _UNREAD:
        if key in task["field_spec"]:
            why = "Inspect does not read it either"
            yield LeftOut(f"field_spec.{key}", why, line=line("field_spec"))
