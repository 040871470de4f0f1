"""Readers beside refresh, `cache clear` and `cache prune` always get the right samples.

Every process runs the command line, or `get_dataset`, as a user's would. REGISTRY_FAULTS=all runs
32 processes with 200 loads each.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.conftest import CatalogRoot

CATALOG = """
datasets:
  plain: {source: {type: json, path: d.jsonl}, fields: {input: q, choices: c, target: a}}
  shuffled: {extends: plain, shuffle: true, seed: 7, shuffle_choices: 3}
  first: {extends: plain, limit: 5}
"""
RECORDS = [{"q": f"question {n}", "c": ["x", "y", "z"], "a": "ABC"[n % 3]} for n in range(300)]

PRELUDE = """
import json, sys
from registry import get_dataset

def load(name):
    return [[one.input, one.choices, one.target] for one in get_dataset(name)]

names = ["plain", "shuffled", "first"]
"""
REFERENCE = f"{PRELUDE}\nprint(json.dumps({{name: load(name) for name in names}}))"
READER = f"""{PRELUDE}
expected = json.loads(sys.stdin.readline())
found = {{"right": 0, "wrong": 0}}
for turn in range(int(sys.argv[1])):
    name = names[turn % len(names)]
    try:
        kind = "right" if load(name) == expected[name] else "wrong"
    except Exception as error:
        kind = f"{{type(error).__name__}}: {{error}}"
    found[kind] = found.get(kind, 0) + 1
print(json.dumps(found))
"""
DISTURBER = """
import contextlib, io, json, sys, threading
from registry.cli import main

stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
turns = 0
errors = []
while not stop.is_set():
    for command in json.loads(sys.argv[1]):
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = main(command)
        if code:
            errors.append(f"{command}: {code}: {output.getvalue()}")
    turns += 1
print(json.dumps([turns, errors[:3]]))
"""
DISTURBANCES: list[list[list[str]]] = [
    [["sync", "--refresh"]],
    [["cache", "clear", "--yes"], ["sync"]],
]


def start(code: str, argument: str, root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, argument],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_loads_are_right_beside_refresh_clear_and_prune(
    catalog_root: CatalogRoot, *, thorough: bool
) -> None:
    readers, loads = (32, 200) if thorough else (6, 30)
    root = catalog_root({"all": CATALOG})
    (root / "d.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in RECORDS), "utf-8")
    reference = subprocess.run(
        [sys.executable, "-c", REFERENCE], cwd=root, capture_output=True, text=True, check=False
    )
    assert reference.returncode == 0, reference.stderr
    disturbers = [start(DISTURBER, json.dumps(one), root) for one in DISTURBANCES]
    processes = [start(READER, str(loads), root) for _ in range(readers)]
    for one in processes:
        assert one.stdin is not None
        one.stdin.write(reference.stdout)
        one.stdin.close()
        one.stdin = None
    found: Counter[str] = Counter()
    for one in processes:
        out, err = one.communicate(timeout=600)
        assert one.returncode == 0, err
        assert all(": waiting for process " in line for line in err.splitlines()), err
        found.update(json.loads(out))
    turns = [one.communicate("", timeout=120) for one in disturbers]
    assert found == {"right": readers * loads, "wrong": 0}
    for out, err in turns:
        assert err == ""
        count, errors = json.loads(out)
        assert count > 0
        assert errors == []
