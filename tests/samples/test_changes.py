"""The state of a sample differs after any change, and is equal without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from registry import ChatMessage, ChatMessageUser, Sample
from registry.samples.changes import state_of


def sample() -> Sample:
    turns: list[ChatMessage] = [ChatMessageUser(content="hi", id="m")]
    return Sample(turns, choices=["a"], metadata={"n": 1, "deep": {"list": [1]}}, id=1)


CHANGES: dict[str, Callable[[Any], None]] = {
    "message": lambda one: setattr(one.input[0], "text", "other"),
    "choices": lambda one: one.choices.append("b"),
    "type": lambda one: one.metadata.update(n=True),
    "order of keys": lambda one: one.metadata.update(n=one.metadata.pop("n")),
    "depth": lambda one: one.metadata["deep"]["list"].append(2),
    "field": lambda one: setattr(one, "setup", "echo"),
    "id": lambda one: setattr(one, "id", 2),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_is_seen(change: Callable[[Any], None]) -> None:
    changed = sample()
    assert state_of(changed) == state_of(sample())
    change(changed)
    assert state_of(changed) != state_of(sample())


def test_a_field_can_be_left_out() -> None:
    changed = sample()
    changed.id = 2
    assert state_of(changed, without=["id"]) == state_of(sample(), without=["id"])


def test_a_value_that_can_not_be_compared_is_changed() -> None:
    unknown = Sample("q", metadata={"f": lambda: None})
    assert state_of(unknown) != state_of(unknown)
