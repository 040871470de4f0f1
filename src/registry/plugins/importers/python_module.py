"""Parse modules of Python, and find the functions that a name of one stands for; nothing runs."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from registry.plugins.importers.field_code import (
    UntranslatableError,
    check_depth,
    constant_of,
    list_of_constants,
)
from registry.plugins.importers.models import problem_at
from registry.plugins.importers.tolerant_yaml import read_foreign_text

__all__ = [
    "BoundFunction",
    "bound_function",
    "bound_names",
    "check_builtins",
    "imported_as",
    "parse_module",
]

MAX_TEXT = 1_000
"""Characters of a computed name."""
MAX_NAMES = 2_000
"""Names that a comprehension may define."""

_BUILTINS = frozenset(("chr", "len", "ord", "str"))
"""Functions of Python that are translated by their names."""
_CHANGERS = frozenset(("globals", "vars", "locals", "setattr", "exec", "eval"))
_METHODS: Mapping[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
}


@dataclass(frozen=True)
class BoundFunction:
    """A function of a module, and the literals that its other parameters have."""

    function: ast.FunctionDef
    bound: Mapping[str, ast.expr] = field(default_factory=dict)


def parse_module(file: Path) -> ast.Module:
    """Return the syntax tree of a file.

    Raises:
        ManifestError: it can't be read or parsed.
    """
    try:
        return check_depth(ast.parse(read_foreign_text(file)))
    except SyntaxError as error:
        raise problem_at(file, f"not Python: {error.msg}", line=error.lineno) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise problem_at(file, f"not Python: {error}") from error


def bound_function(module: ast.Module, name: str) -> BoundFunction:
    """Return what a name of a module stands for: a function, or a `partial` of one.

    Raises:
        UntranslatableError: it is something else, or the module binds it more than once.
    """
    found = [*_statements(module, name), *_computed(module, name)]
    if len(found) != 1:
        why = "is not defined by a `def` or a `partial`" if not found else "is defined twice"
        raise UntranslatableError(f"`{name}` {why}")
    match found[0]:
        case BoundFunction() as computed:
            return computed
        case ast.FunctionDef(decorator_list=[]) as function if function in module.body:
            return BoundFunction(function)
        case ast.Assign([ast.Name()], value):
            return _partial(module, value, {})
    raise UntranslatableError(f"`{name}` is no plain function")


def check_builtins(module: ast.Module, tree: ast.AST) -> None:
    """Check that a function of Python that a part of a module calls is not redefined there.

    Raises:
        UntranslatableError: the module binds its name to something else.
    """
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    for name in sorted(called & _BUILTINS):
        if _statements(module, name):
            raise UntranslatableError(f"the module has its own `{name}`")


def imported_as(module: ast.Module, package: str, name: str) -> frozenset[str]:
    """Return by which names a module calls a function that it imports from a package."""
    aliases = [
        alias
        for node in module.body
        if isinstance(node, ast.ImportFrom)
        and f"{node.module}.".startswith(f"{package}.")
        and not node.level
        for alias in node.names
        if alias.name == name
    ]
    names = {alias.asname or alias.name for alias in aliases}
    return frozenset(one for one in names if len(_statements(module, one)) == 1)


def bound_names(tree: ast.AST) -> Counter[str]:
    """Count what binds each name of a module or a function, not in the functions within it."""
    found: Counter[str] = Counter()
    nodes = list(ast.iter_child_nodes(tree))
    for node in nodes:  # grows
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                found[name] += 1
                continue
            case ast.Lambda():
                continue
            case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name):
                found[name] += 1
            case ast.alias(name, other):
                found[other or name.partition(".")[0]] += 1
        nodes += ast.iter_child_nodes(node)
    return found


def _statements(module: ast.Module, name: str) -> list[ast.AST]:
    """Return what binds a name, wherever it may be: a name of an inner function counts too."""
    found: list[ast.AST] = []
    top = {id(one.targets[0]): one for one in module.body if isinstance(one, ast.Assign)}
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if node.name == name:
                found.append(node)
            case ast.Name(bound, ast.Store() | ast.Del()) if bound == name:
                found.append(top.get(id(node), node))
            case ast.alias(original, other) if (other or original) in (name, "*"):
                found.append(node)
    return found


def _computed(module: ast.Module, name: str) -> Iterator[BoundFunction]:
    """Yield the function of a name that `globals().update({f"…": partial(…) for … in …})` sets."""
    nodes = list(ast.walk(module))
    changes = sum(isinstance(node, ast.Name) and node.id in _CHANGERS for node in nodes)
    if not changes:
        return
    given = None
    for node in nodes if changes == 1 else ():
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Name("globals"), [], []), "update"), [found]):
                given = _resolved(module, found)
    if not isinstance(given, ast.DictComp):
        raise UntranslatableError("the module changes its own names")
    match given.generators:
        case [ast.comprehension(ast.Name(variable), items, [], 0)]:
            values = list_of_constants(_resolved(module, items))
        case _:
            values = None
    if values is None or len(values) > MAX_NAMES:
        raise UntranslatableError("the module changes its own names")
    for value in values:
        if _text_of(given.key, variable, value) == name:
            yield _partial(module, given.value, {variable: ast.Constant(value)})


def _text_of(node: ast.expr, variable: str, value: object) -> str:
    """Return the text of an f-string of one variable and methods of str."""
    match node:
        case ast.Constant(str() as text):
            found = text
        case ast.Name(name) if name == variable and isinstance(value, str):
            found = value
        case ast.JoinedStr(parts):
            found = "".join(_text_of(part, variable, value) for part in parts)
        case ast.FormattedValue(inner, -1, None):
            found = _text_of(inner, variable, value)
        case ast.Call(ast.Attribute(inner, method), [], []) if method in _METHODS:
            found = _METHODS[method](_text_of(inner, variable, value))
        case ast.Call(
            ast.Attribute(inner, "replace"),
            [ast.Constant(str() as old), ast.Constant(str() as new)],
            [],
        ):
            found = _text_of(inner, variable, value).replace(old, new)
        case _:
            raise UntranslatableError("the module computes its own names")
    if len(found) > MAX_TEXT:
        raise UntranslatableError(f"a name of more than {MAX_TEXT:,} characters")
    return found


def _partial(module: ast.Module, node: ast.expr, names: Mapping[str, ast.expr]) -> BoundFunction:
    match node:
        case ast.Call(
            ast.Name("partial") | ast.Attribute(ast.Name("functools"), "partial"),
            [ast.Name(name)],
            keywords,
        ):
            match _statements(module, name):
                case [ast.FunctionDef(decorator_list=[]) as function] if function in module.body:
                    given = {one.arg: one.value for one in keywords if one.arg is not None}
                    if len(given) == len(keywords):
                        bound = {key: _named(value, names) for key, value in given.items()}
                        return BoundFunction(function, bound)
    raise UntranslatableError(f"`{ast.unparse(node)[:60]}` is no function of the module")


def _named(node: ast.expr, names: Mapping[str, ast.expr]) -> ast.expr:
    found = names.get(node.id, node) if isinstance(node, ast.Name) else node
    return ast.Constant(constant_of(found))


def _resolved(module: ast.Module, node: ast.expr) -> ast.expr:
    """Return the value of a name that a module assigns once, else the expression itself."""
    if not isinstance(node, ast.Name):
        return node
    match _statements(module, node.id):
        case [ast.Assign([ast.Name()], value)]:
            return value
    raise UntranslatableError(f"`{node.id}` is not assigned once")
