"""The servers of a catalog are asked as for files: within the boundary, all at once."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from registry.catalog.catalog import Catalog
from registry.plugins.doctor import hosts
from registry.plugins.doctor.hosts import host_observations, origins_of
from registry.plugins.doctor.observation import Observation
from tests.cli.invocation import write


def catalog_of(folder: Path, *paths: str) -> Catalog:
    lines = [
        f"  d{number}: {{source: {{type: csv, path: {path!r}}}}}\n"
        for number, path in enumerate(paths)
    ]
    write(folder, "qa", f"datasets:\n{''.join(lines)}")
    return Catalog.open()


def found(catalog: Catalog) -> list[Observation]:
    return list(host_observations(catalog))


def test_servers_are_counted_once_and_only_those_that_may_be_reached(own: Path) -> None:
    catalog = catalog_of(
        own,
        "https://data.example/a.csv",
        "https://data.example/b.csv?token=canary",
        "zip://a.csv::https://zip.example:8443/a.zip",
        "http://plain.example/a.csv",
        "https://10.0.0.7/a.csv",
        "s3://bucket/a.csv",
        "qa.csv",
    )
    assert dict(origins_of(catalog)) == {"https://data.example": 2, "https://zip.example:8443": 1}


def test_servers_of_all_that_a_dataset_reads_are_counted(own: Path) -> None:
    def source(name: str) -> str:
        return f"{{type: csv, path: ['qa.csv', 'https://{name}.example/a.csv']}}"

    write(
        own,
        "qa",
        f"""
datasets:
  one:
    concat: [{source("first")}, {source("second")}]
    join: {{source: {source("joined")}, on: q, into: more}}
  two:
    source: {source("common")}
    splits: {{dev: {{}}, test: {{path: 'https://split.example/a.csv'}}}}
    default_split: test
""",
    )
    names = ("first", "second", "joined", "common", "split")
    assert origins_of(Catalog.open()) == {f"https://{name}.example": 1 for name in names}


def test_catalog_without_servers_asks_nobody(own: Path) -> None:
    assert found(catalog_of(own, "qa.csv")) == []


def test_any_answer_counts_and_silence_is_a_warning(own: Path, httpserver: HTTPServer) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}"
    url = httpserver.url_for("/a.csv")
    fine, silent = found(catalog_of(own, url, f"{closed}/a.csv"))
    assert (fine.status, fine.text) == ("ok", "1 of 2 servers answer")
    assert silent.status == "warn"
    assert silent.text == f"{closed}: {closed[7:]} refuses the connection, 1 dataset"


def test_names_that_nobody_has(own: Path) -> None:
    (silent,) = found(catalog_of(own, "https://nobody.invalid/a.csv"))
    assert silent.text == (
        "https://nobody.invalid: no address is known for nobody.invalid, 1 dataset"
    )


def test_server_that_is_silent_is_not_waited_for(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/a.csv"
        (silent,) = found(catalog_of(own, url))
    assert "no answer in" in silent.text


def test_few_servers_are_asked(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "_MOST", 1)
    names = ("b", "a", "a", "c")
    (silent,) = found(catalog_of(own, *(f"https://{name}.invalid/x.csv" for name in names)))
    assert silent.text.startswith("https://a.invalid: ")
    assert silent.text.endswith("2 datasets")
