"""Records for an imported dataset: columns of the types that its fields read."""

from __future__ import annotations

from typing import Any

from registry.manifest.templates import parse_template, template_columns

__all__ = ["made_records"]

_TEXTS = ("Who wrote {it}?", "  Ça va {{x}} %\n", "42 apples", "A: b\tc ", "| ##### x, y. z")
_ITEMS = ("one", "zwei", "drei?", "IV ", " fünf", "six", "7 7", "eight", "nine", "ten")


class _Maker:
    """Sets the columns of one record, by what an expression does with them."""

    def __init__(self, number: int, *, as_index: bool) -> None:
        self.number = number
        self.as_index = as_index
        self.record: dict[str, Any] = {}

    def put(self, column: str, value: Any) -> None:
        """Set a column, or a key of an object; what is set already stays."""
        place, path = self.record, column.split(".")
        for key in path[:-1]:
            inner = place.setdefault(key, {})
            place = inner if isinstance(inner, dict) else {}
        place.setdefault(path[-1], value)

    def get(self, column: str) -> Any:
        value: Any = self.record
        for key in column.split("."):
            value = value[key]
        return value

    def text(self) -> str:
        return f"{_TEXTS[self.number % len(_TEXTS)]}{len(self.record)}"

    def items(self) -> list[str]:
        return [f"{one}{self.number}" for one in _ITEMS]

    def visit(self, raw: Any, wanted: Any = None) -> None:
        """Set the columns that an expression reads; `wanted` is the value that it should have."""
        match raw:
            case str():
                self.put(raw, self.text() if wanted is None else wanted)
            case list():
                for item in raw:
                    self.visit(item)
            case {"template": template}:
                inner = raw.get("with", {})
                for item in inner.values():
                    self.visit(item)
                for column in template_columns(parse_template(template)):
                    if column not in inner:
                        self.visit(column, wanted)
            case {"if": {"value": str(column), "not_equals": None}, "then": then, "else": other}:
                self.put(column, None if self.as_index else self.text())
                self.visit(then)
                self.visit(other)
            case {"if": condition, "then": then, **rest}:
                branch = rest.get("else") if self.as_index else then
                self.visit(branch if branch is not None else then)
                self.visit(condition["value"])
            case {"hash": list(hashed)}:
                self.visit(hashed)
            case {"from": start, "do": operations}:
                self.pipe(start, operations, wanted)

    def pipe(self, start: Any, operations: list[Any], wanted: Any) -> None:
        if any(isinstance(one, dict) and "letter_in" in one for one in operations):
            (labels,) = (
                one["letter_in"]
                for one in operations
                if isinstance(one, dict) and "letter_in" in one
            )
            self.visit(start, self.member(labels))
            return
        match operations[0]:
            case "letter":
                self.visit(start, self.number % 2)
            case {"letter": {"base": base}}:
                self.visit(start, self.number % 2 + base)
            case {"index": int()} | {"join": _} | "len":
                self.visit(start, self.items())
            case {"index": position}:
                self.visit(start, self.items())
                self.visit(position, self.number % 2)
            case {"map": table}:
                self.visit(start, int(list(table)[self.number % len(table)]))
            case {"split": separator}:
                self.visit(start, separator.join(self.items()))
            case _:
                self.visit(start, wanted)

    def member(self, labels: Any) -> Any:
        """Return a value of a list of choices, whose columns are set first."""
        match labels:
            case {"const": values}:
                return values[self.number % len(values)]
            case str():
                self.visit(labels, self.items())
                return self.get(labels)[self.number % 2]
            case list():
                self.visit(labels)
                named = [one for one in labels if isinstance(one, str)]
                return self.get(named[self.number % len(named)])
        raise ValueError(f"no value among {labels}")


def made_records(fields: dict[str, Any], count: int, *, as_index: bool) -> list[dict[str, Any]]:
    """Return records whose columns fit the fields of an imported task.

    Args:
        fields: The fields of the manifest.
        count: Number of records.
        as_index: Whether a target that may be an index or a text is an index.
    """
    records = []
    for number in range(count):
        maker = _Maker(number, as_index=as_index)
        choices = fields.get("choices")
        # First what narrows a column most: the target's labels, then lists, then texts.
        maker.visit(choices, maker.items() if isinstance(choices, str) else None)
        maker.visit(fields.get("target"))
        maker.visit(fields["input"])
        maker.visit(fields.get("id"))
        metadata = fields.get("metadata")
        for item in metadata.values() if isinstance(metadata, dict) else metadata or ():
            maker.visit(item)
        records.append(maker.record)
    return records
