"""Translate functions of Python that make records, of lm-eval's and Inspect's tasks; none runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

from registry import ManifestError
from registry.plugins.importers.field_code import (
    Translator,
    UntranslatableError,
    check_depth,
    constant_of,
    pipe,
    template_of,
)
from registry.plugins.importers.python_module import bound_function, check_builtins, parse_module

__all__ = ["condition_of_filter", "fields_of_function"]


_REFERENCE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\.([A-Za-z_]\w*)", re.ASCII)
# Arguments of `Dataset.filter` that do not change which records it keeps.
_HARMLESS = {"num_proc", "desc", "load_from_cache_file", "keep_in_memory"}

_Function = ast.FunctionDef | ast.Lambda

_FIELDS = ("input", "target", "choices", "id", "metadata")
_MAX_DEPTH = 50
_MAX_NAMES = 1_000


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
    functions, result = _statements_of(found.function)
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


def _statements_of(function: _Function) -> tuple[dict[str, ast.FunctionDef], ast.expr]:
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
    functions, result = _statements_of(predicate)
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


def fields_of_function(
    function: ast.FunctionDef | ast.Lambda,
    constants: Mapping[str, ast.expr],
    stable_ids: Collection[str] = (),
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the fields of the samples that a function makes, and why others have none.

    Args:
        function: It takes a record, and returns `Sample(…)` after assignments at most.
        constants: Literals that the module assigns.
        stable_ids: Names of `create_stable_id` of inspect_evals, which is our `hash`.

    Raises:
        UntranslatableError: it has another shape, or its input has no equivalent.
    """
    if len(function.args.args) != 1:
        raise UntranslatableError("it takes more than a record")
    names, call = _body(function, dict(constants))
    reader = _RecordReader(function.args.args[0].arg, names, stable_ids)
    given: dict[str, ast.expr] = dict(zip(("input", "choices", "target"), call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
    if any(one.arg is None for one in call.keywords) or "input" not in given:
        raise UntranslatableError("the arguments of `Sample` are not written out")
    fields, refused = dict[str, Any](), dict[str, str]()
    for name in _FIELDS:
        fields[name] = None
        if name in given:
            try:
                fields[name] = reader.field(name, given[name])
            except UntranslatableError as error:
                if name == "input":
                    raise UntranslatableError(f"input: {error}") from error
                refused[name] = str(error)
    refused |= dict.fromkeys(given.keys() - set(_FIELDS), "a field that is not carried over")
    return fields, refused


def _body(
    function: ast.FunctionDef | ast.Lambda, names: dict[str, ast.expr]
) -> tuple[dict[str, ast.expr], ast.Call]:
    """Return what names stand for at the end of a function, and the call that it returns."""
    if isinstance(function, ast.Lambda):
        return names, _sample_call(function.body)
    record = function.args.args[0].arg
    for statement in function.body:
        match statement:
            case ast.Expr(ast.Constant(str())):
                continue
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                ast.Name(name), _, ast.expr() as value
            ):
                # Names in a value would change their meaning if they were assigned again.
                if name in names or name == record:
                    raise UntranslatableError(f"it assigns `{name}` twice")
                names[name] = value
            case ast.Return(ast.expr() as value):
                return names, _sample_call(
                    names.get(value.id, value) if isinstance(value, ast.Name) else value
                )
            case _:
                what = type(statement).__name__.lower()
                raise UntranslatableError(f"it has more than assignments (`{what}`)")
    raise UntranslatableError("it returns nothing")


def _sample_call(node: ast.expr) -> ast.Call:
    match node:
        case ast.Call(ast.Name("Sample") | ast.Attribute(_, "Sample")):
            return node
    raise UntranslatableError("it does not return `Sample(…)`")


class _RecordReader:
    """Translates expressions about a record and about assigned names."""

    def __init__(
        self, record: str, names: Mapping[str, ast.expr], stable_ids: Collection[str]
    ) -> None:
        self._record = record
        self._names = names
        self._stable_ids = stable_ids
        self._depth = self._count = 0
        self._translator = Translator(self._column_of)

    def field(self, name: str, node: ast.expr) -> Any:
        """Return the expression of a field."""
        node = self._resolved(node)
        if name == "metadata":
            if isinstance(node, ast.Dict):
                pairs = {}
                for key, value in zip(node.keys, node.values, strict=True):
                    if (
                        not isinstance(key, ast.Constant)
                        or not isinstance(key.value, str)
                        or key.value == "*"
                    ):
                        raise UntranslatableError("the keys of the metadata are not written out")
                    pairs[key.value] = self._translator.expression(value)
                columns = list(pairs.values())
                return columns if columns == list(pairs) else pairs
            raise UntranslatableError("the metadata is not a dict that is written out")
        return self._translator.expression(node)

    def _resolved(self, node: ast.expr) -> ast.expr:
        return self._names.get(node.id, node) if isinstance(node, ast.Name) else node

    def _column_of(self, node: ast.expr) -> Any:
        match node:
            case ast.Subscript(ast.Name(name), ast.Constant(str() as column)) if (
                name == self._record
            ):
                return column
            case ast.Call(
                ast.Attribute(ast.Name(name), "get"), [ast.Constant(str() as column)], []
            ) if name == self._record:
                return column  # stricter: a column that no record has is an error
            case ast.Name(name) if name in self._names:
                return self._assigned(name)
            case ast.Call(
                ast.Name("chr"),
                [ast.BinOp(ast.Call(ast.Name("ord"), [ast.Constant("A")]), ast.Add(), index)],
            ):
                return pipe(self._translator.expression(index), "letter")
            case ast.Call(ast.Name(name), [_, *_] as values, keywords) if name in self._stable_ids:
                return self._hash(values, keywords)
            case ast.Call(ast.Attribute(template, "format"), [], keywords):
                return self._format(template, keywords)
            case ast.Name() | ast.Attribute() | ast.BinOp(_, ast.BitOr(), _):
                raise UntranslatableError(f"`{ast.unparse(node)[:60]}` has no equivalent")
        return None

    def _assigned(self, name: str) -> Any:
        self._depth += 1
        self._count += 1  # a name that stands for two others, each of them for two, and so on
        if self._depth > _MAX_DEPTH or self._count > _MAX_NAMES:
            raise UntranslatableError(f"`{name}` is defined by too many other names")
        try:
            return self._translator.expression(self._names[name])
        finally:
            self._depth -= 1

    def _hash(self, values: list[ast.expr], keywords: list[ast.keyword]) -> Any:
        options = {one.arg: constant_of(self._resolved(one.value)) for one in keywords}
        prefix, length = options.pop("prefix", ""), options.pop("length", 8)
        if options or not isinstance(prefix, str) or length not in range(1, 65):
            raise UntranslatableError("`create_stable_id` with other arguments")
        hashed = [self._translator.expression(one) for one in values]
        return {"hash": hashed, **({"prefix": prefix} if prefix else {}), "length": length}

    def _format(self, template: ast.expr, keywords: list[ast.keyword]) -> Any:
        text = constant_of(self._resolved(template))
        values = {one.arg: one.value for one in keywords}
        parts: list[Any] = []
        try:
            parsed = list(Formatter().parse(text))
        except (TypeError, ValueError) as error:
            raise UntranslatableError("`format` of what is not a template") from error
        for before, name, spec, conversion in parsed:
            parts.append(before)
            if name is not None:
                if name not in values or spec or conversion:
                    raise UntranslatableError(f"`format` with the field `{name}`")
                parts.append({"value": self._translator.expression(values[name])})
        return template_of(parts)
