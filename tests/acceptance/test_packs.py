"""A machine that lacks everything fetches a whole catalog in few requests, counted on S3's side."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from moto.moto_server.werkzeug_app import DomainDispatcherApplication

from registry import get_dataset
from registry.cli import main
from registry.plugins.remote_cache.stores import open_store
from tests.acceptance.conftest import Machine
from tests.conftest import S3, Https, Page, permit

NUMBER = 20
NAMES = [f"data-{number:02}" for number in range(NUMBER)]


@pytest.fixture
def s3_requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the requests that arrive at the server."""
    received: list[str] = []
    answer = DomainDispatcherApplication.__call__

    def recorded(self: Any, environ: Any, start_response: Any) -> Any:
        received.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO'].rpartition('.')[2]}")
        return answer(self, environ, start_response)

    monkeypatch.setattr(DomainDispatcherApplication, "__call__", recorded)
    return received


@pytest.fixture
def catalog(
    https: Https, s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: Machine
) -> Path:
    """Write and lock a catalog with many datasets."""
    datasets: dict[str, Any] = {}
    for number, name in enumerate(NAMES):
        rows = b"".join(b"question %d of %d,answer\n" % (row, number) for row in range(200))
        https.pages[f"/{name}.csv"] = Page(b"q,a\n" + rows)
        source = {"type": "csv", "path": f"{https.url}/{name}.csv"}
        datasets[name] = {"source": source, "fields": {"input": "q", "target": "a"}}
    root = tmp_path / "catalog"
    root.mkdir()
    (root / "datasets.yaml").write_text(yaml.safe_dump({"version": 1, "datasets": datasets}))
    permit(root, hosts=["localhost"])
    s3.bucket("remote-cache")
    monkeypatch.setenv("REGISTRY_ROOT", str(root))
    monkeypatch.setenv("REGISTRY_REMOTE_CACHE", "s3://remote-cache/team")

    machine("first")
    assert main(["lock"]) == 0
    return root


@pytest.mark.usefixtures("catalog")
def test_a_cold_machine_makes_few_requests(
    machine: Machine, https: Https, s3_requests: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sync", "--push", "--pack"]) == 0
    assert f"packed the samples of {NUMBER} entries in 1 object" in capsys.readouterr().err
    first = [list(get_dataset(name)) for name in NAMES]
    https.requests.clear()

    machine("second")
    s3_requests.clear()
    assert main(["sync"]) == 0
    assert f"{NUMBER} datasets: {NUMBER} fetched" in capsys.readouterr().err
    # The index and the one pack: with an object for each entry they would be two for each.
    assert Counter(s3_requests) == {"GET json": 1, "GET pack": 1}
    assert https.requests == []
    assert [list(get_dataset(name)) for name in NAMES] == first

    # A part of the datasets is a part of the pack; what is cached is not asked for again.
    machine("third")
    s3_requests.clear()
    assert main(["sync", *NAMES[3:6]]) == 0
    assert main(["sync", *NAMES[:3]]) == 0
    assert main(["sync", *NAMES[:6]]) == 0
    assert Counter(s3_requests) == {"GET json": 3, "GET pack": 2}
    # A single dataset needs no index.
    s3_requests.clear()
    assert list(get_dataset(NAMES[9])) == first[9]
    assert Counter(s3_requests) == {"GET json": 1, "GET pack": 1}
    assert https.requests == []


@pytest.mark.usefixtures("catalog")
def test_a_damaged_pack_or_index_costs_what_it_holds_and_nothing_else(
    machine: Machine, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sync", "--push", "--pack"]) == 0
    first = [list(get_dataset(name)) for name in NAMES]
    store = open_store("s3://remote-cache/team")
    objects = {one.name: one for one in store.objects()}
    (index,) = (name for name in objects if "/packs/" in name and name.endswith(".json"))
    (pack,) = (name for name in objects if name.endswith(".pack"))
    data = store.read(pack, 1 << 30)
    assert data is not None

    machine("flipped")
    middle = len(data) // 2
    store.write(pack, data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    assert main(["sync"]) == 0
    assert f"{NUMBER - 1} fetched" in capsys.readouterr().err
    assert [one.getMessage() for one in caplog.records if "don't have their digest" in one.message]
    assert [list(get_dataset(name)) for name in NAMES] == first

    machine("cut")
    store.write(pack, data[: len(data) // 4])
    assert main(["sync"]) == 0
    assert [list(get_dataset(name)) for name in NAMES] == first

    # The records of the entries still say where they are.
    machine("no index")
    store.write(pack, data)
    store.write(index, b"{}")
    capsys.readouterr()
    assert main(["sync"]) == 0
    assert f"{NUMBER} fetched" in capsys.readouterr().err
    assert "its index of packs is invalid" in caplog.text


def test_packs_need_a_lockfile_and_a_push(
    catalog: Path, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sync", "--pack"]) == 2
    assert "--pack needs --push" in capsys.readouterr().err
    machine("first")
    (catalog / "datasets.lock").unlink()
    assert main(["sync", "--push", "--pack"]) == 1
    assert "packs are made for a lockfile" in capsys.readouterr().err
