"""Without working file locks every process still gets the right samples, at worst after more work, and `cache clear` clears, or says what is left.

`strace` makes flock(2) a call that does nothing, or one that fails as on a file system without
locks. `datasets` and the Hub's client take theirs in threads, which a replaced `fcntl.flock` reaches,
in each process that Python starts.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import run_apart
from tests.conftest import Https, OneDataset
from tests.faults.background import finish, load, loaded, registry
from tests.faults.faulty_hub import questions
from tests.faults.process import write_catalog
from tests.servers.hub import HubEmulator
from tests.thorough import THOROUGH

RECORDS = [{"q": f"question {n}", "a": f"answer {n}"} for n in range(500)]
SAMPLES = [[one["q"], None, one["a"]] for one in RECORDS]


ERRORS = ["ENOLCK", *(pytest.param(one, marks=THOROUGH) for one in ("ENOSYS", "EOPNOTSUPP"))]
"""One case for our own locks: tests/cache has the others too."""


def injecting(strace: str, result: str) -> list[str]:
    """Return the command that gives flock(2) a result; no other call stops the process."""
    calls = ["-e", "trace=flock", "-e", f"inject=flock:{result}"]
    return [strace, "--seccomp-bpf", "-f", "-q", "-o", "/dev/null", *calls]


@pytest.mark.parametrize("result", ["success", *ERRORS])
def test_samples_are_right_without_locks(
    https: Https,
    one_dataset: OneDataset,
    cache_dir: Path,
    strace: str,
    result: str,
    *,
    thorough: bool,
) -> None:
    body = b"".join(json.dumps(one).encode() + b"\n" for one in RECORDS)
    https.put("/data.jsonl", body, etag="1", seconds=0.3)
    root = one_dataset({"type": "json", "path": f"{https.url}/data.jsonl"})
    injected = "retval=0" if result == "success" else f"error={result}"
    without = injecting(strace, injected)
    count = 16 if thorough else 2
    results = [finish(one) for one in [load("data", root, before=without) for _ in range(count)]]
    assert [(code, err) for code, _, err in results] == [(0, "")] * count
    assert [json.loads(out) == SAMPLES for _, out, _ in results] == [True] * count
    # At worst each has downloaded it; one that started late may have found it.
    assert 1 <= https.requests.count(("GET", "/data.jsonl")) <= count
    code, out, err = loaded("data", root)
    assert (code, json.loads(out), err) == (0, SAMPLES, "")


@pytest.mark.parametrize("error", ERRORS)
def test_the_cache_is_cleared_without_locks(
    one_dataset: OneDataset, cache_dir: Path, strace: str, error: str
) -> None:
    root = one_dataset({"type": "json", "path": "data.jsonl"})
    (root / "data.jsonl").write_text('{"q": "x", "a": "y"}\n', encoding="utf-8")
    assert finish(registry("sync", root=root))[0] == 0
    (versioned,) = cache_dir.glob("v*")
    left = versioned / "tmp" / "left"
    left.mkdir(parents=True)
    before = injecting(strace, f"error={error}")
    code, _, err = finish(registry("cache", "clear", "--yes", root=root, before=before))
    assert (code, err.count("error: ")) == (1, 1)
    assert f"error: {left}: can't be removed: nobody can tell whether " in err
    assert [path for path in cache_dir.rglob("*") if path.is_file()] == []
    left.rmdir()
    assert finish(registry("cache", "clear", "--yes", root=root, before=before))[0] == 0


NO_LOCKS = """
import errno, fcntl, os

def refuse(descriptor, operation):
    number = getattr(errno, os.environ["NO_LOCKS"])
    raise OSError(number, os.strerror(number))

fcntl.flock = refuse
"""


# `filelock`, for the Hub, answers ENOSYS in its own way.
@pytest.mark.parametrize("error", ["ENOLCK", "ENOSYS", pytest.param("EOPNOTSUPP", marks=THOROUGH)])
def test_the_hub_is_read_without_locks(
    hub: HubEmulator, tmp_path: Path, error: str, *, thorough: bool
) -> None:
    card = b"---\nconfigs:\n- config_name: default\n  data_files: test.*\n---\n"
    hub.commit("org/parquet", {"README.md": card, "test.parquet": questions(20)})
    line = b'{"q": "x", "a": "y"}\n'
    hub.commit("org/lines", {"README.md": card, "test.jsonl": line})
    (tmp_path / "sitecustomize.py").write_text(NO_LOCKS, encoding="utf-8")  # of its workers
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "own.jsonl").write_bytes(line)
    sources = {
        "parquet": "path: org/parquet, split: train",
        "lines": "path: org/lines, split: train",
        "own": "path: json, split: train, data_files: own.jsonl",
    }
    fields = "fields: {input: q, target: a}"
    datasets = [f"  {name}: {{source: {{type: hf, {keys}}}, {fields}}}\n" for name, keys in sources.items()]  # fmt: skip
    root = write_catalog(tmp_path / "catalog", "".join(datasets))
    sync = ["sync", "--jobs", "3"]
    environment = {
        "HF_HOME": str(tmp_path / "hf"),
        "NO_LOCKS": error,
        "PYTHONPATH": str(tmp_path),
    }
    commands = [sync, sync, [*sync, "--refresh"]]
    chosen = commands if thorough or error == "ENOLCK" else commands[:1]
    ran = run_apart(root, chosen, environment=environment, before=NO_LOCKS)
    for one, done in zip(ran, ["3 built", "3 cached", "3 built"], strict=False):
        assert (one.code, f": {done} in " in one.err, "Warning" in one.err) == (0, True, False), one
