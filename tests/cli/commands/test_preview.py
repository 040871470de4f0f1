"""`preview`: samples for people and for programs, of a dataset or of local records."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import registry
from registry import get_dataset
from tests.cli.invocation import HUB, Run, write


def test_samples_are_printed_for_people(run: Run, own: Path) -> None:
    result = run("preview", "qa", "-n", "2")
    assert result.code == 0
    assert result.out == "── sample 1\nOne?\n\ntarget    1\n\n── sample 2\nTwo?\n\ntarget    2\n\n"


def test_conversations_have_roles_and_choices_have_letters(run: Run, demo: Path) -> None:
    chat = run("preview", "demo-chat", "-n", "1").lines
    assert chat[1] == "system: Answer with a number only."
    assert chat[2].startswith("user: ")
    mcq = run("preview", "demo-mcq", "-n", "1").lines
    assert [line[:5] for line in mcq if line.startswith("  ")] == [
        "  A) ",
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
    if suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(RECORDS), path)
    else:
        path.write_text(
            {
                ".jsonl": "\n".join(map(json.dumps, RECORDS)),
                ".json": json.dumps(RECORDS),
                ".csv": 'q,a\nFour?,4\n"Five, or six?",5\n',
                ".tsv": "q\ta\nFour?\t4\nFive, or six?\t5\n",
            }[suffix],
            encoding="utf-8",
        )
    return str(path)


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("name", ["qa", "hub"])
def test_local_records_are_mapped_without_a_request(
    run: Run, own: Path, cache_dir: Path, suffix: str, name: str
) -> None:
    fields = "fields: {input: q, target: a}, expect: {samples: 1000}"
    write(own, "hub", HUB.replace("}}", f"}}, {fields}}}"))
    result = run("preview", name, "--from", records_file(own, suffix), "--json", "--offline")
    assert result.code == 0, result.err
    assert [json.loads(line) for line in result.lines] == [
        {"input": "Four?", "target": "4"},
        {"input": "Five, or six?", "target": "5"},
    ]
    assert not (cache_dir / "v2" / "samples").exists()


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
        (["--from", "none.csv"], 2, "File 'none.csv' does not exist"),
        (["--from", "m"], 2, "'m' is a directory"),
        (
            ["--from", "datasets.yaml"],
            1,
            "can't infer the type of datasets.yaml (known suffixes: .csv",
        ),
        (["-n", "-1"], 2, "-1 is not in the range x>=0"),
        (["-n", "many"], 2, "'many' is not a valid integer"),
    ],
)
def test_invalid_arguments_are_refused(
    run: Run, own: Path, arguments: list[str], code: int, words: str
) -> None:
    result = run("preview", "qa", *arguments)
    assert result.code == code
    assert words in result.err
    assert result.out == ""
