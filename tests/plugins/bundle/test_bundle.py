"""What a bundle contains, and what can't be bundled."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from registry.cache.cache import Cache
from registry.cli import main
from registry.errors import BundleError, OfflineError
from registry.plugins.bundle import bundle as module
from registry.plugins.bundle.bundle import Bundled
from registry.plugins.bundle.bundle_file import Contents, read_bundle, write_bundle
from registry.samples.provenance import read_provenance
from tests.cli.invocation import Run
from tests.conftest import CatalogRoot, Https, OneDataset, Page, permit
from tests.plugins.bundle.conftest import packed

CSV = "q,a\n1,2\n3,4\n"


def listed(done: Bundled) -> Contents:
    return read_bundle(done.file, lambda _: None, lambda _: None)


@pytest.fixture
def local(one_dataset: OneDataset) -> Path:
    """Give a locked catalog with a dataset in a file of its folder."""
    root = one_dataset({"type": "csv", "path": "data/rows.csv"})
    (root / "data").mkdir()
    (root / "data" / "rows.csv").write_text(CSV, "utf-8")
    assert main(["lock", "--root", str(root)]) == 0
    return root


def test_it_has_the_catalog_the_source_and_the_samples(local: Path, tmp_path: Path) -> None:
    done = packed(local, tmp_path, "data")
    contents = listed(done)
    key = done.datasets[0].fingerprint.removeprefix("sha256:")
    assert [member.name for member in contents.members] == [
        "catalog/data/rows.csv",
        "catalog/datasets.lock",
        "catalog/datasets.yaml",
        "catalog/registry/data.yaml",
        f"samples/{key}/entry.json",
        f"samples/{key}/samples.arrow",
    ]
    assert (done.datasets[0].samples, done.members, done.needs) == (2, 6, ())
    assert "\ndata\n  license: not known\n" in contents.notice
    stated = read_provenance(contents.datasets[0].provenance)
    assert (stated.name, stated.samples, stated.state) == ("data", 2, "verified")
    assert done.without_samples == ()
    assert done.bytes == done.file.stat().st_size


def test_the_same_datasets_give_the_same_bytes(local: Path, tmp_path: Path) -> None:
    first = packed(local, tmp_path, "data").sha256
    (tmp_path / "own-cache").rename(tmp_path / "gone")
    (local / "data" / "rows.csv").touch()
    assert packed(local, tmp_path, "data").sha256 == first


def test_samples_that_are_removed_meanwhile_are_built_again(
    local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = packed(local, tmp_path, "data").sha256
    write = write_bundle

    def write_late(path: Path, contents: Contents, *others: Any) -> None:
        monkeypatch.undo()
        Cache(tmp_path / "own-cache").discard("samples", contents.datasets[0].fingerprint)
        write(path, contents, *others)

    monkeypatch.setattr(module, "write_bundle", write_late)
    assert packed(local, tmp_path, "data").sha256 == first


def test_only_the_manifests_and_pins_of_the_names_are_in_it(
    catalog_root: CatalogRoot, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "datasets: {NAME: {source: {type: csv, path: rows.csv}, fields: {input: q, target: a}}}"
    child = "datasets: {child: {extends: two, limit: 1}}"
    root = catalog_root(
        {"one": text.replace("NAME", "one"), "two": text.replace("NAME", "two"), "child": child}
    )
    (root / "rows.csv").write_text(CSV, "utf-8")
    assert main(["lock", "--root", str(root)]) == 0
    done = packed(root, tmp_path, "child")
    assert done.without_samples == ("two",)
    names = [member.name for member in listed(done).members]
    assert [name for name in names if name.endswith(".yaml")] == [
        "catalog/datasets.yaml",
        "catalog/registry/child.yaml",
        "catalog/registry/two.yaml",
    ]
    # On the other machine a sync without names fails for the parent, and says how to leave it out.
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "other-cache"))
    other = str(tmp_path / "other")
    assert run("unbundle", str(done.file), "--root", other).code == 0
    all_of_it = run("sync", "--offline", "--locked", "--root", other)
    advised = f"`registry sync --pinned --root {other}`"
    hint = f"{advised} leaves out the 1 dataset that datasets.lock does not pin"
    assert (all_of_it.code, all_of_it.err.splitlines()[-1]) == (1, hint)
    pinned = run("sync", "--offline", "--pinned", "--root", other)
    assert (pinned.code, pinned.lines[1].split()[:2]) == (0, ["child", "cached"])
    (tmp_path / "other" / "datasets.lock").unlink()
    nothing = run("sync", "--pinned", "--root", other)
    assert (nothing.code, nothing.err) == (
        1,
        f"error: {tmp_path}/other/datasets.lock: it pins none of these datasets\n",
    )


def test_files_that_other_programs_obey_are_listed_with_their_dataset(
    one_dataset: OneDataset, tmp_path: Path
) -> None:
    fields = {"input": "q", "target": "a", "files": "f"}
    root = one_dataset({"type": "json", "path": "data/x.jsonl"}, fields=fields)
    (root / "data").mkdir()
    names = ("conftest.py", "Makefile", "ok.txt")
    row = {"q": "1", "a": "2", "f": {name: name for name in names}}
    (root / "data" / "x.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    for name in names:
        (root / "data" / name).write_text("x", "utf-8")
    assert main(["lock", "--root", str(root)]) == 0
    with pytest.raises(BundleError) as raised:
        packed(root, tmp_path, "data")
    message = "it can't have data/Makefile (of data), data/conftest.py (of data): only data"
    assert str(raised.value).startswith(message)
    assert not (tmp_path / "out.tar.zst").exists()


def test_a_pipe_is_not_replaced(local: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out.tar.zst")
    with pytest.raises(BundleError, match=r"can't write .*out\.tar\.zst: it is a device or a pipe"):
        packed(local, tmp_path, "data")
    assert (tmp_path / "out.tar.zst").is_fifo()


def test_a_source_outside_the_catalog_is_refused(one_dataset: OneDataset, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(CSV, "utf-8")
    root = one_dataset({"type": "csv", "path": "../rows.csv"})
    assert main(["lock", "--root", str(root)]) == 0
    with pytest.raises(BundleError, match=r"rows\.csv is outside the catalog's folder"):
        packed(root, tmp_path, "data")


def test_a_file_that_can_not_be_read_is_named(
    local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = write_bundle

    def write_late(path: Path, contents: Contents, *others: Any) -> None:
        (local / "data" / "rows.csv").unlink()
        write(path, contents, *others)

    monkeypatch.setattr(module, "write_bundle", write_late)
    message = r"can't write .*out\.tar\.zst: .*rows\.csv: No such file or directory"
    with pytest.raises(BundleError, match=message):
        packed(local, tmp_path, "data")
    assert not (tmp_path / "out.tar.zst").exists()


def test_what_is_not_cached_is_built_unless_offline(
    https: Https, one_dataset: OneDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    https.pages["/data.csv"] = Page(CSV.encode())
    source = {"type": "csv", "path": f"{https.url}/data.csv"}
    root = permit(one_dataset(source), hosts=["localhost"])
    assert main(["lock", "--root", str(root)]) == 0
    with pytest.raises(OfflineError):
        packed(root, tmp_path, "data", offline=True)
    assert packed(root, tmp_path, "data").datasets[0].samples == 2
    assert packed(root, tmp_path, "data", offline=True).datasets[0].samples == 2


def test_what_unbundle_would_refuse_is_not_written(
    local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "listed_files", lambda _: [local / "more.txt"])
    (local / "more.txt").write_text("more", "utf-8")
    with pytest.raises(BundleError) as raised:
        packed(local, tmp_path, "data")
    assert str(raised.value) == (
        f"`registry unbundle` would refuse {tmp_path / 'out.tar.zst'}:"
        " none of its datasets needs more.txt"
    )
    assert not (tmp_path / "out.tar.zst").exists()


def test_a_bundle_is_written_and_described(run: Run, own: Path, tmp_path: Path) -> None:
    assert run("lock").code == 0
    file = tmp_path / "out.tar.zst"
    result = run("bundle", "qa", "-o", str(file))
    assert result.code == 0, result.err
    assert result.lines[0].split() == ["dataset", "samples", "fingerprint"]
    assert result.lines[1].startswith("qa ")
    data = run("bundle", "qa", "-o", str(file), "--json").json
    assert result.lines[-1] == f"sha256: {data['sha256']}"
    assert (data["bytes"], data["needs"]) == (file.stat().st_size, [])
    assert "not written to stdout (`./-` is a file)" in run("bundle", "qa", "-o", "-").err


def test_an_unlocked_dataset_is_an_error_and_leaves_no_file(
    run: Run, own: Path, tmp_path: Path
) -> None:
    result = run("bundle", "qa", "-o", str(tmp_path / "out.tar.zst"))
    assert result.code == 1
    assert "qa: datasets.lock does not pin it (`registry lock qa` does)" in result.err
    assert not (tmp_path / "out.tar.zst").exists()
