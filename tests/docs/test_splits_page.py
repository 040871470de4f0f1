"""The page on splits: its files, commands and code run as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "splits.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the files of the page; both manifests have their own folder."""
    files = re.findall(r"^```csv (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(files) == 5
    manifests = dict(zip(("grades", "capitals"), blocks("yaml"), strict=True))
    for folder, manifest in manifests.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "datasets.yaml").write_text(f"version: 1\n{manifest}")
    for name, text in files:
        folder = "grades" if name.count("/") == 1 else "capitals"
        (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).write_text(text)
    monkeypatch.chdir(tmp_path / "grades")


def test_commands_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, session in zip(("grades", "capitals"), blocks("console"), strict=True):
        monkeypatch.chdir(tmp_path / folder)
        assert main(["validate"]) == 0
        capsys.readouterr()
        for command, expected in re.findall(
            r"^\$ registry ([^\n]*)\n(.*?)(?=^\$ |\Z)", session, re.DOTALL | re.MULTILINE
        ):
            code = main(command.split())
            printed = capsys.readouterr()
            assert (printed.out or printed.err) == expected, command
            assert code == ("error" in expected)


def test_python_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    (code,), (expected,) = blocks("python"), blocks("text")
    exec(code, {})
    assert capsys.readouterr().out == expected


def test_the_page_is_short_and_linked() -> None:
    assert len(PAGE.split()) <= 600
    assert "](docs/how-to/splits.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "](../how-to/splits.md)" in (ROOT / "docs" / "reference" / "manifests.md").read_text(
        encoding="utf-8"
    )
