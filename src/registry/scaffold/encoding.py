"""Find out the text encoding of a file."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import islice

from registry.errors import DecodeError
from registry.scaffold.columns import Ask, Guess, Question, refuse

__all__ = ["excerpts", "sniff_encoding"]

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it starts with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BINARY = {
    b"PK\x03\x04": "a zip archive or an office document (export the sheet as CSV)",
    b"\xd0\xcf\x11\xe0": "an old office document (export the sheet as CSV)",
    b"\x1f\x8b": "compressed by gzip (its name must end in .gz)",
    b"BZh": "compressed by bzip2 (its name must end in .bz2)",
    b"\xfd7zXZ": "compressed by xz (its name must end in .xz)",
    b"\x28\xb5\x2f\xfd": "compressed by zstd (its name must end in .zst)",
    b"PAR1": "a Parquet file (its name must end in .parquet)",
    b"ARROW1": "an Arrow file (write it as Parquet)",
    b"SQLite format 3": "a database of SQLite (export a table as CSV)",
    b"%PDF": "a PDF",
}
# Those that files of data really have. Of all that exist, a short text fits too many by chance.
_CANDIDATES = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "iso8859_2", "koi8_r"),
    *("cp932", "euc_jp", "gb18030", "big5", "euc_kr"),
)
# Measured on short texts in ten languages: the correct encoding is ahead of others by more.
_LESS_CHAOS, _MORE_COHERENCE = 0.07, 0.05
_SHOWN_WORDS = 3
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\ufffd]")
_ODD_WORD = re.compile(r"\w{0,30}[^\x00-\x7f]\w{0,30}")
_MOSTLY = 10
"""How many valid characters of UTF-8 for each invalid byte make a text damaged UTF-8."""
_MOST_AS_IT_IS = 1 << 16
_PLACES = 16
_EXCERPTS = 32
"""How many of one place."""
_BEFORE, _AFTER, _LONGEST = 40, 80, 1 << 12
_ODD = re.compile(rb"[\x80-\xff]")
# In no encoding that has characters of several bytes is one of these the second or a later byte.
_BREAK = re.compile(rb"[\t\n\r \",;]")


def sniff_encoding(data: bytes, *, file: str, is_all: bool = True, ask: Ask = refuse) -> Guess:
    """Return the encoding of a text, or of its beginning, which may end within a character.

    `ask` decides between encodings that fit equally well.

    Raises:
        DecodeError: it is not a text, or no encoding fits.
    """
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            return Guess("encoding", name, "byte-order mark", is_default=name == "utf-8")
    for start, kind in _BINARY.items():
        if data.startswith(start):
            raise DecodeError(f"this is not a text file but {kind}", file=file)
    if b"\0" in data:
        return _sniff_wide(data, file)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, is_all)
    except UnicodeDecodeError as error:
        odd = excerpts(data)
        _check_damage(odd, error, file)
        return _sniff_bytes(data, odd, is_all=is_all, file=file, ask=ask)
    return Guess("encoding", "utf-8", "every byte is valid", is_default=True)


def _sniff_wide(data: bytes, file: str) -> Guess:
    """Return which UTF-16 it is, by the zeros of its ASCII characters, such as line ends."""
    even, odd = data[::2].count(0), data[1::2].count(0)
    name = "utf-16-le" if odd > even else "utf-16-be"
    text = data[: len(data) // 2 * 2].decode(name, "replace")
    # In a text, zeros are on one side only, also in line ends, and no other control characters
    # occur.
    is_narrow = text.count("\n") * 2 < data.count(b"\n")
    if is_narrow or min(even, odd) > max(even, odd) / 10 or _CONTROL.search(text):
        message = "this is not a text file: it has zero bytes (say --encoding if it is one)"
        raise DecodeError(message, file=file)
    return Guess("encoding", name, "every other byte of ASCII characters is zero")


def _check_damage(odd: bytes, error: UnicodeDecodeError, file: str) -> None:
    """Raise a DecodeError if nearly all of a text is UTF-8: another encoding would garble it."""
    text = odd.decode("utf-8", "surrogateescape")
    invalid = sum("\udc80" <= character <= "\udcff" for character in text)
    valid = sum(character > "\x7f" for character in text) - invalid
    if valid > _MOSTLY * invalid:
        byte, line = error.object[error.start], error.object.count(b"\n", 0, error.start) + 1
        message = (
            f"the byte 0x{byte:02x} is not UTF-8, and the rest of the text is"
            " (correct the file, or say --encoding)"
        )
        raise DecodeError(message, file=file, line=line)


def _sniff_bytes(data: bytes, odd: bytes, *, is_all: bool, file: str, ask: Ask) -> Guess:
    """Return the best of the encodings with one byte a character, and those of East Asia."""
    from charset_normalizer import from_bytes

    matches = iter(from_bytes(odd, cp_isolation=list(_CANDIDATES)))
    best = next((one for one in matches if _is_valid(data, one.encoding, is_all=is_all)), None)
    if best is None:
        message = "not UTF-8, and no other encoding that is known to us fits (say --encoding)"
        raise DecodeError(message, file=file)
    rivals = (
        other
        for other in matches
        if other.chaos <= best.chaos + _LESS_CHAOS
        and other.coherence >= best.coherence - _MORE_COHERENCE
        and str(other) != str(best)
    )
    found = [best, *(one for one in rivals if _is_valid(data, one.encoding, is_all=is_all))]
    names = [_common_name(data, odd, match.encoding) for match in found]
    if len(names) == 1:
        return Guess("encoding", names[0], f"sniffed: it reads {_odd_words(odd, names[0])}")
    options = {f"--encoding {name}": _odd_words(odd, name) for name in names}
    chosen = ask(Question(file, "encoding", options)).rpartition(" ")[2]
    return Guess("encoding", chosen, "chosen")


def _is_valid(data: bytes, encoding: str, *, is_all: bool) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(data, is_all)
    except UnicodeDecodeError:
        return False
    return True


def _common_name(data: bytes, odd: bytes, encoding: str) -> str:
    """Return the most common encoding that gives the same text."""
    for name in _CANDIDATES:
        # Nearly all of them differ in the excerpts, so that few decode the whole text.
        if all(
            part.decode(name, "replace") == part.decode(encoding, "replace") for part in (odd, data)
        ):
            return name
    return encoding


def _odd_words(odd: bytes, encoding: str) -> str:
    """Return the first words that are not ASCII, so that a person sees whether they are right."""
    words = _ODD_WORD.findall(odd.decode(encoding, "replace"))
    distinct = list(dict.fromkeys(words))[:_SHOWN_WORDS]
    return ", ".join(f"'{word}'" for word in distinct)


def excerpts(data: bytes) -> bytes:
    """Return a text, of which a long one is reduced to excerpts from many places.

    No excerpt begins or ends within a character.
    """
    if len(data) <= _MOST_AS_IT_IS:
        return data
    size = -(-len(data) // _PLACES)
    places = (_odd_parts(data, start, start + size) for start in range(0, len(data), size))
    return b"\n".join(part for place in places for part in islice(place, _EXCERPTS)) or data


def _odd_parts(data: bytes, start: int, stop: int) -> Iterator[bytes]:
    """Yield what is around the bytes of a place that are not ASCII; it may start anywhere."""
    aligned = _BREAK.search(data, start, stop)
    while aligned is not None and (odd := _ODD.search(data, aligned.end(), stop)) is not None:
        at = odd.start()
        end = _BREAK.search(data, at + _AFTER, at + _LONGEST)
        if end is not None:
            yield data[max(aligned.end(), at - _BEFORE) : end.start()]
        aligned = end or _BREAK.search(data, at + _LONGEST, stop)
