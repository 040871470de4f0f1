"""The fields of a sample: one row per field, from which storage, comparison and display follow.

A field that Inspect adds is one row here, a parameter and a field of `Sample`, a key of the
manifest (`manifest.models.FieldsSpec` with its schema), the column of it in `FieldSpec` and, if it
has a class, its coercion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

__all__ = [
    "COMPARED",
    "FIELDS",
    "NAMES",
    "OBJECTS",
    "REST",
    "SETTINGS",
    "Field",
    "FieldSpec",
    "Metadata",
    "SandboxEnvironmentSpec",
    "SandboxEnvironmentType",
    "field_data",
    "metadata_as",
]

Kind = Literal["text", "texts", "int", "json"]
"""What a column of stored samples has; `json` is text."""

Metadata = TypeVar("Metadata", bound=BaseModel)


class SandboxEnvironmentSpec(BaseModel):
    """A sandbox type and its configuration."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    type: str
    """Kind of sandbox, such as `docker`."""
    config: Annotated[Any, "a pydantic model, a str or None"] = None
    """File name of the configuration, or a configuration model."""

    def __init__(self, type: str, config: BaseModel | str | None = None) -> None:
        super().__init__(type=type, config=config)


SandboxEnvironmentType = str | tuple[str, str] | SandboxEnvironmentSpec
"""A spec or its short form: `"docker"`, `("docker", "compose.yaml")`."""


def _sandbox_data(spec: Any) -> list[Any]:
    if hasattr(spec.config, "model_dump"):
        raise TypeError("a sandbox configuration in a dataset must be a file name or plain data")
    return [spec.type, spec.config]


def _sandbox(data: list[Any]) -> SandboxEnvironmentSpec:
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


@dataclass
class FieldSpec:
    """Names of the column of each field of a sample; the same as Inspect AI's."""

    input: str = "input"
    """Column of the prompt: a str, or a list of `{role, content}` messages; must not be empty."""
    target: str = "target"
    """Column of the ideal answer, a value or a list; "" if it is missing."""
    choices: str = "choices"
    """Column of the choices: a list, or a str split at commas or, without any, at whitespace."""
    id: str = "id"
    """Column of the identifier, an int or a str."""
    metadata: list[str] | type[BaseModel] | None = None
    """Columns to store as metadata, or a frozen pydantic model of them; None reads the column
    `metadata` (a dict, or a JSON object as a str) if there is one."""
    sandbox: str = "sandbox"
    """Column of the sandbox: a type, or a pair of type and configuration file."""
    files: str = "files"
    """Column of the files: a dict of str, or a JSON object as a str."""
    setup: str = "setup"
    """Column of the setup script."""
    checkpoint: str | None = field(default="checkpoint", kw_only=True)
    """Column of the checkpoint settings: a dict, or a JSON object as a str; None reads none."""
    description: str | None = field(default=None, kw_only=True)
    """Column of a short statement of what the sample asks for; None reads none."""


def metadata_as(metadata: dict[str, Any] | None, cls: type[Metadata], owner: str) -> Metadata:
    """Return `metadata` as the frozen pydantic model `cls`, without keys that `cls` lacks.

    Raises:
        ValueError: there is no metadata, `cls` is not frozen, or the values are invalid.
    """
    # The error messages are Inspect's: its users may match them.
    if metadata is None:
        raise ValueError(f"{owner} does not have metadata")
    if not cls.model_config.get("frozen", False):
        raise ValueError(f"Metadata model {cls.__name__} must have frozen=True")
    known = {key: value for key, value in metadata.items() if key in cls.model_fields}
    try:
        return cls(**known)
    except ValidationError as error:
        raise ValueError(f"Could not parse metadata into {cls.__name__}: {error}") from error
