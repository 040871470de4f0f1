"""What the documents say is true: their code runs, their manifests are valid."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from registry.manifest.validation import validate
from registry.yamldoc.reader import parse_yaml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", blocks("python"))
def test_python_of_the_readme_runs(
    code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    record = json.dumps({"question": "How many?", "answer": "Count.\n#### 4"})
    (tmp_path / "test.jsonl").write_text(record, encoding="utf-8")
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(ROOT)
    exec(code.replace('"test.jsonl"', repr(str(tmp_path / "test.jsonl"))), {})


def of_other_tools(text: str) -> bool:
    """Return whether YAML is a file of pre-commit or GitHub, which its first line names."""
    return text.startswith("# .")


@pytest.mark.parametrize("text", [text for text in blocks("yaml") if not of_other_tools(text)])
def test_yaml_of_the_readme_is_valid(text: str) -> None:
    document = parse_yaml(text, file="README.md")
    assert validate(document, "index" if "version" in document.value else "manifest") == []


def test_every_verb_of_the_readme_exists() -> None:
    from registry.cli import command

    named = set(re.findall(r"python -m registry (\w+)", README))
    assert named - set(command.list_commands(None)) == set()  # type: ignore[arg-type]


def test_the_make_targets_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"make (\w+) +#", README)) <= targets
    assert "make check" in (ROOT / ".ci" / "run").read_text()
