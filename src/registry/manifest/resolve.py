"""Resolve a dataset: merge its parents, the defaults of its index and overrides into a spec."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from registry.base.conversion import convert
from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED, Boundary, Limits
from registry.errors import (
    ManifestError,
    Problem,
    check_arguments,
    close_matches,
    did_you_mean,
    near_or_known,
)
from registry.manifest.derived import SPLIT_KEYS, declared_splits, default_layer, split_layer
from registry.manifest.merge import (
    Entry,
    Layer,
    Merged,
    current_name,
    home_of,
    merge,
    parent_of,
    present_names,
)
from registry.manifest.models import (
    DatasetSpec,
    Evaluation,
    Expect,
    Fewshot,
    View,
    to_spec,
    without_corrections,
)
from registry.manifest.paths import part_of, with_absolute_paths, without_nulls
from registry.manifest.source import OF_BYTES, Source
from registry.manifest.source_models import SOURCE_TYPES, infer_source_keys, source_model
from registry.rules import run_checks
from registry.yamldoc.reader import json_path

__all__ = [
    "checked_entry",
    "evaluation_of",
    "merged_entry",
    "notice_of",
    "resolve",
    "retirement_problem",
    "spec_of",
    "spec_of_source",
]

_VIEW_KEYS = View.__struct_fields__
_SOURCE_KEYS = ("split", "revision")
_NAMES = ("extends", "override")
"""Keys about the names of the catalog, which are done with once its files are read."""
_IN_ITS_PLACE = (
    "it takes the place of the package's: write all keys, or extend that one under another name"
)
_STATES = {"deprecated": "is deprecated", "removed": "was removed"}
_FEWSHOT, _RULE = "fewshot", "bad-fewshot"
_CORRECTIONS = "corrections"


def resolve(
    name: str,
    entries: Mapping[str, Entry],
    *,
    boundary: Boundary = UNBOUNDED,
    overrides: Mapping[str, Any] | None = None,
    source: str | None = None,
) -> DatasetSpec:
    """Return the fully resolved dataset `name`.

    Args:
        name: A name in `entries`.
        entries: All entries of the catalog.
        boundary: What it may reach.
        overrides: View arguments, `split` and `revision` of the source, `fewshot`: a number of
            examples, keys of that block, True for what it says, or False for none; and
            `corrections`: False for the samples, and their examples, as the sources have them.
            Corrections are of one split: of another one they are left out.
        source: A path or URL with the same data, in place of the source's location. With it, or
            with another split or revision, `expect` no longer applies and is dropped.

    Raises:
        ManifestError: with all problems, each located where its value is written.
    """
    merged = checked_entry(name, entries, boundary=boundary, overrides=overrides, source=source)
    return spec_of(entries[name], merged, entries)


def checked_entry(name: str, entries: Mapping[str, Entry], **options: Any) -> Merged:
    """Return the merged layers of the dataset `name`; arguments and errors as for `resolve`."""
    merged = merged_entry(name, entries, **options)
    problems = list(run_checks("merged", merged, merged, blocking_only=True))
    if problems:
        raise ManifestError(problems)
    return merged


def merged_entry(
    name: str,
    entries: Mapping[str, Entry],
    *,
    boundary: Boundary = UNBOUNDED,
    overrides: Mapping[str, Any] | None = None,
    source: str | None = None,
) -> Merged:
    """Return the merged, unchecked layers of the dataset `name`; arguments as for `resolve`.

    Raises:
        ManifestError: an ancestor does not exist, or is the dataset itself, or they are too many.
    """
    chain = _chain(entries[name], entries, boundary.limits)
    defaults = chain[-1].defaults
    # The defaults of sources depend on the type of the source: `merge` adds them.
    value = {key: item for key, item in defaults.value.items() if key != "source"}
    general = Layer("default", value, defaults.document, defaults.base)
    layers = [general, *_own_layers(chain)]
    if overrides:
        layers.append(_override_layer(overrides))
    merged = replace(merge(layers, defaults), boundary=boundary)
    if source is not None:
        merged = _with_source(merged, Location(source))
    given = overrides or {}
    merged = replace(merged, is_original=given.get(_CORRECTIONS) is False)
    if "split" in given:
        merged.value.pop(_CORRECTIONS, None)
    if source is not None or any(key in _SOURCE_KEYS for key in given):
        merged.value.pop("expect", None)  # it describes the original data
    return merged


def _chain(entry: Entry, entries: Mapping[str, Entry], limits: Limits) -> list[Entry]:
    """Return the entry and its ancestors, the root first."""
    chain = [entry]
    while (parent := chain[0].value.get("extends")) is not None:
        if len(chain) > limits.extends:
            message = limits.message("extends", f"'{entry.name}' has", "ancestors")
            raise ManifestError([entry.problem(("extends",), message, rule="extends-depth")])
        found = parent_of(chain[0], entries)
        if found is None:
            near = close_matches(parent, present_names(entries))
            hint = f"similar names: {', '.join(near)}" if near else ""
            if parent in entries:
                hint = notice_of(parent, entries)
            message = f"no dataset '{parent}'"
            problem = chain[0].problem(("extends",), message, hint, rule="unknown-parent")
            raise ManifestError([problem])
        if any(known.name == found.name for known in chain):
            names = " → ".join([known.name for known in reversed(chain)] + [found.name])
            message = f"`extends` forms a cycle: {names}"
            hint = _IN_ITS_PLACE if chain[0].overrides and found.name == chain[0].name else ""
            problem = chain[0].problem(("extends",), message, hint, rule="extends-cycle")
            raise ManifestError([problem])
        chain.insert(0, found)
    return chain


def _own_layers(chain: list[Entry]) -> Iterator[Layer]:
    """Yield the entries' keys, the root's first, with paths resolved against each entry's index."""
    inherited: dict[str, Any] = {}
    for number, entry in enumerate(chain):
        kind = "own" if entry is chain[-1] else "parent"
        # That a dataset is deprecated says nothing about those that extend it.
        unused = _NAMES if kind == "own" else (*_NAMES, "deprecated")
        value = {key: item for key, item in entry.value.items() if key not in unused}
        value = with_absolute_paths(value, inherited, entry.folder)
        inherited = {**inherited, **value.get("source", {})}
        yield Layer(kind, value, entry.document, ("datasets", entry.written))
        if not chain[-1].split and (layer := default_layer(chain, number, inherited)):
            inherited = {**inherited, **layer.value["source"]}
            yield layer
    if chain[-1].split and (layer := split_layer(chain, chain[-1].split, inherited)):
        # Those of the dataset are of its default split.
        yield replace(layer, value={"expect": {"samples": None}, "corrections": None})
        yield layer


def _override_layer(overrides: Mapping[str, Any]) -> Layer:
    known = (*_VIEW_KEYS, *_SOURCE_KEYS, _FEWSHOT, _CORRECTIONS)
    check_arguments(overrides, known)
    if not isinstance(overrides.get(_CORRECTIONS, True), bool):
        raise TypeError("`corrections` is False for the original samples, or True")
    only = overrides.get("only")
    if isinstance(only, dict) and not all(isinstance(key, str) for key in only):
        raise TypeError(f"the keys of `only` are metadata keys, which are strings, not {only!r}")
    value = {key: item for key, item in overrides.items() if key in _VIEW_KEYS}
    source = {key: item for key, item in overrides.items() if key in _SOURCE_KEYS}
    if overrides.get(_FEWSHOT) is not None:
        value[_FEWSHOT] = _fewshot_keys(overrides[_FEWSHOT])
    return Layer("override", {**value, "source": source} if source else value)


def _fewshot_keys(given: object) -> dict[str, Any]:
    """Return the keys of `fewshot` that an argument of a call means."""
    match given:
        case bool():
            return {"apply": given}
        case 0:
            return {"apply": False}
        case int():
            return {"n": given, "ids": None, "apply": True}
        case Mapping():
            return {"apply": True, **given}
    raise TypeError(
        f"`fewshot` must be a number of examples, keys of that block, True or False, not {given!r}"
    )


def _with_source(merged: Merged, location: Location) -> Merged:
    """Replace the source's location; the suffix of a file determines its type."""
    path = str(location)
    if location.is_path:
        path = str(location.with_file(Location.local_path))
    old = merged.value.get("source", {})
    inferred = infer_source_keys(location)
    if inferred is None and os.path.isdir(path):
        inferred = {"type": "hf"}  # `datasets` reads a folder of files
    if inferred is None:
        known = ", ".join(suffix for model in SOURCE_TYPES.values() for suffix in model.suffixes)
        message = f"can't infer the type of {location.public}"
        hint = f"known suffixes: {known}"
        problem = Problem(
            message=message, file="argument `source`", path="", hint=hint, rule="wrong-value"
        )
        raise ManifestError([problem])
    # Keys of another type, such as `delimiter`, would be invalid for the inferred one.
    inherited = old if old.get("type") == inferred["type"] else {}
    of_path = ("path", "revision", *OF_BYTES)
    source = {key: item for key, item in inherited.items() if key not in of_path}
    value = {key: item for key, item in merged.value.items() if key != "concat"}
    layer = Layer("override", {})
    value["source"] = {**inferred, **source, "path": path}
    layers = {**merged.layers, ("source",): layer, ("source", "path"): layer}
    return replace(merged, value=value, layers=layers)


def notice_of(name: str, entries: Mapping[str, Entry]) -> str:
    """Return what to tell whoever uses a name: that its dataset is deprecated, or was renamed.

    Or that it was removed; "" if there is nothing to tell.
    """
    new = current_name(name, entries)
    texts = [] if new == name else [f"'{name}' is called '{new}' now (use that name)"]
    value = entries[new].value if new in entries else {}
    for key, state in _STATES.items():
        if isinstance(given := value.get(key), dict):
            since, reason, use = (given.get(one) for one in ("since", "reason", "use"))
            text = f"'{new}' {state}"
            text += f" since {since}" if since and key == "deprecated" else ""
            text += f" in {since}" if since and key == "removed" else ""
            text += f": {str(reason).rstrip('.')}" if reason else ""
            texts.append(text + (f" (use '{use}')" if use else ""))
    return "; ".join(texts)


def retirement_problem(entry: Entry, entries: Mapping[str, Entry]) -> Problem | None:
    """Return what is wrong with the name that replaces a renamed, removed or deprecated one."""
    for path in (("renamed_to",), ("deprecated", "use"), ("removed", "use")):
        named: Any = entry.value
        for key in path:
            named = named.get(key) if isinstance(named, dict) else None
        if not isinstance(named, str):
            continue
        new = current_name(named, entries)
        if path == ("renamed_to",) and new in entries and "renamed_to" in entries[new].value:
            message = f"'{entry.name}' is renamed in a circle"
            hint = "name the dataset that it is called now"
            return entry.problem(path, message, hint, rule="rename-cycle")
        if new not in entries:
            hint = did_you_mean(new, present_names(entries)) or "name a dataset of the catalog"
            message = f"no dataset '{new}'"
            return entry.problem(path, message, hint, rule="unknown-replacement")
        if entries[new].is_retired and path != ("removed", "use"):
            hint = "name a dataset that there is"
            message = f"'{new}' was removed"
            return entry.problem(path, message, hint, rule="unknown-replacement")
    return None


def spec_of_source(source: Mapping[str, Any], folder: Path) -> Source:
    """Return a source from the keys of a manifest in `folder`.

    Raises:
        ManifestError: a key is missing or invalid.
    """
    keys = with_absolute_paths({"source": dict(source)}, {}, folder)
    return _spec("source", Merged(keys, {(): Layer("source", keys)}), folder).source


def spec_of(entry: Entry, merged: Merged, entries: Mapping[str, Entry]) -> DatasetSpec:
    """Return the spec for the merged keys of an entry, with the companion that its examples need.

    Raises:
        ManifestError: a key is missing or invalid.
    """
    spec = _spec(entry.name, merged, _home(entry, entries, merged.boundary), entry.split)
    if spec.fewshot is not None:
        spec = _with_companion(spec, spec.fewshot, merged, entries)
    return without_corrections(spec) if merged.is_original else spec


def _home(entry: Entry, entries: Mapping[str, Entry], boundary: Boundary) -> Path:
    return home_of(reversed(_chain(entry, entries, boundary.limits)))


def _with_companion(
    spec: DatasetSpec, fewshot: Fewshot, merged: Merged, entries: Mapping[str, Entry]
) -> DatasetSpec:
    """Return a spec with the dataset that its examples are taken from, if it has examples.

    That is all samples of the companion in the order of their source, without examples of its own.
    """
    other_name = fewshot.dataset and current_name(fewshot.dataset, entries)
    name, split = other_name or spec.name, fewshot.split
    written = other_name or entries[spec.name].written
    splits, default = declared_splits(written, entries)
    if split is not None and splits:
        if split not in splits:
            hint = near_or_known(split, splits, "splits")
            message = f"{written} has no split '{split}'"
            raise ManifestError([merged.problem((_FEWSHOT, "split"), message, hint, rule=_RULE)])
        name, split = written if split == default else f"{written}:{split}", None
    if name not in entries or entries[name].is_retired:
        near = close_matches(name, present_names(entries))
        hint = f"similar names: {', '.join(near)}" if near else ""
        place = (_FEWSHOT, "dataset" if fewshot.dataset else "split")
        raise ManifestError([merged.problem(place, f"no dataset '{name}'", hint, rule=_RULE)])
    # The split that has the examples has none itself, unless a call asks for that.
    is_source = fewshot.dataset is None and name == spec.name and bool(entries[name].split)
    if is_source and merged.layer((_FEWSHOT, "apply")).kind != "override":
        return replace(spec, fewshot=replace(fewshot, apply=False))
    if not fewshot.apply:
        return spec
    if name == spec.name:
        companion = _with_split(spec, split, merged)
    else:
        overrides = None if split is None else {"split": split}
        other = checked_entry(name, entries, boundary=merged.boundary, overrides=overrides)
        other.value.pop(_FEWSHOT, None)
        home = _home(entries[name], entries, merged.boundary)
        companion = _spec(name, other, home, entries[name].split)
    if companion.mapper not in (None, spec.mapper):
        # Whoever judges code before it runs looks at the mapper of the dataset.
        message = f"the samples of '{name}' are made by code, '{companion.mapper}'"
        hint = "give this dataset the same mapper, or take examples from one with `fields`"
        raise ManifestError([merged.problem((_FEWSHOT,), message, hint, rule=_RULE)])
    if fewshot.dataset is None:  # `sample` and `expect` are about the samples that are asked
        companion = replace(companion, sample=None, expect=Expect())
        if companion.on_duplicate == "drop" and companion.sources != spec.sources:
            # Examples are shown, not counted: those of MMLU's college physics have one twice.
            companion = replace(companion, on_duplicate="suffix")
    view = View(auto_id=companion.view.auto_id)
    return replace(spec, companion=replace(companion, fewshot=None, view=view))


def _with_split(spec: DatasetSpec, split: str | None, merged: Merged) -> DatasetSpec:
    """Return a dataset with another split of its source."""
    if split is None or getattr(spec.source, "split", None) == split:
        return spec
    if spec.concat or not hasattr(spec.source, "split"):
        reason = "its parts are concatenated" if spec.concat else "its source has no splits"
        message = f"{spec.name} has no split '{split}': {reason}"
        hint = "name the dataset with the examples: `dataset: NAME`"
        raise ManifestError([merged.problem((_FEWSHOT, "split"), message, hint, rule=_RULE)])
    source: Any = spec.source
    return replace(spec, source=replace(source, split=split), corrections=None)


def _spec(name: str, merged: Merged, folder: Path, split: str = "") -> DatasetSpec:
    value: dict[str, Any] = {**merged.value, "name": name, "folder": folder}
    splits, default = (value.pop(key, None) for key in SPLIT_KEYS)
    if splits:
        value["split"] = split or default
    view = {key: value.pop(key) for key in _VIEW_KEYS if key in value}
    if view.get("shuffle_choices") is False:
        del view["shuffle_choices"]
    value["view"] = view
    parts = [part_of(value["source"], part) for part in value.get("concat", ())]
    value["concat"] = [source_model(part).normalized(part) for part in parts]
    value = _normalized(value)
    for key, expand in _SHORT_FORMS.items():
        if key in value:
            value[key] = expand(value[key])
    try:
        return to_spec(value)
    except msgspec.ValidationError:
        from registry.manifest.validation import schema_errors  # only errors need it

        # Each file is valid on its own, but the merged keys violate the schema.
        whole = {key: item for key, item in merged.value.items() if key not in SPLIT_KEYS}
        problems = schema_errors(whole, "manifest", "dataset")
        for number, part in enumerate(parts if not problems else ()):
            for found in schema_errors(part, "manifest", "completeSource"):
                problems.append(replace(found, path=("concat", number, *found.path)))
        if not problems:
            raise  # a bug: the models reject what the schema accepts
        # The model's own words say less than those of the schema.
        raise ManifestError([problem.at(merged) for problem in problems]) from None


def _normalized(value: dict[str, Any]) -> dict[str, Any]:
    """Return the keys with the short forms of their source, if any, expanded."""
    if "source" not in value:
        return value
    return {**value, "source": source_model(value["source"]).normalized(value["source"])}


def _normalized_eval(value: dict[str, Any]) -> dict[str, Any]:
    """Return an `eval` block with lists of mappings in place of single ones and of bare names."""
    parts: dict[str, Any] = {}
    for key in {"solver", "scorer"} & value.keys():
        given = value[key] if isinstance(value[key], list) else [value[key]]
        named = ({"name": item} if isinstance(item, str) else item for item in given)
        parts[key] = [without_nulls(item) for item in named]
    return {**value, **parts}


def _normalized_explode(value: Any) -> Any:
    if isinstance(value, str):
        return {"column": value}
    return {**value, "then": _normalized_explode(value["then"])} if value.get("then") else value


def _normalized_license(value: Any) -> Any:
    if isinstance(value, str):
        return {"spdx": value}
    return {key.replace("-", "_"): item for key, item in value.items()}


# What a key is in full, given what the manifest has.
_SHORT_FORMS: dict[str, Callable[[Any], Any]] = {
    "join": _normalized,
    _CORRECTIONS: lambda value: {"type": _CORRECTIONS, "path": [value]},
    "explode": _normalized_explode,
    "license": _normalized_license,
    "access": lambda value: {} if value == "open" else value,
    "eval": _normalized_eval,
}


def evaluation_of(value: dict[str, Any]) -> Evaluation:
    """Return what an `eval` block says, in its short forms or not.

    Raises:
        ValueError: it is invalid; the message has all problems.
    """
    from registry.manifest.validation import schema_errors  # few callers have one

    if found := schema_errors(value, "manifest", "eval"):
        texts = (f"{json_path(one.path).removeprefix('$.')}: {one.message}" for one in found)
        hints = (f" ({one.hint})" if one.hint else "" for one in found)
        raise ValueError("; ".join(map("".join, zip(texts, hints, strict=True))))
    return convert(_normalized_eval(value), Evaluation)
