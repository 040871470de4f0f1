"""The benchmarks run, measure equal work, and report it; no time is asserted."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest
from inspect_ai.dataset import Sample

from benchmarks import distribution, mappings, operations, peer, runner
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
from benchmarks.distribution import (
    Distribution,
    Quantile,
    distributions,
    failed_distribution,
    quantile,
    ratios,
    result_of_mappings,
)
from benchmarks.machine import machine
from benchmarks.page import PICTURE, with_part, write_page
from benchmarks.place import FULL, QUICK, Place
from benchmarks.plot import plot
from benchmarks.report import Report, failed, markdown, merged, result_of, table
from benchmarks.runner import MeasurementError, measure, measure_mappings, prepare
from benchmarks.sides import serve, side
from benchmarks.tables import imports_table, median_imports, operations_table, packages
from registry import get_dataset
from tests.parity import cases as parity
from tests.parity.expand import expanded, json_lines

DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"
ORDER = ["mappings", "one", "two"]
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
    chosen = "^(operations|imports|memory-mappings|cold-mapper|sync-jobs|cold-jsonl|validate-again|import|s3-first)$"
    arguments = ["--quick", "--rounds", "2", "--only", chosen, "--json", str(file)]
    code = main([*arguments, "--work", str(folder / "work")])
    return code, json.loads(file.read_text(encoding="utf-8"))


def test_quick_run_measures_every_run_in_every_round(
    quick_run: tuple[int, dict[str, Any]],
) -> None:
    code, report = quick_run
    assert [case["failure"] for case in report["cases"]] == [None] * 7
    assert code == 0
    shape = {
        case["name"]: {name: len(run["values"]) for name, run in case["runs"].items()}
        for case in report["cases"]
    }
    assert shape == {
        "cold-jsonl": {OURS: 2, PEER: 2, "pyarrow": 2},
        "cold-mapper": {OURS: 2, "one process": 2, PEER: 2},
        "sync-jobs": {OURS: 2, "--jobs 1": 2},
        "memory-mappings": {OURS: 1, "secqa-v1": 1, "agieval-sat-math": 1},
        "validate-again": {OURS: 2},
        "import": {OURS: 2, "bare Python": 2},
        "s3-first": {OURS: 1},
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
    assert "`split`" in report["operations"]
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


@pytest.mark.parametrize(
    ("name", "suffix", "mapping"),
    [
        ("jsonl", "jsonl", "fields"),
        ("csv", "csv", "columns"),
        ("commas", "commas.csv", "commas"),
        ("by-record", "jsonl", "by-record"),
        ("mapper", "jsonl", "mapper"),
        ("hub", "parquet", "fields"),
    ],
)
def test_registry_and_peer_produce_the_same_samples(
    name: str, suffix: str, mapping: str, small_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(small_place.peer_cache))
    ours = get_dataset(f"{name}-tiny", root=small_place.catalog)
    theirs = peer.read(str(small_place.data(40, suffix)), mapping)
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
    once = with_part(with_part(document, "table", "first"), "mappings", "other")
    twice = with_part(once, "table", "second")
    assert twice == once.replace("\n\nfirst\n\n", "\n\nsecond\n\n")
    assert "\n\nother\n\n" in twice
    with pytest.raises(ValueError, match="the document needs the lines"):
        with_part("no markers", "table", "text")


def test_document_lists_every_case() -> None:
    shown = DOCUMENT.read_text(encoding="utf-8")
    cases = all_cases(Place(Path(), FULL))
    assert [case.name for case in cases if f"\n| {case.name} | {case.what} |" not in shown] == []


# ---------------------------------------------------------------- the catalog's mappings

LARGE = Distribution(
    name="mappings",
    rows=100,
    goals=(Quantile("median", 0.5, 3), Quantile("slowest", 0, 2)),
    rounds=1,
)
MEASURED = {
    f"m{number}": {OURS: [0.1, 0.2, 0.3], PEER: [0.2 * number, 0.2 * number, 9.0]}
    for number in range(1, 5)
}


def mappings_report() -> Report:
    results = [result_of_mappings(LARGE, MEASURED)]
    return {"machine": machine(), "quick": False, "cases": results}


def test_quantiles_are_ratios_of_mappings() -> None:
    assert ratios(MEASURED) == {"m1": 1.0, "m2": 2.0, "m3": pytest.approx(3), "m4": 4.0}
    assert [quantile([5, 1, 4, 2, 3], share) for share in (0, 0.1, 0.5, 1)] == [1, 1, 3, 5]


def test_distribution_is_held_against_its_goals() -> None:
    result = result_of_mappings(LARGE, MEASURED)
    shown = [(goal["target"], goal["measured"], goal["met"]) for goal in result["goals"]]
    assert shown == [("median ≥ 3 ×", "3 ×", True), ("slowest ≥ 2 ×", "1 ×", False)]
    assert result["runs"][OURS]["values"] == [2000.0] * 4
    failure = failed_distribution(LARGE, "no")
    assert (failure["failure"], [goal["met"] for goal in failure["goals"]]) == ("no", [False] * 2)


def test_page_shows_quantiles_and_each_mapping_with_the_slowest_first() -> None:
    lines = distribution.markdown(mappings_report(), PICTURE).splitlines()
    assert "| 100 | 4 | 1.00 | 1.00 | 2.00 | 3.00 | 4.00 | 4.00 | 0 |" in lines
    rows = [line for line in lines if line.startswith("| m")]
    assert rows[1] == "| m1 | 1.00 | 2,000 | 2,000 |"
    assert [row.split(" ")[1] for row in rows] == ["mapping", "m1", "m2", "m3", "m4"]


def test_cost_of_operations_is_shown_for_each_way() -> None:
    costs = operations.measured(rows=3)
    assert {name for name, _, _ in operations.examples()} == costs.keys()
    assert costs["`split`"]["row"] is not None
    assert costs["messages"]["kernel"] is None
    lines = operations_table({"`x`": {"row": 1.5e-6, "function": 2e-7, "kernel": None}})
    assert lines.splitlines()[-1] == "| `x` | 1.50 | 0.20 |  |"


def test_imports_are_summed_by_package() -> None:
    first = "import time: self [us] | cumulative | imported package\n"
    trace = f"{first}import time:  1000 |  3000 |   a.b\nimport time: 2000 | 2000 | a\nother\n"
    assert packages(trace) == {"a": 3.0}
    imports = median_imports([trace, trace.replace("1000", "3000"), trace])
    assert imports_table(imports).splitlines()[2] == "| a | 3.0 |"
    assert imports_table(imports).splitlines()[-1] == "| all | 3.0 |"


def test_results_are_written_to_the_page_and_its_image(tmp_path: Path) -> None:
    (tmp_path / "performance.md").write_bytes(DOCUMENT.read_bytes())
    write_page(tmp_path, mappings_report(), ["mappings"])
    page = (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert "| m4 | 4.00 | 2,000 | 8,000 |" in page
    assert f"]({PICTURE})" in page
    assert (tmp_path / PICTURE).read_text(encoding="utf-8").count("<circle") == 4


def test_parts_that_are_not_measured_stay_on_the_page(tmp_path: Path) -> None:
    document, facts = tmp_path / "performance.md", machine()
    full: Report = {
        **report_of(CASE, replace(CASE, name="two")),
        "operations": {"`x`": {"row": 1e-6, "function": None, "kernel": None}},
        "imports": {"a": 1.0},
    }
    document.write_bytes(DOCUMENT.read_bytes())
    write_page(tmp_path, {**full, "cases": [*mappings_report()["cases"], *full["cases"]]}, ORDER)
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


def test_plot_is_xml_with_a_mark_for_each_mapping_and_goal() -> None:
    image = plot({"<a> & b": ([0.17, 1.0, 40.0], LARGE.goals)})
    root = ET.fromstring(image)
    named = "{http://www.w3.org/2000/svg}"
    circles = root.findall(f"{named}circle")
    assert len(circles) == 3
    heights = [float(circle.attrib["cy"]) for circle in circles]
    assert heights == sorted(heights, reverse=True)
    assert len([line for line in root if line.attrib.get("class") == "one goal"]) == 2
    assert "● <a> & b" in [text.text for text in root.findall(f"{named}text")]
    assert "prefers-color-scheme: dark" in image


def test_mappings_need_the_environment_of_the_parity_tests(tmp_path: Path) -> None:
    with pytest.raises(MeasurementError, match="--parity PYTHON"):
        measure_mappings(LARGE, Place(tmp_path, QUICK), None, rounds=1)


def test_mappings_take_turns_in_processes_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peer's process needs inspect_evals."""
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    measured = mappings.measured(
        chosen=["aime-2024", "secqa-v1"],
        rows=30,
        rounds=2,
        folder=str(tmp_path),
        cache=str(tmp_path / "cache"),
        sides=(OURS,),
    )
    shape = {
        name: {who: len(values) for who, values in runs.items()} for name, runs in measured.items()
    }
    assert shape == {"aime-2024": {OURS: 2}, "secqa-v1": {OURS: 2}}
    assert list(tmp_path.iterdir()) == []


def test_side_that_fails_ends_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    with side(OURS) as timed, pytest.raises(RuntimeError, match="registry ended at aime-2024"):
        timed("aime-2024", tmp_path / "absent.jsonl")
    assert "absent.jsonl" in capfd.readouterr().err


def test_function_of_the_peer_maps_the_records_of_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[dict[str, Any]] = []

    def record_to_sample(record: dict[str, Any]) -> Sample:
        read.append(record)
        return Sample(input=record["Problem"])

    case = parity.Case("aime-2024", lambda: record_to_sample)
    monkeypatch.setattr(mappings, "cases", lambda: {"aime-2024": case})
    assert mappings.names() == ["aime-2024"]
    file = tmp_path / "records.jsonl"
    mappings.made(name="aime-2024", rows=30, file=str(file))
    answers = io.StringIO()
    serve(mappings.SIDES[PEER], [json.dumps(["aime-2024", str(file)])] * 2, answers)
    assert len(read) == 30 * 2
    assert all(float(line) > 0 for line in answers.getvalue().splitlines())


def test_records_are_expanded_with_the_same_forms_and_no_longer_text_twice() -> None:
    records: list[dict[str, Any]] = [
        {"text": "long " * 10, "letter": "A", "url": "https://x/" + "y" * 50},
        {"n": [1]},
    ]
    made = list(expanded(records, 5))
    assert [json.loads(line) for line in json_lines(records, 5)] == made
    assert [list(one) for one in made[:3]] == [["text", "letter", "url"], ["n"], list(records[0])]
    assert len({one["text"] for one in made if "text" in one}) == 3
    assert made[2]["letter"] == "A"
    assert made[2]["url"] == records[0]["url"]
    assert [case.name for case in distributions(1, 1)] == ["mappings", "mappings-few"]
