"""A catalog with something of everything that a page can show, and with hostile data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.gallery import MANIFEST, picture, uri, write_records

__all__ = ["MANY", "write_catalog"]

MANY = 230
"""Datasets that are only listed."""

INDEX = """\
version: 1
include: [sets/*.yaml]
"""

SETS = """\
datasets:
  planets:
    description: Multiple-choice questions on the planets, for the tests of the site.
    homepage: https://example.org/planets
    license: cc0-1.0
    tags: [astronomy, mcq]
    source: {type: json, path: planets.jsonl}
    fields: {input: question, choices: options, target: answer, id: key, metadata: [level, notes]}
    expect: {samples: 24}
  planets-small:
    extends: planets
    description: Five of them.
    shuffle: true
    seed: 1
    limit: 5
  talks:
    description: Conversations with a tool, a picture and code.
    license: mit
    tags: [chat]
    source: {type: json, path: talks.jsonl}
    fields: {input: messages, target: answer, id: key}
  hostile:
    description: "<script>document.title = 'owned'</script><img src=x onerror=alert(1)> \\u202Eeno"
    tags: ["<b>bold</b>", "a\\"b'c", " Two  words"]
    source: {type: json, path: hostile.jsonl}
    fields: {input: q, target: a, id: key, metadata: {"*": m}}
    accept: [blank_targets]
  fixed:
    description: Corrected.
    license: cc-by-4.0
    source: {type: json, path: fixed.jsonl}
    fields: {input: q, target: a, id: key, metadata: [m]}
    corrections: fix.yaml
  unbuilt:
    description: Its source can't be read.
    license: mit
    languages: [te, pt-BR]
    tags: [chat]
    source: {type: json, path: missing.jsonl}
    fields: {input: "column of <i>its own</i>", target: answer}
"""

FIX = """\
corrections:
  - {id: 1, field: input, was: "**One** and $x^2$?", now: "**Two** and $x^2$?", reason: "<i>so</i>"}
  - {id: 2, field: metadata.m, was: "</div><script>document.title='owned'</script>", now: "<b>"}
defaults: {verdict: wrong, source: "https://example.org", by: me, reason: "<script>"}
"""

BROKEN = """\
datasets:
  broken:
    extends: nowhere
    limit: none
"""


def write_catalog(root: Path) -> None:
    """Write the catalog, with its data."""
    (root / "sets").mkdir(parents=True)
    write_records(root / "gallery.jsonl")
    many = "".join(
        f"  many-{number:03}:\n    source: {{type: json, path: planets.jsonl}}\n"
        "    fields: {input: question, choices: options, target: answer}\n"
        f"    description: Number {number} of many.\n    limit: {number}\n    tags: [many]\n"
        for number in range(MANY)
    )
    files = {
        "datasets.yaml": INDEX,
        "sets/all.yaml": SETS,
        "sets/gallery.yaml": MANIFEST,
        "sets/many.yaml": f"datasets:\n{many}",
        "sets/broken.yaml": BROKEN,
        "planets.jsonl": _lines(_planets()),
        "talks.jsonl": _lines(_talks()),
        "hostile.jsonl": _lines(_hostile()),
        "fixed.jsonl": _lines(_fixed()),
        "fix.yaml": FIX,
    }
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def _planets() -> list[dict[str, Any]]:
    planets = ["Mercury", "Venus", "Mars", "Jupiter"]
    return [
        {
            "key": f"planet {number}/é",
            "question": f"Question {number}: which planet is number {number % 4 + 1} of this list?",
            "options": planets,
            "answer": "ABCD"[number % 4],
            "level": number % 3,
            "notes": {"seen": [1, 2], "long": "word " * 30} if number % 2 else "none",
        }
        for number in range(24)
    ]


def _talks() -> list[dict[str, Any]]:
    code = "Count the lines:\n```python\nfor line in open(name):\n    print(line)\n```\nThanks!"
    return [
        {
            "key": "talk-1",
            "messages": [
                {"role": "system", "content": "Answer in one word."},
                {"role": "user", "content": code},
                {"role": "assistant", "content": "Reading it."},
                {
                    "role": "user",
                    "content": [{"type": "image", "image": uri("image/png", picture())}],
                },
            ],
            "answer": "two",
        },
        {
            "key": "talk-2",
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "image", "image": "https://example.com/x.png"}],
                }
            ],
            "answer": "none",
        },
    ]


def _fixed() -> list[dict[str, Any]]:
    script = "</div><script>document.title='owned'</script>"
    return [
        {"key": 1, "q": "**One** and $x^2$?", "a": "1", "m": "x"},
        {"key": 2, "q": script, "a": "2", "m": script},
        {"key": 3, "q": "equal", "a": "3", "m": "y"},
    ]


def _hostile() -> list[dict[str, Any]]:
    script = "</script></code><script>document.title='owned'</script>"
    texts = [
        script,
        "<img src=x onerror=\"document.title='owned'\"><iframe src=https://example.com></iframe>",
        "</article></main><style>body{display:none}</style>",
        "\u202egnp.exe\u202c \u2066hidden\u2069 \u200b\ufeff\x00\x07\x1b[31m",
        "javascript:alert(1) {{ 7 * 7 }} {% raw %} ${7*7}",
        "a\u0301\u0302\u0303" * 2_000,
        "W" * 20_000,
        "long " * 400_000,
        "```\n</code></pre>" + script + "\n```",
    ]
    keys = {f"column {number} <b>": number for number in range(20_000)}
    return [
        *(
            {"key": f"{text[:40]}", "q": text, "a": text[:100], "m": {text[:30]: text[:200]}}
            for text in texts
        ),
        {"key": "keys", "q": "20,000 columns", "a": "x", "m": keys},
    ]
