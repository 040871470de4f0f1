"""JSON lines: one sample each, which our own and Inspect's loader read without a field spec."""

from __future__ import annotations

import io
import json
from datetime import date

from registry import ChatMessageAssistant, ChatMessageUser, Sample, get_dataset, json_dataset
from registry.plugins.export.writers.jsonl import json_line, message_data, record_of, write
from registry.samples.checkpoint import CheckpointSampleConfig
from registry.samples.messages import ToolCall
from registry.store.digest import sample_digest
from tests.plugins.export.conftest import Opener


def written(opened: Opener, name: str) -> bytes:
    file = io.BytesIO()
    write(opened(name), file)
    return file.getvalue()


def test_lines_are_read_as_equal_samples(opened: Opener) -> None:
    for name in ("mixed", "few", "mcq"):
        with open("out.jsonl", "wb") as file:
            file.write(written(opened, name))
        assert list(json_dataset("out.jsonl")) == list(get_dataset(name))


def test_conversations_are_read_as_equal_messages(opened: Opener) -> None:
    with open("out.jsonl", "wb") as file:
        file.write(written(opened, "chat"))
    for read, own in zip(json_dataset("out.jsonl"), get_dataset("chat"), strict=True):
        assert sample_digest(read) == sample_digest(own)


def test_lone_surrogate_is_escaped() -> None:
    assert json_line({"a": "\ud800é"}) == b'{"a":"\\ud800\\u00e9"}\n'
    assert json.loads(json_line({"a": "é"})) == {"a": "é"}


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
