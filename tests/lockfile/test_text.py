"""The text of a lockfile: quoted where YAML needs it, cut into chunks, with conflicts of merges."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from registry import LockError
from registry.lockfile.text import (
    HEADER,
    chunks,
    conflict_sides,
    dump,
    read_bytes,
)
from registry.yamldoc.document import conflict_line

PIN = {"spec": "sha256:" + "a" * 64, "sources": [{"location": "a.csv", "size": 1}], "columns": []}


PLAIN = ["a", "registry/data/demo-mcq.csv", "s3://bucket/*.csv", "HEAD", f"sha256:{'0' * 64}"]
QUOTED = {
    "": '""',
    "no": '"no"',
    "Null": '"Null"',
    "12": '"12"',
    "12e4" * 10: f'"{"12e4" * 10}"',
    "a: b": '"a: b"',
    "a#b": '"a#b"',
    '"e1"': r'"\"e1\""',
    "ü": '"ü"',
    "a\u2028b": r'"a\u2028b"',
    "a\x85b": r'"a\u0085b"',
}


@pytest.mark.parametrize(("value", "written"), [*zip(PLAIN, PLAIN, strict=True), *QUOTED.items()])
def test_strings_are_quoted_only_if_yaml_requires_it(value: str, written: str) -> None:
    text = dump({"d": {"columns": [value]}})
    assert text == f"{HEADER}datasets:\n  d:\n    columns: [{written}]\n"
    assert yaml.safe_load(text)["datasets"] == {"d": {"columns": [value]}}


def test_chunks_preserve_line_numbers_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.lockfile.text._CHUNK", 300)
    datasets: dict[str, dict[str, Any]] = {f"d{number}": PIN for number in range(7)}
    text = dump(datasets)
    found = list(chunks(text))
    assert len(found) > 2
    assert found[0].startswith(HEADER)
    merged = {key: pin for chunk in found for key, pin in yaml.safe_load(chunk)["datasets"].items()}
    assert merged == datasets
    for chunk in found:
        for line, content in enumerate(chunk.splitlines()):
            if content.startswith("  d"):
                assert text.splitlines()[line] == content


CONFLICT = """\
same
<<<<<<< ours
1
||||||| base
2
=======
3
>>>>>>> theirs
end
"""


def test_conflict_has_a_line_number_and_two_sides_and_maybe_a_base() -> None:
    assert conflict_line(CONFLICT) == 2
    ours, theirs = "same\n1\nend\n", "same\n3\nend\n"
    assert conflict_sides(CONFLICT) == (ours, theirs, "same\n2\nend\n")
    assert conflict_sides(CONFLICT.replace("||||||| base\n2\n", "")) == (ours, theirs, None)


def test_conflicts_are_written_as_git_writes_them() -> None:
    pin: dict[str, Any] = {"format": 1}
    text = dump({"a": pin}, {"b": (pin, None, {"format": 2})})
    assert text == (
        f"{HEADER}datasets:\n  a:\n    format: 1\n"
        "<<<<<<< ours\n  b:\n    format: 1\n||||||| base\n=======\n"
        "  b:\n    format: 2\n>>>>>>> theirs\n"
    )
    ours, theirs = ({"a": pin, "b": {"format": number}} for number in (1, 2))
    assert conflict_sides(text) == (dump(ours), dump(theirs), dump({"a": pin}))


@pytest.mark.parametrize(
    "text", ["", "a\n", "# ======= a heading\n", "  <<<<<<< indented\n", "========\n"]
)
def test_text_without_markers_has_no_conflict(text: str) -> None:
    assert conflict_line(text) is None


@pytest.mark.parametrize("target", ["other", "missing", "/dev/zero", "."])
def test_link_is_not_followed(tmp_path: Path, target: str) -> None:
    (tmp_path / "other").write_text("SECRET")
    path = tmp_path / "datasets.lock"
    path.symlink_to(target)
    with pytest.raises(LockError, match="can't be read: a symbolic link, which is not followed"):
        read_bytes(path)


def test_pipe_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(LockError, match="a device, pipe or socket"):
        read_bytes(path)


def test_size_is_limited_and_the_user_can_raise_the_limit(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.touch()
    os.truncate(path, (8 << 20) + 1)
    with pytest.raises(LockError) as caught:
        read_bytes(path, shown_as="datasets.lock")
    (problem,) = caught.value.problems
    assert str(problem) == (
        "datasets.lock $: larger than 8 MiB"
        " (REGISTRY_MAX_LOCK_MIB sets another limit, if you trust it)"
    )
    monkeypatch.setenv("REGISTRY_MAX_LOCK_MIB", "9")
    assert len(read_bytes(path) or b"") == (8 << 20) + 1
