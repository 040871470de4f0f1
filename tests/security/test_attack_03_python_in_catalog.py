"""A package in the manifest folder is run by `python -m registry`; `validate` reports it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.security.audit import run_audited

FILES = {
    "datasets.yaml": "version: 1\ninclude: [registry/*.yaml]\n",
    "registry/one.yaml": "datasets: {}\n",
    "registry/__init__.py": "print('attacker')\n",
    "registry/__main__.py": "print('attacker')\n",
}


def test_validate_reports_a_package_that_would_shadow_ours(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    # The danger is real: a module that is run with `-m` is looked up in the working directory.
    run = [sys.executable, "-m", "registry", "validate"]
    hostile = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "attacker" in hostile.stdout
    done = run_audited(["validate"], folder=tmp_path)
    assert done.code == 1
    assert "attacker" not in done.text
    for name in ("registry/__init__.py", "registry/__main__.py"):
        assert f"{name}:1:1: Python would import or run this file" in done.out
