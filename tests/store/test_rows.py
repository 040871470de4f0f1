"""A sample created from a row without validation equals the validated one in every respect."""

from __future__ import annotations

import copy
import datetime as dt
import math
import pickle
from collections.abc import Callable
from dataclasses import is_dataclass
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from registry import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentDocument,
    ContentImage,
    ContentText,
    Sample,
    SandboxEnvironmentSpec,
)
from registry.samples.checkpoint import (
    ArchiveSnapshots,
    CheckpointSampleConfig,
    SandboxSnapshotConfig,
    TimeInterval,
)
from registry.samples.fields import NAMES
from registry.samples.frames.layout import MetadataType
from registry.samples.messages import ContentCitation, ToolCall, ToolCallContent, UrlCitation
from registry.store.columns import batch_of, fields_of
from registry.store.rows import metadata_of, samples_of
from registry.store.schema import json_keys

TALK = [
    ChatMessageSystem(id="a", content="Be brief."),
    ChatMessageUser(id="b", content=[ContentText(text="?"), ContentImage(image="x.png")]),
    ChatMessageAssistant(
        id="c", content="!", tool_calls=[ToolCall(id="1", function="f", arguments={"x": [1, None]})]
    ),
    ChatMessageTool(id="d", content="5", tool_call_id="1", function="f"),
]
PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": "?", "refusal": None, "citations": [
        {"type": "content"}, {"type": "url", "url": "u", "title": None},
        {"type": "document", "range": {"type": "page", "start_index": 0, "end_index": 1}},
    ]},
    {"type": "reasoning", "reasoning": "r"}, {"type": "image", "image": "x.png"},
    {"type": "audio", "audio": "x.wav", "format": "wav"}, {"type": "data", "data": {"unset": "type"}},
    {"type": "video", "video": "x.mp4", "format": "mp4"}, {"type": "document", "document": "x.pdf"},
    {"type": "tool_use", "tool_type": "mcp_call", "id": "1", "name": "n", "arguments": "", "result": ""},
]  # fmt: skip
READ: list[dict[str, Any]] = [
    {"role": "user", "content": PARTS, "metadata": {"content": [{"unset": "role"}], "type": 1}},
    {"role": "assistant", "content": "!", "tool_calls": [
        {"id": "1", "function": "f", "arguments": {"view": {"unset": "x"}}, "view": {"format": "text"}},
    ]},
    {"role": "tool", "content": "5", "error": {"type": "timeout", "message": "late"}},
    {"role": "system", "content": ""},
]  # fmt: skip
CHECKPOINT = CheckpointSampleConfig(
    TimeInterval(dt.timedelta(minutes=1)),
    {"default": ["/a"], "other": SandboxSnapshotConfig(None, ArchiveSnapshots())},
    0,
)
CITED = ContentText(text="?", citations=(ContentCitation(), UrlCitation(url="u", title="t")))
CALL = ToolCall(id="1", function="f", arguments={}, view=ToolCallContent(format="text"))
MADE = [
    ChatMessageUser(content=[CITED, ContentDocument(document="x.pdf")], source="input"),
    ChatMessageAssistant(content="!", tool_calls=[CALL], model=None),
]
PLAIN: dict[str, Any] = {
    "text": "x", "number": 1, "real": 0.5, "flag": True, "null": None, "list": [1, "a", [None]],
    "object": {"$odd": 1, "é": {}},
}  # fmt: skip
BEYOND_JSON: dict[str, Any] = {
    "date": dt.date(2020, 1, 2), "bytes": b"\xff", "decimal": Decimal("1.50"), "tuple": (1, "a"),
    "infinite": math.inf, "keys": {1: "x"},
}  # fmt: skip

FORMS: dict[str, dict[str, Any]] = {
    "input alone": {"input": "q"},
    "text": {"input": "é\0\U0001f600"},
    "conversation": {"input": TALK},
    "conversation of maps": {"input": READ},
    "conversation of both": {"input": MADE},
    "no messages": {"input": []},
    "choices": {"input": "q", "choices": ["a", "", "b"]},
    "no choices": {"input": "q", "choices": []},
    "target": {"input": "q", "target": "A"},
    "targets": {"input": "q", "target": ["A", "B"]},
    "no targets": {"input": "q", "target": []},
    "text id": {"input": "q", "id": "x"},
    "empty id": {"input": "q", "id": ""},
    "number id": {"input": "q", "id": -(2**63)},
    "zero id": {"input": "q", "id": 0},
    "metadata": {"input": "q", "metadata": PLAIN},
    "metadata beyond JSON": {"input": "q", "metadata": BEYOND_JSON},
    "no metadata": {"input": "q", "metadata": {}},
    "sandbox": {"input": "q", "sandbox": "docker"},
    "sandbox with a file": {"input": "q", "sandbox": ("docker", "compose.yaml")},
    "files": {"input": "q", "files": {"a/b": "text", "é": ""}},
    "no files": {"input": "q", "files": {}},
    "setup": {"input": "q", "setup": "run.sh"},
    "empty setup": {"input": "q", "setup": ""},
    "description": {"input": "q", "description": "Add two numbers."},
    "checkpoint": {"input": "q", "checkpoint": CHECKPOINT},
    "empty checkpoint": {"input": "q", "checkpoint": {}},
}
forms = pytest.mark.parametrize("parts", FORMS.values(), ids=FORMS)


def made_of(*samples: Sample, kinds: dict[str, MetadataType] | None = None) -> list[Sample]:
    """Return samples created from the rows of others."""
    parts = [fields_of(sample) for sample in samples]
    fields = {name: [part[name] for part in parts] for name in NAMES}
    batch = batch_of(fields, range(1, len(parts) + 1), kinds or {})
    columns = {
        name: batch.column(name).to_pylist()
        for name in batch.schema.names
        if batch.column(name).null_count < len(parts)
    }
    return list(samples_of(columns, len(parts), json_keys(batch.schema)))


@pytest.fixture
def pair(parts: dict[str, Any]) -> tuple[Sample, Sample]:
    """Return a sample created from a row, and the validated one."""
    validated = Sample(**parts)
    (made,) = made_of(validated)
    return made, validated


Pair = tuple[Sample, Sample]


@forms
def test_it_equals_the_validated_sample(pair: Pair) -> None:
    made, validated = pair
    assert made == validated
    assert validated == made
    assert made != Sample(input="another")
    assert repr(made) == repr(validated)
    assert str(made) == str(validated)
    for name, value in vars(validated).items():
        assert type(getattr(made, name)) is type(value), name
        assert repr(getattr(made, name)) == repr(value), name
    assert [name for name, _ in made] == [name for name, _ in validated] == list(NAMES)
    assert list(vars(made)) == list(vars(validated))
    for sample in pair:
        with pytest.raises(TypeError, match="unhashable type: 'Sample'"):
            hash(sample)


OPTIONS: list[dict[str, Any]] = [
    {}, {"exclude_none": True}, {"exclude_defaults": True}, {"exclude_unset": True}
]  # fmt: skip


@forms
def test_it_dumps_like_the_validated_sample(pair: Pair) -> None:
    made, validated = pair
    assert made.model_dump() == validated.model_dump()
    assert list(made.model_dump()) == list(validated.model_dump())
    for options in OPTIONS:
        dumped = made.model_dump(mode="json", **options)
        assert dumped == validated.model_dump(mode="json", **options)
    assert made.model_dump_json() == validated.model_dump_json()
    texts = [one.model_dump_json(indent=1, by_alias=True) for one in pair]
    assert texts[0] == texts[1]


def set_in(value: Any) -> Any:
    """Return which fields were set in the models of a value, at every level."""
    if isinstance(value, list | tuple):
        return list(map(set_in, value))
    if isinstance(value, BaseModel):
        return type(value), value.model_fields_set, set_in(list(vars(value).values()))
    return set_in(list(vars(value).values())) if is_dataclass(value) else None


@forms
def test_it_has_the_state_of_pydantic(pair: Pair) -> None:
    made, validated = pair
    assert set_in(made) == set_in(validated)
    assert made.model_fields_set == validated.model_fields_set == set(NAMES)
    assert made.model_extra is validated.model_extra is None
    for slot in ("__pydantic_extra__", "__pydantic_private__", "__pydantic_fields_set__"):
        assert getattr(made, slot) == getattr(validated, slot)
        assert type(getattr(made, slot)) is type(getattr(validated, slot))
    assert made.__getstate__() == validated.__getstate__()
    assert type(made) is Sample


COPIES: dict[str, Callable[[Sample], Sample]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda sample: pickle.loads(pickle.dumps(sample)),
    "model_copy": Sample.model_copy,
    "deep model_copy": lambda sample: sample.model_copy(deep=True),
    "updated": lambda sample: sample.model_copy(update={"id": "new"}),
    "validated again": Sample.model_validate,
}


@forms
@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_copy_equals_that_of_the_validated_sample(
    pair: Pair, make: Callable[[Sample], Sample]
) -> None:
    made, validated = map(make, pair)
    assert made == validated
    assert repr(made) == repr(validated)
    assert made.model_fields_set == validated.model_fields_set
    for name in ("input", "choices", "metadata", "files") if make is copy.deepcopy else ():
        value = getattr(pair[0], name)
        if isinstance(value, list | dict):
            assert getattr(made, name) is not value, "a deep copy shares nothing"


@forms
def test_it_changes_like_the_validated_sample(pair: Pair) -> None:
    for sample in pair:
        sample.id, sample.metadata = 5, {"new": 1}
        del sample.setup
    made, validated = pair
    assert made == validated
    assert made.model_fields_set == validated.model_fields_set
    for sample in pair:
        with pytest.raises(ValueError, match="has no field"):
            sample.another = 1  # type: ignore[attr-defined]
        with pytest.raises(AttributeError):
            sample.setup  # noqa: B018 (that it is gone is what is tested)


def test_samples_share_neither_values_nor_sets() -> None:
    first, second = made_of(*[Sample(input="q", metadata={"x": [1]}, choices=["a"])] * 2)
    assert first == second
    assert first.model_fields_set is not second.model_fields_set
    assert first.metadata is not second.metadata
    assert first.choices is not second.choices
    first.id = 1
    assert second.id is None


def test_rows_may_have_different_forms() -> None:
    samples = [Sample(**parts) for parts in FORMS.values()]
    made = made_of(*samples)
    assert made == samples
    assert list(map(repr, made)) == list(map(repr, samples))


def test_each_form_of_a_value_has_its_own_column() -> None:
    kinds: dict[str, MetadataType] = {
        "str": "str", "str_list": "str_list", "int": "int", "float": "float", "bool": "bool", "json": "json",
    }  # fmt: skip
    values = ("é", ["a", None], -1, 0.1, False, BEYOND_JSON)
    full = dict(zip(kinds, values, strict=True))
    samples = [Sample(input="q", metadata=one) for one in (full, dict.fromkeys(kinds))]
    assert list(map(repr, made_of(*samples, kinds=kinds))) == list(map(repr, samples))


def test_metadata_that_is_null_in_all_rows_is_none() -> None:
    assert list(metadata_of({}, 2, ())) == [None, None]


def test_a_sandbox_is_a_frozen_spec() -> None:
    (made,) = made_of(Sample(input="q", sandbox="docker"))
    assert made.sandbox == SandboxEnvironmentSpec("docker")
    with pytest.raises(ValidationError, match="frozen"):
        made.sandbox.type = "other"
