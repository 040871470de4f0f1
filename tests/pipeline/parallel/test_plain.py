"""A mapper alone gives the rows of the row pipeline, or leaves the records to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as replaced

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode.stream import SourceBytes
from registry.errors import MappingError
from registry.mapping.sizes import sample_size
from registry.pipeline import row_pipeline as rows
from registry.pipeline.parallel import plain
from registry.pipeline.parallel.plain import is_plain, map_plainly
from registry.pipeline.pipeline import PipelineState, compile_pipeline
from registry.samples.fields import NAMES
from registry.samples.sample import Sample
from registry.sources.pins import Pins, SourceContext
from registry.store.columns import (
    batch_of,
    common_keys,
)
from registry.store.schema import (
    metadata_type_of,
)
from tests.pipeline.parallel.conftest import Builds, MakeBuilds

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


def test_later_chunks_are_larger_unless_samples_are_large(builds: MakeBuilds) -> None:
    many = "".join(LINES * 6).encode()
    assert mapped(builds(many, code=CODE)) == ([512, 4096, 1392], 6001)
    large = '{"q": "x", "times": 30000}\n' * 1100
    assert mapped(builds(large.encode(), code=CODE)) == ([512, 556, 32], 1101)


@pytest.mark.parametrize(
    ("line", "is_mapped"),
    [("", True), ('{"q": "x", "listed": 1}\n', False), ('{"q": "x", "times": 2000}\n', False)],
)
def test_each_sample_of_a_larger_chunk_is_checked(
    builds: MakeBuilds, line: str, is_mapped: bool
) -> None:
    built = builds("".join([*LINES * 2, line, *LINES[:9]]).encode(), code=CODE)
    assert (mapped(built, sample_bytes=1000) is not None) == is_mapped


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
METADATA = st.dictionaries(st.text(max_size=3).filter(lambda key: key[:1] != "$"), VALUES)


@given(
    st.lists(
        st.builds(
            Sample,
            input=st.text(),
            choices=st.none() | st.lists(st.text(), max_size=3),
            target=st.text() | st.lists(st.text(), max_size=3),
            id=st.none() | st.integers(0, 9) | st.text(),
            metadata=st.none() | METADATA | st.just({"a": 1, "b": None, "c": ["x", None]}),
            files=st.none() | st.dictionaries(st.text(), st.text(), max_size=2),
            setup=st.none() | st.text(),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_small_rows_have_no_larger_sample(samples: list[Sample]) -> None:
    values = [vars(sample) for sample in samples]
    metadata = [item["metadata"] for item in values]
    types = {
        key: metadata_type_of([item[key] for item in metadata]) for key in common_keys(metadata)
    }
    fields = {name: [item[name] for item in values] for name in NAMES}
    batch = batch_of(fields, range(len(samples)), types)
    assert not plain._are_small(batch, max(map(sample_size, values)) - 1)
    assert plain._are_small(batch, 1 << 28)


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
