"""The keys of a source for a file: sniffed, or as the user says."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import click
import pytest
from msgspec import structs

from registry.cli.adding.request import SourceOptions
from registry.cli.adding.sources import about_repository, sniff_file, sniff_repository
from registry.errors import DecodeError
from registry.scaffold.columns import Question, refuse
from registry.sources.hub.card import Card
from registry.sources.pins import SourceContext
from tests.servers.hub import HubEmulator, parquet_repo

ROWS = "frage;antwort\nWas heißt früh, bitte?;spät\nWo?;da\n"

CARD_ROWS = [{"question": "?", "answer": "!"}]
REPO = "acme/quiz"


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


def sniff_card(context: SourceContext, **options: Any) -> tuple[dict[str, Any], list[str]]:
    keys, guesses, _ = sniff_repository(SourceOptions(**options), context, refuse)
    return keys, [str(guess) for guess in guesses]


@pytest.mark.parametrize(
    ("configs", "expected", "said"),
    [
        ({"default": ["train"]}, {"split": "train"}, ["split train (the only one)"]),
        (
            {"main": ["test"]},
            {"name": "main", "split": "test"},
            [
                "name main (the only one that the card names, or chosen)",
                "split test (the only one)",
            ],
        ),
        (
            {"default": ["train", "test"]},
            {"split": "test"},
            ["split test (the test split of train, test)"],
        ),
    ],
)
def test_part_is_found_in_the_card(
    context: SourceContext,
    hub: HubEmulator,
    configs: dict[str, list[str]],
    expected: dict[str, str],
    said: list[str],
) -> None:
    splits = {config: dict.fromkeys(names, CARD_ROWS) for config, names in configs.items()}
    hub.commit(REPO, parquet_repo(splits))
    assert sniff_card(context, hf=REPO) == ({"type": "hf", "path": REPO, **expected}, said)


@pytest.mark.parametrize(
    "url", [f"https://huggingface.co/datasets/{REPO}", f"hf://datasets/{REPO}/"]
)
def test_address_of_a_repository_is_its_path(
    context: SourceContext, hub: HubEmulator, url: str
) -> None:
    hub.commit(REPO, parquet_repo({"default": {"test": CARD_ROWS}}))
    assert sniff_card(context, hf=url)[0]["path"] == REPO


def test_several_parts_are_asked(context: SourceContext, hub: HubEmulator) -> None:
    hub.commit(REPO, parquet_repo({"easy": {"test": CARD_ROWS}, "hard": {"test": CARD_ROWS}}))

    def last(question: Question) -> str:
        return list(question.choices)[-1]

    keys, _, _ = sniff_repository(SourceOptions(hf=REPO), context, last)
    assert (keys["name"], keys["split"]) == ("hard", "test")
    with pytest.raises(DecodeError, match="--name easy --split test gives the split test of easy"):
        sniff_card(context, hf=REPO)
    assert sniff_card(context, hf=REPO, name="easy")[0]["split"] == "test"


def test_many_parts_are_a_usage_error(context: SourceContext, hub: HubEmulator) -> None:
    hub.commit(REPO, parquet_repo({f"c{number}": {"test": CARD_ROWS} for number in range(12)}))
    with pytest.raises(click.UsageError, match="several configurations: pass --name and --split"):
        sniff_card(context, hf=REPO)


def test_card_without_splits_needs_the_option(context: SourceContext, hub: HubEmulator) -> None:
    hub.commit(REPO, {"data.csv": b"a\n1\n"})
    with pytest.raises(click.UsageError, match="--hf needs --split"):
        sniff_card(context, hf=REPO)


def test_offline_and_folders_have_no_card(context: SourceContext) -> None:
    offline = structs.replace(context, offline=True)
    assert sniff_card(offline, hf=REPO, split="test")[1] == []
    keys = sniff_card(context, hf="./data", split="test")[0]
    assert about_repository(keys, Card()).homepage is None


def test_card_describes_the_dataset() -> None:
    card = Card(title="Quiz", license="mit", tags=("qa",), languages=("te",))
    about = about_repository({"path": REPO, "name": "easy", "split": "test"}, card)
    assert about.description == "Quiz, the split easy, test."
    assert about.homepage == f"https://huggingface.co/datasets/{REPO}"
    assert (about.license, about.tags, about.languages) == ("mit", ("qa",), ("te",))
