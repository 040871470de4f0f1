"""Join, explode, where, duplicates, selection and expectations, through `get_dataset`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry import DecodeError, ExpectationError, ManifestError, MappingError, get_dataset

Write = Callable[[str, list[dict[str, Any]]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a catalog of one dataset, `d`, over records in JSON Lines; give its folder."""

    def make(keys: str, records: list[dict[str, Any]]) -> Path:
        lines = "\n".join(json.dumps(record) for record in records)
        (tmp_path / "data.jsonl").write_text(lines, encoding="utf-8")
        indented = "\n".join(f"    {line}" for line in keys.strip().splitlines())
        has_own = keys.strip().startswith("source:")
        source = "" if has_own else "    source: {type: json, path: data.jsonl}\n"
        text = f"version: 1\ndatasets:\n  d:\n{source}{indented}\n"
        (tmp_path / "datasets.yaml").write_text(text, encoding="utf-8")
        return tmp_path

    return make


def rows(count: int = 4) -> list[dict[str, Any]]:
    return [
        {"input": f"q{number}", "target": "AB"[number % 2], "id": number, "kind": "xyz"[number % 3]}
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("{value: kind, in: [y, z]}", [1, 2, 4, 5]),
        ("[{value: input, regex: '[05]$'}, {value: target, equals: A}]", [0]),
        ("{value: {from: nowhere, do: [{default: null}]}, empty: true}", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_where_keeps_records_that_match_its_condition(
    write: Write, condition: str, kept: list[int]
) -> None:
    dataset = get_dataset("d", root=write(f"where: {condition}", rows(6)))
    assert [sample.id for sample in dataset] == kept


def test_explode_makes_a_record_of_each_item_with_its_index(write: Write) -> None:
    keys = """
explode: {column: parts, item: part, index: place}
fields: {input: part.text, id: {template: "{name}-{place}"}}
"""
    records: list[dict[str, Any]] = [
        {"name": "a", "parts": [{"text": "x"}, {"text": "y"}]},
        {"name": "b", "parts": []},
    ]
    dataset = get_dataset("d", root=write(keys, records))
    assert [(sample.input, sample.id) for sample in dataset] == [("x", "a-0"), ("y", "a-1")]


def test_explode_numbers_the_items_of_all_records_and_files(write: Write) -> None:
    records: list[dict[str, Any]] = [{"parts": ["x", "y"]}, {"parts": []}, {"parts": ["z"]}]
    keys = """
source: {type: json, path: [data.jsonl, data.jsonl]}
explode: {column: parts, number: n}
fields: {input: item, id: n}
"""
    dataset = get_dataset("d", root=write(keys, records))
    assert [(one.input, one.id) for one in dataset] == [
        ("x", 0), ("y", 1), ("z", 2), ("x", 3), ("y", 4), ("z", 5),
    ]  # fmt: skip


def test_explode_goes_on_into_the_lists_of_items(write: Write) -> None:
    keys = """
explode:
  column: parts
  item: part
  index: place
  then: {column: part.questions, parse: true, number: n, then: item.words}
fields: {input: {template: "{part.text} {item}"}, id: {template: "{place} {n} {index}"}}
"""
    replaced = keys.replace("then: item.words", "then: {column: item.words, item: word}")
    replaced = replaced.replace("{part.text} {item}", "{part.text} {word}")
    records: list[dict[str, Any]] = [
        {"parts": [{"text": "x", "questions": [{"words": ["a", "b"]}, {"words": []}]}]},
        {"parts": []},
        {"parts": [{"text": "y", "questions": '[{"words": ["c"]}]'}] * 2},
    ]
    with pytest.raises(ManifestError, match="the item of an outer list is in the column 'item'"):
        get_dataset("d", root=write(keys, records))
    dataset = get_dataset("d", root=write(replaced, records))
    assert [(one.input, one.id) for one in dataset] == [
        ("x a", "0 0 0"), ("x b", "0 0 1"), ("y c", "0 2 0"), ("y c", "1 3 0"),
    ]  # fmt: skip
    for right in ("part.questions", "item.words"):
        manifest = replaced.replace(right, f"{right}_")
        with pytest.raises(MappingError, match=f"field explode: no column '{right}_'"):
            get_dataset("d", root=write(manifest, records))


def test_explode_parses_a_list_in_a_string(write: Write) -> None:
    records: list[dict[str, Any]] = [
        {"parts": json.dumps([{"q": "a"}, {"q": "b"}])},
        {"parts": [{"q": "c"}]},
    ]
    keys = "explode: {column: parts, parse: true}\nfields: {input: item.q}"
    dataset = get_dataset("d", root=write(keys, records))
    assert [sample.input for sample in dataset] == ["a", "b", "c"]
    for parts in ("[", "7", "null"):
        with pytest.raises(MappingError, match=r"record 1.*the column 'parts' must be a list"):
            get_dataset("d", root=write(keys, [{"parts": parts}]))
    inexact = [*records, {"parts": '[{"q": "a", "q": "b"}]'}]
    where = r"record 3, field explode: can't be read exactly: \[0\].q: the key is repeated"
    with pytest.raises(MappingError, match=where):
        get_dataset("d", root=write(keys, inexact))


def test_join_adds_the_lookup_row_as_one_column(write: Write, tmp_path: Path) -> None:
    (tmp_path / "side.csv").write_text("name,rubric\nx,short\ny,long\nz,none\n", encoding="utf-8")
    keys = """
join: {source: {type: csv, path: side.csv}, on: kind, key: name, into: side}
fields: {metadata: {rubric: side.rubric}}
"""
    dataset = get_dataset("d", root=write(keys, rows(3)))
    found = [sample.metadata for sample in dataset]
    assert found == [{"rubric": "short"}, {"rubric": "long"}, {"rubric": "none"}]


@pytest.mark.parametrize(("first", "numbers"), [(0, [2, 0, 2]), (1, [3, 1, 3])])
def test_join_looks_records_up_by_their_numbers(
    write: Write, tmp_path: Path, first: int, numbers: list[int]
) -> None:
    for name, lines in (("x", ["a", "b"]), ("y", ["c"])):
        text = "".join(json.dumps({"q": line}) + "\n" for line in lines)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    table = "{type: json, path: [x.jsonl, y.jsonl]}"
    keys = f"join: {{source: {table}, on: n, row_number: {first}, into: row}}\nfields: {{input: row.q}}\naccept: [unused_lookup_rows]"
    root = write(keys, [{"n": number} for number in numbers])
    assert [sample.input for sample in get_dataset("d", root=root)] == ["c", "a", "c"]
    with pytest.raises(
        MappingError, match=r"the lookup table x\.jsonl has no record with this key"
    ):
        get_dataset("d", root=write(keys, [{"n": 9}]))


def test_join_without_a_key_goes_by_the_places_of_records(write: Write, tmp_path: Path) -> None:
    (tmp_path / "labels.lst").write_text("B\nA\nB\n", encoding="utf-8")
    (tmp_path / "more.jsonl").write_text('{"input": "q2"}\n', encoding="utf-8")
    table = "{type: csv, path: labels.lst, fieldnames: [label]}"
    join = f"join: {{source: {table}, row_number: 0, into: row, strict: true}}"
    source = "source: {type: json, path: [data.jsonl, more.jsonl]}"
    keys = f"{source}\n{join}\nfields: {{target: row.label}}"
    root = write(keys, [{"input": "q0"}, {"input": "q1"}])
    assert [sample.target for sample in get_dataset("d", root=root)] == ["B", "A", "B"]

    (tmp_path / "labels.lst").write_text("B\nA\n", encoding="utf-8")
    message = r"record 3, field join: the lookup table labels\.lst has no record .* value: 2"
    with pytest.raises(MappingError, match=message):
        get_dataset("d", root=root)
    (tmp_path / "labels.lst").write_text("B\nA\nB\nA\n", encoding="utf-8")
    with pytest.raises(ExpectationError, match=r"no record has: 1 of 4: 3"):
        get_dataset("d", root=root)


def test_a_key_missing_from_the_lookup_table(write: Write, tmp_path: Path) -> None:
    (tmp_path / "side.csv").write_text("kind,rubric\nx,short\n", encoding="utf-8")
    root = write("join: {source: {type: csv, path: side.csv}, on: kind, into: side}", rows(2))
    with pytest.raises(MappingError, match=r"record 2, field join: .* value: 'y'"):
        get_dataset("d", root=root)


@pytest.mark.parametrize("missing", ["error", "null"])
def test_lookup_table_whose_keys_have_another_type_is_an_error(
    write: Write, tmp_path: Path, missing: str
) -> None:
    (tmp_path / "errata.csv").write_text("qid,answer\n0,B\n1,B\n2,B\n3,B\n", encoding="utf-8")
    table = f"{{source: {{type: csv, path: errata.csv}}, on: id, key: qid, into: fix, missing: '{missing}'}}"
    fields = "fields: {target: {from: fix.answer, do: [{coalesce: [target]}]}}"
    root = write(f"join: {table}\n{fields}", rows())
    both = (
        r"'id' of the records is int \({}\),"
        r" 'qid' of the lookup table errata.csv is str \('0', '1', '2'\)"
    )
    if missing == "error":
        expected = r"record 1, field join: .* \(`missing: null` allows it\); " + both.format("0")
        with pytest.raises(MappingError, match=expected):
            get_dataset("d", root=root)
        return
    with pytest.raises(ManifestError) as caught:
        get_dataset("d", root=root)
    (problem,) = caught.value.problems
    assert (problem.line, problem.path) == (5, "$.datasets.d.join.on")
    assert re.search(
        f"no record has a row in the lookup table errata.csv: {both.format('0, 1, 2')}",
        problem.message,
    )
    assert "CSV has only strings" in (problem.hint or "")


def test_rows_of_a_lookup_table_that_no_record_has_are_a_warning(
    write: Write, tmp_path: Path
) -> None:
    text = "kind,rubric\nx,short\nw,long\nv,long\nu,long\nt,long\n"
    (tmp_path / "side.csv").write_text(text, encoding="utf-8")
    keys = "join: {source: {type: csv, path: side.csv}, on: kind, into: side, missing: 'null'%s}"
    message = (
        "rows of the lookup table side.csv that no record has: 4 of 5:"
        " 'w' (record 2), 'v' (record 3), 'u' (record 4), …"
    )
    root = write(keys % "", rows(3))
    with pytest.warns(UserWarning, match=re.escape(f"d: {message}")):
        get_dataset("d", root=root)
    # A check alone: the samples are not built again.
    root = write(keys % ", strict: true", rows(3))
    with pytest.raises(ExpectationError, match=re.escape(f"d: join.strict fails: {message}")):
        get_dataset("d", root=root)
    write(f"{keys % ''}\naccept: [unused_lookup_rows]", rows(3))
    assert len(get_dataset("d", root=root)) == 3


def test_rows_without_use_are_not_counted_where_only_the_first_records_are_read(
    write: Write, tmp_path: Path
) -> None:
    (tmp_path / "side.csv").write_text("kind\nx\ny\nz\n", encoding="utf-8")
    keys = (
        "join: {source: {type: csv, path: side.csv}, on: kind, into: side, strict: true}\nlimit: 1"
    )
    assert len(get_dataset("d", root=write(keys, rows(3)))) == 1


MAPS: dict[str, tuple[str, str]] = {
    "of a field": (
        "{target: {from: id, do: [{map: {'0.0': A, '1.0': B, '*': C}}]}}",
        "$.datasets.d.fields.target",
    ),
    "of metadata, in a list": (
        "{metadata: {m: {from: [id], do: [{each: [{map: {'0.0': A, '1.0': B, '*': C}}]}]}}}",
        "$.datasets.d.fields.metadata.m",
    ),
}


@pytest.mark.parametrize("place", MAPS)
def test_a_map_of_which_only_the_star_is_used_is_an_error(write: Write, place: str) -> None:
    fields, path = MAPS[place]
    with pytest.raises(ManifestError) as caught:
        get_dataset("d", root=write(f"fields: {fields}", rows()))
    (problem,) = caught.value.problems
    assert problem.path == path
    assert problem.message == (
        "no value is a key of `map`: the values are int (0, 1, 2), the keys are str ('0.0', '1.0')"
    )


def test_a_map_with_a_star_needs_one_value_that_it_names(write: Write) -> None:
    fields = "fields: {target: {from: id, do: [{map: {'3': A, '*': C}}]}}"
    root = write(fields, rows())
    assert [sample.target for sample in get_dataset("d", root=root)] == ["C", "C", "C", "A"]
    # The first records alone say nothing of the others.
    assert len(get_dataset("d", root=write(f"{fields}\nlimit: 2", rows()), refresh=True)) == 2


def test_lookup_table_that_no_record_asks_for_is_no_error(write: Write, tmp_path: Path) -> None:
    (tmp_path / "side.csv").write_text("kind\nx\n", encoding="utf-8")
    keys = "join: {source: {type: csv, path: side.csv}, on: kind, into: side}\nexpect: {samples: 0}"
    assert len(get_dataset("d", root=write(keys, []))) == 0


SIDE_FAULTS: dict[str, tuple[dict[str, str], str]] = {
    "no key": (
        {"1.jsonl": '{"kind": "x"}\n{"kin": "y"}'},
        r"1\.jsonl: record 2 can't be joined: no column 'kind' \(did you mean 'kin'\?\)$",
    ),
    "a list": (
        {"1.jsonl": '{"kind": ["x"]}'},
        r"1\.jsonl: record 1 can't be joined: a key must be a string or a number, value: \['x'\]$",
    ),
    "a key twice": (
        {"1.jsonl": '{"kind": "x"}\n{"kind": "y"}\n{"kind": "x"}'},
        r"1\.jsonl: record 3 can't be joined: record 1 has the key 'x' already$",
    ),
    "a key of two files": (
        {"1.jsonl": '{"kind": 0}\n{"kind": 1}', "2.jsonl": '{"kind": 1.0}'},
        r"2\.jsonl: record 1 can't be joined: record 2 of .*1\.jsonl has the key 1.0 already$",
    ),
}


@pytest.mark.parametrize("fault", SIDE_FAULTS)
def test_an_error_of_a_lookup_table_names_the_file_and_its_record(
    write: Write, tmp_path: Path, fault: str
) -> None:
    texts, message = SIDE_FAULTS[fault]
    (tmp_path / "side").mkdir()
    for name, text in texts.items():
        (tmp_path / "side" / name).write_text(text, encoding="utf-8")
    root = write("join: {source: {type: json, path: side/*}, on: kind, into: side}", rows(1))
    with pytest.raises(DecodeError, match=message):
        get_dataset("d", root=root)


def test_keys_are_compared_like_values_in_conditions(write: Write, tmp_path: Path) -> None:
    side = [True, 1, False, 0.0, "1", None]
    lines = (json.dumps({"key": key, "place": place}) for place, key in enumerate(side))
    (tmp_path / "side.jsonl").write_text("\n".join(lines), encoding="utf-8")
    keys = """
join: {source: {type: json, path: side.jsonl}, on: key, into: side, missing: 'null'}
fields: {metadata: [side]}
"""
    asked = [True, 1.0, False, 0, "1", None, 2]
    dataset = get_dataset("d", root=write(keys, [{"input": "q", "key": key} for key in asked]))
    found = [sample.metadata["side"] for sample in dataset if sample.metadata]
    assert [one and one["place"] for one in found] == [0, 1, 2, 3, 4, 5, None]


def test_a_changed_lookup_table_changes_the_samples(write: Write, tmp_path: Path) -> None:
    keys = """
join: {source: {type: csv, path: side.csv}, on: kind, into: side}
fields: {metadata: {rubric: side.rubric}}
"""
    root = write(keys, rows(1))
    for rubric in ("short", "longer"):
        (tmp_path / "side.csv").write_text(f"kind,rubric\nx,{rubric}\n", encoding="utf-8")
        assert get_dataset("d", root=root)[0].metadata == {"rubric": rubric}


def test_concat_reads_its_parts_in_order_with_their_constant_columns(
    write: Write, tmp_path: Path
) -> None:
    keys = """
source: {type: json, path: data.jsonl}
concat:
  - {path: more.jsonl, columns: {part: more}}
  - {columns: {part: data}}
fields: {metadata: [part], id: {row_number: 1, width: 2}}
"""
    (tmp_path / "more.jsonl").write_text('{"input": "first"}', encoding="utf-8")
    dataset = get_dataset("d", root=write(keys, rows(2)))
    found = [(sample.input, sample.id, sample.metadata) for sample in dataset]
    assert found == [
        ("first", "01", {"part": "more"}),
        ("q0", "02", {"part": "data"}),
        ("q1", "03", {"part": "data"}),
    ]


def test_records_under_a_key_of_a_json_object(write: Write, tmp_path: Path) -> None:
    data = {"meta": 1, "body": {"questions": rows(3)}}
    (tmp_path / "one.json").write_text(json.dumps(data), encoding="utf-8")
    keys = "source: {type: json, path: one.json, records: body.questions}"
    assert len(get_dataset("d", root=write(keys, []))) == 3


def test_sample_is_a_fixed_selection_that_keeps_the_shares(write: Write) -> None:
    keys = """
sample: {n: 10, seed: 1, stratify_by: kind}
fields: {metadata: [kind]}
"""
    root = write(keys, rows(100))
    ids = [sample.id for sample in get_dataset("d", root=root)]
    kinds = Counter(
        sample.metadata["kind"] for sample in get_dataset("d", root=root) if sample.metadata
    )
    assert ids == sorted(ids, key=lambda number: int(number or 0))
    assert kinds == {"x": 4, "y": 3, "z": 3}


REFUSED: dict[str, tuple[str, list[dict[str, Any]], type[Exception], str]] = {
    "text compared with a number": (
        "where: {value: input, less: 3}",
        rows(1),
        MappingError,
        "d: record 1, field where: can't be compared with 3",
    ),
    "no list to explode": (
        "explode: p",
        [{"input": "x", "p": []}, {"input": "y", "p": 3}],
        MappingError,
        "record 2, field explode: the column 'p' must be a list",
    ),
    "an id of other samples": (
        "fields: {input: input, id: id, target: target, metadata: [level]}",
        [{"input": "q", "id": "a", "target": one, "level": one} for one in ("x", "y")],
        MappingError,
        r"the same id but another target and metadata \(give",
    ),
    "a mapper and fields": (
        "mapper: a:b\nfields: {input: x}",
        rows(1),
        ManifestError,
        "`mapper` and `fields` can't be combined",
    ),
    "another number": (
        "expect: {samples: 3000}",
        rows(),
        ExpectationError,
        "expect.samples is 3,000, the source gives 4",
    ),
    "a target that is no choice": (
        "expect: {target_in_choices: true}\nfields: {choices: {const: [x]}}",
        rows(),
        ExpectationError,
        r"target outside the choices in 2 of 4 samples: \S+ record 2 \(id 1, 'B'\), 4$",
    ),
    "no targets": (
        "expect: {nonempty_targets: true}\nfields: {target: null}",
        rows(),
        ExpectationError,
        "expect.nonempty_targets",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_an_error_that_names_the_record(write: Write, name: str) -> None:
    keys, records, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        get_dataset("d", root=write(keys, records))


@pytest.mark.parametrize(
    ("rule", "ids"), [("drop", ["a", "b"]), ("suffix", ["a", "a-2", "b", "a-3"])]
)
def test_samples_with_the_same_id(write: Write, rule: str, ids: list[str]) -> None:
    records = [{"input": "q", "id": name} for name in ("a", "a", "b", "a")]
    dataset = get_dataset("d", root=write(f"on_duplicate: {rule}", records))
    assert [sample.id for sample in dataset] == ids


MAPPER = """
from registry import Sample

def to_samples(record):
    return [Sample(input=record["input"], id=f"{record['id']}-{turn}") for turn in (1, 2)]
"""


def test_a_mapper_of_a_trusted_package_may_return_several_samples(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trusted_evals.py").write_text(MAPPER, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    root = write("mapper: trusted_evals:to_samples", rows(2))
    index = root / "datasets.yaml"
    index.write_text("trust: ['trusted_evals:to_samples']\n" + index.read_text(encoding="utf-8"))
    assert [sample.id for sample in get_dataset("d", root=root)] == ["0-1", "0-2", "1-1", "1-2"]


def test_an_untrusted_mapper_is_an_error_before_import(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "strange_evals.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ManifestError, match=r"\$\.datasets\.d\.mapper: the mapper 'strange_evals:f'"
    ):
        get_dataset("d", root=write("mapper: strange_evals:f", rows(1)))
