"""The lockfile: the same pins are the same bytes, merges are easy, problems have positions."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from registry import LockError
from registry.base.local_files import name_fault
from registry.base.materials import Material, Original, Parts
from registry.lockfile.models import (
    FIRST,
    Lock,
    Pin,
    Version,
    lock_text,
    read_lock,
    read_sides,
    write_lock,
)
from tests.lockfile.pins import pin_of

DIGITS = "0123456789abcdef"


def digest(number: int) -> str:
    return f"sha256:{number:064x}"


def pin(number: int = 1, **keys: Any) -> Pin:
    values: dict[str, Any] = {
        "sources": (Material(location="data.csv", size=number, sha256=f"{number:064x}"),),
        "columns": ("q", "a"),
        "format": 1,
    }
    values |= {key: digest(number + n) for n, key in enumerate(("spec", "ordered", "unordered"))}
    return pin_of(number, **{**values, **keys})


def lock_of(*names: str) -> Lock:
    return Lock({name: pin(number) for number, name in enumerate(names, 1)})


def test_lock_is_written_in_the_expected_format(path: Path) -> None:
    sources = (
        Material(location="hf://datasets/a/b", requested="main", revision="c" * 40),
        Material(
            location="s3://b/x y.csv",
            requested="s3://b/*.csv",
            etag='"e1"',
            size=3,
            sha256="0" * 64,
        ),
    )
    lock = Lock({"qa": pin(sources=sources, columns=("q", "no", "a: b", "ü", "12"))})
    write_lock(path, lock)
    assert path.read_text(encoding="utf-8") == (
        "# yaml-language-server: $schema=schemas/lock.schema.json\n"
        "# Written by `registry lock`. Review it like code; don't edit it.\n"
        "version: 1\n"
        "datasets:\n"
        "  qa:\n"
        f"    spec: {digest(1)}\n"
        "    sources:\n"
        "      - location: hf://datasets/a/b\n"
        "        requested: main\n"
        f'        revision: "{"c" * 40}"\n'
        '      - location: "s3://b/x y.csv"\n'
        "        requested: s3://b/*.csv\n"
        '        etag: "\\"e1\\""\n'
        "        size: 3\n"
        f'        sha256: "{"0" * 64}"\n'
        "    samples: 1\n"
        '    columns: [q, "no", "a: b", "ü", "12"]\n'
        f"    ordered: {digest(2)}\n"
        f"    unordered: {digest(3)}\n"
        "    format: 1\n"
    )


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
hexes = st.text(DIGITS, min_size=64, max_size=64)
digests = hexes.map("sha256:{}".format)
names = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True).filter(
    lambda name: not name_fault(name)
)
parts = st.builds(
    Parts,
    columns=st.lists(texts | st.just(""), min_size=1, max_size=3).map(tuple),
    size=st.integers(0, 1 << 50),
    sha256=hexes,
)
files = st.builds(
    Material,
    location=texts,
    requested=st.none() | texts,
    etag=st.none() | texts,
    version_id=st.none() | texts,
    size=st.integers(0, 1 << 50),
    sha256=hexes,
    parts=st.none() | parts,
)
named = st.builds(Material, location=texts, size=st.integers(0, 9), sha256=hexes)
repositories = st.builds(
    Material, location=texts, revision=st.text(DIGITS, min_size=40, max_size=40)
)
pins = st.builds(
    Pin,
    spec=digests,
    sources=st.lists(files | repositories, min_size=1, max_size=3).map(tuple),
    files=st.lists(named, max_size=2).map(tuple),
    sandbox=st.lists(named, max_size=2).map(tuple),
    images=st.lists(texts, max_size=2).map(tuple),
    code=st.dictionaries(texts, digests, max_size=1),
    original=st.none()
    | st.builds(Original, samples=st.integers(0, 9), ordered=digests, unordered=digests),
    version=st.none() | st.just("12-C"),
    samples=st.integers(0, 1 << 40),
    columns=st.lists(texts | st.just(""), max_size=4).map(tuple),
    ordered=digests,
    unordered=digests,
    format=st.integers(1, 9),
)


@hypothesis.settings(
    deadline=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(st.dictionaries(names, pins, max_size=4))
def test_written_pins_are_read_unchanged(path: Path, found: dict[str, Pin]) -> None:
    write_lock(path, Lock(found))
    assert read_lock(path) == Lock(found)
    assert lock_text(Lock(dict(reversed(found.items())))) == path.read_text(encoding="utf-8")


def test_lockfile_above_the_yaml_size_limit_is_read(path: Path) -> None:
    long = {"columns": ("x" * 4000,)}
    whole = Lock({f"data-{number:04}": pin(number, **long) for number in range(1200)})
    write_lock(path, whole)
    assert path.stat().st_size > 4 << 20
    assert read_lock(path) == whole
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("data-1199:", "data-0000:"), encoding="utf-8")
    with pytest.raises(LockError, match="duplicate dataset 'data-0000'"):
        read_lock(path)


def test_missing_lockfile_is_accepted(path: Path) -> None:
    assert read_lock(path) is None
    assert read_sides(path) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    samples: 1\n", "    samples:  1\n"),
        ("    samples: 1\n", "    samples: 0x1\n"),
        ("    samples: 1\n", "    samples: 1 # one\n"),
        ("    format: 1\n", "    format: 1\n\n"),
        ("    columns: [", "    columns: [ "),
        ("    sources:\n", "    sources: \n"),
        ("    sources:\n", "    sources: # these\n"),
        ("      - location: data.csv", '      - location: "data.csv"'),
        ("  qa:\n", "  # a comment\n  qa:\n"),
        ("  qa:\n", "  qa :\n"),
        ("  qa:\n", '  "q\\x61":\n'),
        ("  qa:\n", "  'qa':\n"),
        ("  qa:\n", "  ? qa\n  :\n"),
    ],
)
def test_lockfile_in_a_different_yaml_style_has_the_same_pins(
    path: Path, old: str, new: str
) -> None:
    text = lock_text(lock_of("qa"))
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert read_lock(path) == lock_of("qa")


def test_legacy_key_asked_is_read_and_written_as_requested(path: Path) -> None:
    source = Material(location="a.csv", requested="*.csv", size=1, sha256="0" * 64)
    lock = Lock({"qa": pin(sources=(source,))})
    text = lock_text(lock)
    assert "        requested: " in text
    path.write_text(text.replace("        requested: ", "        asked: "), encoding="utf-8")
    assert read_lock(path) == lock
    assert lock_text(read_lock(path) or Lock()) == text


# --- merges ---


def merge(tmp_path: Path, ours: Lock, base: Lock, theirs: Lock) -> int:
    """Merge like git; return the number of conflicts, and write the result to `ours`."""
    for name, lock in {"ours": ours, "base": base, "theirs": theirs}.items():
        write_lock(tmp_path / name, lock)
    command = ["git", "merge-file", "ours", "base", "theirs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    return done.returncode


BASE = {"b": pin(2), "m": pin(3), "y": pin(4)}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({**BASE, "a": pin(5)}, {**BASE, "n": pin(6)}),
        ({**BASE, "c": pin(5)}, {**BASE, "z": pin(6)}),
        ({**BASE, "b": pin(7)}, {**BASE, "n": pin(6)}),
        ({**BASE, "b": pin(7)}, {**BASE, "y": pin(8)}),
        ({"m": pin(3), "y": pin(4)}, {**BASE, "z": pin(6)}),
    ],
)
def test_changes_from_two_branches_merge(
    tmp_path: Path, ours: dict[str, Pin], theirs: dict[str, Pin]
) -> None:
    assert merge(tmp_path, Lock(ours), Lock(BASE), Lock(theirs)) == 0
    kept = {name: one for name, one in BASE.items() if name in ours and name in theirs}
    changed = {name: one for name, one in {**ours, **theirs}.items() if BASE.get(name) != one}
    changed |= {name: one for name, one in ours.items() if BASE.get(name) != one}
    assert read_lock(tmp_path / "ours") == Lock({**kept, **changed})


def test_merge_conflict_is_an_error_with_its_line_and_both_sides_are_readable(
    tmp_path: Path,
) -> None:
    ours, theirs = {**BASE, "m": pin(10)}, {**BASE, "m": pin(11)}
    assert merge(tmp_path, Lock(ours), Lock(BASE), Lock(theirs)) > 0
    path = tmp_path / "ours"
    line = path.read_text(encoding="utf-8").splitlines().index("<<<<<<< ours") + 1
    with pytest.raises(LockError) as caught:
        read_lock(path)
    (problem,) = caught.value.problems
    assert str(problem) == (
        f"{path}:{line}:1 $: unresolved merge conflict"
        " (take either side, or leave it, and run `registry lock`)"
    )
    assert read_sides(path) == (Lock(ours), Lock(theirs))
    # zdiff3 may leave a base that is no lockfile.
    sides = {"m": (pin(10), pin(3), pin(11))}
    path.write_text(lock_text(Lock(), sides).replace("    samples: 3\n", ""), encoding="utf-8")
    assert read_sides(path) == (Lock({"m": pin(10)}), Lock({"m": pin(11)}))


# --- problems ---

GOOD = lock_text(Lock({"qa": pin()}))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("samples: 1", "samples: many", "11:5 $.datasets.qa.samples: must be an integer, is 'many'"),
        (f'        sha256: "{1:064x}"\n', "", "8:9 $.datasets.qa.sources[0]: the key 'sha256' is missing (Digest of the file's bytes.)"),
        (f"spec: {digest(1)}", "spec: sha256:1", "6:5 $.datasets.qa.spec: 'sha256:1' has the wrong form"),
        ("version: 1", "version: 0", "3:1 $.version: must be 1, is 0"),
        ("  qa:", "  Q A:", "5:3 $.datasets['Q A']: 'Q A' is not a valid dataset name"),
        ("format: 1", "format: 1\n  qa: {}", "16:3 $.datasets.qa: the key 'qa' is repeated"),
        ("format: 1", 'format: 1\n  "qa": {}', "16:3 $.datasets.qa: the key 'qa' is repeated"),
        ("        size: 1\n", "        size: 1\n        requested: null\n", "10:9 $.datasets.qa.sources[0].requested: must be a string, is None"),
        ("format: 1", "format: [", "16:1 $: not YAML: "),
    ],
)  # fmt: skip
def test_invalid_lockfile_is_an_error_with_its_position(
    path: Path, old: str, new: str, problem: str
) -> None:
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(LockError) as caught:
        read_lock(path, shown_as="datasets.lock")
    found = [str(one) for one in caught.value.problems]
    assert any(one.startswith(f"datasets.lock:{problem}") for one in found), found
    assert "fix it, or remove the file and run `registry lock`" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("version: 1", "version: 2", "3:1 $.version: must be 1, is 2 (written by"),
        ("version: 1", "version: 1\nmade: 1", "4:1 $.made: unknown key 'made' (written by"),
        ("samples: 1", "sample: 1", "11:5 $.datasets.qa.sample: unknown key 'sample' (written by"),
        ("format: 1", "format: 1\n    x: 1", "16:5 $.datasets.qa.x: unknown key 'x' (written by"),
    ],
)
def test_lockfile_of_a_newer_release_is_never_to_be_removed(
    path: Path, old: str, new: str, problem: str
) -> None:
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(LockError) as caught:
        read_lock(path, shown_as="datasets.lock")
    found = [str(one) for one in caught.value.problems]
    assert any(one.startswith(f"datasets.lock:{problem} a newer release") for one in found), found
    assert "remove" not in str(caught.value)
    assert str(caught.value).endswith("by a newer release: upgrade eval-registry")


def test_all_problems_are_reported_at_once(path: Path) -> None:
    text = GOOD.replace("samples: 1", "samples: -1").replace("format: 1", "format: 0")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LockError) as caught:
        read_lock(path)
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "must be a mapping, is None"),
        (b"\xff\xfe", "not UTF-8"),
        (b"datasets: {}\n", "the key 'version' is missing"),
        (b"[]\n", "must be a mapping, is []"),
    ],
)
def test_file_that_is_not_a_lockfile_is_an_error(path: Path, content: bytes, words: str) -> None:
    path.write_bytes(content)
    with pytest.raises(LockError, match=re.escape(words)):
        read_lock(path)


def test_folder_in_place_of_the_lockfile_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LockError, match="can't be read: Is a directory"):
        read_lock(tmp_path)
    with pytest.raises(LockError, match="can't be written"):
        write_lock(tmp_path, Lock())


def test_pinned_source_is_a_file_or_a_commit() -> None:
    with pytest.raises(ValueError, match="neither `revision` nor `sha256`"):
        Material(location="x.csv", size=1)


@pytest.mark.parametrize(
    ("text", "letter"), [("1-A", 1), ("2-Z", 26), ("3-AA", 27), ("3-AZ", 52), ("4-BA", 53)]
)
def test_version_is_read_and_written(text: str, letter: int) -> None:
    version = Version.parse(text)
    assert (version.letter, str(version)) == (letter, text)


@pytest.mark.parametrize(
    "text", ["", "1", "A", "0-A", "01-A", "1-a", "1A", "1-A1", "1-A\n", "-1-A"]
)
def test_other_text_is_not_a_version(text: str) -> None:
    with pytest.raises(ValueError, match="is not a version"):
        Version.parse(text)


def test_letter_begins_again_with_each_number() -> None:
    assert str(FIRST) == "1-A"
    version = Version.parse("1-Z").next_letter
    assert (str(version), str(version.next_number)) == ("1-AA", "2-A")


def test_later_version_is_greater() -> None:
    texts = ["1-A", "1-B", "1-Z", "1-AA", "2-A", "10-A"]
    assert sorted(map(Version.parse, reversed(texts))) == [*map(Version.parse, texts)]
