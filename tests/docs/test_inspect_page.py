"""The page on Inspect AI: its code runs, its manifest is valid, and it lists every name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from inspect_ai.dataset import Dataset

from registry.manifest.models import Scorer, Solver
from registry.manifest.validation import validate
from registry.yamldoc.reader import parse_yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "inspect.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("code", blocks("python"))
def test_examples_run(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(code, names)
    assert isinstance(names["dataset"], Dataset)


def test_manifest_is_valid() -> None:
    (text,) = blocks("yaml")
    assert validate(parse_yaml(text, file="inspect.md"), "manifest") == []


@pytest.mark.parametrize(("key", "model"), [("solver", Solver), ("scorer", Scorer)])
def test_table_lists_all_names(key: str, model: type[Solver | Scorer]) -> None:
    (row,) = re.findall(rf"^\| `{key}` \| ([^|]+) \|", PAGE, re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)`", row)) == model.__annotations__["name"].__args__


def test_readme_links_to_the_page() -> None:
    assert "](docs/how-to/inspect.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
