"""The compiled catalog: files are parsed once, and every change is detected."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from registry import DatasetNotFoundError, ManifestError, list_datasets
from registry.base.fs import best_effort_path, write_best_effort
from registry.base.local_files import FileState
from registry.boundary.boundary import Boundary
from registry.catalog.cache import CompiledEntries, load_compiled, parents_of
from registry.catalog.cached_files import (
    CachedFile,
    compact_json,
    contains_secret,
    document_from,
    may_contain_secret,
)
from registry.catalog.catalog import Catalog, read_uncached
from registry.catalog.discovery import IncludeReach
from registry.catalog.reader import CatalogReader
from registry.lint.runner import check, check_catalog
from registry.manifest.resolve import resolve
from registry.settings import builtin_root
from registry.yamldoc import reader
from registry.yamldoc.document import ParsedText
from registry.yamldoc.reader import Document

ROOT = Path(__file__).parents[2]
INDEX = "version: 1\ninclude: [m/*.yaml]\n"

MANIFEST = """\
datasets:
  one:
    source: {type: json, path: data/one.jsonl}
    fields: {input: question, metadata: {topic: subject}}
    limit: 1
  hub:
    source: {type: hf, path: org/name, split: test, revision: v1}
"""


def dataset(name: str, path: str = "x.csv", keys: str = "") -> str:
    return f"datasets:\n  {name}:\n    source: {{type: csv, path: {path}}}\n{keys}"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a catalog of the datasets one, two and kid, whose files are old enough to be trusted."""
    folder = tmp_path / "catalog"
    (folder / "m").mkdir(parents=True)
    write(folder / "datasets.yaml", INDEX)
    write(folder / "m/a.yaml", dataset("one"))
    write(folder / "m/b.yaml", dataset("two"))
    write(folder / "m/c.yaml", "datasets:\n  kid: {extends: one, limit: 3}\n")
    monkeypatch.chdir(folder)
    return folder


def write(path: Path, text: str, *, age: float = 60) -> None:
    """Write a file that was last changed some time ago."""
    path.write_text(text, encoding="utf-8")
    then = time.time() - age
    os.utime(path, (then, then))


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the names of the files that are parsed from now on."""
    names: list[str] = []
    parse = reader._parse_recovering

    def counted(text: str, *, file: str) -> ParsedText:
        names.append(Path(file).name)
        return parse(text, file=file)

    monkeypatch.setattr(reader, "_parse_recovering", counted)
    return names


def path_of(name: str) -> str:
    return Path(Catalog.open()[name].source.path[0]).name


# --- files that are read ---


def test_warm_lookup_parses_nothing(root: Path, parsed: list[str]) -> None:
    Catalog.open()
    assert sorted(parsed) == ["a.yaml", "b.yaml", "c.yaml", "datasets.yaml"]
    parsed.clear()
    assert Catalog.open()["kid"].view.limit == 3
    assert parsed == []


def test_names_and_tags_of_a_warm_catalog_parse_nothing(root: Path, parsed: list[str]) -> None:
    write(root / "m/a.yaml", dataset("one", keys="    tags: [x, y]\n"))
    Catalog.open()
    parsed.clear()
    catalog = Catalog.open()
    assert list(catalog) == ["kid", "one", "two"] == list_datasets()
    assert (len(catalog), "one" in catalog, "none" in catalog) == (3, True, False)
    assert list_datasets(tags=["x", "y"]) == ["kid", "one"]
    assert list_datasets(tags="z") == []
    assert parsed == []


def test_warm_lookup_decodes_only_files_of_the_dataset_and_its_ancestors(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Catalog.open()
    decoded: list[str] = []

    def counted(record: CachedFile, file: str) -> Document:
        decoded.append(file)
        return document_from(record, file)

    monkeypatch.setattr("registry.catalog.cache.document_from", counted)
    assert Catalog.open()["kid"]
    assert sorted(decoded) == ["datasets.yaml", "m/a.yaml", "m/c.yaml"]


def test_only_changed_files_are_parsed_again(root: Path, parsed: list[str]) -> None:
    Catalog.open()
    parsed.clear()
    write(root / "m/a.yaml", dataset("one", "new.csv"))
    assert path_of("kid") == "new.csv"
    assert parsed == ["a.yaml"]


# --- changes that are detected ---


def replace_by_another(root: Path) -> None:
    old = (root / "m/b.yaml").stat()
    write(root / "new", dataset("owt"))
    os.utime(root / "new", ns=(old.st_mtime_ns, old.st_mtime_ns))
    (root / "new").rename(root / "m/b.yaml")


def include_more(root: Path) -> None:
    (root / "n").mkdir()
    write(root / "n/x.yaml", dataset("three"))
    write(root / "datasets.yaml", "version: 1\ninclude: [m/*.yaml, n/*.yaml]\n")


def link_elsewhere(root: Path) -> None:
    include_more(root)
    (root / "m").rename(root / "old")
    (root / "m").symlink_to(root / "n")


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed": (lambda root: write(root / "m/a.yaml", dataset("other")), "kid other two"),
    "added": (lambda root: write(root / "m/d.yaml", dataset("three")), "kid one three two"),
    "removed": (lambda root: (root / "m/b.yaml").unlink(), "kid one"),
    "renamed": (lambda root: (root / "m/b.yaml").rename(root / "m/b.yml"), "kid one"),
    "replaced": (replace_by_another, "kid one owt"),
    "included": (include_more, "kid one three two"),
    "linked": (link_elsewhere, "three"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_changed_files_are_detected(root: Path, case: str) -> None:
    assert list(Catalog.open()) == ["kid", "one", "two"]
    change, names = CHANGES[case]
    change(root)
    expected = names.split()
    assert list(Catalog.open()) == expected
    assert list(Catalog.open()) == expected, "the second time it comes from the cache"


def test_changed_defaults_and_trust_are_detected(root: Path) -> None:
    assert Catalog.open()["two"].license is None
    write(root / "datasets.yaml", f"{INDEX}defaults: {{license: mit}}\ntrust: ['pkg:f']\n")
    catalog = Catalog.open()
    assert str(catalog["two"].license) == "mit"
    assert catalog.boundary.trust == {"pkg:f"} == Catalog.open().boundary.trust


def test_newly_installed_package_is_detected(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "datasets.yaml", "version: 1\ninclude: ['package:appears_later', m/*.yaml]\n")
    assert len(Catalog.open().problems) == 1
    package = tmp_path / "installed" / "appears_later"
    package.mkdir(parents=True)
    write(package / "__init__.py", "")
    write(package / "datasets.yaml", f"version: 1\n{dataset('theirs')}")
    monkeypatch.syspath_prepend(package.parent)
    for _ in range(2):
        assert Catalog.open().problems == ()
        assert "theirs" in Catalog.open()


def test_raised_limit_of_manifests_is_detected(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_MAX_MANIFESTS", "2")
    (problem,) = Catalog.open().problems
    assert "the catalog has more than 2 manifests" in problem.message
    monkeypatch.setenv("REGISTRY_MAX_MANIFESTS", "4")
    assert not Catalog.open().problems


def test_pattern_order_decides_which_file_defines_a_name(root: Path) -> None:
    write(root / "m/b.yaml", dataset("one", "later.csv"))
    for order, path in (("m/a.yaml, m/b.yaml", "x.csv"), ("m/b.yaml, m/a.yaml", "later.csv")):
        write(root / "datasets.yaml", f"version: 1\ninclude: [{order}]\n")
        for _ in range(2):
            assert path_of("one") == path


@pytest.mark.parametrize(
    ("age", "racy"), [(0, True), (1, True), (-1, True), (60, False), (-3600, False)]
)
def test_recently_changed_file_is_read_again(
    root: Path, cache_dir: Path, age: float, racy: bool
) -> None:
    write(root / "m/a.yaml", dataset("one"), age=age)
    Catalog.open()
    compiled = load_compiled(best_effort_path(root / "datasets.yaml", cache_dir, "catalog"))
    assert compiled is not None
    assert compiled.is_current(IncludeReach()) != racy
    assert [one.path for one in compiled.records() if one.racy] == (
        [str(root / "m/a.yaml")] if racy else []
    )


@pytest.mark.parametrize("size", [0, 5, 1 << 30])
def test_file_is_read_to_its_end_even_if_it_grew(
    root: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(FileState, "of", lambda _: FileState(size, 0, 0, 0))
    assert path_of("kid") == "x.csv"


def test_oversized_file_is_not_read_to_its_end(root: Path) -> None:
    write(root / "m/d.yaml", "#" * (3 << 20))
    (problem,) = Catalog.open().problems
    assert str(problem) == "m/d.yaml:1:1 $: the file is larger than 1 MiB (split it)"


def test_change_with_restored_mtime_is_detected(root: Path) -> None:
    path = root / "m/a.yaml"
    before = path.stat()
    Catalog.open()
    path.write_text(dataset("one", "y.csv"), encoding="utf-8")
    os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert path_of("one") == "y.csv"


def test_unreadable_file_is_read_once_it_becomes_readable(root: Path) -> None:
    (root / "m/d.yaml").symlink_to(root / "target.yaml")
    for _ in range(2):
        (problem,) = Catalog.open().problems
        assert str(problem) == "m/d.yaml:1:1 $: can't read the file: No such file or directory"
    write(root / "target.yaml", dataset("three"))
    assert Catalog.open().problems == ()
    assert "three" in Catalog.open()


# --- the cached index ---


@pytest.fixture
def cached_index(root: Path, cache_dir: Path) -> Path:
    """Return the path of the cached index after it was written."""
    Catalog.open()
    return best_effort_path(root / "datasets.yaml", cache_dir, "catalog")


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "other": lambda data: b"not an index\n" * 100,
    "binary": lambda data: bytes(range(256)) * 20,
    "one character": lambda data: data.replace(b"x.csv", b"y.csv", 1),
    "checksum": lambda data: data[:-8] + b"00000000",
    "longer": lambda data: data + b" ",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_cached_index_is_rebuilt(
    cached_index: Path, damage: Callable[[bytes], bytes], parsed: list[str]
) -> None:
    whole = cached_index.read_bytes()
    cached_index.write_bytes(damage(whole))
    assert path_of("kid") == "x.csv"
    assert "a.yaml" in parsed, "a damaged index is not trusted"
    assert cached_index.read_bytes() == whole


@pytest.mark.parametrize("body", [b"", b"[]\n", b"{}\n", b"null\n", b'{"code": 1}\n'])
def test_cached_index_of_a_different_format_is_rebuilt(cached_index: Path, body: bytes) -> None:
    whole = cached_index.read_bytes()
    write_best_effort(cached_index, body)
    assert path_of("kid") == "x.csv"
    assert cached_index.read_bytes() == whole


def test_cached_index_is_json(cached_index: Path) -> None:
    *lines, _ = cached_index.read_bytes().split(b"\n")
    assert all(json.loads(line) is not None for line in lines)


@pytest.mark.parametrize("what", ["cache", "cache/v3", "cache/v3/index"])
def test_catalog_works_without_a_writable_cache(root: Path, cache_dir: Path, what: str) -> None:
    blocked = cache_dir.parent / what
    blocked.parent.mkdir(parents=True, exist_ok=True)
    blocked.write_text("no folder", encoding="utf-8")
    for _ in range(2):
        assert path_of("kid") == "x.csv"


def test_catalog_works_if_the_cached_index_cannot_be_read_or_replaced(cached_index: Path) -> None:
    cached_index.unlink()
    (cached_index / "inside").mkdir(parents=True)
    for _ in range(2):
        assert path_of("kid") == "x.csv"


def test_nothing_is_written_without_changes(cached_index: Path) -> None:
    before = cached_index.stat()
    Catalog.open()
    assert cached_index.stat() == before or cached_index.stat().st_ino == before.st_ino
    assert list(cached_index.parent.iterdir()) == [cached_index]


def test_catalog_can_be_opened_concurrently(root: Path) -> None:
    def use(number: int) -> int | None:
        write(root / "m" / f"n{number}.yaml", dataset(f"n{number}"))
        return Catalog.open()["kid"].view.limit

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(use, range(24))) == {3}
    assert len(Catalog.open()) == 27


SECRETS = [
    "source: {type: json, path: 'https://host/x.json?sig=HUSH'}",
    "source: {type: json, path: ['s3://a/b', 'https://me:HUSH@host/x.json']}",
    "source: {type: csv, path: x.csv, fs_options: {client_kwargs: {key: HUSH}}}",
    "source: {type: csv, path: 'https://host/x?sig=HUSH', bogus: HUSH}",
    "source: 'https://host/x?sig=HUSH'",
]


@pytest.mark.parametrize("source", SECRETS)
def test_possible_secrets_are_not_cached(
    root: Path, cache_dir: Path, source: str, parsed: list[str]
) -> None:
    write(root / "m/d.yaml", f"datasets:\n  hush:\n    {source}\n")
    first = all_of(Catalog.open())
    for _ in range(2):
        parsed.clear()
        assert all_of(Catalog.open()) == first
        # Uncached files are read again; the check reads `validate` from the index.
        assert sorted(set(parsed)) == ["d.yaml", "datasets.yaml"]
        check_catalog(Catalog.open(), cache_dir)
    written = [path.read_bytes() for path in (cache_dir / "v3/index").iterdir()]
    assert written
    assert not any(b"HUSH" in data for data in written)


WORDS = st.sampled_from(["fs_options", "env", "path", "homepage", "x", "é"])
URLS = st.tuples(
    st.sampled_from(["s3://", "https://", ""]),
    st.sampled_from(["x", "x@", "é"]),
    st.sampled_from(["x", "?x", "x#x"]),
)
VALUES = st.recursive(
    st.none() | URLS.map("".join),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(VALUES)
@example("s3://x@x")
@example(["https://x?x"])
@example({"x": "https://xx#x"})
@example({"fs_options": {"path": "x"}})
def test_documents_excluded_by_the_quick_check_contain_no_secret(value: Any) -> None:
    assert may_contain_secret(compact_json(value)) or not contains_secret(value)


@pytest.mark.parametrize("value", ["https://host/x", "a@b?", {"x": "s3://a/b"}, [1, None]])
def test_most_documents_are_not_searched_for_secrets(value: Any) -> None:
    assert not may_contain_secret(compact_json(value))


def test_references_to_secrets_are_cached(root: Path, parsed: list[str]) -> None:
    options = "{key: {env: A_KEY}, client_kwargs: {endpoint_url: 'https://host/'}, anon: false}"
    source = f"source: {{type: csv, path: 's3://a/b.csv', fs_options: {options}}}"
    text = f"datasets:\n  d:\n    homepage: https://host/?id=1\n    {source}\n"
    write(root / "m/d.yaml", text)
    Catalog.open()
    parsed.clear()
    assert "d" in Catalog.open()
    assert parsed == []


# --- messages ---


def test_file_names_are_relative_to_the_working_directory(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "m/d.yaml", f"{dataset('one')}    bogus: 1\n")
    messages = {}
    for folder in (root, root / "m", root.parent):
        monkeypatch.chdir(folder)
        messages[folder] = [str(problem) for problem in Catalog.open(root).problems]
    inside = f"{root.name}/m"
    assert messages[root] == [
        f"m/d.yaml:4:5 $.datasets.one.bogus: unknown key 'bogus' (known keys: {', '.join(_keys())})",
        "m/d.yaml:2:3 $.datasets.one: the name 'one' is already in use (by m/a.yaml:2)",
    ]
    assert messages[root / "m"][1] == (
        "d.yaml:2:3 $.datasets.one: the name 'one' is already in use (by a.yaml:2)"
    )
    assert messages[root.parent][1] == (
        f"{inside}/d.yaml:2:3 $.datasets.one: the name 'one' is already in use"
        f" (by {inside}/a.yaml:2)"
    )


def _keys() -> list[str]:
    from registry.manifest.schema import read_schema

    return list(read_schema("manifest")["$defs"]["dataset"]["properties"])


def test_unknown_name_in_a_catalog_with_broken_files_is_reported_with_similar_names(
    root: Path,
) -> None:
    write(root / "m/d.yaml", "datasets: [\n")
    for _ in range(2):
        with pytest.raises(DatasetNotFoundError) as near:
            Catalog.open()["on"]
        assert near.value.matches == ["one"]
        with pytest.raises(ManifestError, match=r"m/d\.yaml:2:1"):
            Catalog.open()["zzzzzz"]


# --- warm and cold are the same ---


def texts(chance: random.Random) -> Iterator[str]:
    """Yield manifests with overlapping names, some of them invalid."""
    for _ in range(chance.randint(1, 6)):
        lines = ["datasets:"]
        for name in chance.sample("abcdefg", chance.randint(1, 4)):
            keys = chance.sample(KEYS, chance.randint(0, 4))
            lines += [
                f"  {name}:",
                f"    {chance.choice(ORIGINS)}",
                *(f"    {key}" for key in keys),
            ]
        yield "\n".join(lines) + "\n"


KEYS = [
    "shuffle: true",
    "seed: 3",
    "bogus: 1",
    "limit: '5'",
    "tags: [é, y]",
    "tags: ~",
    "license: mit",
    "fields: {input: {template: '{q'}}",
    "fields: {input: q, metadata: {'a b': c}}",
    "mapper: pkg.mod:function",
    "where: {value: q, regex: '('}",
    "description: !tag x",
    "description: &x 'text'",
]
ORIGINS = [
    "extends: a",
    "extends: b",
    "extends: nowhere",
    "source: {type: csv, path: x.csv}",
    "source: {type: hf, path: o/n, split: test}",
    "source: [1]",
]


def all_of(catalog: Catalog) -> dict[str, Any]:
    """Return all data of a catalog and the result of its check."""

    def spec(name: str) -> Any:
        try:
            return catalog[name]
        except ManifestError as error:
            return error.problems

    return {
        "order": list(catalog.entries),
        "entries": dict(catalog.entries),
        "specs": {name: spec(name) for name in catalog},
        "tags": {name: catalog.tags_of(name) for name in catalog},
        "problems": catalog.problems,
        "trust": catalog.boundary.trust,
        "check": check(catalog),
    }


@pytest.mark.parametrize("seed", range(40))
def test_warm_catalog_equals_cold_catalog_and_uncached_reader(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    for path in (root / "m").iterdir():
        path.unlink()
    for number, text in enumerate(texts(chance)):
        write(root / "m" / f"{number}.yaml", text)
    defaults = chance.choice(["", "defaults: {tags: [d], source: {hf: {name: n}}}\n"])
    inline = chance.choice(["", dataset("a"), dataset("inline")])
    write(root / "datasets.yaml", f"{INDEX}trust: ['pkg:f']\n{defaults}{inline}")
    reader = CatalogReader(read_uncached)
    reader.read_index(root / "datasets.yaml")
    reader.finish()
    problems = tuple(one.displayed(str) for one in reader.problems)
    boundary = Boundary(trust=frozenset({"pkg:f"})).allowing([str(root)])
    expected = Catalog(root / "datasets.yaml", reader.entries, problems, boundary)
    cold, warm = Catalog.open(), Catalog.open()
    assert all_of(cold) == all_of(expected)
    assert all_of(warm) == all_of(expected)


def test_built_in_catalog_is_the_same_cold_and_warm() -> None:
    cold = Catalog.open(builtin_root())
    specs = {name: cold[name] for name in cold}
    reader = CatalogReader(read_uncached)
    reader.read_index(builtin_root())
    reader.finish()
    direct = Catalog(builtin_root(), reader.entries, boundary=cold.boundary)
    warm = Catalog.open(builtin_root())
    assert len(specs) > 200
    assert {name: warm[name] for name in warm} == specs
    assert {name: direct[name] for name in direct} == specs
    assert warm.problems == cold.problems == ()


# --- imports ---

HEAVY = ("click", "datasets", "jsonschema", "pandas", "pyarrow", "rich", "s3fs")


@pytest.mark.usefixtures("root")
def test_cold_lookup_imports_nothing_heavy() -> None:
    code = (
        "import sys; from registry.catalog.catalog import Catalog; Catalog.open()['kid'];"
        f"print(sorted(set(sys.modules) & set({HEAVY})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"


def test_parents_are_known_without_decoding_a_file(root: Path) -> None:
    write(root / "m/d.yaml", "datasets:\n  lost: {extends: nowhere}\n  odd: {extends: [one]}\n")
    entries = Catalog.open(lenient=True).entries
    assert parents_of(entries) == {"kid": "one"}
    assert isinstance(entries, CompiledEntries)
    assert entries.decoded == 0
    assert parents_of(dict(entries)) == {"kid": "one"}


@pytest.fixture
def resolved_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "catalog"
    folder.mkdir()
    write(folder / "datasets.yaml", "version: 1\ninclude: ['*.manifest.yaml']\n")
    write(folder / "a.manifest.yaml", MANIFEST)
    Catalog.open(folder)
    return folder


CALLS: list[dict[str, Any]] = [
    {},
    {"overrides": {"limit": 5, "shuffle": False}},
    {"overrides": {"limit": 1}},
    {"source": "other.jsonl"},
    {"source": "other.csv"},
    {"source": "~/other.jsonl"},
    {"name": "hub"},
    {"name": "hub", "source": "folder"},
]


def test_equal_calls_give_one_spec_and_all_give_what_resolving_gives(
    resolved_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (resolved_root / "folder").mkdir()
    monkeypatch.chdir(resolved_root)
    for options in CALLS:
        call = {"name": "one", **options}
        first, second = (Catalog.open(resolved_root).resolve(**call) for _ in range(2))
        catalog = Catalog.open(resolved_root)
        fresh = resolve(entries=catalog.entries, boundary=catalog.boundary, **call)
        assert first == second == fresh
        # What a folder has decides about the type of the source.
        assert (first is second) == (call.get("source") != "folder")


def test_a_changed_manifest_is_resolved_again(resolved_root: Path) -> None:
    old = Catalog.open(resolved_root).resolve("one")
    text = MANIFEST.replace("limit: 1", "limit: 2")
    (resolved_root / "a.manifest.yaml").write_text(text, encoding="utf-8")
    new = Catalog.open(resolved_root).resolve("one")
    assert (old.view.limit, new.view.limit) == (1, 2)


def test_a_source_is_relative_to_the_working_folder_and_that_of_the_user(
    resolved_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("HOME", f"{folder}/home")
        for source, name in (("x.jsonl", "x.jsonl"), ("~/x.jsonl", "home/x.jsonl")):
            spec = Catalog.open(resolved_root).resolve("one", source=source)
            assert spec.source.base_location == str(folder / name)


def test_a_path_that_has_become_a_link_outside_is_refused(
    resolved_root: Path, tmp_path: Path
) -> None:
    assert Catalog.open(resolved_root).resolve("one").name == "one"
    (resolved_root / "data").symlink_to(tmp_path)
    with pytest.raises(ManifestError, match="outside the catalog's folder"):
        Catalog.open(resolved_root).resolve("one")


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("../x.jsonl", True),
        ("in/../../x.jsonl", True),
        ("[a.jsonl, ../x.jsonl]", True),
        ("/x.jsonl", False),
        ("~/x.jsonl", False),
        ("link/x.jsonl", False),
    ],
)
def test_the_hint_for_a_path_that_leads_up_says_where_paths_start(
    resolved_root: Path, tmp_path: Path, written: str, says: bool
) -> None:
    (resolved_root / "link").symlink_to(tmp_path)
    text = f"datasets: {{up: {{source: {{type: json, path: {written}}}}}}}\n"
    (resolved_root / "b.manifest.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError, match="outside the catalog's folder") as caught:
        Catalog.open(resolved_root).resolve("up")
    start = "(a relative path starts at the folder of datasets.yaml; if that is meant, add"
    assert (start in str(caught.value)) is says


def test_a_number_of_another_type_is_another_call(resolved_root: Path) -> None:
    assert Catalog.open(resolved_root).resolve("one", overrides={"limit": 1}).view.limit == 1
    with pytest.raises(ManifestError):
        Catalog.open(resolved_root).resolve("one", overrides={"limit": True})
