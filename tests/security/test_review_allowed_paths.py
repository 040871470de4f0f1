"""What a user allows is read: in a message's words, by option, variable, index or call."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from registry import get_dataset
from registry.errors import ManifestError
from tests.git_repository import write_files
from tests.security.audit import run_audited

ROWS = "input,target\nquestion,answer\n"
DATASET = "datasets:\n  qa: {source: {type: csv, path: data/x.csv}}\n"


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """Write a catalog whose data folder is a link to another disk."""
    files = {"disk/x.csv": ROWS, "catalog/datasets.yaml": f"version: 1\n{DATASET}"}
    write_files(tmp_path, files)
    (tmp_path / "catalog" / "data").symlink_to(tmp_path / "disk")
    return tmp_path / "catalog"


def test_the_message_says_what_to_add_and_that_works(catalog: Path) -> None:
    done = run_audited(["validate"], folder=catalog)
    assert f"data/x.csv' leads to {catalog.parent}/disk, which is outside" in done.out
    line = re.search(r"add `(paths: \[.*?\])` to your datasets.yaml", done.out)
    option = re.search(r"or pass (--allow-path) (\S+);", done.out)
    assert line
    assert option
    commands = (["validate"], ["preview", "qa"], ["sync"], ["lock"], ["show", "qa"])
    pairs = [given for one in commands for given in (one, [*one, *option.groups()])]
    codes = [run_audited(given, folder=catalog).code for given in pairs]
    assert codes[:-2:2] == [1] * 4  # `show` reads no data
    assert codes[1::2] == [0] * 5
    (catalog / "datasets.yaml").write_text(f"version: 1\n{line[1]}\n{DATASET}")
    for check in ("validate", "preview qa", "lock --check", "diff . ."):
        done = run_audited(check.split(), folder=catalog)
        assert done.code == 0, (check, done.text)


@pytest.mark.parametrize("allowed", ["../disk", "../disk/x.csv", "data"])
def test_an_option_allows_a_folder_or_file(catalog: Path, allowed: str) -> None:
    done, other = (
        run_audited(["preview", "qa", "--allow-path", path], folder=catalog)
        for path in (allowed, "../dis")
    )
    assert done.code == 0, done.text
    assert (other.code, "outside the catalog's folder" in other.text) == (1, True)
    environment = {"REGISTRY_ALLOW_PATHS": f"/nowhere:{catalog / allowed}"}
    assert run_audited(["preview", "qa"], folder=catalog, environment=environment).code == 0


def test_an_include_may_be_allowed_too(catalog: Path) -> None:
    index = f"version: 1\ninclude: [../disk/*.yaml]\n{DATASET}"
    write_files(catalog, {"datasets.yaml": index, "../disk/m.yaml": "datasets: {}\n"})
    done = run_audited(["validate"], folder=catalog)
    assert "$.include[0]" in done.out
    allowed = run_audited(["validate", "--allow-path", "../disk"], folder=catalog)
    assert allowed.code == 0, allowed.text
    (catalog / "datasets.yaml").write_text(f"{index}paths: [../disk]\n")
    assert run_audited(["validate"], folder=catalog).code == 0


def test_a_location_in_a_call_allows_itself_only(catalog: Path, tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="outside the catalog's folder"):
        get_dataset("qa", root=catalog)
    named = get_dataset("qa", root=catalog, source=str(tmp_path / "disk" / "x.csv"))
    assert [sample.input for sample in named] == ["question"]
    assert [sample.input for sample in pickle.loads(pickle.dumps(named))] == ["question"]
    # Not the other files that the manifest names.
    uri = f"{{from: {{const: {tmp_path}/cache/x}}, do: [data_uri]}}"
    fields = f"fields: {{input: input, target: {uri}}}"
    index = f"version: 1\n{DATASET.replace('}}', f'}}, {fields}}}')}"
    (catalog / "datasets.yaml").write_text(index)
    with pytest.raises(ManifestError, match="outside the catalog's folder"):
        get_dataset("qa", root=catalog, source=str(tmp_path / "disk" / "x.csv"))


def test_preview_and_add_take_the_file_that_they_name(catalog: Path) -> None:
    done = run_audited(["preview", "qa", "--from", "../disk/x.csv"], folder=catalog)
    assert (done.code, "question" in done.out) == (0, True), done.text
    index = "version: 1\ninclude: [m/*.yaml]\n"
    write_files(catalog, {"datasets.yaml": index, "m/first.yaml": "datasets: {}\n"})
    added = run_audited(["add", "new", "--file", "../disk/x.csv"], folder=catalog)
    assert (added.code, "without --file" in added.err) == (0, True), added.text
    assert run_audited(["preview", "new"], folder=catalog).code == 1
    assert run_audited(["preview", "new", "--allow-path", "../disk"], folder=catalog).code == 0
