"""Digests of samples: fixed values, and which changes affect them."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import pytest

from registry import ChatMessageUser, ContentText, Sample, SandboxEnvironmentSpec
from registry.base.digest import canonical_json
from registry.samples.checkpoint import CheckpointSampleConfig, TokenInterval, TurnInterval
from registry.samples.digest import changed_samples, digest_samples, sample_digest

FULL = Sample(
    "q", ["a", "b"], "A", 1, {"x": [1.5, None, (2,)]}, ("docker", "c.yaml"), {"f": "é"}, "s"
)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_digest_of_a_sample_is_the_digest_of_its_canonical_json() -> None:
    fields = {
        "input": "q",
        "choices": ["a", "b"],
        "target": "A",
        "id": 1,
        "metadata": {"x": [1.5, None, (2,)]},
        "sandbox": ["docker", "c.yaml"],
        "files": {"f": "é"},
        "setup": "s",
    }
    assert sample_digest(FULL).hex() == sha256(canonical_json(fields))


def test_none_fields_do_not_change_the_digest() -> None:
    assert sample_digest(Sample("q")).hex() == sha256(b'{"input":"q","target":""}')


CHANGES: list[dict[str, Any]] = [
    {"input": "other"},
    {"input": [ChatMessageUser(content="q")]},
    {"choices": ["b", "a"]},
    {"target": ["A"]},
    {"id": "1"},
    {"metadata": {"x": [1.5, None, [2]]}},
    {"sandbox": SandboxEnvironmentSpec("docker")},
    {"files": {}},
    {"setup": ""},
    {"description": ""},
    {"checkpoint": CheckpointSampleConfig()},
]


def test_every_trigger_of_a_checkpoint_has_its_own_digest() -> None:
    triggers = [None, TurnInterval(5), TokenInterval(5)]
    samples = [Sample("q", checkpoint=CheckpointSampleConfig(trigger)) for trigger in triggers]
    assert len(set(map(sample_digest, samples))) == len(triggers)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_every_field_changes_the_digest(change: dict[str, Any]) -> None:
    assert sample_digest(FULL.model_copy(update=change)) != sample_digest(FULL)


def test_message_content_changes_the_digest_but_ids_do_not() -> None:
    def digest(text: str, name: str | None) -> bytes:
        content: Any = [ContentText(text=text)]
        return sample_digest(Sample([ChatMessageUser(content=content, id=name)]))

    assert digest("x", None) == digest("x", None) == digest("x", "mine")
    assert digest("x", None) != digest("y", None)


def test_values_beyond_json_and_half_surrogates_have_digests() -> None:
    metadata = {"nan": math.nan, "bytes": b"\xff"}
    assert sample_digest(Sample("q", metadata=metadata)) == sample_digest(
        Sample("q", metadata=dict(reversed(metadata.items())))
    )
    assert len(sample_digest(Sample("q").model_copy(update={"input": "\ud800"}))) == 32


A, B, C = (Sample(name) for name in "abc")


def test_digests_of_a_dataset() -> None:
    each = [sample_digest(sample) for sample in (B, A, B)]
    digest = digest_samples(iter([B, A, B]))
    assert (digest.samples, digest.each) == (3, b"".join(each))
    assert digest.ordered == f"sha256:{sha256(b''.join(each))}"
    assert digest.unordered == f"sha256:{sha256(b''.join(sorted(each)))}"
    assert digest_samples([]).ordered == digest_samples([]).unordered == f"sha256:{sha256(b'')}"


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ([], [], 0),
        ([A, B], [B, A], 0),
        ([A, B], [A, C], 1),
        ([A], [A, B, C], 2),
        ([A, A, B], [A], 2),
        ([A, A], [A, B, C], 2),
    ],
)
def test_changed_samples_are_counted(old: list[Sample], new: list[Sample], count: int) -> None:
    assert changed_samples(digest_samples(old), digest_samples(new)) == count
