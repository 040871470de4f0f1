"""`make audit` never passes silently."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pytest_httpserver import HTTPServer

from tests.conftest import REPOSITORY


def audit(canary: str, required: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", str(REPOSITORY / ".ci" / "audit.py"), canary],
        env={**os.environ, "AUDIT_REQUIRED": required},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize(("required", "code"), [("", 0), ("1", 1)])
def test_a_service_that_cannot_be_reached_is_named(required: str, code: int) -> None:
    done = audit("http://127.0.0.1:9/", required)
    assert done.returncode == code
    assert done.stdout.startswith(
        "audit SKIPPED: no package was checked, as http://127.0.0.1:9/ can't be read"
    )


@pytest.mark.parametrize("answer", ['{"vulnerabilities": []}', "{}", "not json"])
def test_a_mirror_without_advisories_is_not_asked(httpserver: HTTPServer, answer: str) -> None:
    httpserver.expect_request("/canary").respond_with_data(answer)
    done = audit(httpserver.url_for("/canary"), "1")
    assert done.returncode == 1
    assert done.stdout.startswith("audit SKIPPED: ")


def test_check_runs_bandit_and_the_audit() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    check = makefile.partition("\ncheck: ")[2].partition("\n\n")[0]
    assert "$(BIN)/bandit" in check
    assert "$(MAKE) audit" in check
