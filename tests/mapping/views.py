"""Columns of every type that a source may have, as a view of records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from registry.decode.frame import Frame
from registry.mapping.record_batch import RecordBatchView

ODD = ["x", "", " \x1f\tÄ ", "\u3000", "ß", "aXbX", "\0", "\U0001f600", "10"]
ASCII = ["x", "", " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f ", " A b ", "aXbX", "\0", "Z", "10", "~"]
COUNT = len(ODD)

COLUMNS: dict[str, pa.Array] = {
    "text": pa.array(ODD),
    "large": pa.array(ODD, pa.large_string()),
    "ascii": pa.array(ASCII),
    "sliced": pa.array(["before", *ODD, "behind"])[1:-1],
    "nulls": pa.array([None, *ODD[1:]]),
    "none": pa.nulls(COUNT, pa.string()),
    "empty": pa.nulls(COUNT),
    "int8": pa.array(range(COUNT), pa.int8()),
    "int": pa.array([-1, 0, 2**63 - 1, -(2**63), *range(COUNT - 4)]),
    "place": pa.array([99, *range(COUNT)], pa.int32())[1:],
    "uint64": pa.array([2**64 - 1, *range(COUNT - 1)], pa.uint64()),
    "float": pa.array([0.5] * COUNT),
    "float32": pa.array([0.1, None] + [1.0] * (COUNT - 2), pa.float32()),
    "flag": pa.array([True, None] + [False] * (COUNT - 2)),
    "dictionary": pa.array(ODD).dictionary_encode(),
    "view": pa.array(ODD, pa.string_view()),
    "texts": pa.array([["a", " "], [], ["", "b", ""], None, ["c"], ["é", "\u3000"], *[["x"]] * 3]),
    "filled": pa.array(
        [["a", " "], [], ["", "b", ""], ["d"], ["c"], ["é", "\u3000"], *[["x"]] * 3]
    ),
    "holes": pa.array([["a", None]] * COUNT),
    "numbers": pa.array([[1, 2]] * COUNT),
    "deep": pa.array([{"x": {"y": text}, "z": None} for text in ODD]),
}


def view_of(**columns: pa.Array) -> RecordBatchView:
    chosen = columns or COLUMNS
    batch = pa.record_batch(list(chosen.values()), list(chosen))
    return RecordBatchView(Frame(batch), {"constant": "k"}, np.arange(7, 7 + batch.num_rows))
