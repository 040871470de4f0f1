"""The loaders' arguments; tests/loaders compares their samples with Inspect's."""

from __future__ import annotations

import inspect
import json
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import inspect_ai.dataset as their_dataset
import numpy as np
import pytest

from registry import Sample, csv_dataset, file_dataset, get_dataset, hf_dataset, json_dataset
from registry.base.locations import Location
from registry.errors import DecodeError, SourceError
from registry.loaders import ViewArguments
from tests.samples.against_inspect import dump
from tests.servers.hub import HubEmulator, parquet_repo


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "rows.jsonl").write_text('{"input": "0"}\n{"input": "1"}\n', encoding="utf-8")
    (folder / "rows.csv").write_text("input\n0\n1\n", encoding="utf-8")
    return folder


def test_other_suffix_is_an_error_that_lists_those_with_a_reader() -> None:
    with pytest.raises(ValueError, match=r"x\.t\?…: no reader for '\.t' \(use \.csv, \.tsv"):
        file_dataset(Location("https://host/x.t?sig=hush"))
    with pytest.raises(ValueError, match=r"^csv: no reader for '' "):
        file_dataset("csv")


def test_errors_are_value_errors_like_in_inspect(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"input": 1\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.jsonl:1") as caught:
        json_dataset(str(path))
    assert isinstance(caught.value, DecodeError)
    path.write_text('{"input": "a"}\n{"input": "b", "files": [1]}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"^x: record 2, field files: must be a dict"):
        json_dataset(str(path))
    with pytest.raises(SourceError, match="no such file"):
        csv_dataset(str(tmp_path / "none.csv"))
    with pytest.raises(KeyError) as raised:
        json_dataset(str(path), lambda record: Sample(input="x", files=record["files"]))
    assert raised.value.__notes__ == ["x: record 1: {'input': 'a'}"]


def test_traceback_of_a_missing_file_is_of_the_call_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("input,target\na,b\n", encoding="utf-8")
    near = re.escape(f"row.csv: no such file (did you mean {tmp_path / 'rows.csv'}?)")
    here = re.escape(
        f"unlike.tsv: no such file (a relative path starts at the working folder, {tmp_path})"
    )
    for read in (csv_dataset, lambda file: get_dataset("demo-mcq", source=file)):
        for name, message in (("row.csv", near), ("unlike.tsv", here)):
            with pytest.raises(SourceError, match=f"{message}$") as caught:
                read(name)
            lines = "".join(traceback.format_exception(caught.value)).splitlines()
            assert lines[0].startswith("Traceback")
            assert len(lines) <= 14
            assert "another exception" not in "\n".join(lines)


@pytest.mark.parametrize("loader", [csv_dataset, json_dataset, file_dataset])
@pytest.mark.parametrize(
    "url", ["http://[::1/x.csv", "zip://x.csv::https://h:x/y.zip", "s3://[b/x"]
)
def test_a_url_that_can_t_be_taken_apart_is_an_error_with_its_name(
    loader: Callable[..., Any], url: str
) -> None:
    with pytest.raises(SourceError, match="^" + re.escape(url) + ": not a URL: "):
        loader(url)


def _loud(line: str) -> dict[str, Any]:
    return {name: text.upper() for name, text in json.loads(line).items()}


PARSERS: list[tuple[str, str, dict[str, Any]]] = [
    ("x.jsonl", '{"input": "a"}\n{"input": "b"}\n', {"loads": _loud}),
    ("x.json", '[{"input": "a", "target": 1.50}]', {"parse_float": str}),
    ("x.json", '{"input": "a", "target": 2}', {"parse_int": lambda text: f"<{text}>"}),
]


@pytest.mark.parametrize(("name", "text", "options"), PARSERS)
def test_json_is_read_by_the_parser_of_the_caller(
    tmp_path: Path, name: str, text: str, options: dict[str, Any]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    ours, theirs = (
        loader(str(tmp_path / name), **options)
        for loader in (json_dataset, their_dataset.json_dataset)
    )
    assert [dump(sample) for sample in ours] == [dump(sample) for sample in theirs]
    assert [dump(sample) for sample in ours] != [
        dump(sample) for sample in json_dataset(str(tmp_path / name))
    ]


def test_what_a_parser_refuses_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"input": "a"}\n\n[]\n', encoding="utf-8")
    with pytest.raises(DecodeError, match=r"x\.jsonl:3: the line must be an object, is \[\]"):
        json_dataset(str(path), loads=json.loads)
    with pytest.raises(DecodeError, match=r"x\.jsonl:1: not JSON: invalid literal"):
        json_dataset(str(path), loads=int)
    with pytest.raises(TypeError, match="JSON Lines take the option `loads`, not parse_float"):
        json_dataset(str(path), parse_float=str)


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_file_urls_are_read_and_kept_as_inspect_keeps_them(rows: Path, name: str) -> None:
    (rows / "a.png").write_bytes(b"")
    more = {"input": [{"role": "user", "content": [{"type": "image", "image": "a.png"}]}]}
    (rows / "rows.jsonl").write_text(
        json.dumps(more) + '\n{"input": "x", "files": {"f": "a.png", "h": "b.png"}}\n',
        encoding="utf-8",
    )
    url = (rows / name).as_uri()
    ours, theirs = file_dataset(Location(url)), their_dataset.file_dataset(url)
    assert (ours.name, ours.location) == (theirs.name, theirs.location) == ("rows", url)
    assert [dump(sample) for sample in ours] == [dump(sample) for sample in theirs]
    assert name == "rows.csv" or str(rows.as_uri()) in ours[0].model_dump_json()


def _repository(hub: HubEmulator, name: str) -> str:
    hub.commit(name, parquet_repo({"default": {"test": [{"input": "q", "target": "a"}]}}))
    return name


def test_cache_dir_is_the_folder_of_the_download(hub: HubEmulator, tmp_path: Path) -> None:
    name = _repository(hub, "loaders/cache")
    folder = tmp_path / "downloads"
    (sample,) = hf_dataset(name, "test", cache_dir=str(folder))
    assert sample.input == "q"
    assert list(folder.rglob("*.arrow"))


@pytest.mark.parametrize("status", [429, 502])
def test_a_request_that_fails_for_now_is_repeated(hub: HubEmulator, status: int) -> None:
    name = _repository(hub, f"loaders/retry{status}")
    hub.fail_with(status, headers={"Retry-After": "0"}, times=2)
    (sample,) = hf_dataset(name, "test")
    assert sample.input == "q"
    hub.fail_with(status, headers={"Retry-After": "0"}, times=1)
    with pytest.raises(SourceError, match=rf"answered {status}, 1 attempt in 0 s"):
        hf_dataset(name, "test", retry=False)


def test_every_argument_is_documented() -> None:
    for loader in (csv_dataset, json_dataset, file_dataset, hf_dataset):
        names = inspect.signature(loader).parameters
        text = inspect.getdoc(loader) or ""
        assert [name for name in names if f"{name}: " not in text] == []


def of(**arguments: Any) -> ViewArguments:
    defaults = {"auto_id": False, "shuffle": False}
    absent = dict.fromkeys(("seed", "shuffle_choices", "limit"))
    return ViewArguments.of(**{**defaults, **absent, **arguments})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, (False, None)),
        ({"shuffle": None}, (False, None)),
        ({"shuffle": True}, (True, None)),
        ({"shuffle": True, "seed": 3}, (True, 3)),
        ({"shuffle": 0}, (True, 0)),
        ({"shuffle": np.int64(3)}, (True, 3)),
        ({"shuffle": np.bool_(True), "seed": np.int64(3)}, (True, 3)),
    ],
)
def test_an_int_for_shuffle_is_its_seed(
    arguments: dict[str, Any], expected: tuple[bool, int | None]
) -> None:
    view = of(**arguments)
    assert (view.shuffle, view.seed) == expected


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"limit": -1}, ValueError, "limit must be 0 or more, is -1"),
        ({"shuffle": -1}, ValueError, "a seed must be 0 or more, is -1"),
        ({"shuffle": 1, "seed": 2}, ValueError, "give the seed once: shuffle=1 or seed=2"),
        ({"shuffle": "yes"}, TypeError, "shuffle must be true, false or a seed, is 'yes'"),
        ({"shuffle": 1.5}, TypeError, "shuffle must be true, false or a seed, is 1.5"),
        ({"limit": "2"}, TypeError, "limit must be an integer, is '2'"),
        ({"shuffle": True, "seed": 1.5}, TypeError, "seed must be an integer, is 1.5"),
        ({"shuffle_choices": 1.5}, TypeError, "shuffle_choices must be an integer, is 1.5"),
    ],
)
def test_invalid_arguments_are_errors(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        of(**arguments)


@pytest.mark.parametrize("load", [json_dataset, file_dataset])
def test_seed_without_shuffle_is_a_warning_about_the_call(load: Any, rows: Path) -> None:
    with pytest.warns(UserWarning, match="seed=3 has no effect without shuffle=True") as caught:
        load(str(rows / "rows.jsonl"), seed=3)
    line = inspect.getsourcelines(test_seed_without_shuffle_is_a_warning_about_the_call)[1] + 3
    assert (caught[0].filename, caught[0].lineno) == (__file__, line)


def test_a_mapping_of_no_known_form_and_a_path_of_nothing_are_errors(rows: Path) -> None:
    message = "^sample_fields must be a FieldSpec or a function, is 'input'$"
    with pytest.raises(TypeError, match=message):
        json_dataset(str(rows / "rows.jsonl"), "input")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^path: must not be empty$"):
        hf_dataset("", "train")
    with pytest.raises(ValueError, match=r"rows\.csv'\) is not a value .* \(pass the str of it\)$"):
        csv_dataset(rows / "rows.csv")  # type: ignore[arg-type]


def test_choices_of_samples_beyond_the_limit_use_up_the_seed_too() -> None:
    def samples() -> list[Sample]:
        return [Sample(input=str(n), choices=list("abcdef"), target="A") for n in range(3)]

    every = of(shuffle_choices=7).dataset(samples(), "d", "x.jsonl")
    first = of(shuffle_choices=7, limit=2, shuffle=True).dataset(samples(), "d", "x.jsonl")
    assert [one.choices for one in every][:2] == [one.choices for one in first]
    assert every[0].choices != list("abcdef")
    assert (first.name, first.location, first.shuffled, len(first)) == ("d", "x.jsonl", True, 2)
    kept = of(shuffle_choices=False).dataset(samples(), "d", "x.jsonl")
    assert [one.choices for one in kept] == [list("abcdef")] * 3
