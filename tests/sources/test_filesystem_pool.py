"""One file system serves all locations of a protocol."""

from __future__ import annotations

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED
from registry.errors import AccessError
from registry.sources.filesystem_pool import FilesystemPool


def test_a_file_system_is_created_once_with_its_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = FilesystemPool({"key": {"env": "QA_KEY"}, "secret": "s"}, UNBOUNDED)
    with pytest.raises(AccessError, match="the environment variable QA_KEY is not set"):
        pool.of(Location("s3://b/x"))
    monkeypatch.setenv("QA_KEY", "k")
    assert pool.of(Location("s3://b/x")) is pool.of(Location("s3://other/y"))
    assert pool.of(Location("s3://b/x")).key == "k"
