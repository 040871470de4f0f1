"""The table of all samples: what it counts, finds and sorts."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from registry import ChatMessageUser, MemoryDataset, Sample
from registry.plugins.site.sample_table import Question, SampleTable

TEXTS = ("Ein Apfel", "apples, two", "Κόσμος", "ÄPFEL", "a.c (x)", "", "x" * 90)


def samples(count: int = 200) -> list[Sample]:
    """Return samples whose metadata have every type."""
    chosen = random.Random(1)
    return [
        Sample(
            f"{chosen.choice(TEXTS)} {number}",
            choices=["yes", "no", "so"][: chosen.choice([2, 3])],
            target=chosen.choice(["A", "B"]),
            id=number,
            metadata={
                "topic": chosen.choice(["maths", "law", None]),
                "size": chosen.randrange(10_000),
                "share": chosen.choice([0.125, 0.5, math.nan, -2.75, 1e6]),
                "is_hard": chosen.random() < 0.3,
                "tags": chosen.choice([["a"], ["a", "b"]]),
            },
        )
        for number in range(count)
    ]


def table(some: list[Sample] | None = None) -> SampleTable:
    return SampleTable.of(MemoryDataset(samples() if some is None else some))


def groups(of: SampleTable) -> dict[str, dict[str, int]]:
    return {one.title: {each.label: each.count for each in one.groups} for one in of.facets}


def test_columns_are_the_fields_and_keys_that_have_values() -> None:
    names = [column.name for column in table().columns]
    metadata = [f"metadata.{key}" for key in ("topic", "size", "share", "is_hard", "tags")]
    fields = ["id", "input", "choices", "target", "input length", "number of choices"]
    assert names == [*fields, *metadata]


def test_each_sample_is_in_one_group_of_each_facet() -> None:
    some = samples()
    counted = groups(table(some))
    assert all(sum(one.values()) == len(some) for one in counted.values())
    by_topic = [(one.metadata or {})["topic"] for one in some]
    assert counted["metadata.topic"] == {
        "law": by_topic.count("law"),
        "maths": by_topic.count("maths"),
        "(none)": by_topic.count(None),
    }
    assert counted["number of choices"].keys() == {"2", "3"}
    assert counted["metadata.is_hard"].keys() == {"false", "true"}
    assert "0–999" in counted["metadata.size"]
    assert counted["metadata.share"].keys() == {"-2.75", "0.125", "0.5", "1e+06", "(none)"}


def test_many_numbers_are_counted_in_ranges_and_texts_of_their_own_by_length() -> None:
    some = [
        Sample(
            f"q{n}", id=f"i{n}", metadata={"f": n / 97, "own": f"{n}", "gap": n if n % 2 else None}
        )
        for n in range(100)
    ]
    counted = groups(table(some))
    assert list(counted["metadata.gap"].items())[-1] == ("(none)", 50)
    assert sum(counted["metadata.gap"].values()) == 100
    assert counted["metadata.own, length"] == {"1": 10, "2": 90}
    labels = list(counted["metadata.f"])
    assert labels[0] == "≥ 0"
    assert len(labels) <= 12
    assert sum(counted["metadata.f"].values()) == 100


def test_rare_values_are_counted_together() -> None:
    some = [Sample("q", metadata={"k": f"v{min(n, 99)}"}) for n in range(200)]
    counted = groups(table(some))["metadata.k"]
    assert counted["v99"] == 101
    assert len(counted) == 61
    assert counted["40 other values"] == 40


def plain(some: list[Sample], question: Question, of: SampleTable) -> list[int]:
    """Return the numbers of the samples that a question means, computed one by one."""

    def values(number: int) -> list[Any]:
        return of.cells(number, 10_000)

    def is_found(number: int) -> bool:
        texts = [one.casefold() for one in values(number) if isinstance(one, str)]
        has_words = all(any(word.casefold() in text for text in texts) for word in question.words)
        by_facet: dict[int, set[int]] = {}
        for facet, group in question.chosen:
            by_facet.setdefault(facet, set()).add(group)
        in_groups = all(of.facets[one].codes[number] in wanted for one, wanted in by_facet.items())
        return has_words and in_groups

    found = [number for number in range(len(some)) if is_found(number)]
    column = question.sort
    if column is not None:
        with_value = [one for one in found if values(one)[column] is not None]
        with_value.sort(key=lambda one: values(one)[column], reverse=question.descending)
        if question.descending:  # equal ones stay in their order
            with_value.sort(key=lambda one: values(one)[column], reverse=True)
        found = with_value + [one for one in found if values(one)[column] is None]
    elif question.descending:
        found.reverse()
    return [number + 1 for number in found]


@pytest.mark.parametrize(
    "question",
    [
        Question(),
        Question(words=("äpfel",)),
        Question(words=("APPLES", "two")),
        Question(words=("κόσμος",)),
        Question(words=("a.c", "(x")),
        Question(words=("nowhere",)),
        Question(chosen=((0, 0),)),
        Question(chosen=((3, 0), (3, 1), (0, 1)), words=("1",)),
        Question(sort=1),
        Question(sort=1, descending=True),
        Question(sort=6),
        Question(sort=7, descending=True, words=("a",)),
        Question(descending=True),
    ],
)
def test_questions_find_what_a_loop_over_the_samples_does(question: Question) -> None:
    some = samples()
    of = table(some)
    expected = plain(some, question, of)
    answer = of.answer(question)
    assert answer.total == len(expected)
    assert [row[0] for row in answer.rows] == expected[: question.most]
    unfiltered = [number - 1 for number in plain(some, Question(words=question.words), of)]
    chosen = {facet for facet, _ in question.chosen}
    for number, (facet, counts) in enumerate(zip(of.facets, answer.counts, strict=True)):
        if chosen <= {number}:  # those of a facet don't narrow its own counts
            codes = [facet.codes[one] for one in unfiltered]
            assert counts == tuple(codes.count(group) for group in range(len(facet.groups)))


def test_rows_are_given_page_by_page() -> None:
    of = table()
    pages = [of.answer(Question(sort=7, first=first, most=60)).rows for first in (0, 60, 120, 180)]
    assert [len(page) for page in pages] == [60, 60, 60, 20]
    assert {row[0] for page in pages for row in page} == set(range(1, 201))


def test_conversations_and_several_targets_are_texts() -> None:
    chat = Sample([ChatMessageUser(content="Hello"), ChatMessageUser(content="again")])
    of = table([chat, Sample("text", target=["a", "b"])])
    assert [of.cells(place)[0] for place in (0, 1)] == ["user: Hello\n\nuser: again", "text"]
    assert of.answer(Question(words=("again",))).total == 1
    assert of.cells(1)[1] == "a; b"


def test_cells_are_visible_and_cut() -> None:
    of = table([Sample("a\u202eb" + "x" * 3_000)])
    (cell, _) = of.cells(0)
    assert cell.startswith("a\\u{202e}bx")
    assert cell.endswith("… (1,003 more characters of 3,003 not shown)")


def test_table_of_no_samples_and_of_too_many() -> None:
    assert table([]).answer(Question()).total == 0
    some = samples()
    size = next(MemoryDataset(some).batches(metadata="struct")).nbytes
    part = SampleTable.of(MemoryDataset(some), most_size=size // 2)
    assert 90 <= part.rows <= 100
    assert part.head()["total"] == 200
