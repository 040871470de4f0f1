"""A frame per part of a file, from the decoder of the source's type."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from registry import decode as module
from registry.decode import DECODERS
from registry.manifest.source_models import JsonSource
from tests.decode.frames import frames_of, read

LINES = b'{"q": "x", "a": 1}\n{"q": "y"}\n'


def test_every_type_of_source_has_both_decoders() -> None:
    assert DECODERS.keys() == module.TABLE_DECODERS.keys()


@pytest.mark.parametrize(
    ("name", "data"), [("d.csv", b"q,a\nx,1\n"), ("d.jsonl", b'{"q": "x", "a": "1"}\n')]
)
def test_the_type_of_the_source_decides_the_decoder(tmp_path: Path, name: str, data: bytes) -> None:
    wanted = frozenset({"q", "a"})
    assert read(tmp_path, data, name, wanted) == ([{"q": "x", "a": "1"}], "")


def test_format_without_a_columnar_decoder_is_not_columnar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(module.TABLE_DECODERS, "json")
    path = tmp_path / "d.jsonl"
    path.write_bytes(LINES)
    frames, error = frames_of(path, JsonSource(path=(str(path),)))
    assert (frames, error) == ([], "json is decoded record by record")


def test_import_does_not_load_pyarrow_readers() -> None:
    code = (
        "import json, sys, registry.decode;"
        "print(json.dumps([name for name in sys.modules if name.startswith('pyarrow')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert json.loads(done.stdout) == []
