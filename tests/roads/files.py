"""Files of every form: mostly sound ones, and some with one of the faults that files have."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from tests.roads.fields import COLUMNS, dataset_keys
from tests.roads.outcome import Case

__all__ = ["arrow_cases", "csv_cases", "json_cases"]

_texts = st.sampled_from(
    [
        *["x", "y", "z", "A", "B", "1", "0", "é", "ß\u0130", "  x ", "a,b", "x y", "docker"],
        *[
            "",
            " ",
            "\u3000",
            "\x1f x",
            "\U0001f600",
            "\0",
            "\u2028",
            "\ufeffx",
            "#",
            '{"x": 1}',
            "[1]",
        ],
    ]
)
_some = st.sampled_from([*[True] * 7, False])
_seldom = st.sampled_from([*[False] * 19, True])
_rarely = st.sampled_from([*[False] * 9, True])
_sizes = {"block": st.sampled_from([32, 64, 200, 1 << 16]), "rows": st.sampled_from([1, 2, 3, 100])}
_limits = st.sampled_from([*[None] * 7, 0, 1, 2, 3])


def _case(draw: st.DrawFn, data: bytes, name: str, source: dict[str, Any], **fixed: Any) -> Case:
    sizes = {key: draw(values) for key, values in _sizes.items()}
    if draw(_rarely):
        source["columns"] = draw(st.sampled_from([{"k": "x"}, {"a": 1}, {"k": [1], "q": None}]))
    keys = draw(dataset_keys())
    return Case(data, name, source, keys, **{"limit": draw(_limits), **sizes, **fixed})


# --- JSON Lines ---

_quoted = st.one_of(
    _texts.map(json.dumps), _texts.map(lambda text: json.dumps(text, ensure_ascii=False))
)
_visible = st.sampled_from([json.dumps(text) for text in ("x", "y", "zé", "A b", "\U0001f600")])
_whole = st.sampled_from(["0", "1", "2", "-1", "25", "-0", str(2**63 - 1), str(-(2**63))])
_real = st.sampled_from(["0.5", "-1.25", "1e-7", "0.1000000000000000055511151231257827", "3.14"])
_flags = st.sampled_from(["true", "false"])
_odd = st.sampled_from(
    [
        *[
            "null",
            "1.0",
            "1e2",
            "1E400",
            "-1e400",
            "-0.0",
            "NaN",
            "Infinity",
            "-Infinity",
            "Inf",
            "-NaN",
            "-Inf",
        ],
        *[
            str(2**63),
            str(-(2**63) - 1),
            "1" * 640,
            "1" * 5000,
            "0." + "1" * 5000,
            "01",
            "+1",
            ".5",
            "1.",
            "nul",
            "",
            "'x'",
        ],
        *[
            '"\\ud800"',
            '"\\udc00x"',
            '"\\ud83d\\ude00"',
            '"\\u0000"',
            '"a\tb"',
            '"\x01"',
            '"\\x"',
            '"\\/"',
            '"',
            '"x"1',
            '"Inf"',
            '"-NaN"',
            '"Infx"',
        ],
        *[
            "[" * 40 + "]" * 40,
            '{"x": {"y": 1}}',
            '{"x": "y", "x": 2}',
            '[1, "x"]',
            "[[]]",
            "[null]",
            "[]",
            "{}",
        ],
        *['[{"role": "user", "content": "x"}]', '{"x": NaN}', "[-NaN]", "[Inf]", "\x00", "1} {"],
    ]
)


def _listed(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tokens = st.sampled_from([*[items] * 9, st.just("null")]).flatmap(lambda chosen: chosen)
    return st.lists(tokens, max_size=3).map(lambda parts: f"[{', '.join(parts)}]")


_objects = st.one_of(_quoted, _whole, st.just("null")).map(lambda token: f'{{"x": {token}}}')
_TOKENS = (
    _quoted,
    _visible,
    _visible,
    _whole,
    _whole,
    _real,
    _flags,
    _listed(_quoted),
    _listed(_whole),
    _objects,
)
_keys = {name: st.sampled_from([*[f'"{name}"'] * 12, f'"\\u{ord(name):04x}"']) for name in COLUMNS}
_JSON_NAMES = st.sampled_from([*["d.jsonl"] * 15, "d.ndjson", "d.jsonl.gz", "d.json"])


@st.composite
def json_cases(draw: st.DrawFn) -> Case:
    """Draw a file of JSON Lines."""
    tokens = {name: draw(st.sampled_from(_TOKENS)) for name in COLUMNS}
    tokens["q"] = draw(st.sampled_from([_visible, _visible, _visible, _quoted]))
    lacking = draw(st.sampled_from([(), (), COLUMNS[1:], "a", "n"]))
    odd = draw(st.sampled_from([-1, -1, -1, -1, -1, 0, 1, 2, 5]))
    lines = [
        _json_line(draw, tokens, lacking, odd=place == odd)
        for place in range(draw(st.integers(0, 12)))
    ]
    if lines and draw(_seldom):
        _spoil_line(draw, lines)
    end = draw(st.sampled_from([*["\n"] * 16, *["\r\n"] * 4, "\r", "\n\n", "\n \n"]))
    text = end.join(lines) + draw(st.sampled_from([end, end, "", "\n\n"]))
    data = _spoilt(draw, text.encode("utf-8", "surrogatepass"))
    fixed = _unlimited_if_odd(data)
    name = draw(_JSON_NAMES)
    if name.endswith(".gz"):
        import gzip

        data = gzip.compress(data, 1)
    encoding = draw(st.sampled_from([*["utf-8"] * 19, "latin-1"]))
    return _case(draw, data, name, {"type": "json", "encoding": encoding}, **fixed)


def _json_line(
    draw: st.DrawFn,
    tokens: dict[str, st.SearchStrategy[str]],
    lacking: Sequence[str],
    *,
    odd: bool,
) -> str:
    pairs = []
    for name, values in tokens.items():
        if name not in lacking or draw(_some):
            pairs.append(f"{draw(_keys[name])}: {draw(values)}")
    if odd:
        pairs.append(f'"{draw(st.sampled_from([*COLUMNS, "other", "k", "m.x"]))}": {draw(_odd)}')
    return f"{{{', '.join(pairs)}}}"


def _spoil_line(draw: st.DrawFn, lines: list[str]) -> None:
    place = draw(st.integers(0, len(lines) - 1))
    line = lines[place]
    lines[place] = draw(
        st.sampled_from(
            [
                *[
                    "",
                    " ",
                    "\u3000",
                    f" {line}",
                    f"{line} ",
                    f"{line} {line}",
                    f"{line}\0",
                    f"{line}\0}}",
                ],
                *[
                    f"{line}, {line}",
                    line.replace(", ", ",\n", 1),
                    line[:-1],
                    line[1:],
                    line[: len(line) // 2],
                ],
                *[
                    "[]",
                    "1",
                    "null",
                    '"x"',
                    "{}",
                    "{ }",
                    "{} {}",
                    "{}{}",
                    f"\ufeff{line}",
                    "x",
                    f"[{line}]",
                ],
                *['{"q": "x"}\x0c', "\x1f", "{\n}", f"{line}\n\n\n", "<html>"],
            ]
        )
    )


def _spoilt(draw: st.DrawFn, data: bytes) -> bytes:
    """Put in a byte-order mark, or bytes that are none of UTF-8, or neither."""
    if not draw(_seldom):
        return data
    place = draw(st.integers(0, len(data)))
    odd = draw(st.sampled_from([b"\xff", b"\xed\xa0\x80", b"\xc3", b"\xe9", b"\0"]))
    spoilt = data[:place] + odd + data[place:]
    return draw(
        st.sampled_from(
            [b"\xef\xbb\xbf" + data, b"\xef\xbb\xbf" * 2 + data, spoilt, spoilt, data[:place]]
        )
    )


def _unlimited_if_odd(data: bytes) -> dict[str, Any]:
    """Take a limit away where bytes are no UTF-8: text is decoded a few thousand bytes ahead."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return {"limit": None}
    return {}


# --- CSV ---

_cells = st.one_of(
    _texts,
    st.sampled_from(
        ["x\ny", "x\r\ny", "x\ry", '"', '""', 'x"y', "a;b", "NA", "007", "null", "\t", "\x0b"]
    ),
)
_digits = st.sampled_from("012xy")
_headers = st.sampled_from(
    [
        *[list(COLUMNS)] * 24,
        *[
            ["q", "a", "b"],
            ["q"],
            ["q", "q"],
            ["q", ""],
            ["", " "],
            ["q", "a,b", "x\ny"],
            [" q", "a"],
            ["m.x", "q", "m"],
        ],
    ]
)
_rows_of_text = st.sampled_from(
    [
        *[
            "",
            " ",
            ",,,,",
            '""',
            '"',
            '"x',
            'x"y,a,b,1,2',
            '"x"y,a,b,1,2',
            '"x" ,a,b,1,2',
            ' "x",a,b,1,2',
        ],
        *[
            "x",
            "x,",
            "x,a,b,1,2,3",
            '"x""y",a,b,1,2',
            '"x\n',
            "\0,a,b,1,2",
            "\u3000",
            '"a\r\nb",a,b,1,2',
            "\r",
            "x,a\rb,c,1,2",
        ],
    ]
)
_dialects = st.sampled_from(
    [
        *[{}] * 24,
        *[{"delimiter": one} for one in (";", "\t", "|", " ", "x", "\u00e9", "\n", "\0", '"')],
        *[
            {"dialect": "excel"},
            {"dialect": "excel-tab"},
            {"skip_rows": 1},
            {"encoding": "latin-1"},
        ],
        *[
            {"encoding": "utf-8-sig"},
            {"encoding": "U8"},
            {"fieldnames": list(COLUMNS)},
            {"fieldnames": ["q"]},
        ],
        *[
            {"fieldnames": ["q", "q"]},
            {"fieldnames": ["q", "a", "b"]},
            {"fieldnames": ["", "q", "a", "b", "n"]},
        ],
    ]
)


@st.composite
def csv_cases(draw: st.DrawFn) -> Case:
    """Draw a file of CSV."""
    header, options = draw(_headers), draw(_dialects)
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    delimiter = options.get("delimiter", "\t" if options.get("dialect") == "excel-tab" else ",")
    end = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]))
    usable = delimiter if delimiter not in '\n"\0' else ","
    rows = [header] if "fieldnames" not in options else []
    narrow = {name: draw(st.booleans()) for name in header}
    for _ in range(draw(st.integers(0, 12))):
        rows.append([draw(_digits if narrow[name] else _cells) for name in header])
        rows[-1][0] = rows[-1][0] if draw(_seldom) else f"q{draw(_digits)}"
    lines = [_csv_line(row, usable, quoting) for row in rows]
    if draw(_seldom):
        lines.insert(draw(st.integers(0, len(lines))), draw(_rows_of_text))
    text = end.join(lines) + draw(st.sampled_from([end, end, "", end * 2]))
    data = _spoilt(draw, text.encode())
    fixed = {"block": draw(st.sampled_from([256, 300, 1 << 16])), **_unlimited_if_odd(data)}
    return _case(draw, data, "d.csv", {"type": "csv", **options}, **fixed)


def _csv_line(row: list[str], delimiter: str, quoting: Any) -> str:
    made = io.StringIO()
    csv.writer(made, delimiter=delimiter, quoting=quoting, lineterminator="").writerow(row)
    return made.getvalue()


# --- Parquet, and the Arrow files of the Hub ---

_FLOATS = [0.5, 1.0, -0.0, float("nan"), float("inf"), -1e300, 3.0]
_small = st.integers(0, 3)
_dates = st.sampled_from([date(2020, 1, 2), date(1, 1, 1), date(9999, 12, 31)])
_moments = st.sampled_from([datetime(2020, 1, 2, 3, 4, 5), datetime(1970, 1, 1)])  # noqa: DTZ001
_VALUES: tuple[tuple[pa.DataType, st.SearchStrategy[Any]], ...] = (
    (pa.string(), _texts),
    (pa.string(), _texts),
    (pa.large_string(), _texts),
    (pa.string_view(), _texts),
    (pa.dictionary(pa.int8(), pa.string()), _texts),
    (pa.int8(), st.sampled_from([0, 1, 2, -1, 127])),
    (pa.int16(), _small),
    (pa.int32(), _small),
    (pa.int64(), st.sampled_from([0, 1, 2, 25, 26, -(2**63), 2**63 - 1])),
    (pa.uint8(), _small),
    (pa.uint32(), _small),
    (pa.uint64(), st.sampled_from([0, 1, 2**63, 2**64 - 1])),
    (pa.float16(), st.sampled_from([0.5, 1.0, float("nan")])),
    (pa.float32(), st.sampled_from([0.5, 0.1, 1.0, float("nan"), float("inf")])),
    (pa.float64(), st.sampled_from(_FLOATS)),
    (pa.bool_(), st.booleans()),
    (pa.null(), st.none()),
    (pa.date32(), _dates),
    (pa.timestamp("us"), _moments),
    (pa.timestamp("ms", tz="UTC"), _moments),
    (pa.time64("us"), _moments.map(datetime.time)),
    (pa.duration("us"), st.just(timedelta(days=1, microseconds=1))),
    (pa.decimal128(10, 2), st.sampled_from([Decimal("1.00"), Decimal("0.50")])),
    (pa.binary(), st.sampled_from([b"", b"x", b"\xff"])),
    (pa.binary(2), st.just(b"xy")),
)


def _with_nulls(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from([*[values] * 5, st.none()]).flatmap(lambda chosen: chosen)


def _typed(draw: st.DrawFn) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """Draw a type with its values: plain, or a list, struct or map of such."""
    kind, values = draw(_KINDS)
    form = draw(
        st.sampled_from(
            [*["plain"] * 4, "list", "list", "large_list", "fixed", "struct", "map", "deep"]
        )
    )
    items = _with_nulls(values)
    lists = st.lists(items, max_size=3)
    if form == "list":
        return pa.list_(pa.field("element", kind)), lists
    if form == "large_list":
        return pa.large_list(kind), lists
    if form == "fixed":
        return pa.list_(kind, 2), st.lists(items, min_size=2, max_size=2)
    if form == "map":
        return pa.map_(pa.string(), kind), st.lists(st.tuples(_texts, items), max_size=2)
    if form == "struct":
        return pa.struct([("x", kind), ("y", pa.string())]), st.fixed_dictionaries(
            {"x": items}, optional={"y": _texts}
        )
    if form == "deep":
        inner = pa.struct([("y", kind), ("y.z", pa.string())])
        parts = st.fixed_dictionaries(
            {
                "x": st.one_of(
                    st.none(), st.fixed_dictionaries({"y": items}, optional={"y.z": _texts})
                )
            }
        )
        return pa.struct([("x", inner), ("x.y", pa.string())]), parts
    return kind, values


@st.composite
def arrow_cases(draw: st.DrawFn) -> Case:
    """Draw a Parquet file, or an Arrow file as the Hub source writes it."""
    count = draw(st.integers(0, 12))
    names = draw(
        st.sampled_from(
            [*[list(COLUMNS)] * 6, ["q", "a"], ["q", "m", "m.x"], ["q", "q"], ["q", "", "m.x.y"]]
        )
    )
    arrays = [_array(draw, name, count) for name in names]
    table = pa.Table.from_arrays(arrays, names)
    if draw(st.booleans()):
        return _case(draw, _parquet(draw, table), "d.parquet", {"type": "parquet"})
    source = {"type": "hf", "path": "o/d", "split": "test"}
    return _case(draw, _ipc(draw, table), "records.arrow", source)


_KINDS = st.sampled_from([*_VALUES, *[(pa.string(), _texts), (pa.int64(), _small)] * 4])


def _array(draw: st.DrawFn, name: str, count: int) -> pa.Array:
    if name == "q":
        one = _texts if draw(_rarely) else st.sampled_from(["x", "y", "zé", "A b"])
        kind = draw(st.sampled_from([pa.string(), pa.large_string(), pa.string_view()]))
        values = draw(st.lists(one, min_size=count, max_size=count))
    else:
        kind, one = _typed(draw)
        nullable = draw(st.booleans())
        each = _with_nulls(one) if nullable else one
        values = draw(st.lists(each, min_size=count, max_size=count))
    return pa.array(values, kind)


def _parquet(draw: st.DrawFn, table: pa.Table) -> bytes:
    rows = draw(st.sampled_from([1, 3, 100]))
    data = _parquet_of(table, rows)
    if data is None:
        data = _parquet_of(table.select([0]), rows) or b""
    return data[: draw(st.integers(0, len(data)))] if draw(_seldom) else data


def _parquet_of(table: pa.Table, rows: int) -> bytes | None:
    """Return a table as Parquet; None where pyarrow can't write it, or read it again."""
    sink = io.BytesIO()
    try:
        pq.write_table(table, sink, row_group_size=rows)
        pq.read_table(sink)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None
    return sink.getvalue()


def _ipc(draw: st.DrawFn, table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=draw(st.sampled_from([1, 3, 100])))
    return bytes(sink.getvalue())
