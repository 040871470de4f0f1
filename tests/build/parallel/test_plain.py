"""A mapper alone gives the rows of the row pipeline, or leaves the records to it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace as replaced

from registry.boundary.boundary import UNBOUNDED
from registry.build import row_pipeline as rows
from registry.build.parallel import plain
from registry.build.parallel.plain import is_plain, map_plainly
from registry.build.pipeline import PipelineState, compile_pipeline
from registry.cache.cache import Cache
from registry.decode.stream import SourceBytes
from registry.errors import MappingError
from registry.sources.pins import Pins, SourceContext
from tests.build.parallel.conftest import Builds, MakeBuilds

CODE = """
from registry import Sample
def f(record):
    sample = Sample(input=record["q"] * record.get("times", 1), metadata={"x": record.get("x")})
    return [sample] if record.get("listed") else sample
"""
LINES = [f'{{"q": "q{number}"}}\n' for number in range(1000)]


def mapped(built: Builds, **limits: int) -> tuple[list[int], int] | None:
    """Return the sizes of the batches and the next record."""
    context = SourceContext(boundary=UNBOUNDED, cache=Cache(built.folder))
    pipeline = compile_pipeline(built.spec, Pins(()), context)
    assert is_plain(built.spec, pipeline)
    path = built.folder / "0.jsonl"
    state = PipelineState(limits=replaced(UNBOUNDED.limits, **limits))
    found = map_plainly(SourceBytes.of_file(str(path), path), built.spec.source, pipeline, state)
    return None if found is None else ([len(batch) for batch in found], state.next_record)


def test_records_are_mapped_in_chunks(builds: MakeBuilds) -> None:
    assert mapped(builds("".join(LINES).encode(), code=CODE)) == ([512, 488], 1001)


def test_large_samples_make_small_chunks(
    builds: MakeBuilds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain, "CHUNK_BYTES", 1000)
    large = '{"q": "x", "times": 700}\n' * 5
    assert mapped(builds(large.encode(), code=CODE)) == ([2, 2, 1], 6)
    assert rows.CHUNK_BYTES > 1000


@pytest.mark.parametrize("chunk", [1000, 1 << 25])
def test_many_large_samples_are_left_to_the_row_pipeline(
    builds: MakeBuilds, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    large = builds(b'{"q": "x", "times": 700}\n' * 50, code=CODE)
    monkeypatch.setattr(plain, "CHUNK_BYTES", chunk)
    assert mapped(large) is not None
    monkeypatch.setattr(plain, "MOST_BYTES", 20_000)
    assert mapped(large) is None


def test_first_records_determine_the_types_as_in_the_row_pipeline(builds: MakeBuilds) -> None:
    late = [f'{{"q": "q{number}", "x": {number}}}\n' for number in range(600, 610)]
    built = builds("".join([*LINES[:600], *late]).encode(), code=CODE)
    assert built.result(1) == built.result(0)


@pytest.mark.parametrize("line", ['{"q": "x", "listed": 1}\n', '{"q": "x", "times": 2000}\n'])
def test_other_results_are_left_to_the_row_pipeline(builds: MakeBuilds, line: str) -> None:
    built = builds("".join([*LINES[:3], line]).encode(), code=CODE)
    assert mapped(built, sample_bytes=1000) is None


def test_an_error_is_left_to_the_row_pipeline(builds: MakeBuilds) -> None:
    with pytest.raises(MappingError, match="KeyError"):
        mapped(builds(b"{}\n", code=CODE))


def test_steps_besides_the_mapper_are_not_plain(builds: MakeBuilds) -> None:
    built = builds(b"{}\n", code=CODE, explode={"column": "q"})
    context = SourceContext(boundary=UNBOUNDED, cache=Cache(built.folder))
    assert not is_plain(built.spec, compile_pipeline(built.spec, Pins(()), context))
