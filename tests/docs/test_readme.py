"""The README's commands and code run, its manifests are valid, and its figures are correct."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from registry import list_datasets
from registry.catalog.catalog import Catalog
from registry.manifest.validation import validate
from registry.mapping.operations import OPERATION_FAMILIES
from registry.yamldoc.reader import parse_yaml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def belongs_to_first_dataset(code: str) -> bool:
    """Return whether code needs the dataset created by the two commands."""
    return "my-qa" in code


class FirstDataset:
    """A folder and a home directory, empty except for the README's CSV file."""

    def __init__(self, folder: Path) -> None:
        self.home, self.folder = folder / "home", folder / "questions"
        self.home.mkdir()
        self.folder.mkdir()
        (csv,) = blocks("csv")
        (self.folder / "questions.csv").write_text(csv, encoding="utf-8")

    def run(self, *arguments: str) -> str:
        """Run a command as in an activated environment, and return its output."""
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        done = subprocess.run(
            arguments,
            cwd=self.folder,
            env={"PATH": path, "HOME": str(self.home)},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def first_dataset(tmp_path: Path) -> FirstDataset:
    return FirstDataset(tmp_path)


def without_words(data: Any) -> Any:
    (dataset,) = data["datasets"].values()
    return {key: dataset[key] for key in dataset.keys() - {"description", "license"}}


def test_readme_first_dataset_needs_two_commands(first_dataset: FirstDataset) -> None:
    (shell,) = blocks("sh")
    commands = shell.splitlines()
    assert len(commands) == 2
    printed = [first_dataset.run("sh", "-c", command) for command in commands]
    (shown,) = blocks("text")
    assert printed[-1].strip() == shown.strip()
    assert "no problems" in first_dataset.run("registry", "validate", "--strict")

    written = first_dataset.folder / "registry" / "my-qa.yaml"
    filled_in, small = [text for text in blocks("yaml") if belongs_to_first_dataset(text)]
    data = parse_yaml(written.read_text(encoding="utf-8"), file="written").value
    assert without_words(data) == without_words(parse_yaml(filled_in, file="README.md").value)

    written.write_text(filled_in, encoding="utf-8")
    (written.parent / "small.yaml").write_text(small, encoding="utf-8")
    assert "no problems (4 datasets)" in first_dataset.run("registry", "validate")
    (code,) = [code for code in blocks("python") if belongs_to_first_dataset(code)]
    first_dataset.run("python", "-c", f"{code}\nassert len(get_dataset('my-qa-small')) == 1")
    assert "1 of 1" in first_dataset.run("python", "-m", "registry", "lock", "my-qa")


@pytest.mark.parametrize(
    "code", [code for code in blocks("python") if not belongs_to_first_dataset(code)]
)
def test_python_examples_in_the_readme_run(
    code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = json.dumps({"question": "How many?", "answer": "Count.\n#### 4"})
    (tmp_path / "test.jsonl").write_text(record, encoding="utf-8")
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(ROOT)
    exec(code.replace('"test.jsonl"', repr(str(tmp_path / "test.jsonl"))), {})


def is_for_another_tool(text: str) -> bool:
    """Return whether YAML is a file of pre-commit or GitHub, which its first line names."""
    return text.startswith("# .")


@pytest.mark.parametrize("text", [text for text in blocks("yaml") if not is_for_another_tool(text)])
def test_yaml_examples_in_the_readme_are_valid(text: str) -> None:
    document = parse_yaml(text, file="README.md")
    assert validate(document, "index" if "version" in document.value else "manifest") == []


def test_make_targets_in_the_readme_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"make (\w+) +#", README))
    assert named
    assert named <= targets


def test_readme_states_the_number_of_datasets_and_operations() -> None:
    catalog = Catalog.open(ROOT / "datasets.yaml")
    names = list_datasets(root=ROOT)
    demo = [name for name in names if "demo" in catalog.tags_of(name)]
    assert f"has {len(names) - len(demo)} datasets" in README
    operations = sum(len(family.OPERATIONS) for family in OPERATION_FAMILIES.values())
    assert f"[{operations} operations]" in README


def test_timings_in_the_readme_match_the_benchmarks() -> None:
    page = (ROOT / "docs" / "explanation" / "performance.md").read_text(encoding="utf-8")
    (cold, _), (warm, theirs) = (
        re.findall(
            rf"^\| real-process-{which} .*?\| ([\d,]+) ms \| inspect_ai ([\d,]+) ms",
            page,
            re.MULTILINE,
        )[0]
        for which in ("cold", "warm")
    )
    assert f"in {warm} ms instead of {theirs} ms, and in {cold} ms if nothing is cached" in README


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README))))
def test_links_in_the_readme_point_to_files(target: str) -> None:
    assert (ROOT / target).is_file()
