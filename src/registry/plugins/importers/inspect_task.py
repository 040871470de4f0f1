"""Import an Inspect AI task: Python that calls a dataset loader with literals; it never runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from registry.api import NAMES, infer_source_keys
from registry.plugins.importers.field_code import UntranslatableError, constant_of
from registry.plugins.importers.functions import fields_of_function
from registry.plugins.importers.models import (
    Imported,
    ImportedDataset,
    ImportOptions,
    LeftOut,
    NotImported,
    dataset_name,
)
from registry.plugins.importers.python_module import check_builtins, imported_as, parse_module

__all__ = ["read"]

_LOADERS = {
    "hf_dataset": ("path", "split", "name", "data_dir", "revision", "sample_fields"),
    "csv_dataset": ("csv_file", "sample_fields"),
    "json_dataset": ("json_file", "sample_fields"),
}
"""Loader → its arguments by position."""
_SOURCE = ("split", "name", "data_dir", "revision", "data_files", "encoding", "delimiter")
_VIEW = ("auto_id", "limit")
_SEEDED = ("shuffle", "seed", "shuffle_choices")
_PASSED = frozenset(("trust", "cached", "dialect"))


def read(file: Path, options: ImportOptions) -> Imported:
    """Read the calls of loaders in a Python file.

    Raises:
        ManifestError: it can't be read or parsed.
    """
    module = parse_module(file)
    scope = _Module(module)
    found: list[ImportedDataset] = []
    refused: list[NotImported] = []
    for function, call in _calls(module):
        name = options.name or dataset_name(file.stem if function is None else function.name)
        try:
            found.append(_dataset(name, call, scope, function))
        except UntranslatableError as error:
            refused.append(NotImported(f"{name} (line {call.lineno})", str(error)))
    if not found and not refused:
        refused.append(NotImported(file.stem, "no call of a dataset loader"))
    return Imported(tuple(found), tuple(refused))


class _Module:
    """The literals and functions that a module defines once."""

    def __init__(self, module: ast.Module) -> None:
        self.constants: dict[str, ast.expr] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.tree = module
        self.stable_ids = imported_as(module, "inspect_evals.utils", "create_stable_id")
        twice = set()
        for one in module.body:
            if isinstance(one, ast.FunctionDef):
                self.functions[one.name] = one
            match one:
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                    ast.Name(name), _, ast.expr() as value
                ):
                    twice |= {name} & self.constants.keys()
                    self.constants[name] = value
        for name in twice:
            del self.constants[name]


def _calls(module: ast.Module) -> Iterator[tuple[ast.FunctionDef | None, ast.Call]]:
    """Yield the calls of loaders, with the functions that they are in."""
    for one in module.body:
        function = one if isinstance(one, ast.FunctionDef) else None
        for node in ast.walk(one):
            if isinstance(node, ast.Call) and _loader(node) in _LOADERS:
                yield function, node


def _loader(call: ast.Call) -> str:
    match call.func:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
    return ""


def _dataset(
    name: str, call: ast.Call, scope: _Module, function: ast.FunctionDef | None
) -> ImportedDataset:
    loader = _loader(call)
    given = dict(zip(_LOADERS[loader], call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
    left_out = [LeftOut("Task", "solver and scorer", "evaluation", call.lineno)]
    if any(one.arg is None for one in call.keywords) or len(call.args) > len(_LOADERS[loader]):
        left_out.append(LeftOut("**", "arguments that are not written out", line=call.lineno))
    values = _Values(scope, function, left_out)
    source = _source(loader, given, values)
    keys: dict[str, Any] = {"tags": ["inspect"], "source": source}
    fields = _fields(given.get("sample_fields"), scope, left_out, call.lineno)
    if fields:
        keys["fields"] = fields
    keys |= _view(given, values)
    known = {*_LOADERS[loader], *_SOURCE, *_VIEW, *_SEEDED, *_PASSED}
    left_out += [
        LeftOut(key, "an argument of the loader", line=call.lineno)
        for key in given
        if key not in known
    ]
    return ImportedDataset(name, keys, tuple(left_out))


class _Values:
    """Values of arguments: literals, constants of the module, and defaults of parameters."""

    def __init__(
        self, scope: _Module, function: ast.FunctionDef | None, left_out: list[LeftOut]
    ) -> None:
        self._constants = scope.constants
        self._defaults = {} if function is None else _defaults(function)
        self._left_out = left_out

    def get(self, key: str, node: ast.expr) -> Any:
        """Return the value of an argument.

        Raises:
            UntranslatableError: it is not known without running the code.
        """
        if isinstance(node, ast.Name) and node.id in self._defaults:
            why = f"the parameter `{node.id}` of the task; its default is used"
            self._left_out.append(LeftOut(key, why, "evaluation", node.lineno))
            node = self._defaults[node.id]
        if isinstance(node, ast.Name):
            node = self._constants.get(node.id, node)
        try:
            return constant_of(node)
        except UntranslatableError as error:
            raise UntranslatableError(
                f"{key}: `{ast.unparse(node)[:60]}` is not a literal"
            ) from error

    def optional(self, key: str, node: ast.expr) -> Any:
        """Return the value of an argument, or None after listing it as left out."""
        try:
            return self.get(key, node)
        except UntranslatableError as error:
            self.leave_out(key, str(error).partition(": ")[2], node)
            return None

    def leave_out(self, key: str, why: str, node: ast.expr) -> None:
        """List an argument as left out."""
        self._left_out.append(LeftOut(key, why, line=node.lineno))


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    given = function.args
    names = [one.arg for one in given.args][len(given.args) - len(given.defaults) :]
    pairs = [
        *zip(names, given.defaults, strict=True),
        *zip([one.arg for one in given.kwonlyargs], given.kw_defaults, strict=True),
    ]
    return {name: value for name, value in pairs if value is not None}


def _source(loader: str, given: Mapping[str, ast.expr], values: _Values) -> dict[str, Any]:
    first = _LOADERS[loader][0]
    if first not in given:
        raise UntranslatableError(f"{first}: it is missing")
    path = values.get(first, given[first])
    if not isinstance(path, str):
        raise UntranslatableError(f"{first}: it is not a string")
    kind = loader.removesuffix("_dataset")
    source: dict[str, Any] = {"type": kind, "path": path}
    if kind != "hf" and (infer_source_keys(path) or {}).get("type") not in (kind, None):
        raise UntranslatableError(f"{first}: `{path}` has the suffix of another type")
    for key in _SOURCE if kind == "hf" else ("encoding", "delimiter"):
        if key in given and (value := values.optional(key, given[key])) is not None:
            source[key] = value
    if kind == "hf" and "split" not in source:
        raise UntranslatableError("split: it is missing")
    return source


def _view(given: Mapping[str, ast.expr], values: _Values) -> dict[str, Any]:
    """Return the keys of the view; orders without a seed are left out."""
    view: dict[str, Any] = {}
    found = {key: values.optional(key, given[key]) for key in (*_VIEW, *_SEEDED) if key in given}
    seed = found.get("seed")
    if found.get("shuffle") is True and type(seed) is int:
        view |= {"shuffle": True, "seed": seed}
    elif found.get("shuffle"):
        values.leave_out("shuffle", "it has no seed", given["shuffle"])
    choices = found.get("shuffle_choices")
    if type(choices) is int:
        view["shuffle_choices"] = choices
    elif choices:
        values.leave_out("shuffle_choices", "it has no seed", given["shuffle_choices"])
    if found.get("auto_id") is True:
        view["auto_id"] = True
    if type(found.get("limit")) is int:
        view["limit"] = found["limit"]
    return view


def _fields(
    node: ast.expr | None, scope: _Module, left_out: list[LeftOut], line: int
) -> dict[str, Any]:
    """Return the fields of `sample_fields`; empty for those of the default."""
    if isinstance(node, ast.Name):
        node = scope.functions.get(node.id) or scope.constants.get(node.id) or node  # type: ignore[assignment]
    try:
        match node:
            case None | ast.Constant(None):
                return {}
            case ast.Call(ast.Name("FieldSpec") | ast.Attribute(_, "FieldSpec"), [], keywords):
                return _field_spec(keywords, scope)
            case ast.FunctionDef() | ast.Lambda():
                constants = {
                    name: value
                    for name, value in scope.constants.items()
                    if isinstance(value, ast.Constant)
                }
                check_builtins(scope.tree, node)
                fields, refused = fields_of_function(node, constants, scope.stable_ids)
                left_out += [
                    LeftOut(f"sample_fields.{key}", why, line=line) for key, why in refused.items()
                ]
                return fields
        raise UntranslatableError(f"`{ast.unparse(node)[:60]}` is not in this file")
    except UntranslatableError as error:
        left_out.append(LeftOut("sample_fields", str(error), line=line))
        return {}


def _field_spec(keywords: list[ast.keyword], scope: _Module) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for one in keywords:
        value = scope.constants.get(one.value.id) if isinstance(one.value, ast.Name) else one.value
        if one.arg not in NAMES or value is None:
            raise UntranslatableError(f"FieldSpec({one.arg}=…) is not written out")
        fields[one.arg] = constant_of(value)
    return fields
