"""Our datasets as Inspect's: its samples, its operations, made on access.

`make inspect` also runs this with the oldest supported version of Inspect AI.
"""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any

import inspect_ai.dataset as theirs
import inspect_ai.util
import pytest
from inspect_ai import Task, task_with

import registry
from registry.samples import checkpoint, inspect_dataset
from registry.samples.inspect_dataset import Base, InspectDataset, to_inspect_sample
from registry.samples.provenance import Provenance
from tests.samples.against_inspect import mcq

PIXEL = "data:image/png;base64,iVBORw0KGgo="
CALL = {"id": "1", "function": "add", "arguments": {"x": 1}, "type": "function"}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "?"}, {"type": "image", "image": PIXEL}]},
    {"role": "assistant", "content": "<think>hm</think>\n1", "tool_calls": [CALL]},
    {"role": "tool", "content": "2", "tool_call_id": "1", "function": "add"},
    {"role": "tool", "content": "", "error": {"type": "timeout", "message": "late"}},
    {"role": "user", "content": [{"type": "audio", "audio": "a.wav", "format": "wav"}]},
    {"role": "user", "content": [{"type": "document", "document": "data:text/csv;base64,YQ=="}]},
]
RECORDS: list[dict[str, Any]] = [
    {"input": "plain", "target": "A", "id": 1},
    {"input": "choices", "target": "B", "choices": ["x", "y"], "id": "two"},
    {"input": "targets", "target": ["A", "C"], "choices": ["x", "y", "z"]},
    {"input": "metadata", "target": "", "metadata": {"a": {"b": [1, None]}, "c": 1.5}},
    {"input": "sandbox", "sandbox": "local", "setup": "echo 1", "files": {"a.txt": "text"}},
    {"input": "compose", "sandbox": ["docker", "compose.yaml"]},
    {"input": "checkpoint", "checkpoint": {"sandbox_paths": {"default": ["/a"]}}},
    {"input": CHAT, "target": "1"},
]
# Inspect 0.3.240 takes checkpoints, but its loaders read no column of them.
READ_BY_THEIRS = [
    record
    for record in RECORDS
    if "checkpoint" not in record or hasattr(theirs.FieldSpec(), "checkpoint")
]
MCQ = mcq(20)


@pytest.fixture(autouse=True)
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def both(tmp_path: Path) -> Callable[..., tuple[theirs.Dataset, InspectDataset]]:
    """Load records with Inspect's loader, and with ours as Inspect's."""

    def load(records: Sequence[Any], **arguments: Any) -> tuple[theirs.Dataset, InspectDataset]:
        path = tmp_path / "data.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
        (tmp_path / "compose.yaml").write_text("services: {}\n", encoding="utf-8")
        return (
            theirs.json_dataset(str(path), **arguments),
            registry.json_dataset(str(path), **arguments).to_inspect(),
        )

    return load


def without_message_ids(sample: theirs.Sample) -> theirs.Sample:
    """Return a copy whose messages have no ids, which are random."""
    sample = sample.model_copy(deep=True)
    for message in sample.input if isinstance(sample.input, list) else []:
        message.id = None
    return sample


def samples(dataset: theirs.Dataset) -> list[theirs.Sample]:
    return [without_message_ids(sample) for sample in dataset]


# ---------------------------------------------------------------- samples


@pytest.mark.parametrize("record", READ_BY_THEIRS, ids=lambda record: str(record["input"])[:9])
def test_samples_are_equal_to_those_of_their_loader(record: dict[str, Any], both: Any) -> None:
    expected, found = both([record])
    assert samples(found) == samples(expected)
    assert samples(found)[0].model_dump() == samples(expected)[0].model_dump()
    assert without_message_ids(found[0]) == samples(expected)[0]
    assert found[0].model_fields_set == expected[0].model_fields_set


@pytest.mark.parametrize("trigger", [None, "Manual", "TurnInterval", "TokenInterval"])
def test_checkpoints_are_of_their_classes(trigger: str | None) -> None:
    def config(module: Any) -> Any:
        kind = trigger and getattr(module, trigger)
        every = {} if trigger == "Manual" else {"every": 3}
        return module.CheckpointSampleConfig(
            trigger=kind and kind(**every), sandbox_paths={"default": ["/a"]}
        )

    ours = registry.Sample("a", checkpoint=config(checkpoint))
    expected = theirs.Sample("a", checkpoint=config(inspect_ai.util))
    found = to_inspect_sample(ours)
    assert found == expected
    assert type(found.checkpoint) is inspect_ai.util.CheckpointSampleConfig
    assert type(found.checkpoint.trigger) is type(config(inspect_ai.util).trigger)


def test_descriptions_are_kept_where_there_are_some() -> None:
    found = to_inspect_sample(registry.Sample("a", description="short"))
    assert getattr(found, "description", "short") == "short"


def test_messages_and_their_parts_are_of_their_classes(both: Any) -> None:
    expected, found = both([RECORDS[-1]])

    def classes(value: Any) -> Any:
        if isinstance(value, list):
            return [classes(item) for item in value]
        inner = getattr(value, "content", None), getattr(value, "tool_calls", None)
        return type(value), *(classes(part) for part in inner if isinstance(part, list))

    assert classes(found[0].input) == classes(expected[0].input)


def test_name_location_and_order_are_those_of_their_loader(both: Any) -> None:
    for arguments in ({}, {"shuffle": True, "seed": 1}, {"name": "n", "limit": 3}):
        expected, found = both(MCQ, **arguments)
        assert (found.name, found.location, found.shuffled) == (
            expected.name,
            expected.location,
            expected.shuffled,
        )
        assert samples(found) == samples(expected)


def test_a_dataset_in_memory_is_copied() -> None:
    ours = registry.MemoryDataset([registry.Sample("a", metadata={"n": [1]})], "name", "place")
    dataset = ours.to_inspect()
    assert isinstance(dataset, theirs.Dataset)
    assert isinstance(dataset[0], theirs.Sample)
    dataset[0].metadata["n"].append(2)  # type: ignore[index]
    ours.shuffle(1)
    assert ours[0].metadata == {"n": [1]}
    assert (dataset[0].metadata, dataset.name, dataset.location) == ({"n": [1, 2]}, "name", "place")
    assert not dataset.shuffled


# ---------------------------------------------------------------- operations

OPERATIONS: dict[str, Callable[[theirs.Dataset], Any]] = {
    "slice": lambda one: one[3:9],
    "step": lambda one: one[::-2],
    "slice of a slice": lambda one: one[2:15][-8:],
    "empty": lambda one: one[5:5],
    "filter": lambda one: one.filter(lambda sample: bool(sample.choices), "kept"),
    "filter of a slice": lambda one: one[4:].filter(lambda sample: sample.id != 7),
    "sort": lambda one: one.sort(),
    "sort in reverse": lambda one: one.sort(reverse=True),
    "sort by key": lambda one: one.sort(key=lambda sample: str(sample.id)),
    "shuffle": lambda one: one.shuffle(3),
    "unseeded shuffle": lambda one: (random.seed(5), one.shuffle())[1],
    "shuffle choices": lambda one: one.shuffle_choices(3),
    "twice": lambda one: (one.shuffle_choices(3), one.shuffle_choices(4))[1],
    "all": lambda one: (one.shuffle(1), one.shuffle_choices(2), one.sort())[2],
    "of a part": lambda one: one[5:].shuffle_choices(1),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_give_what_theirs_give(name: str, both: Any) -> None:
    expected, found = both(MCQ)
    results = [OPERATIONS[name](one) for one in (expected, found)]
    assert samples(found) == samples(expected)
    assert (found.shuffled, len(found)) == (expected.shuffled, len(expected))
    if results[0] is not None:
        assert samples(results[1]) == samples(results[0])
        assert (results[1].name, results[1].location) == (results[0].name, results[0].location)


@pytest.mark.parametrize("name", ["__getitem__", "sort", "filter", "shuffle", "shuffle_choices"])
def test_methods_take_the_arguments_of_theirs(name: str) -> None:
    def arguments(kind: type) -> list[str]:
        return list(inspect.signature(getattr(kind, name)).parameters)

    assert arguments(InspectDataset) == arguments(theirs.MemoryDataset)


@pytest.mark.parametrize("index", [20, -21])
def test_an_index_out_of_range_is_an_index_error(index: int, both: Any) -> None:
    with pytest.raises(IndexError):
        both(MCQ)[1][index]


def test_a_bad_target_is_the_value_error_of_theirs(both: Any) -> None:
    for dataset in both([{"input": "?", "choices": ["x", "y"], "target": "no letter"}]):
        with pytest.raises(ValueError, match="no letter"):
            dataset.shuffle_choices(1)


# ---------------------------------------------------------------- changes


def change(sample: Any, field: str = "target", value: Any = "new") -> Any:
    setattr(sample, field, value)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "by index": lambda one: change(one[0]),
    "in a loop": lambda one: [change(sample) for sample in one],
    "numbers in a loop": lambda one: [change(it, "id", n) for n, it in enumerate(one, 100)],
    "the last before a break": lambda one: change(next(islice(one, 3, None))),
    "in place": lambda one: [sample.choices.append("new") for sample in one if sample.choices],
    "of a slice": lambda one: [change(sample) for sample in one[3:5]],
    "of a filtered sample": lambda one: change(one.filter(lambda it: it.id == 4)[0]),
    "before a slice": lambda one: (change(one[3]), one[2:5])[1],
    "before a shuffle": lambda one: (change(one[3]), one.shuffle(1))[1],
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_samples_are_kept_as_in_theirs(name: str, both: Any) -> None:
    expected, found = both(MCQ)
    results = [CHANGES[name](one) for one in (expected, found)]
    assert samples(found) == samples(expected)
    if isinstance(results[0], theirs.Dataset):
        assert samples(results[1]) == samples(results[0])


def test_changes_deep_in_metadata_and_messages_are_kept(both: Any) -> None:
    records = [RECORDS[3], RECORDS[-1]]
    for dataset in both(records):
        for sample in dataset:
            if sample.metadata:
                sample.metadata["a"]["b"].append("new")
            else:
                sample.input[1].content[0].text = "new"
        assert next(iter(dataset)).metadata["a"]["b"][-1] == "new"
        assert dataset[1].input[1].content[0].text == "new"


def test_a_value_that_cannot_be_pickled_is_kept_with_its_sample() -> None:
    def value() -> None:
        """Be no value that pickle takes."""

    dataset = registry.MemoryDataset([registry.Sample("a", metadata={"f": value})]).to_inspect()
    assert [sample.metadata for sample in dataset] == [{"f": value}]
    assert dataset[0] is next(iter(dataset))


def test_two_datasets_of_one_share_no_change(both: Any) -> None:
    ours = registry.json_dataset(both(MCQ)[0].location)
    one, other = ours.to_inspect(), ours.to_inspect()
    one[0].target = "new"
    assert other[0].target == ours[0].target == "A"


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_has_the_changes(copied: Callable[[Any], Any]) -> None:
    dataset = registry.MemoryDataset([registry.Sample(n) for n in "abc"]).to_inspect()
    dataset[1].target = "new"
    dataset.shuffle(3)
    other = copied(dataset)
    assert list(other) == list(dataset)
    dataset[0].target = "newer"
    assert "newer" not in [sample.target for sample in other]


# ---------------------------------------------------------------- how many samples are made


class Million(Base):
    """A dataset whose samples are only made when they are asked for."""

    name, location, shuffled = "million", "nowhere", False
    provenance = Provenance(samples=1_000_000)
    made = 0

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, index: int) -> registry.Sample:
        self.made += 1
        return registry.Sample(str(index), choices=["x", "y"], target="A")

    def __iter__(self) -> Iterator[registry.Sample]:
        return map(self.__getitem__, range(len(self)))

    def samples_at(self, positions: Sequence[int]) -> Iterator[registry.Sample]:
        return map(self.__getitem__, positions)


def test_no_sample_is_made_before_it_is_accessed() -> None:
    base = Million()
    dataset = InspectDataset(base)
    part = dataset[10:500_000][::2]
    dataset.shuffle(1)
    assert (len(dataset), len(part), base.made) == (1_000_000, 249_995, 0)
    assert (part[1].input, dataset[0].id, base.made) == ("12", None, 2)


def test_iterating_keeps_no_sample_that_is_not_changed() -> None:
    dataset = InspectDataset(Million())[:1000]
    for number, sample in enumerate(dataset):
        sample.id = number  # as an evaluation does
    assert [sample.id for sample in dataset] == list(range(1000))
    assert isinstance(dataset, InspectDataset)
    assert len(dataset._changes.samples) <= 3, "those that a loop may still hold"


def test_sample_that_a_loop_gave_is_kept_as_long_as_it_is_held() -> None:
    dataset = InspectDataset(Million())[:1000]
    samples = list(dataset)
    for sample in samples:
        sample.choices.append("z")  # type: ignore[union-attr]
    assert [one.choices for one in dataset] == [["x", "y", "z"]] * 1000
    assert dataset[7] is samples[7]


def test_change_is_seen_by_index_while_its_sample_is_the_current_one() -> None:
    dataset = InspectDataset(Million())[:10]
    for sample in dataset:
        sample.choices.append("z")  # type: ignore[union-attr]
        assert dataset[int(str(sample.input))] is sample


# ---------------------------------------------------------------- Inspect's tasks


def test_a_task_keeps_the_dataset() -> None:
    dataset = registry.MemoryDataset([registry.Sample("a")], "name", "place").to_inspect()
    assert Task(dataset=dataset).dataset is dataset


def test_a_task_of_our_own_dataset_is_a_type_error_that_says_what_to_pass(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"input": "a"}\n', encoding="utf-8")
    over_a_file = registry.json_dataset(str(tmp_path / "data.jsonl"))
    in_memory = registry.MemoryDataset([registry.Sample("a")])
    makers: tuple[Any, ...] = (Task, lambda dataset: task_with(Task(), dataset=dataset))
    for dataset, create in product((over_a_file, in_memory), makers):
        with pytest.raises(TypeError, match=r"pass `dataset\.to_inspect\(\)`"):
            create(dataset=dataset)


WITHOUT = """
import sys
sys.modules["inspect_ai"] = None
import registry
from registry.errors import MissingDependencyError
try:
    registry.MemoryDataset([registry.Sample("a")]).to_inspect()
except MissingDependencyError as error:
    print(error)
"""


def test_without_inspect_ai_the_error_has_the_line_to_install_it() -> None:
    command = [sys.executable, "-c", WITHOUT]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "`to_inspect` needs Inspect AI: pip install 'eval-registry[inspect]'\n"


def test_fields_that_an_older_version_lacks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = {"input": None, "target": "", "id": None}
    monkeypatch.setattr(inspect_dataset, "_class_of", lambda kind: (theirs.Sample, fields))
    found = to_inspect_sample(registry.Sample("a", id=1, setup="x"))
    assert found.__dict__ == {"input": "a", "target": "", "id": 1}


# ---------------------------------------------------------------- which samples were used


@pytest.fixture
def pinned() -> registry.Dataset:
    return registry.get_dataset("demo-mcq-small", root=Path(__file__).parents[2])


def test_location_is_the_source_of_the_manifest_and_the_digest(pinned: registry.Dataset) -> None:
    digest = pinned.provenance.ordered
    assert pinned.to_inspect().location == f"registry/data/demo-mcq.csv#{digest}"


def test_what_is_done_with_inspects_dataset_is_in_its_provenance(pinned: registry.Dataset) -> None:
    dataset = pinned.to_inspect()
    assert dataset.provenance == pinned.provenance
    whole = dataset[:]
    assert isinstance(whole, InspectDataset)
    assert whole.provenance == pinned.provenance
    part = dataset.filter(lambda sample: sample.target != "A")[1:]
    assert isinstance(part, InspectDataset)
    ours = pinned.filter(lambda sample: sample.target != "A")[1:]
    assert part.provenance == ours.provenance
    dataset.sort()
    assert dataset.provenance.modified == ("sorted",)
    dataset.shuffle(4)
    dataset.shuffle_choices(4)
    found = dataset.provenance
    assert found.modified[:3] == ("sorted", "shuffled", "choices shuffled")
    assert (found.ordered, found.samples) == (None, 10)
    # Inspect's classes have no digest of ours, so the log names the provenance itself.
    assert str(dataset.location).endswith(found.as_data()["digest"])


def test_access_and_numbering_are_no_change_and_assignment_is(pinned: registry.Dataset) -> None:
    dataset = pinned.to_inspect()
    for number, sample in enumerate(dataset):
        sample.id = number
    dataset[3].id = "three"
    assert dataset.provenance == pinned.provenance
    dataset[3].target = "other"
    for sample in dataset:
        if sample.id == 5:
            sample.input = "other"
    assert dataset.provenance.modified == ("changed: three, 5",)
    assert dataset.provenance.ordered is None


def test_dataset_without_a_manifest_keeps_the_location_of_its_loader() -> None:
    dataset = registry.MemoryDataset([registry.Sample("a")], location="here").to_inspect()
    assert dataset.location == "here"
