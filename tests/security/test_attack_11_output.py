"""Attack 11: names, values and paths of a catalog control the terminal, or command the CI."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.command_line import Ran, run_apart
from tests.git_repository import HERMETIC, GitRepository

COMMANDS = (
    "::error file=a::PWNED",
    "  ::add-mask::PWNED",
    "\u3000::set-env name=PWNED::1",
    "##[add-mask]PWNED",
    "##vso[task.setvariable variable=PWNED]1",
    "##teamcity[PWNED]",
    "section_start:1:PWNED\r",
)
"""Lines that GitHub, Azure, TeamCity and GitLab take for commands."""
HOSTILE = "\n".join(("x\x1b[2J\x9b31m\x07", *COMMANDS, "\u202eend\u200b\u2028::a::\u2066"))
HOSTILE_LINE = "::notice::PWNED \x1b]0;PWNED\x07 ##[error]PWNED\u202e"

# Everything that a terminal or a reader takes for something else than text.
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
COMMAND = re.compile(r"^\s*::|##(?:\w*)\[|section_(?:start|end):\d", re.MULTILINE)
ANNOTATION = re.compile(r"^::(?:error|warning) (?:\w+=[^:,\n]*,?)+::", re.MULTILINE)


def quoted(text: str) -> str:
    """Return a text as a double-quoted scalar of YAML, which a parser reads back."""
    return json.dumps(text)


MANIFEST = f"""\
datasets:
  qa:
    description: {quoted(HOSTILE)}
    license: {quoted(HOSTILE_LINE)}
    tags: [{quoted(HOSTILE_LINE)}, {quoted(HOSTILE)}]
    source: {{type: csv, path: {quoted("data/::debug::PWNED ##[x].csv")}}}
    fields:
      input: q
      target: a
      metadata: {{{quoted(HOSTILE)}: a}}
"""
BROKEN = f"""\
datasets:
  {quoted(HOSTILE)}: {{extends: c}}
  {quoted(HOSTILE_LINE)}:
    {quoted(HOSTILE)}: 1
    tags: [{quoted(HOSTILE)}, 1]
    source: {{type: {quoted(HOSTILE)}, path: 1}}
  c: {{extends: {quoted(HOSTILE)}}}
  d:
    source: {{type: csv, path: {quoted(HOSTILE)}, encoding: {quoted(HOSTILE_LINE)}}}
    fields: {{input: {{from: {quoted(HOSTILE)}, do: [{{{quoted(HOSTILE)}: 1}}]}}}}
    mapper: {quoted(HOSTILE)}
    where: {quoted(HOSTILE)}
  e: {{source: {{type: hf, path: {quoted(HOSTILE)}, split: {quoted(HOSTILE)}}}}}
  f: {{source: {{type: csv, path: gone.csv}}, fields: {{input: {quoted(HOSTILE)}}}}}
"""
FAILING = f"""\
datasets:
  f1: {{source: {{type: csv, path: {quoted("::error::" + HOSTILE_LINE)}}}}}
  f2: {{source: {{type: json, path: data/bad.json}}}}
  f3: {{source: &qa {{type: csv, path: data/qa.csv}}, fields: {{input: {quoted(HOSTILE)}}}}}
  f4: {{source: *qa, fields: {{input: q, target: {{from: a, do: [int]}}}}}}
  f5: {{source: *qa, fields: {{input: q, target: {{from: a, do: [{{map: {{x: y}}}}]}}}}}}
  f6: {{source: {{type: csv, path: {quoted("https://::notice::PWNEDexample.org/" + HOSTILE_LINE)}}}}}
"""
LOCK = f"""\
version: 1
datasets:
  {quoted(HOSTILE)}: {{{quoted(HOSTILE)}: 1}}
  qa: {{spec: {quoted(HOSTILE)}, samples: 1, sources: [{{location: {quoted(HOSTILE)}}}]}}
"""
INDEX = "version: 1\ninclude: [m/*.yaml]\n"


def cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


DATA = f"q,a,{cell(HOSTILE)}\n{cell(HOSTILE)},{cell(HOSTILE_LINE)},{cell(HOSTILE)}\n"


@dataclass(frozen=True)
class HostileCatalog:
    """A repository whose change names everything as badly as it can."""

    repository: GitRepository
    cache: Path

    def run_all(self, commands: Sequence[Sequence[str]]) -> list[Ran]:
        """Run commands on it in another process; what they print is taken below Python."""
        environment = {**HERMETIC, "REGISTRY_CACHE_DIR": str(self.cache)}
        return run_apart(self.repository.folder, commands, environment=environment, timeout=300)


def catalog(folder: Path, manifests: Mapping[str, str]) -> HostileCatalog:
    """Return a repository with a harmless branch `main`, and these manifests on another."""
    files = {
        "datasets.yaml": INDEX,
        "m/qa.yaml": "datasets:\n  qa: {source: {type: csv, path: data/qa.csv}}\n",
        "data/qa.csv": "question,answer\n1,2\n",
    }
    repository = GitRepository.make(folder / "repository", files)
    repository.git("switch", "--quiet", "--create", "change")
    data = dict.fromkeys(["data/qa.csv", "data/::debug::PWNED ##[x].csv"], DATA)
    repository.write({f"m/{name}.yaml": text for name, text in manifests.items()})
    repository.write({**data, "data/bad.json": quoted(HOSTILE) + HOSTILE})
    repository.commit()
    return HostileCatalog(repository, folder / "cache")


def assert_harmless(source: object, text: str) -> None:
    assert (source, CONTROL.findall(text)) == (source, [])
    assert (source, COMMAND.findall(text)) == (source, [])


READING = [
    *(("validate",), ("validate", "--strict", "--json"), ("validate", "--format", "sarif")),
    *(("list",), ("list", "--json"), ("list", "--tag", HOSTILE), ("show", HOSTILE)),
    *(("show", "qa", *more.split()) for more in ("", "--json", "--origin", "--origin --json")),
    *(("show", "qa", "--call"), ("preview", "qa"), ("preview", "qa", "--json")),
    *(("preview", HOSTILE), ("preview", "qa", "--from", "data/bad.json")),
    *(("sync",), ("sync", "--json"), ("sync", HOSTILE), ("verify",), ("verify", "--json")),
    *(("lock", "--check"), ("lock", "--check", "--json")),
    *(("diff", "main", *more.split()) for more in ("", "--json", "--format markdown")),
    *(
        ("diff", "main", "--build", "--offline", *more.split())
        for more in ("", "--json", "--format markdown", "--format html")
    ),
    ("diff", "main", "--build", "--offline", "--fail-on", "reach,index,added,source"),
    ("add", "new", "--file", "data/qa.csv", "--dry-run"),
    *(("cache", "list"), ("cache", "list", "--json")),
]
WRITING = [("lock",), ("lock", "--json"), ("add", "new", "--file", "data/qa.csv")]
USAGE = [
    *((HOSTILE,), ("list", f"--{HOSTILE}"), ("schema", HOSTILE), ("list", HOSTILE)),
    *(("validate", "--select", HOSTILE), ("validate", "--format", HOSTILE)),
    *(("validate", HOSTILE), ("validate", HOSTILE_LINE), ("list", "--root", HOSTILE)),
    *(("preview", "qa", "-n", HOSTILE), ("preview", "qa", "--from", HOSTILE)),
    *(("diff", HOSTILE), ("diff", "main", HOSTILE_LINE)),
    *(("add", HOSTILE, "--file", "data/qa.csv"), ("add", "x", "--file", HOSTILE)),
]
ANNOTATIONS = [("validate", "--json"), ("validate", "--format", "github")]
BAD_NAMES = {"::error::x": BROKEN, "a\x1b[2Jb\u202e": BROKEN, "##[error]\n::error::y": "a: [\n"}
CATALOGS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "valid": ({"qa": MANIFEST}, {}),
    "invalid, in files named like a command": ({"qa": MANIFEST, **BAD_NAMES}, {}),
    "without any that can be built": (
        {"qa": FAILING},
        {"datasets.yaml": f"{INDEX}paths: [{quoted(HOSTILE_LINE)}, {quoted(HOSTILE)}]\n"},
    ),
    "with a bad lock": ({"qa": MANIFEST}, {"datasets.lock": LOCK}),
}


@pytest.fixture(scope="module", params=CATALOGS)
def outputs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, ...], Ran]:
    """Return what each command prints on a catalog."""
    manifests, files = CATALOGS[request.param]
    made = catalog(tmp_path_factory.mktemp("hostile"), manifests)
    made.repository.write(files)
    commands = [*READING, *USAGE, *ANNOTATIONS, *WRITING]
    return dict(zip(commands, made.run_all(commands), strict=True))


def test_nothing_prints_controls_or_commands(outputs: dict[tuple[str, ...], Ran]) -> None:
    assert len(outputs) == len({*READING, *USAGE, *ANNOTATIONS, *WRITING})
    for arguments, output in outputs.items():
        assert output.code in {0, 1, 2, 4}, (arguments, output)
        assert "Traceback" not in output.err
        if "github" not in arguments:
            assert output.out + output.err
            assert_harmless(arguments, output.out)
        assert_harmless(arguments, output.err)


def test_annotations_are_one_line_for_each_problem(outputs: dict[tuple[str, ...], Ran]) -> None:
    problems, annotations = (outputs[arguments].out for arguments in ANNOTATIONS)
    lines = annotations.split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(json.loads(problems))
    for line in lines:
        assert ANNOTATION.match(line)
        assert_harmless("annotation", ANNOTATION.sub("", line))


def test_machines_read_the_same_data(tmp_path: Path) -> None:
    commands = [*(("list", "--json"), ("preview", "qa", "--json"), ("show", "qa"))]
    commands.append(("diff", "main", "--json"))
    listed, sample, shown, diff = catalog(tmp_path, {"qa": MANIFEST}).run_all(commands)
    (dataset,) = json.loads(listed.out)
    assert (dataset["description"], dataset["tags"]) == (HOSTILE, [HOSTILE_LINE, HOSTILE])
    # A CSV file is read as text.
    assert json.loads(sample.out)["input"] == HOSTILE.replace("\r\n", "\n")
    (changed,) = json.loads(diff.out)["changes"]
    (described,) = (one for one in changed["keys"] if one["key"] == "description")
    assert described["new"]["value"] == HOSTILE
    spec = yaml.safe_load(shown.out)["datasets"]["qa"]
    assert (spec["description"], spec["fields"]["metadata"]) == (HOSTILE, {HOSTILE: "a"})


# With a terminal there is color and a frame; what the change brings must still be text.
TERMINAL = [("list",), ("show", "qa", "--origin"), ("preview", "qa"), ("sync",), ("diff", "main")]
PLANTED = re.compile("\x1b\\[2J|\x1b\\]|[\x07\x9b\u202e\u200b\u2028\u2066]")


NEXT = "-- next --"
ON_A_TERMINAL = f"""
import json, sys
from registry.cli import main
for arguments in json.loads(sys.argv[1]):
    main(arguments)
    print({NEXT!r}, flush=True)
"""


def on_a_terminal(folder: Path, cache: Path, commands: Sequence[Sequence[str]]) -> list[str]:
    """Return what each command writes to a terminal."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-I", "-c", ON_A_TERMINAL, json.dumps(commands)],
        cwd=folder,
        env={**os.environ, **HERMETIC, "REGISTRY_CACHE_DIR": str(cache), "TERM": "xterm"},
        stdin=its,
        stdout=its,
        stderr=its,
    ):
        os.close(its)
        parts = []
        # Linux reports the end of a terminal as an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 1 << 16):
                parts.append(part)
    os.close(ours)
    return b"".join(parts).decode().split(NEXT)[:-1]


def test_a_terminal_is_not_controlled_either(tmp_path: Path) -> None:
    made = catalog(tmp_path, {"qa": MANIFEST})
    texts = on_a_terminal(made.repository.folder, tmp_path / "cache", TERMINAL)
    for arguments, text in zip(TERMINAL, texts, strict=True):
        assert "PWNED" in text or arguments == ("sync",)
        assert (arguments, PLANTED.findall(text)) == (arguments, [])
