"""`diff`: its options and exit codes, and its formats."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import click
import pytest

from registry.cli import main
from registry.cli.commands.diff import FORMATS, as_text, print_diff
from registry.cli.markdown import as_markdown
from registry.cli.terminal import escaped_output
from registry.diff.models import CatalogDiff, KeyChange, NewReach
from registry.diff.sampling import MAX_NEW_BUILDS
from registry.errors import Problem
from tests.cli.diffs import EVIL, change, diff_of, origin, untrusted_diff
from tests.git_repository import git

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
QA = """\
datasets:
  qa:
    description: Questions.
    source: {type: csv, path: data/qa.csv}
    fields: {input: q, target: a}
  qa-one: {extends: qa, limit: 1}
"""
RECORDS = "q,a\nOne?,1\nTwo?,2\nThree?,3\n"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `diff` in this process: code, output, errors."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(["diff", *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, re.sub(r"\([0-9a-f]{7}\)", "(…)", out), err

    return call


def catalog(folder: Path, *, index: str = INDEX, qa: str = QA, records: str = RECORDS) -> Path:
    for name, text in {"datasets.yaml": index, "m/qa.yaml": qa, "data/qa.csv": records}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a committed catalog in the current folder."""
    folder = catalog(tmp_path / "repository")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder)
    monkeypatch.chdir(folder)
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "change")


# --- snapshots ---


def test_folders_are_compared_without_git(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = catalog(tmp_path / "old"), catalog(tmp_path / "new", qa=QA.replace("1}", "2}"))
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = run(str(old), str(new))
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == "qa-one: samples not compared (not cached); `limit`"
    assert lines[2:7] == [
        "new reach: none beyond what the base reaches",
        "",
        "~ qa-one: subset  m/qa.yaml:6",
        "  samples not compared (not cached); `limit`",
        "  limit: 1 → 2  m/qa.yaml:6",
    ]
    elsewhere = catalog(tmp_path / "deeper" / "old") / "datasets.yaml"
    assert run(str(old), str(elsewhere))[0] == 0, "where a catalog is, is no difference"


def test_head_defaults_to_the_present_folder(run: Run, repository: Path) -> None:
    assert run()[:2] == (0, "no differences\nmerge base (…) → work tree\n")
    (repository / "m" / "new.yaml").write_text(QA.replace("qa", "new").replace("new.csv", "qa.csv"))
    code, out, _ = run()
    assert code == 1
    assert "2 datasets added" in out
    assert "+ new: added  m/new.yaml:3" in out


def test_two_revisions_are_compared_whatever_the_present_folder(run: Run, repository: Path) -> None:
    catalog(repository, qa=QA.replace("limit: 1", "limit: 2"))
    commit(repository)
    (repository / "datasets.yaml").write_text("broken: [")
    code, out, _ = run("HEAD~1", "main")
    assert (code, out.splitlines()[1]) == (1, "HEAD~1 (…) → main (…)")
    assert "limit: 1 → 2  m/qa.yaml:6" in out


def test_base_defaults_to_where_the_branch_left_main(run: Run, repository: Path) -> None:
    git(repository, "switch", "--quiet", "--create", "topic")
    git(repository, "switch", "--quiet", "main")
    catalog(repository, qa=QA.replace("Questions", "Not of the branch"))
    commit(repository)
    git(repository, "switch", "--quiet", "topic")
    assert run()[0] == 0
    assert run("main")[0] == 1


def test_catalog_in_a_subfolder_of_the_repository_is_compared(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path / "top"
    qa, index = QA.replace("data/qa.csv", "../shared/qa.csv"), f"{INDEX}paths: [../shared]\n"
    folder = catalog(top / "evals", qa=qa, index=index)
    (top / "shared").mkdir()
    (top / "shared" / "qa.csv").write_text(RECORDS)
    git(top, "init", "--quiet", "--initial-branch", "main")
    commit(top)
    monkeypatch.chdir(folder)
    assert run("HEAD")[0] == 0
    (top / "shared" / "qa.csv").write_text(RECORDS.replace("3\n", "4\n"))
    code, out, _ = run("HEAD", "--build")
    assert code == 1
    assert re.search(
        r"bytes\.\.\./shared/qa\.csv: sha256:\w{12}… → sha256:\w{12}…  shared/qa\.csv", out
    )
    assert "target: [-3-]{+4+}" in out


def test_all_datasets_are_new_to_a_commit_without_a_catalog(run: Run, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "nothing")
    catalog(tmp_path / "c")
    code, out, _ = run("HEAD", "--root", str(tmp_path / "c"))
    assert code == 1
    assert out.splitlines()[:2] == [
        "2 datasets added (qa; qa-one) · the index changed",
        "HEAD (…), without c/datasets.yaml → work tree",
    ]


def test_files_beside_the_data_are_extracted_too(run: Run, repository: Path) -> None:
    qa = QA.replace("type: csv, path: data/qa.csv", "type: json, path: data/qa.jsonl")
    record = {"q": "One?", "a": "1", "files": {"f": "f.txt"}}
    (repository / "data" / "qa.jsonl").write_text(json.dumps(record))
    (repository / "data" / "f.txt").write_text("x")
    catalog(repository, qa=qa)
    commit(repository)
    catalog(repository, qa=qa.replace("limit: 1", "limit: 2"))
    # Were `f.txt` not there on one side, the sample would name another file.
    assert "samples: no difference in 1" in run("HEAD", "--build")[1]


# --- samples ---


def test_builds_need_the_option_and_are_announced(run: Run, repository: Path) -> None:
    catalog(repository, records=RECORDS.replace("3\n", "4\n"))
    code, out, err = run("HEAD")
    assert (code, err) == (1, "")
    note = "samples: not compared: base and head are not cached (`registry diff HEAD --build`"
    assert note in out
    _, out, err = run("HEAD", "--build")
    assert re.fullmatch(r"building qa of HEAD \(\w{7}\)\nbuilding qa of work tree\n", err)
    assert "; base and head are built for this\n" in out


def test_as_many_new_datasets_as_are_allowed_are_built(run: Run, repository: Path) -> None:
    new = "".join(f"  new-{n}: {{extends: qa, limit: 1}}\n" for n in range(MAX_NEW_BUILDS))
    catalog(repository, qa=QA + new)
    _, out, err = run("HEAD", "--build")
    assert "building new-" in err
    assert "datasets are new" not in out


def test_samples_are_those_that_each_snapshot_pins(run: Run, repository: Path) -> None:
    assert main(["lock"]) == 0
    commit(repository)
    catalog(repository, records=RECORDS.replace("3\n", "4\n"))
    out = run("HEAD", "--build")[1]
    assert "samples: not compared: data/qa.csv: datasets.lock pins sha256:" in out
    assert main(["lock", "--upgrade"]) == 0
    out = run("HEAD", "--build")[1]
    assert "samples: 3 → 3: 1 changed (target)" in out


@pytest.mark.parametrize(("n", "shown"), [("0", 0), ("1", 1), ("3", 2)])
def test_number_of_examples_is_an_option(run: Run, repository: Path, n: str, shown: int) -> None:
    catalog(repository, records=RECORDS.replace("2\n", "x\n").replace("3\n", "y\n"))
    out = run("HEAD", "--build", "-n", n)[1]
    assert out.count("    ~ sample") == shown


# --- problems and usage ---


def test_problem_in_one_snapshot_does_not_hide_the_rest(run: Run, repository: Path) -> None:
    bad = "datasets:\n  bad: {source: {type: csv, path: x.csv}, bogus: 1}\n"
    (repository / "m" / "bad.yaml").write_text(bad)
    catalog(repository, qa=QA.replace("limit: 1", "limit: 2"))
    code, out, _ = run("HEAD")
    assert code == 4
    assert "problem in work tree: m/bad.yaml:2:" in out
    assert "not compared: bad\n" in out
    assert out.startswith(
        "qa-one: samples not compared (not cached); `limit` · 1 problem · 1 dataset"
    )
    assert "limit: 1 → 2" in out


def test_relative_git_dir_of_a_hook_is_ignored(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.chdir(repository / "m")
    assert run("HEAD")[0] == 0


def test_broken_index_is_reported_alone(run: Run, repository: Path) -> None:
    (repository / "datasets.yaml").write_text("version: 1\nbogus: 1\n")
    code, out, _ = run("HEAD")
    assert code == 4
    assert "problem in work tree: datasets.yaml:2:1 $.bogus" in out
    assert "removed" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("mian", "no revision 'mian' (did you mean 'main'?)"),
        ("main qqqqqq", "no revision 'qqqqqq' (try `git fetch`)"),
        ("../nothere .", "'../nothere' is not a folder with a datasets.yaml"),
        ("-- -x", "'-x' is not a revision: it starts with `-`"),
        ("main..HEAD", "'main..HEAD' is a range; pass its ends as two arguments: BASE HEAD"),
        ("''", "'' is not a revision: it starts with `-` or is empty"),
        ("main ''", "'' is not a revision: it starts with `-` or is empty"),
    ],
)
def test_side_that_does_not_exist_has_exit_code_4(
    run: Run, repository: Path, arguments: str, words: str
) -> None:
    code, out, err = run(*shlex.split(arguments))
    assert (code, out) == (4, "")
    assert words in err


def test_usage_error_has_exit_code_2(run: Run, repository: Path) -> None:
    code, out, err = run("--format", "xml")
    assert (code, out) == (2, "")
    assert "'xml' is not one of" in err


def test_outside_of_a_repository_the_hint_is_to_pass_folders(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(catalog(tmp_path / "c"))
    code, _, err = run()
    assert code == 4
    assert "not a git repository" in err
    assert "folders can be compared without git" in err


# --- the index ---


def test_trust_is_a_difference(run: Run, repository: Path) -> None:
    catalog(repository, index=f"{INDEX}trust: ['os:getcwd']\n")
    code, out, _ = run("HEAD")
    assert code == 1
    assert out.splitlines() == [
        "the index changed · 1 new in reach",
        "HEAD (…) → work tree",
        "new reach: permission trust: os:getcwd (index)",
        "",
        "index",
        '  trust: (none) → ["os:getcwd"]  datasets.yaml:3',
    ]


def test_default_is_reported_once_with_its_dependents(run: Run, repository: Path) -> None:
    catalog(repository, index=f"{INDEX}defaults:\n  on_duplicate: drop\n")
    out = run("HEAD")[1]
    assert (
        "  on_duplicate: error → drop  built in → datasets.yaml:4\n    inherited by qa, qa-one\n"
        in out
    )


# --- formats ---


def test_json_has_the_numbers_of_the_samples(run: Run, repository: Path) -> None:
    catalog(repository, records=RECORDS.replace("3\n", "4\n"))
    code, out, _ = run("HEAD", "--build", "--format", "json")
    data = json.loads(out)
    assert code == 1
    assert data["headline"] == (
        "qa: 1 target of 3 samples changes · qa-one: no sample of 1 changes"
    )
    qa, one = data["changes"]
    assert (qa["name"], qa["status"], qa["kinds"]) == ("qa", "changed", ["source bytes"])
    assert qa["samples"]["fields"] == {"target": 1}
    assert one["inherited"] == [{"key": "bytes.data/qa.csv", "dataset": "qa"}]
    assert run("HEAD", "--json")[1] == run("HEAD", "--format", "json")[1]


def test_no_folder_of_this_machine_is_printed(run: Run, repository: Path, tmp_path: Path) -> None:
    catalog(repository, records=RECORDS.replace("3\n", "4\n"))
    commit(repository)
    for form in ("text", "json", "markdown"):
        out = run("HEAD~1", "HEAD", "--build", "--format", form)[1]
        assert str(tmp_path) not in out
        assert "registry-diff-" not in out


def test_reading_a_revision_leaves_the_repository_alone(run: Run, repository: Path) -> None:
    def files() -> dict[str, Any]:
        found = (path for path in repository.rglob("*") if path.is_file())
        return {str(path): path.stat().st_mtime_ns for path in found}

    before = files()
    run("HEAD", "--build")
    assert files() == before


# --- the lockfile ---

HUB = """\
datasets:
  hub:
    source: {type: hf, path: o/n, split: test, revision: "8d88b2876a82a080e2f172cc9b25d0d9d2cb4792"}
    fields: {input: q, target: a}
"""
VERIFIED = """\
    samples: 3
    columns: [q, a]
    ordered: sha256:{digest}
    unordered: sha256:{digest}
    format: 1
"""


@pytest.mark.parametrize("output", ["text", "markdown", "html", "json"])
def test_digests_for_the_commit_that_was_locked_change_no_sample(
    run: Run, repository: Path, output: str
) -> None:
    catalog(repository, qa=HUB)
    assert main(["lock", "--offline"]) == 0
    commit(repository)
    lock = repository / "datasets.lock"
    text = lock.read_text("utf-8")
    assert ("revision" in text, "samples" in text) == (True, False)
    pin = VERIFIED.format(digest="0" * 64)
    lock.write_text(text.replace("    format: 1\n", pin), "utf-8")
    code, out, _ = run("HEAD", "--format", output, "--fail-on", "targets")
    assert code == 1  # 3 if it failed for targets
    assert "lock only" in out
    assert "source bytes" not in out
    assert output == "json" or "no sample changes" in out
    assert "0" * 64 not in out


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_prints_a_diff_without_differences(form: str) -> None:
    assert "no differences" in "\n".join(FORMATS[form](diff_of()))


def test_text_and_markdown_are_those_of_their_modules() -> None:
    diff = untrusted_diff("text")
    assert list(FORMATS["text"](diff)) == list(as_text(diff))
    assert list(FORMATS["markdown"](diff)) == [as_markdown(diff)]


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8", "é→"), ("latin-1", "&#233;&#8594;")])
def test_html_is_utf_8_whatever_the_encoding_of_stdout(
    encoding: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    (page,) = FORMATS["html"](diff_of(change("d", "é→", "new")))
    assert f"<del>{shown}</del>" in page
    assert page.isascii() == (encoding != "utf-8")


def test_json_has_the_headline_and_every_field_of_the_diff() -> None:
    problem = Problem(message="bad", file="m.yaml", line=3)
    diff = diff_of(change("d", "old", "new"), head_problems=(problem,))
    data = json.loads("".join(FORMATS["json"](diff)))
    effect = "1 input of 3 samples changes, 1 added; mapping of `input`"
    assert data["headline"] == f"d: {effect} · 1 problem"
    assert data["counts"] == {"inputs": 1}
    assert data["head_problems"] == [problem.to_dict()]
    (changed,) = data["changes"]
    assert (changed["effect"], changed["kinds"]) == (effect, ["inputs"])
    (key,) = changed["keys"]
    assert (key["kind"], key["old"]["value"]) == ("inputs", "old")
    chunks = [["=", "new "], ["-", "old"], ["+", "new"]]
    assert changed["samples"]["examples"][0]["fields"][0]["chunks"] == chunks


def test_json_is_complete_whatever_the_text() -> None:
    data = json.loads("".join(FORMATS["json"](untrusted_diff(EVIL))))
    assert data["changes"][0]["name"] == EVIL


def test_json_has_dates_as_str() -> None:
    key = KeyChange(key="x", kind="", old=None, new=origin("x", date(2024, 1, 2)))
    data = json.loads("".join(FORMATS["json"](diff_of(shared=(key,)))))
    assert data["shared"][0]["new"]["value"] == "2024-01-02"


def text(made: CatalogDiff, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout.isatty", lambda: True)
        return list(as_text(made))


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_lines_are_no_wider_than_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = diff_of(change("a-dataset-with-a-name", "some words " * 30, "other words " * 30))
    lines = [click.unstyle(line) for line in text(made, width, monkeypatch)]
    assert max(map(len, lines)) <= width
    assert '    - "some words' in "\n".join(lines)


def test_long_values_are_printed_below_their_key(monkeypatch: pytest.MonkeyPatch) -> None:
    made = diff_of(replace(change("d", "one template", "another template"), samples=None))
    narrow = [click.unstyle(line) for line in text(made, 60, monkeypatch)]
    wide = [click.unstyle(line) for line in text(made, 80, monkeypatch)]
    assert narrow[6:] == [
        "  fields.input:  m.yaml:1 → m.yaml:2",
        "    - one template",
        "    + another template",
    ]
    assert wide[6:] == ["  fields.input: one template → another template  m.yaml:1 → m.yaml:2"]
    made = diff_of(replace(change("d", "テンプレート一", "another template"), samples=None))
    assert click.unstyle(text(made, 66, monkeypatch)[6]) == narrow[6]  # 62 characters


def test_only_terminals_get_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    made = diff_of(change("d", "old", "new"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = "\n".join(text(made, 100, monkeypatch))
    assert "\x1b[31mold\x1b[0m → \x1b[32mnew\x1b[0m" in coloured
    plain = "\n".join(as_text(made))
    assert "\x1b" not in plain
    assert click.unstyle(coloured) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in "\n".join(text(made, 100, monkeypatch))


def test_untrusted_text_does_not_control_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = text(untrusted_diff(EVIL), 80, monkeypatch)
    assert not set("".join(lines)) & set("\x1b\u202e\n\r")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_terminal_without_styles_may_be_the_log_of_a_ci_which_gets_no_command(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with escaped_output():
        print_diff(diff_of(notes=("##vso[task.complete]",)), form)
    out = capsys.readouterr().out
    assert "vso[task.complete]" in out
    assert "##vso" not in out


def test_lines_are_never_wrapped_in_a_pipe() -> None:
    lines = list(as_text(diff_of(change("d", "some words " * 30, "x"))))
    old = next(n for n, line in enumerate(lines) if line.startswith("    - "))
    assert len(lines[old]) > 150
    assert lines[old + 1] == "    + x"


def test_many_names_are_abbreviated() -> None:
    lines = list(as_text(diff_of(not_compared=tuple(f"d{n}" for n in range(30)))))
    assert lines[-1].startswith("not compared: d0, d1, ")
    assert lines[-1].endswith("d19 and 10 more")


def test_reach_and_new_warnings_stand_below_the_headline_and_the_samples() -> None:
    reach = (NewReach("host", "h.example", ("a", "b")), NewReach("permission", "trust: m:f", ()))
    lines = list(as_text(diff_of(change("d", "old", "new"), reach=reach)))
    assert lines[2] == "new reach: host h.example (datasets a, b); permission trust: m:f (index)"
    (place,) = [number for number, line in enumerate(lines) if line.startswith("  samples: ")]
    assert lines[place + 1] == "  warning: blank target: new"
