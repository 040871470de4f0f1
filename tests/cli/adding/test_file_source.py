"""The keys of a source for a file: sniffed, or as the user says."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from registry.cli.adding.file_source import sniff_file
from registry.cli.adding.options import SourceOptions
from registry.errors import DecodeError, SourceError
from registry.scaffold.sniff.guess import refuse
from registry.sources.pins import SourceContext

ROWS = "frage;antwort\nWas heißt früh, bitte?;spät\nWo?;da\n"


def sniff(context: SourceContext, **options: Any) -> tuple[dict[str, Any], list[str]]:
    keys, guesses = sniff_file(SourceOptions(**options), Path.cwd(), context, refuse)
    return {key: value for key, value in keys.items() if key not in ("type", "path")}, [
        guess.key for guess in guesses
    ]


@pytest.mark.parametrize(
    ("name", "data", "options", "expected"),
    [
        ("q.csv", "question,answer\na,b\n", {}, {}),
        ("q.csv", ROWS.encode("cp1252"), {}, {"encoding": "cp1252", "delimiter": ";"}),
        ("q.csv", ROWS.encode("utf-16"), {}, {"encoding": "utf-16", "delimiter": ";"}),
        ("q.csv", ROWS.encode("utf-8-sig"), {}, {"delimiter": ";"}),
        ("q.csv", ROWS.replace("\n", "\r\n"), {}, {"delimiter": ";"}),
        ("q.csv.gz", gzip.compress(ROWS.encode(), mtime=0), {}, {"delimiter": ";"}),
        ("q.tsv", "question\tanswer\na\tb\n", {}, {"delimiter": "\t"}),
        ("q.tsv", "question, x\tanswer\na, y\tb\n", {}, {"delimiter": "\t"}),
        ("q.csv", "x\ny;z\na;b\n", {"skip_rows": 1}, {"delimiter": ";", "skip_rows": 1}),
        ("q.csv", "a\tb\nc\td\n", {"delimiter": "tab", "header": True}, {"delimiter": "\t"}),
        ("q.csv", "a,b\nc,d\n", {"columns": "x, y"}, {"fieldnames": ["x", "y"]}),
        ("q.csv", "a,b\nc,d\n", {"header": False}, {"fieldnames": ["column_1", "column_2"]}),
        ("q.csv", "Who is it?\nWhy, then?\n", {"delimiter": ";"}, {"delimiter": ";"}),
        ("q.csv", "Who is it?\nWhy is it?\n", {}, {"fieldnames": ["column_1"]}),
        ("q.csv", "Who is it?,1\nWhy?,2\n", {}, {"fieldnames": ["column_1", "column_2"]}),
        (
            "q.csv",
            "frage;antwort;;\nWas heißt das, bitte?;x;;\nWo?;da;;\n",
            {},
            {
                "delimiter": ";",
                "skip_rows": 1,
                "fieldnames": ["frage", "antwort", "column_3", "column_4"],
            },
        ),
        ("q.json", '{"rows": [{"a": 1}], "v": 1}', {}, {"records": "rows"}),
        ("q.json", '{"a": [{"b": 1}], "c": [{"d": 1}]}', {"records": "c"}, {"records": "c"}),
        ("q.json", '[{"question": "?"}]', {}, {}),
        ("q.json", '[{"question": "?"},\n{"question": "!"}]\n', {}, {}),
        ("q.json", '{"a": 1}\n{"a": 2}\n', {}, {"lines": True}),
        ("q.txt", '{"a": 1}\n\n{"a": 2}', {"type": "json"}, {"lines": True}),
        ("q.json", '{"question": "?"}\n\n', {}, {}),
        ("q.jsonl", '{"question": "?"}\n', {}, {}),
        ("q.jsonl", '{"question": "größte früh"}\n'.encode("cp1252"), {}, {"encoding": "cp1252"}),
    ],
)
def test_keys_of_the_source(
    context: SourceContext, name: str, data: str | bytes, options: dict[str, Any], expected: Any
) -> None:
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    keys, said = sniff(context, file=name, **options)
    assert keys == expected
    # Every key that the user did not say is reported.
    assert set(said) | {key for key in expected if key in options or key == "fieldnames"} >= set(
        keys
    )


def test_first_file_of_a_glob_is_looked_at(context: SourceContext) -> None:
    for name in ("a.csv", "b.csv"):
        Path(name).write_text(ROWS, encoding="utf-8")
    assert sniff(context, file="*.csv")[0] == {"delimiter": ";"}


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("q.csv", "", "q.csv: the file is empty"),
        ("q.json", " \n", "q.json: the file is empty"),
        ("q.csv", "<!DOCTYPE html><html></html>", "this is an HTML page, not data"),
        ("q.csv", b"PK\x03\x04" + bytes(20), "a zip archive or an office document"),
    ],
)
def test_file_without_records_is_an_error(
    context: SourceContext, name: str, data: str | bytes, words: str
) -> None:
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(DecodeError) as caught:
        sniff(context, file=name)
    assert words in str(caught.value)


def test_missing_file_and_unknown_encoding_are_errors(context: SourceContext) -> None:
    with pytest.raises(SourceError, match=r"nothing\.csv"):
        sniff(context, file="nothing.csv")
    Path("q.csv").write_text(ROWS, encoding="utf-8")
    with pytest.raises(DecodeError, match="unknown text encoding 'klingon'"):
        sniff(context, file="q.csv", encoding="klingon")
