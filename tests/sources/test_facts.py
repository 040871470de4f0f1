"""What sources say about themselves: sizes, validators, rows, and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from registry.errors import AccessError, SourceError
from registry.manifest.source_models import HfSource, JsonSource, ParquetSource
from registry.sources.facts import Missing, file_facts, hub_facts, is_unreachable
from registry.sources.hub.source import pin_hub
from registry.sources.pins import SourceContext
from tests.conftest import S3, Https
from tests.servers.hub import HubEmulator, parquet_repo


def parquet(path: Path, rows: int) -> bytes:
    pq.write_table(pa.table({"q": [str(n) for n in range(rows)]}), path)
    return path.read_bytes()


def test_a_local_file_has_its_size_and_rows(tmp_path: Path, context: SourceContext) -> None:
    sizes = [
        len(parquet(tmp_path / name, rows)) for name, rows in (("a.parquet", 3), ("b.parquet", 4))
    ]
    facts = file_facts(ParquetSource(path=(f"{tmp_path}/*.parquet",)), context)
    assert [file.size for file in facts.files] == sizes
    assert facts.rows == 7


def test_a_remote_file_has_size_and_etag_and_no_rows_without_ranges(
    https: Https, tmp_path: Path, context: SourceContext
) -> None:
    body = parquet(tmp_path / "a.parquet", 3)
    url = https.put("/a.parquet", body, etag="one")
    facts = file_facts(ParquetSource(path=(url,)), context)
    (file,) = facts.files
    assert (file.location, file.size, file.etag) == (url, len(body), '"one"')
    assert facts.rows in (None, 3)  # fsspec may still read a short file
    assert file_facts(JsonSource(path=(url,)), context).rows is None


def test_the_footer_in_a_bucket_has_the_rows(
    s3: S3, tmp_path: Path, context: SourceContext
) -> None:
    s3.bucket("data")
    url = s3.put("data", "a.parquet", parquet(tmp_path / "a.parquet", 5))
    facts = file_facts(ParquetSource(path=(url,)), context)
    assert facts.rows == 5
    assert facts.files[0].etag


def test_a_file_that_is_not_there_is_an_error(https: Https, context: SourceContext) -> None:
    for path in (f"{https.url}/gone.jsonl", "/nowhere/gone.jsonl"):
        with pytest.raises(SourceError, match=r"gone\.jsonl: no such file"):
            file_facts(JsonSource(path=(path,)), context)


ROWS = [{"input": str(n)} for n in range(30)]


def ask(hub: HubEmulator, context: SourceContext, files: dict[str, bytes], **keys: Any) -> Any:
    commit = hub.commit("facts/data", files)
    source = HfSource(**{"path": "facts/data", "split": "test", "revision": commit, **keys})
    return hub_facts(source, context, pin_hub, rows=5)


TWO = {"one": {"test": ROWS, "dev": ROWS[:3]}, "two": {"test": ROWS}}


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        ({"name": "one"}, 30),
        ({"name": "one", "split": "dev"}, 3),
        ({"name": "one", "split": "test+dev"}, 33),
        ({"name": "one", "split": "test[:10%]"}, None),
        ({"name": "one", "split": "all"}, 33),
    ],
)
def test_a_repository_has_the_rows_of_its_split(
    hub: HubEmulator, context: SourceContext, keys: dict[str, Any], rows: int | None
) -> None:
    facts = ask(hub, context, parquet_repo(TWO), **keys)
    assert (facts.missing, facts.rows) == (None, rows)
    assert facts.pin is not None
    entry = context.cache.find("records", facts.pin.digest)
    assert entry is not None
    assert entry.meta["rows"] == (3 if keys.get("split") == "dev" else 5)


@pytest.mark.parametrize(
    ("keys", "missing"),
    [
        ({"name": "three"}, Missing("configuration", "three", ("one", "two"))),
        ({}, Missing("configuration", None, ("one", "two"))),
        ({"name": "one", "split": "train"}, Missing("split", "train", ("test", "dev"))),
        ({"name": "one", "split": "test+train[:3]"}, Missing("split", "train", ("test", "dev"))),
    ],
)
def test_what_a_repository_does_not_have_is_named(
    hub: HubEmulator, context: SourceContext, keys: dict[str, Any], missing: Missing
) -> None:
    assert ask(hub, context, parquet_repo(TWO), **keys).missing == missing


def test_a_revision_that_is_gone_names_the_present_one(
    hub: HubEmulator, context: SourceContext
) -> None:
    head = hub.commit("facts/data", parquet_repo(TWO))
    source = HfSource(path="facts/data", split="test", revision="old")
    assert hub_facts(source, context, pin_hub, rows=5).missing == Missing(
        "revision", "old", (head,)
    )


def test_a_repository_that_is_not_there_is_an_error(
    hub: HubEmulator, context: SourceContext
) -> None:
    with pytest.raises(AccessError, match="no such dataset, or a private one"):
        hub_facts(HfSource(path="facts/none", split="test"), context, pin_hub, rows=5)
    assert len(hub.requests) == 1


class StatusError(Exception):
    def __init__(self, status: int) -> None:
        self.status = status


class ConnectError(Exception):
    pass


class ProxyError(Exception):
    pass


@pytest.mark.parametrize(
    ("cause", "unreachable"),
    [
        *((StatusError(status), True) for status in (503, 501, 429, 408, 407)),
        *((StatusError(status), False) for status in (404, 401)),
        *((error, True) for error in (ConnectError(), TimeoutError(), ProxyError())),
        (OSError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"), True),
        (ValueError(), False),
    ],
    ids=repr,
)
def test_errors_of_the_network_say_nothing_about_a_source(
    cause: Exception, unreachable: bool
) -> None:
    error = SourceError("x")
    error.__cause__ = cause
    assert is_unreachable(error) is unreachable
