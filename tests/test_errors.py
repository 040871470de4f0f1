"""Errors that are sent to another process arrive as they were."""

from __future__ import annotations

import pickle

import pytest

from registry import errors
from registry.errors import (
    DatasetNotFoundError,
    DecodeError,
    DigestMismatchError,
    LockError,
    LockStaleError,
    ManifestError,
    MappingError,
    Problem,
    RegistryError,
)

PROBLEM = Problem(message="is odd", file="m.yaml", line=3, column=5, path="$.x", rule="odd")
MADE = (
    ManifestError([PROBLEM, PROBLEM]),
    DatasetNotFoundError("mmul", ["mmlu"], catalog="datasets.yaml"),
    LockError("is bad", problems=[PROBLEM]),
    LockStaleError("qa", "is not pinned"),
    DigestMismatchError("x.csv", dataset="qa", pinned="1", found="2"),
    DecodeError("no JSON", file="x.jsonl", line=7),
    MappingError("is odd", value={"a": [1]}).at(dataset="qa", record=2, field="target"),
)
KINDS = [one for one in vars(errors).values() if isinstance(one, type)]
PLAIN = [
    one("is odd")
    for one in KINDS
    if issubclass(one, RegistryError) and one not in {type(made) for made in MADE}
]


@pytest.mark.parametrize("error", [*MADE, *PLAIN], ids=lambda error: type(error).__name__)
def test_an_error_can_be_sent_to_another_process(error: RegistryError) -> None:
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert found.args == error.args
    assert vars(found) == vars(error)
