"""Extras, the release, refused platforms, and what other packages add by entry points."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from registry.errors import ExtensionError
from registry.installation import (
    extension,
    extension_points,
    install_advice,
    installed_release,
    requirement,
)
from registry.manifest import schema
from tests.cli.conftest import run
from tests.cli.invocation import Invocation, Run

__all__ = ["run"]

Install = Callable[..., None]

CODE = '''
import click
from registry.api import FileReader, FileSource, NotColumnarError, open_text
from registry.plugins.export.formats import Format
from registry.plugins.importers.models import Imported, ImportedDataset, Importer

@click.command()
def hello() -> None:
    """Greet."""
    print("hello")

class LinesSource(FileSource, frozen=True, kw_only=True, tag="lines"):
    type = "lines"
    reader = "acme:LinesReader"
    schema = {"properties": {"type": {}, "path": {"type": "string"}}, "required": ["path"],
              "additionalProperties": False}

class LinesReader(FileReader):
    def decode(self, file, *, strict=True):
        with open_text(file, "utf-8") as lines:
            for line in lines:
                yield {"q": line.strip(), "a": "1"}

    def decode_tables(self, file, wanted):
        raise NotColumnarError("lines are read one by one")

upper = Format(name="upper", suffix=".up", writer="acme:write", summary="capitals")

def write(exported, file):
    file.writelines(f"{sample.input.upper()}\\n".encode() for sample in exported.samples())

def read(file, options):
    keys = {"source": {"type": "json", "path": file.read_text().strip()}, "fields": {"input": "q"}}
    return Imported((ImportedDataset("noted", keys),))

notes = Importer(detects=lambda file: file.suffix == ".note", read=read)
'''
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


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a distribution with entry points, in a folder of the path."""

    def call(name: str = "acme", code: str = CODE, **points: dict[str, str]) -> None:
        folder = tmp_path / "installed"
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [
            line
            for kind, rows in points.items()
            for line in (f"[eval_registry.{kind}]", *(f"{key} = {to}" for key, to in rows.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines))
        (folder / f"{name}.py").write_text(code)
        monkeypatch.syspath_prepend(folder)
        forget()

    yield call
    forget()
    sys.modules.pop("acme", None)


def forget() -> None:
    """Forget what this process knows of installed packages, which don't change while it runs."""
    extension_points.cache_clear()
    schema._validator.cache_clear()
    schema._schemas.cache_clear()


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "rows.jsonl").write_text('{"q": "one", "a": "1"}\n')
    source = {"type": "json", "path": "rows.jsonl"}
    dataset = {"description": "Rows.", "source": source, "fields": {"input": "q", "target": "a"}}
    (folder / "datasets.yaml").write_text(json.dumps({"version": 1, "datasets": {"rows": dataset}}))
    monkeypatch.chdir(folder)
    return folder


def test_command_is_listed_and_run_and_replaces_none_of_ours(install: Install, run: Run) -> None:
    install(commands={"hello": "acme:hello", "list": "acme:hello"})
    assert "Other packages:\n  hello" in run("--help").out
    assert run("hello") == Invocation(0, "hello\n", "")
    wrong = run("helo")
    assert (wrong.code, "did you mean 'hello'?" in wrong.err) == (2, True)
    assert "List the datasets" in run("list", "--help").out


@pytest.mark.parametrize(
    "arguments", [["--format", "upper", "--out", "rows.txt"], ["--out", "r.up"]]
)
def test_format_is_chosen_by_name_and_by_suffix(
    install: Install, catalog: Path, run: Run, arguments: list[str]
) -> None:
    install(exporters={"upper": "acme:upper"})
    assert run("export", "rows", *arguments).code == 0
    assert (catalog / arguments[-1]).read_text() == "ONE\n"
    wrong = run("export", "rows", "--out", "x", "--format", "uper")
    assert (wrong.code, "no format 'uper' (did you mean 'upper'?)" in wrong.err) == (2, True)


def test_importer_reads_what_ours_does_not_know(install: Install, catalog: Path, run: Run) -> None:
    (catalog / "a.note").write_text("rows.jsonl\n")
    install(importers={"notes": "acme:notes"})
    for arguments in ([], ["--from", "notes"]):
        assert "noted:" in run("import", "a.note", *arguments).out
    wrong = run("import", "a.note", "--from", "note")
    assert (wrong.code, "did you mean 'notes'?" in wrong.err) == (2, True)


def test_type_of_source_is_validated_and_read(install: Install, catalog: Path, run: Run) -> None:
    (catalog / "rows.txt").write_text("first line\nsecond line\n")
    index = (catalog / "datasets.yaml").read_text().replace('"rows.jsonl"', '"rows.txt"')
    (catalog / "datasets.yaml").write_text(index.replace('"json"', '"lines"'))
    install(sources={"lines": "acme:LinesSource"})
    assert '"first line"' in run("preview", "rows", "--json").out
    (catalog / "datasets.yaml").write_text(
        index.replace('"type": "json"', '"type": "lines", "x": 1')
    )
    invalid = run("validate")
    assert (invalid.code, "unknown key 'x'" in invalid.out) == (1, True)


def test_plugin_that_can_not_be_imported_is_named(
    install: Install, catalog: Path, run: Run
) -> None:
    install(code="import nowhere_at_all", exporters={"upper": "acme:upper"})
    with pytest.raises(ExtensionError, match=r"plugin 'upper' of acme 1\.0 can't be imported"):
        extension("exporters", "upper")
    failed = run("export", "rows", "--out", "x", "--format", "upper")
    assert (failed.code, "No module named 'nowhere_at_all'" in failed.err) == (1, True)
    # Another format is found without it.
    assert run("export", "rows", "--out", "x.jsonl").code == 0
    out = run("doctor", "--offline").out
    assert "warn  plugin" in out
    assert "upper" in out


def test_wrong_kind_of_object_is_an_error(install: Install, run: Run) -> None:
    install(exporters={"upper": "acme:notes"}, commands={"hello": "acme:upper"})
    assert run("export", "demo-mcq", "--out", "x", "--format", "upper").code == 1
    assert run("hello") == Invocation(1, "", "error: the plugin 'hello' is no click.Command\n")


def test_name_of_two_packages_is_of_neither(install: Install, catalog: Path, run: Run) -> None:
    both = {"exporters": {"upper": "acme:upper"}, "importers": {"notes": "acme:notes"}}
    install("acme", commands={"hello": "acme:hello"}, **both)
    install("other", commands={"hello": "acme:hello"}, **both)
    assert "hello" not in run("--help").out
    for name, *arguments in (
        ("hello", "hello"),
        ("upper", "export", "rows", "--out", "x", "--format", "upper"),
        ("notes", "import", "x", "--from", "notes"),
    ):
        refused = run(*arguments)
        assert (refused.code, refused.err.count("acme 1.0"), refused.err.count("other 1.0")) == (
            1,
            *(1, 1),
        )
        assert f"error: the plugin '{name}' of " in refused.err
    assert run("doctor", "--offline").out.count("nobody can tell which one is meant") == 3


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
