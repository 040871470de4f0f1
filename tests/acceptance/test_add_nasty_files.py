"""Files as people have them: `add` gives the right samples at once, or asks what it can't know.

Each is a form that a newcomer met, or that of a public file; the texts are our own:

- lang x split: files as in github.com/google-deepmind/xquad (`xquad.de.json`), in folders by language.
- two files by id: github.com/ShishirPatil/gorilla, BFCL_v4_parallel.json and the file of that name in
  possible_answer/, whose questions are lists of turns.
- instructions: files as in github.com/tatsu-lab/stanford_alpaca (`data/alpaca_5000.json`), whose input is mostly empty.
- tool calls: as OpenAI's fine-tuning examples and tau-bench have them (tests/mapping/operations/conversations.py).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from registry.cli import main
from tests.conftest import Https
from tests.records import jsonl, parquet_bytes, zip_bytes

Capsys = pytest.CaptureFixture[str]

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a catalog without datasets, in the current folder."""
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [registry/*.yaml]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def excel(encoding: str) -> bytes:
    rows = ["Auswertung Quiz;;", "Stand: März;;", ";;", "Nr.;Frage;Antwort"]
    rows += [f"{n};Wie viel ist {n} + {n}, grob für Anfänger?;{2 * n}" for n in range(1, 31)]
    return "\r\n".join([*rows, ";;"]).encode(encoding)


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def each(count: int, record: Callable[[int], Any]) -> bytes:
    return jsonl([*map(record, range(count))])


def json_of(count: int, record: Callable[[int], Any]) -> bytes:
    return json.dumps([*map(record, range(count))]).encode()


def call(id: str, name: str, arguments: str) -> list[dict[str, Any]]:
    return [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}]


def called(number: int) -> dict[str, Any]:
    asked = [{"type": "text", "text": f"What do {number} apples cost?"}]
    calls = call("call_x", "price", json.dumps({"fruit": "apple", "count": number}))
    return {
        "conversation_id": f"c{number}",
        "messages": [
            said("developer", "Use the tools."),
            said("user", asked),
            said("assistant", None, tool_calls=calls),
            said("tool", "3", tool_call_id="call_x"),
        ],
        "answer": {"answer": str(3 * number), "tool_calls": []},
    }


def called_by_anthropic(number: int) -> dict[str, Any]:
    use = {"type": "tool_use", "id": f"t{number}", "name": "w", "input": {"d": number}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "-3"}
    return {
        "system": "Be brief.",
        "messages": [
            said("user", f"Cold on day {number}?"),
            said("assistant", [use]),
            said("user", [result]),
            said("assistant", f"Yes, {number}."),
        ],
    }


def to_learn(number: int) -> dict[str, Any]:
    calls = call("call_id", "rise", f'{{"metres": {number}}}')
    return {
        "messages": [
            said("user", f"Rise to {number} metres"),
            {"role": "assistant", "tool_calls": calls},
        ],
        "tools": [{"type": "function", "function": {"name": "rise", "parameters": {}}}],
        "parallel_tool_calls": False,
    }


def shared(number: int) -> dict[str, Any]:
    turns = [
        {"from": "human", "value": f"Cold on day {number}?"},
        {"from": "function_call", "value": '{"name": "w", "arguments": {}}'},
        {"from": "observation", "value": "-3"},
        {"from": "gpt", "value": "Yes."},
    ]
    return {"conversations": turns}


def instructed(number: int) -> dict[str, str]:
    more = "" if number % 3 else "4"
    return {"instruction": f"Add {number}.", "input": more, "output": str(number + 4)}


def indexes(number: int) -> dict[str, Any]:
    return {"q": f"Which of these? ({number})", "options": list("wxyz"), "correct": [number, 3]}


def masked(number: int) -> dict[str, Any]:
    choices = {"text": ["cat", "dog"], "correct": [number > 0, number == 0]}
    image = {"bytes": PNG + bytes([number]), "path": f"{number}.png"}
    return {"question": "What is shown?", "image": image, "choices": choices}


def of_medmcqa(number: int) -> dict[str, Any]:
    options = {f"op{letter}": f"{letter}{number}" for letter in "abcd"}
    more = {"cop": number, "choice_type": "single", "subject_name": "Anatomy"}
    return {"id": f"u{number}", "question": f"{number}?", **options, **more}


def seen(number: int) -> dict[str, Any]:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    asked = [{"type": "text", "text": f"{number}?"}, image]
    return {"messages": [said("user", asked), said("assistant", "A cat.")]}


QUIZ = {"target": "2", "id": "1", "len": 30}
TOOLS = "user assistant tool"
RISE = '[{"id": "call_id", "function": "rise", "arguments": {"metres": 0}}]'
QA = b"question,answer\n1+1?,2\n"
FILES: dict[str, tuple[str, bytes, dict[str, Any]]] = {
    "Excel": ("q.csv", excel("utf-8-sig"), QUIZ),
    "Excel, cp1252": ("q.csv", excel("cp1252"), QUIZ),
    "instructions": (
        "alpaca.json",
        json_of(9, instructed),
        {"target": "4", "inputs": {0: "Add 0.\n\n4", 8: "Add 8."}, "len": 9},
    ),
    "tool calls": (
        "chat.jsonl",
        each(6, called),
        {"target": "0", "id": "c0", "len": 6, "roles": f"system {TOOLS}"},
    ),
    "tool calls of Anthropic": (
        "chat.jsonl",
        each(3, called_by_anthropic),
        {"target": "Yes, 0.", "len": 3, "roles": f"system {TOOLS}"},
    ),
    "a function call to learn": (
        "drone.jsonl",
        each(3, to_learn),
        {"target": RISE, "len": 3, "roles": "user"},
    ),
    "ShareGPT": ("share.json", json_of(3, shared), {"target": "Yes.", "len": 3, "roles": TOOLS}),
    "lists of indexes": (
        "i.json",
        b'{"version": 2, "data": ' + json_of(3, indexes) + b"}",
        {"target": ["A", "D"], "len": 3},
    ),
    "pictures and a mask": (
        "p.parquet",
        parquet_bytes([*map(masked, range(3))]),
        {"target": ["B"], "len": 3, "roles": "user"},
    ),
    "answers between bars": (
        "a.tsv",
        b"question\tanswers\nA prime?\t2|3|5\nA square?\t4|9\n",
        {"target": ["2", "3", "5"], "len": 2},
    ),
    "a JSON list in a cell": (
        "a.csv",
        b'question,answers\nWho?,"[""Ann"", ""A""]"\nWhy?,"[""So""]"\n',
        {"target": ["Ann", "A"], "len": 2},
    ),
    "indexes of columns of any name": (
        "c.csv",
        b'question,c1,c2,c3,correct\nWhich?,w1,x1,y1,"1,3"\nWhat?,w2,x2,y2,2\n',
        {"target": ["A", "C"], "len": 2},
    ),
    "columns of MedMCQA": ("m.jsonl", each(4, of_medmcqa), {"target": "A", "id": "u0", "len": 4}),
    "options and answer with letters": (
        "l.jsonl",
        each(2, lambda n: {"question": f"{n}?", "options": ["A. x", "B. y"], "answer": "B. y"}),
        {"target": "B", "len": 2},
    ),
    "chat with pictures": (
        "v.jsonl",
        each(2, seen),
        {"target": "A cat.", "len": 2, "roles": "user"},
    ),
    "prompt and completion, packed": (
        "lm.jsonl.gz",
        gzip.compress(
            each(3, lambda n: {"prompt": f"Say {n}", "completion": f" {n}", "source": "web"})
        ),
        {"target": " 0", "len": 3},
    ),
    "zip": (
        "b.zip",
        zip_bytes({"b/README.txt": b"x", "__MACOSX/b/._test.csv": b"x", "b/test.csv": QA}),
        {"target": "2", "len": 1},
    ),
    "zip of splits": (
        "b.zip",
        zip_bytes({"train.csv": QA, "test.csv": QA}),
        {"target": "2", "len": 1, "splits": {"train": 1}},
    ),
}


def check(name: str, expected: dict[str, Any]) -> None:
    """Check the samples of a dataset."""
    dataset = get_dataset(name)
    sample = dataset[0]
    assert (sample.target, len(dataset)) == (expected["target"], expected["len"])
    if "id" in expected:
        assert sample.id == expected["id"]
    if "roles" in expected:
        assert not isinstance(sample.input, str)
        assert " ".join(message.role for message in sample.input) == expected["roles"]
    for number, text in expected.get("inputs", {}).items():
        assert dataset[number].input == text
    for split, size in expected.get("splits", {}).items():
        assert len(get_dataset(name, split=split)) == size


@pytest.mark.parametrize("case", FILES)
def test_first_try_gives_the_right_samples(root: Path, capsys: Capsys, case: str) -> None:
    file, content, expected = FILES[case]
    (root / "raw").mkdir()
    (root / "raw" / file).write_bytes(content)

    assert main(["add", "own", "--file", f"raw/{file}"]) == 0, capsys.readouterr().err

    assert main(["validate"]) == 0, capsys.readouterr().out
    check("own", expected)


def test_zip_of_a_server_is_read(root: Path, capsys: Capsys, https: Https) -> None:
    url = https.put("/b.zip", FILES["zip"][1])
    assert main(["add", "own", "--file", url]) == 0, capsys.readouterr().err
    text = (root / "registry" / "own.yaml").read_text()
    assert f'path: "zip://b/test.csv::{url}"\n' in text


def test_folder_becomes_splits_and_columns(root: Path, capsys: Capsys) -> None:
    for lang in ("de", "en", "fr"):
        (root / "xq" / lang).mkdir(parents=True)
        for split in ("train", "dev", "test"):
            rows = [{"question": f"{lang} {split} {n}?", "answer": str(n)} for n in range(2)]
            (root / "xq" / lang / f"{split}.jsonl").write_bytes(jsonl(rows))
    (root / "xq" / "README.md").write_text("x")

    assert main(["add", "xq", "--file", "xq"]) == 0, capsys.readouterr().err

    assert "path: xq/{lang}/{split}.jsonl\n" in (root / "registry" / "xq.yaml").read_text()
    assert main(["validate"]) == 0
    assert capsys.readouterr().out.endswith("no problems (3 datasets)\n")
    check("xq", {"target": "0", "len": 6, "splits": {"dev": 6, "train": 6}})
    languages = [(one.metadata or {})["lang"] for one in get_dataset("xq", split="dev")[:3]]
    assert languages == ["de", "de", "en"]


def asked(number: int) -> dict[str, Any]:
    turns = [[said("user", f"Play song {number}")]]
    return {"id": f"parallel_{number}", "question": turns}


def answered(number: int) -> dict[str, Any]:
    return {"key": f"parallel_{number}", "ground_truth": [{"play": {"song": [number]}}]}


@pytest.mark.parametrize(
    "arguments", [["--file", "two"], ["--file", "two/q.jsonl", "--join", "two/a.json"]]
)
def test_two_files_are_joined(root: Path, capsys: Capsys, arguments: list[str]) -> None:
    (root / "two").mkdir()
    (root / "two" / "q.jsonl").write_bytes(each(6, asked))
    (root / "two" / "a.json").write_bytes(each(6, answered))

    assert main(["add", "own", *arguments]) == 0, capsys.readouterr().err

    assert "join 'id = key' (each of 6 records has a row of two/a.json)" in capsys.readouterr().out
    assert main(["validate"]) == 0, capsys.readouterr().out
    target = '[{"play": {"song": [0]}}]'
    check("own", {"target": target, "id": "parallel_0", "len": 6, "roles": "user"})


def test_target_has_to_be_said_where_no_column_looks_like_it(root: Path, capsys: Capsys) -> None:
    (root / "q.csv").write_text("question,vastaus,aine\n1+1?,2,x\n1+2?,3,x\n")

    assert main(["add", "own", "--file", "q.csv"]) == 1
    err = capsys.readouterr().err
    assert "q.csv: the target is not clear, so say it: --target vastaus gives '2'; " in err
    assert "--no-target gives samples without a target (--join FILE names a second file" in err
    assert not (root / "registry").exists()

    assert main(["add", "own", "--file", "q.csv", "--no-target"]) == 0
    assert get_dataset("own")[0].target == ""


def test_pictures_are_read_by_their_paths(root: Path, capsys: Capsys) -> None:
    (root / "raw" / "images").mkdir(parents=True)
    rows = [{"image": f"images/{n}.png", "question": f"{n}?", "answer": f"y{n}"} for n in range(5)]
    for row in rows:
        (root / "raw" / row["image"]).write_bytes(PNG)
    (root / "raw" / "q.jsonl").write_bytes(jsonl(rows))
    assert main(["add", "own", "--file", "raw/q.jsonl"]) == 0, capsys.readouterr().err
    check("own", {"target": "y0", "len": 5, "roles": "user"})
    assert str(root / "raw/images/0.png") in get_dataset("own")[0].model_dump_json()


ONE = b"question,answer\n1?,x\n"
QA = b'{"id": "1", "question": "?", "answers": [{"text": "!", "answer_start": 0}]}'
NESTED = b'{"data": [{"title": "T", "paragraphs": [{"context": "c", "qas": [%b]}]}]}' % QA
ASKED = said("user", "?")
OPEN = jsonl([{"messages": [ASKED]}, {"messages": [ASKED, said("assistant", "!")]}])
USELESS = [  # file, content, options, error
    ("q.csv", ONE, ["--base", "1"], "--base 1 is of no use: no target counts"),
    ("q.csv", ONE, ["--license", "MTI"], "did you mean MIT?"),
    ("q.jsonl", jsonl([{"q": "?"}, {"q": "!"}]), ["--type", "csv"], "like JSON Lines: --type json"),
    ("q.tsv", b"q\tanswer\nx\ty\n", ["--delimiter", ";"], "one column, '\\t' gives 2 columns: 'q'"),
    ("q.csv", ONE, ["--encoding", "cp1253x"], "'cp1253x' (did you mean 'cp1253'?)"),
    (
        "squad.json",
        NESTED,
        [],
        "`explode: {column: paragraphs, item: item, then: {column: item.qas, item: item2}}` makes",
    ),
    ("q.jsonl", OPEN, [], "1 of 2 conversations end with the assistant"),
]


@pytest.mark.parametrize(("file", "content", "options", "error"), USELESS)
def test_what_is_of_no_use_is_said(
    root: Path, capsys: Capsys, file: str, content: bytes, options: list[str], error: str
) -> None:
    (root / file).write_bytes(content)
    assert main(["add", "own", "--file", file, *options]) != 0
    assert error in " ".join(capsys.readouterr().err.split())
    assert not (root / "registry").exists()


def test_manifest_that_does_not_work_is_printed(root: Path, capsys: Capsys) -> None:
    (root / "q.csv").write_text("question,answer\nWho?,me\n,you\n")
    assert main(["add", "own", "--file", "q.csv"]) == 1
    assert "; --dry-run prints the manifest, to correct it by hand" in capsys.readouterr().err
    assert main(["add", "own", "--file", "q.csv", "--dry-run"]) == 1
    found = capsys.readouterr()
    assert "      input: question  # known column name\n" in found.out
    assert "No input in dataset" in found.err


def test_first_choice_has_to_be_said_where_indexes_do_not_show_it(
    root: Path, capsys: Capsys
) -> None:
    rows = [{"question": f"{n}?", "options": list("wxyz"), "answer": [2, n]} for n in (1, 3)]
    (root / "q.jsonl").write_bytes(jsonl(rows))
    assert main(["add", "own", "--file", "q.jsonl"]) == 1
    err = capsys.readouterr().err
    assert "--base 0 gives the letter C of 4 for the first 2; --base 1 gives the letter B of" in err
    assert main(["add", "own", "--file", "q.jsonl", "--base", "0"]) == 0
    assert get_dataset("own")[0].target == ["C", "B"]
