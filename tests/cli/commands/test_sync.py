"""`sync`: what is built, what is printed, and how it ends."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from click import unstyle

from registry.cache.cache import Cache
from registry.cache.contents import contents
from registry.cli.commands.sync import SyncLines
from registry.cli.output import print_failures
from registry.errors import (
    LockStaleError,
    ManifestError,
    MappingError,
    OfflineError,
    Problem,
    RegistryError,
)
from registry.settings import Settings
from registry.workflows.sync import SyncResult
from tests.cli.invocation import BAD_KEY, MISSING_FILE, SYNTAX, Invocation, Run, write

DEMO = ("demo-chat", "demo-mcq", "demo-mcq-small")

NO_FILE = "no such file (a relative path starts at the folder of datasets.yaml)"

BUILT = SyncResult(name="qa", status="built", samples=1200, bytes=4200, seconds=1.23)
FAILED = SyncResult(name="a-name", status="failed", error=RegistryError("why"))
TITLE = "dataset  status      samples      size     time"
BUILT_LINE = "qa       built         1,200    4.2 kB    1.2 s"
Capture = pytest.CaptureFixture[str]


def without_time(text: str) -> str:
    return re.sub(r"[\d.]+ s\b", "# s", text)


def statuses(result: Invocation) -> dict[str, str]:
    return {line.split()[0]: line.split()[1] for line in result.lines[1:]}


def test_second_run_only_counts_what_is_cached(run: Run, demo: Path) -> None:
    first = run("sync", "--tag", "demo")
    assert first.code == 0
    assert first.lines[0].split() == ["dataset", "status", "samples", "size", "time"]
    # The third is a view of the samples of the second: it is built or cached, as workers race.
    assert {"demo-chat"} <= set(statuses(first)) <= set(DEMO)
    assert set(statuses(first).values()) == {"built"}
    second = run("sync", "--tag", "demo", "--offline")
    assert second.code == 0
    assert second.out == ""
    assert without_time(second.err) == "3 datasets: 3 cached in # s\n"
    assert statuses(run("sync", DEMO[0])) == {DEMO[0]: "cached"}


def test_summary_counts_outcomes_and_warnings(run: Run, own: Path) -> None:
    write(own, "gone", MISSING_FILE)
    (own / "qa.csv").write_text("q,a,setup\nOne?,1,ls\nTwo?, ,\n", encoding="utf-8")
    assert without_time(run("sync", "--jobs", "1").err).splitlines() == [
        f"error: gone: {own / 'gone.csv'}: {NO_FILE}",
        (
            "warning: qa, qa-one: blank target in 1 of 2 samples: qa.csv record 2 (' ')"
            " [blank_targets]"
        ),
        "warning: qa, qa-one: columns that no field reads: setup [unused_columns]",
        (
            "3 datasets: 1 built, 1 cached, 1 failed in # s; 4 warnings"
            " (`accept: [NAME]` says that it is meant, `expect` makes it an error)"
        ),
    ]


def test_refresh_builds_again(run: Run, own: Path) -> None:
    assert statuses(run("sync", "--tag", "text")) == {"qa": "built"}
    assert statuses(run("sync", "qa", "--refresh")) == {"qa": "built"}


def test_engine_is_chosen(run: Run, own: Path) -> None:
    assert statuses(run("sync", "qa", "--engine", "processes")) == {"qa": "built"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--scheduler tcp://127.0.0.1:1", "--scheduler needs --engine dask or ray"),
        ("--fewshot 2", "--fewshot needs NAMES, and excludes --reviewed"),
        ("qa --fewshot 2 --reviewed x.json", "--fewshot needs NAMES, and excludes --reviewed"),
        ("qa --pinned", "--pinned excludes NAMES"),
    ],
)
def test_options_that_exclude_each_other_build_nothing(
    run: Run, own: Path, arguments: str, message: str
) -> None:
    result = run("sync", *arguments.split())
    assert (result.code, result.out, message in result.err) == (2, "", True)


def test_shards_together_build_all_and_can_be_repeated(run: Run, demo: Path) -> None:
    built: list[str] = []
    for number in ("1/3", "2/3", "2/3", "3/3"):
        result = run("sync", "--tag", "demo", "--shard", number, "--json")
        found = json.loads(result.out)
        built += [one["name"] for one in found if one["status"] == "built"]
        assert (result.code, f"shard {number[0]} of 3: " in result.err) == (0, True)
    # The third dataset is a view of the second, and is in its shard.
    assert {"demo-chat"} <= set(built) <= set(DEMO)
    second = run("sync", "--tag", "demo", "--offline")
    assert without_time(second.err) == "3 datasets: 3 cached in # s\n"


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/3/3"])
def test_shard_that_is_none_says_how_one_is_written(run: Run, text: str) -> None:
    result = run("sync", f"--shard={text}")
    assert result.code == 2
    assert f"'{text}' is no shard (NUMBER/COUNT with a number from 1" in result.err


def test_json_output_is_nothing_but_json(run: Run, own: Path) -> None:
    write(own, "gone", MISSING_FILE)
    result = run("sync", "--json", "--jobs", "1")
    assert (result.code, result.err) == (1, "")
    gone, qa, one = result.json
    assert (gone["name"], gone["status"], gone["samples"]) == ("gone", "failed", None)
    assert gone["error"]["type"] == "SourceError"
    assert gone["error"]["message"] == f"{own / 'gone.csv'}: {NO_FILE}"
    assert (qa["name"], qa["status"], qa["samples"], qa["error"]) == ("qa", "built", 3, None)
    assert (one["name"], one["status"], one["samples"]) == ("qa-one", "cached", 1)
    assert qa["bytes"] > 0
    assert qa["seconds"] >= 0


SMALL = "datasets:\n  other: {tags: [small], source: "
SMALL_CSV = f"{SMALL}{{type: csv, path: qa.csv"
FAILING = {
    "no file": (MISSING_FILE, ["--tag", "small"]),
    "a bad key": (BAD_KEY, ["qa", "bad"]),
    "no request": (f"{SMALL}{{type: hf, path: org/name, split: test}}}}\n", []),
    "no byte-order mark": (f"{SMALL_CSV}, encoding: utf-16}}}}\n", []),
    "an encoding of bytes": (f"{SMALL_CSV}, encoding: base64}}}}\n", []),
    "no encoding": (f"{SMALL_CSV}, encoding: klingon}}}}\n", ["--tag", "small"]),
    "a mapper's own error": (f"{SMALL_CSV}}}, mapper: 'os:getcwd'}}\n", ["qa", "other"]),
    "no mapper": (f"{SMALL_CSV}}}, mapper: 'os:nothing'}}\n", []),
}


@pytest.mark.parametrize(("text", "chosen"), FAILING.values(), ids=FAILING)
def test_failed_dataset_does_not_stop_the_others(
    run: Run, own: Path, text: str, chosen: list[str]
) -> None:
    write(own, "broken", text)
    (name,) = yaml.safe_load(text)["datasets"]
    result = run("sync", "--offline", *chosen)
    assert result.code == 1
    assert statuses(result)[name] == "failed"
    # Two datasets share samples: one builds them, and the other is only counted.
    assert "built" in statuses(result).values()
    (error,) = [line for line in result.errors if line.startswith("error: ")]
    assert error.startswith(f"error: {name}: ")


def test_unreadable_manifest_is_reported_and_the_rest_is_built(run: Run, own: Path) -> None:
    write(own, "broken", SYNTAX)
    result = run("sync")
    assert result.code == 1
    assert {"qa", "qa-one"} & {*statuses(result)}
    assert "m/broken.yaml:2:1" in result.err


def test_record_that_can_t_be_mapped_is_named(run: Run, own: Path) -> None:
    (own / "qa.csv").write_text("q,a\nOne?,1\n,2\n", encoding="utf-8")
    result = run("sync", "qa")
    assert result.code == 1
    assert result.err.splitlines()[-1] == (
        "error: qa: record 2, field input: No input in dataset, value: '', at m/qa.yaml:6:14"
    )


def test_push_fills_the_remote_cache_and_says_so(
    run: Run, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("sync", "qa", "--push")
    assert result.code == 1
    assert "no remote cache (REGISTRY_REMOTE_CACHE names it" in result.err
    (tmp_path / "shared").mkdir()
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", str(tmp_path / "shared"))
    assert run("lock", "qa").code == 0
    pushed = run("sync", "qa", "--push")
    assert pushed.code == 0
    end = without_time(pushed.err.splitlines()[-1])
    assert end == "1 dataset: 1 cached in # s; remote cache: 1 pushed"
    assert [one["pushed"] for one in run("sync", "qa", "--push", "--json").json] == ["present"]

    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "another machine"))
    assert run("sync", "qa").lines[1].split()[:2] == ["qa", "fetched"]


def test_each_cause_is_printed_once_for_all_datasets_that_it_stops(run: Run, own: Path) -> None:
    names = [f"hub-{number}" for number in range(6)]
    hubs = "".join(
        f"  {one}: {{source: {{type: hf, path: o/{one}, split: test}}}}\n" for one in names
    )
    write(own, "hubs", f"datasets:\n{hubs}")
    result = run("sync", "--offline", "--jobs", "1")
    advice = "(offline; run `registry sync` once while online)"
    *lines, total = result.errors
    assert lines == [
        f"error: 6 datasets: not in the cache, and requests are disabled {advice}",
        f"  {', '.join(names)}",
    ]
    assert without_time(total) == "8 datasets: 1 built, 1 cached, 6 failed in # s"
    assert len(result.lines) == 8


@pytest.fixture(params=[(out, err) for out in (True, False) for err in (True, False)], ids=str)
def terminals(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, bool]:
    """Make stdout and stderr terminals, or pipes."""
    out, err = request.param
    monkeypatch.setattr(sys.stdout, "isatty", lambda: out)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: err)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    return out, err


def test_line_is_printed_at_once_unless_bars_are_on_another_stream(
    terminals: tuple[bool, bool],
) -> None:
    lines = SyncLines(["qa", "a-name"])
    painted, late = list(lines.of(BUILT)), list(lines.late([BUILT]))
    now = [*map(unstyle, painted)]
    assert (now != painted) == terminals[0]
    assert (late, now) == (
        ([TITLE, BUILT_LINE], []) if terminals == (False, True) else ([], [TITLE, BUILT_LINE])
    )


def test_failure_is_a_line_in_a_pipe_only(terminals: tuple[bool, bool]) -> None:
    lines = SyncLines(["qa", "a-name"])
    made = [*lines.of(FAILED), *lines.late([FAILED])]
    assert [line.split()[:2] for line in made[1:]] == (
        [] if terminals[0] else [["a-name", "failed"]]
    )


def gone(count: int, where: str = "org/n{}") -> list[tuple[str, RegistryError]]:
    return [(f"d{one}", OfflineError(f"{where.format(one)}: gone")) for one in range(count)]


TWO = ManifestError([Problem(message="one", file="m.yaml"), Problem(message="two")])
PINS = [(one, LockStaleError(one, f"no pin (`registry lock {one}` does)")) for one in "abcdef"]
CAUSES: dict[str, tuple[Sequence[tuple[str, RegistryError]], list[str], str]] = {
    "many datasets, without their locations": (
        [("a", RegistryError("a: something else")), *gone(7)],
        ["a: something else", "7 datasets: gone"],
        "d0, d1, d2, d3, d4, d5, d6",
    ),
    "many datasets with one location": (
        gone(7, "org/n"),
        ["7 datasets: org/n: gone"],
        "d0, d1, d2, d3, d4, d5, d6",
    ),
    "few datasets": (gone(2), ["d0: org/n0: gone", "d1: org/n1: gone"], ""),
    "a command that named each": (
        PINS,
        ["6 datasets: no pin (`registry lock` does)"],
        "a, b, c, d, e, f",
    ),
    "problems of one file, many datasets": (
        [(name, TWO) for name in "abcdef"],
        ["6 datasets: m.yaml $: one", "6 datasets: $: two"],
        "a, b, c, d, e, f",
    ),
    "problems of one file, few datasets": (
        [(name, TWO) for name in "ab"],
        ["2 datasets: m.yaml $: one", "2 datasets: $: two"],
        "a, b",
    ),
    "messages about different fields": (
        [(name, MappingError("no input", field=name)) for name in ("a", "b")],
        ["a: field a: no input", "b: field b: no input"],
        "",
    ),
}


@pytest.mark.parametrize(("failures", "errors", "names"), CAUSES.values(), ids=CAUSES)
def test_each_cause_is_printed_once(
    capsys: Capture, failures: list[tuple[str, RegistryError]], errors: list[str], names: str
) -> None:
    print_failures(failures)
    assert capsys.readouterr().err.splitlines() == [
        *(f"error: {one}" for one in errors),
        *([f"  {names}"] if names else []),
    ]


def test_terminal_has_only_the_first_names(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    print_failures([(f"dataset-{one}", OfflineError("x: gone")) for one in range(15)])
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 30
    assert " ".join(" ".join(lines).split()).endswith("and 3 more")


def test_a_cache_of_a_size_loses_what_was_used_least_recently(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("sync", "qa").code == 0
    cache = Cache(Settings.from_environment().cache_dir)
    for item in contents(cache):
        for path in (item.path, item.path / "meta.json"):
            if path.exists():
                os.utime(path, (0, 0))
    fields = "fields: {input: a, target: q}"
    write(own, "z", f"datasets: {{z: {{source: {{type: csv, path: qa.csv}}, {fields}}}}}\n")
    monkeypatch.setenv("REGISTRY_CACHE_SIZE", "2kB")
    result = run("sync", "z")
    assert result.code == 0
    assert "of the cache, the least recently used: " in result.err
    assert "more than REGISTRY_CACHE_SIZE" not in result.err
    assert "at most 2.0 kB are kept (REGISTRY_CACHE_SIZE)" in run("cache", "list").err
    monkeypatch.setenv("REGISTRY_CACHE_SIZE", "1B")
    assert "what was used in the last two hours stays" in run("sync", "z").err
    assert [item.meta["name"] for item in contents(cache) if item.kind == "samples"] == ["z"]
    monkeypatch.setenv("REGISTRY_CACHE_SIZE", "20 apples")
    result = run("sync")
    assert result.code == 1
    assert "REGISTRY_CACHE_SIZE: '20 apples' is not a size: give a number and a unit" in result.err
