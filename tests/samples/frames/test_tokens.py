"""Tokens are estimated as well as the module says, for real texts of several kinds."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest

from registry.samples.frames.tokens import estimate_tokens

DATA = Path(__file__).parents[4] / "shared" / "data"


def column(texts: list[str]) -> pa.Array:
    return pa.array(texts, pa.large_string())


def read(name: str, key: str) -> list[str]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if path.suffix == ".tsv":
        return [row[int(key)] for row in csv.reader(data.decode().splitlines(), delimiter="\t")]
    return [json.loads(line)[key] for line in data.decode().splitlines()]


# The tokens of o200k_base, counted by bpe-openai 0.1.4.
@pytest.mark.parametrize(
    ("name", "key", "tokens"),
    [
        ("gsm8k-test.jsonl", "question", 77109),
        ("gsm8k-test.jsonl", "answer", 135047),
        ("HumanEval.jsonl.gz", "prompt", 21538),
        ("real/mgsm-zh.tsv", "0", 17243),
        ("real/mgsm-te.tsv", "0", 25952),
    ],
)
def test_sum_of_a_dataset_is_within_14_percent(name: str, key: str, tokens: int) -> None:
    assert estimate_tokens(column(read(name, key))) == pytest.approx(tokens, rel=0.14)


def test_sentences_of_several_scripts() -> None:
    english = "The quick brown fox jumped over the lazy dog near the riverbank."  # 14 tokens
    chinese = "你好，世界。今天天气很好，我们去公园吧。"  # 14
    russian = "Привет мир, сегодня хорошая погода и мы идём гулять в парк."  # 18
    assert 10 <= estimate_tokens(column([english])) <= 18
    assert 10 <= estimate_tokens(column([chinese])) <= 18
    assert 13 <= estimate_tokens(column([russian])) <= 23


def test_only_the_rows_of_a_slice_count() -> None:
    whole = column(["one two", "three", "four five six", ""])
    assert estimate_tokens(whole.slice(1, 1)) == estimate_tokens(column(["three"]))
    parts = sum(estimate_tokens(whole.slice(row, 1)) for row in range(4))
    assert parts == pytest.approx(estimate_tokens(whole))
    assert estimate_tokens(column([])) == 0


def test_long_columns_are_counted_in_parts() -> None:
    assert estimate_tokens(column(["a1 é" * 50_000])) == pytest.approx(
        50_000 * estimate_tokens(column(["a1 é"]))
    )
