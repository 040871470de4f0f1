"""Delimiter, quotes and notes above the header; equal readings are asked."""

from __future__ import annotations

import csv
import io
import string
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import DecodeError
from registry.scaffold.columns import KNOWN, Question
from registry.scaffold.csv_dialect import (
    CsvReading,
    check_unquoted,
    name_columns,
    shown_cells,
    sniff_csv,
    sniff_header,
)

CASES = {  # text, delimiter, rows to skip, first row
    "commas": ('question,answer\n"What is 2, and 3?",x\nplain,y\n', ",", 0, "question"),
    "semicolons with commas in cells": (
        "frage;antwort\n1,5 mal 2?;3\nwas, wo?;4\n",
        ";",
        0,
        "frage",
    ),
    "decimal commas": ("a;b;c\n1,5;2,5;x\n3,5;4,5;y\n", ";", 0, "a"),
    "tabs": ("a\tb\nx, y\t1\nz\t2\n", "\t", 0, "a"),
    "bars": ("q|a\nwhat is, x|1\nb|2\n", "|", 0, "q"),
    "another delimiter": ("q^a\nwhat is|1\nwhy^2\n".replace("|", "^"), "^", 0, "q"),
    "line breaks in cells": (
        'question,answer\n"one\ntwo, three",x\n"four",y\n',
        ",",
        0,
        "question",
    ),
    "doubled quotes": ('question,answer\n"Was ""ist"", das?",x\na,b\n', ",", 0, "question"),
    "apostrophes": ("question,answer\nWhat's a dog's name,Rex\nIt's it,T\n", ",", 0, "question"),
    "notes": ("# Export\n# 2024-01-02\n\nq;a;s\nWhat;1;m\nWhere;2;n\n", ";", 3, "q"),
    "notes of a sheet": ("Export,,,\nCreated,1,,\n,,,\nq,a,s,l\nW,1,m,1\nX,2,n,3\n", ",", 3, "q"),
    "a sentence above": ("Made on Monday, 3 May\nquestion,answer\nWhat,1\n", ",", 1, "question"),
    "no name above an index": (",question\n0,What\n1,Where\n", ",", 0, ""),
    "an unknown name beside an index": (",kysymys\n0,What\n1,Where\n", ",", 0, ""),
    "a delimiter at the end": ("question,answer,\nWhat,1,\nWhere,2,\n", ",", 0, "question"),
    "only a header": ("question,answer\n", ",", 0, "question"),
    "blank lines": ("q,a\n\nWhat,1\n\n\nWhere,2\n", ",", 0, "q"),
}
LONG = "Where is the leaning tower of Pisa, and who built it?"


@pytest.mark.parametrize(("text", "delimiter", "skip", "first"), CASES.values(), ids=CASES)
def test_dialect_is_recognized(text: str, delimiter: str, skip: int, first: str) -> None:
    reading, guesses = sniff_csv(text, file="q.csv")
    assert reading is not None
    assert (reading.delimiter, reading.skip_rows, reading.rows[0][0]) == (delimiter, skip, first)
    said = {guess.key: guess.value for guess in guesses}
    assert said == {"delimiter": delimiter} | ({"skip_rows": skip} if skip else {})


@pytest.mark.parametrize(("text", "usual"), [("how are you", ","), ("Fine, thanks", "\t")])
def test_file_of_one_column_is_read_as_it_is(text: str, usual: str) -> None:
    reading, (guess,) = sniff_csv(f"{text}\nfine\n", file="q", usual=usual)
    assert reading is not None
    assert list(reading.rows) == [[text], ["fine"]]
    assert (guess.value, guess.is_default) == (usual, usual == ",")


def test_equal_readings_are_asked() -> None:
    text = "name, first;age\nDoe, John;12\nRoe, Ann;13\n"
    asked = []

    def semicolon(question: Question) -> str:
        asked.append(question)
        return "--delimiter ';'"

    reading, _ = sniff_csv(text, file="q.csv", ask=semicolon)
    assert reading is not None
    assert reading.rows[0] == ["name, first", "age"]
    assert list(asked[0].choices.values()) == [
        "2 columns: 'name', ' first;age'",
        "2 columns: 'name, first', 'age'",
    ]
    with pytest.raises(DecodeError, match="the delimiter is not clear, so say it: --delimiter ','"):
        sniff_csv(text, file="q.csv")


def test_name_of_the_file_decides_between_equal_readings() -> None:
    text = "name, first\tage\nDoe, John\t12\n"
    reading, _ = sniff_csv(text, file="q.tsv", usual="\t")
    assert reading is not None
    assert reading.delimiter == "\t"


def test_options_are_taken_as_they_are() -> None:
    text = "note, one\nname, first;age\nDoe, John;12\n"
    reading, guesses = sniff_csv(text, file="q.csv", delimiter=";", skip_rows=1)
    assert reading is not None
    assert (reading.rows[0], guesses) == (["name, first", "age"], [])


@pytest.mark.parametrize("letter", ["1", "a.", "中"])
def test_long_words_are_read(letter: str) -> None:
    word = letter * 30_000
    found, _ = sniff_csv(f"question;answer\nx;{word}\ny;z\n", file="x.csv")
    assert found is not None
    assert list(found.rows) == [["question", "answer"], ["x", word], ["y", "z"]]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("los^kind^n\n8^a|2^9\n1^b|2^9\n", "^"),
        ("question\nHow is it: bad?\nGood\n", ","),
        ("Note: it is old\nA: b\nc\n", ","),
    ],
    ids=["a bar in all cells below the header", "a colon in a sentence", "in some rows"],
)
def test_rare_delimiter_needs_every_row(text: str, delimiter: str) -> None:
    _, (guess, *_) = sniff_csv(text, file="q.csv")
    assert guess.value == delimiter


def test_cut_row_at_the_end_does_not_count() -> None:
    reading, _ = sniff_csv('q,a\nx,1\n"y, and', file="q.csv", is_all=False)
    assert reading is not None
    assert reading.rows == [["q", "a"], ["x", "1"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q,a\n'it, x',1\n'b, c',2\n", "quoted with '"),
        ("q,a\n'it',1\n'b',2\n", "quoted with '"),
        ("q;a\n'it, ''x''; y';1\n'b; c';2\n", "quoted with '"),
        ('q,a\n"he said \\"hi, x\\"",1\n"b, c",2\n', 'escaped as \\"'),
        ('q\ta\tb\n"Hi" she said\tx\ty\n"Hi\tit\'s\tz\n', "its cells are not quoted"),
        ("", "the file is empty"),
        (" \n\n", "the file is empty"),
    ],
)
def test_what_no_source_can_describe_is_an_error(text: str, words: str) -> None:
    with pytest.raises(DecodeError) as caught:
        sniff_csv(text, file="q.csv")
    assert words in str(caught.value)


def test_quotes_that_join_rows_are_an_error() -> None:
    found = CsvReading("\t", 1, [["q", "a"]])
    check_unquoted('note\nq\ta\n"Who\never"\tx\n\n', found, file="q.tsv")
    with pytest.raises(DecodeError, match="as a quote: 1 row would be lost"):
        check_unquoted('note\nq\ta\nWho\t"y\nWhy\tz"\n\n', found, file="q.tsv")
    check_unquoted(f'note\nq\ta\n{"x" * (1 << 18)}\t"y"\n', found, file="q.tsv")


def test_shown_cells_are_short() -> None:
    assert shown_cells(["x" * 40, "b", "c", "d", "e"]) == f"'{'x' * 30}…', 'b', 'c', 'd', …"


words = st.lists(st.text(string.ascii_letters, min_size=1, max_size=8), min_size=1, max_size=6)
# A row of two known names is the header, and what is above it notes.
cells = words.map(" ".join).filter(lambda text: text.casefold() not in KNOWN)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(2, 4).flatmap(
        lambda width: st.lists(
            st.lists(cells, min_size=width, max_size=width), min_size=2, max_size=8
        )
    ),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
)
def test_written_files_are_read_back(rows: list[list[str]], delimiter: str) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    reading, _ = sniff_csv(text.getvalue(), file="q.csv")
    assert reading is not None
    assert (reading.delimiter, reading.skip_rows, list(reading.rows)) == (delimiter, 0, rows)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        *(("a,b\n1,2\n3\n4,5\n", ","), ("a,b\n1,2,3\n4,5,6\n", ","), ("a;b\n1;2\n3\n4;5\n", ";")),
        *(("question\nHello, how are you?\nfine\n", ","), ("a|b\nc\nd\n", "|")),
    ],
    ids=["a short row", "a short header", "semicolons", "one column", "only in the header"],
)
def test_likeliest_delimiter_is_taken_where_rows_differ(text: str, delimiter: str) -> None:
    # There is no reading: the reader of the whole file then names the row, and nothing is skipped.
    # As one column it would accept every file.
    reading, (guess,) = sniff_csv(text, file="q.csv")
    assert (reading, guess.value) == (None, delimiter)


def reading(*rows: list[str]) -> CsvReading:
    return CsvReading(",", 0, rows)


HEADERS = {
    "known": [["Question", "x"], ["a", "b"]],
    "above numbers": [["frage", "punkte"], ["a", "1"], ["b", "2,5"]],
    "above long texts": [["frage", "antwort"], [LONG, "Italien"]],
    "alone": [["a", "b"]],
    "exponents, missing": [["x", "p"], ["a", "-2.68e+00"], ["b", "NA"], ["c", ""]],
    "blank names": [["x", "", ""], [LONG, "", ""]],
}


@pytest.mark.parametrize("rows", HEADERS.values(), ids=HEADERS)
def test_header_is_recognized(rows: list[list[str]]) -> None:
    guess = sniff_header(reading(*rows), file="q.csv")
    assert (guess.value, guess.is_default) == (None, True)


FIRST_RECORDS = {
    "a number above numbers": [[LONG, "18"], [LONG, "20"]],
    "short": [["x", "18"], ["y", "20"]],
    "exponents": [["7.1e-01", "-2.6e+00"], ["1.0e+00", "3.5e-02"]],
    "a question": [[LONG, "Italy"], ["Who?", "me"]],
    "repeated": [["x", "x"], ["y", "z"]],
    "the letter of a choice": [["北岳", "B"], [LONG, "A"], ["x", "B"]],
    "a question in Japanese": [["日本で二番目に高い山は？", "北岳"], [LONG, "x"]],
}


@pytest.mark.parametrize("rows", FIRST_RECORDS.values(), ids=FIRST_RECORDS)
def test_data_is_no_header(rows: list[list[str]]) -> None:
    guess = sniff_header(reading(*rows), file="q.csv")
    assert guess.value == ["column_1", "column_2"]
    assert "--columns names them" in str(guess)


EXAM = ["question", "A", "B", "C", "answer"]
EXAMS = {  # first row, then others with the same texts before its end; names
    "letters": ([LONG, "x", "y", "z", "B"], ["C", "A"], EXAM),
    "no C in a few": ([LONG, "x", "y", "z", "B"], ["A", "A"], EXAM),
    "indexes": (["s", LONG, "x", "y", "z", "1"], ["0", "2"], ["column_1", *EXAM]),
    "numbers": ([LONG, "x", "y", "z", "1"], ["2", "3"], EXAM),
    "texts": ([LONG, "x", "y", "z", "y"], ["x", "z"], EXAM),
    "a text at one place": (
        [LONG, "x", "y", "z", "y"],
        ["y"],
        [f"column_{n}" for n in range(1, 6)],
    ),
    "texts of three": (
        [LONG, "x", "note", "y", "note", "z", "1"],
        ["0", "2"],
        [f"column_{n}" for n in range(1, 8)],
    ),
    "a label": ([LONG, "x", "y", "z", "1"], ["0", "0"], [f"column_{n}" for n in range(1, 6)]),
    "scores": ([LONG, "x", "1", "2", "1"], ["2", "0"], [f"column_{n}" for n in range(1, 6)]),
}


@pytest.mark.parametrize(("first", "ends", "names"), EXAMS.values(), ids=EXAMS)
def test_columns_of_an_exam_are_named(first: list[str], ends: list[str], names: list[str]) -> None:
    rows = [first, *([*first[:-1], end] for end in ends)]
    assert sniff_header(reading(*rows), file="q.csv").value == names


def test_columns_get_a_name_where_several_lack_it_or_have_the_same() -> None:
    assert name_columns(reading(["", "q"], ["1", "x"])) == []
    skip, names = name_columns(replace(reading(["q", "", " "], ["x", "", ""]), skip_rows=2))
    assert (skip.key, skip.value) == ("skip_rows", 3)
    assert str(names).startswith("fieldnames ['q', 'column_2', 'column_3'] (sniffed: the header")
    _, names = name_columns(reading(["q", "", "column_2", ""], ["x", "", "", ""]))
    assert names.value == ["q", "column_3", "column_2", "column_5"]
    _, names = name_columns(reading(["q", "x", "", "x", "x_2"], ["1", "2", "3", "4", "5"]))
    assert names.value == ["q", "x", "column_3", "x_3", "x_2"]
    assert names.reason == "sniffed: the header repeats x"


def test_rows_that_look_alike_are_asked() -> None:
    rows = reading(["Paris", "France"], ["Rome", "Italy"])
    assert sniff_header(rows, file="q.csv", ask=lambda _: "--header").value is None
    chosen = sniff_header(rows, file="q.csv", ask=lambda question: list(question.choices)[1])
    assert chosen.value == ["column_1", "column_2"]
    with pytest.raises(DecodeError, match="--header gives columns named 'Paris', 'France'"):
        sniff_header(rows, file="q.csv")
