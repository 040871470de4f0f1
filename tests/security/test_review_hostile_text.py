"""Attack 11 in a diff: names, values and file names of a change, in every format."""

from __future__ import annotations

import json

import pytest

from tests.security.pull_request import PullRequest
from tests.security.test_attack_11_output import COMMAND, CONTROL, HOSTILE, HOSTILE_LINE, quoted

INDEX = "version: 1\ninclude: ['m/*.yaml']\n"
FILE = "::error::\x1b[2J ##[add-mask]x\u202e.csv"
MANIFEST = """\
datasets:
  qa:
    description: {description}
    source: {{type: csv, path: {path}}}
    fields: {{input: q, target: a, metadata: {{{key}: a}}}}
"""
DATA = "q,a\nHow many questions are there in this file?,1\n"


def hostile_files() -> dict[str, str | None]:
    described = MANIFEST.format(
        description=quoted(HOSTILE), path=quoted(f"data/{FILE}"), key=quoted(HOSTILE_LINE)
    )
    remote = f"https://{HOSTILE_LINE.split()[0]}example.org/{HOSTILE_LINE}"
    edited = '"' + DATA.splitlines()[1].replace(",1", f'{HOSTILE}","{HOSTILE_LINE}"\n')
    return {
        "m/qa.yaml": described,
        "m/\x1b[31m::warning::x.yaml": (
            f"datasets:\n  new:\n    license: {quoted(HOSTILE_LINE)}\n"
            f"    source: {{type: csv, path: {quoted(remote)}}}\n    tags: [{quoted(HOSTILE)}]\n"
        ),
        "data/qa.csv": None,
        f"data/{FILE}": f"q,a\n{edited}",
        "datasets.yaml": f"{INDEX}paths: [{quoted(HOSTILE_LINE)}, {quoted(HOSTILE)}]\n",
    }


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> PullRequest:
    base = MANIFEST.format(description="Questions.", path="data/qa.csv", key="a")
    files = {"datasets.yaml": INDEX, "m/qa.yaml": base, "data/qa.csv": DATA}
    return PullRequest.make(tmp_path_factory.mktemp("hostile"), files, hostile_files())


ARGUMENTS = (
    ["--format", "text"],
    ["--format", "markdown"],
    ["--format", "json"],
    ["--fail-on", "reach,index,added,source"],
)


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=" ".join)
def test_text_of_a_change_controls_neither_terminal_nor_ci(
    request_: PullRequest, arguments: list[str]
) -> None:
    result = request_.run("diff", "main", "--build", "--offline", *arguments)
    assert result.code in (1, 4)
    assert "PWNED" in result.out, "the text itself is shown"
    for printed in (result.out, result.err):
        assert CONTROL.search(printed) is None
        assert COMMAND.search(printed) is None


def test_json_has_the_text_as_it_is(request_: PullRequest) -> None:
    text = request_.run("diff", "main", "--json").out
    diff = json.loads(text)
    (changed,) = (one for one in diff["changes"] if one["name"] == "qa")
    (description,) = (one for one in changed["keys"] if one["key"] == "description")
    assert description["new"]["value"] == HOSTILE
