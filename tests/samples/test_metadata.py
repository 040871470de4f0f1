"""Metadata is read as a model with the same result, or the same error, as Inspect AI's."""

from __future__ import annotations

from typing import Any

import inspect_ai.dataset as their_dataset
import inspect_ai.model as their_model
import pytest
from pydantic import BaseModel

import registry
from tests.samples.against_inspect import Topic


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
