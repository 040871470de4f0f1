"""`receipt`: what a user sees of logs with and without a provenance, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from registry.base.materials import Parts
from registry.samples.provenance import read_provenance
from tests.cli.invocation import Run, write
from tests.plugins.results.conftest import QUESTIONS, WriteLog, WriteRows, row, stated


@pytest.fixture
def pinned(own: Path, run: Run) -> Path:
    """Pin the datasets of the small catalog."""
    assert run("lock").code == 0
    return own


@pytest.fixture
def log(pinned: Path, write_log: WriteLog) -> Path:
    """Write a log of what is pinned."""
    return write_log(registry=stated("qa"))


def test_log_of_what_is_pinned_now(pinned: Path, run: Run, log: Path) -> None:
    result = run("receipt", str(log))
    assert (result.code, result.err) == (0, "")
    assert result.lines[0] == f"{log}: the same data as now"
    assert "  run        inspect, quiz, acme/one, 3 samples" in result.lines
    assert "  data       datasets.lock pins these samples now" in result.lines
    assert "  rebuild    all that it needs is here" in result.lines
    assert any(line.startswith("  source     qa.csv sha256:") for line in result.lines)


def test_log_of_a_file_of_which_parts_are_pinned(
    pinned: Path, run: Run, write_log: WriteLog
) -> None:
    known = read_provenance(stated("qa"))
    parts = Parts(columns=("q", "a"), size=1234, sha256="ab" * 32)
    pins = tuple(replace(one, parts=parts) for one in known.pins)
    log = write_log(registry=replace(known, pins=pins).as_data())
    result = run("receipt", str(log))
    assert (
        f"  verified   at least the 1,234 bytes that are read: sha256:{'ab' * 32}" in result.lines
    )


def test_rebuild_compares_the_ordered_digest(pinned: Path, run: Run, write_log: WriteLog) -> None:
    log = write_log(registry=stated("qa", shuffle=True, seed=3))
    result = run("receipt", str(log), "--rebuild")
    assert result.code == 0
    assert "  data       they are built from what qa is now" in result.lines
    assert "  view       shuffle True, seed 3" in result.lines
    text = "3 samples with the digest of the log; 3 of 3 samples of the log are in it"
    assert result.lines[-1] == f"  rebuilt    {text}"


def test_samples_that_are_not_those_of_the_provenance_are_found(
    pinned: Path, run: Run, write_log: WriteLog
) -> None:
    log = write_log([*QUESTIONS[:2], ("Three?", "4")], registry=stated("qa"))
    assert run("receipt", str(log)).code == 0
    result = run("receipt", str(log), "--rebuild")
    assert result.code == 1
    text = "3 samples with the digest of the log; 2 of 3 samples of the log are in it, but not 3"
    assert result.lines[-1] == f"  rebuilt    {text}"


def test_data_that_changed_since_is_named(pinned: Path, run: Run, log: Path) -> None:
    (pinned / "qa.csv").write_text("q,a\nOne?,1\nTwo?,2\nThree?,4\nFour?,4\n")
    assert run("lock", "--upgrade").code == 0
    assert run("cache", "clear", "--yes").code == 0
    result = run("receipt", str(log), "--rebuild")
    assert result.code == 1
    assert result.lines[0].endswith(": other data than now")
    assert "  data       qa has other samples now" in result.lines
    assert any(line.strip().startswith("qa.csv was ") for line in result.lines)
    assert "             qa had 3 samples, and has 4 now" in result.lines
    assert "  rebuild    a part is missing: qa.csv: this file has other bytes now" in result.lines
    assert "  rebuilt    other samples: " in result.out
    assert "; 2 of 3 samples of the log are in it, but not 3" in result.out


def test_samples_that_are_still_cached_are_rebuilt(pinned: Path, run: Run, log: Path) -> None:
    (pinned / "qa.csv").write_text("q,a\nOne?,1\n")
    assert run("lock", "--upgrade").code == 0
    result = run("receipt", str(log), "--rebuild")
    assert result.code == 1
    assert "  rebuild    all that it needs is here" in result.lines
    assert result.lines[-1].startswith("  rebuilt    3 samples with the digest of the log; 3 of 3")


def test_renamed_dataset_is_found_by_its_digest(pinned: Path, run: Run, log: Path) -> None:
    text = (pinned / "m" / "qa.yaml").read_text()
    write(
        pinned,
        "qa",
        text.replace("  qa:", "  questions:").replace("extends: qa", "extends: questions"),
    )
    assert run("lock").code == 0
    result = run("receipt", str(log), "--rebuild")
    assert result.code == 0
    line = "  data       datasets.lock pins these samples as questions: qa was renamed"
    assert line in result.lines
    assert "3 samples with the digest of the log" in result.lines[-1]


def test_another_dataset_of_the_same_name_is_named(pinned: Path, run: Run, log: Path) -> None:
    (pinned / "theirs.csv").write_text("q,a\nWhere?,Here\n")
    text = (pinned / "m" / "qa.yaml").read_text()
    write(pinned, "qa", text.replace("qa.csv", "theirs.csv"))
    assert run("lock").code == 0
    result = run("receipt", str(log))
    assert result.code == 1
    text = "qa is another dataset now: it was made of qa.csv, and is made of theirs.csv"
    assert f"  data       {text}" in result.lines


def test_provenance_edited_by_hand_is_no_proof(pinned: Path, run: Run, write_log: WriteLog) -> None:
    log = write_log(registry={**stated("qa"), "name": "qa-one"})
    result = run("receipt", str(log))
    assert result.code == 1
    assert result.lines[0] == f"{log}: unknown data"
    assert "edited by hand" in result.out
    # What the samples show is still said.
    assert "3 of 3 samples are in qa, by input and target" in result.out


def test_dataset_that_the_catalog_lacks_is_unknown(pinned: Path, run: Run, log: Path) -> None:
    text = (pinned / "m" / "qa.yaml").read_text()
    write(pinned, "qa", text.replace("  qa:", "  q:").replace("extends: qa", "extends: q"))
    (pinned / "datasets.lock").unlink()
    result = run("receipt", str(log), "--rebuild")
    assert result.code == 1
    assert "the catalog has no dataset 'qa', and none with these samples" in result.out
    assert "did you mean" in result.out
    assert "  rebuild    a part is missing: a manifest of qa" in result.lines
    assert "  rebuilt    missing: which data it was" in result.lines


def test_log_without_provenance_is_matched_by_its_samples(
    pinned: Path, run: Run, write_log: WriteLog
) -> None:
    chat = [{"role": "user", "content": "Two?"}]
    log = write_log([("One? ", "1"), (chat, "2"), ("Three?", "drei"), ("Nine?", "9")])
    result = run("receipt", str(log))
    assert result.code == 1
    assert "  data       2 of 4 samples are in qa, by input and target" in result.lines
    assert "             1 have the input of one, and another target: 3" in result.lines
    assert "             1 are not in it: 4" in result.lines


def test_samples_that_no_dataset_has_are_not_known_here(
    pinned: Path, run: Run, write_log: WriteLog
) -> None:
    result = run("receipt", str(write_log([("Nine?", "9")])))
    assert result.code == 1
    assert "not known here: no dataset that opens without a request" in result.out
    assert "the catalog has a dataset qa, but not these samples in it" in result.out


def test_digest_in_the_location_is_enough(pinned: Path, run: Run, write_log: WriteLog) -> None:
    location = f"qa.csv#{stated('qa')['ordered']}"
    result = run("receipt", str(write_log([], location=location)))
    assert result.code == 0
    assert "  data       datasets.lock pins these samples as qa" in result.lines


def test_exported_task_is_known_by_its_fingerprint(
    pinned: Path, run: Run, write_rows: WriteRows
) -> None:
    metadata = {"fingerprint": stated("qa")["fingerprint"]}
    folder = write_rows([row(0, "One?", "1")], config={"task": "qa", "metadata": metadata})
    for file in folder.iterdir():
        text = file.read_text().replace('"quiz"', '"qa"')
        file.with_name(file.name.replace("quiz", "qa")).write_text(text)
    result = run("receipt", str(folder))
    assert result.code == 0
    assert "  data       its fingerprint is that of qa now" in result.lines


def test_json_has_every_log_and_every_error(pinned: Path, run: Run, log: Path) -> None:
    result = run("receipt", str(log), "gone.eval", "--rebuild", "--json")
    assert result.code == 4
    found, error = result.json
    assert (found["verdict"], found["found_by"], found["dataset"]) == ("same", "provenance", "qa")
    assert found["stated"] == stated("qa")
    assert found["rebuilt"]["equal"] is True
    message = "gone.eval: no such file or folder"
    assert error == {"file": "gone.eval", "error": {"type": "LogError", "message": message}}


def test_unreadable_log_does_not_hide_the_others(
    pinned: Path, run: Run, log: Path, tmp_path: Path
) -> None:
    (tmp_path / "cut.eval").write_bytes(log.read_bytes()[:100])
    result = run("receipt", str(tmp_path / "cut.eval"), str(log))
    assert result.code == 4
    assert "cut.eval: Inspect can't read this log" in result.err
    assert f"{log}: the same data as now" in result.out


def test_provenance_of_a_newer_release_is_said(pinned: Path, run: Run, write_log: WriteLog) -> None:
    data = {**stated("qa"), "state": "notarized"}
    log = write_log(registry=resealed(data))
    result = run("receipt", str(log), "--json")
    assert result.code == 1
    assert "not a provenance of this release" in result.json[0]["reasons"][0]


def resealed(data: dict[str, object]) -> dict[str, object]:
    from registry.api import digest_of

    rest = {key: value for key, value in data.items() if key != "digest"}
    return {**rest, "digest": digest_of(json.loads(json.dumps(rest)))}
