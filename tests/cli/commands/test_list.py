"""`list`: what it prints, and how it treats broken manifests."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.cells import cell_len
from registry.cli.commands import list as listing
from registry.cli.commands.list import Row, plain_cells, terminal_lines
from tests.cli.invocation import BAD_KEY, QA, SYNTAX, Run, write

ROW = Row(
    name="qa",
    description="Questions.",
    tags=("small", "text"),
    samples=1200,
    bytes=4200,
    cached="yes",
    state="floating",
)
EMPTY = Row(
    name="a-name", description="", tags=(), samples=None, bytes=None, cached="?", state="stale"
)


def test_table_has_state_tags_and_descriptions(run: Run, own: Path) -> None:
    result = run("list")
    assert (result.code, result.err) == (0, "2 datasets: 0 cached, 2 floating\n")
    assert result.lines == [
        "dataset  samples  size  cached  state     tags        description",
        "qa       -        -     no      floating  small,text  Questions.",
        "qa-one   -        -     no      floating  small       Questions.",
    ]


def test_state_of_cached_and_locked_datasets(run: Run, own: Path) -> None:
    run("lock", "qa")
    result = run("list")
    assert [line.split()[:5] for line in result.lines[1:]] == [
        ["qa", "3", *result.lines[1].split()[2:3], "yes", "verified"],
        ["qa-one", "1", *result.lines[2].split()[2:3], "yes", "floating"],
    ]
    assert result.err == "2 datasets: 2 cached, 1 floating, 1 verified\n"
    write(own, "qa", QA.replace("target: a", "target: q"))
    result = run("list")
    assert result.lines[1].split()[3:5] == ["no", "stale"]
    assert result.err.endswith("0 cached, 1 floating, 1 with a stale pin (registry lock)\n")


@pytest.mark.parametrize(
    ("words", "names", "counts"),
    [
        (["--search", "question"], ["qa", "qa-one"], "2 datasets: "),
        (["--search", "QUESTION text"], ["qa"], "1 of 2 datasets: "),
        (["--search", "mit"], [], "no dataset matches (of 2)"),
        (["qa"], ["qa", "qa-one"], "2 datasets: "),
        (["qa-*"], ["qa-one"], "1 of 2 datasets: "),
        (["Question", "text"], ["qa"], "1 of 2 datasets: "),
        (["qa", "--search", "one"], ["qa-one"], "1 of 2 datasets: "),
    ],
)
def test_words_search_name_tags_and_description_and_may_be_patterns_of_names(
    run: Run, own: Path, words: list[str], names: list[str], counts: str
) -> None:
    result = run("list", *words)
    assert [line.split()[0] for line in result.lines[1:]] == names
    assert result.err.startswith(counts)


def test_sort_begins_with_the_most_and_sizes_are_those_that_sync_prints(
    run: Run, own: Path
) -> None:
    write(own, "more", "datasets:\n  z: {extends: qa, limit: 2}\n")
    built = {one["name"]: one["bytes"] for one in run("sync", "--json").json}
    run("lock")
    for key, names in {"samples": ["qa", "z", "qa-one"], "size": ["qa", "qa-one", "z"]}.items():
        rows = [line.split() for line in run("list", "--sort", key).lines[1:]]
        assert [(row[0], int(row[2])) for row in rows] == [(name, built[name]) for name in names]


def test_tags_and_root_select_datasets(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    both = run("list", "--root", str(own))
    one = run("list", "--tag", "small", "--tag", "text", "--root", str(own / "datasets.yaml"))
    assert [line.split()[0] for line in (*both.lines[1:], *one.lines[1:])] == ["qa", "qa-one", "qa"]


def test_json_has_the_descriptive_keys_and_the_state(run: Run, own: Path) -> None:
    same: dict[str, object] = {
        **dict.fromkeys(("homepage", "deprecated", "license", "access", "version")),
        **dict.fromkeys(("samples", "bytes")),
        **dict.fromkeys(("cached", "locked", "stale", "newer"), False),
        **{key: [] for key in ("languages", "splits", "overrides")},
        "description": "Questions.",
        "state": "floating",
    }
    assert run("list", "--json").json == [
        {**same, "name": "qa", "tags": ["small", "text"]},
        {**same, "name": "qa-one", "tags": ["small"]},
    ]


BROKEN = {"a bad key": ("m/bad.yaml", BAD_KEY), "no YAML": ("m/bad.yaml", SYNTAX)}


@pytest.mark.parametrize(
    ("file", "text"),
    [*BROKEN.values(), ("datasets.lock", "nonsense")],
    ids=[*BROKEN, "a lockfile"],
)
def test_invalid_file_is_reported_and_the_rest_is_listed(
    run: Run, own: Path, file: str, text: str
) -> None:
    (own / file).write_text(text, encoding="utf-8")
    result = run("list")
    assert result.code == 1
    assert [line.split()[0] for line in result.lines[1:]] == ["qa", "qa-one"]
    assert result.err.startswith(f"error: {file}:")


@pytest.mark.parametrize("command", ["list", "stats", "show qa", "preview qa", "cache list"])
def test_invalid_lockfile_is_an_error_with_what_to_do(run: Run, own: Path, command: str) -> None:
    lock = "version: 1\ndatasets: {qa: 1, qa-one: 2}\n"
    (own / "datasets.lock").write_text(lock, encoding="utf-8")
    result = run(*command.split())
    assert (result.code, len(result.errors)) == (1, 3 + (command == "list"))  # and the counts
    assert all(line.startswith("error: ") for line in result.errors[:3])
    advice = "The lockfile is invalid: fix it, or remove the file and run `registry lock`"
    assert result.errors[2] == f"error: {advice}"


def lines(rows: list[Row], width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(listing, "columns_of", lambda stream: width)
    return list(terminal_lines(rows, io.StringIO()))


def test_values_for_programs_are_complete_and_never_empty() -> None:
    assert plain_cells(ROW) == ("qa", "1200", "4200", "yes", "floating", "small,text", "Questions.")
    assert plain_cells(EMPTY) == ("a-name", "-", "-", "?", "stale", "-", "-")


def test_description_is_beside_the_values_or_below_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines([ROW, EMPTY], 100, monkeypatch) == [
        "dataset  samples    size  cached  state     description",
        "qa         1,200  4.2 kB  yes     floating  Questions. #small #text",
        "a-name                    ?       stale",
    ]
    assert lines([ROW, EMPTY], 60, monkeypatch) == [
        "dataset  samples    size  cached  state",
        "qa         1,200  4.2 kB  yes     floating",
        "  Questions. #small #text",
        "a-name                    ?       stale",
    ]


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            Row,
            name=st.text("ab-都", min_size=1, max_size=90),
            description=st.text("ab 都\x1b[", max_size=90),
            tags=st.tuples(st.text("xy", min_size=1)),
            samples=st.none() | st.integers(0, 10**9),
            bytes=st.none() | st.integers(0, 10**15),
            cached=st.sampled_from(["yes", "no", "?"]),
            state=st.sampled_from(["verified", "commit", "floating", "stale"]),
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 160),
)
def test_nothing_is_wider_than_the_terminal(rows: list[Row], width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        made = lines(rows, width, patch)
    assert max(map(cell_len, made)) <= max(width, 50)
    assert "\x1b" not in "".join(made)
