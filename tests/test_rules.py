"""The rules: each one found at its exact place, and nothing else beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from registry.build.builder import samples_in_order
from registry.cache import Cache
from registry.catalog.catalog import Catalog
from registry.errors import ManifestError, Problem
from registry.lint.runner import check
from registry.rules import ALL, RULE_FAMILIES, RULES
from registry.sources.pins import Pins, SourceContext

SOURCE = Path(__file__).parents[1] / "src"
INDEX = "version: 1\ninclude: [m.yaml]\n"
COMMIT = "c30699e8356da336a370243923dbaf21066bb9fe"
CSV = "source: {type: csv, path: x.csv}"
TOLD = "description: Questions., license: mit"
MARK = "▸"
"""Stands before the place of each expected problem, and is in no file."""

NO_PATH = "-"
"""The path of what is no part of a document yet, or never: `$`."""

Found = Callable[..., list[Problem]]


@dataclass(frozen=True)
class Case:
    """A catalog with the mistakes that the marks show."""

    rule: str
    manifest: str
    path: str
    index: str = INDEX
    others: Mapping[str, str] = field(default_factory=dict)
    select: tuple[str, ...] = ()
    used: str = "d"
    """The dataset that can't be used for it."""


def one(rule: str, keys: str, path: str = "", **more: object) -> Case:
    """Return a case of a dataset `d` whose keys are those."""
    manifest = f"datasets:\n  d: {{{TOLD}, {keys}}}\n"
    return Case(rule, manifest, f"$.datasets.d{path}", **more)  # type: ignore[arg-type]


def located(rule: str, location: str) -> Case:
    keys = f"source: {{type: json, {MARK}path: '{location}'}}"
    return one(rule, keys, ".source.path")


DIGITS = "0123456789abcdef" * 4


def lock_with(name: str) -> dict[str, str]:
    """Return a lockfile with a pin of no manifest that there is."""
    return {
        "datasets.lock": f"""\
version: 1
datasets:
  {name}:
    spec: sha256:{DIGITS}
    sources:
      - location: x.csv
        size: 3
        sha256: {DIGITS}
    samples: 1
    columns: [q]
    ordered: sha256:{DIGITS}
    unordered: sha256:{DIGITS}
    format: 1
"""
    }


CASES = [
    Case("unreadable-file", f"datasets: {{}}  # {MARK}\udcff\n", "$"),
    Case("yaml-syntax", f"datasets: {{a: b, {MARK}]", "$"),
    Case("yaml-limit", f"datasets: {{a: &a x, b: [{'*a, ' * 32}{MARK}*a]}}\n", "$"),
    Case("yaml-tag", f"datasets: {MARK}!!map {{}}\n", "$"),
    Case("yaml-key", f"datasets: {{{MARK}1: {{}}}}\n", "$"),
    one("yaml-number", f"{CSV}, limit: {MARK}.inf", NO_PATH),
    one("duplicate-key", f"{CSV}, limit: 1, {MARK}limit: 2", NO_PATH),
    one("unknown-key", f"{CSV}, {MARK}limitt: 1", ".limitt"),
    Case("missing-key", f"datasets:\n  {MARK}d: {{{TOLD}}}\n", "$.datasets.d"),
    one("missing-key", f"{MARK}source: {{type: hf, path: a/b, revision: {COMMIT}}}", ".source"),
    one("wrong-type", f"{CSV}, {MARK}limit: few", ".limit"),
    one("wrong-value", f"{CSV}, {MARK}limit: -1", ".limit"),
    one("wrong-value", f"source: {{{MARK}type: cvs, path: x}}", ".source.type"),
    Case("bad-name", f"datasets:\n  {MARK}D: {{{TOLD}, {CSV}}}\n", "$.datasets.D", used="D"),
    Case(
        "include-nothing",
        "datasets: {}\n",
        "$.include[1]",
        index=f"version: 1\ninclude: [m.yaml, {MARK}gone/*.yaml]\n",
    ),
    Case(
        "duplicate-name",
        f"datasets:\n  {MARK}d: {{{TOLD}, {CSV}}}\n  e: {{{TOLD}, {CSV}}}\n",
        "$.datasets.d",
        index="version: 1\ninclude: [a.yaml, m.yaml]\n",
        others={"a.yaml": f"datasets:\n  d: {{{TOLD}, {CSV}}}\n"},
        used="e",
    ),
    one("unknown-parent", f"{MARK}extends: dd", ".extends"),
    one("extends-cycle", f"{MARK}extends: d", ".extends"),
    one("unseeded-shuffle", f"{CSV}, {MARK}shuffle: true", ".shuffle"),
    one("unseeded-shuffle", f"{CSV}, {MARK}shuffle_choices: true", ".shuffle_choices"),
    one("seed-without-shuffle", f"{CSV}, {MARK}seed: 1", ".seed"),
    one(
        "literal-secret",
        f"source: {{type: csv, path: s3://b/x.csv, fs_options: {{{MARK}secret: hush}}}}",
        ".source.fs_options.secret",
    ),
    located("secret-in-url", "https://h/x.json?X-Amz-Signature=abc"),
    located("secret-in-url", "https://h/x.json?a=b&sig=abc"),
    located("secret-in-url", "https://h/x.json?api_key=abc"),
    located("secret-in-url", "https://me:hush@h/x.json"),
    located("secret-in-url", "https://token@h/x.json"),
    located("secret-in-url", "sftp://me:hush@h/x.json"),
    located("secret-in-url", "simplecache::https://me:hush@h/x.json"),
    one(
        "secret-in-url",
        f"source: {{type: hf, path: json, split: train, {MARK}data_files: 'https://h/x?token=t'}}",
        ".source.data_files",
    ),
    one(
        "secret-in-url",
        f"{CSV}, concat: [{{path: y.csv}}, {{{MARK}path: 'https://h/y.csv?token=t'}}]",
        ".concat[1].path",
    ),
    one("bad-expression", f"{CSV}, fields: {{{MARK}input: {{from: q, do: [{{regex: '('}}]}}}}", ".fields.input"),
    one("bad-expression", f"{CSV}, fields: {{{MARK}target: {{template: '{{q'}}}}", ".fields.target"),
    one("bad-expression", f"{CSV}, {MARK}where: {{value: q, regex: '('}}", ".where"),
    one("mapper-and-fields", f"{CSV}, {MARK}mapper: 'p:f', fields: {{input: q}}", ".mapper"),
    one("untrusted-mapper", f"{CSV}, {MARK}mapper: 'p:f'", ".mapper"),
    one(
        "unknown-column",
        f"source: {{type: csv, path: x, fieldnames: [q]}}, fields: {{input: q, {MARK}target: [a]}}",
        ".fields.target",
    ),
    located("plain-http", "http://h/x.json"),
    located("plain-http", "simplecache::http://h/x.json"),
    one(
        "plain-http",
        "source: {type: csv, path: s3://b/x.csv, fs_options: {anon: true,"
        f" {MARK}endpoint_url: 'http://h:9000'}}}}",
        ".source.fs_options.endpoint_url",
    ),
    one("unpinned-revision", f"source: {{type: hf, {MARK}path: a/b, split: t}}", ".source.path"),
    *(
        one(
            "unpinned-revision",
            f"source: {{type: hf, path: a/b, split: t, {MARK}revision: {revision}}}",
            ".source.revision",
        )
        for revision in ("main", "v1.0", "refs/convert/parquet", COMMIT[:12])
    ),
    one(
        "unpinned-revision",
        f"source: {{type: hf, path: a/b, split: t, revision: {COMMIT}}},"
        f" concat: [{{split: t}}, {{{MARK}revision: main}}]",
        ".concat[1].revision",
    ),
    located("unpinned-revision", "hf://datasets/a/b/x.json"),
    located("unpinned-revision", "hf://datasets/a/b@main/x.json"),
    located("unpinned-revision", "https://huggingface.co/datasets/a/b/resolve/main/x.json"),
    located("unpinned-revision", "https://raw.githubusercontent.com/a/b/v1.0/x.json"),
    Case(
        "missing-license",
        f"datasets:\n  {MARK}d: {{description: Questions., {CSV}}}\n",
        "$.datasets.d.license",
    ),
    Case(
        "missing-description",
        f"datasets:\n  {MARK}d: {{license: mit, {CSV}}}\n",
        "$.datasets.d.description",
    ),
    Case(
        "missing-license",
        f"datasets:\n  d: {{{TOLD}, {CSV}}}\n  e: {{extends: d, {MARK}license: null}}\n",
        "$.datasets.e.license",
    ),
    Case(
        "schema-line",
        f"{MARK}datasets: {{d: {{{TOLD}, {CSV}}}}}\n",
        "$",
        index=f"# yaml-language-server: $schema=x\n{INDEX}",
        select=("style",),
    ),
    Case(
        "key-order",
        f"# yaml-language-server: $schema=x\ndatasets: {{d: {{{CSV}, {MARK}{TOLD}}}}}\n",
        "$.datasets.d.description",
        index=f"# yaml-language-server: $schema=x\n{INDEX}",
        select=("style",),
    ),
    one("unknown-rule", f"{CSV}}}  {MARK}# registry: ignore plain-htp -- why\n#", NO_PATH),
    Case(
        "unknown-rule",
        "datasets: {}\n",
        "$.validate.ignore[1]",
        index=f"{INDEX}validate: {{ignore: [style, {MARK}plain-htp]}}\n",
    ),
    Case(
        "unknown-rule",
        "datasets: {}\n",
        "$.validate.severity.plain-htp",
        index=f"{INDEX}validate: {{severity: {{{MARK}plain-htp: error}}}}\n",
    ),
    one("rule-not-ignorable", f"{CSV}}}  {MARK}# registry: ignore literal-secret -- why\n#", NO_PATH),
    Case(
        "rule-not-ignorable",
        "datasets: {}\n",
        "$.validate.severity.duplicate-key",
        index=f"{INDEX}validate: {{severity: {{{MARK}duplicate-key: warning}}}}\n",
    ),
    Case(
        "stale-lock",
        f"datasets:\n  {MARK}d: {{{TOLD}, {CSV}}}\n",
        "$.datasets.d",
        others=lock_with("d"),
    ),
    Case(
        "stale-lock",
        f"datasets:\n  d: {{{TOLD}, {CSV}}}\n",
        "$.datasets.gone",
        others=lock_with(f"{MARK}gone"),
    ),
    Case(
        "bad-lock",
        "datasets: {}\n",
        "$.datasets.d",
        others={"datasets.lock": f"version: 1\ndatasets: {{{MARK}d: 1}}\n"},
    ),
    one("ignore-without-reason", f"{CSV}}}  {MARK}# registry: ignore plain-http\n#", NO_PATH),
    one("unused-ignore", f"{CSV}}}  {MARK}# registry: ignore plain-http -- why\n#", NO_PATH),
]  # fmt: skip


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Found:
    """Write files to the current folder, and check the catalog that they make."""
    monkeypatch.chdir(tmp_path)

    def problems(
        files: Mapping[str, str], select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
    ) -> list[Problem]:
        for name, text in files.items():
            data = text.replace(MARK, "").encode("utf-8", "surrogateescape")
            (tmp_path / name).write_bytes(data)
        return check(Catalog.open(tmp_path), select=select, ignore=ignore)

    return problems


def marks(files: Mapping[str, str]) -> list[tuple[str, int, int]]:
    """Return the places of the marks: file, line and column, the first of each line."""
    return [
        (name, number, line.index(MARK) + 1)
        for name, text in files.items()
        for number, line in enumerate(text.split("\n"), 1)
        if MARK in line
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_mistake_is_found_where_it_stands_and_nothing_else(found: Found, case: Case) -> None:
    files = {"datasets.yaml": case.index, "m.yaml": case.manifest, **case.others}
    problems = found(files, case.select)
    assert [(one.file, one.line, one.column) for one in problems] == marks(files)
    (problem,) = problems
    assert problem.rule == case.rule, problem
    assert problem.severity == RULES[case.rule].severity
    assert problem.path == ("$" if case.path.endswith(NO_PATH) else case.path)


def test_every_rule_has_a_case() -> None:
    assert {case.rule for case in CASES} == set(RULES)


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if RULES[case.rule].blocking and RULES[case.rule].family not in ("rules", "lock")
    ],
    ids=lambda case: case.rule,
)
def test_what_stops_is_refused_where_the_dataset_is_used(found: Found, case: Case) -> None:
    found({"datasets.yaml": case.index, "m.yaml": case.manifest, **case.others})
    catalog = Catalog.open()
    with pytest.raises(ManifestError) as caught:
        use(catalog, case.used)
    assert case.rule in {problem.rule for problem in caught.value.problems}


def use(catalog: Catalog, name: str) -> None:
    """Resolve, and compile what is compiled when records are read; there is no file to read."""
    spec = catalog[name]
    samples_in_order(spec, Pins(()), SourceContext(cache=Cache(Path("nowhere")), offline=True))


@pytest.mark.parametrize(
    "case", [case for case in CASES if not RULES[case.rule].blocking], ids=lambda case: case.rule
)
def test_what_does_not_stop_leaves_the_dataset_usable(found: Found, case: Case) -> None:
    found({"datasets.yaml": case.index, "m.yaml": case.manifest, **case.others})
    assert Catalog.open()["d"].name == "d"


CLEAN = [
    "source: {type: json, path: 'http://localhost:8000/x.json'}",
    "source: {type: json, path: 'http://127.0.0.1/x.json'}",
    "source: {type: json, path: 'http://[::1]:80/x.json'}",
    "source: {type: json, path: 'https://h/x.json?version=2&page_key='}",
    "source: {type: json, path: 'sftp://me@h/x.json'}",
    f"source: {{type: json, path: 'hf://datasets/a/b@{COMMIT}/x.json'}}",
    f"source: {{type: json, path: 'https://huggingface.co/datasets/a/b/resolve/{COMMIT}/x.json'}}",
    f"source: {{type: json, path: 'https://raw.githubusercontent.com/a/b/{COMMIT}/x.json'}}",
    "source: {type: json, path: 'github://org:repo@v1/x.json'}",
    f"source: {{type: hf, path: a/b, split: t, revision: {COMMIT}}}",
    "source: {type: hf, path: ./data, split: t}",
    "source: {type: hf, path: json, split: t, data_files: x.json}",
    "source: {type: csv, path: s3://b/x, fs_options: {key: {env: K}, secret: {env: S}}}",
    f"{CSV}, shuffle: true, seed: 1, shuffle_choices: 2",
]


@pytest.mark.parametrize("keys", CLEAN)
def test_what_is_meant_so_is_no_problem(found: Found, keys: str) -> None:
    manifest = f"datasets:\n  d: {{{TOLD}, {keys}}}\n"
    assert found({"datasets.yaml": INDEX, "m.yaml": manifest}) == []


def test_a_problem_that_is_inherited_is_reported_once_where_it_was_written(found: Found) -> None:
    manifest = (
        f"datasets:\n  base:\n    source: {{type: hf, {MARK}path: a/b, split: t}}\n"
        "  kid: {extends: base, source: {name: x}}\n  other: {extends: base, limit: 3}\n"
    )
    files = {"datasets.yaml": INDEX, "m.yaml": manifest}
    problems = found(files, ignore=("description",))
    assert [(one.file, one.line, one.column) for one in problems] == marks(files)


def test_a_signed_url_that_is_given_in_python_is_taken(found: Found) -> None:
    files = {"datasets.yaml": INDEX, "m.yaml": f"datasets:\n  d: {{{TOLD}, {CSV}}}\n"}
    assert found(files) == []
    signed = "https://h/x.csv?X-Amz-Signature=abc"
    assert Catalog.open().resolve("d", source=signed).source.path == (signed,)


def test_no_message_says_the_secret(found: Found) -> None:
    for case in CASES:
        if case.rule in ("secret-in-url", "literal-secret"):
            files = {"datasets.yaml": case.index, "m.yaml": case.manifest}
            assert not re.search("hush|=abc|=t", "".join(map(str, found(files))))


# --- the table ---


def test_ids_and_families_are_plain_words_that_do_not_clash() -> None:
    names = [*RULES, *RULE_FAMILIES, ALL]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in names)
    assert sum(map(len, RULE_FAMILIES.values())) == len(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_says_why_in_one_line(rule: object) -> None:
    reason = str(getattr(rule, "reason", ""))
    assert re.fullmatch(r"[A-Z`].{20,80}\.", reason), reason


def test_what_stops_is_an_error() -> None:
    assert all(rule.severity == "error" for rule in RULES.values() if rule.blocking)


def problem_calls() -> list[tuple[str, ast.Call]]:
    """Return every call in the package that makes a problem."""
    calls = []
    for path in sorted((SOURCE / "registry").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "func", None)
            called = getattr(name, "attr", getattr(name, "id", ""))
            if isinstance(node, ast.Call) and called in ("Problem", "problem"):
                calls.append((f"{path.name}:{node.lineno}", node))
    return calls


def test_every_problem_of_a_manifest_names_a_rule_of_the_table() -> None:
    calls = problem_calls()
    assert len(calls) > 20
    without = {
        place.partition(":")[0]
        for place, call in calls
        if not any(keyword.arg == "rule" for keyword in call.keywords)
    }
    # What these refuse is to write a file; no manifest is at fault.
    writers = {"add.py", "apply.py"}
    # These read problems that were kept, with their rules; a lockfile is no manifest.
    kept = {"cached_files.py", "cache.py", "result_cache.py"}
    assert without == writers | kept | {"models.py"}
    literal = {
        keyword.value.value
        for _, call in calls
        for keyword in call.keywords
        if keyword.arg == "rule" and isinstance(keyword.value, ast.Constant)
    }
    assert literal <= set(RULES)
