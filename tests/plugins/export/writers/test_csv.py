"""CSV: every column as text, lists as JSON, and a null that is no empty text."""

from __future__ import annotations

import csv
import io
import json

from registry import Sample, csv_dataset, get_dataset
from registry.plugins.export.writers.csv import write
from tests.plugins.export.conftest import Opener


def rows_of(opened: Opener, name: str) -> tuple[str, list[dict[str, str]]]:
    file = io.BytesIO()
    write(opened(name), file)
    text = file.getvalue().decode()
    return text, list(csv.DictReader(io.StringIO(text)))


def test_lists_are_json_and_text_stays(opened: Opener) -> None:
    text, rows = rows_of(opened, "mixed")
    assert rows[2]["input"] == 'C,\n"c"'
    assert json.loads(rows[1]["targets"]) == ["y", "z"]
    assert json.loads(rows[3]["choices"]) == ["p", "q"]
    assert json.loads(rows[0]["metadata"]) == {"kind": "a", "more": {"n": [1, None]}}
    assert text.splitlines()[0].startswith('"input","messages","choices","target"')
    # A target that is blank, not missing.
    assert ',,"",,"3",' in text


def test_conversations_are_json(opened: Opener) -> None:
    _, rows = rows_of(opened, "chat")
    messages = json.loads(rows[0]["messages"])
    assert [(one["role"], one["content"]) for one in messages] == [("system", "S"), ("user", "U")]


def test_loader_reads_questions_and_targets(opened: Opener) -> None:
    with open("out.csv", "wb") as file:
        write(opened("mcq"), file)

    def sample(record: dict[str, str]) -> Sample:
        return Sample(
            input=record["input"], target=record["target"], choices=json.loads(record["choices"])
        )

    assert list(csv_dataset("out.csv", sample)) == list(get_dataset("mcq"))
