"""Samples as JSON objects: what is in them, and what JSON lacks."""

from __future__ import annotations

from datetime import date

from registry import ChatMessageAssistant, ChatMessageUser, Sample
from registry.plugins.export.writers.records import message_data, record_of
from registry.samples.checkpoint import CheckpointSampleConfig
from registry.samples.messages import ToolCall


def test_every_record_has_the_same_first_keys() -> None:
    assert record_of(Sample(input="a")) == {
        "input": "a",
        "target": "",
        "choices": None,
        "id": None,
        "metadata": None,
    }


def test_rare_fields_are_written_where_they_are_set() -> None:
    sample = Sample(
        input="a",
        target=["x", "y"],
        sandbox=("docker", "compose.yaml"),
        files={"f": "text"},
        setup="run",
        description="d",
        checkpoint=CheckpointSampleConfig(max_consecutive_failures=2),
    )
    found = record_of(sample)
    assert found["target"] == ["x", "y"]
    assert found["sandbox"] == ["docker", "compose.yaml"]
    assert found["checkpoint"] == {"max_consecutive_failures": 2}
    assert (found["files"], found["setup"], found["description"]) == ({"f": "text"}, "run", "d")
    assert record_of(Sample(input="a", sandbox="docker"))["sandbox"] == "docker"


def test_values_that_json_lacks_are_tagged() -> None:
    sample = Sample(input="a", metadata={"on": date(2026, 1, 2), "x": float("inf"), "b": b"\x00"})
    assert record_of(sample)["metadata"] == {
        "on": {"$date": "2026-01-02"},
        "x": {"$float": "inf"},
        "b": {"$bytes": "AA=="},
    }


def test_messages_have_no_random_id_and_keep_their_calls() -> None:
    call = ToolCall(id="1", function="f", arguments={"x": None})
    message = ChatMessageAssistant(content="c", tool_calls=[call], source="input")
    assert message_data(message) == {
        "role": "assistant",
        "content": "c",
        "tool_calls": [{"id": "1", "function": "f", "arguments": {"x": None}, "type": "function"}],
    }
    assert message_data(ChatMessageUser(content="u", source="operator"))["source"] == "operator"
