"""What both sides of a diff tell together: packages, what could not be read, other indexes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from registry.base.materials import Material
from registry.diff.checkout import checkout_of, folder_checkout
from registry.diff.snapshots.contents import Contents, read_contents
from registry.diff.snapshots.pair import (
    PACKAGE_KEY,
    Unread,
    changed_in_packages,
    find_unread,
    nested_indexes,
    package_notes,
)
from registry.errors import Problem
from registry.lockfile.models import Lock, lock_text, parse_lock
from registry.lockfile.origins import pin_origins
from registry.lockfile.spec_digest import spec_digest
from registry.yamldoc.reader import parse_yaml
from tests.git_repository import GitRepository, write_files
from tests.lockfile.pins import DIGEST as OTHER
from tests.lockfile.pins import pin_of

MINE = (
    "version: 1\ninclude: [package:theirs]\n"
    "datasets: {own: {source: {type: csv, path: a.csv}}, mine: {extends: t0, limit: 3}}\n"
)

INDEX = "version: 1\ninclude: [m/*.yaml, sub/*.yaml]\n"
DATASET = "datasets:\n  {}: {{source: {{type: csv, path: {}}}}}\n"

OWN = "datasets: {d: {source: {type: json, path: d.jsonl}}}\n"
BASE = {
    "catalog/datasets.yaml": f"version: 1\n{OWN}",
    "catalog/d.jsonl": '{"input": "x"}\n',
    "catalog/old/datasets.yaml": "version: 1\n",
}


def pinned(contents: Contents, **specs: str) -> Contents:
    """Return contents with pins for manifests with these digests."""
    sources = (Material(location="a", size=1, sha256="0" * 64),)
    pins = {name: pin_of(spec=spec, sources=sources) for name, spec in specs.items()}
    text = lock_text(Lock(pins))
    lock = parse_lock(text.encode(), "datasets.lock")
    origins = pin_origins([parse_yaml(text, file="datasets.lock")])
    return replace(contents, lock=lock, pins=origins)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contents]:
    """Read a catalog that includes an installed package of seven datasets."""
    folder = tmp_path_factory.mktemp("catalog")
    lines = "".join(f"  t{n}: {{source: {{type: csv, path: a.csv}}}}\n" for n in range(7))
    files = {
        "datasets.yaml": MINE,
        "site/theirs/datasets.yaml": f"version: 1\ndatasets:\n{lines}",
        "site/theirs-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: theirs\nVersion: 1.2\n",
        "site/theirs-1.2.dist-info/top_level.txt": "theirs\n",
    }
    write_files(folder, files)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder / "site")
        yield read_contents(folder_checkout(folder / "datasets.yaml", "x"))


def test_pins_for_the_installed_version_are_no_difference(installed: Contents) -> None:
    same = pinned(installed, t0=spec_digest(installed.specs["t0"]))
    assert changed_in_packages(same, same) == {}
    assert changed_in_packages(installed, installed) == {}


def test_base_that_is_pinned_for_another_version_differs(installed: Contents) -> None:
    base = pinned(installed, t0=OTHER, mine=OTHER, own=OTHER)
    found = changed_in_packages(base, installed)
    assert list(found) == ["mine", "t0"], "a dataset of no package has its own manifest"
    old, new = found["t0"]
    assert (old.key, old.value, old.layer) == (PACKAGE_KEY, OTHER, "lock")
    assert new.value == spec_digest(installed.specs["t0"])
    assert new.place.startswith("theirs 1.2")


def test_head_that_is_pinned_for_another_version_differs(installed: Contents) -> None:
    old, new = changed_in_packages(installed, pinned(installed, t0=OTHER))["t0"]
    assert (old.value, new.value) == (spec_digest(installed.specs["t0"]), OTHER)


def test_change_of_the_own_manifest_explains_a_stale_pin(
    installed: Contents, tmp_path: Path
) -> None:
    (tmp_path / "datasets.yaml").write_text(MINE.replace("limit: 3", "limit: 4"))
    head = read_contents(folder_checkout(tmp_path / "datasets.yaml", "x"))
    assert changed_in_packages(installed, pinned(head, mine=OTHER)) == {}


def test_note_names_the_version_and_what_has_no_pin(installed: Contents) -> None:
    (note,) = package_notes(pinned(installed, t0=OTHER), installed)
    assert note == (
        "package theirs 1.2: both sides are read from the installed version, and 1 of 8 datasets"
        " compared with the pins of the base; not compared, as the base has no pin: mine, t1, t2, t3,"
        " t4 and 2 more (`registry lock` pins them)"
    )


# --- what could not be read ---


def side(folder: Path, **names: str) -> Contents:
    files = {f"m/{name}.yaml": DATASET.format(name, path) for name, path in names.items()}
    repository = GitRepository.make(folder, {"datasets.yaml": INDEX, **files})
    read = read_contents(folder_checkout(repository.folder / "datasets.yaml", "x"))
    return replace(read, problems=())


@pytest.mark.parametrize("rule", ["yaml-syntax", "unreadable-file", "yaml-limit"])
def test_unreadable_file_may_have_any_dataset_that_is_missing(tmp_path: Path, rule: str) -> None:
    base = side(tmp_path / "base", one="a.csv", two="a.csv")
    head = replace(
        side(tmp_path / "head", two="a.csv", three="a.csv"),
        problems=(Problem(message="broken", rule=rule),),
    )
    assert find_unread(head, base).datasets == {"one"}
    assert find_unread(base, head) == Unread()


def test_invalid_value_hides_no_dataset(tmp_path: Path) -> None:
    base, head = side(tmp_path / "base", one="a.csv"), side(tmp_path / "head", two="a.csv")
    problem = Problem(message="is not an int", rule="wrong-type")
    assert find_unread(replace(head, problems=(problem,)), base) == Unread()


def missing(contents: Contents, **commits: str) -> Contents:
    return replace(contents, checkout=replace(contents.checkout, missing=commits))


def test_missing_submodule_hides_what_is_included_from_it(tmp_path: Path) -> None:
    base, head = side(tmp_path / "base", one="a.csv"), side(tmp_path / "head", two="a.csv")
    found = find_unread(missing(base, sub="1" * 40), head)
    (problem,) = found.problems
    assert problem.message == "not compared: the submodule sub is not fetched at 111111111111"
    assert problem.hint.startswith("git submodule update --init sub; git -C sub fetch origin 111")
    assert found.datasets == {"two"}


def test_dataset_that_reads_a_missing_submodule_is_not_compared(tmp_path: Path) -> None:
    base = missing(side(tmp_path / "base", one="data/x.csv", two="b.csv"), data="1" * 40)
    head = side(tmp_path / "head", one="data/x.csv", two="b.csv")
    assert find_unread(base, head).datasets == {"one"}


@pytest.mark.parametrize(
    ("path", "datasets"),
    [
        ("data/x.csv", {"one"}),
        ("data/y.csv", set()),
        ("m/two.yaml", {"two"}),
        ("m/README.md", set()),
    ],
)
def test_what_a_file_left_out_may_hold_is_not_compared(
    path: str, datasets: set[str], tmp_path: Path
) -> None:
    names = {"one": "data/x.csv", "two": "b.csv"}
    base = side(tmp_path / "base", **names)
    names.pop(Path(path).stem, None)
    head = missing(side(tmp_path / "head", **names), **{path: ""})
    found = find_unread(head, base)
    assert found.datasets == datasets
    said = [problem.message for problem in found.problems]
    assert said == [f"not compared: the sparse checkout leaves out {path}"][: len(datasets)]


def test_submodule_that_is_not_read_or_has_not_changed_is_no_problem(tmp_path: Path) -> None:
    base, head = side(tmp_path / "base", one="a.csv"), side(tmp_path / "head", two="a.csv")
    assert find_unread(missing(base, other="1" * 40), head) == Unread()
    pair = missing(base, sub="1" * 40), missing(head, sub="1" * 40)
    assert find_unread(*pair) == Unread()


def test_name_of_a_submodule_is_quoted_in_the_command(tmp_path: Path) -> None:
    index = INDEX.replace("sub/*.yaml", "'**/*.yaml'")
    base, head = side(tmp_path / "base"), side(tmp_path / "head")
    base.checkout.index.write_text(index)
    found = find_unread(missing(base, **{"$(touch x)": "1" * 40}), head)
    assert "--init '$(touch x)'" in found.problems[0].hint


# --- other indexes of the repository ---


def found(folder: Path, files: Mapping[str, str], *, revision: bool) -> list[str]:
    repository = GitRepository.make(folder / "repository", BASE)
    repository.git("switch", "--quiet", "--create", "topic")
    repository.write(files)
    index = repository.folder / "catalog/datasets.yaml"
    base = read_contents(checkout_of("main", index, folder / "base"))
    if revision:
        repository.commit()
        head = checkout_of("topic", index, folder / "head")
    else:
        head = folder_checkout(index, "work tree")
    return sorted(one.name for one in nested_indexes(base, read_contents(head, index)))


CASES = {
    "below": ({"catalog/x/datasets.yaml": "version: 1\n"}, "x/datasets.yaml: added"),
    "beside": ({"y/datasets.yaml": "version: 1\n"}, "../y/datasets.yaml: added"),
    "in another case": ({"y/Datasets.YAML": "version: 1\n"}, "../y/Datasets.YAML: added"),
    "hidden": ({"catalog/.x/datasets.yaml": "version: 1\n"}, ".x/datasets.yaml: added"),
    "changed": (
        {"catalog/old/datasets.yaml": "version: 1\ntrust: ['a:b']\n"},
        "old/datasets.yaml: changed; permits trust: a:b",
    ),
    "invalid": (
        {"catalog/x/datasets.yaml": "version: ]\n"},
        "x/datasets.yaml: added; can't be read",
    ),
    "of its manifests": (
        {"y/datasets.yaml": "version: 1\ninclude: [m.yaml]\n", "y/m.yaml": OWN},
        "../y/datasets.yaml: added; defines d, as the catalog does",
    ),
}


@pytest.mark.parametrize("revision", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_index_that_differs_is_described(tmp_path: Path, case: str, *, revision: bool) -> None:
    files, expected = CASES[case]
    assert found(tmp_path, files, revision=revision) == [expected]


def test_unchanged_ones_and_that_of_the_catalog_are_not(tmp_path: Path) -> None:
    changed = BASE["catalog/datasets.yaml"] + "trust: ['a:b']\n"
    assert found(tmp_path, {"catalog/datasets.yaml": changed}, revision=False) == []
