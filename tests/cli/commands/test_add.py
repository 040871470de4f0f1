"""`add`: a valid manifest inferred from a source; nothing is overwritten."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from registry import get_dataset, list_datasets
from registry.cli import main
from registry.manifest.schema import read_schema
from tests.conftest import REPOSITORY, Https
from tests.records import csv_bytes, jsonl, parquet_bytes
from tests.servers.hub import HubEmulator, parquet_repo

Capsys = pytest.CaptureFixture[str]

INDEX = "version: 1\ninclude: [registry/*.yaml]\n"
OPEN = [
    {"question": "Capital of France?", "answer": "Paris"},
    {"question": "Capital of Italy?", "answer": "Rome"},
    {"question": "Capital of Spain?", "answer": "Madrid"},
]
CHOICE = [
    {"question": "1 + 1?", "choices": ["1", "2", "3"], "answer": 1},
    {"question": "1 + 2?", "choices": ["1", "2", "3"], "answer": 2},
    {"question": "1 + 0?", "choices": ["1", "2", "3"], "answer": 0},
]
ONE = """\
datasets:
  one:
    source: {type: csv, path: questions.csv}
    fields: {input: question, target: answer}
"""
REPO = "acme/quiz"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a catalog without datasets, in the current folder."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "datasets.yaml").write_text(INDEX, encoding="utf-8")
    (folder / "questions.csv").write_bytes(csv_bytes(OPEN))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def quiz(hub: HubEmulator) -> str:
    """Commit a repository with two configurations; return the full commit."""
    return hub.commit(REPO, parquet_repo({"easy": {"test": CHOICE}, "hard": {"test": OPEN}}))


def files(folder: Path) -> dict[str, bytes]:
    """Return the contents of a folder by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def untouched(root: Path) -> Iterator[None]:
    """Check that the test does not change the user's folder."""
    before = files(root)
    yield
    assert files(root) == before


def refused(capsys: Capsys, *arguments: str, code: int = 1) -> str:
    """Return the error message of `add`, which must exit with this code."""
    result = main(["add", *arguments])
    out, err = capsys.readouterr()
    assert (result, "wrote" in out, "unexpected" in err) == (code, False, False), out + err
    return err


def added(capsys: Capsys, root: Path, name: str, *arguments: str) -> tuple[str, str]:
    """Add a dataset, check that it is valid and loads; return the manifest and the output."""
    result = main(["add", name, *arguments])
    out, err = capsys.readouterr()
    assert (result, err) == (0, "")
    assert main(["validate"]) == 0, capsys.readouterr().out
    capsys.readouterr()
    assert name in list_datasets(root=root)
    return (root / "registry" / f"{name}.yaml").read_text(encoding="utf-8"), out


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("file", "kind", "content"),
    [
        ("data.csv", "csv", csv_bytes(OPEN)),
        ("data.tsv", "csv", csv_bytes(OPEN, "\t")),
        ("data.jsonl.gz", "json", gzip.compress(jsonl(OPEN))),
        ("data.parquet", "parquet", parquet_bytes(OPEN)),
    ],
)
def test_local_file_becomes_a_dataset(
    root: Path, capsys: Capsys, file: str, kind: str, content: bytes
) -> None:
    (root / file).write_bytes(content)
    text, out = added(capsys, root, "capitals", "--file", file)
    first = text.splitlines()[0]
    assert first == "# yaml-language-server: $schema=../schemas/manifest.schema.json"
    copy = root / "schemas" / "manifest.schema.json"
    assert json.loads(copy.read_text(encoding="utf-8")) == read_schema("manifest")
    assert f"      type: {kind}\n      path: {file}\n" in text
    assert "expect: {samples: 3}" in text
    dataset = get_dataset("capitals")
    assert [sample.input for sample in dataset] == [record["question"] for record in OPEN]
    assert [sample.target for sample in dataset] == ["Paris", "Rome", "Madrid"]
    assert "wrote registry/capitals.yaml: review it\n" in out
    shown = [line[:11] for line in out.splitlines() if line.startswith("── ")]
    assert shown == ["── sample 1", "── record 1", "── sample 2", "── record 2"]
    assert "Capital of Italy?" in out
    assert "Capital of Spain?" not in out


def test_lines_of_json_in_a_file_named_json_become_a_dataset(root: Path, capsys: Capsys) -> None:
    (root / "data.json").write_bytes(jsonl(OPEN))
    text, out = added(capsys, root, "d", "--file", "data.json")
    assert "lines: true (an object per line, not one JSON document)\n" in out
    assert "      path: data.json\n      lines: true\n" in text
    assert [sample.target for sample in get_dataset("d")] == ["Paris", "Rome", "Madrid"]


def test_url_becomes_a_dataset(root: Path, capsys: Capsys, https: Https) -> None:
    url = https.put("/data/capitals.csv", csv_bytes(OPEN[:1]))
    text, out = added(capsys, root, "capitals", "--file", url)
    assert f"path: {url}\n" in text
    assert len(get_dataset("capitals")) == 1
    assert out.count("── sample") == 1


def test_path_below_the_root_is_written_relative_to_it(
    root: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "data").mkdir()
    (root / "data" / "x.csv").write_bytes(csv_bytes(OPEN))
    monkeypatch.chdir(root / "data")
    text, _ = added(capsys, root, "capitals", "--file", "x.csv")
    assert "path: data/x.csv\n" in text
    assert str(root) not in text


@pytest.mark.parametrize("has_index", [True, False])
def test_root_selects_the_folder_of_the_manifest(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_index: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    if not has_index:
        (root / "datasets.yaml").unlink()
    assert main(["add", "capitals", "--file", "own/questions.csv", "--root", str(root)]) == 0
    assert "path: questions.csv\n" in (root / "registry/capitals.yaml").read_text(encoding="utf-8")
    assert len(get_dataset("capitals", root=root)) == 3


@pytest.mark.parametrize("name", ["my-qa_2.1", "1e3", "null"])
def test_every_valid_name_makes_a_valid_manifest(root: Path, capsys: Capsys, name: str) -> None:
    added(capsys, root, name, "--file", "questions.csv")
    assert get_dataset(name).name == name


# ---------------------------------------------------------------- the Hub


def test_repository_becomes_a_dataset_at_its_commit(root: Path, capsys: Capsys, quiz: str) -> None:
    text, out = added(capsys, root, "quiz", "--hf", REPO, "--name", "easy", "--split", "test")
    assert len(quiz) == 40
    for line in ("type: hf", f"path: {REPO}", "name: easy", "split: test", f"revision: {quiz}"):
        assert line in [one.strip().replace("'", "") for one in text.splitlines()]
    dataset = get_dataset("quiz")
    targets = {sample.input: sample.target for sample in dataset}
    assert targets == {"1 + 1?": "B", "1 + 2?": "C", "1 + 0?": "A"}
    assert all(sample.choices == ["1", "2", "3"] for sample in dataset)
    ids = {sample.id for sample in dataset}
    assert (len(ids), None in ids) == (3, False)
    assert out.count("── sample") == 2


def test_branch_is_pinned_to_its_commit(
    root: Path, capsys: Capsys, hub: HubEmulator, quiz: str
) -> None:
    other = hub.commit(REPO, parquet_repo({"easy": {"test": CHOICE[:2]}}), branch="next")
    text, _ = added(
        capsys,
        root,
        "quiz",
        *("--hf", REPO, "--name", "easy", "--split", "test", "--revision", "next"),
        *("--base", "0"),  # their answers, 1 and 2 of three choices, do not show it
    )
    assert other != quiz
    assert other in text
    assert "revision: next" not in text
    assert len(get_dataset("quiz")) == 2


@pytest.mark.usefixtures("untouched", "quiz")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (f"{REPO} --name esay --split test", ["esay", "easy", "hard"]),
        (f"{REPO} --split test", ["easy", "hard"]),
        (f"{REPO} --name easy --split train", ["train", "test"]),
        ("acme/nothing", ["acme/nothing", "no such dataset"]),
        ("acme/nothing --split test", ["acme/nothing", "no such dataset"]),
        (f"{REPO} --name easy --split test --revision v9", [REPO, "no revision 'v9'"]),
    ],
)
def test_unknown_part_of_a_repository_is_an_error_with_the_choices(
    capsys: Capsys, arguments: str, named: list[str]
) -> None:
    err = refused(capsys, "quiz", "--hf", *arguments.split())
    assert [word for word in named if word not in err] == []


def test_card_gives_license_tags_and_names_of_labels(
    root: Path, capsys: Capsys, hub: HubEmulator
) -> None:
    rows = [{"text": "Fine.", "label": 1}, {"text": "Bad.", "label": 0}]
    labels = {"class_label": {"names": {"0": "neg", "1": "pos"}}}
    card = {
        "pretty_name": "Reviews",
        "license": "mit",
        "task_categories": ["text-classification"],
        "dataset_info": {
            "features": [
                {"name": "text", "dtype": "string"},
                {"name": "label", "dtype": labels},
            ],
            "splits": [{"name": "train", "num_examples": 2, "num_bytes": 60}],
        },
    }
    readme = f"---\n{json.dumps(card)}\n---\n".encode()
    hub.commit("acme/reviews", {"README.md": readme, "data/train.jsonl": jsonl(rows)})
    text, _ = added(capsys, root, "reviews", "--hf", "acme/reviews")
    assert [sample.target for sample in get_dataset("reviews")] == ["pos", "neg"]
    for line in ("license: mit", "tags: [text-classification]", "Reviews, the split train."):
        assert line in text


# ---------------------------------------------------------------- nothing is overwritten


@pytest.mark.parametrize(
    ("name", "file", "words"),
    [("mine", "mine", "registry/mine.yaml"), ("one", "several", "'one', in registry/several.yaml")],
)
def test_existing_file_or_dataset_is_not_overwritten(
    root: Path, capsys: Capsys, name: str, file: str, words: str
) -> None:
    folder = root / "registry"
    folder.mkdir()
    (folder / f"{file}.yaml").write_text(ONE, encoding="utf-8")
    assert words in refused(capsys, name, "--file", "questions.csv")
    assert files(folder) == {f"{file}.yaml": ONE.encode()}


@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["written", "dry run"])
def test_questionable_samples_are_reported(root: Path, capsys: Capsys, options: list[str]) -> None:
    # Too long to be proposed as metadata.
    text = f"question,answer,setup\nOne?,1,{'ls; ' * 20}\nTwo?,,\n"
    (root / "odd.csv").write_text(text, encoding="utf-8")
    assert main(["add", "odd", "--file", "odd.csv", *options]) == 0
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("warning: odd: blank target in 1 of 2 samples: odd.csv record 2 (id ")
    assert second == "warning: odd: columns that no field reads: setup [unused_columns]"


@pytest.mark.parametrize("has_index", [True, False])
def test_dry_run_writes_nothing_and_prints_what_would_be_written(
    root: Path, capsys: Capsys, *, has_index: bool
) -> None:
    if not has_index:
        (root / "datasets.yaml").unlink()
    before = files(root)
    assert main(["add", "capitals", "--file", "questions.csv", "--dry-run"]) == 0
    printed, err = capsys.readouterr()
    assert (err, files(root)) == ("", before)
    assert printed == added(capsys, root, "capitals", "--file", "questions.csv")[0]


# ---------------------------------------------------------------- refusals


@pytest.mark.usefixtures("untouched")
def test_incompatible_arguments_are_a_usage_error(capsys: Capsys) -> None:
    given = ("capitals", "--file", "q.csv", "--target", "a", "--no-target")
    assert "pass either --target COLUMN or --no-target" in refused(capsys, *given, code=2)


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("name", ["My Set", "../x", ""])
def test_invalid_name_is_refused_before_any_request(
    capsys: Capsys, hub: HubEmulator, name: str
) -> None:
    hub.requests.clear()
    code = main(["add", "--hf", REPO, "--split", "test", "--dry-run", "--", name])
    out, err = capsys.readouterr()
    assert (code, out, hub.requests) == (2, "", [])
    assert "is not a valid dataset name" in err


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("empty.csv", b"question,answer\n"),
        ("empty.csv", b""),
        ("empty.jsonl", b""),
        ("empty.json", b"[]"),
        ("empty.parquet", parquet_bytes([])),
    ],
)
def test_empty_source_is_an_error(root: Path, capsys: Capsys, file: str, content: bytes) -> None:
    (root / file).write_bytes(content)
    assert file in refused(capsys, "capitals", "--file", file)
    assert not (root / "registry").exists()


def test_empty_split_is_an_error(root: Path, capsys: Capsys, hub: HubEmulator) -> None:
    schema = pa.schema({"question": pa.string()})
    hub.commit("acme/empty", parquet_repo({"main": {"test": []}}, schemas={"main": schema}))
    assert "acme/empty" in refused(capsys, "capitals", "--hf", "acme/empty", "--split", "test")
    assert not (root / "registry").exists()


@pytest.mark.usefixtures("untouched")
def test_missing_file_is_an_error(capsys: Capsys, https: Https) -> None:
    assert "missing.csv" in refused(capsys, "capitals", "--file", "missing.csv")
    assert "gone.csv" in refused(capsys, "capitals", "--file", f"{https.url}/gone.csv")


def test_offline_makes_no_request(
    root: Path, capsys: Capsys, hub: HubEmulator, quiz: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_OFFLINE", "1")
    err = refused(capsys, "quiz", "--hf", REPO, "--name", "easy", "--split", "test")
    assert ("offline" in err, hub.requests) == (True, [])
    assert not (root / "registry").exists()


# ---------------------------------------------------------------- where manifests go


def test_index_is_created_where_there_is_none(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("questions.csv").write_bytes(csv_bytes(OPEN))
    before = files(REPOSITORY / "registry")
    _, out = added(capsys, tmp_path, "zz-capitals", "--file", "questions.csv")
    created = [f"schemas/{name}.schema.json" for name in ("manifest", "index", "lock")]
    for name in ("registry/zz-capitals.yaml: review it", *created, "datasets.yaml"):
        assert f"wrote {name}\n" in out
    assert main(["validate", "--strict", "--select", "all"]) == 0
    assert files(REPOSITORY / "registry") == before


@pytest.mark.parametrize("index", ["include: ['package:registry']\n", "datasets: {}\n"])
def test_index_without_a_folder_is_refused(root: Path, capsys: Capsys, index: str) -> None:
    (root / "datasets.yaml").write_text(f"version: 1\n{index}", encoding="utf-8")
    before, shipped = files(root), files(REPOSITORY / "registry")
    err = refused(capsys, "zz-capitals", "--file", "questions.csv")
    assert "datasets.yaml" in err
    assert "registry/*.yaml" in err
    assert files(root) == before
    assert files(REPOSITORY / "registry") == shipped


@pytest.mark.parametrize(
    ("include", "written"),
    [
        ("['package:registry', sets/*.yaml]", "sets/zz-capitals.yaml"),
        ("['*.yaml']", "zz-capitals.yaml"),
        ("[registry/one.yaml, sets/*.yaml]", "sets/zz-capitals.yaml"),
        ("[sets/*.yml]", "sets/zz-capitals.yml"),
        ("[sets/**/*.yaml]", "sets/zz-capitals.yaml"),
    ],
)
def test_manifest_is_written_where_the_index_includes_it(
    root: Path, capsys: Capsys, include: str, written: str
) -> None:
    (root / "registry").mkdir()
    (root / "registry/one.yaml").write_text(ONE, encoding="utf-8")
    (root / "datasets.yaml").write_text(f"version: 1\ninclude: {include}\n", encoding="utf-8")
    code = main(["add", "zz-capitals", "--file", "questions.csv"])
    assert code == 0, capsys.readouterr().err
    assert (root / written).is_file()
    assert len(get_dataset("zz-capitals")) == 3
    assert (root / "registry/one.yaml").read_text(encoding="utf-8") == ONE
    assert [name for name in files(root) if "*" in name] == []
