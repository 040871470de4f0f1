"""Samples and signatures are those that the documentation of Inspect AI lists."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import inspect_ai.dataset as their_dataset
import inspect_ai.util as their_util
import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

import registry
from registry import ChatMessage, ChatMessageUser, Sample, SandboxEnvironmentSpec
from registry.samples.dataset import Dataset
from registry.samples.sample import sample_input_len, state_of
from tests.samples.against_inspect import attempt, both, dump

# ---------------------------------------------------------------- signatures

_MAPPING = "sample_fields=None, auto_id=False"
_ORDER = "shuffle=False, seed=None, shuffle_choices=None, limit=None"
_FILE = "encoding='utf-8', name=None, fs_options=None"
SIGNATURES = {
    "csv_dataset": f"(csv_file, {_MAPPING}, {_ORDER}, dialect='unix', {_FILE}, fieldnames=None, delimiter=',')",
    "json_dataset": f"(json_file, {_MAPPING}, {_ORDER}, {_FILE}, **reader_kwargs)",
    "file_dataset": f"(file, {_MAPPING}, {_ORDER}, dialect='unix', {_FILE}, fieldnames=None)",
    "hf_dataset": f"(path, split, name=None, data_dir=None, revision=None, {_MAPPING}, {_ORDER},"
    " trust=False, cached=True, retry=True, **kwargs)",
    "Sample": "(input, choices=None, target='', id=None, metadata=None, sandbox=None, files=None,"
    " setup=None, checkpoint=None, *, description=None)",
    "FieldSpec": "(input='input', target='target', choices='choices', id='id', metadata=None,"
    " sandbox='sandbox', files='files', setup='setup', *, checkpoint='checkpoint', description=None)",
    "MemoryDataset": "(samples, name=None, location=None, shuffled=False)",
}
POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def signature_of(function: Any) -> str:
    """Return the arguments and their defaults, without types."""
    found = inspect.signature(function)
    parameters = [one.replace(annotation=one.empty) for one in found.parameters.values()]
    return str(found.replace(parameters=parameters, return_annotation=found.empty))


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_the_documented_ones(name: str) -> None:
    assert signature_of(getattr(registry, name)) == SIGNATURES[name]


@pytest.mark.parametrize("name", SIGNATURES)
def test_positional_arguments_are_those_of_inspect(name: str) -> None:
    theirs = inspect.signature(getattr(their_dataset, name)).parameters.values()
    by_position = [each.name for each in theirs if each.kind == POSITIONAL]
    ours = inspect.signature(getattr(registry, name)).parameters.values()
    documented = [each.name for each in ours if each.kind == POSITIONAL]
    assert by_position[: len(documented)] == documented


DATASET_SIGNATURES = {
    "sort": f"(self, reverse=False, key={sample_input_len})",
    "filter": "(self, predicate, name=None)",
    "shuffle": "(self, seed=None)",
    "shuffle_choices": "(self, seed=None)",
}


@pytest.mark.parametrize("cls", [Dataset, registry.MemoryDataset])
@pytest.mark.parametrize("name", DATASET_SIGNATURES)
def test_methods_of_datasets_are_the_documented_ones(cls: type, name: str) -> None:
    assert signature_of(getattr(cls, name)) == DATASET_SIGNATURES[name]
    ours, theirs = (
        list(inspect.signature(getattr(one, name)).parameters)
        for one in (cls, their_dataset.Dataset)
    )
    assert ours == theirs


def test_dataset_is_an_abstract_sequence_of_the_same_members() -> None:
    assert issubclass(Dataset, Sequence)
    assert Dataset.__abstractmethods__ == their_dataset.Dataset.__abstractmethods__
    for name in ("name", "location", "shuffled"):
        assert isinstance(getattr(Dataset, name), property)
    with pytest.raises(TypeError, match="abstract"):
        Dataset()  # type: ignore[abstract]  # what is tested


def test_every_documented_name_is_exported() -> None:
    content = ["ContentText", "ContentImage", "ContentAudio", "ContentVideo", "ContentDocument"]
    roles = [f"ChatMessage{role}" for role in ("", "System", "User", "Assistant", "Tool")]
    names = [*SIGNATURES, "Dataset", "RecordToSample", "SandboxEnvironmentSpec", *content, *roles]
    assert set(names) <= set(registry.__all__)
    assert all(hasattr(registry, name) for name in registry.__all__)


# ---------------------------------------------------------------- Sample


INPUTS = ["x", "", [], None, 5, ["x"], [{"role": "user"}]]
INPUTS += [[{"role": role, "content": "x"}] for role in ("user", "nobody")]
OTHER_FIELDS: dict[str, list[Any]] = {
    "choices": [[], ["a", 1], "ab", ("a", "b")],
    "target": [[], ["a", "b"], None, 4, [4]],
    "id": [0, "0", 1.0, 1.5, True],
    "metadata": [{"a": object}, {1: 2}, []],
    "files": [{"a": "b"}, {"a": 1}],
    "setup": [1],
    "description": ["", 1],
    "checkpoint": [
        *({"max_consecutive_failures": most} for most in (0, "many")),
        *({"trigger": {"every": 3}}, {"unknown": 1}, []),
    ],
}


@pytest.mark.parametrize(
    "parts",
    [
        *({"input": value} for value in INPUTS),
        *({"input": "x", name: one} for name, values in OTHER_FIELDS.items() for one in values),
    ],
    ids=repr,
)
def test_samples_accept_and_reject_the_same_as_inspect(parts: dict[str, Any]) -> None:
    ours, theirs = both("Sample")
    assert attempt(ours, **parts) == attempt(theirs, **parts)


def test_samples_accept_positional_arguments() -> None:
    checkpoint = {"sandbox_paths": {"default": ["/a"]}}
    files = {"f": "x"}
    arguments = ("in", ["a"], "A", 1, {"m": 1}, ("docker", "c.yaml"), files, "setup", checkpoint)
    ours, theirs = both("Sample")
    assert dump(ours(*arguments)) == dump(theirs(*arguments))


def test_schema_of_the_input_is_that_of_the_messages() -> None:
    # Their classes are imported only when a sample is validated, see `registry.samples.sample`.
    schema = Sample.model_json_schema()
    of_input = TypeAdapter(str | list[registry.ChatMessage]).json_schema()
    definitions = of_input.pop("$defs")
    assert schema["properties"]["input"] == {**of_input, "title": "Input"}
    assert definitions.items() <= schema["$defs"].items()


@pytest.mark.parametrize("sandbox", [None, "docker", ("docker", "compose.yaml")])
def test_sample_round_trips_through_its_data_and_json(sandbox: Any) -> None:
    message = registry.ChatMessageUser(content=[registry.ContentImage(image="a.png")], id="m")
    checkpoint = registry.CheckpointSampleConfig(sandbox_paths={"default": []})
    sample = Sample(
        [message],
        ["a"],
        ["A"],
        1,
        {"m": [1]},
        sandbox,
        {"f": "x"},
        "s",
        checkpoint,
        description="d",
    )
    assert Sample.model_validate(sample.model_dump()) == sample
    assert Sample.model_validate_json(sample.model_dump_json()) == sample


def test_bytes_in_metadata_are_base64_in_json() -> None:
    assert (
        '"picture":"iVBO_w=="' in Sample("x", metadata={"picture": b"\x89PN\xff"}).model_dump_json()
    )


class Compose(BaseModel):
    image: str = "python"


SANDBOXES: list[Any] = [
    None,
    "docker",
    "",
    ("docker", "compose.yaml"),
    ("docker", None),
    ("docker", Compose()),
]


@pytest.mark.parametrize("sandbox", SANDBOXES, ids=repr)
def test_short_forms_of_a_sandbox_are_those_of_inspect(sandbox: Any) -> None:
    ours, theirs = Sample("x", sandbox=sandbox), their_dataset.Sample("x", sandbox=sandbox)
    assert dump(ours) == dump(theirs)
    assert ours.sandbox is None or isinstance(ours.sandbox, SandboxEnvironmentSpec)


def test_a_sandbox_as_data_may_have_more_keys() -> None:
    data: Any = {"type": "docker", "config": "c.yaml", "other": 1}
    assert Sample("x", sandbox=data).sandbox == SandboxEnvironmentSpec("docker", "c.yaml")


@pytest.mark.parametrize("arguments", [("docker",), ("docker", "c.yaml"), ("docker", Compose())])
def test_sandbox_spec_is_unchanged(arguments: tuple[Any, ...]) -> None:
    spec = SandboxEnvironmentSpec(*arguments)
    assert Sample("x", sandbox=spec).sandbox == spec
    assert dump(spec) == dump(their_util.SandboxEnvironmentSpec(*arguments))
    with pytest.raises(ValidationError, match="frozen"):
        spec.type = "local"


ONE = {"type": "text", "text": "one"}
TWO = {"type": "text", "text": "two\nlines", "refusal": True}
IMAGE = {"type": "image", "image": "a.png"}


@pytest.mark.parametrize(
    "prompt",
    [
        "four",
        "",
        [],
        [{"role": "user", "content": "ab"}, {"role": "tool", "content": "c"}],
        [{"role": "user", "content": [ONE, IMAGE, TWO]}],
    ],
)
def test_input_length_is_the_length_of_its_text(prompt: Any) -> None:
    from inspect_ai.dataset._dataset import sample_input_len as their_length

    ours, theirs = both("Sample")
    assert sample_input_len(ours(prompt)) == their_length(theirs(prompt))


def made() -> Sample:
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
    changed = made()
    assert state_of(changed) == state_of(made())
    change(changed)
    assert state_of(changed) != state_of(made())


def test_a_field_can_be_left_out() -> None:
    changed = made()
    changed.id = 2
    assert state_of(changed, without=["id"]) == state_of(made(), without=["id"])


def test_a_value_that_can_not_be_compared_is_changed() -> None:
    unknown = Sample("q", metadata={"f": lambda: None})
    assert state_of(unknown) != state_of(unknown)
