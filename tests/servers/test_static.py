"""The server of static files answers ranges as the downloads under test expect of a server."""

from __future__ import annotations

from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.servers.static import StaticFiles


@pytest.mark.parametrize(
    ("headers", "status", "body"),
    [
        ({}, 200, b"abcdef"),
        ({"Range": "bytes=2-"}, 206, b"cdef"),
        ({"Range": "bytes=2-", "If-Range": '"old"'}, 200, b"abcdef"),
        ({"Range": "bytes=2-", "If-Range": '"e80b5017098950fc58aad83c8c14978e"'}, 206, b"cdef"),
    ],
)
def test_ranges_are_answered_under_the_same_etag(
    headers: dict[str, str], status: int, body: bytes
) -> None:
    with (
        StaticFiles({"/a": b"abcdef"}) as site,
        urlopen(Request(f"{site.url}/a", headers=headers)) as answer,
    ):
        assert (answer.status, answer.read()) == (status, body)
        assert answer.headers["ETag"] == '"e80b5017098950fc58aad83c8c14978e"'


def test_an_unknown_path_is_404() -> None:
    with StaticFiles() as site, pytest.raises(HTTPError, match="404"):
        urlopen(f"{site.url}/a")
