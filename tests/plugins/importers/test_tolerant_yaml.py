"""YAML of other tools: tags are data, and hostile files are errors with a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ManifestError
from registry.plugins.importers.tolerant_yaml import (
    Tagged,
    parse_foreign_yaml,
    read_foreign_text,
    read_foreign_yaml,
)
from tests.plugins.importers.support import write

FILE = Path("a.yaml")
BOMB = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1},*a{n - 1}]\n" for n in range(1, 40))


def test_tags_are_data() -> None:
    text = "a: !function os.system\nb: !!python/name:os.system x\n"
    found = parse_foreign_yaml(text, FILE, has_tags=True)
    with pytest.raises(ManifestError, match=r"a\.yaml:1: not YAML: could not determine"):
        parse_foreign_yaml(text, FILE)
    assert found.value == {
        "a": Tagged("!function", "os.system"),
        "b": Tagged("tag:yaml.org,2002:python/name:os.system", "x"),
    }
    assert str(found.value["a"]) == "!function os.system"


def test_scalars_are_those_of_yaml_1_1() -> None:
    found = parse_foreign_yaml("[no, yes, 010, 1e3, 2024-99-99]", FILE)
    assert found.value == [False, True, 8, "1e3", "2024-99-99"]


def test_lines_of_keys() -> None:
    found = parse_foreign_yaml("a:\n  - b: 1\n    c: 2\n", FILE, first_line=10)
    assert found.lines[("a", 0, "c")] == 12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "a.yaml:2: not YAML"),
        ("a: b: c", "a.yaml:1: not YAML"),
        ("[" * 200, "a.yaml:1: more than 64 levels of nesting"),
        # A newer libyaml refuses it by itself: "exceeded maximum nesting depth".
        ("[" * 200_000, "nesting"),
        ("a: &a [*a]", "a value contains itself"),
        (BOMB, "aliases repeat too many values"),
        ("a: &a 1\nb: [" + "*a," * 300 + "]", "more than 256 aliases"),
        ("a: *b", "a.yaml:1: not YAML"),
        ("a: !!binary eA==", "a.yaml:1: not YAML"),
        ("a: !!set {b}", "a.yaml:1: not YAML"),
        ("? [a]\n: 1", "not YAML"),
        ("a: 1\n---\nb: 2", "not YAML"),
        ("a: \x00", "not YAML"),
        ("a: " + "9" * 5000, "not YAML"),
    ],
)
def test_hostile_text_is_an_error_with_a_place(text: str, message: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_foreign_yaml(text, FILE)
    assert message in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    large = write(tmp_path, "large.yaml", "a: " + "x" * (1 << 20))
    (tmp_path / "bytes.yaml").write_bytes(b"a: 1\nb: \xff\n")
    for name, message in (
        (large.name, "the file is larger than 1 MiB"),
        ("bytes.yaml", "bytes.yaml:2: byte 0xff is not UTF-8"),
        ("none.yaml", "can't read the file: No such file"),
    ):
        with pytest.raises(ManifestError) as caught:
            read_foreign_yaml(tmp_path / name)
        assert message in str(caught.value)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert read_foreign_text(write(tmp_path, "a.yaml", "\ufeffa: 1")) == "a: 1"


@pytest.mark.parametrize("has_tags", [True, False])
@pytest.mark.parametrize(
    "number", ["0x" + "f" * 100_000, "1" + ":10" * 300_000, "1" + ":10" * 300_000 + ".5"]
)
def test_a_long_number_is_an_error_with_its_line(number: str, has_tags: bool) -> None:
    with pytest.raises(ManifestError, match=r"a\.yaml:2: not YAML: a number of more than 400"):
        parse_foreign_yaml(f"a: 1\nb: {number}\n", FILE, has_tags=has_tags)
