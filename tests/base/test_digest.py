"""Values round-trip through JSON, and digests do not depend on the machine."""

from __future__ import annotations

import datetime as dt
import enum
import json
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.digest import (
    are_plain,
    canonical_json,
    decode_value,
    digest_of,
    encode_value,
    from_json,
    to_json,
)

UTC = dt.UTC
NAIVE = dt.datetime(2020, 1, 2, 3, 4, 5, 6)  # noqa: DTZ001 (records hold such times)

ENCODED: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (-(2**70), -(2**70)),
    ("é\0", "é\0"),
    (0.5, 0.5),
    (-0.0, -0.0),
    (math.inf, {"$float": "inf"}),
    (-math.inf, {"$float": "-inf"}),
    ([1, [None]], [1, [None]]),
    ((1, ("x",)), {"$tuple": [1, {"$tuple": ["x"]}]}),
    ({"b": 1, "a": {}}, {"b": 1, "a": {}}),
    ({1: "x"}, {"$dict": [[1, "x"]]}),
    ({"$date": "x"}, {"$dict": [["$date", "x"]]}),
    ({("a", 1): [2]}, {"$dict": [[{"$tuple": ["a", 1]}, [2]]]}),
    (NAIVE, {"$datetime": "2020-01-02T03:04:05.000006"}),
    (dt.datetime(2020, 1, 2, tzinfo=UTC), {"$datetime": "2020-01-02T00:00:00+00:00"}),
    (dt.date(2020, 1, 2), {"$date": "2020-01-02"}),
    (dt.time(3, 4), {"$time": "03:04:00"}),
    (dt.timedelta(-1, 5, 7), {"$timedelta": [-1, 5, 7]}),
    (Decimal("1.50"), {"$decimal": "1.50"}),
    (b"\xff\0", {"$bytes": "/wA="}),
]


@pytest.mark.parametrize(("value", "encoded"), ENCODED, ids=lambda one: repr(one)[:30])
def test_each_type_has_a_json_form(value: Any, encoded: Any) -> None:
    assert repr(encode_value(value)) == repr(encoded)
    assert repr(decode_value(encoded)) == repr(value)
    assert repr(from_json(to_json(value))) == repr(value)


def test_nan_round_trips() -> None:
    assert encode_value([math.nan]) == [{"$float": "nan"}]
    assert math.isnan(from_json(to_json(math.nan)))


_values = st.recursive(
    st.one_of(
        *[st.none(), st.booleans(), st.integers(), st.text(), st.binary(), st.floats()],
        *[st.decimals(), st.dates(), st.timedeltas()],
        # Which of two equal times at the end of summer time is meant has no form in ISO 8601.
        st.one_of(st.datetimes(), st.times()).map(lambda time: time.replace(fold=0)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=3), st.just("$float")), inner, max_size=3),
        st.dictionaries(st.integers(), inner, max_size=3),
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(_values)
def test_any_value_round_trips(value: Any) -> None:
    assert repr(from_json(to_json(value))) == repr(value)


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


_ODD = [Colour.RED, Level.HIGH, {True: 1}, {"$x": 1}, {"a": ["$x"]}]


@settings(deadline=None)
@given(st.lists(st.one_of(_values, st.sampled_from(_ODD)), max_size=3))
def test_values_are_plain_if_they_are_encoded_as_they_are(values: list[Any]) -> None:
    assert are_plain(values) == (repr(encode_value(values)) == repr(values))


def test_a_list_in_itself_is_not_plain() -> None:
    value: list[Any] = []
    value.append(value)
    assert not are_plain([value])


@pytest.mark.parametrize(
    ("value", "plain"),
    [(Colour.RED, "red"), (Level.HIGH, 3), ([Colour.RED], ["red"]), ({"x": Level.HIGH}, {"x": 3})],
)
def test_a_subclass_is_stored_as_its_base_type(value: Any, plain: Any) -> None:
    assert repr(encode_value(value)) == repr(plain)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "a value of type object can't be stored"),
        ([{1, 2}], "a value of type set can't be stored"),
        ({"x": 1j}, "a value of type complex can't be stored"),
        (
            pa.scalar(1, pa.timestamp("ns")).as_py(),
            "a time finer than microseconds can't be stored",
        ),
        (
            (pa.scalar(1, pa.duration("ns")).as_py(),),
            "a time finer than microseconds can't be stored",
        ),
    ],
    ids=lambda one: str(one)[:20],
)
def test_value_that_can_not_be_restored_is_an_error(value: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        encode_value(value)
    assert str(caught.value) == message


def test_json_keeps_the_order_of_keys_and_canonical_json_sorts_them() -> None:
    value = {"b": [1, "é"], "a": {"d": None, "c": True}}
    assert to_json(value) == '{"b":[1,"é"],"a":{"d":null,"c":true}}'
    assert canonical_json(value) == '{"a":{"c":true,"d":null},"b":[1,"é"]}'.encode()


def test_lone_surrogate_has_a_digest() -> None:
    assert canonical_json("\ud800") == b'"\xed\xa0\x80"'
    assert digest_of("\ud800") != digest_of("\ud801")


# Digests that older versions wrote into caches and lockfiles.
@pytest.mark.parametrize(
    ("value", "digest"),
    [
        ({}, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        (
            {"b": 1, "a": [2.5, None]},
            "08d9616942a2aff32ac921c44d8254103290da32732ca3d47a30ad892fcc5d90",
        ),
    ],
)
def test_a_digest_is_the_sha256_of_canonical_json(value: Any, digest: str) -> None:
    assert digest_of(value) == f"sha256:{digest}"


# Keys that start with `$` are written as a list of pairs, in their order.
@settings(deadline=None)
@given(st.dictionaries(st.text("abé", max_size=3), st.integers(), max_size=5))
def test_the_order_of_keys_does_not_change_the_digest(value: dict[str, int]) -> None:
    backwards = dict(reversed(value.items()))
    assert digest_of(backwards) == digest_of(value)
    assert json.loads(canonical_json(value)) == value
