"""The scheduled workflow asks the sources, and keeps one issue with what no longer fits."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.review_flow.composite_action import BASH, parsed, program

TEXT = (REPOSITORY / ".github" / "workflows" / "verify.yml").read_text(encoding="utf-8")
WORKFLOW = parsed(TEXT)
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["verify"]["steps"]
RUN = {step["id"]: step for step in STEPS if "run" in step}

# Keeps issues in a file as GitHub does, and notes every call.
GH = """
import json, os, pathlib, sys
file = pathlib.Path(os.environ["ISSUES"])
state = json.loads(file.read_text()) if file.exists() else {"calls": [], "issues": []}
what, arguments = sys.argv[2], sys.argv[3:]
state["calls"].append(what)
given = dict(zip(arguments[::1], arguments[1::1]))
opened = [issue for issue in state["issues"] if issue["open"]]
if what == "list":
    title = given["--search"].removeprefix('in:title "').removesuffix('"')
    found = [issue["number"] for issue in opened if title in issue["title"]]
    print(found[0] if found else "")
elif what == "create":
    number = len(state["issues"]) + 1
    body = pathlib.Path(given["--body-file"]).read_text()
    state["issues"].append({"number": number, "title": given["--title"], "body": body, "open": True})
else:
    issue = state["issues"][int(arguments[0]) - 1]
    if what == "edit":
        issue["body"] = pathlib.Path(given["--body-file"]).read_text()
    else:
        issue.update(open=False, comment=given["--comment"])
file.write_text(json.dumps(state))
"""


@dataclass
class Runner:
    """Runs the steps as a runner of GitHub Actions does, on a catalog."""

    folder: Path

    def run(self) -> int:
        """Run the job after its installation; return the exit code of the step that ended it."""
        output = self.folder / "output"
        output.write_text("", encoding="utf-8")
        code = self._step("verify", {})
        found = dict(line.split("=") for line in output.read_text(encoding="utf-8").splitlines())
        if code == 0:
            code = self._step("report", {"CODE": found["code"]})
        return code

    def _step(self, name: str, more: dict[str, str]) -> int:
        variables = {
            key: re.sub(r"\$\{\{.*?\}\}", "", value) for key, value in RUN[name]["env"].items()
        }
        runner = {
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "RUNNER_TEMP": str(self.folder),
            "ISSUES": str(self.folder / "issues.json"),
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }
        return subprocess.run(
            [*BASH, "-c", RUN[name]["run"]],
            cwd=self.folder / "catalog",
            env={**os.environ, **runner, **variables, **more},
            check=False,
        ).returncode

    @property
    def state(self) -> Any:
        """Issues, and calls of `gh`."""
        return json.loads((self.folder / "issues.json").read_text(encoding="utf-8"))


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    program(tmp_path / "bin" / "gh", f"#!{sys.executable}\n{GH}")
    registry = f'#!/bin/sh\nexec {sys.executable} -I -m registry "$@"\n'
    program(tmp_path / "bin" / "registry", registry)
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    index = "version: 1\ndatasets: {qa: {source: {type: csv, path: qa.csv}}}\n"
    (catalog / "datasets.yaml").write_text(index, encoding="utf-8")
    return Runner(tmp_path)


def test_one_issue_is_opened_updated_and_closed(runner: Runner) -> None:
    data = runner.folder / "catalog" / "qa.csv"
    assert runner.run() == 0
    (issue,) = runner.state["issues"]
    assert issue["title"] == RUN["report"]["env"]["TITLE"]
    assert "error: qa: [source] " in issue["body"]
    assert "qa.csv: no such file" in issue["body"]
    data.write_text("input,target\n,x\n", encoding="utf-8")
    assert runner.run() == 0
    (issue,) = runner.state["issues"]
    assert "no such file" not in issue["body"]
    assert "[mapping] record 1, field input: No input in dataset" in issue["body"]
    data.write_text("input,target\nq,x\n", encoding="utf-8")
    assert runner.run() == 0
    (issue,) = runner.state["issues"]
    assert not issue["open"]
    assert issue["comment"].startswith("Everything fits again")
    assert runner.run() == 0
    assert runner.state["calls"] == ["list", "create", "list", "edit", "list", "close", "list"]


def test_a_problem_of_the_command_itself_opens_no_issue(runner: Runner) -> None:
    (runner.folder / "bin" / "registry").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    assert runner.run() != 0
    assert not (runner.folder / "issues.json").exists()


def test_it_may_write_issues_and_nothing_else() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read", "issues": "write"}
    assert set(WORKFLOW["on"]) == {"schedule", "workflow_dispatch"}
    assert "permissions" not in WORKFLOW["jobs"]["verify"]
