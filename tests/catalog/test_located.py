"""Problems of a catalog name its files as the user does."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from registry.catalog.located import (
    LocatedProblem,
    conflicts,
    duplicate_name,
    include_limit,
    include_nothing,
    unread,
)
from registry.manifest.merge import Entry, index_defaults
from registry.settings import builtin_root
from registry.yamldoc.reader import parse_yaml

INDEX = parse_yaml("include: [a.yaml, b.yaml]\ndatasets:\n  one: {}\n", file="/c/datasets.yaml")


def shown(problem: LocatedProblem) -> str:
    return str(problem.displayed(lambda file: file.removeprefix("/c/")))


def test_problems_of_include_name_the_pattern() -> None:
    place = "datasets.yaml:1:19 $.include[1]: "
    assert shown(include_nothing(INDEX, 1)) == (
        f"{place}'b.yaml' matches nothing (check the spelling)"
    )
    assert shown(include_limit(INDEX, 1, "more than one `**`")).startswith(
        f"{place}'b.yaml' is not read to the end: more than one `**` (write a narrower pattern, "
    )
    assert shown(unread(INDEX, 1, after=1)).startswith(f"{place}only 1 manifest of 'b.yaml' read")


def test_duplicate_of_a_dataset_of_a_package_names_the_package() -> None:
    root, shipped = Path("/c"), builtin_root().parent
    other = parse_yaml("datasets:\n  one: {}\n", file="/c/m.yaml")
    own = Entry("one", other, root, index_defaults(INDEX))
    theirs = Entry("one", INDEX, shipped, index_defaults(INDEX))
    problem = duplicate_name(own, theirs)
    assert shown(problem) == (
        "m.yaml:2:3 $.datasets.one: the name 'one' is already defined by package registry"
        " (choose another, or write `override: true` to take its place; that one is at datasets.yaml:3)"
    )
    elsewhere = replace(problem.problem, path="$.datasets.two")
    assert conflicts(theirs, [problem.problem, elsewhere], root) == [problem.problem]
    assert conflicts(own, [problem.problem], root) == []
