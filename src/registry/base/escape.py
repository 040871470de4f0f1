"""Escape untrusted text, so that it controls no terminal and no CI, and hides nothing.

What a reader can't see is shown as its code. Shown as they are: joiners where a script needs them
(RFC 5892, appendix A), and what emoji are made of (UTS 51).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

__all__ = [
    "JOINERS",
    "escape_control",
    "escape_double_quoted",
    "escape_json",
    "escape_lines",
    "escaped_characters",
    "mark_alike",
    "normal_form",
    "show_invisible",
    "start_of",
]

# Control, format (bidi, zero width), unassigned and private characters; line and paragraph ends.
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
# Default_Ignorable_Code_Point of the other categories (Unicode 16, DerivedCoreProperties.txt), and
# U+2800, a Braille cell without dots.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
# Prepended_Concatenation_Mark: of category Cf, and visible.
_SIGNS = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
_JOINER = "\u200d"
JOINERS = f"\u200c{_JOINER}"
"""The non-joiner and the joiner."""
_STYLES = "\ufe0e\ufe0f"
"""Variation selectors: the character before as text, or as an emoji."""
# Blocks with all characters of emoji-variation-sequences.txt that are not ASCII.
_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_KEYCAP = re.compile("[0-9#*]\ufe0f\u20e3")
# The only flags of regions within a country: England, Scotland, Wales.
_FLAG = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_MONGOLIAN = re.compile("[\u1820-\u18aa]")
_FLAG_LENGTH = 7
_VIRAMA = 9
"""Canonical_Combining_Class of a virama."""
_WINDOW = 32
"""How far a joiner's neighbours are looked for, past marks."""
_SYMBOLS = {"\n": "⏎", "\t": "⇥"}
_SYMBOLS_OF = str.maketrans(_SYMBOLS)
_LAYOUT = {"\n": "\n", "\t": "\t"}

# Letters that most fonts draw as a Latin one (Unicode's confusables.txt, the whole-letter rows of
# Cyrillic, Greek and Armenian), each with that letter.
_ALIKE = dict(
    zip(
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u04bb\u0501\u051b\u051d\u0410\u0412"
        "\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408\u03bf\u03c1\u03bd"
        "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0585\u057d"
        "\u0570\u0578",
        "aeopcyxsijhdqwABEKMHOPCTYXSIJopvABEZHIKMNOPTYXouhn",
        strict=True,
    )
)
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z]")
# Marks are no letters to Python, but for these two of Katakana.
_MAYBE_MARKS = re.compile("(?:[^\\w\x00-\x7f]|[\uff9e\uff9f]){30}")

# What a CI runs when a program prints it: on GitHub `::name …::` where a line begins and `##[name]`
# anywhere, on Azure `##vso[`, on TeamCity `##teamcity[`, on GitLab `section_start:TIME:NAME`. The
# runners trim a line first, and an escape of one character breaks each of them.
_COMMAND = re.compile(
    r"""(?P<before> ^[^\S\n]* ) : (?= : )
      | \# (?= \# \w* \[ )
      | s (?= ection_ (?: start | end ) : \d )""",
    re.MULTILINE | re.VERBOSE,
)


def start_of(text: str, most: int = 60) -> str:
    """Return a text, or its start and an ellipsis."""
    # A joiner at the end would have lost what it joins.
    return text if len(text) <= most else f"{text[:most].rstrip(JOINERS)}…"


def escape_control(text: str) -> str:
    """Return a text as one line: a newline as `⏎`, a tab as `⇥`, invisible characters as codes."""
    if _is_all_visible(_without_layout(text)):
        return text.translate(_SYMBOLS_OF)
    return "".join(_escaped(text, _SYMBOLS, _code))


def escaped_characters(text: str) -> list[str]:
    """Return each character of a text as `escape_control` shows it."""
    if _is_all_visible(text):
        return list(text)
    return _escaped(text, _SYMBOLS, _code)


def show_invisible(text: str) -> str:
    """Return a text with its newlines and tabs, and codes in place of invisible characters."""
    if _is_all_visible(_without_layout(text)):
        return text
    return "".join(_escaped(text, _LAYOUT, _code))


def mark_alike(text: str, other: str = "") -> str:
    """Return a text with codes for what looks like something else, or like the other text.

    Spaces other than the common one; letters that look like a Latin one beside Latin letters; and,
    if the two texts look the same, all that is not ASCII.
    """
    if text.isascii():
        return text
    if text != other and _skeleton(text) == _skeleton(other):
        return "".join(one if one.isascii() else _code(one) for one in text)
    text = _LETTERS.sub(_mark_mixed, text)
    spaces = (one for one in set(text) if unicodedata.category(one) == "Zs" and one != " ")
    for space in spaces:
        text = text.replace(space, _code(space))
    return text


def _mark_mixed(word: re.Match[str]) -> str:
    if not _LATIN.search(word[0]):
        return word[0]
    return "".join(_code(one) if one in _ALIKE else one for one in word[0])


def _skeleton(text: str) -> str:
    """Return what is equal for texts that look the same."""
    return "".join(_ALIKE.get(one, one) for one in normal_form("NFKC", text))


def normal_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """Return a text in a normal form of Unicode, for comparison, in time that grows as the text.

    Marks are sorted, in quadratic time. So 30 of them are kept apart from those that follow, by
    U+034F as in the Stream-Safe Text Format (UAX 15); no language has as many on a letter.
    """
    return unicodedata.normalize(form, _MAYBE_MARKS.sub(_end_marks, text))


def _end_marks(found: re.Match[str]) -> str:
    last = unicodedata.normalize("NFKD", found[0][-1])
    return f"{found[0]}\u034f" if unicodedata.combining(last[-1]) else found[0]


def escape_lines(text: str, *, starts_line: bool = True, before: str = "") -> str:
    """Return a text with its newlines and tabs, but without control characters and CI commands.

    Args:
        text: Any text.
        starts_line: Whether a line begins with it; only there does `::` begin a command.
        before: The text before it, which decides whether a script needs its first characters.
    """
    if before and not text.isascii():
        text = "".join(_escaped(before + text, _LAYOUT, _code)[len(before) :])
    else:
        text = show_invisible(text)

    def replace(match: re.Match[str]) -> str:
        start = match["before"]
        if start is not None and match.start() == 0 and not starts_line:
            return match[0]
        return f"{start or ''}{_code(match[0][-1])}"

    return _COMMAND.sub(replace, text)


def escape_json(text: str) -> str:
    """Return JSON as JSON of the same data, without invisible characters and CI commands."""
    # A match is always within a str: elsewhere JSON has no `#`, and no line that begins with `:`.
    return _escape_quoted(text, _json_code)


def escape_double_quoted(text: str) -> str:
    """Return YAML as YAML of the same data, if what needs an escape is in double quotes."""
    return _escape_quoted(text, lambda one: f"\\U{ord(one):08x}")


def _escape_quoted(text: str, code: Callable[[str], str]) -> str:
    if not _is_all_visible(text.replace("\n", " ")):
        text = "".join(_escaped(text, _LAYOUT, code))
    return _COMMAND.sub(lambda match: f"{match['before'] or ''}{code(match[0][-1])}", text)


def _without_layout(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")


def _is_all_visible(text: str) -> bool:
    # All invisible characters but the blank ones are not printable, and so are some spaces.
    return text.isprintable() and (text.isascii() or _BLANK.search(text) is None)


def _escaped(text: str, kept: dict[str, str], code: Callable[[str], str]) -> list[str]:
    """Return each character of a text as it is shown."""
    hidden = {
        place
        for place, one in enumerate(text)
        if not " " <= one <= "~" and _is_hidden(text, place, one)
    }
    # An escaped character is no neighbour that a joiner could join.
    shown = "".join("\0" if place in hidden else one for place, one in enumerate(text))
    return [
        kept.get(one)
        or (code(one) if place in hidden or (one in JOINERS and not _joins(shown, place)) else one)
        for place, one in enumerate(text)
    ]


def _is_hidden(text: str, place: int, one: str) -> bool:
    """Return whether a character is invisible, no joiner, and needed by no script in its place."""
    if one in _LAYOUT or one in JOINERS or one in _SIGNS:
        return False
    if not (unicodedata.category(one) in _INVISIBLE or _BLANK.match(one)):
        return False
    before = text[place - 1 : place]
    if one in _STYLES:
        is_keycap = _KEYCAP.match(text, max(place - 1, 0)) is not None
        return not (is_keycap or _EMOJI.match(before))
    if "\u180b" <= one <= "\u180f":
        return _MONGOLIAN.match(before) is None
    if "\U000e0061" <= one <= "\U000e007f":
        start = max(place - _FLAG_LENGTH + 1, 0)
        return not any(
            match.start() < place < match.end() for match in _FLAG.finditer(text, start, place + 7)
        )
    return True


def _joins(text: str, place: int) -> bool:
    """Return whether a joiner is one that a script, or an emoji, needs."""
    window = text[max(place - _WINDOW, 0) : place + _WINDOW]
    middle = min(place, _WINDOW)
    before, after = window[:middle], window[middle + 1 :]
    if window[middle] == _JOINER:
        if _EMOJI.match(before.rstrip(_STYLES + _TONES)[-1:]) and _EMOJI.match(after[:1]):
            return True
        # Bengali ra and ya-phalaa, Kannada ra: a joiner before the virama (Unicode, 12.2 and 12.8).
        if before[-1:].isalpha() and unicodedata.combining(after[:1] or "\0") == _VIRAMA:
            return True
    from idna.core import valid_contextj  # only text with joiners needs it

    try:
        return valid_contextj(window, middle)
    except ValueError:  # a neighbour without a name, such as a control character
        return False


def _code(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"


def _json_code(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
