"""Attack 10: a host whose answer never ends, which filled the disk of whoever reads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git_repository import write_files
from tests.security.measured import run_measured
from tests.servers.answers import AnswerServer, Asked, Script

LARGEST = 300_000_000


@pytest.mark.parametrize(
    ("lines", "pause", "limit", "message"),
    [
        (1 << 18, 0.0, "unpacked_bytes: 20MB", "the file has more than 20,000,000 bytes"),
        (1, 0.2, "seconds: 2", "the transfer takes more than 2 seconds"),
    ],
)
def test_an_answer_without_end_is_refused(
    tmp_path: Path, lines: int, pause: float, limit: str, message: str
) -> None:
    sent: list[int] = []

    def endless(_: Asked) -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        while sum(sent) < LARGEST:
            yield b"1,2\n" * lines
            sent.append(4 * lines)
            yield pause

    with AnswerServer({"/x.csv": Script(endless)}) as server:
        url = f"{server.url}/x.csv"
        source = f"{{type: csv, path: '{url}', fieldnames: [q, a]}}"
        dataset = f"{{source: {source}, fields: {{input: q, target: a}}}}"
        index = f"version: 1\nlimits: {{{limit}}}\ndatasets: {{d: {dataset}}}\n"
        catalog = write_files(tmp_path / "catalog", {"datasets.yaml": index})
        cache = tmp_path / "cache"
        result = run_measured(catalog, "sync", cache=cache, timeout=60)
    assert result.code == 1
    assert f"error: d: {url}: {message} (`limits: " in result.text
    assert sum(sent) < LARGEST
    kept = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
    assert kept < 1_000_000
