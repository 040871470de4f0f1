"""The rules: each is reported alone, at its exact position, and not for a similar valid manifest."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.errors import ManifestError, Problem
from registry.lint.runner import check
from registry.manifest.merge import Layer, Merged
from registry.pipeline.preview import samples_in_order
from registry.rules import ALL, RULE_FAMILIES, RULES, Finding, run_checks
from registry.sources.pins import Pins, SourceContext

SOURCE = Path(__file__).parents[1] / "src"
INDEX = "version: 1\ninclude: [m.yaml]\nhosts: [h]\nsecrets: {K: [s3.amazonaws.com], S: [s3.amazonaws.com]}\n"
COMMIT = "c30699e8356da336a370243923dbaf21066bb9fe"
CSV = "source: {type: csv, path: x.csv}"
DESCRIBED = "description: Questions., license: mit"
VALID = f"datasets:\n  d: {{{DESCRIBED}, {CSV}}}\n"
"""A manifest without a mistake."""
MARK = "▸"
"""Precedes the place of each expected problem; removed before a file is written."""

NO_PATH = "-"
"""The path of a problem that a comment has: `$`."""

Found = Callable[..., list[Problem]]


@dataclass(frozen=True)
class Case:
    """A catalog with one mistake, at the mark."""

    rule: str
    manifest: str
    path: str
    index: str = INDEX
    others: Mapping[str, str] = field(default_factory=dict)
    also_select: tuple[str, ...] = ()
    used: str = "d"
    """The dataset that the mistake makes unusable, if it does."""

    def files(self) -> dict[str, str]:
        return {"datasets.yaml": self.index, "m.yaml": self.manifest, **self.others}


def one(rule: str, keys: str, path: str = "", **more: object) -> Case:
    """Return a case of a dataset `d` with these keys."""
    manifest = f"datasets:\n  d: {{{DESCRIBED}, {keys}}}\n"
    return Case(rule, manifest, f"$.datasets.d{path}", **more)  # type: ignore[arg-type]


def indexed(rule: str, keys: str, path: str, index: str = INDEX) -> Case:
    """Return a case of keys that follow those of the index; there is no dataset."""
    return Case(rule, "datasets: {}\n", f"$.{path}", f"{index}{keys}\n")


def own(rule: str, datasets: str, path: str = "") -> Case:
    """Return a case of a dataset `d` that is written out."""
    return Case(rule, f"datasets:\n{datasets}\n", f"$.datasets.d{path}")


def grouped(rule: str, groups: str, place: int) -> Case:
    """Return a case of groups of the datasets `d`, its former name `e`, and `f`."""
    manifest = f"{VALID}  e: {{renamed_to: d}}\n  f: {{{DESCRIBED}, {CSV}}}\ngroups:\n  {groups}\n"
    return Case(rule, manifest, f"$.groups.g.datasets[{place}]")


def located(rule: str, location: str) -> Case:
    keys = f"source: {{type: json, {MARK}path: '{location}'}}"
    return one(rule, keys, ".source.path")


def s3(rule: str, option: str, value: str) -> Case:
    keys = f"source: {{type: csv, path: s3://b/x.csv, fs_options: {{{MARK}{option}: {value}}}}}"
    return one(rule, keys, f".source.fs_options.{option}")


def including(rule: str, pattern: str) -> Case:
    return indexed(rule, f"include: [m.yaml, {MARK}{pattern}]", "include[1]", "version: 1\n")


DIGITS = "0123456789abcdef" * 4


def lock_with(name: str) -> dict[str, str]:
    """Return a lockfile with a pin that fits no manifest."""
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
    columns: [input]
    ordered: sha256:{DIGITS}
    unordered: sha256:{DIGITS}
    format: 1
"""
    }


CASES = [
    Case("unreadable-file", f"datasets: {{}}  # {MARK}\udcff\n", "$"),
    Case("yaml-syntax", f"datasets: {{a: b, {MARK}]", "$"),
    Case("yaml-limit", f"datasets: {{a: &a x, b: [{'*a, ' * 32}{MARK}*a]}}\n", "$"),
    Case("yaml-tag", f"datasets: {MARK}!!map {{}}\n", "$.datasets"),
    Case("yaml-key", f"datasets: {{{MARK}1: {{{DESCRIBED}}}}}\n", "$.datasets['1']"),
    one("yaml-number", f"{CSV}, limit: {MARK}.inf", ".limit"),
    one("duplicate-key", f"{CSV}, limit: 1, {MARK}limit: 2", ".limit"),
    one("unknown-key", f"{CSV}, {MARK}limitt: 1", ".limitt"),
    own("missing-key", f"  {MARK}d: {{{DESCRIBED}}}"),
    one("missing-key", f"{MARK}source: {{type: hf, path: a/b, revision: {COMMIT}}}", ".source"),
    one("wrong-type", f"{CSV}, {MARK}limit: few", ".limit"),
    one("wrong-value", f"{CSV}, {MARK}limit: -1", ".limit"),
    one("wrong-value", f"source: {{{MARK}type: cvs, path: x}}", ".source.type"),
    Case("bad-name", f"datasets:\n  {MARK}D: {{{DESCRIBED}, {CSV}}}\n", "$.datasets.D", used="D"),
    including("include-nothing", "gone/*.yaml"),
    including("include-limit", "'**/**/m.yaml'"),
    Case("python-in-catalog", VALID, "", others={"registry.py": f"{MARK}import os\n"}),
    Case("nested-index", VALID, "", others={"data/datasets.yaml": f"{MARK}version: 1\n"}),
    Case(
        "duplicate-name",
        f"datasets:\n  {MARK}d: {{{DESCRIBED}, {CSV}}}\n  e: {{{DESCRIBED}, {CSV}}}\n",
        "$.datasets.d",
        index="version: 1\ninclude: [a.yaml, m.yaml]\n",
        others={"a.yaml": VALID},
        used="e",
    ),
    one("override-nothing", f"{CSV}, {MARK}override: true", ".override"),
    one("unknown-parent", f"{MARK}extends: dd", ".extends"),
    one("extends-cycle", f"{MARK}extends: d", ".extends"),
    Case(
        "extends-depth",
        f"datasets:\n  a: {{{DESCRIBED}, {CSV}}}\n  b: {{{DESCRIBED}, extends: a}}\n"
        f"  d: {{{DESCRIBED}, {MARK}extends: b}}\n",
        "$.datasets.d.extends",
        index=f"{INDEX}limits: {{extends: 1}}\n",
    ),
    one("unknown-replacement", f"{CSV}, deprecated: {{{MARK}use: dd}}", ".deprecated.use"),
    own("rename-cycle", f"  d: {{{MARK}renamed_to: d}}\n  e: {{{DESCRIBED}, {CSV}}}", ".renamed_to"),
    own(
        "deprecated-parent",
        f"  a: {{{DESCRIBED}, {CSV}, deprecated: {{}}}}\n  e: {{{DESCRIBED}, {CSV}}}\n"
        f"  d: {{{DESCRIBED}, {MARK}extends: a}}",
        ".extends",
    ),
    grouped("unknown-member", f"g: {{datasets: [{MARK}dd]}}", 0),
    grouped("group-cycle", f"g: {{datasets: [d, {MARK}g]}}", 1),
    grouped("repeated-member", f"h: {{datasets: [d]}}\n  g: {{datasets: [h, {MARK}d]}}", 1),
    grouped("deprecated-member", f"g: {{datasets: [{MARK}e]}}", 0),
    one("unseeded-shuffle", f"{CSV}, {MARK}shuffle: true", ".shuffle"),
    one("unseeded-shuffle", f"{CSV}, {MARK}shuffle_choices: true", ".shuffle_choices"),
    one("unknown-split", f"{CSV}, splits: {{a: {{path: x.csv}}}}, {MARK}default_split: b", ".default_split"),
    one("seed-without-shuffle", f"{CSV}, {MARK}seed: 1", ".seed"),
    s3("literal-secret", "secret", "hush"),
    *(
        located("secret-in-url", f"https://h/x.json?{query}")
        for query in ("X-Amz-Signature=abc", "a=b&sig=abc", "api_key=abc")
    ),
    located("secret-in-url", "https://token@h/x.json"),
    *(
        located("secret-in-url", f"{protocol}://me:hush@h/x.json")
        for protocol in ("https", "sftp", "simplecache::https")
    ),
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
    one("bad-expression", f"{CSV}, explode: {{column: p, {MARK}then: item.q}}", ".explode.then"),
    one("mapper-and-fields", f"{CSV}, {MARK}mapper: 'p:f', fields: {{input: q}}", ".mapper"),
    one("bad-fewshot", f"{CSV}, {MARK}fewshot: {{n: 5}}", ".fewshot"),
    one("bad-fewshot", f"{CSV}, {MARK}fewshot: {{dataset: d, apply: true}}", ".fewshot"),
    *(
        one("bad-fewshot", f"{CSV}, fewshot: {{split: dev, {MARK}{keys}}}", f".fewshot.{key}")
        for key, keys in (
            *(("dataset", "dataset: gone"), ("pick", "pick: random"), ("seed", "seed: 1")),
            *(("each", "each: true"), ("n", "n: 2, ids: [a]"), ("answer", "answer: '{q'")),
            ("ids", "ids: [a], pick: random, seed: 1"),
        )
    ),
    one(
        "bad-fewshot",
        f"{CSV}, shuffle_choices: 1, fewshot: {{dataset: d, n: 1, apply: true, {MARK}ask: '{{choices}}'}}",
        ".fewshot.ask",
    ),
    one("untrusted-mapper", f"{CSV}, {MARK}mapper: 'p:f'", ".mapper"),
    one(
        "unknown-column",
        f"source: {{type: csv, path: x, fieldnames: [q]}}, fields: {{input: q, target: [{MARK}a]}}",
        ".fields.target[0]",
    ),
    one("missing-data", f"source: {{type: csv, {MARK}path: gone.csv}}", ".source.path"),
    located("bad-location", "package:p/inner/../x"),
    located("outside-path", "/proc/self/environ"),
    located("outside-path", "zip://x.csv::../x.zip"),
    one(
        "outside-path",
        f"{CSV}, fields: {{input: {{from: {{{MARK}const: /proc/self/environ}}, do: [{{each: [data_uri]}}]}}}}",
        ".fields.input.from.const",
    ),
    including("outside-path", "../*/m.yaml"),
    located("plain-http", "http://h/x.json"),
    located("refused-protocol", "simplecache::https://h/x.json"),
    located("refused-protocol", "zip://x.json::reference://h/x.zip"),
    one(
        "refused-protocol",
        f"source: {{type: hf, path: a/b, split: t, revision: {COMMIT}, {MARK}data_files: 'https://h/x.csv'}}",
        ".source.data_files",
    ),
    s3("refused-option", "anonn", "true"),
    s3("refused-option", "anon", "{env: K}"),
    located("unlisted-host", "http://other/x.json"),
    located("unlisted-host", "https://169.254.169.254/x.json"),
    s3("unlisted-host", "endpoint_url", "'https://other'"),
    one(
        "unlisted-host",
        f"{CSV}, concat: [{{path: y.csv}}, {{{MARK}path: 'http://other/y.csv'}}]",
        ".concat[1].path",
    ),
    s3("unlisted-secret", "key", "{env: KEY}"),
    one(
        "unlisted-secret",
        f"source: {{type: csv, path: 'https://h/x', fs_options: {{headers: {{{MARK}a: {{env: K}}}}}}}}",
        ".source.fs_options.headers.a",
    ),
    s3("plain-http", "endpoint_url", "'http://h:9000'"),
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
    own("missing-license", f"  {MARK}d: {{description: Questions., {CSV}}}", ".license"),
    own("bad-license", f"  d: {{description: Questions., {MARK}license: MITT, {CSV}}}", ".license"),
    own(
        "bad-license",
        "  d:\n    description: Questions.\n"
        f"    license: {{{MARK}spdx: all rights reserved, read-at: 'https://x.org'}}\n    {CSV}",
        ".license.spdx",
    ),
    own("missing-description", f"  {MARK}d: {{license: mit, {CSV}}}", ".description"),
    Case(
        "missing-license",
        f"datasets:\n  d: {{{DESCRIBED}, {CSV}}}\n  e: {{extends: d, {MARK}license: null}}\n",
        "$.datasets.e.license",
    ),
    Case(
        "schema-line",
        f"{MARK}datasets: {{d: {{{DESCRIBED}, {CSV}}}}}\n",
        "$",
        index=f"# yaml-language-server: $schema=x\n{INDEX}",
    ),
    Case(
        "key-order",
        f"# yaml-language-server: $schema=x\ndatasets: {{d: {{{CSV}, {MARK}{DESCRIBED}}}}}\n",
        "$.datasets.d.description",
        index=f"# yaml-language-server: $schema=x\n{INDEX}",
    ),
    one("unknown-rule", f"{CSV}}}  {MARK}# registry: ignore plain-htp -- why\n#", NO_PATH),
    indexed(
        "unknown-rule", f"validate: {{ignore: [style, {MARK}plain-htp]}}", "validate.ignore[1]"
    ),
    indexed(
        "unknown-rule",
        f"validate: {{severity: {{{MARK}plain-htp: error}}}}",
        "validate.severity.plain-htp",
    ),
    one("rule-not-ignorable", f"{CSV}}}  {MARK}# registry: ignore literal-secret -- why\n#", NO_PATH),
    indexed(
        "rule-not-ignorable",
        f"validate: {{severity: {{{MARK}duplicate-key: warning}}}}",
        "validate.severity.duplicate-key",
    ),
    Case("stale-lock", VALID.replace("d:", f"{MARK}d:", 1), "$.datasets.d", others=lock_with("d")),
    Case("stale-lock", VALID, "$.datasets.gone", others=lock_with(f"{MARK}gone")),
    Case(
        "bad-lock",
        "datasets: {}\n",
        "$.datasets.d",
        others={"datasets.lock": f"version: 1\ndatasets: {{{MARK}d: 1}}\n"},
    ),
    one("ignore-without-reason", f"{CSV}}}  {MARK}# registry: ignore plain-http\n#", NO_PATH),
    one("unused-ignore", f"{CSV}}}  {MARK}# registry: ignore plain-http -- why\n#", NO_PATH, also_select=("plain-http",)),
]  # fmt: skip


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Found:
    """Write files to the current folder, and check the catalog that they make."""
    monkeypatch.chdir(tmp_path)

    def problems(
        files: Mapping[str, str], select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
    ) -> list[Problem]:
        for old in filter(Path.is_file, [*tmp_path.rglob("*")]):
            old.unlink()
        for name in ("x", "x.csv", "x.json", "y.csv"):  # data that says nothing about columns
            (tmp_path / name).write_text("", encoding="utf-8")
        (tmp_path / "data").mkdir(exist_ok=True)
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


NEIGHBOURS = {
    "missing-data": ("gone.csv", "x.csv"),
    "bad-location": ("inner/../x", "inner/x"),
    "outside-path": ("/proc/self/environ", "inner/x"),
    "unreadable-file": ("\udcff", "ÿ"),
    "yaml-syntax": ("{a: b, ]", "{}"),
    "yaml-limit": ("*a, " * 32, "*a, " * 20),
    "yaml-tag": ("!!map ", ""),
    "yaml-key": (f"{{1: {{{DESCRIBED}}}}}", "{}"),
    "yaml-number": (".inf", "1"),
    "duplicate-key": ("limit: 2", "seed: 2, shuffle: true"),
    "unknown-key": ("limitt", "limit"),
    "missing-key": ("license: mit", f"license: mit, {CSV}"),
    "wrong-type": ("few", "1"),
    "wrong-value": ("-1", "1"),
    "bad-name": ("D:", "d:"),
    "include-nothing": ("gone/*.yaml", "m*.yaml"),
    "include-limit": ("**/**", "**"),
    "python-in-catalog": ("registry.py", "setup.py"),
    "nested-index": ("data/datasets.yaml", "data/other.yaml"),
    "duplicate-name": ("[a.yaml, m.yaml]", "[m.yaml]"),
    "override-nothing": ("override", "auto_id"),
    "unknown-parent": ("extends: dd", CSV),
    "extends-cycle": ("extends: d", CSV),
    "unknown-replacement": ("use: dd", "use: d"),
    "unknown-member": ("[dd]", "[d]"),
    "group-cycle": ("[d, g]", "[d]"),
    "repeated-member": ("[h, d]", "[h, f]"),
    "deprecated-member": ("[e]", "[d]"),
    "rename-cycle": ("renamed_to: d", "renamed_to: e"),
    "deprecated-parent": ("extends: a", "extends: e"),
    "extends-depth": ("extends: 1", "extends: 2"),
    "unseeded-shuffle": ("shuffle: true", "shuffle: true, seed: 1"),
    "unknown-split": ("default_split: b", "default_split: a"),
    "seed-without-shuffle": ("seed: 1", "seed: 1, shuffle: true"),
    "literal-secret": ("secret: hush", "secret: {env: HUSH}"),
    "secret-in-url": ("?X-Amz-Signature=abc", "?X-Amz-Date=abc"),
    "bad-expression": ("regex: '('", "regex: '(.)'"),
    "mapper-and-fields": ("mapper: 'p:f', ", ""),
    "bad-fewshot": ("{n: 5}", "{split: dev, n: 5}"),
    "untrusted-mapper": ("version: 1", "version: 1\ntrust: ['p:f']"),
    "unknown-column": ("target: [a]", "target: [q]"),
    "refused-protocol": ("simplecache::", ""),
    "refused-option": ("anonn", "anon"),
    "unlisted-host": ("http://other", "https://other"),
    "unlisted-secret": ("secrets: {", "secrets: {KEY: [s3.amazonaws.com], "),
    "plain-http": ("http://", "https://"),
    "unpinned-revision": ("split: t", f"split: t, revision: {COMMIT}"),
    "bad-license": ("license: MITT", "license: MIT"),
    "missing-license": ("{description", "{license: mit, description"),
    "missing-description": ("{license", "{description: Questions., license"),
    "schema-line": ("datasets:", "# yaml-language-server: $schema=x\ndatasets:"),
    "key-order": (f"{CSV}, {DESCRIBED}", f"{DESCRIBED}, {CSV}"),
    "bad-lock": ("{d: 1}", "{}"),
    "stale-lock": ("  d:\n    spec", "# no pin\n"),
    "unknown-rule": ("plain-htp", "plain-http"),
    "rule-not-ignorable": ("literal-secret", "plain-http"),
    "ignore-without-reason": ("plain-http", "plain-http -- why"),
    "unused-ignore": ("type: csv, path: x.csv", "type: csv, path: 'http://h/x.csv'"),
}
"""For each rule, how to correct the mistake of its first case: a text and its replacement."""


@pytest.mark.parametrize(
    ("case", "selecting"),
    [(case, on) for case in CASES for on in (False, True) if on or RULES[case.rule].default],
    ids=lambda value: getattr(value, "rule", "selected" if value else "default"),
)
def test_mistake_is_reported_once_at_its_position(
    found: Found, case: Case, selecting: bool
) -> None:
    files = case.files()
    problems = found(files, (case.rule, *case.also_select) if selecting else ())
    assert [(one.file, one.line, one.column) for one in problems] == marks(files)
    (problem,) = problems
    assert problem.rule == case.rule, problem
    assert problem.severity == RULES[case.rule].severity
    assert problem.path == ("$" if case.path.endswith(NO_PATH) else case.path)


ELSEWHERE = {"check-limit", "bad-correction"}
"""Rules whose examples are large, or in other files: tests/lint/test_dataset_checks.py and
tests/corrections have them.
"""


@pytest.mark.parametrize("rule", sorted(set(RULES) - ELSEWHERE))
def test_corrected_mistake_is_not_reported(found: Found, rule: str) -> None:
    case = next(case for case in CASES if case.rule == rule)
    old, new = NEIGHBOURS[rule]
    before = {name: text.replace(MARK, "") for name, text in case.files().items()}
    after = {name.replace(old, new): text.replace(old, new) for name, text in before.items()}
    assert after != before
    select = (rule, *case.also_select)
    assert rule in {problem.rule for problem in found(before, select)}
    assert rule not in {problem.rule for problem in found(after, select)}


def test_every_rule_has_an_invalid_and_a_valid_example() -> None:
    assert {case.rule for case in CASES} == NEIGHBOURS.keys() == set(RULES) - ELSEWHERE


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if RULES[case.rule].blocking and RULES[case.rule].family not in ("rules", "lock", "code")
    ],
    ids=lambda case: case.rule,
)
def test_dataset_with_a_blocking_problem_cannot_be_used(found: Found, case: Case) -> None:
    found(case.files())
    catalog = Catalog.open()
    with pytest.raises(ManifestError) as caught:
        use(catalog, case.used)
    assert case.rule in {problem.rule for problem in caught.value.problems}


def use(catalog: Catalog, name: str) -> None:
    """Resolve and compile as for reading records; there is no file to read."""
    spec = catalog[name]
    context = SourceContext(boundary=UNBOUNDED, cache=Cache(Path("nowhere")), offline=True)
    samples_in_order(spec, Pins(()), context)


@pytest.mark.parametrize(
    "case", [case for case in CASES if not RULES[case.rule].blocking], ids=lambda case: case.rule
)
def test_dataset_with_an_advisory_problem_can_be_used(found: Found, case: Case) -> None:
    found(case.files())
    assert Catalog.open()["d"].name == "d"


CLEAN = [
    "source: {type: json, path: 'http://localhost:8000/x.json'}",
    "source: {type: json, path: 'http://127.0.0.1/x.json'}",
    "source: {type: json, path: 'http://[::1]:80/x.json'}",
    "source: {type: json, path: 'https://h/x.json?version=2&page_key='}",
    f"source: {{type: json, path: 'hf://datasets/a/b@{COMMIT}/x.json'}}",
    f"source: {{type: json, path: 'https://huggingface.co/datasets/a/b/resolve/{COMMIT}/x.json'}}",
    f"source: {{type: json, path: 'https://raw.githubusercontent.com/a/b/{COMMIT}/x.json'}}",
    f"source: {{type: hf, path: a/b, split: t, revision: {COMMIT}}}",
    "source: {type: hf, path: ./data, split: t}",
    "source: {type: hf, path: json, split: t, data_files: x.json}",
    "source: {type: csv, path: s3://b/x, fs_options: {key: {env: K}, secret: {env: S}}}",
    f"{CSV}, shuffle: true, seed: 1, shuffle_choices: 2",
]


@pytest.mark.parametrize("keys", CLEAN)
def test_valid_manifest_has_no_problems(found: Found, keys: str) -> None:
    manifest = f"datasets:\n  d: {{{DESCRIBED}, {keys}}}\n"
    assert found({"datasets.yaml": INDEX, "m.yaml": manifest}) == []


def test_inherited_problem_is_reported_once_where_it_was_written(found: Found) -> None:
    manifest = (
        f"datasets:\n  base:\n    source: {{type: hf, {MARK}path: a/b, split: t}}\n"
        "  kid: {extends: base, source: {name: x}}\n  other: {extends: base, limit: 3}\n"
    )
    files = {"datasets.yaml": INDEX, "m.yaml": manifest}
    problems = found(files, ignore=("description",))
    assert [(one.file, one.line, one.column) for one in problems] == marks(files)


def test_signed_url_passed_from_python_is_accepted(found: Found) -> None:
    assert found({"datasets.yaml": INDEX, "m.yaml": VALID}) == []
    signed = "https://h/x.csv?X-Amz-Signature=abc"
    assert Catalog.open().resolve("d", source=signed).source.path == (signed,)


def test_messages_do_not_contain_the_secret(found: Found) -> None:
    for case in CASES:
        if case.rule in ("secret-in-url", "literal-secret"):
            files = case.files()
            assert not re.search("hush|=abc|=t", "".join(map(str, found(files))))


# --- the table ---


def test_ids_and_families_are_distinct_lower_case_names() -> None:
    names = [*RULES, *RULE_FAMILIES, ALL]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in names)
    assert sum(map(len, RULE_FAMILIES.values())) == len(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_reason_of_a_rule_is_one_sentence(rule: object) -> None:
    reason = str(getattr(rule, "reason", ""))
    assert re.fullmatch(r"[A-Z`].{20,80}\.", reason), reason


def test_blocking_rules_are_errors() -> None:
    assert all(rule.severity == "error" for rule in RULES.values() if rule.blocking)


def test_finding_string_contains_path_message_and_hint() -> None:
    finding = Finding(("a", 0, "b"), "is odd", "make it even")
    assert str(finding) == "a.0.b: is odd (make it even)"
    assert str(Finding((), "is odd")) == "is odd"


# --- the checks that the table names ---

SUBJECTS = {
    "text": "ManifestFile",
    "document": "Document",
    "merged": "Merged",
    "spec": "DatasetSpec",
    "lock": "PinnedDataset",
}
CHECKS = [(rule, check) for rule in RULES.values() for check in rule.checks]


def public_functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield every public function with its module."""
    for path in sorted((SOURCE / "registry").rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE / "registry").with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield module, node


def test_every_rule_is_checked_once_per_stage() -> None:
    for rule in RULES.values():
        stages = [check.stage for check in rule.checks]
        assert stages, rule.id
        assert len(set(stages)) == len(stages), rule.id


def test_every_check_is_named_after_its_rule_and_takes_the_arguments_of_its_stage() -> None:
    defined = {
        (module, node.name, ast.unparse(node.args.args[0].annotation or ast.Constant(None)))
        for module, node in public_functions()
        if node.returns and ast.unparse(node.returns) == "Iterator[Finding]"
    }
    named = {
        (check.module, rule.function_of(check), SUBJECTS[check.stage])
        for rule, check in CHECKS
        if check.stage != "read"
    }
    assert defined == named


@pytest.mark.parametrize(
    ("rule", "module"), [(rule.id, check.module) for rule, check in CHECKS if check.stage == "read"]
)
def test_rule_without_a_check_function_appears_in_the_reporting_module(
    rule: str, module: str
) -> None:
    path = SOURCE / "registry" / f"{module.replace('.', '/')}.py"
    assert f'"{rule}"' in path.read_text(encoding="utf-8")


def test_checks_run_on_every_use_do_not_depend_on_lint() -> None:
    modules = {check.module for _, check in CHECKS if check.stage == "merged"}
    assert {module.partition(".")[0] for module in modules} == {"manifest"}


def problems_of(value: dict[str, Any], **options: Any) -> set[str]:
    """Return the rules that the merged keys of a dataset violate."""
    merged = Merged(value, {(): Layer("own", value)})
    return {problem.rule for problem in run_checks("merged", merged, merged, **options)}


def test_findings_for_invalid_keys_and_for_the_dataset_can_be_dropped() -> None:
    found = problems_of({"shuffle": True})
    assert found >= {"missing-key", "unseeded-shuffle", "missing-license"}
    assert problems_of({"shuffle": True}, unchecked_keys=[]) == found - {"missing-key"}
    dropped = {"missing-key", "unseeded-shuffle", "missing-license"}
    assert problems_of({"shuffle": True}, unchecked_keys=["shuffle", "license"]) == found - dropped


def test_advisory_checks_can_be_skipped() -> None:
    found = problems_of({})
    blocking = {rule for rule in found if RULES[rule].blocking}
    assert "missing-license" in found - blocking
    assert problems_of({}, blocking_only=True) == blocking == {"missing-key"}


# --- the problems that modules make themselves ---


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


def test_every_manifest_problem_has_a_known_rule() -> None:
    calls = problem_calls()
    assert len(calls) > 20
    without = {
        place.partition(":")[0]
        for place, call in calls
        if not any(keyword.arg == "rule" for keyword in call.keywords)
    }
    # These report that a file can't be written, which is not a problem of a manifest.
    writers = {"fixes.py", "request.py", "output.py"}
    # These restore cached problems, which contain their rules.
    kept = {"cached_files.py", "cache.py", "runner.py"}
    # These are about data, revisions and the lockfile.
    others = {"models.py", "text.py", "contents.py", "pair.py", "snapshot.py"}
    assert without == writers | kept | others
    literal = {
        keyword.value.value
        for _, call in calls
        for keyword in call.keywords
        if keyword.arg == "rule" and isinstance(keyword.value, ast.Constant)
    }
    assert literal <= set(RULES)
