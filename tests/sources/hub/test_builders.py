"""Builders of `datasets`: their settings, splits and downloads."""

from __future__ import annotations

import importlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import datasets
import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.errors import SourceError
from registry.manifest.source_models import HfSource
from registry.sources.hub.builders import builder_of, check_split, prepare, quiet, split_names
from registry.sources.pins import SourceContext
from tests.servers.hub import HubEmulator

client = importlib.import_module("huggingface_hub.utils")
SWITCHES = ("HF_UPDATE_DOWNLOAD_COUNTS", "USE_PARQUET_EXPORT")
LINES = {"test.jsonl": b'{"q": 1}\n', "train.jsonl": b'{"q": 2}\n'}


def state() -> list[bool]:
    bars = [datasets.are_progress_bars_disabled(), client.are_progress_bars_disabled()]
    return [getattr(datasets.config, name) for name in SWITCHES] + [not off for off in bars]


@pytest.fixture
def loud(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn everything on that a download turns off."""
    for name in SWITCHES:
        monkeypatch.setattr(datasets.config, name, True)
    datasets.enable_progress_bars()
    client.enable_progress_bars()


@pytest.mark.usefixtures("loud")
def test_overlapping_downloads_stay_quiet_and_the_last_restores_the_settings() -> None:
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen: dict[str, list[bool]] = {}

    def first() -> None:
        with quiet():
            first_is_in.set()
            assert second_is_in.wait(10)
        first_is_out.set()

    def second() -> None:
        assert first_is_in.wait(10)
        with quiet():
            second_is_in.set()
            assert first_is_out.wait(10)
            seen["while the second runs"] = state()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result()
    assert seen["while the second runs"] == [False] * 4
    assert state() == [True] * 4


@pytest.mark.usefixtures("loud")
def test_an_error_restores_the_settings_and_disabled_ones_stay_disabled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    datasets.disable_progress_bars()
    monkeypatch.setattr(datasets.config, "USE_PARQUET_EXPORT", False)
    with pytest.raises(KeyError), quiet():
        raise KeyError
    assert state() == [True, False, False, True]
    datasets.enable_progress_bars()


@pytest.fixture
def context(tmp_path: Path) -> SourceContext:
    return SourceContext(boundary=UNBOUNDED, cache=Cache(tmp_path / "cache"))


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
    hub: HubEmulator, context: SourceContext, tmp_path: Path
) -> None:
    commit = hub.commit("org/prepare", LINES)
    source = HfSource(path="org/prepare", split="test", revision=commit)
    made = prepare(source, context, commit, tmp_path, {})
    (table,) = made.tables(10)
    assert table.to_pylist() == [{"q": 1}]
    assert (tmp_path / "files" / "test.jsonl").read_bytes() == LINES["test.jsonl"]
