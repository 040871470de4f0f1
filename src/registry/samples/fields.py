"""The fields of a sample: one row per field, from which storage, comparison and display follow.

A field that Inspect adds is one row here, a parameter and a field of `Sample`, a key of the
manifest (`manifest.models.FieldsSpec` with its schema) and, if it has a class, its coercion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

__all__ = ["COMPARED", "FIELDS", "NAMES", "OBJECTS", "REST", "SETTINGS", "Field", "field_data"]

Kind = Literal["text", "texts", "int", "json"]
"""What a column of stored samples has; `json` is text."""


def _sandbox_data(spec: Any) -> list[Any]:
    if hasattr(spec.config, "model_dump"):
        raise TypeError("a sandbox configuration in a dataset must be a file name or plain data")
    return [spec.type, spec.config]


def _sandbox(data: list[Any]) -> Any:
    from registry.samples.sandbox import SandboxEnvironmentSpec

    return SandboxEnvironmentSpec(*data)


def _checkpoint_data(config: Any) -> Any:
    from registry.samples.checkpoint import checkpoint_data  # few samples have one

    return checkpoint_data(config)


def _checkpoint(data: dict[str, Any]) -> Any:
    from registry.samples.checkpoint import checkpoint_from_data

    return checkpoint_from_data(data)


class Field(NamedTuple):
    """A field of a sample."""

    name: str
    columns: tuple[tuple[str, Kind], ...]
    """Its columns in stored samples; in each row at most one of them has a value."""
    place: Literal["head", "rest"] = "rest"
    """Whether it is shown in a form of its own, or as a name with its value."""
    to_data: Callable[[Any], Any] | None = None
    """Returns its value as JSON data, if it is an object of a class."""
    from_data: Callable[[Any], Any] | None = None
    """Returns the object that `to_data` converted."""
    is_recent: bool = False
    """Whether samples of older releases of Inspect lack it."""

    @property
    def kind(self) -> Kind:
        """What its first column has."""
        return self.columns[0][1]


FIELDS = (
    Field("input", (("input", "text"), ("messages", "json")), "head"),
    Field("choices", (("choices", "texts"),), "head"),
    Field("target", (("target", "text"), ("targets", "texts")), "head"),
    Field("id", (("id", "text"), ("id_number", "int")), "head"),
    Field("description", (("description", "text"),), is_recent=True),
    Field("metadata", (("metadata", "json"),)),
    Field("sandbox", (("sandbox", "json"),), "rest", _sandbox_data, _sandbox),
    Field("files", (("files", "json"),)),
    Field("setup", (("setup", "text"),)),
    Field("checkpoint", (("checkpoint", "json"),), "rest", _checkpoint_data, _checkpoint, True),
)
"""In the order of the model."""
NAMES = tuple(field.name for field in FIELDS)
COMPARED = tuple(name for name in NAMES if name != "id")
"""The content of a sample; its id only identifies it."""
REST = tuple(field.name for field in FIELDS if field.place == "rest")
"""Fields that are shown as a name with a value."""
SETTINGS = tuple(name for name in REST if name != "metadata")
"""Fields of which a sample usually has none."""
OBJECTS = {field.name: field for field in FIELDS if field.to_data is not None}


def field_data(name: str, value: Any) -> Any:
    """Return the value of a field, other than the input, as data that JSON can store.

    Raises:
        TypeError: it has none.
    """
    field = OBJECTS.get(name)
    return (
        value if value is None or field is None or field.to_data is None else field.to_data(value)
    )
