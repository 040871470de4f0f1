"""Translate `process_docs` of lm-evaluation-harness: a function that filters, as a condition."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from registry import ManifestError
from registry.plugins.importers.code.field_code import (
    Translator,
    UntranslatableError,
    check_depth,
)
from registry.plugins.importers.code.python_module import (
    bound_function,
    check_builtins,
    parse_module,
)

__all__ = ["condition_of_filter"]

_REFERENCE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\.([A-Za-z_]\w*)", re.ASCII)
# Arguments of `Dataset.filter` that do not change which records it keeps.
_HARMLESS = {"num_proc", "desc", "load_from_cache_file", "keep_in_memory"}

_Function = ast.FunctionDef | ast.Lambda


def condition_of_filter(reference: str, folder: Path) -> Any:
    """Return the condition of `where` for a function that returns `dataset.filter(…)`.

    Args:
        reference: Module and function, such as `utils.process_docs`.
        folder: The folder of the file that names it, in which the harness looks first.

    Raises:
        UntranslatableError: it does something else.
    """
    parts = _REFERENCE.fullmatch(reference)
    file = None if parts is None else folder / f"{parts[1].replace('.', '/')}.py"
    if parts is None or file is None or not file.is_file():
        raise UntranslatableError("its module is not beside the file")
    try:
        module = parse_module(file)
    except ManifestError as error:
        raise UntranslatableError("its module can't be parsed") from error
    found = bound_function(module, parts[2])
    dataset, *others = _parameters(found.function)
    if set(others) != found.bound.keys():
        raise UntranslatableError("a parameter has no value")
    functions, result = _body(found.function)
    conditions = []
    for node in _filters(result, dataset):
        if isinstance(node, ast.Name) and node.id in (dataset, *others):
            raise UntranslatableError(f"`{node.id}` is no function")
        predicate = _predicate(node, functions, module)
        check_builtins(module, predicate)
        conditions.append(_condition(predicate, found.bound))
    return conditions[0] if len(conditions) == 1 else {"all": conditions}


def _parameters(function: _Function) -> list[str]:
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
        raise UntranslatableError("its parameters are not plain")
    if not given.args:
        raise UntranslatableError("it takes nothing")
    return [one.arg for one in given.args]


def _body(function: _Function) -> tuple[dict[str, ast.FunctionDef], ast.expr]:
    """Return the functions that a function defines, and what it returns after that."""
    if isinstance(function, ast.Lambda):
        return {}, function.body
    inner = dict[str, ast.FunctionDef]()
    for statement in function.body:
        match statement:
            case ast.Expr(ast.Constant(str())):
                continue
            case ast.FunctionDef(name, decorator_list=[]) if name not in inner:
                inner[name] = statement
            case ast.Return(ast.expr() as result):
                return inner, result
            case _:
                break
    raise UntranslatableError("it does more than filter the records")


def _filters(node: ast.expr, dataset: str) -> Iterator[ast.expr]:
    """Yield the functions of `dataset.filter(f).filter(g)`."""
    match node:
        case ast.Call(ast.Attribute(inner, "filter"), [predicate], keywords) if all(
            one.arg in _HARMLESS for one in keywords
        ):
            if not (isinstance(inner, ast.Name) and inner.id == dataset):
                yield from _filters(inner, dataset)
            yield predicate
        case _:
            raise UntranslatableError("it does more than filter the records")


def _predicate(
    node: ast.expr, functions: Mapping[str, ast.FunctionDef], module: ast.Module
) -> _Function:
    match node:
        case ast.Lambda():
            return node
        case ast.Name(name) if name in functions:
            return functions[name]
        case ast.Name(name):
            found = bound_function(module, name)
            if not found.bound:
                return found.function
    raise UntranslatableError(f"`{ast.unparse(node)[:60]}` is no function")


def _condition(predicate: _Function, bound: Mapping[str, ast.expr]) -> Any:
    record, *others = _parameters(predicate)
    functions, result = _body(predicate)
    if others or functions or record in bound:
        raise UntranslatableError("the filter takes more than a record")

    def column_of(node: ast.expr) -> Any:
        match node:
            case ast.Subscript(ast.Name(name), ast.Constant(str() as column)) if name == record:
                return column
            case ast.Name():
                raise UntranslatableError(f"`{node.id}` is not a literal")
        return None

    # Values of other tools' text, which made the tree deeper.
    tree = check_depth(_Bind(bound).visit(result))
    return Translator(column_of).condition(tree)


class _Bind(ast.NodeTransformer):
    """Replaces names that have values, and f-strings of nothing else."""

    def __init__(self, bound: Mapping[str, ast.expr]) -> None:
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._bound.get(node.id, node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        self.generic_visit(node)
        text = ""
        for part in node.values:
            match part:
                case ast.Constant(str() as value) | ast.FormattedValue(
                    ast.Constant(str() as value), -1, None
                ):
                    text += value
                case _:
                    return node
        return ast.Constant(text)
