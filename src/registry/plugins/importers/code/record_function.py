"""Translate a function `record → Sample` of a simple shape to fields, without running it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from string import Formatter
from typing import Any

from registry.plugins.importers.code.field_code import (
    Translator,
    UntranslatableError,
    constant_of,
    pipe,
    template_of,
)

__all__ = ["fields_of_function"]

_FIELDS = ("input", "target", "choices", "id", "metadata")
_MAX_DEPTH = 50
_MAX_NAMES = 1_000


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
                return self._mapping(node)
            raise UntranslatableError("the metadata is not a dict that is written out")
        return self._translator.expression(node)

    def _mapping(self, node: ast.Dict) -> Any:
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
