"""The GitHub action: its steps, taken from the file and run on repositories with a catalog.

`composite_action.install` explains how that works without a network.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from registry.cli import main
from tests import command_line
from tests.conftest import REPOSITORY
from tests.git_repository import GitRepository
from tests.review_flow.composite_action import Action, Done, install, prepare, program
from tests.review_flow.test_pre_commit_hooks import CATALOG

QA = CATALOG["registry/qa.yaml"] + "  qa-one: {extends: qa, limit: 1}\n"
LARGER = {"registry/qa.yaml": QA.replace("limit: 1", "limit: 2")}
UNKNOWN_KEY = {"registry/qa.yaml": QA.replace("license", "licence")}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Action, Done]:
    """Run the first step, once for all tests."""
    return install(tmp_path_factory.mktemp("runner"))


class Job:
    """A pull request from the branch `topic`, and the action on it."""

    def __init__(self, folder: Path, installed: tuple[Action, Done]) -> None:
        action, done = installed
        self.action = replace(action, temp=folder / "temp")
        self.known = dict(done.outputs)
        upstream = GitRepository.make(folder / "upstream", {**CATALOG, "registry/qa.yaml": QA})
        upstream.git("clone", "--quiet", ".", str(folder / "clone"))
        self.upstream = upstream
        self.repository = GitRepository(folder / "clone")
        self.repository.git("switch", "--quiet", "--create", "topic")

    def run(self, *, base_ref: str = "main", only: str = "", **inputs: str) -> Done:
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        later = {name: step for name, step in self.action.steps.items() if name != "install"}
        ran = Done(outputs=dict(self.known))
        summary = ""
        for name in ["base", only] if only else later:
            done = self.action.run(
                self.repository.folder,
                only=name,
                known=ran.outputs,
                environment={"GITHUB_BASE_REF": base_ref},
                inputs=named,
            )
            if not only or done.codes != {"base": 0}:
                ran.codes.update(done.codes)
            ran.logs.update(done.logs)
            ran.outputs.update(done.outputs)
            summary += done.summary
        return Done(ran.codes, ran.logs, ran.outputs, summary)

    def lock(self) -> None:
        assert main(["lock", "--root", str(self.repository.folder)]) == 0

    def start_instead(self, text: str) -> Path:
        """Have later steps start a script in place of the installed Python; return its path."""
        folder = self.action.temp.with_name("instead")
        self.known["steps.install.outputs.folder"] = str(folder)
        return program(folder / "bin" / "python", text)


# Runs `python -I -m registry ARGUMENTS` as a fork: importing takes most of the time of a step.
FORKING = """\
#!/bin/sh
shift 3
exec "${0%/*}/registry" "$@"
"""


@pytest.fixture
def installed_job(tmp_path: Path, installed: tuple[Action, Done]) -> Job:
    """Return a job whose later steps start the Python that the first one installed."""
    return Job(tmp_path, installed)


@pytest.fixture
def job(installed_job: Job) -> Job:
    command_line.install(installed_job.start_instead(FORKING).parent)
    return installed_job


CLEAN = {"base": 0, "diff": 0, "validate": 0, "lock": 0}


# --- the file ---


def scripts() -> Iterator[str]:
    for step in yaml.safe_load((REPOSITORY / "action.yml").read_text())["runs"]["steps"]:
        assert step["shell"] == "bash"
        yield step["run"]


def test_scripts_contain_no_expression() -> None:
    assert [script for script in scripts() if "${{" in script] == []


def test_every_expression_names_an_existing_value(installed: tuple[Action, Done]) -> None:
    action, _ = installed
    text = action.file.read_text(encoding="utf-8")
    assert action.data["runs"]["using"] == "composite"
    inputs = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text))
    assert inputs == set(action.data["inputs"])
    steps, written = list(action.steps), "\n".join(scripts())
    for step, name in re.findall(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}", text):
        assert step in steps
        assert f'"{name}=' in written
    assert all(one["description"] for one in action.data["inputs"].values())
    assert all(one["description"] for one in action.data["outputs"].values())


# --- installing ---


def test_checkout_of_the_action_is_installed_by_default(installed: tuple[Action, Done]) -> None:
    _, done = installed
    folder = Path(done.outputs["steps.install.outputs.folder"])
    assert (folder / "bin" / "registry").is_file()
    assert "version 0.1.0" in done.logs["install"]


def test_failed_installation_skips_the_other_steps(
    installed: tuple[Action, Done], tmp_path: Path
) -> None:
    action = replace(installed[0], temp=tmp_path / "temp")
    inputs = {"install": "eval-registry==0.0.0  another"}
    done = action.run(tmp_path, environment={"PIP_NO_INDEX": "1"}, inputs=inputs)
    assert done.codes == {"install": 1}
    assert "No matching distribution found for eval-registry==0.0.0" in done.logs["install"]


COMMIT = "c" * 40
# `gh`, which knows one release with the files in a folder.
GH = """\
#!/usr/bin/env bash
echo "$1 $2" >> "$CALLS"
case "$1" in
  api) [[ "$2" == repos/o/registry/commits/v0.1.0 ]] && echo "$COMMIT" ;;
  release) cp "$ASSETS"/* . ;;
  attestation) exit "$ATTESTED" ;;
esac
"""


@dataclass(frozen=True)
class Release:
    """A release of the action's repository, as `gh` sees it."""

    action: Action
    top: Path

    @classmethod
    def make(cls, top: Path) -> Release:
        action, assets = prepare(top), top / "assets"
        assets.mkdir()
        program(top / "bin" / "gh", GH)
        build = "import builder, sys; builder.build_wheel(sys.argv[1])"
        subprocess.run([sys.executable, "-c", build, str(assets)], cwd=action.checkout, check=True)
        (wheel,) = assets.glob("*.whl")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        (assets / "environment.txt").write_text(f"./{wheel.name} --hash=sha256:{digest}\n")
        return cls(action, top)

    def install(self, ref: str, attested: int = 0) -> Done:
        return self.action.run(
            self.top,
            only="install",
            known={"github.action_ref": ref, "github.action_repository": "o/registry"},
            environment={
                "PIP_NO_INDEX": "1",
                "PATH": f"{self.top / 'bin'}:{os.environ['PATH']}",
                "ASSETS": str(self.top / "assets"),
                "ATTESTED": str(attested),
                "CALLS": str(self.top / "calls"),
                "COMMIT": COMMIT,
            },
        )

    @property
    def calls(self) -> list[str]:
        return (self.top / "calls").read_text().splitlines()


@pytest.mark.parametrize("ref", ["v0.1.0", COMMIT])
def test_release_installs_the_packages_it_was_tried_with(tmp_path: Path, ref: str) -> None:
    release = Release.make(tmp_path)
    done = release.install(ref)
    assert done.codes == {"install": 0}, done.logs
    wanted = ["attestation verify", "attestation verify"]
    assert release.calls == ["api repos/o/registry/commits/v0.1.0", "release download", *wanted]


def test_other_commit_installs_its_own_code(tmp_path: Path) -> None:
    release = Release.make(tmp_path)
    assert release.install("d" * 40).codes == {"install": 0}
    assert release.calls == ["api repos/o/registry/commits/v0.1.0"]


@pytest.mark.parametrize("what", ["attestation", "hash"])
def test_files_that_are_not_those_of_the_release_are_refused(tmp_path: Path, what: str) -> None:
    release = Release.make(tmp_path)
    if what == "hash":
        (wheel,) = (tmp_path / "assets").glob("*.whl")
        wheel.write_bytes(wheel.read_bytes() + b"\0")
    assert release.install("v0.1.0", attested=int(what == "attestation")).codes == {"install": 1}


def test_release_of_another_tag_is_refused() -> None:
    script = REPOSITORY / ".ci" / "release"
    done = subprocess.run(
        [script], env={**os.environ, "TAG": "v9"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (
        1,
        "the tag is v9, and pyproject.toml has version 0.1.0\n",
    )


# --- a change ---


def test_unchanged_catalog_has_no_differences(installed_job: Job) -> None:
    done = installed_job.run()
    assert done.codes == CLEAN, done.logs
    assert done.outputs["steps.diff.outputs.differences"] == "false"
    assert "no differences" in done.summary
    assert done.logs["validate"] == ""


def test_change_is_reported_in_the_summary_without_failure(job: Job) -> None:
    job.repository.write(LARGER)
    job.repository.commit()
    done = job.run(only="diff")
    assert done.codes == {"diff": 0}, done.logs
    assert done.outputs["steps.diff.outputs.differences"] == "true"
    assert done.summary.startswith("### `qa-one`: samples not compared")
    assert "`registry/qa.yaml:7`" in done.summary
    comment = Path(done.outputs["steps.diff.outputs.comment"])
    assert comment.read_text(encoding="utf-8") == done.summary


def test_later_commits_on_the_base_branch_are_not_reported(job: Job) -> None:
    job.repository.write(LARGER)
    job.repository.commit()
    job.upstream.write({"registry/later.yaml": QA.replace("qa", "later")})
    job.upstream.commit()
    job.repository.git("fetch", "--quiet")
    assert "later" not in job.run(only="diff").summary
    assert "later" in job.run(only="diff", base="origin/main").summary


def test_main_branch_is_the_base_without_a_pull_request(job: Job) -> None:
    job.repository.write(LARGER)
    job.repository.commit()
    assert "### `qa-one`: samples not compared" in job.run(base_ref="", only="diff").summary


# --- errors ---


def test_problem_is_an_annotation_and_differences_are_still_reported(installed_job: Job) -> None:
    installed_job.lock()
    installed_job.repository.write(UNKNOWN_KEY)
    installed_job.repository.commit()
    done = installed_job.run()
    assert done.codes == {"base": 0, "diff": 4, "validate": 1, "lock": 1}, done.logs
    assert "a part of a side could not be read" in done.logs["diff"]
    annotation = r"^::error file=registry/qa\.yaml,line=4,col=5,title=unknown-key::.*'license'"
    assert re.search(annotation, done.logs["validate"], re.MULTILINE), done.logs["validate"]
    assert "**Problems**" in done.summary


def test_stale_lock_fails(job: Job) -> None:
    job.lock()
    assert job.run(only="lock").codes == {"lock": 0}
    job.repository.write({"data/qa.csv": "q,a\nOne?,2\n"})
    done = job.run(only="lock")
    assert done.codes == {"lock": 1}
    assert "data/qa.csv differs from its pin" in done.logs["lock"]
    assert "::error title=registry lock::" in done.logs["lock"]


def test_root_selects_a_catalog_in_a_subfolder(job: Job) -> None:
    (job.repository.folder / "evals").mkdir()
    job.repository.git("mv", "datasets.yaml", "registry", "data", "evals")
    job.repository.write({"evals/datasets.lock": "version: 1\ndatasets: {}\n"})
    job.repository.commit()
    done = job.run(root="evals")
    assert done.codes == {**CLEAN, "lock": 1}, done.logs
    assert "2 datasets added" in done.summary
    for root in ("evals/", "evals/datasets.yaml"):
        assert "qa: is not pinned" in job.run(only="lock", root=root).logs["lock"]


def test_repository_without_a_catalog_fails(job: Job) -> None:
    job.repository.git("rm", "--quiet", "datasets.yaml")
    done = job.run(only="validate")
    assert done.codes == {"validate": 1}
    assert re.match(r"::error file=datasets\.yaml", done.logs["validate"])


def test_shallow_checkout_fails_with_a_hint(job: Job, tmp_path: Path) -> None:
    job.repository.git("remote", "remove", "origin")
    done = job.run(only="diff")
    assert (done.codes, done.summary) == ({"base": 2, "diff": 2}, "")
    assert "fetch-depth: 0" in done.logs["base"]


def test_unknown_base_fails_without_a_summary(job: Job) -> None:
    done = job.run(only="diff", base="origin/mian")
    assert (done.codes, done.summary) == ({"diff": 4}, "")
    assert "no revision 'origin/mian' (did you mean 'origin/main'?)" in done.logs["diff"]
    assert "steps.diff.outputs.differences" not in done.outputs


# --- untrusted input ---

HOSTILE = (
    "$(touch RAN)",
    "`touch RAN`",
    '"; touch RAN; "',
    "'; touch RAN; '",
    "x && touch RAN",
    "a[$(touch RAN)]",
)


# In place of the Python that runs `registry`: it notes the words that it is given.
NOTING = """\
#!/bin/sh
printf '%s\\n' "$@" >> "$0.words"
exit 1
"""


@pytest.fixture
def noting(job: Job) -> Path:
    """Return the file in which the job's Python notes its arguments, one a line."""
    return job.start_instead(NOTING).with_name("python.words")


def test_arguments_are_split_at_whitespace(job: Job, noting: Path) -> None:
    job.run(only="validate", args="--strict\n  --ignore missing-license\n")
    job.run(only="diff", diff_args=" --build\n--offline ")
    words = noting.read_text(encoding="utf-8").splitlines()
    assert {"--strict", "--ignore", "missing-license", "--build", "--offline"} <= set(words)


@pytest.mark.parametrize("text", HOSTILE)
def test_input_is_one_word_and_never_run_as_code(job: Job, noting: Path, text: str) -> None:
    job.run(root=text)
    job.run(base=text)
    words = noting.read_text(encoding="utf-8").splitlines()
    assert words.count(text) == 3, words  # `--root` of diff and validate, and the base of diff
    assert f"--config-from={text}" in words
    assert list(job.repository.folder.rglob("RAN")) == []


@pytest.mark.parametrize(
    ("name", "step", "text"),
    [
        ("base", "diff", HOSTILE[0]),
        # Lists of words, so that each text counts.
        ("args", "validate", " ".join(HOSTILE)),
        ("diff-args", "diff", " ".join(HOSTILE)),
    ],
)
def test_hostile_input_is_an_error(job: Job, name: str, step: str, text: str) -> None:
    done = job.run(only=step, **{name: text})
    assert any(done.codes.values()), done.logs
    assert list(job.repository.folder.rglob("RAN")) == []


@pytest.mark.parametrize("name", ["install", "packages"])
def test_name_of_the_package_is_never_run_as_code(
    installed: tuple[Action, Done], tmp_path: Path, name: str
) -> None:
    action = replace(installed[0], temp=tmp_path / "temp")
    environment = {"PIP_NO_INDEX": "1"}
    done = action.run(tmp_path, environment=environment, inputs={name: " ".join(HOSTILE)})
    assert done.codes == {"install": 1}
    assert "$(touch" in done.logs["install"], "pip is given the words as they are"
    assert list(tmp_path.rglob("RAN")) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_name_of_the_interpreter_is_never_run_as_code(
    installed: tuple[Action, Done], tmp_path: Path, text: str
) -> None:
    action = replace(installed[0], temp=tmp_path / "temp")
    done = action.run(tmp_path, inputs={"python": text})
    assert done.codes == {"install": 127}
    assert list(tmp_path.rglob("RAN")) == []


def test_name_of_the_base_branch_is_never_run_as_code(job: Job) -> None:
    name = "$(touch${IFS}RAN)"
    job.repository.git("update-ref", f"refs/remotes/origin/{name}", "HEAD")
    done = job.run(only="diff", base_ref=name)
    assert done.codes == {"diff": 0}, done.logs
    assert list(job.repository.folder.rglob("RAN")) == []


def test_option_as_base_is_an_unknown_revision(job: Job) -> None:
    done = job.run(only="diff", base="--help")
    assert (done.codes, done.summary) == ({"diff": 4}, "")
    assert "'--help' is not a revision" in done.logs["diff"]


COMMAND = "x\\n::warning::a stranger's"
"""YAML with a line that a runner would read as a workflow command."""
STRANGERS = {
    "a name": {
        "registry/qa.yaml": f'datasets:\n  "{COMMAND}": {{source: {{type: csv, path: x}}}}\n'
    },
    "a pin": {"datasets.lock": f'version: 1\ndatasets:\n  "{COMMAND}": {{samples: 1}}\n'},
    "the index": {"datasets.yaml": f'version: 1\n"{COMMAND}": 1\n'},
}


def commands(log: str) -> list[str]:
    """Return the lines that a runner reads as workflow commands."""
    found, token = [], ""
    for line in log.splitlines():
        if token:
            token = "" if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
            assert re.fullmatch(r"[0-9a-f]{32}", token), "a token that can't be guessed"
        elif line.startswith("::"):
            found.append(line)
    assert not token, "commands are taken again at the end"
    return found


@pytest.mark.parametrize("place", STRANGERS)
def test_quoted_text_in_a_message_is_not_a_workflow_command(job: Job, place: str) -> None:
    job.lock()
    job.repository.write(STRANGERS[place])
    done = job.run()
    assert any(done.codes.values())
    logs = "\n".join(done.logs.values())
    assert "::warning::a stranger's" in logs
    found = [line for step in done.logs.values() for line in commands(step)]
    assert found
    assert [line for line in found if line.startswith("::warning::")] == []


# --- the rules of the base ---

IGNORING = {"datasets.yaml": CATALOG["datasets.yaml"] + "validate: {ignore: [missing-license]}\n"}
UNLICENSED = {"registry/qa.yaml": QA.replace("    license: mit\n", "")}


def test_a_change_is_judged_by_the_rules_of_the_base(job: Job) -> None:
    job.repository.write({**IGNORING, **UNLICENSED})
    job.repository.commit()
    done = job.run(only="validate", args="--strict")
    assert done.codes == {"validate": 1}
    assert "title=missing-license" in done.logs["validate"]


def test_rules_of_the_base_permit_what_they_say(job: Job) -> None:
    job.upstream.write(IGNORING)
    job.upstream.commit()
    job.repository.git("fetch", "--quiet")
    job.repository.git("merge", "--quiet", "origin/main")
    job.repository.write(UNLICENSED)
    job.repository.commit()
    done = job.run(only="validate", args="--strict")
    assert done.codes == {"validate": 0}, done.logs


def test_exit_code_of_a_policy_is_passed_on(job: Job) -> None:
    job.repository.write(LARGER)
    job.repository.commit()
    done = job.run(only="diff", diff_args="--fail-on subset")
    assert (done.codes, done.outputs["steps.diff.outputs.differences"]) == ({"diff": 1}, "true")
    assert "### `qa-one`: samples not compared" in done.summary
    done = job.run(only="diff", diff_args="--fail-on targets")
    assert (done.codes, done.outputs["steps.diff.outputs.differences"]) == ({"diff": 0}, "true")
