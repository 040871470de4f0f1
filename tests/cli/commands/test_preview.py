"""`preview`: samples for people and for programs, of a dataset or of local records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import registry
from registry import get_dataset
from tests.cli.invocation import HUB, Invocation, Run, write
from tests.records import csv_bytes, jsonl, parquet_bytes


def test_samples_are_printed_for_people(run: Run, own: Path) -> None:
    result = run("preview", "qa", "-n", "2")
    assert result.code == 0
    assert result.out == "── sample 1\nOne?\n\ntarget    1\n\n── sample 2\nTwo?\n\ntarget    2\n\n"


def test_conversations_have_roles_and_choices_have_letters(run: Run, demo: Path) -> None:
    chat = run("preview", "demo-chat", "-n", "1").lines
    assert chat[1] == "system: Answer with a number only."
    assert chat[2].startswith("user: ")
    mcq = run("preview", "demo-mcq", "-n", "1").lines
    assert [line[:5] for line in mcq if line[2:4].endswith(")")] == [
        "✓ A) ",
        "  B) ",
        "  C) ",
        "  D) ",
    ]


@pytest.mark.parametrize(("count", "shown"), [("0", 0), ("2", 2), ("99", 3)])
def test_json_has_one_sample_per_line(run: Run, own: Path, count: str, shown: int) -> None:
    result = run("preview", "qa", "-n", count, "--json")
    samples = [registry.Sample(**json.loads(line)) for line in result.lines]
    assert samples == list(get_dataset("qa"))[:shown]


RECORDS = [{"q": "Four?", "a": "4"}, {"q": "Five, or six?", "a": "5"}]


def records_file(folder: Path, suffix: str) -> str:
    path = folder / f"other{suffix}"
    contents = {
        ".jsonl": jsonl(RECORDS),
        ".json": json.dumps(RECORDS).encode(),
        ".csv": csv_bytes(RECORDS),
        ".tsv": csv_bytes(RECORDS, "\t"),
        ".parquet": parquet_bytes(RECORDS),
    }
    path.write_bytes(contents[suffix])
    return str(path)


@pytest.mark.parametrize(
    ("suffix", "name"),
    [
        (".jsonl", "qa"),
        (".json", "hub"),
        (".csv", "qa"),
        (".csv", "hub"),
        (".tsv", "hub"),
        (".parquet", "qa"),
    ],
)
def test_local_records_are_mapped_without_a_request(
    run: Run, own: Path, cache_dir: Path, suffix: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = "fields: {input: q, target: a}, expect: {samples: 1000}"
    write(own, "hub", HUB.replace("}}", f"}}, {fields}}}"))
    given = ("--from", records_file(own, suffix), "--json", "--offline")
    monkeypatch.setenv("REGISTRY_LOCKED", "1")  # it has no pin, and is not to have one
    result = run("preview", name, *given)
    assert result.code == 0, result.err
    assert [json.loads(line) for line in result.lines] == [
        {"input": "Four?", "target": "4"},
        {"input": "Five, or six?", "target": "5"},
    ]
    assert not (cache_dir / "v3" / "samples").exists()


def test_local_record_that_can_t_be_mapped_is_named(run: Run, own: Path) -> None:
    (own / "other.jsonl").write_text('{"q": "a", "a": "1"}\n{"p": "b"}\n', encoding="utf-8")
    result = run("preview", "qa", "--from", "other.jsonl")
    assert result.code == 1
    assert result.err == (
        "error: qa: record 2, field input: no column 'q' (columns: p), at m/qa.yaml:6:14\n"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ("--from none.csv", 2, "File 'none.csv' does not exist"),
        ("--from m", 2, "'m' is a directory"),
        ("--from datasets.yaml", 1, "can't infer the type of datasets.yaml (known suffixes: .csv"),
        ("-n -1", 2, "-1 is not in the range x>=0"),
        ("--offset 1 --random", 2, "--random and --offset exclude each other"),
        ("--id a --random", 2, "--id and --random exclude each other"),
        ("--seed 1", 2, "--seed is for --random"),
        ("--from qa.csv --id a", 2, "--id is not for --from"),
        ("--from qa.csv --fewshot 1", 2, "--fewshot is not for --from"),
        ("--from qa.csv --locked", 2, "--locked is not for --from"),
        ("--report --json", 2, "--report is not for --from and --json"),
    ],
)
def test_invalid_arguments_are_refused(
    run: Run, own: Path, arguments: str, code: int, words: str
) -> None:
    result = run("preview", "qa", *arguments.split())
    assert (result.code, result.out) == (code, "")
    assert words in result.err


def test_first_records_are_those_of_a_dataset_without_its_corrections(run: Run, own: Path) -> None:
    (own / "errata.yaml").write_text("[]", encoding="utf-8")
    fields = "source: {type: csv, path: qa.csv}\n    fields: {input: q, target: a}\n    corrections: errata.yaml"
    group = "groups:\n  by-answer: {from: fixed, by: a}\n"
    metadata = fields.replace("target: a", "target: a, metadata: [a]")
    write(own, "fixed", f"datasets:\n  fixed:\n    description: Q.\n    {metadata}\n{group}")
    warned = run("preview", "fixed", "--from", "qa.csv", "--json")
    assert (warned.code, len(warned.lines)) == (0, 3)
    assert "warning: fixed: --from shows samples without `corrections`" in warned.err
    meant = run("preview", "fixed", "--from", "qa.csv", "--json", "--no-corrections")
    assert (meant.out, "without `corrections`" in meant.err) == (warned.out, False)
    member = run("preview", "by-answer/1", "--from", "qa.csv")
    assert (member.code, member.out) == (2, "")
    assert "--from is not for a member of a group (name its dataset fixed)" in member.err


def inputs(result: Invocation) -> list[str]:
    return [json.loads(line)["input"] for line in result.lines]


def test_samples_are_chosen_by_offset_and_by_id(run: Run, demo: Path) -> None:
    samples = list(get_dataset("demo-mcq"))
    shown = run("preview", "demo-mcq", "--offset", "48", "--json")
    assert inputs(shown) == [one.input for one in samples[48:]]
    assert run("preview", "demo-mcq", "--offset", "48").lines[0] == "── sample 49 · id demo-049"
    ids = ("--id", "demo-007", "--id", "demo-003")
    assert inputs(run("preview", "demo-mcq", *ids, "--json")) == [
        samples[6].input,
        samples[2].input,
    ]


def test_unknown_id_names_similar_ones(run: Run, demo: Path) -> None:
    result = run("preview", "demo-mcq", "--id", "demo-0007")
    assert result.code == 1
    assert "no sample of demo-mcq has the id 'demo-0007'; similar ids: demo-007" in result.err


def test_example_of_the_help_with_an_id_can_be_run(run: Run, demo: Path) -> None:
    (example,) = [
        line for line in run("preview", "--help").lines if "--id" in line and "demo" in line
    ]
    result = run(*example.split("registry ", 1)[1].split())
    assert (result.code, result.lines[0]) == (0, "── sample 12 · id demo-012")


def test_random_samples_can_be_shown_again(run: Run, demo: Path) -> None:
    first = run("preview", "demo-mcq", "--random", "-n", "5", "--json")
    (note,) = [line for line in first.err.splitlines() if line.startswith("--seed")]
    seed = note.split()[1]
    again = run("preview", "demo-mcq", "--random", "-n", "5", "--json", "--seed", seed)
    assert again.out == first.out
    assert len(set(inputs(first))) == 5
    assert len(run("preview", "demo-mcq", "--random", "-n", "99", "--json").lines) == 50


FILTERED = """\
datasets:
  odd:
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a}
    where: {value: a, not_equals: "2"}
    shuffle: true
    seed: 3
"""


def test_raw_shows_the_record_of_each_sample_also_of_a_view(run: Run, own: Path) -> None:
    write(own, "odd", FILTERED)
    rows = [json.loads(line) for line in run("preview", "odd", "--raw", "--json").lines]
    numbers = {"One?": 1, "Three?": 3}
    assert sorted(row["record_number"] for row in rows) == [1, 3]
    for row in rows:
        assert row["record"] == {"q": row["sample"]["input"], "a": row["sample"]["target"]}
        assert row["record_number"] == numbers[row["record"]["q"]]
    text = run("preview", "odd", "--raw", "-n", "1").lines
    assert any(line.startswith("── record ") for line in text)


def test_raw_shows_the_records_of_a_local_file(run: Run, own: Path) -> None:
    file = records_file(own, ".jsonl")
    arguments = ("--from", file, "--offset", "1", "--raw", "--json")
    (line,) = run("preview", "qa", *arguments).lines
    assert json.loads(line)["record"] == RECORDS[1]


@pytest.mark.parametrize("option", ["--raw", "--from=qa.csv"])
def test_offset_beyond_the_end_is_reported(run: Run, own: Path, option: str) -> None:
    result = run("preview", "qa", "--offset", "99", option)
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines()[-1] == "no sample from --offset 99 on: there are 3"
