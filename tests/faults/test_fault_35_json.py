"""JSON is read exactly as it is written, or refused with file, line, key and column; the loaders read it as Inspect's do."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import inspect_ai.dataset
import pytest

import registry as ours
from tests.faults.process import registry, registry_each, write_catalog

INEXACT = {
    "nan": ('"a": NaN', "a: NaN is not JSON at column 15"),
    "infinity": ('"a": [0, -Infinity]', "a[1]: -Infinity is not JSON at column 19"),
    "overflow": ('"a": 1e999', "a: 1e999 is beyond the range of a float at column 15"),
    "key": ('"q": "y"', "q: the key is repeated at column 10"),
    "spelling": ('"\\u0071" : "y"', "q: the key is repeated at column 10"),
    "nested-key": ('"o": {"x": 1, "x": 2}', "o.x: the key is repeated at column 24"),
    "half": ('"a": "x\\ud83d"', "a: half of a surrogate pair at column 15"),
    "half-key": ('"\\udc00": 1', ": half of a surrogate pair at column 10"),
    "deep": ('"o": ' + "[" * 5000 + "]" * 5000, "the JSON is nested too deeply"),
    "cut": ('"a": "x', "not JSON: Unterminated string starting at at column 15"),
    "digits": ('"o": ' + "1" * 5000, "not JSON: Exceeds the limit"),
}
FIELDS = {
    "by-column": "{input: q, target: {from: a, do: [{default: none}]}}",
    "by-record": "{input: q, metadata: '*'}",
}


@pytest.mark.parametrize("place", [0, 80])
def test_each_fault_is_an_error_with_its_place(tmp_path: Path, place: int) -> None:
    datasets = ""
    for name, (pair, _) in INEXACT.items():
        lines = ['{"q":"x","a":"y"}'] * 81
        lines[place] = f'{{"q":"x",{pair}}}' if name != "cut" else f'{{"q":"x",{pair}'
        lines = lines[: place + 1] if name == "cut" else lines
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
        (tmp_path / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "]")
        for how, fields in FIELDS.items():
            for suffix in ("jsonl", "json"):
                source = f"{{type: json, path: {name}.{suffix}}}"
                datasets += f"  {name}-{how}-{suffix}: {{source: {source}, fields: {fields}}}\n"
    ended = registry(write_catalog(tmp_path, datasets), "sync", "--jobs", "1")
    assert ended.code == 1
    # Both pipelines give the same error, so it is printed once with both names below it.
    lines = ended.err.splitlines()
    found = {
        names.strip(): error
        for error, names in pairwise(lines)
        if error.startswith("error: 2 datasets: ")
    }
    assert len(found) == 2 * len(INEXACT)
    for name, (_, message) in INEXACT.items():
        by_line = found[f"{name}-by-column-jsonl, {name}-by-record-jsonl"]
        document = found[f"{name}-by-column-json, {name}-by-record-json"]
        assert f"{name}.jsonl:{place + 1}: " in by_line
        assert message in by_line
        # Such a document is refused as a whole where its nesting or a number has no place.
        line = 1 if name in ("deep", "digits") else place + 2
        assert f"{name}.json:{line}: " in document
    assert not list(tmp_path.glob("cache/v*/samples/*"))


EXACT: list[dict[str, Any]] = [
    {"q": "1", "m": [18446744073709551616, 2**70, -(2**63) - 1, 0.1, -0.0, 1e-400, 1e23]},
    {"q": "2", "m": ["\U0001f600", "\0", "\u2028", '":', "NaN", " Infinity", "\\\\"]},
    {"q": "3", "m": [1, "1", True, None, {"x": {"x": [{"x": 1}, {"x": ": "}]}}]},
    {"q": "4", "m": {'a"': 1, "a\\": 2, "a:": 3, "": {"": 4}, "NaN": "Inf"}},
]


def test_everything_else_is_exact(tmp_path: Path) -> None:
    text = "\n".join(
        json.dumps(one, ensure_ascii=number % 2 == 0) for number, one in enumerate(EXACT)
    )
    (tmp_path / "d.jsonl").write_text(text)
    catalog = write_catalog(
        tmp_path, "  d: {source: {type: json, path: d.jsonl}, fields: {input: q, metadata: [m]}}\n"
    )
    ended = registry_each(catalog, "sync d", "preview d --json -n 9")
    samples = [json.loads(one) for one in ended.out.splitlines() if one.startswith("{")]
    assert repr([one["metadata"]["m"] for one in samples]) == repr([one["m"] for one in EXACT])


@pytest.mark.parametrize("name", sorted(INEXACT))
@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_the_loaders_read_what_inspect_reads(tmp_path: Path, name: str, suffix: str) -> None:
    line = f'{{"q":"x",{INEXACT[name][0]}}}'
    path = tmp_path / f"d.{suffix}"
    path.write_text(line if suffix == "jsonl" else f"[{line}]")
    fields: dict[str, Any] = {"input": "q", "target": "a", "metadata": ["o"]}

    def read(module: Any) -> Any:
        try:
            dataset = module.json_dataset(str(path), module.FieldSpec(**fields))
        except (ValueError, RecursionError):
            return "an error"
        return [repr((one.input, one.target, one.metadata)) for one in dataset]

    assert read(ours) == read(inspect_ai.dataset)
    accepted = {"nan", "infinity", "overflow", "key", "spelling", "nested-key", "half", "half-key"}
    assert (read(ours) != "an error") == (name in accepted)
