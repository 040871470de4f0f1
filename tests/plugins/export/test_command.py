"""`export`: files, standard output, summaries, and what is refused."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import BinaryIO

import pytest

from registry.errors import ExportError
from registry.plugins.export.command import (
    provenance_path,
    publish,
    refuse_existing,
    refuse_special,
    targets_of,
)
from registry.plugins.export.exported import Exported
from registry.plugins.export.formats import FORMATS, Format, find_format
from registry.samples.provenance import read_provenance
from tests.cli.invocation import MISSING_FILE, Run, write
from tests.plugins.export.conftest import Opener

JSONL = find_format("jsonl")


def test_one_dataset_is_written_with_its_provenance(run: Run, own: Path) -> None:
    result = run("export", "qa", "--out", "a/out.jsonl")
    assert result.code == 0
    (line,) = result.lines
    files = r"a/out\.jsonl, a/out\.jsonl\.provenance\.json"
    assert re.fullmatch(rf"qa: 3 samples, \d+ B: {files}", line)
    samples, provenance = sorted((own / "a").iterdir())
    inputs = [json.loads(line)["input"] for line in samples.read_text().splitlines()]
    assert inputs == ["One?", "Two?", "Three?"]
    found = read_provenance(json.loads(provenance.read_text()))
    assert (found.name, found.samples) == ("qa", 3)


def test_stdout_has_the_bytes_alone(run: Run, own: Path) -> None:
    result = run("export", "qa-one", "--out", "-", "--format", "jsonl")
    assert result.code == 0
    assert json.loads(result.out)["target"] == "1"


def test_several_datasets_go_to_a_folder_and_one_failure_does_not_stop_the_others(
    run: Run, own: Path
) -> None:
    write(own, "gone", MISSING_FILE)
    result = run("export", "gone", "qa", "qa-one", "--out", "out/", "--format", "jsonl", "--json")
    assert result.code == 1
    assert "gone.csv" in result.json[0]["error"]["message"]
    assert len({tuple(one) for one in result.json}) == 1  # the same keys
    assert [one["samples"] for one in result.json[1:]] == [3, 1]
    files = {file["path"] for one in result.json[1:] for file in one["files"]}
    assert {str(path) for path in Path("out").iterdir()} == files


def test_existing_file_is_only_replaced_by_force(run: Run, own: Path) -> None:
    (own / "out.jsonl").write_text("mine")
    result = run("export", "qa", "--out", "out.jsonl")
    assert (result.code, result.err) == (1, "error: out.jsonl exists (--force replaces it)\n")
    assert (own / "out.jsonl").read_text() == "mine"
    assert run("export", "qa", "--out", "out.jsonl", "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("qa", "--out", "x.jsnl"), 2, "no format has the suffix of 'x.jsnl'"),
        (("qa", "--out", "x", "--format", "jsnl"), 2, "did you mean 'jsonl'?"),
        (("qa", "qa-one", "--out", "x.jsonl"), 2, "can't be one file x.jsonl"),
        (("qa", "qa-one", "--out", "-", "--format", "jsonl"), 2, "takes one dataset"),
        (("qa", "--out", "-", "--format", "csv", "--json"), 2, "both take stdout"),
        (("qa", "--out", "x.jsnl"), 2, "suffixes: .jsonl, .parquet, .arrow, .csv, eval.yaml"),
        (("qq", "--out", "x.jsonl"), 1, "similar names: qa"),
    ],
)
def test_what_is_impossible_is_refused_before_anything_is_written(
    run: Run, own: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = run("export", *arguments)
    assert (result.code, message in result.err) == (code, True)
    assert not list(own.glob("x*"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_force_replaces_no_pipe_also_behind_a_link(run: Run, own: Path) -> None:
    os.mkfifo(own / "out.jsonl")
    (own / "link.jsonl").symlink_to(own / "out.jsonl")
    for name in ("out.jsonl", "link.jsonl"):
        found = run("export", "qa", "--out", name, "--force")
        assert found.code == 1
        assert f"{name} is a device or a pipe" in found.err
    assert (own / "link.jsonl").is_fifo()


def test_failed_export_leaves_the_old_file(
    opened: Opener, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = catalog / "out.jsonl"
    target.write_text("old")

    def fail(exported: Exported, file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr("registry.plugins.export.tables.write_jsonl", fail)
    with pytest.raises(ExportError, match=r"can't write .*out\.jsonl: the disk is full"):
        publish(opened("mixed"), JSONL, target)
    assert target.read_text() == "old"
    assert [path.name for path in catalog.iterdir() if path.name.startswith(".out")] == []


def test_what_exists_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    refuse_existing(target, JSONL)
    target.symlink_to("nowhere")
    with pytest.raises(ExportError, match=r"exists \(--force replaces it\)"):
        refuse_existing(target, JSONL)
    with pytest.raises(ExportError, match="is a folder"):
        refuse_existing(tmp_path, JSONL)
    target.rename(provenance_path(target))
    with pytest.raises(ExportError, match=r"provenance\.json exists"):
        refuse_existing(target, JSONL)
    refuse_existing(target.with_suffix(".parquet"), find_format("parquet"))


def test_folder_gets_all_files_and_keeps_others(opened: Opener, tmp_path: Path) -> None:
    kind, folder = find_format("croissant"), tmp_path / "out"
    files = publish(opened("mixed"), kind, folder)
    names = {"samples.parquet", "croissant.json", "provenance.json", "NOTICE"}
    assert {path.name for path in files} == names
    assert "\n  license: mit\n" in (folder / "NOTICE").read_text()
    assert set(folder.iterdir()) == set(files)
    with pytest.raises(ExportError, match="is not an empty folder"):
        refuse_existing(folder, kind)
    (folder / "mine.txt").write_text("mine")
    publish(opened("mixed"), kind, folder)
    assert (folder / "mine.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []


def test_folder_may_be_the_working_directory(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported, folder = opened("mixed"), tmp_path / "out"
    folder.mkdir()
    monkeypatch.chdir(folder)
    files = publish(exported, find_format("croissant"), Path())
    assert sorted(path.resolve() for path in files) == sorted(folder.iterdir())


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "file/inner"])
def test_what_is_no_path_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(ExportError, match="can't write"):
        refuse_special(tmp_path / name)


@pytest.mark.parametrize(
    ("names", "to", "name", "expected"),
    [
        (["a"], "x.jsonl", None, ["x.jsonl"]),
        (["a"], "x.data", "jsonl", ["x.data"]),
        (["a"], "out/", "jsonl", ["out/a.jsonl"]),
        (["a"], "x" * 300, "jsonl", ["x" * 300]),
        (["a", "b"], "out", "jsonl", ["out/a.jsonl", "out/b.jsonl"]),
        (["a", "b"], "{name}/x.jsonl", None, ["a/x.jsonl", "b/x.jsonl"]),
    ],
)
def test_place_of_each_dataset(
    names: list[str], to: str, name: str | None, expected: list[str]
) -> None:
    _, found = targets_of(names, to, name)
    assert found == dict(zip(names, map(Path, expected), strict=True))


@pytest.mark.parametrize("names", [("g/a/b", "g/a:b"), ("g/A", "g/a")])
@pytest.mark.parametrize("to", ["out/", "out/{name}.csv"])
def test_members_that_would_be_one_file_are_refused(names: tuple[str, str], to: str) -> None:
    with pytest.raises(ExportError, match=rf"{names[0]} and {names[1]} can't be one file out/g\+"):
        targets_of(names, to, "csv")


def test_suffix_that_is_a_whole_name_gets_a_folder_per_dataset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = Format(name="named", suffix="named.yaml", writer="none:write", summary="")
    monkeypatch.setitem(FORMATS, "named", named)
    _, found = targets_of(["a", "b"], "out/", "named")
    assert found == {"a": Path("out/a/named.yaml"), "b": Path("out/b/named.yaml")}


def test_existing_folder_gets_a_file_per_dataset(tmp_path: Path) -> None:
    _, found = targets_of(["a"], str(tmp_path), "jsonl")
    assert found == {"a": tmp_path / "a.jsonl"}
