"""The page on few-shot examples: its files, commands and code run as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry.cli import main
from registry.manifest.models import Fewshot

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "few-shot.md").read_text(encoding="utf-8")


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the files of the page."""
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [quiz.yaml]\n")
    (manifest,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "quiz.yaml").write_text(manifest)
    files = re.findall(r"^```csv (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in files] == ["dev.csv", "test.csv"]
    for name, text in files:
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("example")
def test_commands_print_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(
        r"^```console\n\$ registry (.*?)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
    )
    assert len(blocks) == 2
    assert main(["validate"]) == 0
    capsys.readouterr()
    for command, expected in blocks:
        assert main(command.split()) == 0
        assert capsys.readouterr().out == expected, command


@pytest.mark.usefixtures("example")
def test_code_runs() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    exec(compile(code, "few-shot.md", "exec"), names)
    plain, one, drawn, none = (names[name] for name in ("plain", "one", "drawn", "none"))
    assert [sample.input for sample in plain] == [sample.input for sample in none]  # type: ignore[attr-defined]
    assert all(len(sample.input) == 3 for sample in one)  # type: ignore[attr-defined]
    assert all(len(sample.metadata["fewshot"]) == 2 for sample in drawn)  # type: ignore[attr-defined]


def test_every_key_is_explained() -> None:
    rows = "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))
    explained = set(re.findall(r"`(\w+)`", rows))
    assert explained == {*Fewshot.__struct_fields__} - {"apply", "overlap"}
    assert "`apply: true`" in PAGE
    assert "`overlap: skip`" in PAGE


def test_the_page_is_in_the_readme() -> None:
    assert "](docs/how-to/few-shot.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
