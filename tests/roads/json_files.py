"""Generated JSON Lines: mostly valid, some with a typical fault."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence

from hypothesis import strategies as st

from tests.roads.fields import COLUMNS
from tests.roads.outcome import Case
from tests.roads.parts import case_of, mostly, seldom, spoilt, texts, unlimited_if_odd

__all__ = ["json_cases"]

_quoted = st.one_of(
    texts.map(json.dumps), texts.map(lambda text: json.dumps(text, ensure_ascii=False))
)
_visible = st.sampled_from([json.dumps(text) for text in ("x", "y", "zé", "A b", "\U0001f600")])
_whole = st.sampled_from(["0", "1", "2", "-1", "25", "-0", str(2**63 - 1), str(-(2**63))])
_real = st.sampled_from(["0.5", "-1.25", "1e-7", "0.1000000000000000055511151231257827", "3.14"])
_flags = st.sampled_from(["true", "false"])
_odd = st.sampled_from(
    [
        *["null", "1.0", "1e2", "1E400", "-1e400", "-0.0", "NaN", "Infinity", "-Infinity", "Inf"],
        *["-NaN", "-Inf"],
        *[str(2**63), str(-(2**63) - 1), "1" * 640, "1" * 5000, "0." + "1" * 5000, "01", "+1"],
        *[".5", "1.", "nul", "", "'x'"],
        *['"\\ud800"', '"\\udc00x"', '"\\ud83d\\ude00"', '"\\u0000"', '"a\tb"', '"\x01"', '"\\x"'],
        *['"\\/"', '"', '"x"1', '"Inf"', '"-NaN"', '"Infx"'],
        *["[" * 40 + "]" * 40, '{"x": {"y": 1}}', '{"x": "y", "x": 2}', '[1, "x"]', "[[]]"],
        *["[null]", "[]", "{}"],
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


_file_counts = st.sampled_from([*[1] * 9, 2])


@st.composite
def json_cases(draw: st.DrawFn) -> Case:
    """Draw files of JSON Lines."""
    first, *more = (_json_data(draw) for _ in range(draw(_file_counts)))
    fixed = unlimited_if_odd(first, *more)
    name = draw(_JSON_NAMES)
    if name.endswith(".gz"):
        first, *more = (gzip.compress(data, 1) for data in (first, *more))
    encoding = draw(st.sampled_from([*["utf-8"] * 19, "latin-1"]))
    source = {"type": "json", "encoding": encoding}
    return case_of(draw, first, name, source, more=tuple(more), **fixed)


def _json_data(draw: st.DrawFn) -> bytes:
    tokens = {name: draw(st.sampled_from(_TOKENS)) for name in COLUMNS}
    tokens["q"] = draw(st.sampled_from([_visible, _visible, _visible, _quoted]))
    lacking = draw(st.sampled_from([(), (), COLUMNS[1:], "a", "n"]))
    odd = draw(st.sampled_from([-1, -1, -1, -1, -1, 0, 1, 2, 5]))
    lines = [
        _json_line(draw, tokens, lacking, odd=place == odd)
        for place in range(draw(st.integers(0, 12)))
    ]
    if draw(seldom) and lines:
        _spoil_line(draw, lines)
    end = draw(st.sampled_from([*["\n"] * 16, *["\r\n"] * 4, "\r", "\n\n", "\n \n"]))
    text = end.join(lines) + draw(st.sampled_from([end, end, "", "\n\n"]))
    return spoilt(draw, text.encode("utf-8", "surrogatepass"))


def _json_line(
    draw: st.DrawFn, tokens: dict[str, st.SearchStrategy[str]], lacking: Sequence[str], *, odd: bool
) -> str:
    pairs = []
    for name, values in tokens.items():
        if name not in lacking or draw(mostly):
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
                *["", " ", "\u3000", f" {line}", f"{line} ", f"{line} {line}", f"{line}\0"],
                *[f"{line}\0}}"],
                *[f"{line}, {line}", line.replace(", ", ",\n", 1), line[:-1], line[1:]],
                *[line[: len(line) // 2]],
                *["[]", "1", "null", '"x"', "{}", "{ }", "{} {}", "{}{}", f"\ufeff{line}", "x"],
                *[f"[{line}]"],
                *['{"q": "x"}\x0c', "\x1f", "{\n}", f"{line}\n\n\n", "<html>"],
            ]
        )
    )
