"""Pictures and players of what a sample has in itself; what can't be decoded says so."""

from __future__ import annotations

import pytest

from registry.display.html import Allowance
from registry.display.media import media_html, picture_uri
from tests.gallery import picture, sound, uri

PNG = uri("image/png", picture())


def html(kind: str, where: str, room: int = 30_000) -> str:
    return media_html(kind, where, Allowance(10_000, pictures=room))


def test_picture_and_players_are_shown() -> None:
    assert f'<img class="media" src="{PNG}" alt="Image of the sample"' in html("image", PNG)
    wav = uri("audio/x-wav", sound())
    assert f'<audio class="media" controls preload="metadata" src="{wav}"></audio>' == html(
        "audio", wav
    )
    film = uri("video/mp4", b"\0\0\0\x18ftypisom")
    assert html("video", film).startswith('<video class="media" controls')


@pytest.mark.parametrize(
    ("kind", "where", "why"),
    [
        ("image", uri("image/png", picture()[:-8]), "it can't be decoded, as its end is missing"),
        ("image", uri("image/png", picture().replace(b"IDAT", b"IDAX")), "as it is damaged"),
        ("image", uri("image/png", b"text"), "as it does not begin as image/png does"),
        ("image", "data:image/png;base64,A", "as it is not valid base64"),
        ("image", uri("image/svg+xml", b"<svg onload=alert(1)>"), "image/svg+xml, a data URI"),
        ("image", "data:text/html,<script>alert(1)</script>", "text/html, a data URI"),
        ("image", 'data:image/png;base64,"onerror="alert(1)', "image/png, a data URI"),
        ("audio", PNG, "image/png, a data URI"),
        ("audio", "a.wav", "audio elsewhere"),
        ("image", "https://example.com/<x>.png", "https://example.com/&lt;x&gt;.png"),
        ("image", PNG + "A" * 30_000, "not shown, as it is too large"),
    ],
)
def test_others_are_described_and_nothing_is_requested(kind: str, where: str, why: str) -> None:
    text = html(kind, where)
    assert why in text
    assert not any(part in text for part in ("<img", "<audio", "<script", "src="))


def test_pictures_share_what_a_page_has_for_them() -> None:
    allowance = Allowance(10_000, pictures=len(PNG) + 10)
    assert "<img" in media_html("image", PNG, allowance)
    assert "too large" in media_html("image", PNG, allowance)


@pytest.mark.parametrize(
    ("media_type", "data"),
    [
        ("image/png", picture()),
        ("image/jpeg", b"\xff\xd8\xff\xe0\xff\xd9"),
        ("image/gif", b"GIF87a;"),
        ("image/webp", b"RIFF\0\0\0\0WEBP"),
        ("image/avif", b"\0\0\0\x1cftypavif"),
        ("image/bmp", b"BM"),
        ("audio/wav", b"RIFF\0\0\0\0WAVE"),
        ("audio/mpeg", b"ID3"),
        ("audio/ogg", b"OggS"),
        ("audio/flac", b"fLaC"),
        ("video/mp4", b"\0\0\0\x18ftypisom"),
        ("video/webm", b"\x1aE\xdf\xa3"),
        ("video/quicktime", b"\0\0\0\x14ftypqt"),
    ],
)
def test_files_are_known_by_how_they_begin(media_type: str, data: bytes) -> None:
    kind, where = media_type.partition("/")[0], uri(media_type, data)
    assert 'class="media"' in html(kind, where, len(where))
    assert "too large" in html(kind, where, len(where) - 1)
    assert "does not begin as" in html(kind, uri(media_type, b"\0" + data))
    assert picture_uri(data) == (where if kind == "image" else "")
