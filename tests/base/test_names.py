"""Names of datasets can be names of files on every platform."""

from __future__ import annotations

import json

import pytest

from registry.base.names import NAME_PATTERN, file_stem, is_device, name_fault
from registry.manifest.schema import read_schema

VALID = ["a", "0", "mmlu-small", "mmlu_small", "a.b", "a..b", "console", "com", "com10", "a-"]
INVALID = {
    "Windows reserves it for a device": ["con", "CON", "nul.csv", "aux.tar.gz", "com1", "lpt9."],
    "it must not end with a dot": ["a."],
    "use at most 128 characters": ["x" * 129],
    "use lower-case letters, digits, '.', '-' and '_'": [
        *("MMLU", "a b", "a\n", "../a", ".a", "-a", "", "ａ"),
    ],
}


@pytest.mark.parametrize("name", [*VALID, "x" * 128])
def test_valid_names(name: str) -> None:
    assert name_fault(name) == ""


@pytest.mark.parametrize(
    ("name", "fault"), [(name, fault) for fault, names in INVALID.items() for name in names]
)
def test_invalid_names(name: str, fault: str) -> None:
    assert name_fault(name) == fault


def test_schemas_have_the_same_pattern() -> None:
    # That of the lock has more, see tests/manifest/test_schema.py.
    patterns = read_schema("manifest")["$defs"]["datasets"]["patternProperties"]
    assert list(patterns) == [NAME_PATTERN], json.dumps(NAME_PATTERN)


def test_split_and_member_have_names_of_files() -> None:
    stems = [file_stem(name) for name in ("qa", "qa:dev", "group/qa")]
    assert stems == ["qa", "qa+dev", "group+qa"]


@pytest.mark.parametrize(
    "file", ["con", "NUL", "aux.txt", "Lpt1.tar.gz", "com\u00b9", "COM\u00b2.csv", "prn .csv"]
)
def test_files_of_devices(file: str) -> None:
    assert is_device(file)


@pytest.mark.parametrize("file", ["", "icon", "con-1.csv", "com", "com10.csv", "x.con", "com*"])
def test_other_files(file: str) -> None:
    assert not is_device(file)
