"""Files, tables, commands and hooks named in CONTRIBUTING and the templates exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([^`]+)` \| (.+) \|$", PAGE, re.MULTILINE)
FORMS = [
    path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"
]


@pytest.mark.parametrize("path", sorted({path for path, _ in ROWS}))
def test_files_in_the_tables_exist(path: str) -> None:
    assert list(ROOT.glob(path))


@pytest.mark.parametrize(
    ("path", "change"), [row for row in ROWS if re.search(r"`[A-Z_]+`", row[1])]
)
def test_table_to_extend_is_in_the_documented_file(path: str, change: str) -> None:
    files = [ROOT / path] if (ROOT / path).is_file() else sorted((ROOT / path).glob("*.py"))
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    for name in re.findall(r"`([A-Z_]{3,})`", change):
        assert re.search(rf"^{name}\b.* = ", text, re.MULTILINE), name


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:src|tests|docs)/[\w./-]+)`", PAGE))))
def test_paths_in_the_text_exist(path: str) -> None:
    assert (ROOT / path).exists() or "PACKAGE" in path


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^    |`)make (\w+)", PAGE, re.MULTILINE))
    assert {"check", "docs", "help"} <= named <= targets


def test_make_help_describes_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony, _parts = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert set(re.findall(r"^(\w+):.*## \w", makefile, re.MULTILINE)) == set(phony.split())


def test_hooks_run_the_tools_of_the_environment() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (repository,) = config["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert hook["language"] == "system"
        assert hook["entry"].startswith(".venv/bin/")
    entries = [
        hook["entry"].removeprefix(".venv/bin/").removeprefix("python -m ")
        for hook in repository["hooks"]
    ]
    assert {"ruff format", "ruff check", "mypy", "registry.docgen"} < set(entries)
    assert any(entry.startswith("registry validate") for entry in entries)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_issue_forms_meet_the_requirements_of_the_code_host(path: Path) -> None:
    """Check the requirements of the code host, which ignores forms that violate them."""
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form.keys() == {"name", "description", "labels", "body"}
    inputs = [item for item in form["body"] if item["type"] != "markdown"]
    assert len({item["id"] for item in inputs}) == len(inputs) > 0
    for item in form["body"]:
        assert item["type"] in {"markdown", "textarea", "input", "checkboxes", "dropdown"}
        assert item["attributes"].get("label") or item["attributes"].get("value")


def test_issue_forms_exist_for_bugs_datasets_and_features() -> None:
    assert {path.stem for path in FORMS} == {"bug", "dataset", "feature"}
