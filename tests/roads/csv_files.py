"""Generated CSV: mostly valid, some with a typical fault."""

from __future__ import annotations

import csv
import io
from typing import Any

from hypothesis import strategies as st

from tests.roads.fields import COLUMNS
from tests.roads.outcome import Case
from tests.roads.parts import case_of, seldom, spoilt, texts, unlimited_if_odd

__all__ = ["csv_cases"]

_cells = st.one_of(
    texts,
    st.sampled_from(
        ["x\ny", "x\r\ny", "x\ry", '"', '""', 'x"y', "a;b", "NA", "007", "null", "\t", "\x0b"]
    ),
)
_digits = st.sampled_from("012xy")
_headers: st.SearchStrategy[list[str]] = st.sampled_from(
    [
        *[list(COLUMNS)] * 24,
        *[["q", "a", "b"], ["q"], ["q", "q"], ["q", ""], ["", " "], ["q", "a,b", "x\ny"]],
        *[[" q", "a"], ["m.x", "q", "m"]],
    ]
)
_rows_of_text = st.sampled_from(
    [
        *["", " ", ",,,,", '""', '"', '"x', 'x"y,a,b,1,2', '"x"y,a,b,1,2', '"x" ,a,b,1,2'],
        *[' "x",a,b,1,2'],
        *["x", "x,", "x,a,b,1,2,3", '"x""y",a,b,1,2', '"x\n', "\0,a,b,1,2", "\u3000"],
        *['"a\r\nb",a,b,1,2', "\r", "x,a\rb,c,1,2"],
    ]
)
_dialects: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        *[{}] * 24,
        *[{"delimiter": one} for one in (";", "\t", "|", " ", "x", "\u00e9", "\0")],
        *[{"dialect": "excel"}, {"dialect": "excel-tab"}, {"skip_rows": 1}],
        *[{"encoding": "latin-1"}],
        *[{"encoding": "utf-8-sig"}, {"encoding": "U8"}, {"fieldnames": list(COLUMNS)}],
        *[{"fieldnames": ["q"]}],
        *[{"fieldnames": ["q", "q"]}, {"fieldnames": ["q", "a", "b"]}],
        *[{"fieldnames": ["", "q", "a", "b", "n"]}],
    ]
)


@st.composite
def csv_cases(draw: st.DrawFn) -> Case:
    """Draw a file of CSV."""
    header, options = draw(_headers), draw(_dialects)
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    delimiter = options.get("delimiter", "\t" if options.get("dialect") == "excel-tab" else ",")
    end = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]))
    usable = delimiter if delimiter != "\0" else ","
    rows = [header] if "fieldnames" not in options else []
    narrow = {name: draw(st.booleans()) for name in header}
    for _ in range(draw(st.integers(0, 12))):
        rows.append([draw(_digits if narrow[name] else _cells) for name in header])
        rows[-1][0] = rows[-1][0] if draw(seldom) else f"q{draw(_digits)}"
    lines = [_csv_line(row, usable, quoting) for row in rows]
    if draw(seldom):
        lines.insert(draw(st.integers(0, len(lines))), draw(_rows_of_text))
    text = end.join(lines) + draw(st.sampled_from([end, end, "", end * 2]))
    data = spoilt(draw, text.encode())
    fixed = {"block": draw(st.sampled_from([256, 300, 1 << 16])), **unlimited_if_odd(data)}
    return case_of(draw, data, "d.csv", {"type": "csv", **options}, **fixed)


def _csv_line(row: list[str], delimiter: str, quoting: Any) -> str:
    made = io.StringIO()
    csv.writer(made, delimiter=delimiter, quoting=quoting, lineterminator="").writerow(row)
    return made.getvalue()
