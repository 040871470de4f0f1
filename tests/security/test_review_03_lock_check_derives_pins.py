"""`lock --check` derives every field of a pin again, so that none can be edited unnoticed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from registry.base.materials import Material
from registry.catalog.catalog import Catalog
from registry.lockfile.models import Pin
from registry.lockfile.spec_digest import spec_digest
from registry.mapping.custom import mapper_digest
from tests.command_line import run
from tests.conftest import Https
from tests.git_repository import write_files
from tests.security.audit import Audited, run_audited

INDEX = "version: 1\ninclude: [m.yaml]\n"
FIELDS = "fields: {input: q, target: a}"
MANIFEST = f"datasets: {{qa: {{source: {{type: csv, path: 'data/*.csv'}}, {FIELDS}}}}}\n"
ZEROS = "sha256:" + "0" * 64


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a locked catalog, and the cache that this leaves, once."""
    data = {"data/a.csv": "q,a\nOne?,1\nTwo?,2\n", "data/b.csv": "q,a\nThree?,3\n"}
    files = {"datasets.yaml": INDEX, "m.yaml": MANIFEST, **data}
    folder = write_files(tmp_path_factory.mktemp("locked") / "catalog", files)
    cache = str(folder.parent / "cache")
    assert run(folder, "lock", environment={"REGISTRY_CACHE_DIR": cache}).code == 0
    return folder


@pytest.fixture
def folder(locked: Path, tmp_path: Path, cache_dir: Path) -> Path:
    shutil.copytree(locked.parent / "cache", cache_dir)
    return Path(shutil.copytree(locked, tmp_path / "catalog"))


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "datasets.lock"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def value(folder: Path, key: str) -> str:
    """Return the line of a key of the pin."""
    lines = (folder / "datasets.lock").read_text().splitlines()
    return next(line for line in lines if line.strip().startswith(f"{key}: "))


EDITS = {
    "spec": (ZEROS, "is pinned for an older manifest"),
    "samples": ("7", "samples is 7 in its pin, but 3"),
    "columns": ("[q, answer]", "columns is ['q', 'answer'] in its pin, but ['q', 'a']"),
    "ordered": (ZEROS, "ordered is 'sha256:000"),
    "unordered": (ZEROS, "unordered is 'sha256:000"),
    "format": ("2", "is pinned in format 2, of a newer release (upgrade eval-registry)"),
    "size": ("7", "sources[0].size is 7 in its pin, but 18"),
    "sha256": ('"' + "0" * 64 + '"', "data/a.csv differs from its pin"),
    "requested": (
        "data/?.csv",
        "sources[0].requested is 'data/?.csv' in its pin, but 'data/*.csv'",
    ),
}


def test_every_field_of_a_pin_is_edited() -> None:
    # Tested below, but corrections in tests/corrections, and parts in tests/acceptance.
    own = {"sources", "code", "location", "etag", "version_id", "revision"}
    own |= {"version", "original", "parts"}
    named = {"files", "sandbox", "images"}  # tested with row 18
    keys = {*Pin.__struct_fields__, *Material.__struct_fields__}
    assert keys == own | named | EDITS.keys()


@pytest.mark.parametrize(("key", "warm"), [*((key, True) for key in EDITS), ("samples", False)])
def test_an_edited_field_is_a_difference_on_warm_and_cold_machines(
    folder: Path, key: str, warm: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, message = EDITS[key]
    if not warm:
        monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cold"))
    line = value(folder, key)
    edit(folder, line, line.partition(": ")[0] + f": {new}")
    done = run(folder, "lock", "--check")
    assert done.code == 1
    assert f"qa: {message}" in done.out
    assert key == "format" or "`registry lock" in done.out


SIZE = "        size: 18\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("location: data/b.csv", "location: data/c.csv", "data/c.csv is pinned, but not in"),
        (SIZE, f"        etag: e\n{SIZE}", "sources[0].etag is 'e'"),
        (SIZE, f"        version_id: v\n{SIZE}", "sources[0].version_id"),
    ],
)
def test_other_files_and_validators_of_a_local_file_are_differences(
    folder: Path, old: str, new: str, message: str
) -> None:
    edit(folder, old, new)
    done = run(folder, "lock", "--check")
    assert done.code == 1
    assert message in done.out


def test_files_that_a_glob_matches_now_are_differences(folder: Path) -> None:
    (folder / "data" / "c.csv").write_text("q,a\nFour?,4\n")
    done = run(folder, "lock", "--check")
    assert done.code == 1
    hint = "(`registry lock --upgrade qa` pins what is there now)"
    assert f"qa: data/c.csv is in its sources, but not pinned {hint}\n" in done.out


def test_the_pins_of_a_repository_are_those_of_its_commit(folder: Path) -> None:
    commit, other = "c" * 40, "d" * 40
    source = f"source: {{type: hf, path: o/n, split: test, revision: {commit}}}"
    (folder / "m.yaml").write_text(f"datasets:\n  hub: {{{source}, fields: {{input: q}}}}\n")
    digests = "".join(f"    {key}: {ZEROS}\n" for key in ("ordered", "unordered"))
    rest = f"    samples: 1\n    columns: [q]\n{digests}    format: 1\n"
    digest = spec_digest_in(folder, "hub")
    for rows, code_expected, message in (
        (f'        revision: "{commit}"\n', 0, "0 pins checked completely, 1 in part"),
        (f'        revision: "{other}"\n', 1, f"does not pin hf://datasets/o/n at {commit}"),
        (f'        requested: "{commit}"\n        revision: "{other}"\n', 1, "does not pin"),
    ):
        (folder / "datasets.lock").write_text(
            f"version: 1\ndatasets:\n  hub:\n    spec: {digest}\n    sources:\n"
            f"      - location: hf://datasets/o/n\n{rows}{rest}"
        )
        checked = run(folder, "lock", "--check", "hub")
        assert message in checked.out, checked
        assert checked.code == code_expected


def test_what_needs_a_request_is_counted_with_its_reason(
    tmp_path: Path, https: Https, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = https.put("/qa.csv", b"q,a\nOne?,1\n", etag="v1")
    files = {"datasets.yaml": INDEX, "m.yaml": MANIFEST.replace("data/*.csv", url)}
    folder = write_files(tmp_path / "catalog", files)
    assert run(folder, "lock").code == 0
    https.requests.clear()
    last = run(folder, "lock", "--check").out.splitlines()[-1]
    validators = "only the server knows an ETag or VersionId (1)"
    assert last == f"datasets.lock: fresh (0 pins checked completely, 1 in part: {validators})"
    edit(folder, "samples: 1", "samples: 7")  # its bytes are in the cache
    assert "samples is 7 in its pin, but 1" in run(folder, "lock", "--check").out
    edit(folder, "samples: 7", "samples: 1")
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cold"))
    cold = run(folder, "lock", "--check", "--json")
    (pin,) = json.loads(cold.out)["pins"]
    reasons = {one["field"]: one["reason"] for one in pin["unchecked"]}
    assert cold.code == 0
    of_bytes = ["sources[0].size", "sources[0].sha256", "columns"]
    assert reasons == {
        "sources[0].etag": "only the server knows an ETag or VersionId",
        **dict.fromkeys(of_bytes, "source bytes not in the cache"),
        **dict.fromkeys(["samples", "ordered", "unordered"], "samples not in the cache"),
    }
    assert https.requests == []


def test_a_mapper_runs_only_by_the_rules_of_a_base(folder: Path, tmp_path: Path) -> None:
    trusting = f"{INDEX}trust: ['json.tool:main']\n"
    mapped = MANIFEST.replace(FIELDS, "mapper: 'json.tool:main'")
    write_files(folder, {"datasets.yaml": trusting, "m.yaml": mapped})
    edit(folder, value(folder, "spec"), f"    spec: {spec_digest_in(folder, 'qa')}")
    unpinned = run_audited(["lock", "--check"], folder=folder)
    assert unpinned.code == 1
    found = re.search(r"code is \{\} in its pin, but \{'json': '(sha256:\w+)", unpinned.out)
    assert found
    assert not imports_mapper(unpinned)
    code = mapper_digest("json.tool:main")
    edit(folder, "    samples: ", f"    code:\n      json: {code}\n    samples: ")
    own = run_audited(["lock", "--check"], folder=folder)
    assert own.code == 0, own.text
    assert "a mapper runs only by the rules of a base, `--config-from` (1)" in own.out
    assert not imports_mapper(own)
    base = write_files(tmp_path / "base", {"datasets.yaml": "version: 1\n"})
    command = ["lock", "--check", "--config-from", str(base)]
    refused = run_audited(command, folder=folder)
    assert refused.code == 1
    assert "json.tool:main" in refused.out
    assert not imports_mapper(refused)
    (base / "datasets.yaml").write_text(trusting)
    trusted = run_audited(command, folder=folder)
    assert trusted.code == 1
    assert "the mapper json.tool:main failed" in trusted.out
    assert imports_mapper(trusted)


def imports_mapper(done: Audited) -> bool:
    """Return whether the module was read; `importlib` raises no audit event of its own."""
    return any("/json/__pycache__/tool." in path for path in done.opened)


def spec_digest_in(folder: Path, name: str) -> str:
    """Return the digest that a pin of the present manifest has."""
    return spec_digest(Catalog.open(folder)[name])
