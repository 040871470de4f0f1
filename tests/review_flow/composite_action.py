"""The steps of a composite action, run as a runner of GitHub Actions runs them."""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from tests.conftest import REPOSITORY
from tests.git_repository import HERMETIC

__all__ = ["BASH", "Action", "Done", "install", "parsed", "prepare", "program"]

BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
"""The command that the runner uses for `shell: bash`."""
_EXPRESSION = re.compile(r"\$\{\{ (?P<name>[\w.-]+) \}\}")
_RUNS_ON = "${{ !cancelled() && steps.install.outcome == 'success' }}"

_BUILDER = """
import zipfile

PATHS = {paths!r}
INFO = "eval_registry-0.1.0.dist-info"
FILES = {{
    "under_test.pth": "\\n".join(PATHS),
    INFO + "/METADATA": "Metadata-Version: 2.1\\nName: eval-registry\\nVersion: 0.1.0\\n",
    INFO + "/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    INFO + "/entry_points.txt": "[console_scripts]\\nregistry = registry.__main__:main\\n",
    INFO + "/RECORD": "",
}}

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "eval_registry-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(folder + "/" + name, "w") as wheel:
        for file, text in FILES.items():
            wheel.writestr(file, text)
    return name
"""
_COPYING = """\
#!/bin/sh
if [ "$1 $2 $3" = "-I -m venv" ]; then exec cp -a {venv}/. "$4"; fi
exec {python} "$@"
"""
_PROJECT = """\
[build-system]
requires = []
build-backend = "builder"
backend-path = ["."]

[project]
name = "eval-registry"
version = "0.1.0"
"""


@dataclass(frozen=True)
class Done:
    """The results of a job."""

    codes: dict[str, int] = field(default_factory=dict)
    """Id of each step that ran → its exit code."""
    logs: dict[str, str] = field(default_factory=dict)
    """Id of each step that ran → its output."""
    outputs: dict[str, str] = field(default_factory=dict)
    """`steps.ID.outputs.NAME` → the value, for all steps."""
    summary: str = ""
    """The summary of the job."""


@dataclass(frozen=True)
class Action:
    """An action's file, and where a runner has checked it out."""

    file: Path
    checkout: Path
    temp: Path
    """The runner's folder for temporary files of the job."""

    @property
    def data(self) -> Any:
        """Everything in the file."""
        return yaml.safe_load(self.file.read_text(encoding="utf-8"))

    @property
    def steps(self) -> dict[str, Any]:
        """The steps by their ids."""
        return {step["id"]: step for step in self.data["runs"]["steps"]}

    def run(
        self,
        workspace: Path,
        *,
        only: str = "",
        known: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        inputs: Mapping[str, str] | None = None,
    ) -> Done:
        """Run the steps, or only one; `known` are outputs of steps that ran before."""
        defaults = {name: one["default"] for name, one in self.data["inputs"].items()}
        # The default, `python3`, may be another Python than the one under test.
        given = {**defaults, "python": _python(), **(inputs or {})}
        assert set(given) == set(defaults), "an input that the action does not have"
        done = Done(outputs=dict(known or {}))
        context = {f"inputs.{name}": value for name, value in given.items()}
        context["github.action_path"] = str(self.checkout)
        summary = ""
        for name, step in self.steps.items():
            if only in ("", name) and self._starts(step, done):
                variables = dict(self._variables(step, {**context, **done.outputs}))
                summary += self._run_step(name, step, workspace, variables, environment or {}, done)
        return Done(done.codes, done.logs, done.outputs, summary)

    def _starts(self, step: Mapping[str, Any], done: Done) -> bool:
        condition = step.get("if")
        if condition is None:
            return not any(done.codes.values())
        assert condition == _RUNS_ON, "a condition that this does not know"
        return done.codes.get("install", 0) == 0

    def _variables(
        self, step: Mapping[str, Any], context: Mapping[str, str]
    ) -> Iterator[tuple[str, str]]:
        for name, value in step.get("env", {}).items():
            yield name, _EXPRESSION.sub(lambda found: context.get(found["name"], ""), value)

    def _run_step(
        self,
        name: str,
        step: Mapping[str, Any],
        workspace: Path,
        variables: Mapping[str, str],
        environment: Mapping[str, str],
        done: Done,
    ) -> str:
        """Run a step, record its outcome, and return its addition to the summary."""
        self.temp.mkdir(exist_ok=True)
        output, summary, script = (self.temp / f"{name}.{kind}" for kind in ("out", "md", "sh"))
        for file, text in ((output, ""), (summary, ""), (script, step["run"])):
            file.write_text(text, encoding="utf-8")
        ambient = {key: text for key, text in os.environ.items() if key != "PYTHONPATH"}
        runner = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKSPACE": str(workspace),
            "RUNNER_TEMP": str(self.temp),
        }
        ended = subprocess.run(
            [*BASH, str(script)],
            cwd=workspace,
            env={**ambient, **HERMETIC, **runner, **environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        done.codes[name], done.logs[name] = ended.returncode, ended.stdout
        for line in output.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            done.outputs[f"steps.{name}.outputs.{key}"] = value
        return summary.read_text(encoding="utf-8")


@cache
def _python() -> str:
    """Return a Python whose `-m venv`, which unpacks pip for seconds, copies one environment."""
    folder = TemporaryDirectory(prefix="registry-tests-")
    atexit.register(folder.cleanup)
    subprocess.run([sys.executable, "-I", "-m", "venv", f"{folder.name}/venv"], check=True)
    text = _COPYING.format(venv=f"{folder.name}/venv", python=sys.executable)
    return str(program(Path(folder.name, "python"), text))


def program(path: Path, text: str) -> Path:
    """Write a script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def parsed(text: str) -> Any:
    """Return the data of a workflow."""
    # PyYAML takes `on` for true, as YAML 1.1 does; GitHub does not.
    return yaml.safe_load(re.sub(r"^on:", "'on':", text, flags=re.MULTILINE))


def prepare(top: Path) -> Action:
    """Return this repository's action as a runner has it.

    In place of this repository the runner has a checkout whose build backend makes a wheel that leads
    to the package under test and to what it needs, as neither can be fetched without a network.
    """
    checkout = top / "a checkout"
    checkout.mkdir()
    packages = [path for path in sys.path if path.endswith("site-packages")]
    paths = [str(REPOSITORY / "src"), *packages]
    (checkout / "pyproject.toml").write_text(_PROJECT, encoding="utf-8")
    (checkout / "builder.py").write_text(_BUILDER.format(paths=paths), encoding="utf-8")
    return Action(REPOSITORY / "action.yml", checkout, top / "temp")


def install(top: Path) -> tuple[Action, Done]:
    """Return this repository's action after its first step, with a folder for other steps."""
    action, done = _installed()
    (top / "temp").mkdir(exist_ok=True)
    return replace(action, temp=top / "temp"), done


@cache
def _installed() -> tuple[Action, Done]:
    """Run the first step in an empty folder, once: it takes seconds, and no test changes it."""
    folder = TemporaryDirectory(prefix="registry-tests-")
    atexit.register(folder.cleanup)
    top = Path(folder.name)
    action = prepare(top)
    done = action.run(top, only="install", environment={"PIP_NO_INDEX": "1"})
    assert done.codes == {"install": 0}, done.logs
    return action, done
