"""Local data files that `validate` reads, and the states on which its result depends."""

from __future__ import annotations

from pathlib import Path

from registry.lint.data_files import data_patterns, data_states, local_records
from registry.manifest.models import to_spec


def test_records_have_the_constant_columns_of_their_source(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"q": "x"}', encoding="utf-8")
    source = {"type": "json", "path": [str(tmp_path / "*.jsonl")], "columns": {"k": 1}}
    spec = to_spec({"name": "d", "folder": tmp_path, "source": source})
    ((vary, records),) = local_records(spec.source, tmp_path) or []
    assert (vary, list(records)) == (True, [{"q": "x", "k": 1}])
    assert local_records(spec.source, tmp_path / "other") is None


def test_states_change_with_files_and_with_what_a_glob_matches(tmp_path: Path) -> None:
    pattern = str(tmp_path / "*.csv")
    sources = {
        "source": {"type": "csv", "path": [pattern, "https://host/x.csv"]},
        "concat": [{"type": "csv", "path": [pattern]}, {"type": "hf", "path": "a/b", "split": "t"}],
        "join": {"source": {"type": "csv", "path": ["/side.csv"]}, "on": "q", "into": "x"},
    }
    spec = to_spec({"name": "d", "folder": tmp_path, **sources})
    assert data_patterns(spec) == [(str(tmp_path), pattern), (str(tmp_path), "/side.csv")]
    assert data_states(str(tmp_path), pattern) == []
    assert data_states(str(tmp_path), __file__) == []
    (tmp_path / "a.csv").write_text("q", encoding="utf-8")
    first = data_states(str(tmp_path), pattern)
    assert [file for file, _ in first] == [str(tmp_path / "a.csv")]
    (tmp_path / "a.csv").write_text("qq", encoding="utf-8")
    assert data_states(str(tmp_path), pattern) != first
