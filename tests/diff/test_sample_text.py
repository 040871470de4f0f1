"""Fields of samples as bytes that are compared, and as text that is read."""

from __future__ import annotations

from typing import Any

import pytest

from registry.diff.sample_text import field_bytes, field_text
from registry.diff.samples import Samples, compare_samples
from registry.samples.fields import COMPARED
from registry.samples.messages import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText
from registry.samples.sample import Sample


def sample(**fields: Any) -> Sample:
    return Sample(**{"input": "q", **fields})


def test_every_field_but_the_id_is_compared() -> None:
    assert set(COMPARED) == set(Sample.model_fields) - {"id"}


DIFFERENT: dict[str, tuple[str, Any, Any]] = {
    "a str and a list": ("target", "[1]", ["1"]),
    "a number and a bool": ("metadata", {"a": 1}, {"a": True}),
    "nothing and an empty str": ("setup", None, ""),
    "sandbox types": ("sandbox", "docker", ("docker", "a.yaml")),
    "half a surrogate pair": ("input", "\ud800", "?"),
    "roles": ("input", [ChatMessageUser(content="q")], [ChatMessageSystem(content="q")]),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_bytes_differ_if_the_field_does(case: str) -> None:
    field, old, new = DIFFERENT[case]
    before, after = (field_bytes(sample(**{field: value}), field) for value in (old, new))
    assert before != after


def chat(name: str) -> list[ChatMessageUser]:
    return [ChatMessageUser(content="q", id=name)]


EQUAL: dict[str, tuple[str, Any, Any]] = {
    "ids of messages": ("input", chat("x"), chat("y")),
    "the order of keys": ("metadata", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
}


@pytest.mark.parametrize("case", EQUAL)
def test_bytes_are_equal_if_only_this_differs(case: str) -> None:
    field, *values = EQUAL[case]
    old, new = (sample(id=1, **{field: value}) for value in values)
    assert field_bytes(old, field) == field_bytes(new, field)
    assert compare_samples(Samples([old]), Samples([new])).is_same


def test_no_path_is_removed() -> None:
    one = sample(target="/home/runner/work/name/name/20")
    assert field_bytes(one, "target") == b"=/home/runner/work/name/name/20"
    assert field_text(one, "target") == "/home/runner/work/name/name/20"


IMAGE = ChatMessageUser(content=[ContentText(text="look"), ContentImage(image="i.png")])
TEXTS: dict[str, tuple[str, Any, str]] = {
    "none": ("choices", None, ""),
    "a str": ("target", "A", "A"),
    "a list of targets": ("target", ["A", "B"], "A\nB"),
    "targets that look like others": (
        "target",
        ["1", "null", " x", "a\nb"],
        '"1"\n"null"\n" x"\n"a\\nb"',
    ),
    "choices": ("choices", ["x", "y"], "A) x\nB) y"),
    "metadata": ("metadata", {"b": 1, "a": "ü"}, "a: ü\nb: 1"),
    "metadata of lines": (
        "metadata",
        {"a": "x\ny: 2", "y": "2", "z": [1]},
        'a: x\n  y: 2\ny: "2"\nz: [1]',
    ),
    "a sandbox": ("sandbox", ("docker", "a.yaml"), '["docker", "a.yaml"]'),
    "messages": (
        "input",
        [ChatMessageSystem(content="s"), ChatMessageUser(content="q")],
        "system: s\nuser: q",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_field_is_readable(case: str) -> None:
    field, value, text = TEXTS[case]
    assert field_text(sample(**{field: value}), field) == text


def test_message_with_an_image_is_json_without_its_id() -> None:
    text = field_text(sample(input=[IMAGE]), "input")
    assert text.startswith("user: {")
    assert '"image": "i.png"' in text
    assert '"id"' not in text
