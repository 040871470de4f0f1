"""Row 10: a change is judged by the rules of its base, not by those that it brings along.

A comment of a change ignores no problem that matters, and the review lists all such comments.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.rules import RULE_FAMILIES, RULES
from tests.git_repository import write_files
from tests.security.pull_request import PullRequest

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
QA = """\
datasets:
  qa:
    description: Questions.
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a}
"""
FILES = {"datasets.yaml": INDEX, "m/qa.yaml": QA, "qa.csv": "q,a\nOne?,1\n"}
# A warning, with `--strict` a failure.
BAD = QA.replace("    description: Questions.\n", "")
HEAD = {"m/qa.yaml": BAD}
SILENT = f"{INDEX}validate: {{ignore: [all]}}\n"


def pull_request(tmp_path: Path, *, base: str = INDEX, head: str = SILENT) -> PullRequest:
    files = {**FILES, "datasets.yaml": base}
    return PullRequest.make(tmp_path, files, {**HEAD, "datasets.yaml": head})


def test_change_does_not_ignore_its_own_problems(tmp_path: Path) -> None:
    request = pull_request(tmp_path)
    base = str(write_files(tmp_path / "base", {"datasets.yaml": INDEX}))
    assert request.run("validate", "--strict").code == 0, "this is how the attack worked"
    for arguments in (["main"], ["main", "m/qa.yaml"], ["main", "m"], [base]):
        done = request.run("validate", "--strict", "--config-from", *arguments)
        assert done.code == 1
        assert "[missing-description]" in done.out
    for verb in (["validate"], ["lock", "--check"]):
        for name in ("mian", "main..topic", "--x", "./nowhere"):
            done = request.run(*verb, f"--config-from={name}")
            assert done.code == 2
            assert "Invalid value for --config-from" in done.err


def test_base_may_ignore_problems(tmp_path: Path) -> None:
    request = pull_request(tmp_path, base=SILENT, head=INDEX)
    assert request.run("validate", "--strict", "--config-from", "main").code == 0


def test_severity_is_that_of_the_base(tmp_path: Path) -> None:
    strict = f"{INDEX}validate: {{severity: {{description: error}}}}\n"
    request = pull_request(tmp_path, base=strict, head=INDEX)
    assert request.run("validate").code == 0
    assert request.run("validate", "--config-from", "main").code == 1


def test_environment_names_the_base_for_hooks(tmp_path: Path) -> None:
    request = pull_request(tmp_path)
    request.environment["REGISTRY_CONFIG_FROM"] = "main"
    assert request.run("validate", "--strict").code == 1
    assert request.run("lock").code == 0, "a lockfile is written with one's own rules"
    assert request.run("lock", "--check").code == 0


def test_base_without_an_index_ignores_nothing(tmp_path: Path) -> None:
    head = {**FILES, **HEAD, "datasets.yaml": SILENT}
    request = PullRequest.make(tmp_path, {"README.md": "x"}, head)
    done = request.run("validate", "--strict", "--config-from", "main")
    assert (done.code, done.err) == (1, "")


def test_base_with_an_invalid_index_ignores_nothing(tmp_path: Path) -> None:
    request = pull_request(tmp_path, base="version: [")
    done = request.run("validate", "--strict", "--config-from", "main")
    assert done.code == 1
    assert done.err.startswith("warning: main (")
    assert "its index is invalid, so it permits nothing" in done.err
    assert "registry-rules" not in done.out + done.err


MAPPED = QA.replace("fields: {input: q, target: a}", "mapper: evil:map_record")
TRUSTING = f"{INDEX}trust: ['evil:map_record']\n"
EVIL = "import pathlib\npathlib.Path('ran').touch()\ndef map_record(record): return record\n"


def test_change_does_not_trust_its_own_code(tmp_path: Path) -> None:
    head = {"datasets.yaml": TRUSTING, "m/qa.yaml": MAPPED, "evil.py": EVIL}
    request = PullRequest.make(tmp_path, FILES, head)
    assert request.run("validate").code == 0
    assert request.run("lock", "--check", "--config-from", "main").code == 1
    done = request.run("validate", "--config-from", "main")
    assert done.code == 1
    assert "'evil:map_record' is not trusted" in done.out
    assert "under `trust` in datasets.yaml of the base" in done.out
    assert request.run("diff", "main", "--build").code == 1
    assert not (request.folder / "ran").exists()


def test_diff_always_judges_by_its_base(tmp_path: Path) -> None:
    write_files(tmp_path, {"outer/secret.csv": "q,a\nplanted-secret,1\n"})
    manifest = QA.replace("path: qa.csv", "path: ../outer/secret.csv")
    head = {"datasets.yaml": f"{INDEX}paths: [../outer]\n", "m/qa.yaml": manifest}
    done = PullRequest.make(tmp_path, FILES, head).run("diff", "main", "--build")
    assert done.code in (1, 4)
    assert "not compared: " in done.out
    assert "planted-secret" not in done.out + done.err


# --- comments that ignore problems ---

IGNORE = "# registry: ignore missing-license -- the authors were asked"


def test_comment_of_a_change_is_listed_beside_the_rules_of_the_base(tmp_path: Path) -> None:
    manifest = QA.replace("  qa:\n", f"  qa: {IGNORE}\n")
    request = PullRequest.make(tmp_path, FILES, {**FILES, "m/qa.yaml": manifest})
    done = request.run("validate", "--strict", "--config-from", "main")
    assert (done.code, done.out) == (0, "no problems (1 dataset)\n")
    note = "m/qa.yaml:2:7: ignores missing-license -- the authors were asked"
    assert done.err == f"note: {note}\n"
    assert request.run("validate", "--strict").err == ""


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("{type: csv, path: /etc/hostname}", "outside-path"),
        ("{type: csv, path: 'https://me:hush@host/x.csv'}", "secret-in-url"),
        ("{type: csv, path: 'filecache://x.csv'}", "refused-protocol"),
    ],
)
def test_comment_ignores_nothing_that_is_dangerous(tmp_path: Path, source: str, rule: str) -> None:
    manifest = QA.replace("{type: csv, path: qa.csv}", f"{source} # registry: ignore {rule} -- ok")
    request = PullRequest.make(tmp_path, FILES, {**FILES, "m/qa.yaml": manifest})
    done = request.run("validate", "--config-from", "main")
    assert done.code == 1
    assert f"[{rule}]" in done.out, done.out
    assert "[rule-not-ignorable]" in done.out


def test_rules_about_secrets_reach_and_code_cannot_be_ignored() -> None:
    for family in ("secrets", "boundary", "code", "yaml"):
        assert RULE_FAMILIES[family]
        assert all(rule.blocking for rule in RULE_FAMILIES[family])
    assert RULES["include-limit"].blocking
    assert RULES["check-limit"].blocking
