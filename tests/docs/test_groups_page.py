"""The page on groups: its manifest, its commands and its Python run as shown."""

from __future__ import annotations

import re
from pathlib import Path

import inspect_ai
import pytest

from registry import Catalog
from registry.cli import main
from registry.settings import builtin_root

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "groups.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "registry").mkdir()
    (tmp_path / "datasets.yaml").write_text("version: 1\ninclude: [registry/*.yaml]\n")
    names, csv = blocks("yaml"), blocks("csv")
    (tmp_path / "registry" / "qa.yaml").write_text(names[0])
    (tmp_path / "registry" / "names.yaml").write_text(names[1])
    (tmp_path / "capitals.csv").write_text(csv[0])
    (tmp_path / "sums.csv").write_text("id,question,answer\ns1,What is 1 + 1?,2\n")
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_print_what_the_page_shows(
    catalog: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (session,) = blocks("console")
    commands = re.findall(
        r"^\$ registry ([^\n]*)\n(.*?)(?=^\$ |\Z)", session, re.DOTALL | re.MULTILINE
    )
    assert [command.split()[0] for command, _ in commands] == ["lock", "show", "preview"]
    for command, expected in commands:
        assert main(command.split()) == 0
        # A digest is shortened on the page.
        shown = re.sub(r"(sha256:[0-9a-f]{8})[0-9a-f]{56}", r"\1", capsys.readouterr().out)
        assert shown == expected


def test_python_prints_what_the_page_shows(
    catalog: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, (expected, *_) = blocks("python")[0], blocks("text")
    exec(code, {})
    assert capsys.readouterr().out == expected


def test_tasks_of_a_group_are_those_that_the_page_evaluates(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str | None] = []
    monkeypatch.setattr(
        inspect_ai, "eval_set", lambda tasks, **_: found.extend(one.display_name for one in tasks)
    )
    manifest = catalog / "registry" / "qa.yaml"
    text = manifest.read_text()
    manifest.write_text(text.replace("    fields: ", "    eval: {scorer: match}\n    fields: "))
    exec(blocks("python")[1], {})
    assert found == ["sums", "board/continents/africa", "board/continents/europe"]


def test_the_names_live_as_the_page_says(catalog: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = Catalog.open(catalog)
    assert dict(opened.retired) == {"cities": "capitals", "towns": ""}
    assert main(["show", "capitals-2"]) == 0
    assert "(use 'capitals')" in capsys.readouterr().err
    assert main(["validate", "--ignore", "missing-license"]) == 0


def test_groups_that_ship_are_named(catalog: Path) -> None:
    section = PAGE.split("## What ships")[1].split("##")[0]
    named = set(re.findall(r"`([a-z0-9-]+)`", section)) - {"-2"} | {"open-llm-leaderboard-2"}
    shipped = set(Catalog.open(builtin_root()).groups)
    assert shipped - named == {"demo", "demo-subjects"}
    assert named <= shipped
