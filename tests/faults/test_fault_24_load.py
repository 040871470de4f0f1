"""Readers beside refresh, `cache clear` and `cache prune` always get the right samples.

Two processes run these commands one after the other for as long as others load. REGISTRY_FAULTS=all
starts 32 processes with 200 loads each.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections import Counter
from pathlib import Path

from tests.conftest import CatalogRoot, permit
from tests.faults.background import finish, start
from tests.servers.static import StaticFiles

CATALOG = """
datasets:
  plain: {source: {type: json, path: d.jsonl}, fields: {input: q, choices: c, target: a}}
  shuffled: {extends: plain, shuffle: true, seed: 7, shuffle_choices: 3}
  first: {extends: plain, limit: 5}
  remote: {extends: shuffled, source: {path: URL}}
"""
RECORDS = [{"q": f"question {n}", "c": ["x", "y", "z"], "a": "ABC"[n % 3]} for n in range(300)]
LINES = "".join(f"{json.dumps(one)}\n" for one in RECORDS)

READER = """
import json, sys
from pathlib import Path
from registry import get_dataset

def load(name):
    return [[one.input, one.choices, one.target] for one in get_dataset(name)]

turns, path = int(sys.argv[1]), Path(sys.argv[2])
names = ["plain", "shuffled", "first", "remote"]
if not path.exists():
    path.write_text(json.dumps({name: load(name) for name in names}))
expected = json.loads(path.read_text())
found = {"right": 0, "wrong": 0}
for turn in range(turns):
    name = names[turn % len(names)]
    try:
        kind = "right" if load(name) == expected[name] else "wrong"
    except Exception as error:
        kind = f"{type(error).__name__}: {error}"
    found[kind] = found.get(kind, 0) + 1
print(json.dumps(found))
"""
DISTURBER = """
import contextlib, io, json, sys, threading
from registry.cli import main

stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
turns, errors = 0, []
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
DISTURBANCES = (
    [["sync", "--refresh"]],
    [["cache", "clear", "--yes"], ["sync"], ["cache", "prune"]],
)


def load_beside_others(root: Path, readers: int, loads: int) -> Counter[str]:
    """Return how many loads gave right or wrong samples, or which error."""
    expected = root / "expected.json"
    code, _, err = finish(start(["-c", READER, "0", str(expected)], root))
    assert code == 0, err
    found: Counter[str] = Counter()
    with contextlib.ExitStack() as stack:

        def run(*arguments: str) -> subprocess.Popen[str]:
            process = stack.enter_context(start(["-c", *arguments], root))
            stack.callback(process.kill)  # after a failure
            return process

        disturbers = [run(DISTURBER, json.dumps(one)) for one in DISTURBANCES]
        running = [run(READER, str(loads), str(expected)) for _ in range(readers)]
        for one in running:
            code, out, err = finish(one, timeout=1200)
            assert code == 0, err
            assert all(": waiting for " in line for line in err.splitlines()), err
            found.update(json.loads(out))
        for one in disturbers:
            code, out, err = finish(one, timeout=120)  # closes its stdin, which ends it
            assert code == 0, err
            turns, errors = json.loads(out)
            assert turns > 0
            assert errors == []
    return found


def test_loads_are_right(catalog_root: CatalogRoot, *, thorough: bool) -> None:
    readers, loads = (32, 200) if thorough else (3, 20)
    with StaticFiles({"/d.jsonl": LINES.encode()}) as site:
        root = catalog_root({"all": CATALOG.replace("URL", f"{site.url}/d.jsonl")})
        (permit(root, hosts=["127.0.0.1"]) / "d.jsonl").write_text(LINES, encoding="utf-8")
        found = load_beside_others(root, readers, loads)
    assert found == {"right": readers * loads, "wrong": 0}
