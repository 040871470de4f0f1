"""Find out where the records of a JSON document are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.errors import DecodeError, count_text
from registry.scaffold.guess import INPUTS, MESSAGES, Ask, Guess, Question, option_text, refuse

__all__ = ["sniff_records"]

_DEEPEST, _OFFERED = 3, 10


def sniff_records(document: Any, *, file: str, ask: Ask = refuse) -> Guess | None:
    """Return a guess of `records` or `item`; None if the document is an array of records, or one.

    Where several arrays could be meant, `ask` decides.

    Raises:
        DecodeError: the document has a list or a map of row numbers for each column.
    """
    if isinstance(document, list):
        if document and not any(isinstance(one, dict) for one in document):
            reason = "the items of the array are not objects, so they get a column"
            is_list = any(isinstance(one, list) for one in document)
            return Guess("item", "item" if is_list else "input", reason)
        return None
    if not isinstance(document, dict) or _is_record(document):
        return None
    if _is_by_columns(document):
        message = (
            "this is a table by columns, not records (write it anew: in pandas"
            " to_json(orient='records'))"
        )
        raise DecodeError(message, file=file)
    found, values = dict(_arrays(document, "")), list(document.values())
    are_objects = len(values) > 1 and all(isinstance(one, dict) and one for one in values)
    if not found and are_objects and set.intersection(*map(set, values)):  # with a common key
        reason = f"the values of all {len(document):,} keys are records; the keys are lost"
        return Guess("records", "*", reason)
    if not found:
        return None
    path = next(iter(found))
    if len(found) > 1:
        paths = {option_text("--records", path): path for path in list(found)[:_OFFERED]}
        options = {way: count_text(found[path], "record") for way, path in paths.items()}
        more = f" (the first {_OFFERED} of {len(found):,})" if len(found) > _OFFERED else ""
        path = paths[ask(Question(file, f"list of records{more}", options))]
    reason = f"the list of {count_text(found[path], 'object')} in the document"
    return Guess("records", path, reason)


def _is_record(document: dict[str, Any]) -> bool:
    """Return whether the document itself is a record: it has an input."""
    return any(
        key.casefold() in (*INPUTS, *MESSAGES) and isinstance(value, str | list)
        for key, value in document.items()
        if isinstance(value, str) or key.casefold() in MESSAGES
    )


def _is_by_columns(document: dict[str, Any]) -> bool:
    """Return whether each value has the cells of one column, as pandas writes it by default."""
    values = list(document.values())
    if not values:
        return False
    if all(isinstance(one, dict) for one in values):
        rows = [str(number) for number in range(len(values[0]))]
        return bool(rows) and all(list(one) == rows for one in values)
    sizes = {len(one) if isinstance(one, list) else -1 for one in values}
    cells = (cell for one in values if isinstance(one, list) for cell in one)
    are_flat = not any(isinstance(one, dict | list) for one in cells)
    return len(values) > 1 and len(sizes) == 1 and min(sizes) > 0 and are_flat


def _arrays(value: dict[str, Any], prefix: str) -> Iterator[tuple[str, int]]:
    """Yield the dotted path and the size of every list of objects.

    Below other keys, a single object is a part of a record that the document itself is.
    """
    for key, one in value.items():
        if "." in key and prefix:  # no path can name it
            continue
        if isinstance(one, list) and all(isinstance(item, dict) for item in one):
            if len(one) > (1 if prefix else 0):
                yield prefix + key, len(one)
        elif isinstance(one, dict) and prefix.count(".") < _DEEPEST and "." not in key:
            yield from _arrays(one, f"{prefix}{key}.")
