"""csv_dataset, json_dataset and file_dataset give the samples that Inspect AI's give."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import json
import lzma
import random
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import inspect_ai.dataset as theirs
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import registry as ours
from registry.base.locations import Location
from registry.decode.csv_records import end_of_rows
from tests.samples.against_inspect import Topic, as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

modest = settings(deadline=None, max_examples=150)

THEIR_ERRORS = (ValueError, TypeError, AttributeError, LookupError)
"""Errors of Inspect for invalid data; ours must be a ValueError."""

# ---------------------------------------------------------------- comparing


@dataclass(frozen=True)
class Loaded:
    """A dataset as text that can be compared."""

    name: str | None
    location: str | None
    shuffled: bool
    samples: list[str]


def loaded(dataset: Any) -> Loaded:
    samples = [as_text(sample) for sample in dataset]
    return Loaded(dataset.name, dataset.location, dataset.shuffled, samples)


@dataclass(frozen=True)
class Refused:
    """The loader raised an error that says what is wrong with the data."""


def outcome(library: Any, loader: str, path: Path | str, **arguments: Any) -> Loaded | Refused:
    errors = (ValueError,) if library is ours else THEIR_ERRORS
    random.seed(7)
    try:
        return loaded(getattr(library, loader)(str(path), **arguments))
    except errors:
        return Refused()


def assert_alike(
    loader: str,
    path: Path | str,
    *,
    fields: str = "none",
    theirs_only: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Loaded | Refused:
    """Load a file with both libraries and compare; `theirs_only` are arguments of Inspect's."""
    build = SAMPLE_FIELDS[fields]
    mine = outcome(ours, loader, path, sample_fields=build(ours), **arguments)
    other = {"sample_fields": build(theirs), **arguments, **(theirs_only or {})}
    assert mine == outcome(theirs, loader, path, **other)
    return mine


def assert_csv_alike(
    path: Path, *, encoding: str = "utf-8", loader: str = "csv_dataset", **arguments: Any
) -> Loaded | Refused:
    # Inspect's default is utf-8-sig: a byte-order mark is accepted. Ours is utf-8, which does too.
    only = {"encoding": "utf-8-sig"} if encoding == "utf-8" else {}
    return assert_alike(loader, path, encoding=encoding, theirs_only=only, **arguments)


def assert_json_alike(path: Path, **arguments: Any) -> Loaded | Refused:
    # Else its reader of lines uses orjson where that happens to be installed, and knows no NaN.
    only = {"loads": json.loads} if path.suffix.lower() == ".jsonl" else {}
    return assert_alike("json_dataset", path, theirs_only=only, **arguments)


# ---------------------------------------------------------------- sample_fields


class Thawed(BaseModel):
    subject: str


def one_sample(library: Any, record: dict[str, Any]) -> Any:
    metadata = {"keys": sorted(map(str, record))}
    return library.Sample(input=f"Q: {record.get('input')}", target="B", metadata=metadata)


def several_samples(library: Any, record: dict[str, Any]) -> Any:
    """Make none, one or two samples, by the length of the input."""
    count = len(str(record.get("input"))) % 3
    choices = ["yes", "no", "maybe"][: count + 1]
    return [library.Sample(f"{n}", choices=choices, target="A", id=f"x{n}") for n in range(count)]


RENAMED = {"input": "question", "target": "answer", "choices": "options", "id": "key"}
RENAMED |= {"sandbox": "box", "files": "attached", "setup": "script"}

SAMPLE_FIELDS: dict[str, Callable[[Any], Any]] = {
    "none": lambda library: None,
    "spec": lambda library: library.FieldSpec(),
    "renamed": lambda library: library.FieldSpec(**RENAMED),
    "one column twice": lambda library: library.FieldSpec(target="input", id="input"),
    "metadata list": lambda library: library.FieldSpec(metadata=["subject", "gone", "id"]),
    "empty metadata list": lambda library: library.FieldSpec(metadata=[]),
    "model": lambda library: library.FieldSpec(metadata=Topic),
    "model that is not frozen": lambda library: library.FieldSpec(metadata=Thawed),
    "function": lambda library: partial(one_sample, library),
    "function of several": lambda library: partial(several_samples, library),
}

# ---------------------------------------------------------------- view arguments

SHUFFLES: tuple[dict[str, Any], ...] = (
    {},
    *({"shuffle": shuffle} for shuffle in (False, True, 0, 7, None, np.True_, np.int64(3))),
    *({"shuffle": True, "seed": seed} for seed in (0, 42)),
)
"""Without a seed the global random state is used, which is set before each load."""

VIEWS = st.builds(
    lambda shuffle, rest: {**shuffle, **rest},
    st.sampled_from(SHUFFLES),
    st.fixed_dictionaries(
        {},
        optional={
            "auto_id": st.booleans(),
            "shuffle_choices": st.sampled_from([None, False, 0, 1, 42]),
            "limit": st.sampled_from([None, 0, 1, 2, 3, 100]),
        },
    ),
)

# ---------------------------------------------------------------- values

ODD_TEXTS = (
    *("a,b", 'say "hi"', '"', "''", "two\nlines", "two\r\nlines", "two\rlines", " padded\t"),
    *("Ünïcödé", "日本語 🦆", "e\u0301", "\u2028\u2029\x85", "\x0b\x0c\x1c\x1f", "\ufeffmark"),
    *("\u200b", "\x00", "null", "NaN", "[1]", "{}", "#", "a;b|c"),
)
texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=12)
words = st.sampled_from(["yes", "no", "9 lives", "née", "日本", 'a "b"', "x\ny", "0", " z "])
seen_texts = texts.filter(lambda text: bool(text.strip()))
"""Strings with a visible character, which an input must have."""


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[str], str]:
    """Draw choices and the letter of one of them, or no choices and any target."""
    choices = draw(st.lists(words, max_size=5))
    if not choices:
        return [], draw(texts)
    letter = draw(st.sampled_from("ABCDE"[: len(choices)]))
    return choices, draw(st.sampled_from([letter, letter.lower()]))


OBJECTS = ('{"subject": "x", "level": 3}', '{"subject": "é", "more": [1, null, {"a": 2.5}]}')
SANDBOXES = ("docker", '["docker", "compose.yaml"]', ' ["k8s", 3]', "")
CHECKPOINTS = ("", " ", "null", '{"sandbox_paths": {"default": []}}', "{}")
FILES = ('{"a.txt": "inline", "b": "data:text/plain,x"}', "{}")

# ---------------------------------------------------------------- CSV


@st.composite
def csv_rows(draw: st.DrawFn) -> dict[str, str]:
    choices, target = draw(answers())
    return {
        "input": draw(seen_texts),
        "target": target,
        "choices": draw(st.sampled_from([",", ", ", ",,"])).join(choices),
        "id": draw(st.sampled_from(["1", "007", "1.0", "", "x y", "é"])),
        "metadata": draw(st.sampled_from(OBJECTS)),
        "sandbox": draw(st.sampled_from(SANDBOXES)),
        "files": draw(st.sampled_from(FILES)),
        # Ours leaves an absolute path as it is, and looks for relative ones only.
        "setup": draw(texts.filter(lambda text: not text.startswith("/"))),
        "checkpoint": draw(st.sampled_from(CHECKPOINTS)),
        "subject": draw(texts),
        "level": draw(st.sampled_from(["0", "-3", " 12 "])),
        "": draw(texts),
    }


@st.composite
def csv_tables(draw: st.DrawFn) -> list[list[str]]:
    """Draw a header and rows; rows of blank cells, and of no cells, are among them."""
    optional = ["target", "choices", "id", "metadata", "sandbox", "files", "setup", "checkpoint"]
    optional += ["subject", ""]
    names = ["input", "level", *draw(st.lists(st.sampled_from(optional), unique=True))]
    header = draw(st.permutations(names))
    blank = st.sampled_from([[], [""] * len(header), [" \t"] * len(header)])
    full = csv_rows().map(lambda row: [row[name] for name in header])
    return [header, *draw(st.lists(full | full | full | blank, max_size=6))]


def csv_text(rows: Iterable[list[str]], **options: Any) -> str:
    buffer = io.StringIO(newline="")
    for row in rows:
        if row:
            csv.writer(buffer, **{"quoting": csv.QUOTE_ALL, **options}).writerow(row)
        else:  # the writer would quote an empty cell
            buffer.write(options.get("lineterminator", "\n"))
    return buffer.getvalue()


def renamed(rows: list[list[str]]) -> list[list[str]]:
    return [[RENAMED.get(name, name) for name in rows[0]], *rows[1:]]


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@modest
@given(
    rows=csv_tables(),
    view=VIEWS,
    form=st.fixed_dictionaries(
        {
            "quoting": st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
            "lineterminator": st.sampled_from(["\n", "\r\n", "\r"]),
        }
    ),
    mark=st.sampled_from(["", "\ufeff"]),
    fields=st.sampled_from(sorted(SAMPLE_FIELDS)),
)
def test_csv_of_any_text_and_any_view_gives_equal_samples(
    folder: Path,
    rows: list[list[str]],
    view: dict[str, Any],
    form: dict[str, Any],
    mark: str,
    fields: str,
) -> None:
    rows = renamed(rows) if fields == "renamed" else rows
    path = written(folder / "any.csv", mark + csv_text(rows, **form))
    assert_csv_alike(path, fields=fields, **view)


@modest
@given(
    rows=csv_tables(),
    dialect=st.sampled_from(["unix", "excel", "excel-tab"]),
    delimiter=st.sampled_from([None, ";", "\t", "|", "\u00a6"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-32-le", "cp1252"]),
    headless=st.booleans(),
)
def test_csv_of_any_dialect_delimiter_encoding_and_fieldnames_gives_equal_samples(
    folder: Path,
    rows: list[list[str]],
    dialect: str,
    delimiter: str | None,
    encoding: str,
    headless: bool,
) -> None:
    header, body = rows[0], rows[1:]
    given_names = headless and "" not in header
    options: dict[str, Any] = {"dialect": dialect}
    if delimiter is not None:
        options["delimiter"] = delimiter
    text = csv_text(body if given_names else rows, **options)
    path = written(folder / "dialect.csv", text.encode(encoding, errors="replace"))
    names: dict[str, Any] = {"fieldnames": header} if given_names and body else {}
    if given_names and not body:
        return  # an empty file, which has a test of its own
    assert_csv_alike(path, encoding=encoding, **options, **names)


GRID_CSV = csv_text(
    [
        ["input", "target", "choices", "id"],
        *([f"question {n}", "ABC"[n % 3], "red,green,blue", f"q{n}"] for n in range(5)),
        ["no choices", "free text", "", "q5"],
        ["two choices", "b", "left,right", "q6"],
    ]
)
GRID = [
    {**shuffle, "auto_id": auto_id, "shuffle_choices": choices, "limit": limit}
    for shuffle, auto_id, choices, limit in itertools.product(
        SHUFFLES, (False, True), (None, 0, 42), (None, 0, 3)
    )
]


@pytest.mark.parametrize("fields", ["none", "function of several"])
@pytest.mark.parametrize("loader", ["csv_dataset", "json_dataset", "file_dataset"])
def test_every_combination_of_view_arguments_gives_equal_samples(
    tmp_path: Path, loader: str, fields: str
) -> None:
    records = list(csv.DictReader(io.StringIO(GRID_CSV)))
    text = json.dumps(records) if loader == "json_dataset" else GRID_CSV
    path = written(tmp_path / ("grid.json" if loader == "json_dataset" else "grid.csv"), text)
    for view in GRID:
        found = assert_alike(loader, path, fields=fields, **view)
        assert isinstance(found, Loaded), view


MIXED = {"shuffle_choices": 1}
ODD_CSV: dict[str, tuple[bytes, dict[str, Any]]] = {
    "header and no rows": (b"input,target\n", {}),
    "empty file": (b"", {}),
    "nothing but blank lines": (b"\n\r\n\n", {}),
    "blank line first": (b"\ninput,target\na,b\n", {}),
    "empty list of fieldnames": (b"input,target\na,b\n", {"fieldnames": []}),
    "fieldname of no letters": (b"1,a,b\n", {"fieldnames": ["", "input", "target"]}),
    "fieldnames beside a header": (b"input,target\na,b\n", {"fieldnames": ["input", "target"]}),
    "a column twice": (b"input,input\na,b\n", {}),
    "no line break at the end": (b"input,target\na,b", {}),
    "quoted cell at the end": (b'input,target\na,"b"', {}),
    "spaces between cells": (b"input target\na b\n", {"delimiter": " "}),
    "spaces between four cells": (b"input target id setup\na b c d\n", {"delimiter": " "}),
    "a letter between cells": (b"inputetarg\naeb\n", {"delimiter": "e"}),
    "cell too few": (b"input,target\na,b\nc\n", {}),
    "cell too many": (b"input,target\na,b,c\n", {}),
    "blank cells too few": (b"input,target\n \n", {}),
    "blank cells too many": (b"input,target\n,,\n", {}),
    "blank rows": (b"input,target\n\n,\n \t,  \na,b\n", {}),
    "one column, blank rows": (b"input\n\n  \na\n\n", {}),
    "text after a closing quote": (b'input,target\n"a"x,b\n', {}),
    "quote inside a cell": (b'input,target\na "q" b,c\n', {}),
    "blank input": (b"input,target\na,b\n,c\n", {}),
    "spaces as input": (b"input,target\n  ,c\n", {}),
    "no input column": (b"question,target\na,b\n", {}),
    "undecodable byte": (b"input,target\n\xe9,b\n", {}),
    "metadata of JSON null": (b"input,metadata\na,null\n", {}),
    "metadata of an array": (b"input,metadata\na,[1]\n", {}),
    "blank metadata": (b"input,metadata\na,\n", {}),
    "blank files": (b"input,files\na,\n", {}),
    "sandbox of one part": (b'input,sandbox\na,"[""docker""]"\n', {}),
    "sandbox of no JSON": (b"input,sandbox\na,[docker\n", {}),
    "target that is no letter": (b'input,target,choices\na,maybe,"x,y"\n', MIXED),
    "letter beyond the choices": (b'input,target,choices\na,C,"x,y"\n', MIXED),
    "letter that has no one upper case": ('input,target,choices\na,ß,"x,y"\n'.encode(), MIXED),
    "bad letter behind the limit": (
        b'input,target,choices\na,A,"x,y"\nb,Z,"x,y"\n',
        {**MIXED, "limit": 1},
    ),
}


@pytest.mark.parametrize("case", ODD_CSV)
def test_unusual_csv_is_read_or_rejected_as_by_inspect(tmp_path: Path, case: str) -> None:
    data, arguments = ODD_CSV[case]
    path = written(tmp_path / "odd.csv", data)
    assert_csv_alike(path, **arguments)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("input,target\na,b\nc\n", 3),
        ("input,target\r\n\r\na\r\n", 3),
        ('input,target\n"two\nlines",b\n\nc,d,e\n', 5),
        ('input,target\n"two\nlines"\n', 3),
    ],
)
def test_an_error_of_a_ragged_row_names_the_line_that_inspect_names(
    tmp_path: Path, text: str, line: int
) -> None:
    path = written(tmp_path / "ragged.csv", text.encode())
    message = rf" line {line} has \d fields?, the header has 2"
    with pytest.raises(ValueError, match=rf"ragged\.csv{message}"):
        theirs.csv_dataset(str(path))
    with pytest.raises(ValueError, match=rf"ragged\.csv:{line}:{message}"):
        ours.csv_dataset(str(path))


def test_an_unclosed_quote_is_an_error_where_inspect_loses_the_rest(tmp_path: Path) -> None:
    path = written(tmp_path / "open.csv", 'input,target\na,b\nc,"d\ne,f\n')
    assert [sample.target for sample in theirs.csv_dataset(str(path))] == ["b", "d\ne,f\n"]
    with pytest.raises(ValueError, match=r"open\.csv:3: a quote that opens in this row is never"):
        ours.csv_dataset(str(path))


def test_private_characters_at_the_end_of_a_row_are_text(tmp_path: Path) -> None:
    # Ours are sent behind the last row, and can't be foretold.
    path = written(tmp_path / "private.csv", "input,target\na,\ue000\ue0ff\ue000\n")
    assert_csv_alike(path)
    assert len({end_of_rows() for _ in range(10)}) == 10


# ---------------------------------------------------------------- JSON

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(-1e9, 1e9)
    | st.sampled_from([float("nan"), float("inf")])
    | texts
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)  # as JSON has it
    ),
    max_leaves=6,
)
NAMED = ("gone.png", "any.json", "sub/there.txt", "https://example.org/a.pdf")
media = st.sampled_from([*NAMED, "data:image/png;base64,AA"])


def typed(kind: str, optional: Mapping[str, Any] | None = None, **fields: Any) -> Any:
    needed: dict[str, Any] = {"type": st.just(kind), **fields}
    return st.fixed_dictionaries(needed, optional=optional or {})


parts = st.one_of(
    typed("text", text=texts),
    typed("image", {"detail": st.sampled_from(["auto", "low", "high"])}, image=media),
    typed("audio", audio=media, format=st.sampled_from(["wav", "mp3"])),
    typed("video", video=media, format=st.sampled_from(["mp4", "mov"])),
    typed("document", {"filename": texts, "mime_type": st.just("text/x")}, document=media),
    typed("reasoning", reasoning=texts),
)
contents = texts | st.lists(parts, max_size=3)
given_arguments = st.dictionaries(texts, scalars, max_size=2)
calls = st.fixed_dictionaries(
    {"id": texts, "function": texts, "arguments": given_arguments},
    optional={"type": st.sampled_from(["function", "custom", None]), "parse_error": texts},
)
errors = st.fixed_dictionaries(
    {"type": st.sampled_from(["timeout", "parsing", "unknown"]), "message": texts}
)


def message(role: str, **optional: Any) -> Any:
    return st.fixed_dictionaries({"role": st.just(role), "content": contents}, optional=optional)


messages = st.one_of(
    message("system"),
    # What the loaders of both leave out.
    message("user", id=texts, metadata=st.just({"a": 1}), tool_call_id=st.just(["x"])),
    message("assistant", tool_calls=st.none() | st.lists(calls, max_size=2), model=texts),
    message("tool", tool_call_id=texts, function=st.none() | texts, error=errors),
)
objects = st.dictionaries(texts, values, max_size=3).map(lambda data: {**data, "subject": "x"})


@st.composite
def json_records(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a record that becomes a sample, in any of the forms that each column may have."""
    choices, target = draw(answers())
    several = draw(st.booleans()) and choices
    optional = {
        "target": [target, target] if several else target,
        "choices": draw(st.sampled_from([choices, ", ".join(choices)])),
        "id": draw(st.sampled_from([1, -1, 2**63, 1.0, True, "", "x", "007", None])),
        "metadata": draw(objects | objects.map(json.dumps) | st.none()),
        "sandbox": draw(st.sampled_from([*SANDBOXES, ["docker", "x.yaml"], ["a", 1], None])),
        "files": draw(st.sampled_from([*FILES, {"a": "any.json", "b": "x"}, {}, None])),
        "setup": draw(st.sampled_from(["any.json", "echo 1\necho 2", "", 5, False, None])),
        "subject": draw(texts),
        "level": draw(st.sampled_from([0, "3", 4.0])),
        "extra": draw(values),
    }
    kept = draw(st.lists(st.sampled_from(sorted(optional)), unique=True))
    conversation = st.lists(messages, min_size=1, max_size=4)
    prompt = draw(seen_texts | conversation)
    record: dict[str, Any] = {"input": prompt, **{name: optional[name] for name in kept}}
    # Without its letter, a sample with choices could not be shuffled.
    return {**record, "target": optional["target"]} if "choices" in record else record


def json_bytes(records: list[Any], suffix: str, **options: Any) -> bytes:
    if suffix == ".json":
        return json.dumps(records, **options).encode()
    return "".join(json.dumps(record, **options) + "\n" for record in records).encode()


@modest
@given(
    records=st.lists(json_records(), max_size=5),
    view=VIEWS,
    suffix=st.sampled_from([".json", ".jsonl"]),
    escaped=st.booleans(),
    fields=st.sampled_from(sorted(SAMPLE_FIELDS)),
)
def test_json_of_any_records_and_any_view_gives_equal_samples(
    folder: Path,
    records: list[dict[str, Any]],
    view: dict[str, Any],
    suffix: str,
    escaped: bool,
    fields: str,
) -> None:
    if fields == "renamed":
        records = [{RENAMED.get(k, k): v for k, v in record.items()} for record in records]
    path = written(folder / f"any{suffix}", json_bytes(records, suffix, ensure_ascii=escaped))
    assert_json_alike(path, fields=fields, **view)


COLUMNS = (
    *("input", "target", "choices", "id", "metadata"),
    *("sandbox", "files", "setup", "checkpoint", "description"),
)
wrapped = st.one_of(
    values,
    values.map(json.dumps).filter(lambda text: text != "null"),  # which has a row below
    st.lists(values, max_size=3),
    st.fixed_dictionaries({}, optional={"role": values, "content": values, "type": values}),
    st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["system", "user", "assistant", "tool"])},
            optional=dict.fromkeys(
                ("content", "tool_calls", "tool_call_id", "function", "error"), values
            ),
        ),
        max_size=2,
    ),
)


@settings(deadline=None, max_examples=150)
@given(column=st.sampled_from(COLUMNS), value=wrapped, model=st.booleans())
def test_any_value_in_any_column_is_read_or_rejected_as_by_inspect(
    folder: Path, column: str, value: Any, model: bool
) -> None:
    path = written(folder / "value.json", json.dumps([{"input": "x", column: value}]))
    assert_json_alike(path, fields="model" if model and column == "metadata" else "none")


NAN = float("nan")
SINGLE_VALUES: list[tuple[str, Any]] = [
    *itertools.product(("input", "target", "choices"), (None, NAN, "", " ", 0, 5, 1.5, True)),
    *itertools.product(("target", "choices"), ([], ["a", "", None, 4, True], {"a": 1}, "a b")),
    *itertools.product(("choices",), ("a,", ",,", "a, b ,c", "one", " two words ", "a\tb\nc")),
    *itertools.product(("id",), (0, 1.0, 1.5, NAN, True, "1", "", [1], {}, 2**70, 1e15, 1e30)),
    *itertools.product(("metadata",), (None, NAN, {}, [], "{}", "[]", "null", "", "x", 5, True)),
    *itertools.product(("metadata",), ('{"a": NaN}', '{"a": 1, "a": 2}', '"text"', ' {"a": 1} ')),
    *itertools.product(("sandbox",), ("", ["a", "b"], ["a"], ["a", None], '["a", 2]', "[", 5, {})),
    *itertools.product(("files",), ({}, {"a": "b"}, {"a": 1}, "{}", "[]", "null", "", 5, NAN)),
    *itertools.product(("setup",), ("", 5, True, [1, "a"], {"a": 1}, NAN, None)),
    *itertools.product(("input",), ([], {}, ["text"], [{"content": "no role"}], "\ud800")),
    ("input", [{"role": "User", "content": "a"}]),
    ("input", [{"role": ["user"], "content": "a"}]),
    ("input", [{"role": "user"}]),
    ("input", [{"role": "user", "content": ""}]),
    ("input", [{"role": "user", "content": [{"type": "unknown"}]}]),
    ("input", [{"role": "user", "content": [{"text": "no type"}, {"image": "no type"}]}]),
    ("input", [{"role": "user", "content": [{"type": "document", "document": ""}]}]),
    ("input", [{"role": "user", "content": [{"type": "text", "text": "a", "citations": []}]}]),
    ("input", [{"role": "assistant", "content": "a", "tool_calls": [{"id": "1"}]}]),
    ("input", [{"role": "tool", "content": "a", "error": "text"}]),
    ("input", [{"role": "tool", "content": "a", "tool_error": "old"}]),
    ("input", '[{"role": "user", "content": "a text is never parsed"}]'),
    ("target", "\ud800"),
]


@pytest.mark.parametrize(("column", "value"), SINGLE_VALUES)
def test_a_value_is_read_or_rejected_as_by_inspect(tmp_path: Path, column: str, value: Any) -> None:
    path = written(tmp_path / "value.json", json.dumps([{"input": "x", column: value}]))
    assert_json_alike(path)


@pytest.mark.parametrize(
    "record",
    [
        {"metadata": {"subject": "column"}, "subject": "top"},
        {"metadata": '{"subject": "text"}', "subject": "top", "level": 2},
        {"metadata": None, "subject": "top", "level": "2"},
        {"subject": "top", "level": 4.0, "other": 1},
        {"metadata": {"subject": "x", "unknown": 1}},
        {"metadata": {}},
        {"metadata": {"subject": 1}},
        {"metadata": {"subject": "x", "level": "many"}},
        {"metadata": "no JSON"},
        {"metadata": []},
        {"level": 1},
        {},
    ],
)
def test_a_metadata_model_reads_or_rejects_as_inspect_does(
    tmp_path: Path, record: dict[str, Any]
) -> None:
    path = written(tmp_path / "model.json", json.dumps([{"input": "x", **record}]))
    assert_json_alike(path, fields="model")
    assert_json_alike(path, fields="model that is not frozen")


ODD_JSON: dict[str, tuple[str, str]] = {
    "one object": (".json", '{"input": "a"}'),
    "empty array": (".json", "[]"),
    "empty file": (".json", ""),
    "number": (".json", "5"),
    "text": (".json", '"a"'),
    "array of numbers": (".json", "[5]"),
    "array of arrays": (".json", '[[{"input": "a"}]]'),
    "lines in .json": (".json", '{"input": "a"}\n{"input": "b"}\n'),
    "other suffix": (".txt", '[{"input": "a"}]'),
    "upper-case suffix": (".JSONL", '{"input": "a"}\n{"input": "b"}'),
    "no lines": (".jsonl", ""),
    "line of an array": (".jsonl", '[{"input": "a"}]\n'),
    "line of null": (".jsonl", "null\n"),
    "line of a number": (".jsonl", '{"input": "a"}\n5\n'),
    "broken line": (".jsonl", '{"input": "a"}\n{"input": \n'),
    "two objects in a line": (".jsonl", '{"input": "a"} {"input": "b"}\n'),
    "carriage returns": (".jsonl", '{"input": "a"}\r\n{"input": "b"}\r{"input": "c"}'),
    "separators of lines": (".jsonl", '{"input": "a\u2028b\u2029c\x85d"}\n'),
    "mark": (".jsonl", '\ufeff{"input": "a"}\n'),
    "a key twice": (".jsonl", '{"input": "a", "input": "b"}\n'),
    "long number": (".json", '[{"input": "a", "target": ' + "9" * 5000 + "}]"),
}


@pytest.mark.parametrize("case", ODD_JSON)
def test_unusual_json_is_read_or_rejected_as_by_inspect(tmp_path: Path, case: str) -> None:
    suffix, text = ODD_JSON[case]
    path = written(tmp_path / f"odd{suffix}", text)
    assert_json_alike(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-16", "cp1252"])
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_json_in_other_encodings_gives_equal_samples(
    tmp_path: Path, suffix: str, encoding: str
) -> None:
    path = tmp_path / f"other{suffix}"
    records = [{"input": "né €"[: 2 if encoding == "latin-1" else 4], "target": "ü"}]
    path.write_bytes(json_bytes(records, suffix, ensure_ascii=False).decode().encode(encoding))
    assert isinstance(assert_json_alike(path, encoding=encoding), Loaded)


def test_empty_lines_of_json_lines_are_skipped_where_inspect_fails(tmp_path: Path) -> None:
    path = written(tmp_path / "blank.jsonl", '\n{"input": "a"}\n  \n\n{"input": "b"}\n\n')
    assert outcome(theirs, "json_dataset", path) == Refused()
    assert [sample.input for sample in ours.json_dataset(str(path))] == ["a", "b"]


# ---------------------------------------------------------------- files, names, arguments


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "input,target\na,b\n"),
        ("a.CSV", "input,target\na,b\n"),
        ("a.tsv", "input\ttarget\na,b\tc\n"),
        ("a.TAB", "input\ttarget\na,b\tc\n"),
        ("a.json", '[{"input": "a"}]'),
        ("a.b.jsonl", '{"input": "a"}\n'),
        ("a.Json", '{"input": "a"}'),
    ],
)
def test_file_dataset_takes_the_format_from_the_suffix(
    tmp_path: Path, name: str, text: str
) -> None:
    path = written(tmp_path / name, text)
    assert isinstance(assert_alike("file_dataset", path), Loaded)
    assert isinstance(assert_alike("file_dataset", path, name="Another name"), Loaded)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("a.csv", {"dialect": "excel-tab"}),
        ("a.csv", {"dialect": "excel", "fieldnames": ["input"]}),
        ("a.tsv", {"dialect": "excel"}),
        ("a.tsv", {"dialect": "unix", "fieldnames": ["id", "input"], "encoding": "latin-1"}),
    ],
)
def test_file_dataset_passes_csv_arguments_on(
    tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    (tmp_path / name).write_bytes("input\ttarget\na,b\té\n".encode("latin-1"))
    outcome = assert_alike("file_dataset", tmp_path / name, **{"encoding": "latin-1", **arguments})
    assert isinstance(outcome, Loaded) or "fieldnames" in arguments


def test_a_relative_path_gives_the_name_and_the_absolute_location(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path.resolve() / "sub"
    folder.mkdir()
    (folder / "some.data.csv").write_text("input,target\na,b\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    for path in ("some.data.csv", "./some.data.csv", "../sub/some.data.csv"):
        found = assert_alike("csv_dataset", path)
        assert isinstance(found, Loaded)
        assert found.name == "some.data"
        assert found.location == str(folder / "some.data.csv")


def test_a_path_in_the_home_folder_may_start_with_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    written(tmp_path / "mine.csv", "input,target\na,b\n")
    assert theirs.csv_dataset("~/mine.csv")[0].input == "a"
    assert ours.csv_dataset("~/mine.csv")[0].input == "a"


@pytest.mark.parametrize(
    "name", ["a b.csv", "100%25.csv", "a#b?c.csv", "[1].csv", "a*.csv", "é.csv"]
)
def test_any_file_name_is_read(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, "input,target\na,b\n")
    assert isinstance(assert_alike("csv_dataset", path), Loaded)


INLINE = "#!/bin/sh\necho 'a script, not a path'\n" * 60


RELATIVE_NAMES = ("there.txt", "./there.txt", "sub/there.txt", "sub", "sub/../there.txt", ".")
OTHER_VALUES = (
    *("gone.txt", "", " ", INLINE, "x" * 5000, "*.txt", "a\x00b"),
    *("data:text/plain;base64,AA==", "https://example.org/there.txt", "s3://bucket/there.txt"),
)


@pytest.mark.parametrize("value", [*RELATIVE_NAMES, *OTHER_VALUES])
def test_files_beside_a_local_dataset_are_found_as_inspect_finds_them(
    tmp_path: Path, value: str
) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("there.txt", "sub/there.txt"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    named = {"type": "text", "text": value}
    image = {"type": "image", "image": value, "detail": "low"}
    audio = {"type": "audio", "audio": value, "format": "wav"}
    video = {"type": "video", "video": value, "format": "mov"}
    document = {"type": "document", "document": value}
    records = [
        {"input": "x", "files": {"a": value, "b": str(tmp_path / "sub")}, "setup": value},
        {"input": "x", "sandbox": ["docker", value]},
        {"input": "x", "sandbox": value},
        {"input": [{"role": "user", "content": [named, image, audio, video]}]},
        {"input": [{"role": "system", "content": [image]}]},
        *([{"input": [{"role": "user", "content": [document]}]}] if value else []),
    ]
    path = written(tmp_path / "data.json", json.dumps(records))
    found = assert_json_alike(path)
    assert isinstance(found, Loaded)
    assert (f'"setup": "{tmp_path}/{value}"' in found.samples[0]) == (value in RELATIVE_NAMES)


@pytest.mark.parametrize(
    ("name", "data", "suffix", "pack"),
    [
        ("a.csv", b"input,target\na,b\n", ".gz", gzip.compress),
        ("a.csv", b"input,target\na,b\n", ".bz2", bz2.compress),
        ("a.jsonl", b'{"input": "a"}\n\n{"input": "b"}\n', ".xz", lzma.compress),
        ("a.jsonl", b'{"input": "a"}\n', ".zst", lambda data: pa.compress(data, "zstd", True)),
    ],
)
def test_compressed_files_give_the_samples_of_the_file_in_them(
    tmp_path: Path, name: str, data: bytes, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    plain = ours.file_dataset(Location(str(written(tmp_path / name, data))))
    packed = written(tmp_path / f"{name}{suffix}", pack(data))
    assert loaded(ours.file_dataset(str(packed))).samples == loaded(plain).samples


def test_messages_have_the_same_ids_in_each_load(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "a"}] * 2
    path = written(tmp_path / "chat.jsonl", json.dumps({"input": chat}))
    first, second = (ours.json_dataset(str(path)) for _ in range(2))
    assert list(first) == list(second)
