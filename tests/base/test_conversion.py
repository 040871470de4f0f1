"""Conversions: the Struct that data describes, also for threads that start at the same time."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import msgspec
import pytest

from registry.base.conversion import convert, decode_json

THREADS = """
import sys, threading
from pathlib import Path
from registry.manifest.models import to_spec

sys.setswitchinterval(1e-6)
barrier = threading.Barrier(4)
results = []

def work():
    source = {"type": "csv", "path": ["questions.csv"]}
    barrier.wait()
    results.append(to_spec({"name": "qa", "folder": Path("/data"), "source": source}))

threads = [threading.Thread(target=work) for _ in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
assert len(results) == 4
"""


class Inner(msgspec.Struct):
    number: int


class Outer(msgspec.Struct):
    inner: Inner


class Other:
    pass


class Holder(msgspec.Struct):
    other: Other


@pytest.mark.parametrize("times", [1, 2])
def test_data_and_json_become_structs_or_are_an_error(times: int) -> None:
    for _ in range(times):
        assert convert({"inner": {"number": 1}}, Outer) == Outer(Inner(1))
        assert decode_json(b'{"inner": {"number": 1}}', Outer) == Outer(Inner(1))
        with pytest.raises(msgspec.ValidationError, match="Expected `int`"):
            convert({"inner": {"number": "one"}}, Outer)
        with pytest.raises(msgspec.ValidationError, match="Expected `int`"):
            decode_json(b'{"inner": {"number": "one"}}', Outer)


def test_a_hook_may_convert() -> None:
    def hook(expected: type, data: Any) -> Any:
        assert convert(data, Inner) == Inner(1)
        return Other()

    assert isinstance(convert({"other": {"number": 1}}, Holder, dec_hook=hook).other, Other)


def test_threads_may_be_the_first_to_convert() -> None:
    """Without the lock, every fifth of these processes ends with a segmentation fault."""
    for _ in range(10):
        subprocess.run([sys.executable, "-c", THREADS], check=True, timeout=60)
