"""Operations that choose, convert and compare values, for whole columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import int64_array, is_text, string_scalar, to_numpy_int64
from registry.mapping.columnar.kernels.arrays import (
    LARGEST_COLUMN,
    NoKernelError,
    bool_array,
    choose,
    constant,
    empty_mask,
    null_mask,
    plain_type,
    str_of_values,
    text_of,
    texts,
    unify,
)
from registry.mapping.columnar.kernels.list_steps import items_of
from registry.mapping.columnar.kernels.text_steps import strip

__all__ = ["default", "letter", "letter_in", "look_up", "nonempty", "to_float", "to_int", "to_str"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_INTEGER = r"\A-?[0-9]{1,18}\z"
# Few enough digits for any way of reading them to give the nearest float.
_DECIMAL = r"\A-?[0-9]{1,15}(\.[0-9]{1,15})?\z"


def default(values: pa.Array, argument: Any) -> pa.Array:
    """Return a constant in place of each empty value."""
    empty = empty_mask(values)
    if not empty.any():
        return values
    return choose(empty, constant(argument, len(values)), values)


def nonempty(values: pa.Array, argument: Any) -> pa.Array:
    """Return whether values are not empty."""
    return bool_array(~empty_mask(values))


def look_up(values: pa.Array, argument: dict[str, Any]) -> pa.Array:
    """Return the entry of each value in a table."""
    keys = [key for key in argument if key != "*"]
    codes = np.full(len(values), len(keys))  # that of the key `*`
    found = pc.index_in(_keys_of(values), texts(keys))
    codes[to_numpy_int64(pc.indices_nonzero(found.is_valid()))] = to_numpy_int64(found.drop_null())
    if "null" in argument:
        codes[null_mask(values)] = keys.index("null")
    # Only the entries that are used need to have the same type.
    used = np.unique(codes)
    if used[-1:] == len(keys) and "*" not in argument:
        raise NoKernelError  # an error, which its record reports
    entries = [constant(argument[(*keys, "*")[code]], 1) for code in used.tolist()]
    places = np.searchsorted(used, codes)
    sizes = np.array([entry.nbytes for entry in entries], np.int64)
    if int(sizes @ np.bincount(places, minlength=len(entries))) > LARGEST_COLUMN:
        raise NoKernelError
    return pa.concat_arrays(unify(entries)).take(int64_array(places)) if entries else values


def _keys_of(values: pa.Array) -> pa.Array:
    """Return values as the table's keys write them."""
    if pa.types.is_boolean(values.type):
        return pc.if_else(values, string_scalar("true"), string_scalar("false"))
    if pa.types.is_floating(values.type):
        raise NoKernelError
    return str_of_values(values)


def letter(values: pa.Array, argument: dict[str, int] | None) -> pa.Array:
    """Return the letters of indices."""
    base = (argument or {}).get("base", 0)
    if is_text(values.type):
        digits = texts([str(index + base) for index in range(len(_LETTERS))])
        found = pc.index_in(strip(values, None), digits)
        if found.null_count:
            raise NoKernelError
        return _letters(to_numpy_int64(found))
    if values.null_count or plain_type(values.type) != pa.int64():
        raise NoKernelError
    return _letters(to_numpy_int64(values) - base)


def _letters(numbers: np.ndarray[Any, np.dtype[np.int64]]) -> pa.Array:
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < len(_LETTERS)):
        raise NoKernelError
    return texts(_LETTERS).take(int64_array(numbers))


def letter_in(values: pa.Array, labels: pa.Array) -> pa.Array:
    """Return the letters of values by their places in the lists of labels."""
    text, (offsets, items) = text_of(values), items_of(labels)
    lengths = np.diff(offsets)
    if not lengths.all():
        raise NoKernelError
    owners = np.repeat(np.arange(len(text)), lengths)
    same = pc.equal(items, text.take(int64_array(owners)))
    places = to_numpy_int64(pc.indices_nonzero(same))
    # The first of equal labels counts: of the same owner, the later ones are written first.
    found = np.full(len(text), -1, np.int64)
    found[owners[places][::-1]] = places[::-1]
    if len(found) and found.min() < 0:
        raise NoKernelError  # an error, which its record reports
    return _letters(found - offsets[:-1])


def to_int(values: pa.Array, argument: Any) -> pa.Array:
    """Return integers, or strings of plain digits, as integers."""
    if is_text(values.type):
        return _parsed(text_of(values), _INTEGER, pa.int64())
    if values.null_count or plain_type(values.type) != pa.int64():
        raise NoKernelError
    return values


def to_float(values: pa.Array, argument: Any) -> pa.Array:
    """Return floats, or strings of plain decimals, as floats."""
    if is_text(values.type):
        return _parsed(text_of(values), _DECIMAL, pa.float64())
    if values.null_count or plain_type(values.type) != pa.float64():
        raise NoKernelError
    return values


def _parsed(text: pa.Array, pattern: str, kind: pa.DataType) -> pa.Array:
    if not pc.all(pc.match_substring_regex(text, pattern=pattern)).as_py():
        raise NoKernelError
    return text.cast(kind)


def to_str(values: pa.Array, argument: Any) -> pa.Array:
    """Return strings, numbers and booleans as strings."""
    if values.null_count:
        raise NoKernelError
    return str_of_values(values)
