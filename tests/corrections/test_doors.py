"""Corrections through every door: bundles, caches, engines, reviews, evaluations and receipts.

The lockfile is tried with the first records of GSM8K too.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from inspect_ai.log import EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log

from registry import get_dataset
from registry.cli import main
from registry.inspect.evaluate import task_of
from registry.plugins.remote_cache.of_dataset import open_remote_cache
from registry.samples.provenance import read_provenance
from tests.cli.invocation import Run
from tests.git_repository import git

OWN = [
    {"question": f"How many are {number} and {number}?", "answer": f"Add.\n#### {2 * number}"}
    for number in range(1, 13)
]
MANIFEST = """\
version: 1
datasets:
  sums:
    description: Problems.
    license: mit
    source: {type: json, path: test.jsonl}
    fields:
      input: question
      target: {from: answer, do: [{split: "####"}, {index: -1}, strip]}
      id: {hash: [question], length: 8}
    corrections: errata/test.yaml
    fewshot: {dataset: worked, n: 2}
    eval: {scorer: match}
  worked:
    extends: sums
    description: Solved problems.
    source: {path: train.jsonl}
    corrections: errata/train.yaml
    fewshot: null
  two-shot: {extends: sums, description: With two examples., fewshot: {apply: true}}
  plain-two-shot: {extends: two-shot, description: As they were asked., corrections: null}
  own-shot: {extends: sums, description: With its own., fewshot: {dataset: sums, apply: true}}
"""
NAMES = ("sums", "two-shot", "plain-two-shot", "own-shot", "worked")
WRONG = "999"


def write_catalog(root: Path, lines: list[str]) -> None:
    """Write a catalog: in both files one target is corrected, and one sample left out."""
    root.mkdir()
    (root / "train.jsonl").write_text("\n".join(lines[:6]), encoding="utf-8")
    (root / "test.jsonl").write_text("\n".join(lines[6:]), encoding="utf-8")
    text = MANIFEST.replace("    corrections: errata/test.yaml\n", "")
    (root / "datasets.yaml").write_text(
        text.replace("    corrections: errata/train.yaml\n", ""), encoding="utf-8"
    )
    for name, file in (("sums", "test"), ("worked", "train")):
        first, second = (get_dataset(name, root=root)[place] for place in (0, 1))
        write_rows(
            root / "errata" / f"{file}.yaml",
            {"id": first.id, "field": "target", "was": first.target, "now": WRONG},
            {"id": second.id, "drop": True},
        )
    (root / "datasets.yaml").write_text(MANIFEST, encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write and lock a catalog of our own records, which each test copies."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGISTRY_CACHE_DIR", str(folder / "cache"))
        write_catalog(folder / "catalog", [json.dumps(record) for record in OWN])
        assert main(["lock", "--root", str(folder / "catalog")]) == 0
    return folder / "catalog"


@pytest.fixture
def locked(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = shutil.copytree(made, tmp_path / "catalog")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def root(locked: Path) -> Path:
    (locked / "datasets.lock").unlink()
    return locked


def write_rows(file: Path, *rows: dict[str, Any]) -> None:
    file.parent.mkdir(exist_ok=True)
    data = {"defaults": {"reason": "r"}, "corrections": list(rows)}
    file.write_text(yaml.safe_dump(data), encoding="utf-8")


def edit(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(WRONG, "998"), encoding="utf-8")


def digests(root: Path, *names: str, **options: Any) -> dict[tuple[str, bool], str]:
    """Return the digest of the samples of datasets, corrected and as their sources have them."""
    found = {}
    for name in names or NAMES:
        for corrections in (True, False):
            dataset = get_dataset(name, root=root, corrections=corrections, **options)
            assert dataset.provenance.ordered is not None
            found[name, corrections] = dataset.provenance.ordered
    return found


# --- few-shot: a companion that is itself corrected ---


def answers(name: str, **options: Any) -> list[str]:
    """Return the target of the first sample, after those of its examples."""
    sample = get_dataset(name, **options)[0]
    turns = [] if isinstance(sample.input, str) else sample.input
    shown = [one.text for one in turns if one.role == "assistant"]
    return [*shown, str(sample.target)]


@pytest.mark.usefixtures("root")
def test_examples_are_the_corrected_ones_unless_nothing_is_corrected() -> None:
    worked = [str(one.target) for one in get_dataset("worked", corrections=False)]
    asked = [str(one.target) for one in get_dataset("sums", corrections=False)]
    assert answers("two-shot") == [WRONG, worked[2], WRONG]
    assert answers("plain-two-shot") == [WRONG, worked[2], asked[0]]
    for name in ("two-shot", "plain-two-shot"):
        assert answers(name, corrections=False) == [worked[0], worked[1], asked[0]]
    assert answers("sums", corrections=False, fewshot=1) == [worked[0], asked[0]]
    assert answers("sums", fewshot=1) == [WRONG, WRONG]


@pytest.mark.usefixtures("root")
def test_its_own_examples_are_no_leak_with_and_without_corrections() -> None:
    asked = [str(one.target) for one in get_dataset("sums", corrections=False)]
    assert answers("own-shot") == [asked[2], asked[3], WRONG]
    assert answers("own-shot", corrections=False) == [asked[1], asked[2], asked[0]]


def test_both_versions_are_pinned_if_only_the_examples_are_corrected(
    shared_data: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = tmp_path / "catalog"
    lines = (shared_data / "gsm8k-test.jsonl").read_text(encoding="utf-8").splitlines()
    write_catalog(locked, lines[:80])
    monkeypatch.chdir(locked)
    assert run("lock").code == 0
    assert digests(locked, locked=True) == digests(locked)
    options = {"root": locked, "locked": True}
    corrected = get_dataset("plain-two-shot", **options).provenance  # type: ignore[arg-type]
    original = get_dataset("plain-two-shot", **options, corrections=False).provenance  # type: ignore[arg-type]
    assert (corrected.version, original.version) == ("1-A", None)
    assert (corrected.original, original.original) == (False, True)
    assert {corrected.state, original.state} == {"verified"}
    assert run("lock", "--check").code == 0
    edit(locked / "errata" / "train.yaml")
    assert run("lock", "--check").code == 1


# --- bundles, the remote cache, engines ---


def test_a_bundle_has_the_corrections_and_opens_both_versions_offline(
    locked: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("sums", "two-shot")
    wanted = digests(locked, *names)
    file, there = tmp_path / "b.tar.zst", tmp_path / "there"
    assert run("bundle", *names, "--out", str(file)).code == 0
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "empty"))
    there.mkdir()
    assert run("unbundle", str(file), "--root", str(there)).code == 0
    for name in ("test", "train"):
        one = Path("errata", f"{name}.yaml")
        assert (there / one).read_bytes() == (locked / one).read_bytes()
    assert digests(there, *names, offline=True, locked=True) == wanted
    assert run("validate", "--root", str(there)).code == 0


def test_the_remote_cache_has_the_corrected_samples(
    locked: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "remote").mkdir()
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", str(tmp_path / "remote"))
    wanted = digests(locked)
    assert run("sync", "--push", "--locked").code == 0
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "empty"))
    open_remote_cache.cache_clear()
    results = run("sync", "--locked", "--json").json
    assert {one["status"] for one in results} == {"fetched"}
    assert digests(locked, offline=True) == wanted
    # Other corrections are other samples: what was pushed is not taken for them.
    edit(locked / "errata" / "test.yaml")
    (locked / "datasets.lock").unlink()
    assert digests(locked)["sums", True] != wanted["sums", True]


@contextlib.contextmanager
def cluster() -> Iterator[str]:
    distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB"
    ) as found:
        yield found.scheduler_address


@pytest.mark.filterwarnings("default")  # the cluster's sockets end when Python collects them
def test_dask_builds_the_same_corrected_samples(
    root: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = digests(root)
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "dask"))
    with cluster() as address:
        remote = ("--engine", "dask", "--scheduler", address)
        assert run("sync", *remote).code == 0
        assert {one["status"] for one in run("sync", "--json").json} == {"cached"}
        assert digests(root) == wanted
        write_rows(root / "errata" / "test.yaml", {"id": "none", "drop": True})
        result = run("sync", "sums", *remote)
    assert result.code == 1
    assert "test.yaml:3:3 $.corrections[0].id: no row names a sample" in result.err


# --- reviews ---


def test_another_corrections_file_is_not_what_was_reviewed(locked: Path, run: Run) -> None:
    git(locked, "init", "-q")
    git(locked, "add", "-A")
    git(locked, "commit", "-qm", "first")
    edit(locked / "errata" / "train.yaml")
    (locked / "datasets.lock").unlink()
    assert run("diff", "HEAD", "--build", "--reviewed", "review.json").code == 1
    assert run("sync", "--reviewed", "review.json").code == 0
    text = (locked / "errata" / "train.yaml").read_text(encoding="utf-8")
    (locked / "errata" / "train.yaml").write_text(text.replace("998", "997"), encoding="utf-8")
    result = run("sync", "--reviewed", "review.json")
    assert result.code == 1
    for name in ("worked", "two-shot", "plain-two-shot"):
        assert f"{name}: not as reviewed: errata/train.yaml changed" in result.err
    assert "sums:" not in result.err


def test_diff_names_the_file_of_the_examples_by_its_path_in_the_catalog(
    locked: Path, run: Run
) -> None:
    git(locked, "init", "-q")
    git(locked, "add", "-A")
    git(locked, "commit", "-qm", "first")
    edit(locked / "errata" / "train.yaml")
    assert run("lock", "--upgrade", "worked").code == 0
    changes = {one["name"]: one for one in run("diff", "HEAD", "--json").json["changes"]}
    keys = {one["key"] for one in changes["two-shot"]["keys"]}
    assert "bytes.errata/train.yaml" in keys
    assert not {one for one in keys if one.startswith("fewshot.of")}
    assert changes["worked"]["kinds"] == ["corrections"]


# --- evaluations and receipts ---


def write_log(folder: Path, name: str, **options: Any) -> Path:
    """Write the log of a run of `registry/dataset`, with the metadata and samples of its task."""
    task = task_of(name, {}, **options)
    data: Any = task.dataset
    log = EvalLog(
        status="success",
        eval=EvalSpec(
            created="2026-11-23T20:00:00+00:00",
            task="registry/dataset",
            model="mockllm/model",
            dataset=EvalDataset(name=data.name, location=data.location),
            config={},  # type: ignore[arg-type] # pydantic converts it
            metadata={"registry": data.provenance.as_data()},
        ),
        samples=[
            EvalSample(id=one.id, epoch=1, input=one.input, target=one.target)
            for one in list(data)[:3]
        ],
    )
    file = folder / f"{name}.eval"
    write_eval_log(log, file)
    return file


@pytest.mark.parametrize("name", ["sums", "two-shot", "plain-two-shot"])
def test_the_receipt_of_a_run_on_the_original_finds_its_pin(
    locked: Path, run: Run, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_log(tmp_path, name, corrections=False)
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "empty"))
    result = run("receipt", str(log), "--rebuild")
    assert result.code == 0, result.out
    assert "  data       datasets.lock pins these samples now, without corrections" in result.lines
    assert "  corrected  no: the samples are as their sources have them" in result.lines
    assert "samples with the digest of the log; 3 of 3 samples of the log" in result.lines[-1]
    # Other corrections do not change the original.
    edit(locked / "errata" / "test.yaml")
    assert run("lock", "--upgrade").code == 0
    assert run("receipt", str(log)).code == 0


def test_a_receipt_names_corrections_and_what_became_of_them(
    locked: Path, run: Run, tmp_path: Path
) -> None:
    log = write_log(tmp_path, "sums")
    result = run("receipt", str(log))
    assert result.code == 0
    assert "  corrected  errata/test.yaml sha256:" in result.out
    assert ", 1 changed, 1 left out\n" in result.out
    edit(locked / "errata" / "test.yaml")
    assert run("lock", "--upgrade").code == 0
    result = run("receipt", str(log))
    assert result.code == 1
    assert "errata/test.yaml was " in result.out


def test_a_receipt_without_a_lockfile_knows_the_original(
    root: Path, run: Run, tmp_path: Path
) -> None:
    log = write_log(tmp_path, "sums", corrections=False)
    result = run("receipt", str(log))
    assert (result.code, "they are built from what sums is now" in result.out) == (0, True)
    with (root / "test.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"question": "More?", "answer": "#### 1"}')
    assert run("receipt", str(log)).code == 1


@pytest.mark.parametrize("corrections", [True, False])
def test_a_receipt_follows_a_rename_and_says_so(
    locked: Path, run: Run, tmp_path: Path, corrections: bool
) -> None:
    log = write_log(tmp_path, "sums", corrections=corrections)
    text = MANIFEST.replace("  sums:\n", "  problems:\n").replace(
        "extends: sums", "extends: problems"
    )
    text = text.replace("dataset: sums", "dataset: problems") + "  sums: {renamed_to: problems}\n"
    (locked / "datasets.yaml").write_text(text, encoding="utf-8")
    assert run("lock").code == 0
    result = run("receipt", str(log), "--rebuild")
    assert result.code == 0, result.out
    assert "'sums' is called 'problems' now" in result.out
    assert "samples with the digest of the log" in result.lines[-1]
    # Also where the samples are others now, and no digest leads to the new name.
    edit(locked / "errata" / "test.yaml")
    (locked / "test.jsonl").write_text(
        (locked / "test.jsonl").read_text(encoding="utf-8")
        + '\n{"question": "x", "answer": "#### 1"}'
    )
    assert run("lock", "--upgrade").code == 0
    result = run("receipt", str(log))
    assert result.code == 1
    assert "problems has other samples now" in result.out
    assert "'sums' is called 'problems' now" in result.out


def test_a_receipt_says_why_a_name_is_gone(locked: Path, run: Run, tmp_path: Path) -> None:
    log = write_log(tmp_path, "worked")
    gone = "  worked: {removed: {since: '2', reason: It is wrong, use: sums}}\n"
    head, _, tail = MANIFEST.partition("  worked:\n")
    (locked / "datasets.yaml").write_text(
        head.replace("    fewshot: {dataset: worked, n: 2}\n", "") + gone
    )
    assert tail
    result = run("receipt", str(log))
    assert result.code == 1
    assert "'worked' was removed in 2: It is wrong (use 'sums')" in result.out


def test_the_log_says_that_the_original_was_asked(locked: Path, tmp_path: Path) -> None:
    for corrections in (True, False):
        task = task_of("sums", {}, corrections=corrections)
        data: Any = task.dataset
        stated = read_provenance(data.provenance.as_data())
        assert stated.original is not corrections
        assert (stated.corrections is not None) is corrections
        assert task.version == ("1-A" if corrections else 0)
