"""JSON lines: one sample each, which our own and Inspect's loader read without a field spec."""

from __future__ import annotations

import io
import json

from registry import get_dataset, json_dataset
from registry.plugins.export.writers.jsonl import json_line, write
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
