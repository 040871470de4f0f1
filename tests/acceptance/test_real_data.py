"""Published files unchanged, compressed and re-encoded."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from registry import get_dataset

REPOSITORY = Path(__file__).parents[2]
MARK = b"\xef\xbb\xbf"


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def with_crlf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


# File suffix, and the conversion of the published bytes; the samples are the same.
FORMS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "as published": ("", bytes),
    "CRLF": ("", with_crlf),
    "byte-order mark": ("", lambda data: MARK + data),
    "no last line break": ("", lambda data: data.rstrip(b"\r\n")),
    "blank lines at the end": ("", lambda data: data + b"\n\n"),
    "gz": (".gz", gzip.compress),
    "bz2 of CRLF": (".bz2", lambda data: bz2.compress(with_crlf(data))),
    "xz": (".xz", lambda data: lzma.compress(data, preset=0)),
    "zst": (".zst", zstd),
}


@pytest.mark.parametrize("form", FORMS)
def test_gsm8k_loads_from_every_file_format(shared_data: Path, tmp_path: Path, form: str) -> None:
    suffix, change = FORMS[form]
    published = (shared_data / "gsm8k-test.jsonl").read_bytes()
    file = tmp_path / f"gsm8k.jsonl{suffix}"
    file.write_bytes(change(published))
    records = [json.loads(line) for line in published.splitlines()]
    dataset = get_dataset("gsm8k", root=REPOSITORY, source=str(file))
    assert len(dataset) == 1319
    assert (dataset[0].target, dataset[-1].target) == ("18", "14")
    for record, sample in zip(records, dataset, strict=True):
        reasoning, _, number = record["answer"].rpartition("####")
        digest = hashlib.md5(record["question"].encode()).hexdigest()[:8]
        assert sample.input == record["question"]
        assert sample.target == number.strip()
        assert sample.id == f"gsm8k_{digest}"
        assert sample.metadata == {"reasoning": reasoning.strip()}


def test_humaneval_loads_as_published(shared_data: Path) -> None:
    file = shared_data / "HumanEval.jsonl.gz"
    records = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    dataset = get_dataset("humaneval", root=REPOSITORY, source=str(file))
    assert len(dataset) == 164
    assert (dataset[0].id, dataset[163].id) == ("HumanEval/0", "HumanEval/163")
    for record, sample in zip(records, dataset, strict=True):
        assert sample.input == record["prompt"]
        assert sample.target == record["canonical_solution"]
        assert sample.metadata == {key: record[key] for key in ("prompt", "test", "entry_point")}
