"""The page on corrections: its files, commands and code run as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry import get_dataset
from registry.cli import main
from registry.corrections.file import Correction
from tests.git_repository import git

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "corrections.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def shown() -> list[str]:
    """Return what is indented on the page."""
    return re.findall(
        r"^    (\S.*|  \S.*)$",
        re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL),
        re.MULTILINE,
    )


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corrections, manifest = blocks("yaml")
    (tmp_path / "errata").mkdir()
    (tmp_path / "errata" / "capitals.yaml").write_text(corrections)
    (tmp_path / "datasets.yaml").write_text(f"version: 1\n{manifest}")
    (tmp_path / "capitals.csv").write_text(blocks("csv")[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = main(command.split())
    return code, capsys.readouterr().out


def test_commands_print_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate"]) == 0
    for session in blocks("console"):
        command, _, expected = session.removeprefix("$ registry ").partition("\n")
        assert run(command, capsys) == (0, expected)
    assert run("compare capitals --corrections", capsys)[0] == 1


def test_python_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    (code,), (expected,) = blocks("python"), blocks("text")
    exec(code, {})
    assert capsys.readouterr().out == expected


def test_diff_shows_what_the_page_shows(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(root, "init", "-q")
    (root / "errata" / "capitals.yaml").write_text(
        "corrections: [{id: xx, drop: true, reason: No picture.}]\n"
    )
    assert main(["lock"]) == 0
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    (root / "errata" / "capitals.yaml").write_text(blocks("yaml")[0])
    assert run("lock --upgrade capitals", capsys)[0] == 0
    _, printed = run("diff HEAD --build", capsys)
    (first, row) = (one for one in shown() if one.startswith(("~ ", "  correction")))
    assert f"\n{first}  " in printed
    assert f"\n{row.removesuffix('…').rstrip()} " in printed


def test_a_corrected_copy_gives_a_file_that_corrects(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (command,) = (one for one in shown() if one.startswith("registry correct"))
    text = blocks("csv")[0].replace("Sydney", "Canberra")
    (root / "fixed.csv").write_text("".join(text.splitlines(keepends=True)[:-1]))
    index = root / "datasets.yaml"
    manifest = index.read_text()
    index.write_text(manifest.replace("    corrections: errata/capitals.yaml\n", ""))
    (root / "errata" / "capitals.yaml").unlink()
    arguments = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', command)]
    assert main(arguments[1:]) == 0
    assert "2 rows, 1 sample changed, 1 left out" in capsys.readouterr().out
    index.write_text(manifest)
    assert [one.target for one in get_dataset("capitals")] == ["Paris", "Canberra"]


def test_a_split_has_corrections_of_its_own(root: Path) -> None:
    (splits,) = re.findall(r"`(splits: \{.*\})`", PAGE)
    index = root / "datasets.yaml"
    index.write_text(f"{index.read_text()}    {splits}\n")
    assert main(["validate"]) == 1, "the split has no such files yet"
    (root / "dev.csv").write_text(
        "code,question,answer\nus,What is the capital of the US?,New York\n"
    )
    row = "{id: us, field: target, was: New York, now: Washington, reason: It is.}"
    (root / "errata" / "capitals-dev.yaml").write_text(f"corrections: [{row}]\n")
    text = index.read_text().replace("{dev:", "{test: {}, dev:")
    index.write_text(f"{text}    default_split: test\n")
    assert [one.target for one in get_dataset("capitals")] == ["Paris", "Canberra"]
    assert [one.target for one in get_dataset("capitals:dev")] == ["Washington"]


def test_every_key_of_a_row_is_explained() -> None:
    explained = set(
        re.findall(r"`(\w+)[`:]", "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)))
    )
    assert {*Correction.__struct_fields__} - {"index", "sample"} <= explained


def test_datasets_of_the_catalog_are_named() -> None:
    manifests = (ROOT / "registry").glob("*.yaml")
    with_files = re.compile(
        r"^  ([\w-]+):\n(?:    .*\n)*?    corrections: registry/errata", re.MULTILINE
    )
    named = [name for file in manifests for name in with_files.findall(file.read_text("utf-8"))]
    assert named
    assert all(f"| `{name}` |" in PAGE for name in named)
