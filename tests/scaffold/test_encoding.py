"""The encoding of texts in several languages; what is not clear is asked, what is no text refused."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import DecodeError
from registry.scaffold.columns import Question
from registry.scaffold.encoding import excerpts, sniff_encoding

GERMAN = "frage;antwort\nWie heißt die größte Stadt Österreichs?;Wien\nGegenteil von früh?;spät\n"
FRENCH = "question,réponse\nQuelle est la capitale ?,Paris à côté\nOù est né Molière ?,à Paris\n"
SPANISH = "pregunta,respuesta\n¿Cuál es la capital de España?,Madrid\n¿Qué año?,mañana\n"
POLISH = (
    "pytanie,odpowiedź\nJaka jest stolica? Łódź czy Kraków,Warszawa\nGdzie leży Gdańsk?,morze\n"
)
RUSSIAN = "вопрос,ответ\nКак называется столица России?,Москва\nСколько будет дважды два?,четыре\n"
JAPANESE = "質問,答え\n日本の首都はどこですか,東京\n富士山の高さは,三千\n"
GREEK = "ερώτηση,απάντηση\nΠοια είναι η πρωτεύουσα;,Αθήνα\n"
ENGLISH = "question,answer\nWhat\u2019s the caf\u00e9 called?,Nero\nHow much is it?,\u20ac5\n"
SHORT = "q,a\nWhere is the café?,Nice\n"

TEXTS = [
    *((GERMAN, "cp1252"), (GERMAN, "latin-1"), (FRENCH, "cp1252"), (FRENCH, "latin-1")),
    *((SPANISH, "latin-1"), (POLISH, "cp1250"), (RUSSIAN, "cp1251"), (RUSSIAN, "koi8_r")),
    *((JAPANESE, "shift_jis"), (JAPANESE, "euc_jp"), (GREEK, "cp1253"), (ENGLISH, "cp1252")),
    (SHORT, "latin-1"),
]
WORDS = ["q", "Łódź", "größte", "質問", "日本の首都", "вопрос", "x9x", "12", "answer" * 30]
ENCODINGS = ["utf-8", "cp932", "euc_jp", "gb18030"]


@pytest.mark.parametrize(("text", "encoding"), TEXTS)
def test_encoding_that_is_sniffed_reads_the_text(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    guess = sniff_encoding(data, file="q.csv")
    assert data.decode(guess.value) == text
    assert not guess.is_default
    assert "sniffed: it reads '" in guess.reason


@pytest.mark.parametrize("text", [GERMAN, RUSSIAN, ENGLISH])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_unicode_is_recognized_with_and_without_mark(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    guess = sniff_encoding(data, file="q.csv")
    assert data.decode(guess.value).removeprefix("\ufeff") == text
    assert guess.is_default == (guess.value == "utf-8")


def test_big_endian_utf_16_with_mark_is_recognized() -> None:
    data = codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be")
    assert data.decode(sniff_encoding(data, file="q.csv").value) == GERMAN


def test_common_name_is_preferred_among_encodings_with_the_same_text() -> None:
    assert sniff_encoding(GERMAN.encode("latin-1"), file="q.csv").value == "cp1252"


def test_beginning_of_a_file_may_end_within_a_character() -> None:
    data = "größte".encode()[:3]
    assert sniff_encoding(data, file="q.csv", is_all=False).value == "utf-8"
    with pytest.raises(DecodeError, match="the encoding is not clear"):
        sniff_encoding(data, file="q.csv")


def long_text(text: str) -> str:
    """Return a long text that is ASCII for the most part, with a text near its end."""
    return "question,answer\n" + "What is two and two?,four\n" * 20_000 + text * 3 + "Why?,so\n"


@pytest.mark.parametrize(
    ("text", "encoding"), [(GERMAN, "cp1252"), (RUSSIAN, "koi8_r"), (JAPANESE, "shift_jis")]
)
def test_few_characters_of_a_long_text_tell_its_encoding(text: str, encoding: str) -> None:
    data = long_text(text).encode(encoding)
    guess = sniff_encoding(data, file="q.csv")
    assert data.decode(guess.value) == long_text(text)


def test_encoding_reads_the_whole_text_and_not_only_its_excerpts() -> None:
    # Byte 0x81 is undefined in cp1252, which all of the excerpts are.
    data = GERMAN.encode("cp1252") * 2_000 + b"x\x81y\n" + GERMAN.encode("cp1252") * 2_000
    assert b"\x81" not in excerpts(data)
    with pytest.raises(DecodeError, match="no other encoding that is known to us fits"):
        sniff_encoding(data, file="q.csv")


@pytest.mark.parametrize("before", [1, 40_000])
def test_damaged_utf_8_is_an_error_and_not_another_encoding(before: int) -> None:
    data = RUSSIAN.encode() * before + b"caf\xe9,x\n" + RUSSIAN.encode()
    with pytest.raises(DecodeError, match="0xe9 is not UTF-8, and the rest of the text is") as e:
        sniff_encoding(data, file="q.csv")
    assert e.value.line == 3 * before + 1


def test_equal_readings_are_asked() -> None:
    data = POLISH.encode("iso8859_2")
    asked = []

    def by_its_words(question: Question) -> str:
        asked.append(question)
        return next(way for way, words in question.choices.items() if "odpowiedź" in words)

    guess = sniff_encoding(data, file="q.csv", ask=by_its_words)
    assert data.decode(guess.value) == POLISH
    assert len(asked) == 1
    with pytest.raises(DecodeError, match=r"is not clear.*--encoding iso8859_2 gives"):
        sniff_encoding(data, file="q.csv")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK\x03\x04 and so on", "a zip archive or an office document (export the sheet as CSV)"),
        (b"PAR1" + bytes(10), "its name must end in .parquet"),
        (b"\x1f\x8b\x08\x00", "its name must end in .gz"),
        (bytes(range(256)) * 4, "it has zero bytes"),
        (b"\x00\x01\x02\x03" * 30, "it has zero bytes"),
        (b"question,answer\nWh\x00t?,4\n" + b"What is it?,5\n" * 10, "it has zero bytes"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "it has zero bytes"),
    ],
)
def test_binary_file_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(DecodeError, match="this is not a text file") as caught:
        sniff_encoding(data, file="q.csv")
    assert words in str(caught.value)


@settings(max_examples=30)
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=5, max_size=40),
    marks=st.lists(st.sampled_from([" ", ",", "\n", '"', "", ""]), min_size=5, max_size=40),
)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_excerpts_have_complete_characters(
    encoding: str, words: list[str], marks: list[str]
) -> None:
    one = "".join(word + mark for word, mark in zip(words, marks, strict=False))
    data = one.encode(encoding, "ignore")
    data = (data * (1 + 100_000 // len(data)))[: 1 << 18]
    data = data.decode(encoding, "ignore").encode(encoding)
    excerpts(data).decode(encoding)


def test_excerpts_come_from_everywhere() -> None:
    parts = [f"Wo liegt {name}?\n".encode("cp1250") for name in ("Łódź", "Gdańsk", "Wrocław")]
    found = excerpts((b"plain text\n" * 30_000).join([b"", *parts, b""]))
    assert all(part.split()[-1] in found for part in parts)


@pytest.mark.parametrize(
    "data",
    [b"caf\xe9, or not", b"x" * (1 << 20) + b"\xe9" * 100 + b"x" * (1 << 20)],
    ids=["short", "without breaks"],
)
def test_text_is_its_own_excerpt(data: bytes) -> None:
    assert excerpts(data) == data
