"""`compare`: logs that Inspect's own writer wrote, and datasets of a catalog."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.invocation import Run
from tests.cli.invocation import write as write_manifest
from tests.plugins.results.conftest import WriteLog, WriteRows, row, stated


def test_one_planted_target_is_found_in_logs(run: Run, write_log: WriteLog) -> None:
    rows = [(f"Is statement {n} true?", "A") for n in range(1, 61)]
    old = str(write_log(rows, name="old.eval", choices=["yes", "no"]))
    rows[51] = (rows[51][0], "B")
    scores = ["I" if n == 51 else "C" for n in range(60)]
    new = str(write_log(rows, name="new.eval", choices=["yes", "no"], scores=scores))
    result = run("compare", old, new)
    assert result.code == 1
    assert result.lines[0] == "not comparable: 1 sample differs (target of 1)"
    assert "    ~ id 52" in result.lines
    assert "        target: [-A-]{+B+}" in result.lines
    for form in ("text", "markdown", "html"):
        assert "new reach" not in run("compare", old, new, "--format", form).out.lower()
    data = json.loads(run("compare", old, new, "--json").out)
    assert (data["comparable"], data["common"], data["kinds"]) == (False, 59, ["targets"])
    assert [one["difference"]["value"] for one in data["scores"]] == [0.0]


def test_same_samples_are_said_in_the_first_line_of_each_format(
    run: Run, write_log: WriteLog
) -> None:
    rows = [(f"Question {n}?", "A") for n in range(8)]
    first = write_log(rows, name="a.eval", scores=["C", "I"] * 4)
    two = str(first), str(write_log(rows, name="b.json"))
    result = run("compare", *two)
    assert (result.code, result.lines[0]) == (0, "comparable: the same 8 samples")
    assert "match: 0.5000 ± 0.1890 of 8 → 1.0000 ± 0.0000 of 8" in result.lines
    assert result.lines[-1].endswith("difference +0.5000 ± 0.1890 (paired)")
    markdown = run("compare", *two, "--format", "markdown").out
    assert markdown.startswith("### comparable: the same 8 samples\n")
    assert "difference +0.5000 ± 0.1890 (paired)" in markdown
    page = run("compare", *two, "--format", "html").out
    assert "<h1>comparable: the same 8 samples</h1>" in page
    assert "difference +0.5000" in page
    assert "New reach" not in page + markdown + result.out
    assert json.loads(run("compare", *two, "--format", "json").out)["comparable"] is True


def test_two_datasets_of_a_catalog(own: Path, run: Run) -> None:
    fields = "fields: {input: q, target: a}"
    text = f"datasets: {{clean: {{source: {{type: csv, path: clean.csv}}, {fields}}}}}"
    write_manifest(own, "clean", text)
    lines = (own / "qa.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(lines[:-1]) + lines[-1].strip().rpartition(",")[0] + ",corrected\n"
    (own / "clean.csv").write_text(text, encoding="utf-8")
    result = run("compare", "qa", "clean")
    assert result.code == 1
    assert result.lines[0] == "not comparable: 1 sample differs (target of 1)"
    assert "{+corrected+}" in result.out
    assert "two names: qa and clean" in result.lines
    (own / "qa").mkdir()  # a folder of the same name is `./qa`
    assert run("compare", "qa", "qa").lines[0] == "comparable: the same 3 samples"
    assert "qa: no log in this folder" in run("compare", "./qa", "qa").err


def test_log_with_the_dataset_that_it_was_made_from(
    own: Path, run: Run, write_log: WriteLog
) -> None:
    log = str(write_log(registry=stated("qa")))
    result = run("compare", log, "qa")
    assert (result.code, result.lines[0]) == (0, "comparable: the same 3 samples")
    (own / "qa.csv").write_text("q,a\nOne?,1\nTwo?,2\nThree?,4\n", encoding="utf-8")
    result = run("compare", log, "qa")
    assert result.lines[0] == "not comparable: 1 sample differs (target of 1)"


def test_provenance_that_was_edited_makes_a_log_not_comparable(
    own: Path, run: Run, write_log: WriteLog
) -> None:
    log = write_log(registry={**stated("qa"), "version": "9-A"})
    result = run("compare", str(log), "qa")
    assert result.code == 1
    assert result.lines[0].startswith(f"not comparable: {log}: the provenance in this log: it was")


def test_log_of_lm_eval_is_matched_by_content_where_the_prompt_is_the_input(
    own: Path, run: Run, write_log: WriteLog, write_rows: WriteRows
) -> None:
    folder = write_rows([row(0, "One?", "1"), row(1, "Other?", "2")])
    (samples,) = folder.glob("samples_*.jsonl")
    result = run("compare", str(write_log()), str(samples))
    assert result.code == 1
    assert result.lines[0].startswith("not comparable: ")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("missing.eval", "missing.eval: no such file or folder"),
        ("qaa", "no dataset 'qaa' in"),
        ("broken.eval", "Inspect can't read this log"),
        ("foreign.json", "no log of a known tool"),
        ("", "no dataset '' in"),
    ],
)
def test_side_that_can_t_be_read_is_one_line(own: Path, run: Run, wrong: str, message: str) -> None:
    (own / "broken.eval").write_bytes(b"PK\x03\x04 cut off")
    (own / "foreign.json").write_text('{"a": 1}', encoding="utf-8")
    result = run("compare", "qa", wrong)
    assert (result.code, result.out) == (4, "")
    assert message in result.err
    assert "Traceback" not in result.err


def test_folder_with_several_logs_asks_for_one(own: Path, run: Run, write_log: WriteLog) -> None:
    folder = own / "logs"
    folder.mkdir()
    for name in ("a.eval", "b.eval"):
        write_log(name=name).rename(folder / name)
    result = run("compare", "qa", str(folder))
    assert result.code == 4
    assert "2 logs, and one is compared (name one: " in result.err
