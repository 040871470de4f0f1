"""Mappers written in Python: import, errors, and what their digest covers."""

from __future__ import annotations

import hashlib
import importlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from registry.errors import MappingError
from registry.mapping.custom import load_mapper, mapper_digest
from registry.samples.sample import Sample

MAPPER = "from registry import Sample\n\ndef f(record): return Sample(input=record['q'])\n"
PACKAGE = {
    "evals_pkg/__init__.py": "",
    "evals_pkg/mapper.py": f"from evals_pkg.inner import helper\n{MAPPER}",
    "evals_pkg/inner/__init__.py": "",
    "evals_pkg/inner/helper.py": "ANSWER = 1\n",
}
MAPPER_OF_PACKAGE = "evals_pkg.mapper:f"

WriteFiles = Callable[[dict[str, str]], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WriteFiles]:
    """Write source files into a folder of `sys.path`, and unload their modules afterwards."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)

    def write_files(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        importlib.invalidate_caches()

    yield write_files
    for name in set(sys.modules) - before:
        if name.startswith("evals_"):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("evals_none:f", "can't import the mapper evals_none:f: ModuleNotFoundError: No module"),
        ("evals_bad:g", "can't import the mapper evals_bad:g: AttributeError: module 'evals_bad'"),
        ("evals_bad:X", "the mapper evals_bad:X is a int, not a function"),
        ("evals_exit:f", "can't import the mapper evals_exit:f: SystemExit: 3"),
    ],
)
def test_failed_import_of_a_mapper_is_a_mapping_error(
    write: WriteFiles, name: str, message: str
) -> None:
    write({"evals_bad.py": "X = 1\n", "evals_exit.py": "raise SystemExit(3)\n"})
    with pytest.raises(MappingError) as caught:
        load_mapper(name)
    assert str(caught.value).startswith(message)


FOREIGN = """
import functools, operator, subprocess
from subprocess import check_output
from evals_foreign import decorated
from registry import Sample

def own(record): return Sample(input=record["q"])

def relabelled(record): ...
relabelled = functools.wraps(own)(type(own)(check_output.__code__, check_output.__globals__))
cached = functools.cache(own)
partial = functools.partial(check_output, "ls")
getter = operator.itemgetter("q")
swapped = own
swapped_by = decorated(own)

class Runner:
    def __call__(self, record): return check_output(record["q"])
    def method(self, record): return check_output(record["q"])

runner = Runner()
method = runner.method
"""
DECORATOR = """
import functools

def decorated(function):
    @functools.wraps(function)
    def replaced(record): return "replaced"
    return replaced
"""


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("check_output", "is not defined in the package 'evals_own', but in subprocess"),
        ("relabelled", "is not defined in the package 'evals_own'"),
        ("swapped_by", "is not defined in the package 'evals_own'"),
        ("cached", "is a _lru_cache_wrapper, not a function"),
        ("partial", "is a partial, not a function"),
        ("getter", "is a itemgetter, not a function"),
        ("runner", "is a Runner, not a function"),
        ("Runner", "is a type, not a function"),
        ("method", "is a method, not a function"),
        ("subprocess", "is a module, not a function"),
    ],
)
def test_a_mapper_is_a_function_that_its_own_package_defines(
    write: WriteFiles, function: str, message: str
) -> None:
    write({"evals_own/__init__.py": "", "evals_own/records.py": FOREIGN})
    write({"evals_foreign.py": DECORATOR})
    assert load_mapper("evals_own.records:own")({"q": "x"}) == Sample(input="x")
    assert load_mapper("evals_own.records:swapped")({"q": "x"}) == Sample(input="x")
    with pytest.raises(MappingError) as caught:
        load_mapper(f"evals_own.records:{function}")
    assert str(caught.value).startswith(f"the mapper evals_own.records:{function} {message}")


def test_a_mapper_may_be_defined_elsewhere_in_its_package(write: WriteFiles) -> None:
    write({**PACKAGE, "evals_pkg/__init__.py": "from evals_pkg.mapper import f\n"})
    assert load_mapper("evals_pkg:f")({"q": "x"}) == Sample(input="x")


def test_the_digest_of_a_mapper_runs_no_code(write: WriteFiles, tmp_path: Path) -> None:
    mark = f"__import__('pathlib').Path({str(tmp_path / 'ran')!r}).touch()\n"
    write({"evals_marked/__init__.py": mark, "evals_marked/deep/__init__.py": mark})
    write({"evals_marked/deep/records.py": mark + MAPPER})
    assert mapper_digest("evals_marked.deep.records:f").startswith("sha256:")
    assert not (tmp_path / "ran").exists()
    load_mapper("evals_marked.deep.records:f")
    assert (tmp_path / "ran").exists()


def test_a_package_that_is_not_installed_has_no_digest() -> None:
    message = "can't import the mapper evals_none.a:f: there is no package 'evals_none'"
    with pytest.raises(MappingError, match=re.escape(message)):
        mapper_digest("evals_none.a:f")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return record['r']", "the mapper evals_fails:f failed: KeyError: 'r', value: {'q': 1}"),
        ("raise SystemExit", "the mapper evals_fails:f failed: SystemExit: , value: {'q': 1}"),
        ("raise MappingError('too odd', field='id')", "field id: too odd"),
    ],
)
def test_any_exception_of_a_mapper_is_a_mapping_error(
    write: WriteFiles, body: str, message: str
) -> None:
    source = f"from registry import MappingError\n\ndef f(record):\n    {body}\n"
    write({"evals_fails.py": source})
    with pytest.raises(MappingError) as caught:
        load_mapper("evals_fails:f")({"q": 1})
    assert str(caught.value) == message


def test_digest_of_a_single_module_is_the_digest_of_its_bytes(write: WriteFiles) -> None:
    write({"evals_one.py": "f = print\n", "evals_other.py": "x = 1\n"})
    digest = hashlib.sha256(b"f = print\n").hexdigest()
    assert mapper_digest("evals_one:f") == f"sha256:{digest}"


@pytest.mark.parametrize(
    "changed",
    [
        {"evals_pkg/inner/helper.py": "ANSWER = 2\n"},
        {"evals_pkg/__init__.py": "# changed"},
        {"evals_pkg/inner/more.py": ""},
        {"evals_pkg/assets/script.py": "x = 1\n"},
    ],
)
def test_the_digest_of_a_package_changes_with_any_source_file(
    write: WriteFiles, changed: dict[str, str]
) -> None:
    write(PACKAGE)
    before = mapper_digest(MAPPER_OF_PACKAGE)
    write(changed)
    assert mapper_digest(MAPPER_OF_PACKAGE) != before


def test_the_digest_of_a_package_changes_when_a_module_is_renamed(
    write: WriteFiles, tmp_path: Path
) -> None:
    write({**PACKAGE, "evals_pkg/a.py": "x = 1\n"})
    before = mapper_digest(MAPPER_OF_PACKAGE)
    (tmp_path / "evals_pkg/a.py").rename(tmp_path / "evals_pkg/b.py")
    assert mapper_digest(MAPPER_OF_PACKAGE) != before


def test_digest_ignores_files_that_are_not_source(write: WriteFiles) -> None:
    write(PACKAGE)
    before = mapper_digest(MAPPER_OF_PACKAGE)
    write(
        {
            "evals_pkg/__pycache__/helper.py": "",
            "evals_pkg/.venv/other.py": "",
            "evals_pkg/notes.txt": "",
            "evals_beside.py": "",
        }
    )
    assert mapper_digest(MAPPER_OF_PACKAGE) == before


def digest_in_a_new_process(folder: Path) -> str:
    code = (
        f"from registry.mapping.custom import mapper_digest as d; print(d('{MAPPER_OF_PACKAGE}'))"
    )
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {code}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_digest_does_not_depend_on_the_path_of_the_package(
    write: WriteFiles, tmp_path: Path
) -> None:
    write(PACKAGE)
    write({f"elsewhere/{name}": text for name, text in reversed(PACKAGE.items())})
    assert digest_in_a_new_process(tmp_path / "elsewhere") == mapper_digest(MAPPER_OF_PACKAGE)


def test_digest_of_a_namespace_package_covers_all_its_folders(
    write: WriteFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path / "second")
    write({"evals_space/mapper.py": MAPPER, "second/evals_space/helper.py": "A = 1\n"})
    before = mapper_digest("evals_space.mapper:f")
    write({"second/evals_space/helper.py": "A = 2\n"})
    assert mapper_digest("evals_space.mapper:f") != before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("evals_zipped.mapper:f", "'evals_zipped' has no source files in a folder: install it"),
        ("evals_in_zip:f", "can't read the source of 'evals_in_zip' for the mapper evals_in_zip:f"),
        ("time:sleep", "'time' has no source files in a folder: install it unpacked to use the"),
    ],
)
def test_package_without_source_files_has_no_digest(
    write: WriteFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    with zipfile.ZipFile(tmp_path / "evals.zip", "w") as archive:
        for path in ("evals_zipped/__init__.py", "evals_zipped/mapper.py", "evals_in_zip.py"):
            archive.writestr(path, MAPPER)
    monkeypatch.syspath_prepend(tmp_path / "evals.zip")
    with pytest.raises(MappingError) as caught:
        mapper_digest(name)
    assert str(caught.value).startswith(message)


def test_a_change_in_a_helper_of_the_mapper_changes_the_samples(
    write: WriteFiles, tmp_path: Path
) -> None:
    def targets() -> list[Any]:
        for name in [one for one in sys.modules if one.startswith("evals_pkg")]:
            del sys.modules[name]
        return [sample.target for sample in get_dataset("d", root=tmp_path)]

    write(
        {
            "datasets.yaml": (
                "version: 1\ntrust: ['evals_pkg.mapper:f']\ndatasets:\n  d:\n"
                "    source: {type: json, path: d.jsonl}\n    mapper: evals_pkg.mapper:f\n"
            ),
            "d.jsonl": '{"q": "x"}\n',
            **PACKAGE,
            "evals_pkg/mapper.py": (
                "from evals_pkg.inner.helper import ANSWER\nfrom registry import Sample\n\n"
                "def f(record): return Sample(input=record['q'], target=str(ANSWER))\n"
            ),
        }
    )
    assert targets() == ["1"]
    write({"evals_pkg/inner/helper.py": "ANSWER = 2222\n"})
    assert targets() == ["2222"]
