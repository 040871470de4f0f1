"""Questionable samples of real files, as each command reports them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from registry import ExpectationError, MappingError, get_dataset
from registry.cli import main

CSV = "source: {type: csv, path: freshqa-2024-10-28.csv, skip_rows: 2}"
ANSWERS = ", ".join(f"answer_{number}" for number in range(10))
MANY = f"fields: {{input: question, target: [{ANSWERS}], id: id}}"
SECOND = "fields: {input: question, target: answer_1, id: id}"
NOTE = "fields: {input: question, target: note, id: id}"
HALF = (
    "blank target in 312 of 600 samples: freshqa-2024-10-28.csv record 2 (id '1'), 3, 4, …"
    " [blank_targets]"
)
ALL = (
    "d: blank target in all 600 samples: freshqa-2024-10-28.csv record 1 (id '0'), 2, 3, …"
    " (is `fields.target` right? `accept: [blank_targets]` says that it is meant)"
)

Catalog = Callable[[str], Path]
Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def fresh(shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """Write a dataset `d` of FreshQA's file, and make its catalog the current folder."""
    (tmp_path / "freshqa-2024-10-28.csv").symlink_to(shared_data / "freshqa-2024-10-28.csv")
    monkeypatch.chdir(tmp_path)

    def write(keys: str) -> Path:
        text = f"version: 1\ndatasets:\n  d: {{{CSV}, {keys}}}\npaths: [{shared_data}]\n"
        (tmp_path / "datasets.yaml").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def warnings_of(capsys: Capsys) -> list[str]:
    lines = capsys.readouterr().err.splitlines()
    return [line.removeprefix("warning: d: ") for line in lines if line.startswith("warning: d: ")]


@pytest.mark.parametrize("limit", [600, 4096], ids=["by rows", "by columns"])
def test_empty_answers_in_further_columns_are_no_targets(fresh: Catalog, limit: int) -> None:
    dataset = get_dataset("d", root=fresh(MANY), limit=limit)
    targets = [sample.target for sample in dataset]
    assert targets[0] == [
        "No animal has ever landed on the moon yet.",
        "Since humans are animals, one could say Neil Armstrong.",
    ]
    assert all(isinstance(one, list) and one and all(map(str.strip, one)) for one in targets)
    assert sum(map(len, targets)) == 10 * 600 - (312 + 449 + 507 + 543 + 553 + 559 + 3 * 563)


def test_every_command_reports_blank_targets(fresh: Catalog, capsys: Capsys) -> None:
    fresh(SECOND)
    assert main(["preview", "d", "-n", "2", "--json"]) == 0
    found = capsys.readouterr()
    assert [json.loads(line)["id"] for line in found.out.splitlines()] == ["0", "1"]
    assert HALF in found.err
    for command in (["sync"], ["sync"], ["preview", "d"], ["lock"]):
        assert main(command) == 0
        assert warnings_of(capsys) == [HALF], command
    assert main(["show", "d"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"# warning: {HALF}"


def test_a_summary_counts_warnings_and_says_what_to_do(fresh: Catalog, capsys: Capsys) -> None:
    fresh(SECOND)
    main(["sync"])
    # Without the time, which a fast build does not have.
    last = re.sub(r" in [\d.]+ s", "", capsys.readouterr().err.splitlines()[-1])
    assert last == (
        "1 dataset: 1 built; 1 warning"
        " (`accept: [NAME]` says that it is meant, `expect` makes it an error)"
    )


def test_json_has_the_warnings(fresh: Catalog, capsys: Capsys) -> None:
    fresh(SECOND)
    found = []
    for command in (["sync"], ["lock"], ["show", "d"]):
        assert main([*command, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    for (warning,) in (
        found[0][0]["warnings"],
        found[1]["datasets"][0]["warnings"],
        found[2]["cache"]["warnings"],
    ):
        assert (warning["kind"], warning["count"]) == ("blank_targets", 312)
        assert warning["message"] == HALF.removesuffix(" [blank_targets]")
        first = {"record": 2, "file": "freshqa-2024-10-28.csv", "id": "1", "value": ""}
        assert warning["first"][0] == first


@pytest.mark.parametrize(
    ("count", "found"),
    [
        (1, "the only sample: other.jsonl record 1"),
        (3, "all 3 samples: other.jsonl record 1, 2, 3"),
    ],
)
def test_preview_of_a_file_reports_what_it_shows(
    fresh: Catalog, capsys: Capsys, count: int, found: str
) -> None:
    fresh(SECOND.replace("answer_1", "note"))
    # Not `skip_rows`: it belongs to the dataset's source.
    row = '{"id": null, "question": "q", "note": "", "setup": "x"}\n'
    Path("other.jsonl").write_text(row * 3)
    assert main(["preview", "d", "--from", "other.jsonl", "-n", str(count)]) == 0
    assert warnings_of(capsys) == [
        f"blank target in {found} [blank_targets]",
        "columns that no field reads: setup [unused_columns]",
    ]


def test_a_target_that_is_never_filled_is_an_error(fresh: Catalog, capsys: Capsys) -> None:
    fresh(NOTE)
    for command in (["sync"], ["sync"], ["lock"], ["preview", "d"]):  # built, and then cached
        assert main(command) == 1
        assert capsys.readouterr().err.splitlines().count(f"error: {ALL}") == 1
    with pytest.raises(ExpectationError) as caught:
        get_dataset("d")
    assert str(caught.value) == ALL


def test_expect_and_accept_change_the_outcome_without_a_new_build(
    fresh: Catalog, capsys: Capsys
) -> None:
    outcomes = []
    for keys in (SECOND, f"{SECOND}, expect: {{nonempty_targets: true}}", f"{NOTE}"):
        fresh(keys)
        main(["sync", "--json"])
        (result,) = json.loads(capsys.readouterr().out)
        outcomes.append((result["status"], (result["error"] or {}).get("message", "")[:36]))
    assert outcomes == [
        ("built", ""),
        ("failed", "d: expect.nonempty_targets fails: bl"),
        ("failed", "d: blank target in all 600 samples: "),
    ]
    fresh(f"{NOTE}, accept: [blank_targets]")
    main(["sync"])
    assert "cached" in capsys.readouterr().out


def test_python_warns_once_when_samples_are_built(
    fresh: Catalog, recwarn: pytest.WarningsRecorder
) -> None:
    root = fresh(SECOND)
    message = HALF.replace(
        "[blank_targets]", "(`accept: [blank_targets]` in the manifest says that it is meant)"
    )
    with pytest.warns(UserWarning, match="blank target") as caught:
        get_dataset("d", root=root)
    assert [str(one.message) for one in caught] == [f"d: {message}"]
    assert caught[0].filename == __file__
    recwarn.clear()
    assert len(get_dataset("d", root=root)) == 600
    assert len(recwarn) == 0


PAIRS = """\
version: 1
datasets:
  pairs:
    source: {type: json, path: pairs.jsonl}
    fields: {input: {const: ""}, choices: [good, bad], target: {const: A}}
"""


@pytest.mark.parametrize("count", [5, 5000], ids=["by rows", "by columns"])
def test_an_empty_input_is_an_error_unless_it_is_accepted(tmp_path: Path, count: int) -> None:
    lines = (json.dumps({"good": f"They run {one}.", "bad": "They runs."}) for one in range(count))
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    index = tmp_path / "datasets.yaml"
    accepting = PAIRS + "    accept: [blank_inputs]\n"
    for text, is_accepted in ((PAIRS, False), (accepting, True), (PAIRS, False)):
        index.write_text(text, encoding="utf-8")
        if is_accepted:
            dataset = get_dataset("pairs", root=tmp_path)
            assert len(dataset) == count
            assert dataset[count - 1].input == ""
        else:  # also where the same records are cached with empty inputs
            with pytest.raises(MappingError, match="record 1, field input: No input in dataset"):
                get_dataset("pairs", root=tmp_path)
