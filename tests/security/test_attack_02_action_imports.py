"""Attack 2: the action imports Python modules that lie at the top of the checkout."""

from __future__ import annotations

from pathlib import Path

from tests.git_repository import GitRepository, write_files
from tests.review_flow.composite_action import prepare

MODULES = (
    "venv", "ensurepip", "pip", "secrets", "zipfile", "json", "click", "yaml", "msgspec",
    "registry", "sitecustomize", "usercustomize", "conftest", "setup",
)  # fmt: skip
"""What the action's programs import, or Python imports by itself."""
MARK = "import pathlib; (pathlib.Path(__file__).resolve().parent / 'RAN').touch()\n"
CATALOG = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\n",
    "m/qa.yaml": "datasets:\n  qa: {source: {type: csv, path: qa.csv}}\n",
    "qa.csv": "input,target\nOne?,1\n",
}
PACKAGING = {
    "pip.conf": "[install]\nindex-url = http://127.0.0.1:1/\n",
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n',
    "pyvenv.cfg": "home = .\n",
}


def planted() -> dict[str, str]:
    """Return files that leave a mark when Python imports them."""
    files = {f"{name}.py": MARK for name in MODULES}
    packages = {f"{name}/__init__.py": MARK for name in MODULES}
    return {**files, **packages, "registry/__main__.py": MARK, **PACKAGING}


def test_no_step_imports_from_the_checkout(tmp_path: Path) -> None:
    action = prepare(tmp_path)
    repository = GitRepository.make(tmp_path / "workspace", CATALOG)
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repository.write(planted())
    repository.commit()
    done = action.run(
        repository.folder,
        environment={
            "GITHUB_BASE_REF": "main",
            "PIP_NO_INDEX": "1",
            "PYTHONPATH": str(repository.folder),
        },
    )
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("RAN")] == []
    # `validate` reports the Python files in the folder of manifests.
    assert done.codes == {**dict.fromkeys(action.steps, 0), "validate": 1}, done.logs
    assert "title=python-in-catalog" in done.logs["validate"]
    assert repository.git("status", "--porcelain") == ""


def test_no_package_is_installed_from_the_checkout(tmp_path: Path) -> None:
    action = prepare(tmp_path)
    workspace = write_files(tmp_path / "workspace", planted())
    done = action.run(
        workspace, inputs={"packages": "./"}, environment={"PIP_NO_INDEX": "1"}, only="install"
    )
    assert done.codes == {"install": 1}, done.logs
    assert list(tmp_path.rglob("RAN")) == []
