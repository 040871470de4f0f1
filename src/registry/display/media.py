"""Pictures, sound and films that are in a sample itself: a page makes no request for others."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from html import escape

from registry.display.html import Allowance
from registry.display.text import VALUE_TEXT, block, text_html
from registry.errors import count_text

__all__ = ["data_uri_text", "media_html", "picture_uri"]

# SVG could contain links and scripts, and is left out.
_URI = re.compile(r"data:((?:image|audio|video)/[a-z0-9.+-]+);base64,([A-Za-z0-9+/=\s]+)")
_PNG, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
_MARKS = {
    "image/png": (0, (_PNG,)),
    "image/jpeg": (0, (b"\xff\xd8\xff",)),
    "image/gif": (0, (b"GIF87a", b"GIF89a")),
    "image/webp": (8, (b"WEBP",)),
    "image/avif": (4, (b"ftypavif", b"ftypavis", b"ftypmif1")),
    "image/bmp": (0, (b"BM",)),
    "audio/wav": (8, (b"WAVE",)),
    "audio/mpeg": (0, (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"\xff\xfa")),
    "audio/ogg": (0, (b"OggS",)),
    "audio/flac": (0, (b"fLaC",)),
    "video/mp4": (4, (b"ftyp",)),
    "video/webm": (0, (b"\x1aE\xdf\xa3",)),
    "video/quicktime": (4, (b"ftyp", b"moov", b"wide")),
}
"""Media type → what its files have, and where."""
_SAME = {"image/jpg": "image/jpeg", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav"}
_SAME |= {"audio/mp3": "audio/mpeg", "video/mov": "video/quicktime"}
_ENDS = {"image/png": _PNG_END, "image/jpeg": b"\xff\xd9", "image/gif": b";"}
_WORDS = {"image": "picture", "audio": "sound", "video": "film"}


def media_html(kind: str, where: str, allowance: Allowance) -> str:
    """Return a picture, or a player for sound or a film; in words why there is none.

    `where` is a data URI, or the place of what is elsewhere.
    """
    if not where.startswith("data:"):
        return text_html(where, VALUE_TEXT, allowance, label=f"{kind} elsewhere")
    described = f"{data_uri_text(where)} not shown"
    found = _URI.fullmatch(where) if len(where) <= allowance.pictures else None
    if len(where) > allowance.pictures:
        return block(kind, "", f"{described}, as it is too large")
    media_type = found and _SAME.get(found[1], found[1])
    if found is None or media_type not in _MARKS or not media_type.startswith(kind):
        return block(kind, "", described)
    if fault := _fault(media_type, found[2]):
        return block(kind, "", f"{described}: it can't be decoded, as {fault}")
    allowance.pictures -= len(where)
    source = f'src="{escape(where)}"'
    if kind == "image":
        # The words are for who can't see it, and for a browser that can't decode it.
        return f'<img class="media" {source} alt="Image of the sample" loading="lazy">'
    return f'<{kind} class="media" controls preload="metadata" {source}></{kind}>'


def picture_uri(data: bytes) -> str:
    """Return bytes that are a picture as a data URI; "" for others."""
    for media_type, (place, marks) in _MARKS.items():
        if media_type.startswith("image/") and data[place:].startswith(marks):
            return f"data:{media_type};base64,{base64.b64encode(data).decode()}"
    return ""


def data_uri_text(uri: str) -> str:
    """Return what a data URI contains, without its data."""
    kind = uri[5:60].partition(",")[0].partition(";")[0] or "text/plain"
    return f"{kind}, a data URI of {count_text(len(uri), 'character')},"


def _fault(media_type: str, text: str) -> str:
    """Return why data is not a file of its type, or "": how it begins, ends, and sums of PNG."""
    try:
        data = base64.b64decode(text, validate=False)
    except binascii.Error:
        return "it is not valid base64"
    place, marks = _MARKS[media_type]
    if not data[place:].startswith(marks):
        return f"it does not begin as {media_type} does"
    end = _ENDS.get(media_type, b"")
    if end and end not in data[-64:]:
        return "its end is missing"
    if media_type == "image/png" and not _has_valid_chunks(data):
        return "it is damaged"
    return ""


def _has_valid_chunks(data: bytes) -> bool:
    """Return whether each part of a PNG has the checksum that follows it."""
    place = len(_PNG)
    while place + 12 <= len(data):
        end = place + 8 + int.from_bytes(data[place : place + 4], "big")
        if zlib.crc32(data[place + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            return False
        place = end + 4
    return True
