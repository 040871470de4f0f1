"""`validate` of anything ends: within 10 s of processor time, 500 MB, and with an explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.git_repository import write_files
from tests.security.measured import Measured, run_measured

INDEX = "version: 1\ninclude: ['m/*.yaml']\n"
MIB = 1 << 20
MARKS = "\u0315\u0300" * 200_000
VALID = "{{source: {{type: csv, path: x}}}}"
IGNORE = "# registry: ignore missing-license -- x"


def validate(folder: Path) -> Measured:
    """Run `validate`; it must not wait for anything either."""
    cache = folder.parent / "cache"
    return run_measured(folder, "validate", "--root", str(folder), cache=cache, timeout=300)


Files = dict[str, str]
Make = Callable[[Path], Files]


def manifests(texts: Iterator[str] | list[str]) -> Files:
    return {"datasets.yaml": INDEX, **{f"m/{n}.yaml": text for n, text in enumerate(texts)}}


def index_with(include: str) -> Make:
    return lambda _: {"datasets.yaml": f"version: 1\ninclude: [{include}]\n"}


def rows(row: str, count: int) -> str:
    return "datasets:\n" + "".join(f"{row.format(number)}\n" for number in range(count))


def one(text: str) -> Make:
    return lambda _: manifests([text])


def device(name: str) -> Make:
    def make(folder: Path) -> Files:
        (folder / "m").mkdir()
        (folder / "m/device.yaml").symlink_to(name)
        return {"datasets.yaml": INDEX}

    return make


def circle(folder: Path) -> Files:
    for name in "abcdefgh":
        (folder / name).symlink_to(".")
    return {"datasets.yaml": "version: 1\ninclude: ['**/*.nothing']\n"}


def big_tree(folder: Path) -> Files:
    (folder / "f0").mkdir()
    for name in range(2_000):
        (folder / f"f0/{name}.txt").touch()
    for number in range(1, 60):  # quicker to make than 120,000 files, and as many to list
        (folder / f"f{number}").symlink_to("f0")
    return {"datasets.yaml": "version: 1\ninclude: ['**/*.yaml']\n"}


def many_big_manifests(folder: Path) -> Files:
    entries = "".join(f"  e{number}: {{}}\n" for number in range(70_000))
    text = f"datasets:\n{entries}"[: MIB - 10].rpartition("\n")[0] + "\n"
    return manifests([text.replace("  e", f"  f{number}e") for number in range(12)])


def chain(length: int) -> str:
    links = "".join(f"  d{n}: {{extends: d{n + 1}}}\n" for n in range(length))
    return f"datasets:\n{links}  d{length}: {{source: {{type: csv, path: x}}}}\n"


def wide_and_deep() -> str:
    """Return many datasets that each have as many ancestors as allowed."""
    tags = ", ".join(f"t{n}" for n in range(2_000))
    links = "".join(f"  c{n}: {{extends: c{n + 1}}}\n" for n in range(30))
    kids = "".join(f"  k{n}: {{extends: c0}}\n" for n in range(5_000))
    root = f"  c30: {{source: {{type: csv, path: x}}, tags: [{tags}]}}\n"
    return f"datasets:\n{kids}{links}{root}"


def broken_alias_bombs() -> str:
    bomb = "{a: &a [x, x, x, x, x, x, x, x], b: &b [*a, *a, *a, *a, *a, *a, *a, *a]"
    bomb += ", c: &c [*b, *b, *b, *b, *b, *b, *b], d: [*c, *c, *c, *c, *c, *c, *c]}"
    return "datasets:\n  x: [\n" + "".join(f"  k{n}: {bomb}\n" for n in range(990))


CATALOGS: dict[str, tuple[Make, str]] = {
    "device": (index_with("/dev/zero"), "outside-path"),
    "devices": (index_with("/dev/*"), ""),
    "device by a link": (device("/dev/zero"), ""),
    "standard input": (device("/dev/stdin"), ""),
    "machine": (index_with("'/usr/**/**/**/*.nothing'"), "include-limit"),
    "whole machine": (index_with("'/**/*.yaml'"), "outside-path"),
    "process": (index_with("'/proc/*/fd/*'"), ""),
    "circle of links": (circle, "include-nothing"),
    "big tree": (big_tree, "include-limit"),
    "many manifests": (
        lambda _: manifests(f"datasets: {{d{number}: {{}}}}\n" for number in range(25_000)),
        "include-limit",
    ),
    "many big manifests": (many_big_manifests, "include-limit"),
    "huge manifest": (lambda _: manifests([f"# {'x' * (64 * MIB)}\n"]), "larger than 1 MiB"),
    "many bad keys": (one(rows("  d{}: {{limitt: 1}}", 12_000)), "check-limit"),
    "one bad key among many datasets": (
        one(rows(f"  d{{}}: {VALID}", 8_000) + "  bad: {limitt: 1}\n"),
        "limitt",
    ),
    "many syntax errors": (one(rows("  d{}: }}", 60_000)), "yaml-syntax"),
    "long chain": (one(chain(35_000)), "ancestors"),
    "wide and deep": (one(wide_and_deep()), ""),
    "broken alias bombs": (one(broken_alias_bombs()), "yaml-syntax"),
    "nested": (one("datasets: " + "[" * 400_000), "yaml"),
    "long name": (
        one(f"datasets: {{{'n' * 900_000}: {{extends: {'m' * 100_000}}}}}\n"),
        "yaml-syntax",
    ),
    "marks to sort": (
        one(f"datasets: {{d: {{source: {{type: csv, path: 'a{MARKS}'}}}}}}\n"),
        "missing-data",
    ),
    "host to decode": (
        one(f"datasets: {{d: {{source: {{type: csv, path: 'https://xn--{'a' * 900_000}/x'}}}}}}\n"),
        "is not a host",
    ),
    "many ignore comments": (one(rows(f"  d{{}}: {VALID}  {IGNORE}", 12_000)), ""),
    "slow pattern": (index_with("'m/" + "*a" * 5_000 + ".yaml'"), "matches nothing"),
    "many patterns": (index_with(", ".join(["'**/*.x'"] * 20_000)), "matches nothing"),
}


@pytest.mark.parametrize("name", CATALOGS)
def test_validate_ends(tmp_path: Path, name: str) -> None:
    make, explanation = CATALOGS[name]
    folder = tmp_path / "catalog"
    folder.mkdir()
    write_files(folder, make(folder))
    ended = validate(folder)
    assert ended.code in (0, 1), ended.text[-2000:]
    assert explanation in ended.text, ended.text[:2000]
    assert ended.seconds < 15, ended  # of a machine with other work; alone less than 10
    assert ended.bytes < 500_000_000, ended.bytes


def test_limits_can_be_raised_by_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "{type: csv, path: 'https://h/x'}"
    texts = [f"datasets: {{d{number}: {{source: {source}}}}}\n" for number in range(12)]
    folder = write_files(tmp_path / "catalog", manifests(texts))
    monkeypatch.setenv("REGISTRY_MAX_MANIFESTS", "10")
    ended = validate(folder)
    assert "'m/*.yaml' is not read to the end: the catalog has more than 10 manifests" in ended.text
    assert "REGISTRY_MAX_MANIFESTS" in ended.text
    monkeypatch.setenv("REGISTRY_MAX_MANIFESTS", "13")
    monkeypatch.setenv("REGISTRY_VALIDATE_SECONDS", "0")
    assert "'m/*.yaml' is not read after 0 manifests: it takes too long" in validate(folder).text
    monkeypatch.setenv("REGISTRY_VALIDATE_SECONDS", "600")
    assert validate(folder).text.endswith("24 warnings\n")
