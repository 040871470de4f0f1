"""`verify`: which datasets are asked about, what is printed, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.invocation import BAD_KEY, MISSING_FILE, Run, write

TWO_MISTAKES = """\
datasets:
  two: {source: {type: csv, path: qa.csv}, fields: {input: qq, target: aa}}
"""


def test_datasets_that_fit_are_ok(run: Run, own: Path, cache_dir: Path) -> None:
    result = run("verify")
    assert result.code == 0
    assert result.lines[0].split() == ["dataset", "status", "revision", "records", "mapped", "time"]
    assert [line.split()[:2] for line in result.lines[1:]] == [["qa", "ok"], ["qa-one", "ok"]]
    assert result.err.splitlines()[-1] == "2 datasets: 2 ok"
    assert not list(cache_dir.rglob("samples.arrow"))
    assert not list(cache_dir.rglob("blobs"))


def test_drift_is_printed_with_its_kind_and_ends_with_1(run: Run, own: Path) -> None:
    write(own, "gone", MISSING_FILE)
    result = run("verify")
    advice = "no such file (a relative path starts at the folder of datasets.yaml)"
    assert (result.code, result.errors[-1]) == (1, "3 datasets: 2 ok, 1 drift")
    assert result.lines[-1] == f"error: gone: [source] {own / 'gone.csv'}: {advice}"
    assert run("verify", "qa").code == 0
    assert [one["name"] for one in run("verify", "--json", "--tag", "text").json] == ["qa"]
    result = run("verify", "--json")
    assert (result.code, result.err) == (1, "")
    gone, qa, _ = result.json
    assert (gone["status"], qa["status"], qa["mapped"], qa["drifts"]) == ("drift", "ok", 3, [])
    (drift,) = gone["drifts"]
    assert (drift["kind"], drift["severity"]) == ("source", "error")
    assert drift["message"].endswith(advice)


def test_an_invalid_manifest_is_a_drift_of_its_dataset_alone(run: Run, own: Path) -> None:
    write(own, "bad", BAD_KEY)
    result = run("verify")
    assert result.code == 1
    (line,) = [line for line in result.lines if line.startswith("error: ")]
    assert line.startswith("error: bad: [manifest] ")
    assert "unknown key 'bogus'" in line


def test_asking_needs_the_network(run: Run, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_OFFLINE", "1")
    result = run("verify")
    assert result.code == 1
    assert result.err == (
        "error: `verify` asks the sources (unset REGISTRY_OFFLINE and HF_HUB_OFFLINE)\n"
    )


@pytest.mark.parametrize(("verb", "kind"), [("verify", "[columns] "), ("sync", ""), ("lock", "")])
def test_each_problem_of_a_dataset_is_a_line_with_its_name(
    run: Run, own: Path, verb: str, kind: str
) -> None:
    write(own, "two", TWO_MISTAKES)
    result = run(verb, "two")
    assert result.code == 1
    printed = [*result.lines, *result.err.splitlines()]
    errors = [line for line in printed if line.startswith("error: ")]
    assert [line.partition("; ")[0].partition(" (")[0] for line in errors] == [
        f"error: two: {kind}m/two.yaml:2:{column} $.datasets.two.fields.{field}: no column '{name}'"
        for column, field, name in ((53, "input", "qq"), (64, "target", "aa"))
    ]
