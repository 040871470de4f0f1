"""Import a task of lm-evaluation-harness (https://github.com/EleutherAI/lm-evaluation-harness)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from registry.api import GENERIC_BUILDERS, is_folder
from registry.plugins.importers.field_code import UntranslatableError
from registry.plugins.importers.functions import condition_of_filter
from registry.plugins.importers.lm_eval_fields import choices_of, input_of, target_of
from registry.plugins.importers.models import (
    Imported,
    ImportedDataset,
    ImportOptions,
    LeftOut,
    NotImported,
    dataset_name,
    problem_at,
)
from registry.plugins.importers.tolerant_yaml import Tagged, read_foreign_yaml

__all__ = ["read"]

MAX_INCLUDES = 32

_CARRIED = frozenset(
    (
        *("task", "tag", "group", "dataset_path", "dataset_name", "dataset_kwargs", "output_type"),
        *("test_split", "validation_split", "doc_to_text", "doc_to_target", "doc_to_choice"),
        *("description", "gen_prefix", "process_docs"),
    )
)
_SAMPLES = {
    "custom_dataset": "it makes the records",
    "class": "the task is a class",
    "doc_to_image": "the pictures of a prompt",
    "doc_to_audio": "the sounds of a prompt",
}
"""Keys that the samples depend on, and what they do."""
_EVALUATION = {
    "training_split": "the examples of a prompt",
    "fewshot_split": "the examples of a prompt",
    "fewshot_config": "the examples of a prompt",
    "fewshot_delimiter": "the examples of a prompt",
    "num_fewshot": "the examples of a prompt; `input` has none",
    "target_delimiter": "what stands between prompt and continuation",
    "metadata": "facts about the task",
    "task_alias": "another name of the task",
}
_KWARGS = ("data_files", "data_dir", "revision", "name")


def read(file: Path, options: ImportOptions) -> Imported:
    """Read the task of a YAML file, with the files that it includes.

    Raises:
        ManifestError: a file can't be read, or is no task.
    """
    config, places = _config(file, (), {})
    task = config.get("task")
    # Before its release 0.4.4 the harness called the tags of a task `group`.
    is_tag = {"dataset_path", "class"} & config.keys()
    if isinstance(task, list) or ("group" in config and not is_tag):
        name = str(config.get("group", file.stem))
        return Imported(refused=(NotImported(name, "a group: its tasks have files of their own"),))
    if not isinstance(task, str):
        name = file.stem
        return Imported(refused=(NotImported(name, "no `task`: a part that tasks include"),))
    try:
        keys, left_out = _dataset(config)
    except UntranslatableError as error:
        # A message begins with its key, which may be missing.
        where = places.get(str(error).partition(":")[0]) or places.get("task") or (file, 1)
        return Imported(refused=(NotImported(task, str(error), "{}:{}".format(*where)),))
    lines = {key: line for key, (owner, line) in places.items() if owner == file}
    located = (replace(one, line=lines.get(one.what.partition(".")[0])) for one in left_out)
    return Imported((ImportedDataset(options.name or dataset_name(task), keys, tuple(located)),))


_Places = dict[str, tuple[Path, int]]
"""Key → the file that has it, and its line."""
_Config = tuple[dict[str, Any], _Places]


def _config(file: Path, seen: tuple[Path, ...], known: dict[Path, _Config]) -> _Config:
    """Return the keys of a file on top of those that it includes, and where they are.

    `known` has the files that were read: each is read once, however often it is included.
    """
    # Not where a link leads: it includes files beside the link.
    path = file.parent.resolve() / file.name
    if path in known:
        return known[path]
    if path in seen or len(seen) >= MAX_INCLUDES:
        raise problem_at(file, "`include` leads back to a file that includes it")
    document = read_foreign_yaml(file, has_tags=True)
    if not isinstance(document.value, dict):
        raise problem_at(file, "no mapping of keys: not a task of lm-evaluation-harness")
    own = {
        key: replace(value, folder=path.parent) if isinstance(value, Tagged) else value
        for key, value in document.value.items()
    }
    includes = own.pop("include", None) or []
    merged, places = dict[str, Any](), _Places()
    for include in includes if isinstance(includes, list) else [includes]:
        if not isinstance(include, str) or Path(include).is_absolute():
            line = document.lines.get(("include",))
            raise problem_at(file, "`include` takes relative paths of files", line=line)
        inner, others = _config(file.parent / include, (*seen, path), known)
        merged |= {key: value for key, value in inner.items() if key != "task_list"}
        places |= others
    places |= {str(key[0]): (file, line) for key, line in document.lines.items() if len(key) == 1}
    known[path] = (merged | own, places)
    return known[path]


def _dataset(config: dict[str, Any]) -> tuple[dict[str, Any], list[LeftOut]]:
    for key in ("class", "custom_dataset"):
        if config.get(key) is not None:
            raise UntranslatableError(f"{key}: {_reason(config[key], _SAMPLES[key])}")
    for key in ("dataset_path", "dataset_name", "dataset_kwargs"):
        if _has_code(config.get(key)):
            raise UntranslatableError(f"{key}: it is made by code")
    left_out: list[LeftOut] = []
    source = _source(config, left_out)
    fields: dict[str, Any] = {"input": _named("doc_to_text", input_of, config)}
    choices = None
    if config.get("output_type") == "multiple_choice":
        choices = _named("doc_to_choice", choices_of, config)
        fields["choices"] = choices
    elif config.get("doc_to_choice") is not None:
        left_out.append(LeftOut("doc_to_choice", "the answer is generated, or not compared"))
    try:
        fields["target"] = target_of(config, choices)
    except UntranslatableError as error:
        fields["target"] = None
        left_out.append(LeftOut("doc_to_target", str(error)))
    fields.setdefault("choices", None)
    fields = {key: fields[key] for key in ("input", "choices", "target")}
    fields |= {"id": {"row_number": 0}, "metadata": None}
    keys: dict[str, Any] = {"tags": _tags(config), "source": source}
    keys |= _filter(config.get("process_docs"), left_out)
    left_out += _rest(config)
    return {**keys, "fields": fields}, left_out


def _filter(function: Any, left_out: list[LeftOut]) -> dict[str, Any]:
    """Return `where`, if a function that processes the records only filters them."""
    if function is None:
        return {}
    what = _reason(function, "it rewrites or selects the records")
    if isinstance(function, Tagged) and function.tag == "!function" and function.folder:
        try:
            return {"where": condition_of_filter(function.text, function.folder)}
        except UntranslatableError as error:
            what = f"{what}: {error}"
    left_out.append(LeftOut("process_docs", what))
    return {}


def _named(key: str, translate: Any, config: dict[str, Any]) -> Any:
    try:
        return translate(config)
    except UntranslatableError as error:
        raise UntranslatableError(f"{key}: {error}") from error


def _tags(config: dict[str, Any]) -> list[str]:
    named = (config.get(key) or [] for key in ("tag", "group"))
    given = [one for tags in named for one in (tags if isinstance(tags, list) else [tags])]
    return list(dict.fromkeys(["lm-eval", *(one for one in given if isinstance(one, str) and one)]))


def _source(config: dict[str, Any], left_out: list[LeftOut]) -> dict[str, Any]:
    path, name = config.get("dataset_path"), config.get("dataset_name")
    split = config.get("test_split") or config.get("validation_split")
    if not isinstance(path, str):
        raise UntranslatableError("dataset_path: it is missing")
    if not isinstance(split, str):
        raise UntranslatableError("test_split: neither it nor validation_split is given")
    if is_folder(path) or path.endswith(".py"):
        raise UntranslatableError(f"dataset_path: `{path}` is a script or folder of its author")
    source: dict[str, Any] = {"type": "hf", "path": path, "split": split}
    if name is not None:
        source["name"] = str(name)
    source |= _kwargs(config.get("dataset_kwargs") or {}, left_out)
    if path in GENERIC_BUILDERS and "data_files" not in source:
        raise UntranslatableError(f"dataset_path: the builder `{path}` without data_files")
    return source


def _kwargs(given: Any, left_out: list[LeftOut]) -> dict[str, Any]:
    """Return the keys of a source in `dataset_kwargs`."""
    if not isinstance(given, Mapping):
        raise UntranslatableError(f"dataset_kwargs: {given!r} is not a mapping")
    for key, value in given.items():
        if key == "trust_remote_code":
            if value:
                why = "a script of the repository is never run; its files are read"
                left_out.append(LeftOut("dataset_kwargs.trust_remote_code", why))
        elif key == "streaming":
            why = "how the data is read"
            left_out.append(LeftOut("dataset_kwargs.streaming", why, "evaluation"))
        elif key not in _KWARGS:
            left_out.append(LeftOut(f"dataset_kwargs.{key}", "an argument of `load_dataset`"))
    return {key: given[key] for key in _KWARGS if key in given}


def _rest(config: dict[str, Any]) -> Iterator[LeftOut]:
    for key, value in config.items():
        if value is None or key in _CARRIED:
            continue
        if key in _SAMPLES:
            yield LeftOut(key, _reason(value, _SAMPLES[key]))
        else:
            yield LeftOut(key, _EVALUATION.get(key, "how it is run and scored"), "evaluation")
    if config.get("output_type") not in ("multiple_choice", "generate_until", None):
        yield LeftOut("output_type", f"{config['output_type']}: how it is scored", "evaluation")


def _has_code(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_code, value.values()))
    return any(map(_has_code, value)) if isinstance(value, list) else isinstance(value, Tagged)


def _reason(value: Any, what: str) -> str:
    return f"{what} ({value} is code)" if isinstance(value, Tagged) else what
