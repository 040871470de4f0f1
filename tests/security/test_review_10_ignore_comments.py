"""A comment of a change ignores no problem that matters, and the review lists all such comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.rules import RULE_FAMILIES, RULES
from tests.security.pull_request import PullRequest
from tests.security.test_review_10_rules_of_the_base import FILES, QA

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
