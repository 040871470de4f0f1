"""Row 8: manifests of packages and submodules, of which the repository has only a reference."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.command_line import Ran, run
from tests.git_repository import HERMETIC, GitRepository, git, write_files
from tests.security.pull_request import PullRequest

DATASET = "source: {type: csv, path: qa.csv}, fields: {input: q, target: a}"
RECORDS = "q,a\nOne?,1\nTwo?,2\n"


class Package:
    """An installed package with a catalog."""

    def __init__(self, site: Path) -> None:
        self.site, self.folder = site, site / "evals_pkg"
        write_files(self.folder, {"__init__.py": "", "qa.csv": RECORDS})

    def install(self, version: str, manifest: str) -> None:
        """Install a version in place of the former one."""
        for old in self.site.glob("*.dist-info"):
            shutil.rmtree(old)
        metadata = {"METADATA": f"Name: evals-pkg\nVersion: {version}\n"}
        info = self.site / f"evals_pkg-{version}.dist-info"
        write_files(info, {**metadata, "top_level.txt": "evals_pkg\n"})
        write_files(self.folder, {"datasets.yaml": f"version: 1\ndatasets:\n{manifest}"})

    def run(self, folder: Path, *arguments: str) -> Ran:
        """Run the command line where the package is installed."""
        return run(folder, *arguments, environment=HERMETIC, site=self.site)


ONE, TWO = f"  one: {{{DATASET}}}\n", f"  two: {{{DATASET}}}\n"
OTHER = ONE.replace("}}", "}, limit: 1}") + TWO


@pytest.fixture
def package(tmp_path: Path) -> Package:
    made = Package(tmp_path / "site")
    made.install("1.0", ONE + TWO)
    return made


@pytest.fixture
def repository(tmp_path: Path, package: Package) -> GitRepository:
    """Make a catalog that includes the package, and pins its dataset `one`."""
    index = "version: 1\ninclude: [package:evals_pkg]\n"
    made = GitRepository.make(tmp_path / "repository", {"datasets.yaml": index})
    assert package.run(made.folder, "lock", "one").code == 0
    made.commit()
    return made


def test_same_package_is_no_difference(repository: GitRepository, package: Package) -> None:
    done = package.run(repository.folder, "diff", "main")
    assert done.code == 0
    (note,) = [line for line in done.out.splitlines() if line.startswith("package")]
    assert note == (
        "package evals_pkg 1.0: both sides are read from the installed version, and 1 of 2 datasets"
        " compared with the pins of the base; not compared, as the base has no pin: two"
        " (`registry lock` pins them)"
    )


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_dataset_that_changed_in_the_package_is_a_difference(
    repository: GitRepository, package: Package, form: str
) -> None:
    package.install("1.1", OTHER)
    done = package.run(repository.folder, "diff", "main", "--format", form)
    assert done.code == 1
    assert "evals_pkg 1.1" in done.out
    assert "one" in done.out
    if form == "text":
        assert "~ one: source bytes  package:evals_pkg/datasets.yaml:3" in done.out
        assert "package: sha256:" in done.out
        assert " → evals_pkg 1.1" in done.out
        built = package.run(repository.folder, "diff", "main", "--build")
        other = "not compared: the base is pinned for another version of the package"
        assert (built.code, f"samples: {other}" in built.out) == (1, True)


def test_change_pinned_with_another_version_than_the_installed_one_is_a_difference(
    repository: GitRepository, package: Package
) -> None:
    package.install("1.1", OTHER)
    repository.git("switch", "--quiet", "--create", "topic")
    assert package.run(repository.folder, "lock", "one").code == 0
    repository.commit()
    package.install("1.0", ONE + TWO)
    done = package.run(repository.folder, "diff", "main")
    assert done.code == 1
    assert "package: sha256:" in done.out
    assert "evals_pkg 1.0 → datasets.lock:" in done.out


# --- submodules ---

FILES = {
    "qa.yaml": f"datasets:\n  qa: {{{DATASET.replace('qa.csv', 'sub/qa.csv')}}}\n",
    "qa.csv": RECORDS,
}


@pytest.fixture
def request_(tmp_path: Path) -> PullRequest:
    """Make a catalog with manifests and data in a submodule."""
    GitRepository.make(tmp_path / "inner", FILES)
    index = "version: 1\ninclude: [sub/*.yaml]\n"
    made = PullRequest.make(tmp_path, {"datasets.yaml": index}, {"README.md": "x"})
    add = ("submodule", "add", "--quiet", str(tmp_path / "inner"), "sub")
    made.repository.git("-c", "protocol.file.allow=always", *add)
    made.repository.commit()
    return made


def test_submodule_is_compared_with_the_commit_of_the_base(request_: PullRequest) -> None:
    assert request_.run("diff", "HEAD").code == 0
    sub = GitRepository(request_.folder / "sub")
    limited = FILES["qa.yaml"].replace("}}", "}, limit: 1}")
    sub.write({"qa.yaml": limited, "qa.csv": "q,a\nOne?,2\n"})
    sub.commit()
    for arguments in (["HEAD"], ["HEAD~0"]):
        done = request_.run("diff", *arguments, "--build")
        assert (done.code, "added" in done.out.splitlines()[1]) == (1, False)
        assert "limit: (none) → 1" in done.out
        assert "target: [-1-]{+2+}" in done.out
    request_.repository.commit()
    assert "limit: (none) → 1" in request_.run("diff", "HEAD~1", "HEAD").out


def test_submodule_that_is_not_fetched_is_not_compared(request_: PullRequest) -> None:
    sub = request_.folder / "sub"
    old = git(sub, "rev-parse", "HEAD")
    git(sub, "commit", "--quiet", "--allow-empty", "--message", "next")
    request_.repository.commit()
    # A shallow clone has only the new commit.
    for path in sub.parent.glob(f".git/modules/sub/objects/{old[:2]}/{old[2:]}"):
        path.unlink()
    done = request_.run("diff", "HEAD~1")
    assert done.code == 4
    assert f"not compared: the submodule sub is not fetched at {old[:12]}" in done.out
    assert "git submodule update --init sub" in done.out
    assert "not compared: qa" in done.out.splitlines()
    assert "added" not in done.out


def test_submodule_that_is_not_checked_out_is_not_compared(request_: PullRequest) -> None:
    git(request_.folder / "sub", "commit", "--quiet", "--allow-empty", "--message", "next")
    request_.repository.commit()
    request_.repository.git("submodule", "deinit", "--quiet", "--force", "sub")
    done = request_.run("diff", "HEAD~1")
    assert done.code == 4
    for label in ("HEAD~1", "work tree"):
        assert f"problem in {label}" in done.out
    assert done.out.count("the submodule sub is not fetched at") == 2
