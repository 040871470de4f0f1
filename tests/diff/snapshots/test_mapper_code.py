"""Which mappers are not run, as their code in the repository differs from the base."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from registry.diff.checkout import Checkout, checkout_of, folder_checkout
from registry.diff.models import Chunk
from registry.diff.snapshots import mapper_code
from registry.diff.snapshots.mapper_code import changed_code
from tests.git_repository import GitRepository

MAPPER = "qa_ours.mod:read"
CODE = {
    "datasets.yaml": "version: 1\n",
    "libs/qa_ours/mod.py": "import one\n",
    "libs/one.py": "from two import x\n",
    "libs/two/__init__.py": "x = 1\n",
    "libs/three.py": "",
}


def sides(folder: Path, change: Mapping[str, str]) -> tuple[Checkout, Checkout]:
    repository = GitRepository.make(folder / "repository", CODE)
    repository.write(change)
    index = repository.folder / "datasets.yaml"
    return checkout_of("main", index, folder / "base"), folder_checkout(index, "work tree")


def differing(base: Checkout, head: Checkout) -> str:
    return "".join(one.file for one in changed_code([MAPPER], base, head).values())


CASES = {
    "nothing": ({}, ""),
    "the same text": ({"libs/one.py": CODE["libs/one.py"]}, ""),
    "what is not imported": ({"libs/three.py": "pass"}, ""),
    "data": ({"libs/qa_ours/data.csv": "a"}, ""),
    "imported by what is imported": ({"libs/two/__init__.py": "x = 2"}, "libs/two/__init__.py"),
    "a module in place of a package": ({"libs/two.py": "x = 2"}, "libs/two.py"),
    "compiled code": (
        {"libs/qa_ours/__pycache__/mod.cpython-311.pyc": "x"},
        "libs/qa_ours/__pycache__/mod.cpython-311.pyc",
    ),
    "another package of that name": ({"qa_ours/mod.py": ""}, "qa_ours/mod.py"),
    "code that git ignores": (
        {".gitignore": "new.py", "libs/qa_ours/new.py": ""},
        "libs/qa_ours/new.py",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_code_is_compared_with_the_base(tmp_path: Path, case: str) -> None:
    change, file = CASES[case]
    assert differing(*sides(tmp_path, change)) == file


def test_changed_lines_are_shown_by_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import one\nkept = 1\nread = 'the first word'\nlast = 1\n"
    base, head = sides(tmp_path, {"libs/one.py": "", "libs/two/new.py": "a = 1\nb = 2\n"})
    GitRepository(base.top).write({"libs/qa_ours/mod.py": text})
    edited = f"new\n{text}".replace("first", "second").replace("last = 1", "x = 2\ny")
    GitRepository(head.top).write({"libs/qa_ours/mod.py": edited})
    monkeypatch.setattr(mapper_code, "_MOST_LINES", 3)
    (one,) = changed_code([MAPPER], base, head).values()
    gone, changed, new = one.lines
    assert [(one.status, one.label) for one in one.lines] == [
        *(("removed", "libs/one.py"), ("changed", "libs/qa_ours/mod.py")),
        ("added", "libs/two/new.py"),
    ]
    assert [(line.field, line.chunks) for line in gone.fields] == [
        ("line 1", (Chunk("=", "from two import x"),))
    ]
    assert [line.field for line in new.fields] == ["line 1", "line 2"]
    first, similar, other, rest = changed.fields
    assert (first.field, first.chunks) == ("line 1", (Chunk("+", "new"),))
    assert (similar.field, [one.sign for one in similar.chunks]) == ("line 4", ["=", "-", "+", "="])
    assert (other.field, other.chunks) == ("line 5", (Chunk("-", "last = 1"), Chunk("+", "x = 2")))
    assert (rest.field, rest.chunks) == ("not shown", (Chunk("=", "1 more changed line"),))


def test_link_to_code_is_equal_to_nothing(tmp_path: Path) -> None:
    base, head = sides(tmp_path, {})
    (head.top / "libs/qa_ours/mod.py").unlink()
    (head.top / "libs/qa_ours/mod.py").symlink_to("../one.py")
    assert differing(base, head) == "libs/qa_ours/mod.py"


def test_package_that_is_only_installed_is_not_part_of_a_change(tmp_path: Path) -> None:
    assert changed_code(["json:loads", "nowhere:f"], *sides(tmp_path, {})) == {}


def test_package_that_python_finds_under_another_name_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, head = sides(tmp_path, {"link/x.py": ""})
    site = tmp_path / "site"
    site.mkdir()
    (site / "qa_mapped").symlink_to(head.top / "link")
    monkeypatch.syspath_prepend(str(site))
    (one,) = changed_code(["qa_mapped:f"], base, head).values()
    assert one.file == "link/x.py"


def test_folders_without_git_are_compared(tmp_path: Path) -> None:
    for name, text in (("before", "x = 1"), ("after", "x = 2")):
        GitRepository(tmp_path / name).write({**CODE, "libs/one.py": text})
    before, after = (
        folder_checkout(tmp_path / name / "datasets.yaml", name) for name in ("before", "after")
    )
    assert differing(before, after) == "libs/one.py"


def test_working_tree_is_not_compared_if_nothing_will_be_run(tmp_path: Path) -> None:
    base, head = sides(tmp_path, {"libs/qa_ours/mod.py": "edited = 1\n"})
    assert differing(base, base) == "libs/qa_ours/mod.py"
    assert changed_code([MAPPER], base, base, with_work_tree=False) == {}
    assert changed_code([MAPPER], base, head, with_work_tree=False)
