"""Results of different code are not reused, in a checkout or an installed release."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import registry
from registry.catalog import code_version as module

KEY = module.package_version_key.__wrapped__
"""Takes the key as a new process does."""

FILES = ("src/registry/catalog/code_version.py", "src/registry/a.py", "schemas/index.schema.json")
RECORD = """\
registry/a.py,sha256=1111,5
registry/__pycache__/a.cpython-313.pyc,,
../../../bin/registry,sha256=2222,200
eval_registry-0.1.0.dist-info/INSTALLER,sha256=3333,4
eval_registry-0.1.0.dist-info/RECORD,,
"""


def write(top: Path, name: str, text: str) -> Path:
    path = top / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def use(package: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat a folder as the package of this process, loaded now."""
    time.sleep(0.02)  # a file system's clock ticks every few milliseconds
    monkeypatch.setattr(module, "_LOADED", time.time_ns())
    monkeypatch.setattr(module, "__file__", str(package / "catalog/code_version.py"))
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


def test_key_is_computed_once_per_process() -> None:
    assert module.package_version_key() == module.package_version_key()


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
from registry.yamldoc import recovery
parse, parsed = recovery.parse_recovering, []
recovery.parse_recovering = lambda text, *, file: parsed.append(file) or parse(text, file=file)
from registry import list_datasets
print(list_datasets(root=sys.argv[1]), len(parsed))
"""


def test_editing_the_package_invalidates_the_catalog_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "checkout/src"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(registry.__file__).parent, source / "registry", ignore=ignored)
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
    assert [opened(), opened()] == ["[] 1\n", "[] 0\n"]
