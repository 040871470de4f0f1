"""From an empty folder to samples of one's own data in two commands: `init` and `add`."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from registry import get_dataset
from registry.cli import main
from tests.cli.invocation import Invocation, Run
from tests.servers.hub import HubEmulator, parquet_repo

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data" / "real"
QUESTIONS = [
    ("Wie heißt die größte Stadt Österreichs, bitte?", "Wien"),
    ("Was ist das Gegenteil von „früh“; kurz?", "spät"),
    ("Zwei\nZeilen?", "ja"),
]


def table(
    delimiter: str = ",", *, above: str = "", quoting: int = csv.QUOTE_MINIMAL, end: str = "\n"
) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)  # type: ignore[arg-type]
    writer.writerows([("frage", "antwort"), *QUESTIONS])
    return above + text.getvalue()


FILES: dict[str, bytes] = {
    "commas": table().encode(),
    "semicolons": table(";").encode(),
    "semicolons of cp1252": table(";").encode("cp1252"),
    "latin-1": table().replace("„", "").replace("“", "").encode("latin-1"),
    "tabs": table("\t").encode(),
    "a byte-order mark": table(";").encode("utf-8-sig"),
    "UTF-16": table("\t").encode("utf-16"),
    "everything quoted": table(quoting=csv.QUOTE_ALL, end="\r\n").encode(),
    "notes above": table(";", above="Export der Umfrage\nStand: 1.3.2024\n\n").encode(),
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""

    def call(*arguments: str) -> Invocation:
        return Invocation(main(list(arguments)), *capsys.readouterr())

    return call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def add(run: Run, *arguments: str) -> Invocation:
    """Run the two commands, and check that what they wrote is valid; return the second's result."""
    assert run("init").code == 0
    result = run("add", "my-qa", *arguments)
    assert (result.code, result.err) == (0, "")
    assert run("validate", "--strict", "--select", "all").code == 0
    assert "── sample 1" in result.out
    assert re.search("── record [12] of the source", result.out)
    return result


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_csv_as_programs_write_it(folder: Path, run: Run, data: bytes) -> None:
    (folder / "fragen.csv").write_bytes(data)
    add(run, "--file", "fragen.csv")
    dataset = get_dataset("my-qa")
    assert [sample.target for sample in dataset] == [answer for _, answer in QUESTIONS]
    marks = "" if data == FILES["latin-1"] else "„“"
    expected = [question if marks else re.sub("[„“]", "", question) for question, _ in QUESTIONS]
    assert [sample.input for sample in dataset] == expected


def test_json_lines(folder: Path, run: Run) -> None:
    rows = [{"question": "Who?", "options": {"A": "you", "B": "me"}, "answer": "B"}] * 2
    (folder / "q.jsonl").write_text(
        "\n".join(json.dumps({**row, "id": n}) for n, row in enumerate(rows))
    )
    add(run, "--file", "q.jsonl")
    (sample, _) = get_dataset("my-qa")
    assert (sample.choices, sample.target, sample.id) == (["you", "me"], "B", 0)


def test_repository_of_the_hub(folder: Path, run: Run, hub: HubEmulator) -> None:
    rows = [{"question": f"{n}?", "choices": ["x", "y"], "answer": n % 2} for n in range(4)]
    files = parquet_repo({"default": {"train": rows, "test": rows}}, licence="cc-by-4.0")
    commit = hub.commit("acme/quiz", files)
    result = add(run, "--hf", "acme/quiz")
    assert "split test (the test split of train, test)" in result.lines
    assert [sample.target for sample in get_dataset("my-qa")] == ["A", "B", "A", "B"]
    text = (folder / "registry" / "my-qa.yaml").read_text()
    for line in (
        "license: cc-by-4.0",
        f"revision: {commit}",
        "split: test",
        "expect: {samples: 4}",
    ):
        assert line in text


def test_record_without_input_is_left_out_and_said(folder: Path, run: Run) -> None:
    (folder / "q.csv").write_text("question,answer\n,x\nWho?,me\nWhy?,so\n")
    result = add(run, "--file", "q.csv")
    assert "where (leaves out the records without input: 1 of 3)" in result.lines
    assert "── record 2 of the source" in result.lines
    assert [sample.target for sample in get_dataset("my-qa")] == ["me", "so"]
    assert "expect: {samples: 2}" in (folder / "registry" / "my-qa.yaml").read_text()


REAL: dict[str, tuple[int, Callable[[Any], bool]]] = {
    "agieval-aqua-rat.jsonl": (254, lambda one: len(one.choices) == 5 and one.target in "ABCDE"),
    "agieval-lsat-ar.jsonl": (230, lambda one: one.input.startswith("Of the eight students")),
    "agieval-math.jsonl": (1000, lambda one: one.choices is None and bool(one.target)),
    "agieval-sat-math.jsonl": (220, lambda one: one.choices == ["2", "4", "9", "10"]),
    "bbq-age.jsonl": (3680, lambda one: len(one.choices) == 3 and one.target in "ABC"),
    "cybermetric-80.json": (80, lambda one: len(one.choices) == 4 and one.target in "ABCD"),
    "mgsm-en.tsv": (250, lambda one: one.input.startswith("Janet’s") and one.target == "18"),
    "mgsm-te.tsv": (250, lambda one: one.target == "18"),
    "personality-bfi.json": (44, lambda one: one.metadata["trait"] == "Extraversion"),
}


@pytest.mark.parametrize(("name", "expected"), REAL.items(), ids=REAL)
def test_real_files(
    folder: Path, run: Run, name: str, expected: tuple[int, Callable[[Any], bool]]
) -> None:
    if not SHARED.is_dir():
        pytest.skip("the real files are not here")
    (folder / name).write_bytes((SHARED / name).read_bytes())
    run("init")
    result = run("add", "my-qa", "--file", name)
    assert result.code == 0, result.err
    assert run("validate", "--strict").code == 0
    dataset = get_dataset("my-qa")
    assert len(dataset) == expected[0]
    assert expected[1](dataset[0]), dataset[0]


BAD: dict[str, tuple[str, bytes, str]] = {
    "empty": ("q.csv", b"", "the file is empty"),
    "binary": ("q.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "this is not a text file"),
    "a sheet": ("q.csv", b"PK\x03\x04" + bytes(30), "export the sheet as CSV"),
    "a short row": ("q.csv", b"a,b\n1,2\n3\n", "q.csv:3: line 3 has 1 field, the header has 2"),
    "two readings": ("q.csv", b"a, b;c\nd, e;f\n", "--delimiter ';' gives 2 columns: 'a, b', 'c'"),
    "no JSON": ("q.json", b"{", "not JSON"),
    "two lists": ("q.json", b'{"a": [{"x": 1}], "b": [{"y": 1}]}', "--records b gives 1 record"),
    "a page": ("q.csv", b"<!DOCTYPE html><title>Log in</title>", "this is an HTML page"),
}


@pytest.mark.parametrize(("name", "data", "words"), BAD.values(), ids=BAD)
def test_bad_file_is_one_error_and_nothing_is_written(
    folder: Path, run: Run, name: str, data: bytes, words: str
) -> None:
    (folder / name).write_bytes(data)
    result = run("add", "my-qa", "--file", name)
    assert (result.code, result.out.count("wrote")) == (1, 0)
    assert words in result.err
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == [name]


class Terminal:
    """A process in a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        import pty

        self._end, theirs = pty.openpty()
        self.text = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "registry", *arguments],
            cwd=folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "100"},
        )
        os.close(theirs)

    def answer(self, prompt: str, line: str) -> None:
        """Wait for a prompt, and type a line."""
        self.wait_for(prompt)
        self.text = ""
        os.write(self._end, f"{line}\n".encode())

    def wait_for(self, text: str) -> None:
        until = time.monotonic() + 60
        while text not in self.text:
            assert time.monotonic() < until, self.text
            if select.select([self._end], [], [], 1)[0]:
                try:
                    self.text += os.read(self._end, 1 << 16).decode(errors="replace")
                except OSError as error:  # the process has ended
                    raise AssertionError(self.text) from error

    def exit_code(self) -> int:
        with contextlib.suppress(OSError):  # how Linux says that the other end is closed
            while chunk := os.read(self._end, 1 << 16):
                self.text += chunk.decode(errors="replace")
        return self._process.wait(60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._end)
        self._process.kill()
        self._process.wait()


def test_terminal_asks_what_is_not_clear(folder: Path, run: Run) -> None:
    pytest.importorskip("pty")
    (folder / "q.csv").write_text("a, b;c;d\nlong question, one?;x;2\nlong question, two?;y;4\n")
    run("init")
    with Terminal(folder, "add", "my-qa", "--file", "q.csv") as terminal:
        terminal.answer("Which one", "2")
        terminal.answer("--no-target: samples without a target", "2")
        terminal.answer("Write it?", "target")
        terminal.answer("Column for target (a, b, c, d)", "c")
        terminal.answer("Write it?", "yes")
        terminal.answer("Description [2 records of q.csv.]", "Two questions.")
        terminal.answer("License", "mit")
        assert terminal.exit_code() == 0, terminal.text
        assert "wrote registry/my-qa.yaml" in terminal.text
    assert [sample.target for sample in get_dataset("my-qa")] == ["x", "y"]
    text = (folder / "registry" / "my-qa.yaml").read_text()
    assert "description: Two questions.\n    license: mit\n" in text


def test_terminal_writes_nothing_after_no(folder: Path) -> None:
    pytest.importorskip("pty")
    (folder / "q.csv").write_text("question,answer\nWho?,me\n")
    with Terminal(folder, "add", "my-qa", "--file", "q.csv") as terminal:
        terminal.answer("Write it?", "no")
        assert terminal.exit_code() == 130, terminal.text
        assert "aborted" in terminal.text
    assert not (folder / "datasets.yaml").exists()


def test_yes_asks_nothing_at_a_terminal(folder: Path) -> None:
    pytest.importorskip("pty")
    (folder / "q.csv").write_text("question,answer\nWho?,me\n")
    with Terminal(folder, "add", "my-qa", "--file", "q.csv", "--yes") as terminal:
        assert terminal.exit_code() == 0, terminal.text
        assert "Write it?" not in terminal.text
        assert "wrote registry/my-qa.yaml" in terminal.text
