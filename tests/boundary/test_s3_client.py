"""An answer of S3 whose header never ends is given up in time."""

from __future__ import annotations

import pytest
from botocore.exceptions import ReadTimeoutError

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.sources.bodies import describe
from registry.sources.filesystem import filesystem
from tests.servers.answers import AnswerServer, Script, repeat

# `make lowest` has the oldest aiohttp that we take; that of this extra is newer.
pytest.importorskip("aiobotocore.session", reason="older aiohttp", exc_type=ImportError)
DRIP = Script(repeat(b"HTTP/1.1 200 OK\r\nX-Endless: ", b"x"))


def test_a_header_that_drips_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    location = Location("s3://data/a.csv")
    with AnswerServer({"/data/a.csv": DRIP}) as server:
        files = filesystem(location, {"endpoint_url": server.url}, UNBOUNDED)
        with pytest.raises(ReadTimeoutError):
            describe(files, location)
