"""Samples round-trip through Arrow rows, or are an error that names their field."""

from __future__ import annotations

import datetime as dt
import enum
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import BaseModel

from registry import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentAudio,
    ContentDocument,
    ContentImage,
    ContentText,
    ContentVideo,
    MappingError,
    Sample,
    SandboxEnvironmentSpec,
)
from registry.base.digest import from_json, to_json
from registry.samples.checkpoint import (
    ArchiveSnapshots,
    BudgetPercent,
    CheckpointSampleConfig,
    CostInterval,
    Manual,
    ResticSnapshots,
    SandboxSnapshotConfig,
    TimeInterval,
    TokenInterval,
    TurnInterval,
)
from registry.samples.fields import NAMES
from registry.samples.frames.layout import MetadataType
from registry.samples.messages import (
    ContentData,
    ContentReasoning,
    ContentToolUse,
    ToolCall,
    ToolCallContent,
    ToolCallError,
    UrlCitation,
)
from registry.store.columns import batch_of, common_keys, fields_of, to_json_texts
from registry.store.reader import SampleFile
from registry.store.rows import samples_of
from registry.store.schema import MetadataTypeMismatchError
from tests.store.samples_file import rows_of, write_samples

Parts = dict[str, Any]
"""Arguments of a Sample."""


class Colour(str, enum.Enum):  # noqa: UP042  # its `str()` is not its value, which is the point
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


texts = st.text(max_size=8) | st.sampled_from(["", "\x00", "$float", "日本 🦆", "a\r\nb", "\u2028"])
maybe = st.none() | texts
finite = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
"""Values of JSON."""
zones = st.integers(-1439, 1439).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
clocks = st.one_of(
    st.datetimes(), st.datetimes(timezones=zones), st.times(), st.times(timezones=zones)
)
# Without the fold, which ISO 8601 has no sign for, and which no comparison looks at.
moments = clocks.map(lambda clock: clock.replace(fold=0)) | st.dates() | st.timedeltas()
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    texts,
    moments,
    st.decimals(),
    st.binary(max_size=6),
    st.sampled_from([2**64, -(2**70), -0.0, Decimal("1.10"), Decimal("-0E+3")]),
)
keys = texts | st.sampled_from(["$tuple", "$dict", "$float", "$bytes", "$", "$new"])
odd_keys = keys | st.integers() | st.none() | st.dates() | st.tuples(st.integers(), texts)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
        st.dictionaries(odd_keys, inner, max_size=2),
    ),
    max_leaves=8,
)
metadata = st.none() | st.dictionaries(keys, values, max_size=4)

citations = st.builds(UrlCitation, url=texts, title=maybe, cited_text=maybe)
content_parts = st.one_of(
    st.builds(
        ContentText,
        text=texts,
        refusal=st.sampled_from([None, True]),
        citations=st.none() | st.lists(citations, max_size=1),
        internal=st.none() | plain,
    ),
    st.builds(ContentImage, image=texts, detail=st.sampled_from(["auto", "high"])),
    st.builds(ContentAudio, audio=texts, format=st.sampled_from(["wav", "mp3"])),
    st.builds(ContentVideo, video=texts, format=st.sampled_from(["mp4", "mov"])),
    st.builds(ContentDocument, document=texts, filename=texts, mime_type=texts),
    st.builds(ContentReasoning, reasoning=texts, signature=maybe, redacted=st.booleans()),
    st.builds(ContentData, data=st.dictionaries(keys, plain, max_size=2)),
    st.builds(
        ContentToolUse,
        tool_type=st.sampled_from(["web_search", "mcp_call"]),
        id=texts,
        name=texts,
        arguments=texts,
        result=texts,
    ),
)
contents = texts | st.lists(content_parts, max_size=3)
tool_calls = st.builds(
    ToolCall,
    id=texts,
    function=texts,
    arguments=st.dictionaries(keys, values, max_size=2),
    parse_error=maybe,
    view=st.none() | st.builds(ToolCallContent, format=st.just("markdown"), content=texts),
    type=st.sampled_from(["function", "custom"]),
)
errors = st.builds(ToolCallError, type=st.sampled_from(["timeout", "unknown"]), message=texts)
common: dict[str, Any] = {
    "id": maybe,
    "content": contents,
    "source": st.sampled_from([None, "input", "generate"]),
    "metadata": metadata,
}
messages = st.one_of(
    st.builds(ChatMessageSystem, **common),
    st.builds(ChatMessageUser, tool_call_id=st.none() | st.lists(texts, max_size=2), **common),
    st.builds(
        ChatMessageAssistant,
        tool_calls=st.none() | st.lists(tool_calls, max_size=2),
        model=maybe,
        **common,
    ),
    st.builds(
        ChatMessageTool, tool_call_id=maybe, function=maybe, error=st.none() | errors, **common
    ),
)
sandboxes = st.none() | st.builds(SandboxEnvironmentSpec, texts, maybe)
counts = st.integers(0, 2**70)
percent = st.builds(BudgetPercent, st.sampled_from(["token", "time"]), st.floats(0, 100))
triggers = st.one_of(
    st.none(),
    st.just(Manual()),
    st.builds(TurnInterval, counts),
    st.builds(TimeInterval, st.timedeltas()),
    st.builds(TokenInterval, counts),
    st.builds(CostInterval, st.floats(allow_nan=False)),
    percent,
)
paths = st.lists(texts, max_size=2)
snapshots = st.builds(
    SandboxSnapshotConfig,
    st.none() | paths,
    st.sampled_from([None, ResticSnapshots(), ArchiveSnapshots()]),
)
checkpoints = st.builds(
    CheckpointSampleConfig,
    triggers,
    st.none() | st.dictionaries(keys, paths | snapshots, max_size=2),
    st.none() | counts,
)
samples_of_any_form = st.builds(
    Sample,
    input=texts | st.lists(messages, max_size=3),
    choices=st.none() | st.lists(texts, max_size=3),
    target=texts | st.lists(texts, max_size=3),
    id=st.none() | st.integers(-(2**63), 2**63 - 1) | texts,
    metadata=metadata,
    sandbox=sandboxes,
    files=st.none() | st.dictionaries(keys, texts, max_size=2),
    setup=maybe,
    description=maybe,
    checkpoint=st.none() | checkpoints,
)


@pytest.fixture(scope="module")
def samples_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arrow") / "samples.arrow"


def read_rows(file: SampleFile, rows: NDArray[np.int64]) -> Iterator[Sample]:
    """Yield the samples of rows."""
    return chain.from_iterable(samples_of(part, count) for count, part in file.read(rows))


def through_file(samples: Sequence[Sample], path: Path) -> list[Sample]:
    """Write samples to an Arrow file and read them back."""
    path.unlink(missing_ok=True)
    file = write_samples(samples, path)
    found = list(read_rows(file, np.arange(len(samples)))) if samples else []
    one_by_one = [next(read_rows(file, np.array([at]))) for at in range(len(samples))]
    assert repr(one_by_one) == repr(found)
    return found


def assert_equal(found: Any, expected: Any) -> None:
    """Compare values and their types; NaN equals NaN, and 0.0 differs from -0.0."""
    assert repr(found) == repr(expected)
    assert "nan" in repr(expected).lower() or found == expected


@settings(deadline=None, max_examples=150)
@given(samples=st.lists(samples_of_any_form, max_size=3))
def test_any_sample_round_trips_through_a_file(samples_file: Path, samples: list[Sample]) -> None:
    assert_equal(through_file(samples, samples_file), samples)


ABSENT_AND_EMPTY: dict[str, tuple[Any, ...]] = {
    "choices": (None, [], [""]),
    "target": ("", [], [""]),
    "id": (None, "", "1", 1, 0),
    "metadata": (
        *(None, {}, {"a": None}, {"$tuple": [1, 2]}, {"$dict": [["a", 1]]}),
        {"a": {"$float": "1.5"}, "b": [{"$bytes": ""}]},
    ),
    "files": (None, {}),
    "setup": ("",),
    "description": ("",),
    "checkpoint": ({}, {"sandbox_paths": {}}),
    "sandbox": ("docker", ("docker", "compose.yaml"), ""),
}


@pytest.mark.parametrize("prompt", ["", [], "x"])
def test_none_empty_and_missing_remain_distinct(samples_file: Path, prompt: Any) -> None:
    for name, forms in ABSENT_AND_EMPTY.items():
        samples = [Sample(prompt, **{name: form}) for form in forms for _ in range(2)]
        assert_equal(through_file(samples, samples_file), samples)


class SampleOfOlderInspect(BaseModel):
    input: str
    choices: list[str] | None = None
    target: str = ""
    id: int | None = None
    metadata: dict[str, Any] | None = None
    sandbox: None = None
    files: None = None
    setup: str | None = None


def test_a_sample_of_an_older_inspect_has_null_in_later_fields() -> None:
    fields = fields_of(SampleOfOlderInspect(input="q"))  # type: ignore[arg-type]
    assert fields.keys() == set(NAMES)
    assert fields["description"] is fields["checkpoint"] is None


@pytest.mark.parametrize(
    "value",
    [Colour.RED, Level.HIGH, np.str_("text"), np.float64(1.5), np.float64(-0.0), np.float64("inf")],
    ids=repr,
)
@pytest.mark.parametrize("nested", [False, True])
def test_value_of_a_subclass_is_restored_as_equal(
    samples_file: Path, value: Any, nested: bool
) -> None:
    data = {"value": [{"value": value}] if nested else value}
    (found,) = through_file([Sample("x", metadata=data)], samples_file)
    assert found.metadata == data


class Settings(BaseModel):
    image: str = "x"


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        *(
            ({"metadata": {"a": value}}, "metadata")
            for value in ({1}, [2j], object(), bytearray(b"x"), Settings(), np.array([1]), "\ud800")
        ),
        ({"metadata": {"\udfff": 1}}, "metadata"),
        ({"id": 2**63}, "id"),
        ({"id": -(2**63) - 1}, "id"),
        ({"sandbox": SandboxEnvironmentSpec("docker", Settings())}, "sandbox"),
    ],
)
def test_value_that_can_not_be_stored_is_an_error_with_its_field(parts: Parts, field: str) -> None:
    with pytest.raises(MappingError) as raised:
        rows_of([Sample("x", **parts)], {})
    assert raised.value.field == field


@pytest.mark.parametrize("field", ["input", "target", "id", "setup"])
def test_lone_surrogate_is_an_error_with_its_field(field: str) -> None:
    # The model refuses it too, unless a value is set or built without validation.
    sample = Sample("x").model_copy(update={field: "\ud800"})
    with pytest.raises(MappingError, match=f"field {field}: contains half of a surrogate pair"):
        rows_of([sample], {})


def test_metadata_nested_too_deeply_is_an_error_with_its_field() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(MappingError, match="field metadata: can't be cached"):
        rows_of([Sample("x", metadata={"deep": deep})], {})


# --- columns ---


@pytest.mark.parametrize(
    ("metadata", "keys"),
    [
        ([], []),
        ([{"a": 1, "b": 2}, {"a": None, "b": 3}], ["a", "b"]),
        ([{"a": 1, "b": 2}, {"b": 3, "a": 4}], []),
        ([{"a": 1}, None], []),
        ([None, None], []),
        ([{}], []),
        ([{1: "x"}], []),
    ],
)
def test_keys_that_all_samples_have_in_one_order(metadata: list[Any], keys: list[str]) -> None:
    assert common_keys(metadata) == keys


TYPES: dict[str, MetadataType] = {"n": "int", "any": "json"}


@pytest.mark.parametrize(
    ("metadata", "key"),
    [
        ([{"n": 1}], None),
        ([{"any": 1, "n": 2}], None),
        ([None], None),
        ([{"n": "x", "any": 1}], "n"),
        ([{"n": True, "any": 1}], "n"),
        ([{"n": 2**63, "any": 1}], "n"),
    ],
)
def test_metadata_of_other_keys_or_types_is_a_mismatch(metadata: list[Any], key: str) -> None:
    good = {"n": None, "any": None}
    with pytest.raises(MetadataTypeMismatchError) as caught:
        batch_of({"input": ["x", "y"], "metadata": [good, *metadata]}, [1, 2], TYPES)
    assert caught.value.key == key


def test_an_error_has_the_record_of_the_value() -> None:
    with pytest.raises(MappingError) as caught:
        batch_of({"id": [1, 2**64, 2**65]}, [5, 7, 9], {})
    assert str(caught.value) == (
        f"record 7, field id: an id must fit in 64 bits or be a str, value: {2**64}"
    )


# Enums are stored as their values.
any_values = st.recursive(
    values | st.sampled_from([Colour.RED, Level.HIGH, {Colour.RED: 1}, {True: 1}, ["$x"]]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=4,
)
NUMBERS = [1e16, -0.0, 1e-7, 5e-324, 1e22, 1.7976931348623157e308, 2**64, -(2**63) - 1, 10**4000]


def restored(column: pa.Array) -> list[Any]:
    column.validate(full=True)
    assert column.type == pa.large_string()
    return [None if text is None else from_json(text) for text in column.to_pylist()]


@settings(deadline=None, max_examples=300)
@given(st.lists(any_values, max_size=4))
def test_any_values_are_restored_as_by_value(values: list[Any]) -> None:
    expected = [None if value is None else from_json(to_json(value)) for value in values]
    assert repr(restored(to_json_texts(values))) == repr(expected)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: repr(number)[:20])
def test_numbers_are_restored_exactly(number: float) -> None:
    assert repr(restored(to_json_texts([number, [number]]))) == repr([number, [number]])


@pytest.mark.parametrize("odd", [math.nan, -math.inf, (1.5,), b"x"], ids=repr)
def test_an_odd_value_among_plain_ones_is_restored(odd: Any) -> None:
    for values in ([1.5, odd], [{"a": 1.5}, {"a": [odd, 2.5]}]):
        assert repr(restored(to_json_texts(values))) == repr(values)


def test_keys_that_start_like_a_tag_are_restored_from_plain_values() -> None:
    values = [{"$float": "inf"}, {"a": [{"$dict": []}]}, {"a": "$x"}, None]
    assert restored(to_json_texts(values)) == values


@pytest.mark.parametrize(("value", "error"), [("\ud800", UnicodeEncodeError), ({1}, TypeError)])
def test_a_value_that_has_no_text_is_an_error(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        to_json_texts([[value]])


@pytest.mark.parametrize("value", [None, {"a": [1.5, "é"]}, {"$x": 1}, (1,), "$"])
def test_a_value_that_records_share_is_restored_for_each(value: Any) -> None:
    for values in ([value] * 5, [value, {"b": 1}, value]):
        assert restored(to_json_texts(values)) == values
