"""`add`: a valid manifest inferred from a source; nothing is overwritten."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from registry import get_dataset, list_datasets
from registry.cli import main
from registry.manifest.schema import read_schema
from tests.conftest import REPOSITORY, CatalogRoot, Https
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


def as_jsonl_gz(records: list[dict[str, Any]]) -> bytes:
    return gzip.compress(jsonl(records))


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
    ("file", "kind", "encode"),
    [
        ("data.csv", "csv", csv_bytes),
        ("data.jsonl.gz", "json", as_jsonl_gz),
        ("data.parquet", "parquet", parquet_bytes),
    ],
)
def test_local_file_becomes_a_dataset(
    root: Path,
    capsys: Capsys,
    file: str,
    kind: str,
    encode: Callable[[list[dict[str, Any]]], bytes],
) -> None:
    (root / file).write_bytes(encode(OPEN))

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
    assert [line[:11] for line in out.splitlines() if line.startswith("── ")] == [
        "── sample 1",
        "── record 1",
        "── sample 2",
        "── record 2",
    ]
    assert "Capital of France?" in out
    assert "Capital of Italy?" in out
    assert "Capital of Spain?" not in out


def test_lines_of_json_in_a_file_named_json_become_a_dataset(root: Path, capsys: Capsys) -> None:
    (root / "data.json").write_bytes(jsonl(OPEN))
    text, out = added(capsys, root, "d", "--file", "data.json")
    assert "lines: true (an object per line, not one JSON document)\n" in out
    assert "      path: data.json\n      lines: true\n" in text
    assert [sample.target for sample in get_dataset("d")] == ["Paris", "Rome", "Madrid"]


def test_tab_separated_file_becomes_a_dataset(root: Path, capsys: Capsys) -> None:
    (root / "data.tsv").write_bytes(csv_bytes(OPEN, "\t"))

    added(capsys, root, "capitals", "--file", "data.tsv")

    assert [sample.target for sample in get_dataset("capitals")] == ["Paris", "Rome", "Madrid"]


def test_url_becomes_a_dataset(root: Path, capsys: Capsys, https: Https) -> None:
    url = https.put("/data/capitals.csv", csv_bytes(OPEN))

    text, out = added(capsys, root, "capitals", "--file", url)

    assert f"path: {url}\n" in text
    assert len(get_dataset("capitals")) == 3
    assert out.count("── sample") == 2


def test_url_that_answers_a_page_is_an_error(root: Path, capsys: Capsys, https: Https) -> None:
    url = https.put("/data/capitals.csv", b"<!DOCTYPE html><title>Log in</title>")

    err = refused(capsys, "capitals", "--file", url)

    assert "this is an HTML page, not data" in err
    assert not (root / "registry").exists()


def test_path_below_the_root_is_written_relative_to_it(
    root: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "data").mkdir()
    (root / "data" / "x.csv").write_bytes(csv_bytes(OPEN))
    monkeypatch.chdir(root / "data")

    text, _ = added(capsys, root, "capitals", "--file", "x.csv")

    assert "path: data/x.csv\n" in text
    assert str(root) not in text


def test_root_selects_the_folder_of_the_manifest(
    root: Path, capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["add", "capitals", "--file", "own/questions.csv", "--root", str(root)]) == 0

    assert "path: questions.csv\n" in (root / "registry/capitals.yaml").read_text(encoding="utf-8")
    assert len(get_dataset("capitals", root=root)) == 3


def test_source_with_one_record_shows_one_sample(root: Path, capsys: Capsys) -> None:
    (root / "one.csv").write_bytes(csv_bytes(OPEN[:1]))

    _, out = added(capsys, root, "one", "--file", "one.csv")

    assert out.count("── sample") == 1


def test_equal_questions_get_distinct_ids(root: Path, capsys: Capsys) -> None:
    records = [{"question": "Who?", "answer": "I"}, {"question": "Who?", "answer": "you"}]
    (root / "twice.csv").write_bytes(csv_bytes(records))

    added(capsys, root, "twice", "--file", "twice.csv")

    dataset = get_dataset("twice")
    assert [sample.target for sample in dataset] == ["I", "you"]
    assert len({sample.id for sample in dataset}) == 2


@pytest.mark.parametrize("name", ["a", "my-qa_2.1", "2024", "1e3", "null", "true", "on"])
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
    assert {sample.input: sample.target for sample in dataset} == {
        "1 + 1?": "B",
        "1 + 2?": "C",
        "1 + 0?": "A",
    }
    assert all(sample.choices == ["1", "2", "3"] for sample in dataset)
    ids = [sample.id for sample in dataset]
    assert None not in ids
    assert len(set(ids)) == 3
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
        (["--hf", REPO, "--name", "esay", "--split", "test"], ["esay", "easy", "hard"]),
        (["--hf", REPO, "--split", "test"], ["easy", "hard"]),
        (["--hf", REPO, "--name", "easy", "--split", "train"], ["train", "test"]),
        (["--hf", "acme/nothing", "--split", "test"], ["acme/nothing", "no such dataset"]),
        (
            ["--hf", REPO, "--name", "easy", "--split", "test", "--revision", "v9"],
            [REPO, "no revision 'v9'"],
        ),
    ],
)
def test_unknown_part_of_a_repository_is_an_error_with_the_choices(
    capsys: Capsys, arguments: list[str], named: list[str]
) -> None:
    err = refused(capsys, "quiz", *arguments)

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


def test_existing_file_is_not_overwritten(root: Path, capsys: Capsys) -> None:
    folder = root / "registry"
    folder.mkdir()
    (folder / "mine.yaml").write_text(ONE, encoding="utf-8")

    err = refused(capsys, "mine", "--file", "questions.csv")

    assert "registry/mine.yaml" in err
    assert files(folder) == {"mine.yaml": ONE.encode()}


def test_existing_dataset_is_not_overwritten(root: Path, capsys: Capsys) -> None:
    folder = root / "registry"
    folder.mkdir()
    (folder / "several.yaml").write_text(ONE, encoding="utf-8")

    err = refused(capsys, "one", "--file", "questions.csv")

    assert "'one'" in err
    assert "registry/several.yaml" in err
    assert files(folder) == {"several.yaml": ONE.encode()}


def test_adding_twice_is_refused(root: Path, capsys: Capsys) -> None:
    text, _ = added(capsys, root, "capitals", "--file", "questions.csv")

    refused(capsys, "capitals", "--file", "questions.csv")

    assert (root / "registry/capitals.yaml").read_text(encoding="utf-8") == text


def test_dangling_link_is_not_written_through(root: Path, capsys: Capsys) -> None:
    (root / "registry").mkdir()
    (root / "registry/linked.yaml").symlink_to("../elsewhere.yaml")

    refused(capsys, "linked", "--file", "questions.csv")

    assert not (root / "elsewhere.yaml").exists()


@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["written", "dry run"])
def test_questionable_samples_are_reported(root: Path, capsys: Capsys, options: list[str]) -> None:
    # Too long to be proposed as metadata.
    text = f"question,answer,setup\nOne?,1,{'ls; ' * 20}\nTwo?,,\n"
    (root / "odd.csv").write_text(text, encoding="utf-8")
    assert main(["add", "odd", "--file", "odd.csv", *options]) == 0
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("warning: odd: blank target in 1 of 2 samples: odd.csv record 2 (id ")
    assert second == "warning: odd: columns that no field reads: setup [unused_columns]"


@pytest.mark.usefixtures("untouched")
def test_dry_run_writes_nothing(root: Path, capsys: Capsys) -> None:
    assert main(["add", "capitals", "--file", "questions.csv", "--dry-run"]) == 0
    out, err = capsys.readouterr()

    assert err == ""
    assert out.startswith("# yaml-language-server: $schema=")
    assert "  capitals:\n" in out
    assert "wrote" not in out
    assert not (root / "registry").exists()


def test_dry_run_prints_what_would_be_written(root: Path, capsys: Capsys) -> None:
    main(["add", "capitals", "--file", "questions.csv", "--dry-run"])
    printed = capsys.readouterr().out

    text, _ = added(capsys, root, "capitals", "--file", "questions.csv")

    assert printed == text


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the source: --file data.csv (or a URL), or --hf owner/name"),
        (
            ["--hf", REPO, "--split", "test", "--file", "questions.csv"],
            "pass either --hf PATH or --file URL",
        ),
        (["--hf", REPO, "--delimiter", ";"], "--delimiter goes with --file"),
        (["--file", "q.jsonl", "--skip-rows", "1"], "--skip-rows is for csv, and the file is json"),
        (["--file", "q.csv", "--records", "a"], "--records is for json, and the file is csv"),
        (["--file", "q.csv", "--columns", "a", "--header"], "of a file without a header"),
        (
            ["--file", "q.csv", "--target", "a", "--no-target"],
            "pass either --target COLUMN or --no-target",
        ),
        (
            ["--file", "https://huggingface.co/datasets/acme/quiz"],
            "is a page of the Hub: pass --hf acme/quiz",
        ),
        (
            ["--file", "https://github.com/a/b/blob/main/q.csv"],
            "pass --file https://raw.githubusercontent.com/a/b/main/q.csv",
        ),
        (
            ["--file", "https://example.org/questions.xlsx"],
            "https://example.org/questions.xlsx is a spreadsheet: export the sheet as CSV",
        ),
        (
            ["--file", "datasets.yaml"],
            "can't infer the type of datasets.yaml (its name must end in",
        ),
        (["--file", "questions.csv", "--split", "test"], "--split and --revision go with --hf"),
        (["--file", "questions.csv", "--name", "easy"], "--name, --split and --revision go"),
        (["--file", "questions.csv", "--revision", "main"], "and --revision go with --hf"),
    ],
)
def test_incompatible_arguments_are_a_usage_error(
    root: Path, capsys: Capsys, arguments: list[str], words: str
) -> None:
    err = refused(capsys, "capitals", *arguments, code=2)

    assert not (root / "registry").exists()
    assert words in err


@pytest.mark.usefixtures("untouched")
def test_name_is_required(capsys: Capsys) -> None:
    assert "NAME" in refused(capsys, "--file", "questions.csv", code=2)


@pytest.mark.parametrize(
    "name", ["My Set", "../x", "a/b", "Upper", "", ".hidden", "_x", "a: b", "a\n", "é"]
)
def test_invalid_name_is_refused(root: Path, capsys: Capsys, name: str) -> None:
    before = files(root)

    code = main(["add", "--file", "questions.csv", "--", name])
    out, err = capsys.readouterr()

    assert files(root) == before
    assert (code, out) == (2, "")
    assert "is not a valid dataset name" in err


@pytest.mark.parametrize("name", ["My Set", "../x", "/x"])
def test_dry_run_refuses_an_invalid_name(root: Path, capsys: Capsys, name: str) -> None:
    code = main(["add", name, "--file", "questions.csv", "--dry-run"])
    out, err = capsys.readouterr()

    assert (code, out) == (2, "")
    assert "is not a valid dataset name" in err


@pytest.mark.usefixtures("untouched")
def test_bad_name_makes_no_request(capsys: Capsys, hub: HubEmulator, quiz: str) -> None:
    main(["add", "My Set", "--hf", REPO, "--name", "easy", "--split", "test", "--dry-run"])

    assert hub.requests == []


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

    err = refused(capsys, "capitals", "--file", file)

    assert file in err
    assert not (root / "registry").exists()


def test_empty_split_is_an_error(root: Path, capsys: Capsys, hub: HubEmulator) -> None:
    schema = pa.schema({"question": pa.string()})
    hub.commit("acme/empty", parquet_repo({"main": {"test": []}}, schemas={"main": schema}))

    err = refused(capsys, "capitals", "--hf", "acme/empty", "--split", "test")

    assert "acme/empty" in err
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

    assert "offline" in err
    assert hub.requests == []
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


def test_index_is_created_in_the_folder_of_root(tmp_path: Path, capsys: Capsys) -> None:
    (tmp_path / "questions.csv").write_bytes(csv_bytes(OPEN))
    file = str(tmp_path / "questions.csv")
    assert main(["add", "capitals", "--file", file, "--root", str(tmp_path)]) == 0
    assert (tmp_path / "datasets.yaml").is_file()
    assert "path: questions.csv\n" in (tmp_path / "registry/capitals.yaml").read_text()


def test_dry_run_creates_no_index(
    tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("questions.csv").write_bytes(csv_bytes(OPEN))
    assert main(["add", "capitals", "--file", "questions.csv", "--dry-run"]) == 0
    created = [name for name in files(tmp_path) if not name.startswith("cache")]
    assert created == ["questions.csv"]


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


def test_recursive_include_creates_no_folder_named_by_its_glob(root: Path, capsys: Capsys) -> None:
    text = "version: 1\ninclude: [registry/**/*.yaml]\n"
    (root / "datasets.yaml").write_text(text, encoding="utf-8")

    main(["add", "capitals", "--file", "questions.csv"])

    assert [name for name in files(root) if "*" in name] == []
    assert len(get_dataset("capitals")) == 3


def test_existing_datasets_are_unchanged(
    catalog_root: CatalogRoot, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = catalog_root({"one": ONE})
    monkeypatch.chdir(folder)
    Path("questions.csv").write_bytes(csv_bytes(OPEN))

    added(capsys, folder, "two", "--file", "questions.csv")

    assert list_datasets() == ["one", "two"]
    assert (folder / "registry/one.yaml").read_text(encoding="utf-8") == ONE


# ---------------------------------------------------------------- help


def test_help_has_an_example(capsys: Capsys) -> None:
    assert main(["add", "--help"]) == 0
    out = capsys.readouterr().out

    assert "Example: registry add" in out
    assert "--hf" in out
    assert "--file" in out
    assert "--dry-run" in out
