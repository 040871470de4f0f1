"""Records of files: parse results round-trip unchanged, and changed files are read again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import registry
from registry.base.local_files import ABSENT, FileState
from registry.catalog import cached_files
from registry.catalog import cached_files as module
from registry.catalog.cached_files import (
    CachedFile,
    CachedFiles,
    cached_file_from,
    contains_secret,
    document_from,
    may_contain_secret,
)
from registry.yamldoc.reader import parse_partially

MANIFEST = "datasets:\n  a: {source: {type: csv, path: é.csv}, bogus: 1}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = write(tmp_path, "a.yaml", MANIFEST)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Collect the files that are parsed from now on."""
    found: list[bytes] = []
    parse = parse_partially

    def counted(data: bytes, *, file: str) -> Any:
        found.append(data)
        return parse(data, file=file)

    monkeypatch.setattr(cached_files, "parse_partially", counted)
    return found


def write(top: Path, name: str, text: str) -> Path:
    path = top / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(file: Path, *known: CachedFile, state: FileState | None = None) -> CachedFile:
    files = CachedFiles(known)
    files(file, "manifest", state or FileState.or_absent(file))
    ((key, record),) = files.read.items()
    assert key == (str(file), "manifest")
    return record


def test_record_round_trips_through_its_serialized_form(file: Path) -> None:
    record = read(file)
    again = cached_file_from(record.to_bytes())
    assert again == record
    assert isinstance(again.state, FileState)
    document, direct = document_from(again, "shown.yaml"), record.parsed().document
    assert direct is not None
    assert document.value == direct.value
    assert document.file == "shown.yaml"
    assert document.position(("datasets", "a", "bogus")) == direct.position(
        ("datasets", "a", "bogus")
    )
    assert [problem.path for problem in again.problems] == ["$.datasets.a.bogus"]


def test_file_in_its_known_state_is_not_opened(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = read(file)
    state = FileState.of(file)
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("the file was opened"))
    assert read(file, record, state=state) == record


def test_touched_file_with_the_same_bytes_is_not_parsed(file: Path, parsed: list[bytes]) -> None:
    record = read(file)
    os.utime(file, (1_600_000_000, 1_600_000_000))
    again = read(file, record)
    assert (again.state, again.digest) == (FileState.of(file), record.digest)
    assert len(parsed) == 1


def test_bytes_of_another_file_are_parsed_only_if_problems_name_it(
    file: Path, parsed: list[bytes]
) -> None:
    other = write(file.parent, "other.yaml", MANIFEST)
    assert [one.file for one in read(other, read(file)).problems] == [str(other)]
    first, copy = (write(file.parent, name, "datasets: {}\n") for name in ("a.yaml", "b.yaml"))
    assert read(copy, read(first)).parsed().problems == ()
    assert len(parsed) == 3


def test_changed_bytes_are_parsed(file: Path, parsed: list[bytes]) -> None:
    record = read(file)
    file.write_text("datasets: {}\n", encoding="utf-8")
    assert read(file, record).problems == ()
    assert parsed == [MANIFEST.encode(), b"datasets: {}\n"]


def test_racy_file_is_read_each_time(file: Path) -> None:
    file.touch()
    state, record = FileState.of(file), read(file)
    assert record.racy
    file.write_text("datasets: {}\n", encoding="utf-8")
    assert read(file, record, state=state).problems == ()


def test_file_that_changed_since_it_was_listed_is_racy(file: Path) -> None:
    listed = FileState.of(file)._replace(inode=1)
    assert read(file, state=listed).racy
    assert not read(file).racy


def test_unreadable_file_is_reported_and_retried_each_time(file: Path) -> None:
    file.unlink()
    record = read(file)
    assert (record.state, record.racy, record.digest, record.body) == (ABSENT, True, "", b"")
    assert [str(problem) for problem in record.problems] == [
        f"{file}:1:1 $: can't read the file: No such file or directory"
    ]
    assert record.parsed().document is None


def test_file_may_be_read_as_index_and_as_manifest(file: Path) -> None:
    files = CachedFiles()
    for schema in ("index", "manifest"):
        files(file, schema, FileState.of(file))
    assert [schema for _, schema in files.read] == ["index", "manifest"]


def test_record_without_content_contains_no_data_of_the_file(file: Path) -> None:
    file.write_text("datasets: {a: {source: 'https://host/x?sig=HUSH'}}\n", encoding="utf-8")
    record = read(file)
    assert record.secret
    written = record.without_content().to_bytes()
    assert b"HUSH" in record.to_bytes()
    assert b"HUSH" not in written
    assert cached_file_from(written).racy


SECRETS: list[tuple[Any, bool]] = [
    ("https://host/x?sig=1", True),
    ("https://me:word@host/x", True),
    ("https://host/x#token", True),
    ("https://host/x", False),
    ({"fs_options": {"key": "literal"}}, True),
    ({"fs_options": {"key": {"env": "NAME"}}}, False),
    ({"fs_options": {"anon": True}}, False),
    ({"homepage": "https://host/?page=1", "description": "https://a:b@c/"}, False),
    ({"fs_options": {"access": "literal"}}, True),
    ([{"source": {"path": ["s3://a/b", "https://host/x?sig=1"]}}], True),
]


@pytest.mark.parametrize(("value", "secret"), SECRETS)
def test_secrets_are_detected_in_urls_and_options(value: Any, secret: bool) -> None:
    assert contains_secret(value) == secret
    assert may_contain_secret(cached_files.compact_json(value)) or not secret


KEY = module.package_version_key.__wrapped__
"""Takes the key as a new process does."""
FILES = ("src/registry/catalog/cached_files.py", "src/registry/a.py", "schemas/index.schema.json")
RECORD = """\
registry/a.py,sha256=1111,5
registry/__pycache__/a.cpython-313.pyc,,
../../../bin/registry,sha256=2222,200
eval_registry-0.1.0.dist-info/INSTALLER,sha256=3333,4
eval_registry-0.1.0.dist-info/RECORD,,
"""


def use(package: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat a folder as the package of this process, loaded now."""
    time.sleep(0.02)  # a file system's clock ticks every few milliseconds
    monkeypatch.setattr(module, "_LOADED", time.time_ns())
    monkeypatch.setattr(module, "__file__", str(package / "catalog/cached_files.py"))
    monkeypatch.setattr(module, "builtin_root", lambda: index)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout with some modules and a schema."""
    top = tmp_path / "checkout"
    for name in FILES:
        write(top, name, f"{name}\n")
    use(top / "src/registry", top / "datasets.yaml", monkeypatch)
    return top


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the `site-packages` of an installed release."""
    return install(tmp_path / "site-packages", RECORD, monkeypatch)


def install(top: Path, record: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(top, "registry/a.py", "a = 1\n")
    write(top, "eval_registry-0.1.0.dist-info/RECORD", record)
    write(top, "other-1.0.dist-info/RECORD", "other.py,sha256=4444,1\n")
    use(top / "registry", top / "registry/datasets.yaml", monkeypatch)
    return top


def test_python_version_changes_the_key(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = KEY()
    monkeypatch.setattr("sys.version", "3.99")
    assert KEY() != before


@pytest.mark.parametrize("name", FILES)
def test_edit_in_a_checkout_changes_the_key(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = KEY()
    assert before == KEY()
    file = checkout / name
    stat = file.stat()
    # Same size and date, as from an archive with fixed dates; only the inode differs.
    file.write_text(f"{name[::-1]}\n", encoding="utf-8")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    use(checkout / "src/registry", checkout / "datasets.yaml", monkeypatch)
    assert KEY() == KEY() != before


def test_added_or_removed_module_changes_the_key(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [KEY()]
    new = write(checkout, "src/registry/inner/new.py", "")
    use(checkout / "src/registry", checkout / "datasets.yaml", monkeypatch)
    keys.append(KEY())
    new.unlink()
    (checkout / FILES[1]).unlink()
    keys.append(KEY())
    assert len(set(keys)) == 3


def test_other_files_do_not_change_the_key(checkout: Path) -> None:
    before = KEY()
    write(checkout, "src/registry/__pycache__/a.cpython-313.pyc", "")
    write(checkout, "docs/reference/lock.md", "")
    assert KEY() == before


@pytest.mark.parametrize("name", FILES)
def test_code_changed_after_import_gets_a_unique_key(checkout: Path, name: str) -> None:
    before = KEY()
    time.sleep(0.02)
    write(checkout, name, "new\n")
    assert len({before, KEY(), KEY()}) == 3


def test_installed_release_has_the_same_key_on_every_machine(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = KEY()
    record = RECORD.replace("2222", "5555")  # a script names the Python of its machine
    record = "".join(line for line in record.splitlines(True)[::-1] if ".pyc" not in line)
    install(tmp_path / "other", record, monkeypatch)
    assert KEY() == before


def test_different_commit_of_the_same_version_has_a_different_key(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = KEY()
    install(installed, RECORD.replace("1111", "6666"), monkeypatch)
    assert KEY() == KEY() != before


def test_upgrade_during_a_process_gives_it_a_unique_key(installed: Path) -> None:
    before = KEY()
    time.sleep(0.02)
    write(installed, "eval_registry-0.1.0.dist-info/RECORD", RECORD)
    assert len({before, KEY(), KEY()}) == 3


OPEN = """
import sys
from registry.yamldoc import reader
parse, parsed = reader._parse_recovering, []
reader._parse_recovering = lambda text, *, file: parsed.append(file) or parse(text, file=file)
from registry import list_datasets
print(list_datasets(root=sys.argv[1]), len(parsed))
"""


def test_editing_the_package_invalidates_the_catalog_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "checkout/src"
    # With the compiled modules: to compile them takes longer than all the rest.
    shutil.copytree(Path(registry.__file__).parent, source / "registry")
    schemas = Path(registry.__file__).parents[2] / "schemas"
    shutil.copytree(schemas, tmp_path / "checkout/schemas")
    write(tmp_path, "checkout/datasets.yaml", "version: 1\n")
    index = write(tmp_path, "catalog/datasets.yaml", "version: 1\ndatasets: {}\n")
    os.utime(index, (1_700_000_000, 1_700_000_000))
    monkeypatch.setenv("PYTHONPATH", str(source))

    def opened() -> str:
        command = [sys.executable, "-c", OPEN, str(index)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert [opened(), opened()] == ["[] 1\n", "[] 0\n"]
    with (source / "registry/manifest/schema.py").open("a") as module_file:
        module_file.write("# edited\n")
    assert opened() == "[] 1\n"
