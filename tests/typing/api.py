"""The public API as a user's type checker sees it: mypy and pyright check this, nothing runs it.

A line with `type: ignore[…]` is a wrong use: were it accepted, both would report the unused ignore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, assert_type

import inspect_ai.dataset
import numpy as np
from pydantic import BaseModel

from registry import (
    AccessError,
    CacheError,
    Catalog,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    CheckpointSampleConfig,
    Content,
    ContentAudio,
    ContentDocument,
    ContentImage,
    ContentText,
    ContentVideo,
    Dataset,
    DatasetNotFoundError,
    DecodeError,
    DeprecatedNameWarning,
    DigestMismatchError,
    ExpectationError,
    FieldSpec,
    GroupError,
    LockError,
    LockStaleError,
    ManifestError,
    MappingError,
    MemoryDataset,
    MissingDependencyError,
    OfflineError,
    RecordToSample,
    RegistryError,
    Sample,
    SampleNotFoundError,
    SandboxEnvironmentSpec,
    SourceError,
    csv_dataset,
    file_dataset,
    get_dataset,
    get_group,
    hf_dataset,
    json_dataset,
    list_datasets,
    list_groups,
    map_fields,
)


class Topic(BaseModel, frozen=True):
    """A user's own metadata."""

    subject: str


def to_sample(record: dict[str, Any]) -> Sample:
    return Sample(input=record["question"], target=record["answer"])


def to_samples(record: dict[str, Any]) -> list[Sample]:
    return [to_sample(record)]


def to_inspect_sample(record: dict[str, Any]) -> inspect_ai.dataset.Sample:
    return inspect_ai.dataset.Sample(input=record["question"])


def of_another_type(record: str) -> Sample:
    return Sample(input=record)


def use_datasets() -> None:
    assert_type(list_datasets(), list[str])
    assert_type(list_datasets(tags=["demo"], root=Path("catalog")), list[str])
    list_datasets(tag="demo")  # type: ignore[call-arg]

    dataset = get_dataset("demo-mcq", root="catalog", offline=True, locked=True, frozen=False)
    assert_type(dataset, Dataset)
    assert_type(get_dataset("demo-mcq", shuffle=True, seed=1, limit=5), Dataset)
    assert_type(get_dataset("gsm8k", source="test.jsonl", refresh=True), Dataset)
    get_dataset()  # type: ignore[call-arg]
    get_dataset("demo-mcq", split="test", revision="v1", shuffle_choices=42, auto_id=True)
    get_dataset("demo-mcq", fewshot=5, corrections=False, only={"subject": ["a", "b"]})
    get_dataset("demo-mcq", limit="3")  # type: ignore[arg-type]
    get_dataset("demo-mcq", lmit=3)  # type: ignore[call-arg]
    get_dataset("demo-mcq", seed=None, fewshot={"n": 5}, only=None)
    get_dataset("demo-mcq", shuffle="yes")  # type: ignore[arg-type]
    get_dataset("demo-mcq", split=None)  # type: ignore[arg-type]
    get_dataset(1)  # type: ignore[arg-type]
    get_dataset("demo-mcq", "catalog")  # type: ignore[call-arg]
    get_dataset("demo-mcq", source=Path("test.jsonl"))  # type: ignore[arg-type]


def use_a_dataset(dataset: Dataset) -> None:
    assert_type(dataset[0], Sample)
    assert_type(dataset[1:3], Dataset)
    assert_type(iter(dataset), Iterator[Sample])
    assert_type(len(dataset), int)
    assert_type(dataset.name, str | None)
    assert_type(dataset.location, str | None)
    assert_type(dataset.shuffled, bool)
    assert_type(dataset.filter(lambda sample: bool(sample.choices), name="mcq"), Dataset)
    dataset.sort(reverse=True, key=lambda sample: sample.target)
    dataset.shuffle(seed=1)
    dataset.shuffle_choices(1)
    assert_type(dataset.map(lambda sample: sample), MemoryDataset)
    assert_type(dataset.map(lambda sample: [sample, sample], name="twice"), MemoryDataset)
    dataset.map(lambda sample: sample.target)  # type: ignore[arg-type,return-value]
    assert_type(dataset[[0, 2]], Dataset)
    assert_type(dataset[np.array([0, 2])], Dataset)
    assert_type(dataset.by_id("first"), Sample)
    dataset["first"]  # type: ignore[index]
    dataset.filter("mcq")  # type: ignore[arg-type]
    dataset.shuffle(seed="1")  # type: ignore[arg-type]

    in_memory = MemoryDataset(list(dataset), name="copy", location=None, shuffled=False)
    assert_type(in_memory.samples, list[Sample])
    assert_type(in_memory.filter(bool), MemoryDataset)
    MemoryDataset(dataset)  # type: ignore[arg-type]
    Dataset()  # type: ignore[abstract]


def use_loaders() -> None:
    fields = FieldSpec(input="question", target="answer", choices="choices", metadata=["subject"])
    assert_type(csv_dataset("qa.csv", fields, delimiter=";", fieldnames=["question"]), Dataset)
    assert_type(json_dataset("qa.jsonl", to_sample, auto_id=True, encoding="utf-16"), Dataset)
    assert_type(json_dataset("qa.jsonl", loads=str.split), Dataset)
    assert_type(file_dataset("s3://bucket/qa.csv", to_samples, fs_options={"anon": True}), Dataset)
    assert_type(hf_dataset("cais/mmlu", "test", name="all", revision="main", limit=5), Dataset)
    json_dataset("qa.jsonl", to_inspect_sample)
    json_dataset("qa.jsonl", inspect_ai.dataset.FieldSpec(input="question"))
    FieldSpec(metadata=Topic)
    csv_dataset("qa.csv", {"input": "question"})  # type: ignore[arg-type]
    csv_dataset("qa.csv", of_another_type)  # type: ignore[arg-type]
    csv_dataset("qa.csv", loads=str)  # type: ignore[call-arg]
    hf_dataset("cais/mmlu")  # type: ignore[call-arg]
    FieldSpec(input=["question"])  # type: ignore[arg-type]


def use_mappers(mapper: RecordToSample) -> None:
    assert_type(mapper({}), Sample | list[Sample])
    mapped: RecordToSample = map_fields({"input": "question", "target": {"const": "yes"}})
    json_dataset("qa.jsonl", mapped)
    map_fields("question")  # type: ignore[arg-type]


def use_samples() -> None:
    sample = Sample(
        input=[ChatMessageSystem(content="Be brief."), ChatMessageUser(content="2 + 2?")],
        choices=["3", "4"],
        target=["B"],
        id="qa-1",
        metadata={"subject": "maths"},
        sandbox=("docker", "compose.yaml"),
        files={"data.txt": "4"},
        setup="true",
    )
    assert_type(sample.input, str | list[ChatMessage])
    assert_type(sample.choices, list[str] | None)
    assert_type(sample.target, str | list[str])
    assert_type(sample.id, int | str | None)
    assert_type(sample.metadata, dict[str, Any] | None)
    assert_type(sample.sandbox, SandboxEnvironmentSpec | None)
    assert_type(sample.checkpoint, CheckpointSampleConfig | None)
    assert_type(sample.metadata_as(Topic), Topic)
    Sample()  # type: ignore[call-arg]
    Sample(input=4)  # type: ignore[arg-type]
    Sample("2 + 2?", answer="4")  # type: ignore[call-arg]
    SandboxEnvironmentSpec(config="compose.yaml")  # type: ignore[call-arg]


def use_messages(message: ChatMessage) -> None:
    assert_type(message.role, Literal["system", "user", "assistant", "tool"])
    assert_type(message.content, str | list[Content])
    assert_type(message.text, str)
    parts: list[Content] = [
        ContentText(text="What is this?"),
        ContentImage(image="data:image/png;base64,"),
        ContentAudio(audio="a.wav", format="wav"),
        ContentVideo(video="v.mp4", format="mp4"),
        ContentDocument(document="report.pdf"),
    ]
    ChatMessageUser(content=parts)
    ChatMessageAssistant(content="4", model="a-model")
    ChatMessageTool(content="4", tool_call_id="call-1", function="add")
    ChatMessageUser(content=4)  # type: ignore[arg-type]
    ContentAudio(audio="a.ogg", format="ogg")  # type: ignore[arg-type]


def use_catalog(root: Path) -> None:
    catalog = Catalog.open(root)
    assert_type(list(catalog), list[str])
    assert_type(catalog["qa"].name, str)
    Catalog.open(1)  # type: ignore[arg-type]
    assert_type(list_groups(root=root), list[str])
    assert_type(get_group("leaderboard", root=root)["qa"], Dataset)
    get_group("leaderboard", limit="3")  # type: ignore[arg-type]
    get_group(1)  # type: ignore[arg-type]


def use_errors(call: Callable[[], None]) -> None:
    assert_type(DeprecatedNameWarning("old"), DeprecatedNameWarning)
    assert_type(GroupError("g", ["a"]), GroupError)
    try:
        call()
    except ManifestError as error:
        for problem in error.problems:
            assert_type(problem.file, str)
            assert_type(problem.line, int)
            assert_type(problem.hint, str)
    except (DatasetNotFoundError, SampleNotFoundError) as error:
        assert_type(error.matches, list[str])
    except LockStaleError as error:
        assert_type(error.dataset, str)
    except DigestMismatchError as error:
        assert_type((error.pinned, error.found), tuple[str, str])
    except DecodeError as error:
        assert_type(error.line, int | None)
    except (MappingError, ExpectationError) as error:
        assert_type(str(error), str)


def are_caught_as() -> None:
    """Name the base that a caller may catch instead."""
    registry_errors: list[type[RegistryError]] = [LockError, SourceError, CacheError, ManifestError]
    source_errors: list[type[SourceError]] = [OfflineError, AccessError, MissingDependencyError]
    value_errors: list[type[ValueError]] = [DecodeError, MappingError, ExpectationError]
    lock_errors: list[type[LockError]] = [LockStaleError]
    lookup_errors: list[type[LookupError]] = [DatasetNotFoundError, SampleNotFoundError]
    no_source_errors: list[type[SourceError]] = [CacheError]  # type: ignore[list-item]
    del registry_errors, source_errors, value_errors, lock_errors, lookup_errors, no_source_errors
