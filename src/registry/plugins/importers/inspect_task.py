"""Import an Inspect AI task: Python that calls a dataset loader with literals; it never runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

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
from registry.plugins.importers.python_module import (
    bound_names,
    check_builtins,
    imported_as,
    parse_module,
)

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
    stable_ids = imported_as(module, "inspect_evals.utils", "create_stable_id")
    found: list[ImportedDataset] = []
    refused: list[NotImported] = []
    for scope, call in _calls(module, _Scope(module)):
        name = options.name or dataset_name(scope.name or file.stem)
        try:
            found.append(_dataset(name, call, scope, stable_ids))
        except UntranslatableError as error:
            refused.append(NotImported(name, str(error), f"{file}:{call.lineno}"))
    if not found and not refused:
        refused.append(NotImported(file.stem, "no call of a dataset loader"))
    return Imported(tuple(found), tuple(refused))


_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class _Scope:
    """The literals and functions that names of a module or a function stand for."""

    def __init__(self, tree: ast.Module | _Function, outer: _Scope | None = None) -> None:
        self.tree = tree
        self.module: ast.Module = outer.module if outer is not None else cast("ast.Module", tree)
        self.name: str = "" if outer is None else outer.name
        """The function of the module that it is in, if any."""
        if isinstance(tree, ast.FunctionDef) and tree in self.module.body:
            self.name = tree.name
        self._outer = outer
        self._bound = bound_names(tree)
        self._own: dict[str, ast.expr | ast.FunctionDef] = {}
        for one in tree.body if isinstance(tree.body, list) else ():
            match one:
                case ast.FunctionDef(name, decorator_list=[]) if self._bound[name] == 1:
                    self._own[name] = one
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                    ast.Name(name), _, ast.expr() as value
                ) if self._bound[name] == 1:
                    self._own[name] = value
        defaults = {} if isinstance(tree, ast.Module) else _defaults(tree)
        self.defaults = {name: one for name, one in defaults.items() if self._bound[name] == 1}
        """The defaults of parameters that are not assigned."""

    def find(self, name: str) -> tuple[ast.expr | ast.FunctionDef | None, _Scope]:
        """Return what a name stands for, None if that is not known, and where it is bound."""
        if self._outer is None or self._bound[name]:
            return self._own.get(name), self
        return self._outer.find(name)

    def constants(self) -> dict[str, ast.expr]:
        """Return the literals that names stand for."""
        outer = {} if self._outer is None else self._outer.constants()
        own = {key: one for key, one in self._own.items() if isinstance(one, ast.Constant)}
        return {key: one for key, one in outer.items() if not self._bound[key]} | own


def _calls(tree: ast.AST, scope: _Scope) -> Iterator[tuple[_Scope, ast.Call]]:
    """Yield the calls of loaders, with the scopes that they are in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call) and _loader(node) in _LOADERS:
            yield scope, node
        yield from _calls(node, _Scope(node, scope) if isinstance(node, _Function) else scope)


def _changes(call: ast.Call, scope: _Scope) -> Iterator[LeftOut]:
    """Yield what the code does with the samples of a loader, or of the name that has them."""
    nodes = list(ast.walk(scope.tree))
    names = {
        name.id
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is call
        for name in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(name, ast.Name)
    }
    for node in nodes:
        match node:
            case ast.Attribute(
                value, "filter" | "shuffle" | "shuffle_choices" | "sort"
            ) | ast.Subscript(value, ast.Slice()) if value is call or (
                isinstance(value, ast.Name) and value.id in names
            ):
                what = ast.unparse(node).removeprefix(ast.unparse(value)).lstrip(".")
                yield LeftOut(what, "the code selects or orders the samples", line=node.lineno)


def _loader(call: ast.Call) -> str:
    match call.func:
        case ast.Name(name) | ast.Attribute(_, name):
            return name
    return ""


def _dataset(
    name: str, call: ast.Call, scope: _Scope, stable_ids: frozenset[str]
) -> ImportedDataset:
    loader = _loader(call)
    given = dict(zip(_LOADERS[loader], call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
    left_out = [LeftOut("Task", "solver and scorer", "evaluation", call.lineno)]
    if any(one.arg is None for one in call.keywords) or len(call.args) > len(_LOADERS[loader]):
        left_out.append(LeftOut("**", "arguments that are not written out", line=call.lineno))
    values = _Values(scope, left_out)
    source = _source(loader, given, values)
    keys: dict[str, Any] = {"tags": ["inspect"], "source": source}
    fields = _fields(given.get("sample_fields"), scope, stable_ids, left_out, call.lineno)
    if fields:
        keys["fields"] = fields
    keys |= _view(given, values)
    known = {*_LOADERS[loader], *_SOURCE, *_VIEW, *_SEEDED, *_PASSED}
    left_out += [
        LeftOut(key, "an argument of the loader", line=call.lineno)
        for key in given
        if key not in known
    ]
    left_out += _changes(call, scope)
    return ImportedDataset(name, keys, tuple(left_out))


class _Values:
    """Values of arguments: literals, constants of the module, and defaults of parameters."""

    def __init__(self, scope: _Scope, left_out: list[LeftOut]) -> None:
        self._scope = scope
        self._left_out = left_out

    def get(self, key: str, node: ast.expr) -> Any:
        """Return the value of an argument.

        Raises:
            UntranslatableError: it is not known without running the code.
        """
        if isinstance(node, ast.Name) and node.id in self._scope.defaults:
            why = f"the parameter `{node.id}` of the task; its default is used"
            self._left_out.append(LeftOut(key, why, "evaluation", node.lineno))
            node = self._scope.defaults[node.id]
        if isinstance(node, ast.Name):
            found, _ = self._scope.find(node.id)
            node = found if isinstance(found, ast.expr) else node
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


def _defaults(function: _Function) -> dict[str, ast.expr]:
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
    node: ast.expr | None,
    scope: _Scope,
    stable_ids: frozenset[str],
    left_out: list[LeftOut],
    line: int,
) -> dict[str, Any]:
    """Return the fields of `sample_fields`; empty for those of the default."""
    found: ast.expr | ast.FunctionDef | None = node
    if isinstance(node, ast.Name):
        found, scope = scope.find(node.id)
    try:
        match found:
            case ast.Constant(None):
                return {}
            case ast.Call(ast.Name("FieldSpec") | ast.Attribute(_, "FieldSpec"), [], keywords):
                return _field_spec(keywords, scope)
            case ast.FunctionDef() | ast.Lambda():
                check_builtins(scope.module, found)
                fields, refused = fields_of_function(found, scope.constants(), stable_ids)
                left_out += [
                    LeftOut(f"sample_fields.{key}", why, line=line) for key, why in refused.items()
                ]
                return fields
        if node is None:
            return {}
        raise UntranslatableError(
            f"`{ast.unparse(node)[:60]}` is not in this file, or is defined twice"
        )
    except UntranslatableError as error:
        left_out.append(LeftOut("sample_fields", str(error), line=line))
        return {}


def _field_spec(keywords: list[ast.keyword], scope: _Scope) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for one in keywords:
        value: Any = one.value
        if isinstance(value, ast.Name):
            value, _ = scope.find(value.id)
        if one.arg not in NAMES or not isinstance(value, ast.expr):
            raise UntranslatableError(f"FieldSpec({one.arg}=…) is not written out")
        fields[one.arg] = constant_of(value)
    return fields
