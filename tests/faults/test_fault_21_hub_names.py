"""A misspelt revision, configuration, split or file of the Hub is an error with those there are."""

from __future__ import annotations

import pytest

from tests.faults.faulty_hub import FaultyHub
from tests.servers.hub import HubEmulator, parquet_repo

ROWS = [{"q": "x", "a": "y"}]
CASES = {
    "revision": ({"revision": "mian"}, "no revision 'mian' (did you mean 'main'? branches and"),
    "split": ({"split": "tset"}, "no split 'tset' (did you mean 'test'? splits: test, train)"),
    "name": ({"name": "engl"}, "BuilderConfig 'engl' not found. Available: ['english', 'german']"),
    "data_files": (
        {"data_files": "english/tst.parquet"},
        "no file 'english/tst.parquet' (did you mean 'english/test-00000-of-00001.parquet'?",
    ),
}


@pytest.mark.parametrize("key", CASES)
def test_what_there_is_is_listed(hub: HubEmulator, key: str, faulty: FaultyHub) -> None:
    configs = {name: {"test": ROWS, "train": ROWS} for name in ("english", "german")}
    hub.commit("org/names", parquet_repo(configs))
    keys, message = CASES[key]
    faulty.write(**{"path": "org/names", "name": "english", **keys})
    ended = faulty.run("sync")
    assert ended.code == 1
    assert message in ended.err
    assert len(faulty.proxy.log) < 20
