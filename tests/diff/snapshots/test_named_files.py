"""Which changed files belong to a dataset: named by its manifest, its data, its code, or these."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from registry.diff.checkout import folder_checkout
from registry.diff.snapshots.contents import Contents, read_contents
from registry.diff.snapshots.named_files import named_files

SOURCE = "source: {type: json, path: data/d.jsonl}"
PLAIN = f"{{{SOURCE}, fields: {{input: q}}}}"
IMAGE = f"{{{SOURCE}, fields: {{input: {{messages: [{{role: user, content: [{{image: %s}}]}}]}}}}}}"
FILES = f"{{{SOURCE}, fields: {{input: q, files: %s}}}}"
SETUP = f"{{{SOURCE}, fields: {{input: q, setup: %s}}}}"
SANDBOX = f"{{{SOURCE}, fields: {{input: q, sandbox: {{const: [docker, compose.yaml]}}}}}}"
DOCKERFILE = SANDBOX.replace("compose.yaml", "box/Dockerfile")


def contents(folder: Path, files: Mapping[str, str]) -> Contents:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return read_contents(folder_checkout(folder / "datasets.yaml", folder.name))


def found(
    folder: Path, dataset: str, data: str, changed: str, others: Mapping[str, str]
) -> dict[str, bool]:
    """Return the changed files that are named, and whether each is code in the sandbox."""
    index = f"version: 1\ntrust: ['qa_none:f']\ndatasets:\n  d: {dataset}\n"
    files = {"datasets.yaml": index, "data/d.jsonl": data, **others}
    base = contents(folder / "base", {**files, changed: "old"})
    head = contents(folder / "head", {**files, changed: "new"})
    assert not base.problems
    named = named_files(base, head).get("d", {})
    return {path: one.is_code for path, one in named.items()}


CASES = {
    "hidden folder": (SETUP % "{const: .s/x}", '{"q": "x"}', "data/.s/x", True),
    "text that mentions it": (PLAIN, '{"q": "1.png"}', "data/1.png", None),
    "messages in the data": (PLAIN, '{"q": [{"image": "1.png"}]}', "data/1.png", False),
    "column": (IMAGE % "x", '{"x": "./a/../img/1.png"}', "data/img/1.png", False),
    "beside the data folder": (IMAGE % "x", '{"x": "../img/1.png"}', "img/1.png", False),
    "other name": (IMAGE % "x", '{"x": "img/11.png"}', "data/img/1.png", None),
    "not ASCII": (IMAGE % "x", '{"x": "\\u00e9.png"}', "data/é.png", False),
    "escaped": (IMAGE % "x", '{"x": "\\u0061.png"}', "data/a.png", False),
    "template": (IMAGE % "{template: 'i/{x}.png'}", '{"x": "1"}', "data/i/1.png", False),
    "other folder": (IMAGE % "{template: 'i/{x}.png'}", '{"x": "1"}', "data/j/1.png", None),
    "computed": (IMAGE % "{from: x, do: [strip]}", '{"x": " 1"}', "data/1", False),
    "a hash": (IMAGE % "{hash: [x]}", '{"x": "1"}', "data/2f", False),
    "computed, elsewhere": (IMAGE % "{from: x, do: [strip]}", '{"x": " 1"}', "src/other", None),
    "binary data": (PLAIN, '{"q": "\0"}', "data/1.png", False),
    "folder by a text": (FILES % "{object: {a: {const: b}}}", '{"q": "x"}', "data/b/c", False),
    "folder by the data": (FILES % "f", '{"q": "x", "f": {"a": "b"}}', "data/b/c", False),
    "setup": (SETUP % "{const: s.sh}", '{"q": "x"}', "data/s.sh", True),
    "setup in the data": (SETUP % "s", '{"q": "x", "s": "s.sh"}', "data/s.sh", True),
    "setup above": (SETUP % "{const: ../../s.sh}", '{"q": "x"}', "s.sh", True),
    "inline setup": (SETUP % '{const: "a\\ns.sh"}', '{"q": "x"}', "data/s.sh", None),
    "what setup runs": (SETUP % "{const: s}", '{"q": "x"}', "data/more.sh", True),
    "sandbox": (SANDBOX, '{"q": "x"}', "data/compose.yaml", True),
    "build context": (SANDBOX, '{"q": "x"}', "data/deep/any", True),
    "context of a Dockerfile": (DOCKERFILE, '{"q": "x"}', "data/box/deep/any", True),
    "beside the catalog": (SANDBOX, '{"q": "x"}', "README.md", None),
    "unknown mapper": (f"{{{SOURCE}, mapper: 'qa_none:f'}}", '{"q": "x"}', "data/1.png", True),
}


@pytest.mark.parametrize("case", CASES)
def test_changed_file_belongs_to_what_may_name_it(tmp_path: Path, case: str) -> None:
    dataset, data, changed, is_code = CASES[case]
    others = {"data/s": "sh more.sh", "data/compose.yaml": "services: {a: {build: .}}"}
    others["data/box/Dockerfile"] = "FROM scratch\nCOPY . /\n"
    expected = {} if is_code is None else {changed: is_code}
    assert found(tmp_path, dataset, data, changed, others) == expected


@pytest.mark.parametrize(
    ("code", "changed", "named"),
    [
        ("Sample(input='x')", "data/s", False),
        ("Sample(input='x', setup=s)", "data/s", True),
        ("Sample(sandbox=('docker', 'evals/c.yaml'))", "evals/c.yaml", True),
        ("Sample(sandbox=('docker', 'evals/c.yaml'))", "evals/other.yaml", False),
    ],
)
def test_code_of_a_mapper_tells_which_files_it_names(
    tmp_path: Path, code: str, changed: str, *, named: bool
) -> None:
    dataset = f"{{{SOURCE}, mapper: 'qa_none:f'}}"
    others = {"lib/qa_none.py": code}
    expected = {changed: True} if named else {}
    assert found(tmp_path, dataset, '{"q": "x"}', changed, others) == expected


def test_digests_before_and_after(tmp_path: Path) -> None:
    files = {
        "datasets.yaml": f"version: 1\ndatasets:\n  d: {SETUP % '{const: s}'}\n",
        "data/d.jsonl": '{"q": "x"}',
    }
    sides = contents(tmp_path / "a", {**files, "data/s": "x"}), contents(tmp_path / "b", files)
    before, after = named_files(*sides)["d"]["data/s"].digests
    assert before is not None
    assert before.startswith("sha256:")
    assert after is None
    assert named_files(sides[0], sides[0]) == {}
