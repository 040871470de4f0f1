"""Files of installed packages are found without importing the packages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from registry.base.packages import bad_package_path, package_file, package_folders, package_location
from registry.errors import MissingDependencyError, SourceError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install `qa_data`, whose code fails when it is imported."""
    folder = tmp_path / "site" / "qa_data"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "inner" / "x.csv").write_text("q,a\n1,2\n")
    monkeypatch.syspath_prepend(str(folder.parent))
    return folder


def test_a_file_is_found_and_nothing_is_imported(package: Path) -> None:
    path = package_file("package:qa_data/inner/x.csv")
    assert path == str(package / "inner" / "x.csv")
    assert package_location("package:qa_data/inner/*.csv", path) == "package:qa_data/inner/x.csv"
    assert "qa_data" not in sys.modules


def test_a_real_package_has_its_own_files() -> None:
    assert Path(package_file("package:pytest/py.typed")).is_file()


def test_a_file_may_be_in_any_folder_of_a_namespace_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "qa_space").mkdir(parents=True)
        (tmp_path / name / "qa_space" / f"{name}.csv").touch()
        monkeypatch.syspath_prepend(str(tmp_path / name))
    assert len(package_folders("qa_space")) == 2
    for name in ("one", "two"):
        assert package_file(f"package:qa_space/{name}.csv").startswith(str(tmp_path / name))


def test_a_missing_package_is_named_with_its_install_command() -> None:
    message = (
        r"package:qa_gone/x\.csv: the package qa_gone is not installed \(`pip install qa-gone`\)"
    )
    with pytest.raises(MissingDependencyError, match=message):
        package_file("package:qa_gone/x.csv")


@pytest.mark.parametrize("name", ["os", "__main__", "sys"])
def test_a_module_is_not_a_package(name: str) -> None:
    with pytest.raises(MissingDependencyError):
        package_file(f"package:{name}/x.csv")


def test_a_path_cannot_leave_the_package(package: Path) -> None:
    assert bad_package_path("package:qa_data/inner/x.csv") == ""
    for location in ("package:qa_data/../x", "package:qa_data//etc/passwd", "package:qa_data/a\\b"):
        with pytest.raises(SourceError, match=r"no `\.\.` and no backslash"):
            package_file(location)


def test_a_link_is_a_package_only_where_packages_are_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "__init__.py").touch()
    for place, found in (("checkout", 0), ("site-packages", 1)):
        (tmp_path / place).mkdir()
        (tmp_path / place / f"qa_in_{place[:4]}").symlink_to(tmp_path / "private")
        monkeypatch.syspath_prepend(str(tmp_path / place))
        assert len(package_folders(f"qa_in_{place[:4]}")) == found


def test_a_folder_of_the_working_directory_without_code_is_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qa_documents").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert len(package_folders("qa_documents")) == 1
    monkeypatch.chdir(tmp_path)
    assert package_folders("qa_documents") == []
    (tmp_path / "qa_documents" / "__init__.py").touch()
    assert len(package_folders("qa_documents")) == 1
