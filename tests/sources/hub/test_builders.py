"""Builders of `datasets`: their splits and downloads."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from huggingface_hub import DatasetCard, repocard

from registry.errors import SourceError
from registry.manifest.source_models import HfSource
from registry.sources.hub import builders
from registry.sources.hub.builders import builder_of, check_split, prepare, split_names
from registry.sources.hub.files import Commit
from registry.sources.pins import SourceContext
from tests.servers.hub import HubEmulator
from tests.sources.hub.test_records import parquet

LINES = {"test.jsonl": b'{"q": 1}\n', "train.jsonl": b'{"q": 2}\n'}


@pytest.mark.parametrize(
    ("split", "names"), [("test", ["test"]), ("train[:10%]+test(pct)", ["train", "test"])]
)
def test_the_names_in_a_split(split: str, names: list[str]) -> None:
    assert split_names(HfSource(path="org/x", split=split)) == names


def test_a_split_is_checked_before_anything_is_downloaded(
    hub: HubEmulator, context: SourceContext, tmp_path: Path
) -> None:
    commit = hub.commit("org/splits", LINES)
    source = HfSource(path="org/splits", split="tets", revision=commit)
    builder = builder_of(source, context, commit, str(tmp_path / "work"))
    message = r"^org/splits: no split 'tets' \(did you mean 'test'\? splits: test, train\)$"
    with pytest.raises(SourceError, match=message):
        check_split(source, builder)
    assert not [one for one in hub.requests if one.path.endswith(".jsonl")]


def test_records_are_made_of_downloads_in_the_folder_of_the_load(
    hub: HubEmulator, context: SourceContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = hub.commit("org/prepare", LINES)
    source = HfSource(path="org/prepare", split="test", revision=commit)
    made = prepare(source, context, commit, tmp_path, {})
    (table,) = made.tables()
    assert table.to_pylist() == [{"q": 1}]
    assert (tmp_path / "files" / "test.jsonl").read_bytes() == LINES["test.jsonl"]
    # A builder that reads files in a way of its own.
    monkeypatch.setattr("datasets.DatasetBuilder.download_and_prepare", lambda *_, **__: None)
    with pytest.raises(SourceError, match=r"^org/prepare: its files, as json reads them, can't be"):
        prepare(source, context, commit, tmp_path, {})


def test_an_empty_parquet_file_has_no_records(
    hub: HubEmulator, context: SourceContext, tmp_path: Path
) -> None:
    files = {f"data/test-0000{rows}-of-00002.parquet": parquet(rows) for rows in (0, 1)}
    commit = hub.commit("org/empty", files)
    source = HfSource(path="org/empty", split="test", revision=commit)
    (table,) = prepare(source, context, commit, tmp_path, {}).tables()
    assert table.to_pylist() == [{"q": "q0"}]


def test_the_card_is_read_with_the_token_of_the_load(
    hub: HubEmulator, context: SourceContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = hub.commit("org/private", LINES)
    cards: list[Commit] = []
    monkeypatch.setattr(builders, "check_card", lambda card, _: cards.append(card))
    source = HfSource(path="org/private", split="test", revision=commit)
    builder_of(source, context, commit, str(tmp_path / "work"), token="hf_own")
    assert cards == [Commit("org/private", commit, "hf_own")]


def test_cards_are_parsed_by_libyaml_and_their_errors_worded_by_the_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repocard, "yaml", yaml)  # restored after the test
    builders.parse_cards_by_libyaml()
    with pytest.raises(yaml.YAMLError) as raised:
        DatasetCard("---\nlicense: *none\n---\n")
    assert str(raised.value).endswith("    license: *none\n             ^")
    monkeypatch.delattr(yaml, "safe_load")
    card = DatasetCard("---\nconfigs:\n- {config_name: ä, data_files: a.csv}\n---\n").data
    assert vars(card)["configs"] == [{"config_name": "ä", "data_files": "a.csv"}]
