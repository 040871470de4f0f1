"""A misspelt revision, configuration, split or file of the Hub is an error with those there are."""

from __future__ import annotations

from tests.faults.faulty_hub import FaultyHub
from tests.servers.hub import HubEmulator, parquet_repo

ROWS = [{"q": "x", "a": "y"}]
CASES = {
    "revision": ({"revision": "mian"}, "no revision 'mian' (did you mean 'main'? branches and"),
    "split": ({"split": "tset"}, "no split 'tset' (did you mean 'test'? splits: test, train)"),
    "name": ({"name": "engl"}, "BuilderConfig 'engl' not found. Available: ['english', 'german']"),
    "file": (
        {"data_files": "english/tst.parquet"},
        "no file 'english/tst.parquet' (did you mean 'english/test-00000-of-00001.parquet'?",
    ),
}


def test_what_there_is_is_listed(hub: HubEmulator, faulty: FaultyHub) -> None:
    configs = {name: {"test": ROWS, "train": ROWS} for name in ("english", "german")}
    hub.commit("org/names", parquet_repo(configs))
    usual = {"path": "org/names", "name": "english"}
    faulty.write_each({case: {**usual, **keys} for case, (keys, _) in CASES.items()})
    ended = faulty.run("sync")
    assert ended.code == 1
    for case, (_, message) in CASES.items():
        assert f"error: {case}: org/names: {message}" in ended.err
    assert len(faulty.proxy.log) < 40
