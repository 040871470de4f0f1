"""A Hub whose answers can be spoiled, and the command line that reads from it as a process."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.command_line import Ran
from tests.faults.process import registry, write_catalog
from tests.servers.fault_proxy import FaultProxy
from tests.servers.hub import HubEmulator

__all__ = ["PARQUET", "FaultyHub", "faulty_hub", "questions"]

PARQUET = r"/resolve/.*\.parquet"
"""Requests for the data."""


@dataclass(frozen=True)
class FaultyHub:
    """A catalog with the dataset `data`, read from a Hub through a proxy."""

    hub: HubEmulator
    proxy: FaultProxy
    folder: Path
    environment: dict[str, str]

    @property
    def client_folder(self) -> Path:
        """Where the Hub's own client keeps files."""
        return self.folder / "huggingface"

    def write(self, **keys: object) -> None:
        """Write the catalog; `keys` are those of the source."""
        self.write_each({"data": keys})

    def write_each(self, sources: Mapping[str, Mapping[str, object]]) -> None:
        """Write a catalog of several datasets, by their names the keys of their sources."""
        usual, fields = {"type": "hf", "path": "org/data", "split": "test"}, "{input: q, target: a}"
        datasets = [
            f"  {name}: {{source: {json.dumps({**usual, **keys})}, fields: {fields}}}\n"
            for name, keys in sources.items()
        ]
        write_catalog(self.folder / "catalog", "".join(datasets))

    def run(self, *arguments: str, **environment: str) -> Ran:
        """Run a command; where it must give up, it does after three seconds without progress."""
        given = {"REGISTRY_READ_TIMEOUT": "1", "REGISTRY_DEADLINE": "3", **self.environment}
        return registry(self.folder / "catalog", *arguments, **{**given, **environment})

    def inputs(self) -> list[str]:
        """Return the inputs of the samples, as the cache has them."""
        found: list[str] = []
        for path in sorted((self.folder / "cache").glob("v*/samples/*/samples.arrow")):
            found += pa.ipc.open_file(path).read_all()["input"].to_pylist()
        return found

    def cached(self) -> list[str]:
        """Return the names of what the cache keeps of the data."""
        kinds = ("samples", "records", "blobs")
        found = [(self.folder / "cache").glob(f"v*/{kind}/*") for kind in kinds]
        return [f"{path.parent.name}/{path.name}" for paths in found for path in paths]

    def quarantined(self) -> list[Path]:
        """Return what was rejected."""
        return list((self.folder / "cache").glob("v*/quarantine/*"))


@contextlib.contextmanager
def faulty_hub(hub: HubEmulator, folder: Path) -> Iterator[FaultyHub]:
    """Give a Hub with `org/data`, 200 questions in a Parquet file of LFS."""
    with FaultProxy(hub.url) as proxy:
        environment = {
            "HF_ENDPOINT": proxy.url,
            "HF_HOME": str(folder / "huggingface"),
            "REGISTRY_CACHE_DIR": str(folder / "cache"),
        }
        hub.remove("org/data")  # of another test, which may have gated it
        hub.commit("org/data", {"README.md": b"# Data\n", "test.parquet": questions(200)})
        faulty = FaultyHub(hub, proxy, folder, environment)
        faulty.write()
        yield faulty


def questions(number: int, word: str = "question") -> bytes:
    """Return a Parquet file; its bytes are too many for the first packets."""
    rows = [f"{word} {row}" for row in range(number)]
    buffer = io.BytesIO()
    table = pa.table({"q": rows, "a": [f"answer to {row}" for row in rows]})
    pq.write_table(table, buffer, compression="none", use_dictionary=False)
    return buffer.getvalue()
