"""The catalog that is changed: each way to read data, and to name files and code, once."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["BASE", "Files", "Records", "dumped", "records_in"]

Files = dict[str, bytes | None]
"""Content by path from the top of the repository; None for a file that is deleted."""
Records = list[dict[str, Any]]

MANIFEST = """\
datasets:
  plain:
    description: Plain questions.
    license: MIT
    source: {type: json, path: data/plain.jsonl}
    fields: {id: key, input: q, target: a, metadata: [subject]}
  few:
    extends: plain
    shuffle: true
    seed: 7
    limit: 4
  hard:
    extends: plain
    where: {value: subject, in: [x, y]}
  table:
    source: {type: csv, path: data/table.csv}
    auto_id: true
    fields: {input: q, target: a, metadata: [n]}
  choice:
    source: {type: json, path: data/choice.json}
    fields:
      id: {hash: [q], prefix: c, length: 8}
      input: {template: "Question: {q}"}
      choices: options
      target: {from: right, do: [letter]}
  packed:
    source: {type: json, path: data/packed.jsonl.gz}
    fields: {id: key, input: q, target: a}
  columns:
    source: {type: parquet, path: data/columns.parquet}
    fields: {id: key, input: q, target: a}
  joined:
    source: {type: json, path: data/plain.jsonl}
    join: {source: {type: csv, path: data/lookup.csv}, on: key, key: key, into: row}
    fields: {id: key, input: q, target: row.other}
  parts:
    source: {type: json, path: data/plain.jsonl}
    concat:
      - {path: data/plain.jsonl}
      - {path: data/packed.jsonl.gz}
    fields: {input: q, target: a}
  long:
    source: {type: json, path: data/long.jsonl}
    fields: {id: key, input: q, target: a}
"""
NAMING = """\
datasets:
  chat:
    source: {type: json, path: data/chat.jsonl}
    fields:
      input: {messages: [{role: user, content: [{text: q}, {image: picture}]}]}
      target: a
      files: {object: {"notes.txt": attached}}
  boxed:
    source: {type: json, path: data/plain.jsonl}
    fields:
      input: q
      target: a
      metadata: []
      sandbox: {const: [docker, box/compose.yaml]}
      setup: {const: box/setup.sh}
  mapped:
    source: {type: json, path: data/plain.jsonl}
    mapper: ours.mod:read
"""
SHOTS = """\
datasets:
  twice:
    source: {type: json, path: data/twice.jsonl}
    on_duplicate: drop
    fields: {id: key, input: q, target: a}
  corrected:
    source: {type: json, path: data/plain.jsonl}
    corrections: data/errata.yaml
    fields: {id: key, input: q, target: a}
  shots:
    source: {type: parquet, path: data/columns.parquet}
    fields: {id: key, input: q, target: a}
    fewshot: {dataset: joined, n: 2, apply: true}
  shots-twice:
    extends: shots
    fewshot: {dataset: twice, into: metadata}
  shots-corrected:
    extends: shots
    fewshot: {dataset: corrected}
  shots-chat:
    extends: shots
    fewshot: {dataset: chat}
"""
WIDE = """\
datasets:
  globbed:
    source: {type: json, path: data/many/*.jsonl}
    fields: {id: key, input: q, target: a}
  captured:
    source: {type: csv, path: "data/by/{lang}.csv"}
    fields: {input: q, target: a, metadata: [lang]}
  zipped:
    source: {type: json, path: "zip://in/*.jsonl::data/packed.zip"}
    fields: {id: key, input: q, target: a}
  built:
    source: {type: hf, path: json, split: train, data_files: [data/many/a.jsonl]}
    fields: {id: key, input: q, target: a}
  parted:
    source: {type: json}
    splits: {test: {path: data/many/a.jsonl}, dev: {path: data/many/b.jsonl}}
    default_split: test
    fields: {id: key, input: q, target: a}
    fewshot: {split: dev, n: 1, apply: true}
  exploded:
    source: {type: json, path: data/nested.json}
    explode: turns
    fields: {input: item.q, target: {from: item.a, do: [{map: {y: "yes", n: "no"}}]}}
  ordered:
    source: {type: json, path: data/many/b.jsonl}
    fields:
      id: key
      input: {from: {object: {q: q, key: key}}, do: [dump]}
      target: {from: a, do: [{replace: {of: off, off: from}}]}
groups:
  v1.0: {datasets: [globbed, captured]}
  by-lang: {from: captured, by: lang}
"""
_MANY = [{"key": f"m{n}", "q": f"How many is {n}?", "a": f"{n} of them"} for n in range(8)]
_NESTED = [
    {"turns": [{"q": f"Is {n} over {m}?", "a": "yn"[m > n]} for m in range(2)]} for n in range(3)
]
_PLAIN = [
    {
        "key": f"p{n}",
        "q": f"What is {n} plus one, in words?",
        "a": str(n + 1),
        "subject": "xyz"[n % 3],
    }
    for n in range(8)
]
_TABLE = [{"q": f"Name number {n}.", "a": f"name {n}", "n": f"00{n}"} for n in range(5)]
_CHOICE = [
    {"q": f"Pick {n}.", "options": ["one", "two", "three"], "right": n % 3} for n in range(5)
]
_LONG = [
    {"key": f"l{n}", "q": " ".join(f"word{n}x{i}" for i in range(3000)), "a": "yes"}
    for n in range(2)
]
_CHAT = [
    {"q": f"See {n}", "picture": f"img/{n}.png", "attached": "notes.txt", "a": "ok"}
    for n in range(3)
]


def dumped(path: str, records: Records) -> bytes:
    """Return the bytes of a file, by its suffix."""
    if path.endswith(".zip"):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as opened:
            for number, half in enumerate((records[::2], records[1::2])):
                opened.writestr(zipfile.ZipInfo(f"in/{number}.jsonl"), dumped("x.jsonl", half))
        return archive.getvalue()
    if path.endswith(".parquet"):
        out = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(records), out)
        return bytes(out.getvalue())
    if path.endswith(".csv"):
        text = io.StringIO()
        writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return text.getvalue().encode()
    if path.endswith(".json"):
        return json.dumps(records, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
    data = lines.encode("utf-8", "surrogatepass")
    return gzip.compress(data, mtime=0) if path.endswith(".gz") else data


def records_in(path: str, files: Mapping[str, bytes | None]) -> Records:
    """Return the records of a file."""
    data = files[path]
    assert data is not None
    if path.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            inner = {name: opened.read(name) for name in opened.namelist()}
        return [record for name in inner for record in records_in(name, inner)]
    if path.endswith(".parquet"):
        found: Records = pq.read_table(pa.BufferReader(data)).to_pylist()
        return found
    if path.endswith(".csv"):
        return list(csv.DictReader(io.StringIO(data.decode())))
    if path.endswith(".json"):
        return list(json.loads(data))
    text = gzip.decompress(data) if path.endswith(".gz") else data
    return [json.loads(line) for line in text.decode().splitlines() if line]


_DATA: dict[str, Records] = {
    "data/plain.jsonl": _PLAIN,
    "data/table.csv": _TABLE,
    "data/choice.json": _CHOICE,
    "data/packed.jsonl.gz": [{**one, "key": f"z{n}"} for n, one in enumerate(_PLAIN[:4])],
    "data/columns.parquet": [{"key": f"c{n}", "q": f"Q{n}", "a": f"A{n}"} for n in range(6)],
    "data/lookup.csv": [{"key": f"p{n}", "other": f"o{n}"} for n in range(8)],
    "data/long.jsonl": _LONG,
    "data/twice.jsonl": [
        {**one, "key": f"t{n // 2}"} for n, one in enumerate([_PLAIN[0]] * 2 + _PLAIN[1:3])
    ],
    "data/chat.jsonl": _CHAT,
    "data/many/a.jsonl": _MANY[:5],
    "data/many/b.jsonl": _MANY[5:],
    "data/by/de.csv": [{"q": f"Frage {n}", "a": str(n)} for n in range(3)],
    "data/by/fr.csv": [{"q": f"Question {n} ?", "a": str(n)} for n in range(3)],
    "data/packed.zip": [{**one, "key": f"y{n}"} for n, one in enumerate(_MANY[:4])],
    "data/nested.json": _NESTED,
}
BASE: dict[str, bytes] = {
    **{path: dumped(path, records) for path, records in _DATA.items()},
    **{
        path: text.encode()
        for path, text in {
            "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\ntrust: ['ours.mod:read']\n",
            "m/main.yaml": MANIFEST,
            "m/naming.yaml": NAMING,
            "m/shots.yaml": SHOTS,
            "m/wide.yaml": WIDE,
            "data/errata.yaml": "corrections:\n- {id: p0, field: target, was: '1', now: one, reason: a word}\n",
            "data/img/0.png": "0",
            "data/img/1.png": "1",
            "data/img/2.png": "2",
            "data/notes.txt": "notes",
            "data/box/compose.yaml": "services:\n  default:\n    build: image\n    env_file: a.env\n"
            "    volumes: ['./shared:/shared']\n",
            "data/box/a.env": "A=1\n",
            "data/box/image/Dockerfile": "FROM scratch\nCOPY tool.py /\n",
            "data/box/image/tool.py": "print(1)\n",
            "data/box/shared/file": "shared\n",
            "data/box/setup.sh": "sh box/more.sh\n",
            "data/box/box/more.sh": "true\n",
            "src/ours/__init__.py": "",
            "src/ours/mod.py": "from ours.deep import answer\ndef read(record): return answer\n",
            "src/ours/deep.py": "answer = 1\n",
            "README.md": "A catalog.\n",
        }.items()
    },
}
"""The files of the base, without its lockfile."""
