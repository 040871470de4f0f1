"""`validate`: four formats, the choice of rules, exit codes, and fixes."""

from __future__ import annotations

import shutil
import socket
import sys
from functools import partial
from pathlib import Path

import pytest

from registry.cli import main
from registry.cli.problems import FORMATS
from registry.errors import Problem
from registry.rules import RULES
from tests.cli.invocation import THEIRS, Invocation, Run

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(run: Run) -> Run:
    """Run `validate` in this process."""
    return partial(run, "validate")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create an empty catalog in the current folder."""
    (tmp_path / "m").mkdir()
    write(tmp_path, "datasets.yaml", "version: 1\ninclude: [m/*.yaml]\nhosts: [example.org]\n")
    write(tmp_path, "x", "")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text, encoding="utf-8")


TEN = """\
datasets:
  mmlu:
    description: Questions.
    license: mit
    source: {type: hf, path: cais/mmlu, name: all, split: test, revision: main}
    fields: {input: question, targt: answer}
    shuffle: true
  mmlu-small:
    extends: mmul
    limit: 10
  qa:
    license: mit
    source:
      type: csv
      path: http://example.org/qa.csv
      fs_options: {headers: {token: hush}}
    fields:
      input: {from: q, do: [{regex: "("}]}
  chat:
    description: Talks.
    license: mit
    source:
      type: json
      path: https://example.org/chat.json?X-Amz-Signature=hush
    seed: 7
"""
# Line, column, severity, rule, path, message with hint.
TEN_FOUND = [
    (5, 65, "warning", "unpinned-revision", "$.datasets.mmlu.source.revision", "the revision 'main' may move (give a full commit: `revision: <40 hex digits>`)"),
    (6, 31, "error", "unknown-key", "$.datasets.mmlu.fields.targt", "unknown key 'targt' (did you mean 'target'?)"),
    (7, 5, "error", "unseeded-shuffle", "$.datasets.mmlu.shuffle", "`shuffle` without `seed` gives a different order on every run (add `seed: 42`)"),
    (9, 5, "error", "unknown-parent", "$.datasets.mmlu-small.extends", "no dataset 'mmul' (similar names: mmlu)"),
    (11, 3, "warning", "missing-description", "$.datasets.qa.description", "no description (add one plain sentence)"),
    (15, 7, "warning", "plain-http", "$.datasets.qa.source.path", "plain HTTP to example.org (use https://)"),
    (16, 30, "error", "literal-secret", "$.datasets.qa.source.fs_options.headers.token", "a literal secret in 'token' (name an environment variable: `{env: NAME}`)"),
    (18, 7, "error", "bad-expression", "$.datasets.qa.fields.input", "operation regex: not a regular expression: missing ), unterminated subpattern at position 0"),
    (24, 7, "error", "secret-in-url", "$.datasets.chat.source.path", "a secret in the URL: 'X-Amz-Signature' (pass it at run time: `get_dataset(name, source=URL)`, or put it in fs_options)"),
    (25, 5, "error", "seed-without-shuffle", "$.datasets.chat.seed", "`seed` without `shuffle` does nothing (add `shuffle: true`)"),
]  # fmt: skip


@pytest.fixture
def ten(root: Path) -> Path:
    """Plant ten mistakes in one manifest."""
    write(root, "m/ten.yaml", TEN)
    return root


def test_each_mistake_is_a_line_of_text(run: Run, ten: Path) -> None:
    said = run()
    words = {"warning": "warning: ", "error": ""}
    assert said.lines == [
        *(
            f"m/ten.yaml:{line}:{column} {path}: {words[severity]}{text} [{rule}]"
            for line, column, severity, rule, path, text in TEN_FOUND
        ),
        "7 errors, 3 warnings; --fix may fix 1",
    ]
    assert (said.code, said.err) == (1, "")


@pytest.mark.parametrize("arguments", [("--json",), ("--format", "json")])
def test_each_mistake_is_an_item_of_json(run: Run, ten: Path, arguments: tuple[str, ...]) -> None:
    said = run(*arguments)
    assert (said.code, said.err) == (1, "")
    assert [
        (
            one["line"],
            one["column"],
            one["severity"],
            one["rule"],
            one["path"],
            f"{one['message']} ({one['hint']})".removesuffix(" ()"),
        )
        for one in said.json
    ] == TEN_FOUND
    assert {one["file"] for one in said.json} == {"m/ten.yaml"}


@pytest.mark.parametrize("form", ["github", "sarif"])
def test_programs_get_what_the_format_makes_of_the_problems(run: Run, ten: Path, form: str) -> None:
    problems = [Problem(**one) for one in run("--json").json]
    said = run("--format", form)
    text = "\n".join(FORMATS[form](problems))
    assert (said.code, said.out, said.err) == (1, f"{text}\n", "")


def test_valid_catalog_gives_an_empty_log_and_no_annotations(run: Run, root: Path) -> None:
    write(root, "m/a.yaml", f"datasets:\n{FINE}")
    assert run("--format", "sarif").json["runs"][0]["results"] == []
    assert run("--format", "github").out == ""
    assert run("--format", "json").json == []


def test_invalid_index_is_reported_in_every_format(run: Run, root: Path) -> None:
    write(root, "datasets.yaml", "version: 2\n")
    said = run()
    message = "must be 1, is 2"
    assert (said.code, said.lines[0]) == (
        1,
        f"datasets.yaml:1:1 $.version: {message} [wrong-value]",
    )
    assert [one["message"] for one in run("--json").json] == [message]
    (run_of_sarif,) = run("--format", "sarif").json["runs"]
    assert [one["ruleId"] for one in run_of_sarif["results"]] == ["wrong-value"]
    assert run("--format", "github").lines == [
        f"::error file=datasets.yaml,line=1,col=1,title=wrong-value::$.version: {message}"
    ]


# --- which rules ---


def rules_of(reported: Invocation) -> list[str]:
    return [line.rpartition("[")[2].removesuffix("]") for line in reported.lines[:-1]]


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        (["--select", "secrets"], ["unknown-key", "literal-secret", "secret-in-url"]),
        (["--select", "plain-http", "--select", "order"], ["unknown-key", "unseeded-shuffle", "plain-http", "seed-without-shuffle"]),
        (["--select", "sources", "--ignore", "plain-http"], ["unpinned-revision", "unknown-key"]),
        (["--ignore", "description, sources"], ["unknown-key", "unseeded-shuffle", "unknown-parent", "literal-secret", "bad-expression", "secret-in-url", "seed-without-shuffle"]),
    ],
)  # fmt: skip
def test_rules_are_chosen_on_the_command_line(
    run: Run, ten: Path, arguments: list[str], rules: list[str]
) -> None:
    assert rules_of(run(*arguments)) == rules


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--select", "plain-htp"], "no rule 'plain-htp' (did you mean 'plain-http'?)"),
        (["--ignore", "literal-secret"], "'literal-secret' can't be ignored"),
        (["--select", "zzz"], "no rule 'zzz' (`validate --rules` lists them)"),
        (["--format", "xml"], "'xml' is not one of"),
    ],
)
def test_unknown_name_is_a_usage_error(
    run: Run, root: Path, arguments: list[str], words: str
) -> None:
    said = run(*arguments)
    assert (said.code, said.out) == (2, "")
    assert words in " ".join(said.err.split())


FINE = "  d: {description: A., license: mit, source: {type: csv, path: x}}\n"
BARE = "datasets:\n  d: {description: A., source: {type: csv, path: x}}\n"


def test_command_line_takes_precedence_over_the_index(run: Run, root: Path) -> None:
    write(root, "m/a.yaml", BARE)
    index = (root / "datasets.yaml").read_text(encoding="utf-8")
    write(root, "datasets.yaml", f"{index}validate: {{ignore: [missing-license]}}\n")
    assert run().lines == ["no problems (1 dataset)"]
    assert rules_of(run("--select", "missing-license")) == ["missing-license"]
    write(root, "datasets.yaml", f"{index}validate: {{severity: {{description: error}}}}\n")
    said = run()
    assert (said.code, said.lines[-1]) == (1, "1 error")


def test_misspelt_rule_in_the_index_is_always_reported(run: Run, root: Path) -> None:
    write(root, "m/a.yaml", f"datasets:\n{FINE}")
    write(root, "datasets.yaml", "version: 1\ninclude: [m/*.yaml]\nvalidate: {ignore: [licence]}\n")
    for arguments in ([], ["m/a.yaml"], ["--select", "secrets"]):
        said = run(*arguments)
        assert said.code == 1
        assert said.lines[0].startswith(
            "datasets.yaml:3:21 $.validate.ignore[0]: no rule 'licence' ("
        )


def test_warnings_fail_only_when_strict(run: Run, root: Path) -> None:
    write(root, "m/a.yaml", BARE)
    said = run()
    assert (said.code, said.lines[-1]) == (0, "1 warning")
    assert run("--strict").code == 1
    assert run("--strict", "--ignore", "description").code == 0


def test_rules_option_lists_the_rules(run: Run, root: Path) -> None:
    said = run("--rules")
    assert said.code == 0
    assert [line.split()[0] for line in said.lines[1:]] == list(RULES)
    assert all(rule.reason in said.out for rule in RULES.values())
    listed = run("--rules", "--json").json
    assert [rule["id"] for rule in listed] == list(RULES)
    assert {"family", "severity", "reason", "blocking", "default", "fixable"} <= set(listed[0])


# --- fixing ---


def test_fix_reports_its_changes_and_a_second_run_changes_nothing(run: Run, root: Path) -> None:
    write(root, "m/a.yaml", "datasets:\n  d: {limit: 1, description: A., license: mit, source: {type: csv, path: x}}\n")  # fmt: skip
    said = run("--fix")
    assert (said.code, said.err) == (0, "")
    assert said.lines == [
        "fixed datasets.yaml: added the schema line",
        "fixed m/a.yaml: added the schema line",
        "fixed m/a.yaml: put the keys of $.datasets.d in order",
        "no problems (1 dataset)",
    ]
    before = (root / "m" / "a.yaml").read_bytes()
    assert run("--fix").lines == ["no problems (1 dataset)"]
    assert (root / "m" / "a.yaml").read_bytes() == before


def test_fix_reports_what_it_could_not_fix(run: Run, root: Path) -> None:
    write(
        root,
        "m/a.yaml",
        "datasets:\n  d:\n    limit: &n 1\n    license: mit\n"
        "    source: {type: csv, path: x, skip_rows: *n}\n",
    )
    said = run("--fix", "--select", "key-order,missing-description", "m/a.yaml")
    assert said.lines == [
        (
            "not fixed m/a.yaml: the keys of $.datasets.d can't be moved as lines;"
            " put them in order by hand"
        ),
        (
            "m/a.yaml:2:3 $.datasets.d.description: warning: no description"
            " (add one plain sentence) [missing-description]"
        ),
        (
            "m/a.yaml:4:5 $.datasets.d.license: warning: 'license' belongs before 'limit'"
            " (`validate --fix` moves it) [key-order]"
        ),
        "2 warnings; --fix may fix 1",
    ]


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_fix_reports_to_stderr_when_stdout_is_for_a_program(
    run: Run, root: Path, form: str
) -> None:
    write(root, "m/a.yaml", f"datasets:\n{FINE}")
    said = run("--fix", "--format", form)
    assert said.code == 0
    assert "fixed m/a.yaml" not in said.out
    assert "fixed m/a.yaml: added the schema line" in said.err


# --- what it does not do ---


def test_validate_makes_no_request_and_imports_no_code(
    run: Run, ten: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a request")

    write(ten, "hooked.py", "raise AssertionError('imported')\n")
    write(
        ten,
        "datasets.yaml",
        "version: 1\ninclude: [m/*.yaml]\ntrust: ['hooked:make']\nvalidate: {select: [all]}\n",
    )
    write(
        ten,
        "m/hook.yaml",
        "datasets:\n  h: {source: {type: csv, path: 'https://h/x.csv'}, mapper: 'hooked:make'}\n",
    )
    monkeypatch.syspath_prepend(ten)
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert run("--fix").code == 1
    assert run("m/hook.yaml").code == 0
    assert "hooked" not in sys.modules


def test_shipped_catalog_has_no_problems_and_nothing_to_fix(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = root / "copy"
    for name in ("registry", "schemas"):
        shutil.copytree(ROOT / name, copy / name)
    shutil.copy(ROOT / "datasets.yaml", copy)
    monkeypatch.chdir(copy)
    said = run("--strict", "--fix")
    assert said.lines[0].startswith("no problems (")
    assert (said.code, len(said.lines)) == (0, 1)
    for path in (ROOT / "registry").glob("*.yaml"):
        assert (copy / "registry" / path.name).read_bytes() == path.read_bytes(), path.name


# --- the lockfile ---

LOCKED = """\
datasets:
  qa:
    description: Questions.
    license: mit
    source: {type: csv, path: qa.csv}
    fields: {input: q}
"""


@pytest.fixture
def locked(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> Path:
    """Take a catalog whose lock was written, and which was checked since."""
    write(root, "m/a.yaml", LOCKED)
    write(root, "qa.csv", "q\nOne?\n")
    assert main(["lock"]) == 0
    capsys.readouterr()
    assert run("--locked").lines == ["no problems (1 dataset)"]
    return root


def test_pin_of_a_changed_manifest_is_stale_until_it_is_locked(
    locked: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    write(locked, "m/a.yaml", LOCKED + "    limit: 1\n")
    stale = (
        "m/a.yaml:2:3 $.datasets.qa: warning: pinned for an older manifest: its sources are those"
        " pinned, but its mapping, transforms or view changed (`registry lock qa`"
        " updates the pin)"
    )
    said = run()
    assert (said.code, len(said.lines)) == (0, 2)
    assert stale in said.lines[0]
    assert run("--locked").code == 1, "what get_dataset refuses is an error"
    assert main(["lock", "qa"]) == 0
    capsys.readouterr()
    assert run("--locked").lines == ["no problems (1 dataset)"]


def test_changed_lockfile_is_checked_again(locked: Path, run: Run) -> None:
    lock = locked / "datasets.lock"
    text = lock.read_text(encoding="utf-8")
    lock.write_text(text.replace("  qa:", "  gone:"), encoding="utf-8")
    (first, _) = run().lines
    assert "datasets.lock:5:3 $.datasets.gone: warning: 'gone' is pinned and in no" in first
    lock.write_text(text.replace("samples: 1", "samples: one"), encoding="utf-8")
    assert "datasets.lock:12:5 $.datasets.qa.samples" in run().lines[0]
    assert run("--ignore", "stale-lock").code == 1, "such a file stops every dataset"


def test_pin_of_a_dataset_in_a_broken_file_is_not_orphaned(locked: Path, run: Run) -> None:
    write(locked, "m/a.yaml", "datasets: [")
    assert "is pinned and in no manifest" not in run().out


def test_stale_pin_is_only_reported_with_its_own_file(locked: Path, run: Run) -> None:
    write(locked, "m/a.yaml", LOCKED + "    limit: 1\n")
    write(locked, "m/b.yaml", LOCKED.replace("qa:", "other:"))
    assert run("m/b.yaml").lines == ["no problems (1 dataset)"]
    assert "$.datasets.qa" in run("m/a.yaml").out


# --- catalogs of packages ---

SAME_NAME = "datasets:\n  theirs: {source: {type: hf, path: org/name, split: test}}\n"


@pytest.mark.parametrize(
    "order", ["m/*.yaml, 'package:shipped_sets'", "'package:shipped_sets', m/*.yaml"]
)
@pytest.mark.parametrize("paths", [[], ["m/zz.yaml"], ["m"]])
def test_name_of_a_dataset_of_a_package_is_an_error_in_the_own_file(
    run: Run, own: Path, shipped: Path, order: str, paths: list[str]
) -> None:
    write(own, "datasets.yaml", f"version: 1\ninclude: [{order}]\n")
    write(own / "m", "zz.yaml", SAME_NAME)
    result = run(*paths)
    assert result.code == 1
    (problem,) = (line for line in result.lines[:-1] if "warning" not in line)
    assert problem == (
        "m/zz.yaml:2:3 $.datasets.theirs: the name 'theirs' is already defined by package"
        " shipped_sets (choose another, or write `override: true` to take its place; that one is"
        f" at {shipped}/m/theirs.yaml:2)"
        " [duplicate-name]"
    )
    assert result.lines[-1].startswith("1 error")


@pytest.mark.parametrize("paths", [[], ["m/zz.yaml"]])
def test_dataset_that_overrides_that_of_a_package_is_no_problem_unless_it_breaks_others(
    run: Run, own: Path, shipped: Path, paths: list[str]
) -> None:
    write(own / "m", "zz.yaml", OWN.replace("qa: {", "theirs: {override: true, "))
    assert run(*paths).code == 0
    write(own / "m", "zz.yaml", SAME_NAME.replace("{source", "{override: true, source"))
    found = run("--json", *paths).json
    place = "$.datasets.theirs-apart.source.encoding"
    assert [one["path"] for one in found if one["severity"] == "error"] == [place][len(paths) :]


OWN = "datasets:\n  qa: {license: mit, source: {type: csv, path: qa.csv}, fields: {input: q, target: a}}\n"
PACKAGED = "version: 1\ninclude: [m/*.yaml, 'package:shipped_sets']\n"


def warn(folder: Path, rules: str) -> None:
    """Configure what `validate` reports in a catalog."""
    text = f"version: 1\ninclude: [m/*.yaml]\nvalidate: {rules}\n"
    write(folder, "datasets.yaml", text)


@pytest.fixture
def including(own: Path, shipped: Path) -> Path:
    """Include a package whose manifest has warnings in a catalog without any; return its folder."""
    write(own / "m", "qa.yaml", OWN)
    write(own, "datasets.yaml", f"{PACKAGED}validate: {{ignore: [description]}}\n")
    return shipped


def test_problems_of_a_package_are_counted_and_shown_on_request(run: Run, including: Path) -> None:
    for _ in range(2):  # read, and remembered
        result = run("--strict")
        assert (result.code, result.lines) == (0, ["no problems (3 datasets)"])
        assert result.err == "note: package:shipped_sets: 1 warning (--packages shows them)\n"
    place = f"{including}/m/theirs.yaml:2:3 $.datasets.theirs.license: warning: no license"
    for arguments in (["--packages"], [str(including / "m" / "theirs.yaml")]):
        result = run("--strict", *arguments)
        assert (result.code, result.err, result.lines[-1]) == (1, "", "1 warning")
        assert result.lines[0].startswith(place)
    assert run("--strict", "--format", "json").out == "[]\n"


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("{ignore: [missing-license]}", []),
        ("{severity: {missing-license: error}}", ["error missing-license"]),
        ("{select: [missing-description], ignore: [bogus]}", ["warning missing-license"]),
        ("{select: [missing-description]}", []),
    ],
)
def test_files_of_a_package_are_checked_by_its_own_index(
    run: Run, own: Path, including: Path, rules: str, found: list[str]
) -> None:
    warn(including, rules)
    write(own, "datasets.yaml", f"{PACKAGED}validate: {{select: [missing-description]}}\n")
    problems = run("--packages", "--json").json
    theirs = [one for one in problems if "shipped_sets" in one["file"]]
    assert [f"{one['severity']} {one['rule']}" for one in theirs] == found
    assert [one["rule"] for one in problems if one not in theirs] == ["missing-description"]


def test_broken_file_of_a_package_is_one_of_its_problems(
    run: Run, own: Path, including: Path
) -> None:
    write(including / "m", "broken.yaml", "datasets: [\n")
    result = run()
    assert (result.code, result.lines) == (0, ["no problems (3 datasets)"])
    assert result.err.startswith("note: package:shipped_sets: 1 error, 1 warning (")


def test_stale_pin_of_a_package_is_a_problem_of_the_lockfile(
    run: Run, own: Path, including: Path
) -> None:
    assert main(["lock", "theirs-apart"]) == 0
    write(including / "m", "theirs.yaml", THEIRS.replace("latin-1", "cp1252"))
    assert run("--locked").code == 1
    assert "[stale-lock]" in run().out


def test_fix_does_not_touch_a_package_below_the_folder_of_the_catalog(
    run: Run, own: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = own / ".venv" / "site-packages"
    site.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(shipped.parent)])
    shipped.rename(site / "shipped_sets")
    monkeypatch.syspath_prepend(site)
    before = (site / "shipped_sets" / "m" / "theirs.yaml").read_text()
    result = run("--fix", "--select", "all")
    assert "fixed m/qa.yaml: added the schema line" in result.out
    assert "shipped_sets" not in result.out
    assert (site / "shipped_sets" / "m" / "theirs.yaml").read_text() == before
    assert "note: package:shipped_sets: 1 warning (" in result.err


def test_catalog_that_includes_the_built_in_one_has_no_problems(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = "version: 1\ninclude: [registry/*.yaml, package:registry]\n"
    write(tmp_path, "datasets.yaml", index)
    (tmp_path / "registry").mkdir()
    text = OWN.replace("qa: {", "qa: {description: Questions., ")
    write(tmp_path / "registry", "qa.yaml", text)
    write(tmp_path, "qa.csv", "q,a\nOne?,1\n")
    monkeypatch.chdir(tmp_path)
    result = run("--strict")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("no problems (")
