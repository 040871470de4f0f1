"""The table of fields is that of the model, nothing else names them all, and values are as Inspect's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import inspect_ai.dataset as their_dataset
import inspect_ai.model as their_model
import pytest
from pydantic import BaseModel, ValidationError

import registry
from registry.samples.fields import (
    FIELDS,
    NAMES,
    OBJECTS,
    REST,
    SETTINGS,
    field_data,
)
from registry.samples.sample import Sample, SandboxEnvironmentSpec
from tests.samples.against_inspect import Topic

SOURCE = Path(__file__).parents[2] / "src" / "registry"
# What a new field of Inspect changes, besides the table; and importers, which name foreign keys.
NAMED_IN = {
    "__init__.py",
    "samples/fields.py",
    "samples/sample.py",
    "samples/checkpoint.py",
    "manifest/models.py",
    "mapping/coerce.py",
}


def test_table_has_the_fields_of_the_model_in_its_order() -> None:
    assert tuple(Sample.model_fields) == NAMES
    assert {*REST} == {field.name for field in FIELDS} - {"input", "choices", "target", "id"}
    assert {*SETTINGS} == {*REST} - {"metadata"}


def test_a_rare_field_is_named_only_where_a_new_one_has_to_be() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "checkpoint" in path.read_text(encoding="utf-8")
    }
    assert found == NAMED_IN


@pytest.mark.parametrize("config", [None, "compose.yaml", {"a": 1}])
def test_objects_become_data_and_objects_again(config: object) -> None:
    spec = SandboxEnvironmentSpec("docker", config)  # type: ignore[arg-type]
    restore = OBJECTS["sandbox"].from_data
    assert restore is not None
    assert restore(field_data("sandbox", spec)) == spec
    assert field_data("files", {"a": "b"}) == {"a": "b"}
    assert field_data("checkpoint", None) is None


def test_sandbox_of_a_model_is_no_data() -> None:
    spec = SandboxEnvironmentSpec("docker", SandboxEnvironmentSpec("x"))
    with pytest.raises(TypeError, match="a file name or plain data"):
        field_data("sandbox", spec)


@pytest.mark.parametrize("arguments", [(), ("q", "a", "c", "i", ["m"], "s", "f", "u")])
def test_field_specs_with_equal_columns_are_equal(arguments: tuple[Any, ...]) -> None:
    assert registry.FieldSpec(*arguments) == registry.FieldSpec(*arguments)
    assert registry.FieldSpec(*arguments) != registry.FieldSpec("other")
    theirs = vars(their_dataset.FieldSpec(*arguments))
    assert vars(registry.FieldSpec(*arguments)) == theirs


def test_new_columns_are_given_by_name() -> None:
    columns: dict[str, Any] = {"checkpoint": None, "description": "d"}
    theirs = vars(their_dataset.FieldSpec(**columns))
    assert vars(registry.FieldSpec(**columns)) == theirs


def test_spec_is_frozen_and_has_positional_arguments() -> None:
    spec = SandboxEnvironmentSpec("docker", "compose.yaml")
    assert (spec.type, spec.config) == ("docker", "compose.yaml")
    with pytest.raises(ValidationError):
        spec.type = "local"


class Thawed(BaseModel):
    subject: str


ROLES = ("System", "User", "Assistant", "Tool")
HOLDERS: dict[str, Any] = {
    "Sample": lambda library, metadata: library.Sample("x", metadata=metadata),
    **{
        f"ChatMessage{role}": lambda library, metadata, role=role: getattr(
            library, f"ChatMessage{role}"
        )(content="x", metadata=metadata)
        for role in ROLES
    },
}
holders = pytest.mark.parametrize("holder", HOLDERS)


def held(holder: str, metadata: Any) -> tuple[Any, Any]:
    """Return our sample or message with the metadata, and Inspect's."""
    make = HOLDERS[holder]
    theirs = their_dataset if holder == "Sample" else their_model
    return make(registry, metadata), make(theirs, metadata)


@holders
@pytest.mark.parametrize(
    "metadata",
    [
        {"subject": "art"},
        {"subject": "art", "level": "3"},
        {"subject": "art", "level": 2, "another": [1]},
    ],
)
def test_metadata_is_read_as_a_frozen_model(holder: str, metadata: dict[str, Any]) -> None:
    ours, theirs = held(holder, metadata)
    topic = ours.metadata_as(Topic)
    assert topic == theirs.metadata_as(Topic)
    assert topic == Topic(subject="art", level=int(metadata.get("level", 0)))


@holders
@pytest.mark.parametrize(
    ("metadata", "model", "message"),
    [
        (None, Topic, "{holder} does not have metadata"),
        (None, Thawed, "{holder} does not have metadata"),
        ({"subject": "art"}, Thawed, "Metadata model Thawed must have frozen=True"),
        ({}, Topic, "Could not parse metadata into Topic: 1 validation error"),
        ({"subject": 5}, Topic, "Could not parse metadata into Topic: 1 validation error"),
        ({"subject": "a", "level": "b"}, Topic, "Could not parse metadata into Topic: "),
    ],
)
def test_errors_of_invalid_metadata_are_inspects(
    holder: str, metadata: Any, model: type[BaseModel], message: str
) -> None:
    messages = []
    for each in held(holder, metadata):
        with pytest.raises(ValueError) as raised:  # noqa: PT011  # its message is compared below
            each.metadata_as(model)
        messages.append(str(raised.value))
    name = "Sample" if holder == "Sample" else "ChatMessage"
    assert messages[0] == messages[1]
    assert messages[0].startswith(message.format(holder=name))
