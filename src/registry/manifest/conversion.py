"""What is wrong with keys that no model of `spec` can be made of: all of it, and in words.

`msgspec.convert` stops at the first fault. A test holds both to the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct, inspect

from registry.manifest.source import Source
from registry.manifest.source_models import SOURCE_TYPES

__all__ = ["Misfit", "misfits", "parsed"]

Model = TypeVar("Model", bound=Struct)
Path = tuple[str | int, ...]


class Misfit(NamedTuple):
    """One fault of some keys."""

    path: Path
    """Where it is in them."""
    kind: Literal["missing", "unknown", "wrong"]
    """A key that is not there, one that the model does not have, or a value of another form."""
    message: str

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {self.message}"


def parsed(keys: dict[str, Any], model: type[Model]) -> Model:
    """Return the model with keys that are given in Python.

    Raises:
        ValueError: with all that is wrong.
    """
    try:
        return msgspec.convert(keys, model)
    except msgspec.ValidationError as error:
        raise ValueError("; ".join(map(str, misfits(keys, model)))) from error


def misfits(keys: Any, model: type[Struct]) -> Iterator[Misfit]:
    """Yield what keys why a model can't have."""
    return _misfits(keys, inspect.type_info(model), ())


def _misfits(value: Any, wanted: inspect.Type, path: Path) -> Iterator[Misfit]:
    match wanted:
        case inspect.StructType():
            yield from _in_struct(value, wanted, path)
        case inspect.CustomType(cls=cls) if cls is Source:
            yield from _in_source(value, path)
        case inspect.UnionType(types=types):
            yield from _in_union(value, types, path)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            yield from _in_items(value, item, wanted.min_length or 0, path)
        case inspect.DictType(key_type=key, value_type=item) if isinstance(value, dict):
            for name, inner in value.items():
                yield from _misfits(name, key, (*path, name))
                yield from _misfits(inner, item, (*path, name))
        case _:
            message = _fault(value, wanted)
            if message:
                yield Misfit(path, "wrong", message)


def _in_struct(value: Any, wanted: inspect.StructType, path: Path) -> Iterator[Misfit]:
    if not isinstance(value, dict):
        yield Misfit(path, "wrong", "Input should be a valid dictionary")
        return
    known = {field.name: field for field in wanted.fields}
    for name, field in known.items():
        if name in value:
            yield from _misfits(value[name], field.type, (*path, name))
        elif field.required:
            yield Misfit((*path, name), "missing", "Field required")
    for name in value:
        if name not in known and (name, value[name]) != (wanted.tag_field, wanted.tag):
            yield Misfit((*path, name), "unknown", "Extra inputs are not permitted")


def _in_union(value: Any, types: Sequence[inspect.Type], path: Path) -> Iterator[Misfit]:
    found = [list(_misfits(value, one, path)) for one in types]
    if all(found):
        # What is said of null helps nobody.
        yield from next(one for one in found if one[0].message != _NULL)


def _in_source(value: Any, path: Path) -> Iterator[Misfit]:
    if not isinstance(value, dict):
        yield Misfit(path, "wrong", "Input should be a valid dictionary")
    elif "type" not in value:
        yield Misfit(path, "wrong", "Unable to extract tag using discriminator 'type'")
    elif isinstance(value["type"], str) and value["type"] in SOURCE_TYPES:
        yield from _misfits(value, inspect.type_info(SOURCE_TYPES[value["type"]]), path)
    else:
        listed = ", ".join(map(repr, SOURCE_TYPES))
        found = f"Input tag '{value['type']}' found using 'type'"
        message = f"{found} does not match any of the expected tags: {listed}"
        yield Misfit(path, "wrong", message)


def _in_items(value: Any, item: inspect.Type, least: int, path: Path) -> Iterator[Misfit]:
    if not isinstance(value, list | tuple):
        yield Misfit(path, "wrong", "Input should be a valid list")
        return
    if len(value) < least:
        message = f"Value should have at least {least} item after validation, not {len(value)}"
        yield Misfit(path, "wrong", message)
    for index, one in enumerate(value):
        yield from _misfits(one, item, (*path, index))


_NULL = "Input should be None"


def _fault(value: Any, wanted: inspect.Type) -> str:
    """Say what a single value should be; empty where it is that."""
    match wanted:
        case inspect.IntType(ge=least):
            if not isinstance(value, int) or isinstance(value, bool):
                return "Input should be a valid integer"
            if least is not None and value < least:
                return f"Input should be greater than or equal to {least}"
        case inspect.StrType(min_length=least, max_length=most):
            return _text_fault(value, least or 0, most)
        case inspect.BoolType() if not isinstance(value, bool):
            return "Input should be a valid boolean"
        case inspect.DictType():
            return "Input should be a valid dictionary"
        case inspect.NoneType() if value is not None:
            return _NULL
        case inspect.LiteralType(values=values) if value not in values:
            *others, last = map(repr, values)
            return f"Input should be {', '.join(others)} or {last}"
    return ""


def _text_fault(value: Any, least: int, most: int | None) -> str:
    if not isinstance(value, str):
        return "Input should be a valid string"
    if len(value) < least:
        return f"String should have at least {least} character"
    if most is not None and len(value) > most:
        return f"String should have at most {most} character"
    return ""
