"""Generate the code of templates and of ids that are digests."""

from __future__ import annotations

from collections.abc import Sequence

from registry.boundary.limits import MAX_TEXT
from registry.manifest.expressions import Hash, Template
from registry.manifest.templates import Placeholder, Section, TemplatePart
from registry.mapping.generated.conditions import empty_test
from registry.mapping.generated.runtime import SCALARS, digest_function, fill
from registry.mapping.generated.source import NotGeneratedError, Source, Value
from registry.mapping.sizes import join

__all__ = ["emit_hash", "emit_template"]

_FEW_PARTS = 8
"""Parts that may be joined before their size is known: they take few times what the record does."""


def emit_template(source: Source, template: Template) -> Value:
    """Add the lines of a template."""
    return _render(source, template, template.parts)


def _render(source: Source, template: Template, parts: Sequence[TemplatePart]) -> Value:
    names = [
        source.bind(part) if isinstance(part, str) else _filled(source, template, part).name
        for part in parts
    ]
    return _joined(source, "", names)


def _joined(source: Source, separator: str, names: Sequence[str]) -> Value:
    """Add the lines that join values that are scalars."""
    if len(names) > _FEW_PARTS:
        texts = ", ".join(f'f"{{{name}}}"' for name in names)
        return source.assign(f"{source.bind(join)}({source.bind(separator)}, [{texts}])", "str")
    between = f"{{{source.bind(separator)}}}" if separator else ""
    text = between.join(f"{{{name}}}" for name in names)
    result = source.assign(f'f"{text}"', "str")
    source.step_aside_if(f"len({result.name}) > {MAX_TEXT - len(separator)}")
    return result


def _filled(source: Source, template: Template, part: Placeholder | Section) -> Value:
    expression = template.values.get(part.name)
    value = source.column(part.name) if expression is None else source.expression(expression)
    if isinstance(part, Section):
        return _section(source, template, part, value)
    if part.default is not None:
        default, name = source.bind(part.default), value.name
        if source.kind(value) == "str":
            return source.assign(f"{name} or {default}", "str")
        slow = f"{source.bind(fill)}({name}, {default})"
        return source.assign(f"({name} or {default}) if type({name}) is str else {slow}", "scalar")
    if source.kind(value) not in ("str", "int", "bool", "scalar"):
        test = f"type({value.name}) is not str and type({value.name}) not in {source.bind(SCALARS)}"
        source.step_aside_if(test)
        source.narrow(value, "scalar")
    return value


def _section(source: Source, template: Template, part: Section, value: Value) -> Value:
    result = source.assign(source.bind(""), "str")
    with source.block(f"if not {empty_test(source, value)}:"):
        source.line(f"{result.name} = {_render(source, template, part.parts).name}")
    return result


def emit_hash(source: Source, expression: Hash) -> Value:
    """Add the lines of a digest of fields."""
    if not expression.fields:
        raise NotGeneratedError  # it reads the whole record
    names = [_text(source, source.expression(field)) for field in expression.fields]
    text = _joined(source, "\0", names) if len(names) > 1 else Value(names[0], "str")
    # A lone surrogate raises, and is left to another way.
    function = source.bind(digest_function(expression.algorithm))
    end = "" if expression.length is None else f"[:{expression.length}]"
    digest = source.assign(f"{function}({text.name}.encode()).hexdigest(){end}", "str")
    if expression.prefix is None:
        return digest
    prefix = source.required(source.expression(expression.prefix))
    separator = source.bind("_")
    return source.assign(f'f"{{{prefix.name}}}{{{separator}}}{{{digest.name}}}"', "str")


def _text(source: Source, value: Value) -> str:
    if source.kind(value) == "str":
        return value.name
    value = source.required(value)
    return source.assign(
        f"{value.name} if type({value.name}) is str else str({value.name})", "str"
    ).name
