"""The queue that workers share with the process of the build."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.manifest.models import to_spec
from registry.pipeline.parallel.crew import Block, Crew, Trial
from registry.pipeline.parallel.shard import Lines, Mapped, Setup
from registry.store.schema import (
    schema_of,
    with_all_columns,
)

TYPES: Any = {"k": "int"}


def block(number: int, *, is_last: bool = False) -> Block:
    text = f'{{"parts": ["q{number}"], "k": {number}}}\n'.encode()
    return Block(Lines(text, number, 1), 0, is_last)


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    """A crew for exploded records."""
    keys: dict[str, Any] = {"name": "d", "folder": tmp_path, "explode": {"column": "parts"}}
    fields = {"input": "item", "metadata": ["k"]}
    source = {"type": "json", "path": ["d.jsonl"]}
    spec = to_spec({**keys, "source": source, "fields": fields})
    return Crew(Setup(spec, UNBOUNDED, frozenset(), names_files=False))


def trial(k: int) -> Trial:
    data = {"record": [1], "input": ["q1"], "target": [""], "metadata_values": [{"k": k}]}
    rows = with_all_columns(pa.RecordBatch.from_pydict(data), schema_of(TYPES))
    return Trial(block(1).lines, 0, rows, TYPES, frozenset())


def test_without_workers_blocks_are_taken_in_order(crew: Crew) -> None:
    blocks = [block(1), block(2)]
    for one in blocks:
        crew.offer(one)
    assert [crew.take(blocks[0], seconds=0) for _ in range(3)] == [*blocks, None]
    crew.offer(blocks[0])
    blocks[0].done = True
    assert crew.take(blocks[0], seconds=60) is None
    crew.withdraw()
    assert crew.take(blocks[1], seconds=0) is None
    assert crew.most_blocks == 1


def test_workers_map_what_is_offered(crew: Crew) -> None:
    blocks = [block(number) for number in range(1, 9)]
    crew.start(2, trial(1))
    assert crew.most_blocks == 7
    for one in blocks:
        crew.offer(one)
    try:
        for one in blocks:
            with crew._changed:
                assert crew._changed.wait_for(partial(getattr, one, "done"), 60)
    finally:
        crew.end()
    found = [
        one.mapped.rows for one in blocks if isinstance(one.mapped, Mapped) and one.mapped.rows
    ]
    assert [rows.column("record").to_pylist() for rows in found] == [[n] for n in range(1, 9)]
    assert len(set(crew.process_ids)) == 2


def test_a_worker_that_gives_other_rows_is_not_used(
    crew: Crew, caplog: pytest.LogCaptureFixture
) -> None:
    one = block(1)
    crew.start(1, trial(2))
    crew._threads[0].join()
    crew.offer(one)
    assert crew.take(one, seconds=0) is one
    crew.end()
    assert "records 1 to 1 differ in another process" in caplog.text


def test_the_end_does_not_wait_for_workers_that_start(
    crew: Crew, caplog: pytest.LogCaptureFixture
) -> None:
    crew.start(2, trial(1))
    crew.end()
    assert not any(thread.is_alive() for thread in crew._threads)
    assert caplog.text == ""
