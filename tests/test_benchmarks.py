"""The benchmarks run, measure equal work, and report it; no time is asserted."""

from __future__ import annotations

import hashlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from inspect_ai.dataset import Sample

from benchmarks import peer, real, runner
from benchmarks.__main__ import main
from benchmarks.case import (
    OURS,
    PEER,
    AtMost,
    Call,
    Case,
    EachAtMost,
    Goal,
    Over,
    Program,
    Times,
    Within,
    met,
)
from benchmarks.cases import all_cases
from benchmarks.data import rows
from benchmarks.machine import machine
from benchmarks.page import with_part, write_page
from benchmarks.place import FULL, QUICK, Place
from benchmarks.real import GSM8K, RealFile, bootstrap, found
from benchmarks.report import Report, failed, markdown, merged, result_of, table
from benchmarks.runner import MeasurementError, measure, measure_files, prepare
from benchmarks.sides import serve, side
from benchmarks.tables import imports_table, median_imports, packages
from benchmarks.whole_files import WHOLE_FILES, failed_files, files_markdown, result_of_files
from registry import get_dataset
from tests.parity import cases as parity

DOCUMENT = Path(__file__).parents[1] / "docs" / "explanation" / "performance.md"
ORDER = ["real", "one", "two"]
CASE = Case(
    name="one",
    what="something",
    unit="s",
    runs={OURS: Call("benchmarks.ours:build"), PEER: Call("benchmarks.peer:load")},
    goals=(AtMost(2), Times(1 / 4)),
)


def report_of(*cases: Case, **values: Any) -> Report:
    results = [result_of(case, {OURS: [1.0, 3.0, 2.0], PEER: [8.0, 8.0, 9.0]}) for case in cases]
    return cast("Report", {"machine": machine(), "quick": False, "cases": results, **values})


# ---------------------------------------------------------------- complete runs


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("benchmarks")
    file = folder / "results" / "figures.json"
    quick = ["--quick", "--json", str(file), "--work", str(folder / "work")]
    slow = "^(cold-hub|sync-jobs|validate-again|s3-first|far-file)$"
    long = main([*quick, "--rounds", "1", "--only", slow])
    short = main([*quick, "--rounds", "2", "--only", "^(imports|import)$"])
    return max(long, short), json.loads(file.read_text(encoding="utf-8"))


def test_quick_run_measures_every_run_in_every_round(
    quick_run: tuple[int, dict[str, Any]],
) -> None:
    code, report = quick_run
    assert [case["failure"] for case in report["cases"]] == [None] * 6
    assert code == 0
    shape = {
        case["name"]: {name: len(run["values"]) for name, run in case["runs"].items()}
        for case in report["cases"]
    }
    assert shape == {
        "cold-hub": {OURS: 1, PEER: 1},
        "sync-jobs": {OURS: 1, "--jobs 1": 1},
        "validate-again": {OURS: 1},
        "import": {OURS: 2, "bare Python": 2},
        "s3-first": {OURS: 1},
        "far-file": {OURS: 1, "one connection": 1},
    }
    for case in report["cases"]:
        for run in case["runs"].values():
            assert min(run["values"]) <= run["median"] <= max(run["values"])
            assert min(run["values"]) > 0


def test_quick_run_reports_the_machine_and_the_goals(
    quick_run: tuple[int, dict[str, Any]],
) -> None:
    _, report = quick_run
    assert report["quick"] is True
    assert report["imports"]["registry"] > 0
    assert {"cpu", "cores", "python", "pyarrow", "inspect_ai", "datasets"} <= set(report["machine"])
    for case in report["cases"]:
        assert case["peer"] is (PEER in case["runs"])
        assert case["goals"]
        assert all(
            set(goal) == {"target", "limit", "measured", "value", "met"} for goal in case["goals"]
        )


def test_quick_figures_are_not_written_to_the_documents(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--quick", "--write-docs"])
    assert stopped.value.code == 2
    assert "takes no quick figures" in capsys.readouterr().err


def test_failed_case_is_reported_with_the_last_output_of_its_process(tmp_path: Path) -> None:
    place = Place(tmp_path, QUICK)
    prepare(place, [])
    broken = Call("benchmarks.ours:opened", {"name": "jsonl-tiny", "rows": 11})
    with pytest.raises(MeasurementError, match="jsonl-tiny: 10 samples, expected 11"):
        measure(replace(CASE, runs={OURS: broken}), place, rounds=1)
    result = failed(CASE, "no")
    assert (result["failure"], [goal["met"] for goal in result["goals"]]) == ("no", [False, False])


def test_order_of_programs_alternates_between_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def once(run: Program, place: Place, kept: Path) -> float:
        ran.append(run.arguments[0])
        return float(len(ran))

    monkeypatch.setattr(runner, "_once", once)
    case = replace(CASE, unit="ms", runs={name: Program((name,)) for name in (OURS, PEER)})
    values = measure(case, Place(tmp_path, QUICK), rounds=3)
    assert ran == [OURS, PEER, PEER, OURS, OURS, PEER]
    assert values == {OURS: [1000, 4000, 5000], PEER: [2000, 3000, 6000]}


# ---------------------------------------------------------------- equal work


@pytest.fixture(scope="module")
def small_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a place with small files of every format, each written by a process."""
    place = Place(tmp_path_factory.mktemp("small"), replace(QUICK, tiny=40))
    prepare(place, [])
    return place


@pytest.mark.parametrize(("name", "suffix"), [("jsonl", "jsonl"), ("hub", "parquet")])
def test_registry_and_peer_produce_the_same_samples(
    name: str, suffix: str, small_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(small_place.peer_cache))
    ours = get_dataset(f"{name}-tiny", root=small_place.catalog)
    theirs = peer.read(str(small_place.data(40, suffix)))
    kept = ("input", "choices", "target", "id", "metadata")
    made = [{field: getattr(sample, field) for field in kept} for sample in ours]
    assert made == [{field: getattr(sample, field) for field in kept} for sample in theirs]
    assert len({one["id"] for one in made}) == 40


def test_longer_files_start_with_the_rows_of_shorter_files() -> None:
    assert list(rows(20)) == list(rows(50))[:20]
    assert all(len(set(row["choices"])) == 4 for row in rows(500))


# ---------------------------------------------------------------- goals and reports


@pytest.mark.parametrize(
    ("goal", "text", "reading", "reached"),
    [
        (AtMost(5), "≤ 5 s", "2 s", True),
        (AtMost(1.5), "≤ 1.5 s", "2 s", False),
        (Times(1 / 20), "≤ 1/20 inspect_ai", "1/25", True),
        (Times(1 / 40), "≤ 1/40 inspect_ai", "1/25", False),
        (Times(1 / 2, run="small"), "small ≤ 1/2 inspect_ai", "1/31.2", True),
        (EachAtMost(50), "each ≤ 50 s", "50.00 s", True),
        (Times(1.5, "small"), "≤ 1.5 × small", "1.25 ×", True),
        (Over(0.3, "small"), "≤ 0.3 s over small", "0.4 s", False),
        (Over(40, "small"), "≤ 40 s over small", "0.4 s", True),
        (Within(0.15, "small"), "small the same ± 15%", "-20%", False),
        (Within(0.25, "small"), "small the same ± 25%", "-20%", True),
    ],
)
def test_goal_is_shown_with_target_and_measured_value(
    goal: Goal, text: str, reading: str, reached: bool
) -> None:
    medians = {OURS: 2.0, PEER: 50.0, "small": 1.6}
    value = goal.value(medians)
    assert (goal.text("s"), goal.reading(value, "s")) == (text, reading)
    assert met(goal, value) is reached


def test_table_has_a_row_for_each_goal() -> None:
    report = report_of(CASE)
    first, second = markdown(report, ["one"]).splitlines()[-2:]
    assert first == "| one | something | 2 s | inspect_ai 8 s | ≤ 2 s | 2 s | yes | 3 |"
    assert second == "|  |  |  |  | ≤ 1/4 inspect_ai | 1/4 | yes |  |"
    assert "≤ 1/4 inspect_ai" in table(report, ["one"])


def test_case_without_a_peer_is_marked() -> None:
    case = replace(CASE, runs={OURS: Call("")}, goals=(AtMost(1),))
    result = result_of(case, {OURS: [2.0]})
    text = markdown({"machine": machine(), "quick": False, "cases": [result]}, ["one"])
    assert "| 2 s | no peer | ≤ 1 s | 2 s | no | 1 |" in text


def test_cases_that_are_not_measured_again_remain_in_the_report() -> None:
    old = report_of(CASE, replace(CASE, name="two"))
    new = report_of(replace(CASE, name="two", what="another thing"))
    names = {case["name"]: case["what"] for case in merged(old, new)["cases"]}
    assert names == {"one": "something", "two": "another thing"}


def test_figures_from_a_different_machine_or_size_are_dropped() -> None:
    new = report_of(CASE)
    other = replace(CASE, name="two")
    for old in (report_of(other, machine={"cpu": "another"}), report_of(other, quick=True)):
        assert [case["name"] for case in merged(old, new)["cases"]] == ["one"]


def test_part_of_a_document_is_replaced_between_its_markers() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    once = with_part(with_part(document, "table", "first"), "files", "other")
    twice = with_part(once, "table", "second")
    assert twice == once.replace("\n\nfirst\n\n", "\n\nsecond\n\n")
    assert "\n\nother\n\n" in twice
    with pytest.raises(ValueError, match="the document needs the lines"):
        with_part("no markers", "table", "text")


def test_document_lists_every_case() -> None:
    shown = DOCUMENT.read_text(encoding="utf-8")
    cases = all_cases(Place(Path(), FULL))
    assert [case.name for case in cases if f"\n| {case.name} | {case.what}" not in shown] == []


# ---------------------------------------------------------------- whole real files

MEASURED = {
    "gsm8k": {OURS: [0.1, 0.2, 0.3], PEER: [0.2, 0.2, 9.0]},
    "bbq-age": {OURS: [0.2, 0.2, 0.2], PEER: [0.4, 0.4, 0.4]},
}
RECORDS = [
    {"question": f"What is {n} plus {n}?", "answer": f"It is\n#### {n * 2}"} for n in range(9)
]


@pytest.fixture
def real_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file in the place of a real one, which the table knows by its digest."""
    file = tmp_path / "published" / "train.jsonl"
    file.parent.mkdir()
    file.write_text("".join(f"{json.dumps(one)}\n" for one in RECORDS), encoding="utf-8")
    content = file.read_bytes()
    row = RealFile(
        origin="github:o/r@c:train.jsonl",
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        records=len(RECORDS),
        like="gsm8k",
    )
    monkeypatch.setattr(real, "real_files", lambda: {GSM8K: row})
    return file


def files_report() -> Report:
    return {
        "machine": machine(),
        "quick": False,
        "cases": [result_of_files(WHOLE_FILES, MEASURED)],
    }


def test_sum_of_whole_files_is_held_against_the_goal() -> None:
    result = result_of_files(WHOLE_FILES, MEASURED)
    assert {who: run["median"] for who, run in result["runs"].items()} == {
        OURS: pytest.approx(400),
        PEER: pytest.approx(600),
    }
    (goal,) = result["goals"]
    assert (goal["measured"], goal["met"]) == ("1.5 ×", True)
    (slow,) = result_of_files(replace(WHOLE_FILES, at_least=1.6), MEASURED)["goals"]
    assert not slow["met"]
    failure = failed_files(WHOLE_FILES, "no")
    assert (failure["failure"], [goal["met"] for goal in failure["goals"]]) == ("no", [False])


def test_page_shows_each_file_with_its_origin_and_the_slowest_first() -> None:
    rows = files_markdown(files_report()).splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == ["| gsm8k", "| bbq-age", "| 2 files"]
    assert rows[0].startswith("| gsm8k | 1,319 | 750 | 200 | 200 | 1.00 | `github:openai/")
    assert rows[2] == "| 2 files | 4,999 |  | 400 | 600 | 1.50 |  |"


def test_real_files_are_found_by_their_digest(real_file: Path) -> None:
    other = real_file.with_name("other.jsonl")
    other.write_bytes(real_file.read_bytes()[:-1] + b" ")
    assert found(real_file.parent.parent) == {GSM8K: real_file}


def test_every_real_file_states_where_it_is_from_and_which_function_maps_it() -> None:
    known = {case.dataset for case in parity.CASES}
    for name, file in real.real_files().items():
        assert re.fullmatch(r"github:[\w.-]+/[\w.-]+@[0-9a-f]{40}:.+", file.origin), name
        assert (file.like or name) in known


def test_large_file_has_whole_records_each_made_unique(real_file: Path, tmp_path: Path) -> None:
    made = bootstrap(tmp_path / "large.jsonl", 50, source=real_file)
    records = [json.loads(line) for line in made.read_text(encoding="utf-8").splitlines()]
    assert len({one["question"] for one in records}) == 50
    assert {one["answer"] for one in records} <= {one["answer"] for one in RECORDS}
    again = bootstrap(tmp_path / "again.jsonl", 50, source=real_file)
    assert again.read_bytes() == made.read_bytes()


def test_what_real_files_need_is_said(tmp_path: Path) -> None:
    place = Place(tmp_path, QUICK)
    with pytest.raises(MeasurementError, match="--parity PYTHON"):
        measure_files(place, rounds=1)
    with pytest.raises(MeasurementError, match="--real FOLDER"):
        measure_files(replace(place, python=Path("python"), real=tmp_path), rounds=1)
    (large,) = (case for case in all_cases(place) if case.name == "real-large")
    assert isinstance(large, Case)
    with pytest.raises(MeasurementError, match=f"the file of {GSM8K}"):
        prepare(place, [large])
    with pytest.raises(MeasurementError, match="--parity PYTHON"):
        measure(large, place, rounds=1)


def test_imports_are_summed_by_package() -> None:
    first = "import time: self [us] | cumulative | imported package\n"
    trace = f"{first}import time:  1000 |  3000 |   a.b\nimport time: 2000 | 2000 | a\nother\n"
    assert packages(trace) == {"a": 3.0}
    imports = median_imports([trace, trace.replace("1000", "3000"), trace])
    assert imports_table(imports).splitlines()[2] == "| a | 3.0 |"
    assert imports_table(imports).splitlines()[-1] == "| all | 3.0 |"


def test_results_are_written_to_the_page(tmp_path: Path) -> None:
    (tmp_path / "performance.md").write_bytes(DOCUMENT.read_bytes())
    write_page(tmp_path, files_report(), ["real"])
    page = (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert "\n| 2 files | 4,999 |  | 400 | 600 | 1.50 |  |\n" in page


def test_parts_that_are_not_measured_stay_on_the_page(tmp_path: Path) -> None:
    document, facts = tmp_path / "performance.md", machine()
    full: Report = {
        **report_of(CASE, replace(CASE, name="two")),
        "imports": {"a": 1.0},
    }
    document.write_bytes(DOCUMENT.read_bytes())
    write_page(tmp_path, {**full, "cases": [*files_report()["cases"], *full["cases"]]}, ORDER)
    page = document.read_text(encoding="utf-8")
    write_page(tmp_path, {"machine": facts, "quick": False, "cases": []}, ORDER)
    assert document.read_text(encoding="utf-8") == page
    write_page(tmp_path, report_of(replace(CASE, name="two", what="another thing")), ORDER)
    expected = page.replace("| two | something |", "| two | another thing |")
    assert document.read_text(encoding="utf-8") == expected != page


def test_rows_of_another_machine_do_not_stay_on_the_page(tmp_path: Path) -> None:
    document = tmp_path / "performance.md"
    document.write_bytes(DOCUMENT.read_bytes())
    old = report_of(CASE)
    write_page(tmp_path, {**old, "machine": {**machine(), "cpu": "another"}}, ORDER)
    write_page(tmp_path, report_of(replace(CASE, name="two")), ORDER)
    page = document.read_text(encoding="utf-8")
    assert ("\n| two |" in page, "\n| one |" in page) == (True, False)


def test_files_take_turns_in_processes_of_their_own(
    real_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peer's process needs inspect_evals."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(cache))
    measured = real.measured(
        files={GSM8K: str(real_file)}, rounds=2, cache=str(cache), sides=(OURS,)
    )
    assert {who: len(values) for who, values in measured[GSM8K].items()} == {OURS: 2}
    assert not cache.exists()


def test_side_that_fails_ends_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    with side(OURS) as timed, pytest.raises(RuntimeError, match="registry ended at gsm8k"):
        timed("gsm8k", tmp_path / "absent.jsonl")
    assert "absent.jsonl" in capfd.readouterr().err


def test_function_of_the_peer_maps_the_records_of_each_time(
    real_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[dict[str, Any]] = []

    def record_to_sample(record: dict[str, Any]) -> Sample:
        read.append(record)
        return Sample(input=record["question"])

    monkeypatch.setattr(parity, "CASES", (parity.Case("gsm8k", lambda: record_to_sample),))
    answers = io.StringIO()
    serve(real.SIDES[PEER], [json.dumps([GSM8K, str(real_file)])] * 2, answers)
    assert len(read) == len(RECORDS) * 2
    assert all(float(line) > 0 for line in answers.getvalue().splitlines())
