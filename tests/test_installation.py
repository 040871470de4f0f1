"""Extras, the release, and platforms that are refused."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry.installation import install_advice, installed_release, requirement

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY, VERSION = PROJECT["urls"]["Source"].removeprefix("https://"), PROJECT["version"]
TEXTS = {".md", ".ipynb", ".py", ".toml", ".yaml", ".yml"}
MOST_REQUIRED = 18
BROUGHT = {
    "datasets": {"packaging", "tqdm", "xxhash"},
    "huggingface_hub": {"httpx2"},
    "rich": {"markdown-it-py"},
}
EXTRAS = ("dask", "inspect", "ray", "s3", "site")
UNLISTED = {"_typeshed", "aiobotocore", "botocore", "pandas", "polars", "pydantic_core", "yarl"}
"""For types and for those who have them, and parts of pydantic, aiohttp and s3fs."""
WITHOUT_EXTRAS = """
import sys
for name in ("aiobotocore", "dask", "distributed", "inspect_ai", "jinja2", "ray", "s3fs"):
    sys.modules[name] = None
"""


def test_few_packages_are_required() -> None:
    assert len(PROJECT["dependencies"]) <= MOST_REQUIRED


def test_packages_that_another_one_brings_are_required_by_it() -> None:
    """We import these without listing them: packages that are listed can't do without them either."""
    from importlib.metadata import requires

    for package, names in BROUGHT.items():
        found = {re.split(r"[^\w.-]", one)[0] for one in requires(package) or ()}
        assert names <= found


def imported() -> Iterator[tuple[str, str]]:
    """Yield each module of ours with a package that it imports."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names.append(str(node.module))
            for name in names:
                yield path.stem, name.partition(".")[0]


def test_each_package_that_is_imported_is_listed_or_has_a_reason() -> None:
    groups = PROJECT["optional-dependencies"]
    listed = [*PROJECT["dependencies"], *(one for key in EXTRAS for one in groups[key])]
    known = {re.split(r"[<>=\[]", one)[0].replace("-", "_") for one in listed}
    known |= {"yaml", "registry", "markdown_it", "httpx2"}
    known |= {*BROUGHT["datasets"], *sys.stdlib_module_names}
    assert {name for _, name in imported() if name not in known} == UNLISTED


@pytest.mark.parametrize(
    "module", ["dask", "distributed", "inspect_ai", "jinja2", "math_core", "s3fs"]
)
def test_the_extra_that_is_named_exists_and_installs_the_package(module: str) -> None:
    extra = install_advice(ModuleNotFoundError("x", name=module)).split("[")[1].split("]")[0]

    wanted = PROJECT["optional-dependencies"][extra]
    assert any(one.replace("-", "_").startswith(module) for one in wanted)


def test_a_cause_is_found_behind_the_error_of_a_library() -> None:
    error = ImportError("Install s3fs to access S3")
    error.__cause__ = ModuleNotFoundError("No module named 's3fs'", name="s3fs")

    assert install_advice(error) == "pip install 'eval-registry[s3]'"
    brought = ModuleNotFoundError("x", name="aiobotocore")
    assert install_advice(brought) == install_advice(error)
    assert not install_advice(ModuleNotFoundError("No module named 'theirs'", name="theirs"))
    assert not install_advice(ValueError("protocol not known"))


def test_the_release_and_what_installs_it_come_from_one_place() -> None:
    assert installed_release() == PROJECT["version"]
    assert requirement() == f"git+{PROJECT['urls']['Source']}@v{PROJECT['version']}"


STRAYS = {
    rf"github\.com/[\w-]+/registry\b(?<!{re.escape(REPOSITORY)})": "another URL than Source of pyproject.toml",
    rf"(?:registry@|rev: |release {{4}})v?(?!{re.escape(VERSION)}\b)\d\S*": "another release",
    r"eval-registry==": "a release of an index that has none",
    r"pip (?:install|download)(?! --no-index)[^`\n]* '?eval-registry\b": "a name that no index has",
}
"""Pattern → what is wrong with it, until the first upload to an index."""
INSTALLS = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "AGENTS.md",
    "action.yml",
    "zensical.toml",
]


@pytest.mark.parametrize(("pattern", "text"), [
    (0, "git clone https://github.com/someone/registry"),
    (1, "uses: OWNER/registry@v9.1.0"),
    (1, "rev: v0.0.9"),
    (1, "  release    0.0.9"),
    (2, "install: eval-registry==0.1.0"),
    (3, "pip install -q 'eval-registry[site]'"),
    (3, "pip download -d wheels 'eval-registry'"),
])  # fmt: skip
def test_a_stray_is_seen(pattern: int, text: str) -> None:
    assert [number for number, one in enumerate(STRAYS) if re.search(one, text)] == [pattern]


def test_pages_and_files_install_what_exists() -> None:
    """The URL and the version have their place in pyproject.toml; a page can only repeat them."""
    pages = [ROOT / name for name in INSTALLS]
    for folder in ("docs", "examples", ".github", "registry", "src"):
        pages += (path for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS)
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r} is {what}"
        for path in pages
        for pattern, what in STRAYS.items()
        for match in re.finditer(pattern, path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("arguments", "needs"),
    [
        (["site", "--out", "pages"], "jinja2: pip install 'eval-registry[site]'"),
        (["browse"], "jinja2: pip install 'eval-registry[site]'"),
        (["sync", "remote"], "s3:// needs another package: pip install 'eval-registry[s3]'"),
        (["sync", "--engine", "dask"], "pip install 'eval-registry[dask]'"),
        (["receipt", "log.eval"], "pip install 'eval-registry[inspect]'"),
    ],
)
def test_commands_name_the_extra_that_they_need(
    tmp_path: Path, arguments: list[str], needs: str
) -> None:
    (tmp_path / "datasets.yaml").write_text(
        "version: 1\nhosts: [bucket]\ndatasets:\n  remote:\n"
        "    source: {type: csv, path: s3://bucket/x.csv}\n    fields: {input: q, target: a}\n"
    )
    (tmp_path / "log.eval").write_bytes(b"PK")
    script = f"{WITHOUT_EXTRAS}\nfrom registry.cli import main\nsys.exit(main({arguments!r}))"

    found = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert found.returncode in {1, 4}, found.stderr  # 4: a log that can't be read
    assert needs in found.stderr
    assert "Traceback" not in found.stderr


def test_windows_is_refused_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    import registry

    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ImportError, match="install it inside WSL"):
        importlib.reload(registry)
