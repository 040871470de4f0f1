"""`import`: a manifest that validates, what was left out, and exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.errors import ExtensionError, ManifestError
from registry.plugins.importers import command
from registry.plugins.importers.command import detect_kind, files_of, import_files
from registry.plugins.importers.models import ImportOptions
from registry.plugins.importers.tolerant_yaml import ForeignYaml, parse_foreign_yaml
from registry.progress import Progress
from registry.yamldoc.reader import parse_yaml
from tests.cli.invocation import Run
from tests.plugins.importers.support import write

TASK = """\
task: quiz
dataset_path: acme/quiz
test_split: test
output_type: generate_until
doc_to_text: "Q: {{question}}"
doc_to_target: answer
"""
CODE = "process_docs: !function utils.p\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quiz.yaml").write_text(TASK)
    (tmp_path / "partial.yaml").write_text(TASK.replace("task: quiz", "task: partial") + CODE)
    return tmp_path


def test_the_manifest_goes_to_stdout_and_the_rest_to_stderr(folder: Path, run: Run) -> None:
    found = run("import", "partial.yaml")
    assert found.code == 0
    keys = parse_yaml(found.out, file="x").value["datasets"]["partial"]
    assert keys["fields"]["input"] == {"template": "Q: {question}"}
    assert "left out: partial: process_docs: it rewrites or selects the records" in found.err
    assert "# left out: process_docs" in found.out
    assert "1 dataset imported, 0 not" in found.err


def test_a_written_manifest_validates(folder: Path, run: Run) -> None:
    (folder / "datasets.yaml").write_text("version: 1\ninclude: [registry/*.yaml]\n")
    found = run("import", "quiz.yaml", "partial.yaml", "--out", "registry/quiz.yaml")
    assert (found.code, found.out) == (0, "")
    assert "2 datasets imported, 0 not: review registry/quiz.yaml, and add" in found.err
    assert run("validate", "--root", ".").code == 0
    assert run("import", "quiz.yaml", "--out", "-").out == run("import", "quiz.yaml").out != ""


def test_strict_fails_if_anything_was_left_out(folder: Path, run: Run) -> None:
    assert run("import", "quiz.yaml", "--strict").code == 0
    assert run("import", "partial.yaml", "--strict").code == 1
    (folder / "group.yaml").write_text("group: g\ntask: [quiz]\n")
    assert run("import", "group.yaml", "quiz.yaml").code == 0
    assert run("import", "group.yaml", "quiz.yaml", "--strict").code == 1
    alone = run("import", "group.yaml")
    assert (alone.code, alone.out) == (1, "")
    assert "not imported: g: a group" in alone.err
    assert alone.err.endswith("0 datasets imported, 1 not\n")


def test_json(folder: Path, run: Run) -> None:
    (folder / "refused.yaml").write_text(TASK.replace("acme/", "/home/"))
    found = run("import", ".", "--json")
    assert found.code == 0
    assert "quiz" in parse_yaml(found.json["manifest"], file="x").value["datasets"]
    partial, quiz, refused = found.json["files"]
    assert (partial["file"], partial["kind"]) == ("partial.yaml", "lm-eval")
    assert partial["datasets"][0]["left_out"] == [
        {
            "key": "process_docs",
            "reason": "it rewrites or selects the records (!function utils.p is code):"
            " its module is not beside the file",
            "about": "samples",
            "line": 7,
        }
    ]
    assert quiz["datasets"] == [{"name": "quiz", "left_out": []}]
    assert refused["not_imported"][0]["where"] == "refused.yaml:2"
    assert "(refused.yaml:2)" in run("import", "refused.yaml").err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "Missing argument"),
        (("quiz.yaml", "partial.yaml", "--name", "x"), 2, "--name needs one dataset"),
        (("quiz.yaml", "--revision", "x"), 2, "--revision goes with --repository"),
        (("quiz.yaml", "--name", "Not Valid"), 2, "not a valid dataset name"),
        (("gone.yaml",), 1, "there is no such file or folder"),
        (
            ("quiz.yaml", "quiz.yaml"),
            1,
            "quiz.yaml: it defines a dataset 'quiz', and so does quiz.yaml",
        ),
        (("quiz.yaml", "--from", "lmeval"), 2, "lm-eval"),
        (("quiz.yaml", "--out", "partial.yaml"), 1, "already exists and is not overwritten"),
        (
            ("quiz.yaml", "--out", ""),
            2,
            "'--out': the name of the file is empty (is a variable not set?)",
        ),
    ],
)
def test_errors(
    folder: Path, run: Run, arguments: tuple[str, ...], code: int, message: str
) -> None:
    found = run("import", *arguments)
    assert found.code == code
    assert message in found.err


def test_one_dataset_that_can_not_be_written_does_not_stop_the_others(
    folder: Path, run: Run
) -> None:
    (folder / "t.py").write_text(
        'hf_dataset("a", "test", limit=0xffffffffffffffffff)\nhf_dataset("b", "test")\n'
    )
    found = run("import", "t.py")
    assert found.code == 0
    assert "not imported: t: the number needs more than 64 bits" in found.err
    assert "path: b\n" in found.out


def test_a_manifest_that_would_be_too_large_is_not_written(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.plugins.importers.command.MAX_BYTES", 700)
    assert run("import", "quiz.yaml").code == 0
    found = run("import", ".", "--out", "all.yaml")
    assert found.code == 1
    assert found.err.startswith("error: quiz.yaml: with its datasets the manifest is larger than")
    assert "(import fewer files at a time, such as those of one folder)" in found.err
    assert not (folder / "all.yaml").exists()


def test_datasets_of_one_file_whose_names_would_be_equal_are_numbered(
    folder: Path, run: Run
) -> None:
    (folder / "a--b.py").write_text('hf_dataset("a", "test")\n' * 3)
    (file,) = run("import", "a--b.py", "--json").json["files"]
    assert [one["name"] for one in file["datasets"]] == ["a--b", "a--b--2", "a--b--3"]


def test_files_of_a_folder_are_parsed_once_and_anew_in_each_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def parse(text: str, file: Path, **options: Any) -> ForeignYaml:
        parsed.append(file.name)
        return parse_foreign_yaml(text, file, **options)

    monkeypatch.setattr("registry.plugins.importers.tolerant_yaml.parse_foreign_yaml", parse)
    write(tmp_path, "base.yaml", TASK.replace("task: quiz\n", ""))
    for name in ("a", "b"):
        write(tmp_path, f"{name}.yaml", f"include: base.yaml\ntask: {name}\n")
    for _ in range(2):
        _, second, _ = import_files([tmp_path], ImportOptions())
        assert second.imported.datasets[0].name == "b"
        assert sorted(parsed) == ["a.yaml", "b.yaml", "base.yaml"]
        parsed.clear()


def test_a_file_of_a_folder_that_cannot_be_read_or_is_of_no_kind_does_not_stop_the_others(
    tmp_path: Path,
) -> None:
    broken = write(tmp_path, "a.yaml", "a: {{ x }}: - b")
    write(tmp_path, "b.yaml", "include: gone.yaml\n")
    write(tmp_path, "c.yaml", "x: 1\n")
    write(tmp_path, "d.yaml", "group: g\ntask: [x]\n")
    shown: list[Progress] = []
    first, second, third = import_files([tmp_path], ImportOptions(), report=shown.append)
    assert shown == [Progress("import", number, 4) for number in (1, 2, 3, 4)]
    assert (first.kind, first.imported.refused[0].name) == (None, "a.yaml")
    assert first.imported.refused[0].why.startswith(f"{broken}:1: not YAML: ")
    assert "gone.yaml: can't read the file" in second.imported.refused[0].why
    assert (third.kind, third.file.name) == ("lm-eval", "d.yaml")
    with pytest.raises(ManifestError, match="not YAML"):
        list(import_files([tmp_path, broken], ImportOptions()))


def test_a_named_file_or_a_file_of_a_folder_must_be_of_a_kind(tmp_path: Path) -> None:
    file = write(tmp_path, "b.yaml", "x: 1\n")
    kinds = r"kind.* \(--from takes eval\.yaml, lm-eval"
    loaders = r"kind of file \(it calls no hf_dataset,"
    for path, message in (file, kinds), (tmp_path, kinds), (write(tmp_path, "b.py", ""), loaders):
        with pytest.raises(ManifestError, match=message):
            list(import_files([path], ImportOptions()))
    (found,) = import_files([file], ImportOptions(), kind="lm-eval")
    assert found.imported.datasets == ()


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("eval.yaml", "tasks: [{}]", "eval.yaml"),
        ("eval.yaml", "title: T\ntasks: [{name: t}]", None),
        ("arc.yaml", "task: arc\ndataset_path: x", "lm-eval"),
        ("datasets.yaml", "version: 1\ninclude: [registry/*.yaml]", None),
        ("other.yaml", "a: 1", None),
        ("other.yaml", "[]", None),
        ("README.md", "---\nconfigs: []\n---\n", "hub-readme"),
        ("README.md", "# Hello", None),
        ("c.json", '{"@type": "sc:Dataset", "recordSet": []}', "croissant"),
        ("data.json", "[1]", None),
        ("task.py", "from inspect_ai.dataset import csv_dataset\ncsv_dataset('x')", "inspect"),
        ("other.py", "print()", None),
    ],
)
def test_kinds(tmp_path: Path, name: str, text: str, kind: str | None) -> None:
    assert detect_kind(write(tmp_path, name, text)) == kind


def test_data_that_is_no_text_is_of_no_kind_and_a_folder_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data.json").write_bytes(b"\xff")
    assert detect_kind(tmp_path / "data.json") is None
    monkeypatch.setattr("registry.plugins.importers.command.MAX_FILES", 0)
    with pytest.raises(ManifestError, match=r"more than 0 files \(name a smaller folder\)"):
        list(files_of(tmp_path))


def test_a_folder_gives_its_files_in_order(tmp_path: Path) -> None:
    for name in ("b/x.YAML", "a.yml", "c.txt", ".git/y.yaml", "b/__pycache__/z.py"):
        write(tmp_path, name, "")
    found = [file.relative_to(tmp_path).as_posix() for file in files_of(tmp_path)]
    assert found == ["a.yml", "b/x.YAML"]


def test_a_plugin_that_is_no_importer_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "quiz.note").write_text("Three?")
    monkeypatch.setattr(command, "extensions", lambda kind: ["notes"])
    monkeypatch.setattr(command, "extension", lambda kind, name: print)
    with pytest.raises(ExtensionError, match=r"the plugin 'notes' is no registry\S+\.Importer"):
        list(import_files([folder / "quiz.note"], ImportOptions()))
