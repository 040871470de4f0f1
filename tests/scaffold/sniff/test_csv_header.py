"""Whether the first row names the columns: by known names, numbers and lengths; else it is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from registry.errors import DecodeError
from registry.scaffold.sniff.csv_dialect import CsvReading
from registry.scaffold.sniff.csv_header import name_columns, sniff_header

LONG = "Where is the leaning tower of Pisa, and who built it?"


def reading(*rows: list[str]) -> CsvReading:
    return CsvReading(",", 0, rows)


@pytest.mark.parametrize(
    "rows",
    [
        [["Question", "x"], ["a", "b"]],
        [["frage", "punkte"], ["a", "1"], ["b", "2,5"]],
        [["frage", "antwort"], [LONG, "Italien"]],
        [["a", "b"]],
        [["x", "p"], ["a", "-2.68e+00"], ["b", "NA"], ["c", ""]],
        [["x", "", ""], [LONG, "", ""]],
    ],
    ids=[
        "known",
        "above numbers",
        "above long texts",
        "alone",
        "exponents, missing",
        "blank names",
    ],
)
def test_header_is_recognized(rows: list[list[str]]) -> None:
    guess = sniff_header(reading(*rows), file="q.csv")
    assert (guess.value, guess.is_default) == (None, True)


@pytest.mark.parametrize(
    "rows",
    [
        [[LONG, "18"], [LONG, "20"]],
        [["x", "18"], ["y", "20"]],
        [["7.1e-01", "-2.6e+00"], ["1.0e+00", "3.5e-02"]],
        [[LONG, "Italy"], ["Who?", "me"]],
        [["x", "x"], ["y", "z"]],
    ],
    ids=["a number above numbers", "short", "exponents", "a question", "repeated"],
)
def test_data_is_no_header(rows: list[list[str]]) -> None:
    guess = sniff_header(reading(*rows), file="q.csv")
    assert guess.value == ["column_1", "column_2"]
    assert "--columns names them" in str(guess)


def test_columns_without_a_name_get_one_where_several_lack_it() -> None:
    assert name_columns(reading(["", "q"], ["1", "x"])) == []
    skip, names = name_columns(replace(reading(["q", "", " "], ["x", "", ""]), skip_rows=2))
    assert (skip.key, skip.value) == ("skip_rows", 3)
    assert str(names).startswith("fieldnames ['q', 'column_2', 'column_3'] (sniffed: the header")
    _, names = name_columns(reading(["q", "", "column_2", ""], ["x", "", "", ""]))
    assert names.value == ["q", "column_3", "column_2", "column_5"]


def test_rows_that_look_alike_are_asked() -> None:
    rows = reading(["Paris", "France"], ["Rome", "Italy"])
    assert sniff_header(rows, file="q.csv", ask=lambda _: "--header").value is None
    chosen = sniff_header(rows, file="q.csv", ask=lambda question: list(question.choices)[1])
    assert chosen.value == ["column_1", "column_2"]
    with pytest.raises(DecodeError, match="--header gives columns named 'Paris', 'France'"):
        sniff_header(rows, file="q.csv")
