"""`make audit` never passes silently."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

KNOWN = json.dumps({"dependencies": [{"name": "pip", "vulns": [{"id": "PYSEC-1"}]}]})
NONE = json.dumps({"dependencies": [{"name": "pip", "vulns": []}]})
UNKNOWN = json.dumps({"dependencies": [{"name": "pip", "skip_reason": "not found"}]})


def audit(
    folder: Path, answer: str, *, required: str = "", code: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run the audit with a program that answers the first question, and then exits with `code`."""
    program = folder / "pip_audit.py"
    program.write_text(
        "import sys\n"
        "asked = any(one.startswith('--requirement') for one in sys.argv)\n"
        f"print({answer!r} if asked else 'all packages')\n"
        f"if not asked: sys.exit({code})\n"
    )
    return subprocess.run(
        [sys.executable, "-I", REPOSITORY / ".ci" / "audit.py", sys.executable, str(program)],
        env={**os.environ, "AUDIT_REQUIRED": required},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("answer", [NONE, UNKNOWN, "", "not json"])
@pytest.mark.parametrize(("required", "code"), [("", 0), ("1", 1)])
def test_a_service_without_advisories_is_reported(
    tmp_path: Path, answer: str, required: str, code: int
) -> None:
    done = audit(tmp_path, answer, required=required)
    assert done.returncode == code
    assert done.stdout.startswith("audit SKIPPED: no package was checked, as ")


@pytest.mark.parametrize("code", [0, 1])
def test_the_result_is_that_of_the_audit(tmp_path: Path, code: int) -> None:
    done = audit(tmp_path, KNOWN, code=code)
    assert (done.returncode, done.stdout) == (code, "all packages\n")


def test_check_runs_bandit_and_the_audit() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = {part.partition(":")[0]: part for part in makefile.split("\n\n")}
    assert "$(BIN)/bandit" in targets["lint"]
    for part in ("lint", "audit", "test"):
        assert f"$(MAKE) {part}" in targets["check"]
