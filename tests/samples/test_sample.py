"""Sample, FieldSpec, messages and their content offer the API that Inspect AI documents."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import inspect_ai.dataset as their_dataset
import inspect_ai.model as their_model
import inspect_ai.util as their_util
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

import registry
from registry import Sample, SandboxEnvironmentSpec
from registry.samples.dataset import Dataset
from registry.samples.sample import sample_input_len

modest = settings(deadline=None, max_examples=100)

# ---------------------------------------------------------------- signatures

NEEDED = inspect.Parameter.empty
"""In place of a default: the argument must be given."""

_MAPPING = [("sample_fields", None), ("auto_id", False)]
_ORDER = [("shuffle", False), ("seed", None), ("shuffle_choices", None), ("limit", None)]

SIGNATURES: dict[str, list[tuple[str, Any]]] = {
    "csv_dataset": [
        ("csv_file", NEEDED),
        *_MAPPING,
        *_ORDER,
        ("dialect", "unix"),
        ("encoding", "utf-8"),
        ("name", None),
        ("fs_options", None),
        ("fieldnames", None),
        ("delimiter", ","),
    ],
    "json_dataset": [
        ("json_file", NEEDED),
        *_MAPPING,
        *_ORDER,
        ("encoding", "utf-8"),
        ("name", None),
        ("fs_options", None),
    ],
    "file_dataset": [
        ("file", NEEDED),
        *_MAPPING,
        *_ORDER,
        ("dialect", "unix"),
        ("encoding", "utf-8"),
        ("name", None),
        ("fs_options", None),
        ("fieldnames", None),
    ],
    "hf_dataset": [
        ("path", NEEDED),
        ("split", NEEDED),
        ("name", None),
        ("data_dir", None),
        ("revision", None),
        *_MAPPING,
        *_ORDER,
        ("trust", False),
        ("cached", True),
        ("kwargs", NEEDED),
    ],
    "Sample": [
        ("input", NEEDED),
        ("choices", None),
        ("target", ""),
        ("id", None),
        ("metadata", None),
        ("sandbox", None),
        ("files", None),
        ("setup", None),
    ],
    "FieldSpec": [
        ("input", "input"),
        ("target", "target"),
        ("choices", "choices"),
        ("id", "id"),
        ("metadata", None),
        ("sandbox", "sandbox"),
        ("files", "files"),
        ("setup", "setup"),
    ],
    "MemoryDataset": [
        ("samples", NEEDED),
        ("name", None),
        ("location", None),
        ("shuffled", False),
    ],
}
KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_KEYWORD)


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_the_documented_ones(name: str) -> None:
    parameters = list(inspect.signature(getattr(registry, name)).parameters.values())
    assert [(each.name, each.default) for each in parameters] == SIGNATURES[name]
    assert [each.kind for each in parameters] == [
        KINDS[each.name == "kwargs"] for each in parameters
    ]


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_by_position_mean_what_they_mean_in_inspect(name: str) -> None:
    theirs = inspect.signature(getattr(their_dataset, name)).parameters.values()
    by_position = [each.name for each in theirs if each.kind == KINDS[0]]
    documented = [argument for argument, _ in SIGNATURES[name] if argument != "kwargs"]
    assert by_position[: len(documented)] == documented


DATASET_SIGNATURES: dict[str, list[tuple[str, Any]]] = {
    "sort": [("reverse", False), ("key", sample_input_len)],
    "filter": [("predicate", NEEDED), ("name", None)],
    "shuffle": [("seed", None)],
    "shuffle_choices": [("seed", None)],
}


@pytest.mark.parametrize("cls", [Dataset, registry.MemoryDataset])
@pytest.mark.parametrize("name", DATASET_SIGNATURES)
def test_methods_of_datasets_are_the_documented_ones(cls: type, name: str) -> None:
    parameters = list(inspect.signature(getattr(cls, name)).parameters.values())[1:]
    assert [(each.name, each.default) for each in parameters] == DATASET_SIGNATURES[name]
    theirs = list(inspect.signature(getattr(their_dataset.Dataset, name)).parameters)[1:]
    assert [each.name for each in parameters] == theirs


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


@pytest.mark.parametrize("arguments", [(), ("q", "a", "c", "i", ["m"], "s", "f", "u")])
def test_field_specs_with_equal_columns_are_equal(arguments: tuple[Any, ...]) -> None:
    assert registry.FieldSpec(*arguments) == registry.FieldSpec(*arguments)
    assert registry.FieldSpec(*arguments) != registry.FieldSpec("other")
    theirs = vars(their_dataset.FieldSpec(*arguments))
    assert vars(registry.FieldSpec(*arguments)).items() <= theirs.items()


# ---------------------------------------------------------------- comparing

ONLY_THEIRS = {"description", "checkpoint"}


def dump(value: Any) -> Any:
    """Return a model as data, without random ids and what only Inspect has."""
    data = value.model_dump(exclude=ONLY_THEIRS)
    for message in data["input"] if isinstance(data.get("input"), list) else [data]:
        message.pop("id", None)
    return data


def attempt(make: Any, *arguments: Any, **named: Any) -> Any:
    """Return the data of what is made, or "refused"."""
    try:
        return dump(make(*arguments, **named))
    except ValueError:
        return "refused"


def both(name: str) -> tuple[Any, Any]:
    """Return our class and Inspect's."""
    theirs = their_dataset if hasattr(their_dataset, name) else their_model
    return getattr(registry, name), getattr(theirs, name)


# ---------------------------------------------------------------- Sample


@pytest.mark.parametrize(
    "parts",
    [
        {"input": "x"},
        {"input": ""},
        {"input": []},
        {"input": None},
        {"input": 5},
        {"input": ["x"]},
        {"input": [{"role": "user", "content": "x"}]},
        {"input": [{"role": "nobody", "content": "x"}]},
        {"input": [{"role": "user"}]},
        {"input": "x", "choices": []},
        {"input": "x", "choices": ["a", 1]},
        {"input": "x", "choices": "ab"},
        {"input": "x", "choices": ("a", "b")},
        {"input": "x", "target": []},
        {"input": "x", "target": ["a", "b"]},
        {"input": "x", "target": None},
        {"input": "x", "target": 4},
        {"input": "x", "target": [4]},
        {"input": "x", "id": 0},
        {"input": "x", "id": "0"},
        {"input": "x", "id": 1.0},
        {"input": "x", "id": 1.5},
        {"input": "x", "id": True},
        {"input": "x", "metadata": {"a": object}},
        {"input": "x", "metadata": {1: 2}},
        {"input": "x", "metadata": []},
        {"input": "x", "files": {"a": "b"}},
        {"input": "x", "files": {"a": 1}},
        {"input": "x", "setup": 1},
    ],
    ids=repr,
)
def test_a_sample_takes_and_refuses_what_inspects_does(parts: dict[str, Any]) -> None:
    ours, theirs = both("Sample")
    assert attempt(ours, **parts) == attempt(theirs, **parts)


def test_samples_are_made_by_position_too() -> None:
    arguments = ("in", ["a"], "A", 1, {"m": 1}, ("docker", "c.yaml"), {"f": "x"}, "setup")
    ours, theirs = both("Sample")
    assert dump(ours(*arguments)) == dump(theirs(*arguments))


def test_an_unknown_argument_of_a_sample_is_an_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'question'"):
        Sample("x", question="y")  # type: ignore[call-arg]  # what is tested


@pytest.mark.parametrize("sandbox", [None, "docker", ("docker", "compose.yaml")])
def test_a_sample_survives_its_own_data_and_json(sandbox: Any) -> None:
    message = registry.ChatMessageUser(content=[registry.ContentImage(image="a.png")], id="m")
    sample = Sample([message], ["a"], ["A"], 1, {"m": [1]}, sandbox, {"f": "x"}, "s")
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
def test_a_sandbox_spec_is_kept_as_it_is(arguments: tuple[Any, ...]) -> None:
    spec = SandboxEnvironmentSpec(*arguments)
    assert Sample("x", sandbox=spec).sandbox == spec
    assert dump(spec) == dump(their_util.SandboxEnvironmentSpec(*arguments))
    with pytest.raises(ValidationError, match="frozen"):
        spec.type = "local"


# ---------------------------------------------------------------- metadata_as


class Topic(BaseModel, frozen=True):
    subject: str
    level: int = 0


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
def test_metadata_that_does_not_fit_is_refused_in_inspects_words(
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


# ---------------------------------------------------------------- messages

PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": "one"},
    {"type": "text", "text": ""},
    {"type": "text", "text": "two\nlines", "refusal": True},
    {"type": "image", "image": "a.png"},
    {"type": "audio", "audio": "a.wav", "format": "wav"},
    {"type": "video", "video": "a.mp4", "format": "mp4"},
    {"type": "document", "document": "a.pdf"},
    {"type": "reasoning", "reasoning": "hm"},
    {"type": "data", "data": {"a": 1}},
]
contents = st.text(max_size=5) | st.lists(st.sampled_from(PARTS), max_size=5)


def messages_of(role: str, content: Any, **more: Any) -> tuple[Any, Any]:
    ours, theirs = both(f"ChatMessage{role}")
    copy = content if isinstance(content, str) else [dict(part) for part in content]
    return ours(content=content, **more), theirs(content=copy, **more)


@modest
@given(role=st.sampled_from(ROLES), content=contents, text=st.text(max_size=3))
def test_text_is_read_and_replaced_as_in_inspect(role: str, content: Any, text: str) -> None:
    ours, theirs = messages_of(role, content)
    assert ours.text == theirs.text
    assert [part.model_dump() for part in ours.content_list] == [
        part.model_dump() for part in theirs.content_list
    ]
    ours.text = theirs.text = text
    assert dump(ours) == dump(theirs)
    assert ours.text == text


def test_replacing_the_text_leaves_a_list_that_others_hold_alone() -> None:
    content: list[registry.Content] = [registry.ContentText(text="a")]
    message = registry.ChatMessageUser(content=content)
    held_by_others = message.content
    message.text = "b"
    assert held_by_others == [registry.ContentText(text="a")]


@pytest.mark.parametrize("role", ROLES)
def test_messages_have_their_role_and_an_id_of_their_own(role: str) -> None:
    make, _ = both(f"ChatMessage{role}")
    first, second = make(content="x"), make(content="x")
    assert first.role == role.lower()
    assert first.id
    assert first.id != second.id
    assert make(content="x", id="mine").id == "mine"


CALL = {"id": "1", "function": "f", "arguments": {"a": [1]}}
MESSAGES: list[tuple[str, dict[str, Any]]] = [
    *((role, {"content": "x"}) for role in ROLES),
    *((role, {"content": "x", "source": "input", "metadata": {"a": 1}}) for role in ROLES),
    *((role, {"content": "x", "source": "elsewhere"}) for role in ROLES),
    *((role, {"content": 5}) for role in ROLES),
    *((role, {}) for role in ROLES),
    *((role, {"content": [{"type": "unknown"}]}) for role in ROLES),
    ("User", {"content": "x", "tool_call_id": ["1"]}),
    ("User", {"content": "x", "tool_call_id": "1"}),
    ("User", {"content": "x", "role": "system"}),
    ("Assistant", {"content": "x", "tool_calls": [CALL], "model": "m"}),
    ("Assistant", {"content": "x", "tool_calls": [{**CALL, "type": None}]}),
    ("Assistant", {"content": "x", "tool_calls": [{**CALL, "type": "other"}]}),
    ("Assistant", {"content": "x", "tool_calls": [{**CALL, "unknown": 1}]}),
    ("Assistant", {"content": "x", "tool_calls": [{**CALL, "view": {"format": "text"}}]}),
    ("Assistant", {"content": "x", "tool_calls": [{**CALL, "arguments": "{}"}]}),
    ("Assistant", {"content": "x", "tool_calls": CALL}),
    ("Tool", {"content": "x", "tool_call_id": "1", "function": "f"}),
    ("Tool", {"content": "x", "error": {"type": "timeout", "message": "slow"}}),
    ("Tool", {"content": "x", "error": {"type": "unheard of", "message": "slow"}}),
]


@pytest.mark.parametrize(("role", "parts"), MESSAGES)
def test_a_message_takes_and_refuses_what_inspects_does(role: str, parts: dict[str, Any]) -> None:
    ours, theirs = both(f"ChatMessage{role}")
    assert attempt(ours, **parts) == attempt(theirs, **parts)


@pytest.mark.parametrize(
    "prompt",
    [
        "four",
        "",
        [],
        [{"role": "user", "content": "ab"}, {"role": "tool", "content": "c"}],
        [{"role": "user", "content": [PARTS[0], PARTS[3], PARTS[2]]}],
    ],
)
def test_the_length_of_an_input_is_that_of_its_text(prompt: Any) -> None:
    from inspect_ai.dataset._dataset import sample_input_len as their_length

    ours, theirs = both("Sample")
    assert sample_input_len(ours(prompt)) == their_length(theirs(prompt))


# ---------------------------------------------------------------- content

CONTENTS: list[tuple[str, dict[str, Any]]] = [
    ("Text", {"text": "x"}),
    ("Text", {"text": "x", "refusal": True, "internal": {"a": [1]}}),
    ("Text", {"text": "x", "citations": [{"type": "url", "url": "u", "title": "t"}]}),
    ("Text", {"text": "x", "citations": [{"type": "document", "cited_text": [1, 2]}]}),
    ("Text", {"text": "x", "citations": [{"type": "none"}]}),
    ("Text", {"text": None}),
    ("Text", {}),
    ("Image", {"image": "a"}),
    ("Image", {"image": "a", "detail": "high"}),
    ("Image", {"image": "a", "detail": "extreme"}),
    ("Audio", {"audio": "a", "format": "mp3"}),
    ("Audio", {"audio": "a", "format": "ogg"}),
    ("Audio", {"audio": "a"}),
    ("Video", {"video": "a", "format": "mpeg"}),
    ("Video", {"video": "a", "format": "avi"}),
    ("Document", {"document": "a.pdf", "citations": True}),
    ("Document", {"document": None}),
    ("Document", {}),
    ("Document", {"filename": "a.pdf"}),
]


@pytest.mark.parametrize(("kind", "parts"), CONTENTS)
def test_content_takes_and_refuses_what_inspects_does(kind: str, parts: dict[str, Any]) -> None:
    ours, theirs = both(f"Content{kind}")
    assert attempt(ours, **parts) == attempt(theirs, **dict(parts))


DOCUMENTS = [
    "a.pdf",
    "a.PDF",
    "folder/a.txt",
    "/folder/a.tar.gz",
    "folder/",
    "a",
    ".pdf",
    ".",
    "..",
    " a.csv ",
    "https://example.org/a.pdf",
    "https://example.org/a.pdf?version=1#page",
    "https://example.org",
    "s3://bucket/folder/a.docx",
    "file:///a.html",
    "C:\\folder\\a.pdf",
    "data:application/pdf;base64,AA==",
    "data:text/plain,hello",
    "data:text/plain;charset=utf-8;base64,AA==",
    "data:image/svg+xml;base64,AA==",
    "data:application/vnd.ms-excel;base64,AA==",
    "data:;base64,AA==",
    "data:,hello",
    "data:",
    "data:application/pdf",
    "data:text;x/y,z",
    "data:a/b/c,x",
    "DATA:text/plain,x",
    "",
]


@pytest.mark.parametrize("given_parts", [{}, {"filename": "mine.x"}, {"mime_type": "text/mine"}])
@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_knows_its_name_and_type_as_in_inspect(
    document: str, given_parts: dict[str, str]
) -> None:
    parts = {"document": document, **given_parts}
    ours, theirs = both("ContentDocument")
    assert dump(ours(**parts)) == dump(theirs(**parts))


pieces = st.sampled_from(
    [
        "a",
        ".pdf",
        ".txt",
        ".gz",
        "/",
        "//",
        ".",
        "data:",
        "text/html",
        ";",
        ",",
        "base64",
        " ",
        "?",
        ":",
    ]
)


@settings(deadline=None, max_examples=150)
@given(document=st.lists(pieces, min_size=1, max_size=6).map("".join))
def test_a_document_of_any_form_knows_its_name_and_type_as_in_inspect(document: str) -> None:
    ours, theirs = both("ContentDocument")
    assert dump(ours(document=document)) == dump(theirs(document=document))


def test_making_a_document_leaves_the_data_that_it_is_made_of_alone() -> None:
    data = {"document": "a.pdf"}
    registry.ContentDocument.model_validate(data)
    assert data == {"document": "a.pdf"}
