"""The catalog: the files of an index, and the datasets that a broken file affects."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry import DatasetNotFoundError, ManifestError, get_dataset, list_datasets
from registry.catalog.catalog import Catalog
from registry.errors import Problem
from registry.lint.runner import check as check_all
from registry.manifest import merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Write = Callable[..., Path]
ROOT = Path(__file__).parents[2]


def dataset(name: str, path: str = "x.csv") -> str:
    return f"datasets:\n  {name}:\n    source: {{type: csv, path: {path}}}\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write an index and manifests by their paths below a folder that becomes the current one."""

    def make(index: str = "include: [m/*.yaml]\n", **manifests: str) -> Path:
        (tmp_path / "datasets.yaml").write_text(f"version: 1\n{index}", encoding="utf-8")
        (tmp_path / "m").mkdir(exist_ok=True)
        for data in ("x", "x.csv"):
            (tmp_path / data).write_text("", encoding="utf-8")
        for name, text in manifests.items():
            (tmp_path / "m" / f"{name}.yaml").write_text(text, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return make


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Fail instead of hanging if the code inside takes longer."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(catalog: Catalog, paths: Iterable[Path] = ()) -> list[Problem]:
    """Return the errors of a catalog, without the warnings about minimal datasets."""
    return [problem for problem in check_all(catalog, paths) if problem.severity == "error"]


def problems_in(error: ManifestError) -> list[str]:
    return [str(problem) for problem in error.problems]


# --- includes ---


def test_catalog_is_an_ordered_mapping_of_names(write: Write) -> None:
    root = write(a=dataset("zeta"), b=dataset("alpha"))
    catalog = Catalog.open(root)
    assert list(catalog) == ["alpha", "zeta"] == list_datasets(root=root)
    assert len(catalog) == 2
    assert catalog["zeta"].name == "zeta"
    assert "zeta" in catalog
    assert "two" not in catalog
    assert catalog.get("two") is None


def test_manifests_and_the_index_can_define_datasets(write: Write) -> None:
    index = f"include: [m/*.yaml]\n{dataset('inline')}"
    assert list(Catalog.open(write(index, a=dataset("file")))) == ["file", "inline"]


def test_globs_may_cross_folders(write: Write) -> None:
    root = write("include: ['m/**/*.yaml']\n", a=dataset("one"))
    (root / "m" / "deep" / "er").mkdir(parents=True)
    (root / "m" / "deep" / "er" / "b.yaml").write_text(dataset("two"), encoding="utf-8")
    assert list(Catalog.open(root)) == ["one", "two"]


def test_relative_paths_are_relative_to_the_index_in_every_manifest(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = f"include: ['m/**/*.yaml']\n{dataset('inline', 'data/x.csv')}"
    root = write(index, a=dataset("file", "data/x.csv"))
    (root / "m" / "deep").mkdir()
    (root / "m" / "deep" / "b.yaml").write_text(dataset("deep", "deep/../x.csv"), encoding="utf-8")
    monkeypatch.chdir("/")
    catalog = Catalog.open(root)
    inside = (str(root / "data" / "x.csv"),)
    assert catalog["inline"].source.path == catalog["file"].source.path == inside
    assert catalog["deep"].source.path == (str(root / "x.csv"),)


def test_index_may_have_any_file_name(write: Write) -> None:
    root = write(a=dataset("one"))
    other = root / "other.yaml"
    other.write_text(f"version: 1\n{dataset('two')}", encoding="utf-8")
    assert list(Catalog.open(other)) == ["two"]


def test_includes_without_a_match_are_reported(write: Write) -> None:
    root = write("include: [m/*.yaml, none/*.yaml, 'package:no_such_package_anywhere']\n")
    assert [str(problem) for problem in Catalog.open(root).problems] == [
        "datasets.yaml:2:11 $.include[0]: 'm/*.yaml' matches nothing (check the spelling)",
        "datasets.yaml:2:21 $.include[1]: 'none/*.yaml' matches nothing (check the spelling)",
        (
            "datasets.yaml:2:34 $.include[2]: 'package:no_such_package_anywhere' matches nothing"
            " (install the package)"
        ),
    ]
    inline = Catalog.open(write(f"include: [none/*.yaml]\n{dataset('inline')}"))
    assert inline["inline"].name == "inline", "the problem is of other files"


def test_duplicate_name_across_files_is_reported_with_the_first_position(write: Write) -> None:
    catalog = Catalog.open(write(a=dataset("one"), b=f"# later\n{dataset('one', 'y.csv')}"))
    assert [str(problem) for problem in catalog.problems] == [
        "m/b.yaml:3:3 $.datasets.one: the name 'one' is already in use (by m/a.yaml:2)"
    ]
    assert catalog["one"].source.path == (str(catalog.index.parent / "x.csv"),)


# --- catalogs of packages ---


def write_package(folder: Path, name: str, index: str, **manifests: str) -> None:
    """Write a package that ships a catalog and must not be imported."""
    package = folder / name
    (package / "m").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('it was imported')", encoding="utf-8")
    (package / "datasets.yaml").write_text(index, encoding="utf-8")
    for file, text in manifests.items():
        (package / "m" / f"{file}.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "installed"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


INDEX = "version: 1\ninclude: [m/*.yaml]\n"


def test_packaged_catalog_is_read_without_importing_the_package(
    write: Write, packages: Path
) -> None:
    index = f"{INDEX}defaults: {{license: mit}}\n"
    write_package(packages, "ships_a_catalog", index, p=dataset("theirs"))
    catalog = Catalog.open(
        write("include: ['package:ships_a_catalog', m/*.yaml]\n", a=dataset("ours"))
    )
    assert catalog.problems == ()
    assert list(catalog) == ["ours", "theirs"]
    assert catalog["theirs"].source.path == (str(packages / "ships_a_catalog" / "x.csv"),)
    assert (str(catalog["theirs"].license), catalog["ours"].license) == ("mit", None)
    assert "ships_a_catalog" not in sys.modules


def test_child_of_a_packaged_parent_reads_the_packaged_file(write: Write, packages: Path) -> None:
    write_package(packages, "ships_a_parent", INDEX, p=dataset("theirs", "data/x.csv"))
    child = "datasets:\n  ours: {extends: theirs, limit: 3}\n"
    catalog = Catalog.open(write("include: ['package:ships_a_parent', m/*.yaml]\n", a=child))
    path = str(packages / "ships_a_parent" / "data" / "x.csv")
    assert catalog["theirs"].source.path == catalog["ours"].source.path == (path,)


def test_packages_may_include_each_other(write: Write, packages: Path) -> None:
    for name, other in (("one_of_two", "two_of_two"), ("two_of_two", "one_of_two")):
        index = f"version: 1\ninclude: ['package:{other}']\n{dataset(name)}"
        write_package(packages, name, index)
    catalog = Catalog.open(write("include: ['package:one_of_two', 'package:one_of_two']\n"))
    assert catalog.problems == ()
    assert list(catalog) == ["one_of_two", "two_of_two"]


def test_a_name_of_two_packages_is_a_problem_of_its_dataset(write: Write, packages: Path) -> None:
    for name in ("has_it_first", "has_it_too"):
        write_package(packages, name, INDEX, p=dataset("theirs"))
    catalog = Catalog.open(write("include: ['package:has_it_first', 'package:has_it_too']\n"))
    assert catalog.stray_problems() == []
    with pytest.raises(ManifestError) as caught:
        catalog["theirs"]
    assert caught.value.problems == catalog.problems


@pytest.mark.parametrize("order", ["m/*.yaml, 'package:has_it'", "'package:has_it', m/*.yaml"])
def test_name_of_a_package_stays_that_of_its_dataset(
    write: Write, packages: Path, order: str
) -> None:
    child = "  child: {extends: one}\n"
    splits = "    splits: {x: {}, y: {}}\n    default_split: x\n"
    write_package(packages, "has_it", INDEX, p=f"{dataset('one', 'theirs.csv')}{splits}{child}")
    same = "datasets:\n  grandchild: {extends: child}\n  mine: {extends: one}\n"
    catalog = Catalog.open(write(f"include: [{order}]\n", a=dataset("one", "ours.csv"), b=same))
    (problem,) = catalog.problems
    assert str(problem).startswith("m/a.yaml:2:3 $.datasets.one: the name 'one' is already defined")
    for name in ("one", "one:y", "mine"):  # in a file of ours, the name may mean either
        with pytest.raises(ManifestError) as raised:
            catalog[name]
        assert raised.value.problems == (problem,)
    for name in ("child", "grandchild"):
        assert catalog[name].source.path == (str(packages / "has_it" / "theirs.csv"),)
    assert check_all(catalog, [catalog.index.parent / "m"], select=["duplicate-name"]) == [problem]


@pytest.mark.parametrize("order", ["m/*.yaml, 'package:base'", "'package:base', m/*.yaml"])
@pytest.mark.parametrize("depth", [0, 1])
def test_dataset_that_overrides_is_extended_in_place_of_that_of_the_package(
    write: Write, packages: Path, order: str, depth: int
) -> None:
    """At depth 1, a package overrides a dataset of another, and is included itself."""
    theirs = f"{dataset('one', 'theirs.csv')}  child: {{extends: one}}\n"
    write_package(packages, "base", INDEX, p=theirs)
    ours = dataset("one", "ours.csv").replace("source:", "override: true\n    source:")
    index = f"version: 1\ninclude: [{order}]\n"
    write_package(packages, "above", index, a=ours)
    root = packages / "above"
    if depth:
        root = write("include: ['package:base', 'package:above']\n")
    for catalog in (Catalog.open(root), Catalog.open(root)):  # cold, warm
        assert catalog.problems == ()
        home = packages / "above"
        assert [catalog[name].source.path for name in ("one", "child")] == [
            (str(home / "ours.csv"),)
        ] * 2
        assert {catalog[name].folder for name in ("one", "child")} == {home}
        (place,) = catalog.entries["one"].overridden
        assert (place.folder, place.line) == (packages / "base", 2)
        assert catalog.dependents("one") == ["child"]


def test_overrides_compete_like_any_other_names(write: Write, packages: Path) -> None:
    ours = dataset("one", "ours.csv").replace("source:", "override: true\n    source:")
    write_package(packages, "base", INDEX, p=dataset("one"))
    write_package(packages, "beside", INDEX, p=ours)
    root = write("include: ['package:base', 'package:beside']\n")
    assert [one.rule for one in Catalog.open(root).problems] == ["duplicate-name"]
    root = write("include: ['package:base', m/*.yaml]\n", a=ours, b=ours)
    (problem,) = Catalog.open(root).problems
    assert (problem.rule, problem.file) == ("duplicate-name", "m/b.yaml")
    root = write("include: [m/*.yaml]\n", a=ours, b="datasets: {}\n")
    (problem,) = Catalog.open(root).problems
    assert problem.hint == "check the spelling and `include`, or remove `override`"
    root = write("include: [m/*.yaml]\n", a=ours, b="datasets: [\n")
    rules = [one.rule for one in Catalog.open(root).problems]
    assert rules == ["yaml-syntax"], "the dataset may be in the file that can't be read"
    (root / "m/b.yaml").unlink()
    extends = "datasets:\n  one: {override: true, extends: one}\n"
    catalog = Catalog.open(write("include: ['package:base', m/*.yaml]\n", a=extends))
    with pytest.raises(ManifestError, match=r"forms a cycle: one → one \(it takes the place of"):
        catalog["one"]


def test_group_of_ours_has_its_name_before_that_of_a_package(write: Write, packages: Path) -> None:
    theirs, ours = (f"{dataset(one)}groups: {{g: {{datasets: [{one}]}}}}\n" for one in ("p", "o"))
    write_package(packages, "has_a_group", INDEX, p=theirs)
    catalog = Catalog.open(write("include: ['package:has_a_group', m/*.yaml]\n", a=ours))
    assert catalog.groups["g"].value == {"datasets": ["o"]}
    assert [one.rule for one in catalog.problems] == ["duplicate-name"]


def test_catalog_of_this_package_can_be_included(write: Write) -> None:
    catalog = Catalog.open(write("include: ['package:registry']\n"))
    assert catalog.problems == ()
    assert set(catalog) == set(Catalog.open(ROOT))


# --- the root ---


def names_of(root: str | Path | None = None) -> list[str]:
    return list(Catalog.open(root))


def test_root_comes_from_argument_then_environment_then_parent_folders(
    write: Write, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    near, other = write(a=dataset("near")), tmp_path_factory.mktemp("other")
    monkeypatch.chdir(near / "m")
    assert names_of() == ["near"]
    (other / "datasets.yaml").write_text(f"version: 1\n{dataset('other')}", encoding="utf-8")
    monkeypatch.setenv("REGISTRY_ROOT", str(other))
    assert names_of() == ["other"]
    assert names_of(near) == ["near"]


def test_built_in_catalog_is_used_without_an_index_in_parent_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "demo-mcq" in names_of()


def test_missing_root_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ManifestError) as caught:
        Catalog.open("nowhere")
    (problem,) = problems_in(caught.value)
    assert problem == (
        "nowhere: there is no catalog (name a folder with a datasets.yaml, or create one: "
        "`registry init FOLDER`)"
    )


def test_root_that_cannot_be_looked_at_is_not_called_missing(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="File name too long"):
        Catalog.open(tmp_path / ("n" * 300) / "datasets.yaml")


def test_broken_index_is_an_error(write: Write) -> None:
    with pytest.raises(ManifestError) as caught:
        Catalog.open(write("inclued: []\ndefaults: 5\n"))
    assert problems_in(caught.value) == [
        "datasets.yaml:2:1 $.inclued: unknown key 'inclued' (did you mean 'include'?)",
        "datasets.yaml:3:1 $.defaults: must be a mapping, is 5",
    ]


# --- broken files ---

BROKEN = {
    "syntax": "datasets: [\n",
    "unknown key": "datasets:\n  bad: {bogus: 1}\n",
    "no mapping": "- a\n",
    "a list of datasets": "datasets: [a]\n",
    "a number of datasets": "datasets: 1\n",
    "a number": "datasets: {bad: 1}\n",
    "null": "datasets: {bad: ~}\n",
    "empty": "",
    "not UTF-8": "datasets: é\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_file_does_not_affect_datasets_of_other_files(write: Write, text: str) -> None:
    root = write(a=dataset("good"), b="", c=dataset("other"))
    (root / "m" / "b.yaml").write_bytes(text.encode("latin-1"))
    catalog = Catalog.open(root)
    assert catalog["good"].name == "good"
    assert catalog["other"].name == "other"
    assert {problem.file for problem in catalog.problems} == {"m/b.yaml"}


@pytest.mark.parametrize(
    ("key", "opened", "inner", "closed"),
    [
        ("where", "{not: ", "{value: a, equals: 1}", "}"),
        ("where", "[", "{value: a, equals: 1}", "]"),
        ("fields", "{target: ", "a", "}"),
        ("fields", "[", "a", "]"),
        ("fields", "{from: ", "a", "}"),
        ("fields", "{object: {k: ", "a", "}}"),
    ],
)
def test_deeply_nested_file_does_not_affect_datasets_of_other_files(
    write: Write, key: str, opened: str, inner: str, closed: str
) -> None:
    levels = 56 // len(closed)  # YAML may nest 64
    nested = f"{opened * levels}{inner}{closed * levels}"
    value = nested if key == "where" else f"{{target: {nested}}}"
    deep = f"datasets:\n  deep: {{source: {{type: csv, path: x}}, {key}: {value}}}\n"
    catalog = Catalog.open(write(a=dataset("good"), b=deep))
    assert catalog["good"].name == "good"
    assert {problem.file for problem in check(catalog)} <= {"m/b.yaml"}


def test_broken_package_does_not_affect_datasets_of_other_files(
    write: Write, packages: Path
) -> None:
    index = f"{INDEX}defaults: {{source: [csv]}}\n"
    write_package(packages, "ships_a_broken_one", index, p=dataset("theirs"))
    root = write("include: [m/*.yaml, 'package:ships_a_broken_one']\n", a=dataset("good"))
    catalog = Catalog.open(root)
    assert catalog["good"].name == "good"
    (problem,) = catalog.problems
    place = "installed/ships_a_broken_one/datasets.yaml:3:12 $.defaults.source"
    assert str(problem) == f"{place}: must be a mapping, is ['csv']"
    with pytest.raises(ManifestError, match=r"must be a mapping, is \['csv'\]"):
        catalog["theirs"]


def test_a_key_that_starts_as_groups_does_is_a_problem_of_all_datasets_of_its_file(
    write: Write,
) -> None:
    catalog = Catalog.open(write(a=f"{dataset('one')}groups: {{g: {{datasets: [gone]}}}}\n"))
    assert catalog["one"].name == "one"
    catalog = Catalog.open(write(a=f"{dataset('one')}groups_of_mine: 5\n"))
    with pytest.raises(ManifestError, match=r"\$\.groups_of_mine: unknown key"):
        catalog["one"]


def test_error_for_a_dataset_in_a_broken_file_lists_all_problems_of_the_file(write: Write) -> None:
    bad = "datasets:\n  bad: {source: {type: csv, path: x}, bogus: 1}\n  worse: {limit: a}\n"
    catalog = Catalog.open(write(a=bad))
    with pytest.raises(ManifestError) as caught:
        catalog["bad"]
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("middle", ["a", "b"], ids=["in its file", "in a file of its own"])
def test_dataset_with_an_ancestor_in_a_broken_file_is_an_error(write: Write, middle: str) -> None:
    texts = {"a": "datasets:\n  kid: {extends: mid}\n", "b": "datasets:\n", "z": ""}
    texts[middle] += "  mid: {extends: base}\n"
    texts["b"] += "  other: {extends: kid}\n"
    texts["z"] = "datasets:\n  base: {source: [x.csv]}\n"
    catalog = Catalog.open(write(**texts))
    with pytest.raises(ManifestError) as caught:
        catalog["kid"]
    assert problems_in(caught.value) == [
        "m/z.yaml:2:10 $.datasets.base.source: must be a mapping, is ['x.csv']"
    ]


def test_problems_of_a_parent_do_not_prevent_checks_of_other_datasets(write: Write) -> None:
    child = "datasets:\n  kid: {extends: base}\n  lone: {source: {type: csv, path: x}, seed: 3}\n"
    root = write(a=child, z="datasets:\n  base: {source: [x.csv]}\n")
    places = [(problem.file, problem.line) for problem in check(Catalog.open(root))]
    assert ("m/a.yaml", 3) in places
    assert ("m/z.yaml", 2) in places


@pytest.mark.parametrize(
    ("first", "second", "cycle"),
    [
        ("  a: {extends: a}\n", "", "a → a"),
        ("  a: {extends: b}\n  b: {extends: a}\n", "", "a → b → a"),
        ("  a: {extends: b}\n  b: {extends: b}\n", "", "a → b → b"),
        ("  a: {extends: b}\n", "  b: {extends: a}\n", "a → b → a"),
    ],
)
def test_cycle_is_reported_without_an_endless_loop(
    write: Write, first: str, second: str, cycle: str
) -> None:
    catalog = Catalog.open(write(a=f"datasets:\n{first}", b=f"datasets:\n{second}"))
    with at_most(3), pytest.raises(ManifestError, match=f"a cycle: {cycle}"):
        catalog["a"]


# --- trust ---

MAPPED = "datasets:\n  a: {source: {type: csv, path: x}, mapper: 'pkg.records:to_sample'}\n"


def test_mapper_from_an_untrusted_package_is_rejected(write: Write) -> None:
    catalog = Catalog.open(write(m=MAPPED))
    with pytest.raises(ManifestError) as caught:
        catalog["a"]
    assert problems_in(caught.value) == [
        (
            "m/m.yaml:2:37 $.datasets.a.mapper: the mapper 'pkg.records:to_sample' is not trusted, so"
            " its code is not run (add 'pkg.records:to_sample' under `trust` in datasets.yaml, if you"
            " have read it)"
        )
    ]


def test_only_the_root_index_can_grant_trust(write: Write, packages: Path) -> None:
    write_package(packages, "trusts_itself", f"{INDEX}trust: ['pkg.records:to_sample']\n", p=MAPPED)
    index = "include: ['package:trusts_itself']\n"
    with pytest.raises(ManifestError, match="is not trusted"):
        Catalog.open(write(index))["a"]
    assert Catalog.open(write(f"{index}trust: ['pkg.records:to_sample']\n"))["a"].mapper


# --- unknown names ---


def test_unknown_name_is_a_lookup_error_with_three_similar_names(write: Write) -> None:
    names = ("mmlu", "mmlu-pro", "mmlu-small", "mmlu-redux", "arc")
    root = write(**{name: dataset(name) for name in names})
    with pytest.raises(DatasetNotFoundError) as caught:
        get_dataset("mmlu-smal", root=root)
    error = caught.value
    assert isinstance(error, LookupError)
    assert not isinstance(error, KeyError)
    assert error.name == "mmlu-smal"
    assert error.matches[0] == "mmlu-small"
    assert len(error.matches) == 3
    assert str(error) == (
        f"no dataset 'mmlu-smal' in {root / 'datasets.yaml'};"
        f" similar names: {', '.join(error.matches)} (`registry list` shows all)"
    )


def test_unknown_name_without_similar_names_is_reported_with_the_searched_index(
    write: Write,
) -> None:
    root = write(a=dataset("one"))
    with pytest.raises(DatasetNotFoundError) as caught:
        Catalog.open(root)["zzzzzz"]
    assert caught.value.matches == []
    assert str(caught.value) == (
        f"no dataset 'zzzzzz' in {root / 'datasets.yaml'} (`registry list` shows all)"
    )


def test_names_are_case_sensitive(write: Write) -> None:
    with pytest.raises(DatasetNotFoundError) as caught:
        Catalog.open(write(a=dataset("gsm8k")))["GSM8K"]
    assert caught.value.matches == ["gsm8k"]


# --- check ---


def test_check_accepts_paths_in_any_spelling(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(a=dataset("one"))
    (root / "sub").mkdir()
    (root / "link").symlink_to(root / "m")
    for path in ("m/a.yaml", "./m/../m/a.yaml", root / "m" / "a.yaml", "m", "link/a.yaml"):
        assert check(Catalog.open(root), [Path(path)]) == []
    monkeypatch.chdir(root / "sub")
    for path in (Path("../m/a.yaml"), Path("../m"), Path("..")):
        assert check(Catalog.open(root), [path]) == []


def test_check_treats_a_file_outside_the_index_as_included(write: Write) -> None:
    root = write(a=dataset("one"))
    (root / "new.yaml").write_text("datasets:\n  two: {extends: one, seed: 1}\n", encoding="utf-8")
    (problem,) = check(Catalog.open(root), [Path("new.yaml")])
    assert str(problem) == (
        "new.yaml:2:23 $.datasets.two.seed: `seed` without `shuffle` does nothing"
        " (add `shuffle: true`)"
    )


def test_a_catalog_prints_in_one_line(write: Write) -> None:
    shown = repr(Catalog.open(write(m=f"{dataset('a')}    limit: x\n")))
    assert shown.startswith("Catalog('")
    assert shown.endswith("datasets.yaml': 1 dataset, 1 problem)")


def test_no_more_of_a_long_chain_is_read_than_its_limit(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = "".join(f"  d{n}: {{extends: d{n - 1}}}\n" for n in range(1, 1000))
    write(d=f"{dataset('d0')}{links}")
    catalog, steps = Catalog.open(), 0
    current_name = merge.current_name

    def counted(name: str, entries: Mapping[str, merge.Entry]) -> str:
        nonlocal steps
        steps += 1
        return current_name(name, entries)

    monkeypatch.setattr(merge, "current_name", counted)
    with pytest.raises(ManifestError, match="more than 32 ancestors"):
        catalog["d999"]
    assert steps < 100
