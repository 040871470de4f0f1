"""Variables are read where options name them, and their values are in no message."""

from __future__ import annotations

from typing import Any

import pytest

from registry.base.locations import Location
from registry.boundary.secrets import leaves, read_secrets, redact, variable_of
from registry.errors import AccessError

URL = "https://host/a.csv"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"a": 1}, {"a": 1}),
        ({"a": {"env": "QA"}}, {"a": "secret"}),
        ({"a": {"b": {"env": "QA"}}}, {"a": {"b": "secret"}}),
        ({"a": [{"env": "QA"}, {"b": [{"env": "QA"}]}]}, {"a": ["secret", {"b": ["secret"]}]}),
        ({"a": {"env": "QA", "b": 1}}, {"a": {"env": "QA", "b": 1}}),
    ],
)
def test_secrets_are_read_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    monkeypatch.setenv("QA", "secret")
    assert read_secrets(options, location=Location(URL)) == expected
    monkeypatch.delenv("QA")
    if options != expected:
        with pytest.raises(AccessError, match=r"a\.csv: the environment variable QA is not set"):
            read_secrets(options, location=Location(URL))


def test_an_unset_variable_is_an_error_at_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QA", raising=False)
    message = r"a\.csv\?…: the environment variable QA is not set \(fs_options\.a\[1\]\.b\)"
    with pytest.raises(AccessError, match=message):
        read_secrets({"a": [1, {"b": {"env": "QA"}}]}, location=Location(f"{URL}?sig=hush"))


def test_values_that_were_read_are_redacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QA", "hunter2-and-more")
    assert redact("sent hunter2-and-more") == "sent hunter2-and-more"
    read_secrets({"a": {"env": "QA"}}, location=Location(URL))
    assert redact("sent hunter2-and-more to x") == "sent … to x"
    monkeypatch.setenv("QA", "hunter2-")  # a part of the other value
    read_secrets({"a": {"env": "QA"}}, location=Location(URL))
    assert redact("sent hunter2-and-more to x") == "sent … to x"
    monkeypatch.setenv("QA", "a")
    read_secrets({"a": {"env": "QA"}}, location=Location(URL))
    assert redact("a word") == "a word"


def test_leaves_are_scalars_and_references() -> None:
    options = {"a": {"env": "X"}, "b": [1, {"c": None}], "d": {"env": "X", "e": 2}}
    assert list(leaves(options)) == [
        (("a",), {"env": "X"}),
        (("b", 0), 1),
        (("b", 1, "c"), None),
        (("d", "env"), "X"),
        (("d", "e"), 2),
    ]
    assert [variable_of(one) for one in ({"env": "X"}, {"env": 1}, "X")] == ["X", None, None]


def test_queries_of_urls_are_redacted() -> None:
    text = "404 for url 'https://cdn.example/x?X-Amz-Signature=abc', see https://docs.example/404"
    expected = "404 for url 'https://cdn.example/x?…', see https://docs.example/404"
    assert redact(text) == expected
