"""Apply regular expressions to whole columns, where RE2 gives exactly what Python's `re` gives.

A pattern is parsed by Python and written anew for RE2. Only what has the same meaning in both is:
literals, sets, repeats of single characters, groups, branches, and anchors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from registry.mapping.columnar.kernels.arrays import NoKernelError
from registry.mapping.regex import ENDLESS, compile_pattern

__all__ = ["contains_pattern", "first_match", "replace_matches"]

_MOST_REPEATS = 100
_GROUP = "found"

# RE2's \s lacks \v and \x1c to \x1f, which are whitespace to Python.
_CATEGORIES = {
    "CATEGORY_DIGIT": "0-9",
    "CATEGORY_WORD": "0-9A-Za-z_",
    "CATEGORY_SPACE": r"\x09-\x0d\x1c-\x20",
}
_ANCHORS = {
    "AT_BEGINNING": r"\A",
    "AT_BEGINNING_STRING": r"\A",
    "AT_END_STRING": r"\z",
    # Python's `$` also matches before a newline at the end; see `_texts_for`.
    "AT_END": r"\z",
}


def contains_pattern(text: pa.Array, pattern: str) -> pa.Array:
    """Return which strings have a match."""
    if not any(character in r".^$*+?{}[]\|()" for character in pattern):
        return pc.match_substring(text, pattern=pattern)
    return _apply(pc.match_substring_regex, text, pattern, _translate(pattern))


def first_match(text: pa.Array, pattern: str) -> pa.Array:
    """Return the first group of the first match, or all of the match; null if there is none."""
    translated = _translate(pattern, captures=True)
    found = _apply(pc.extract_regex, text, pattern, translated)
    return pc.struct_field(found, [0])


def replace_matches(text: pa.Array, pattern: str, to: str) -> pa.Array:
    """Return strings with every match replaced."""
    # Where an empty match may follow another match, RE2 and Python differ.
    if "\\" in to or _parse(pattern).getwidth()[0] == 0:
        raise NoKernelError
    translated = _translate(pattern)
    return _apply(pc.replace_substring_regex, text, pattern, translated, replacement=to)


def _apply(
    function: Callable[..., pa.Array], text: pa.Array, pattern: str, translated: str, **options: str
) -> pa.Array:
    if not pc.all(pc.string_is_ascii(text)).as_py():
        raise NoKernelError  # beyond ASCII, the two differ in case and in what a letter is
    if "$" in pattern and pc.any(pc.ends_with(text, pattern="\n")).as_py():
        raise NoKernelError
    try:
        return function(text, pattern=translated, **options)
    except pa.ArrowInvalid as error:  # too large for RE2
        raise NoKernelError from error


def _parse(pattern: str) -> Any:
    tree = compile_pattern(pattern).tree
    if tree.state.flags & ~(re.UNICODE | re.DOTALL):
        raise NoKernelError
    return tree


def _translate(pattern: str, *, captures: bool = False) -> str:
    """Return a pattern for RE2; with `captures`, its first group or all of it is a named group."""
    tree = _parse(pattern)
    translator = _Translator(dots_match_all=bool(tree.state.flags & re.DOTALL))
    if not captures:
        return translator.sequence(tree)
    groups = [argument for operator, argument in tree if str(operator) == "SUBPATTERN"]
    if any(argument[0] == 1 for argument in groups):
        return translator.sequence(tree, captured=True)
    if tree.state.groups > 1:
        raise NoKernelError  # a group within another part may not take part in the match
    return f"(?P<{_GROUP}>{translator.sequence(tree)})"


class _Translator:
    """Writes the parts of a parsed pattern for RE2."""

    def __init__(self, *, dots_match_all: bool) -> None:
        self._any = r"[\x00-\x7f]" if dots_match_all else r"[^\n]"

    def sequence(self, tree: Any, *, captured: bool = False) -> str:
        return "".join(self._part(str(name), argument, captured) for name, argument in tree)

    def _part(self, name: str, argument: Any, captured: bool) -> str:
        if name == "AT" and str(argument) in _ANCHORS:
            return _ANCHORS[str(argument)]
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(argument) + ("?" if name == "MIN_REPEAT" else "")
        if name == "SUBPATTERN" and not argument[1] and not argument[2]:
            inner = self.sequence(argument[3])
            is_result = captured and argument[0] == 1
            return f"(?P<{_GROUP}>{inner})" if is_result else f"(?:{inner})"
        if name == "BRANCH":
            return f"(?:{'|'.join(map(self.sequence, argument[1]))})"
        return self._character(name, argument)

    def _repeat(self, argument: Any) -> str:
        least, most, body = int(argument[0]), int(argument[1]), argument[2]
        # Of repeats within repeats, the two engines may capture and count differently.
        if len(body) != 1 or max(least, 0 if most == ENDLESS else most) > _MOST_REPEATS:
            raise NoKernelError
        inner = self._character(str(body[0][0]), body[0][1])
        return f"{inner}{{{least},{'' if most == ENDLESS else most}}}"

    def _character(self, name: str, argument: Any) -> str:
        if name == "LITERAL":
            return f"[{_code(argument)}]"
        if name == "NOT_LITERAL":
            return f"[^{_code(argument)}]"
        if name == "ANY":
            return self._any
        if name == "IN":
            negated = str(argument[0][0]) == "NEGATE"
            members = map(_member, argument[1:] if negated else argument)
            return f"[{'^' if negated else ''}{''.join(members)}]"
        raise NoKernelError


def _member(member: Any) -> str:
    name, argument = str(member[0]), member[1]
    if name == "LITERAL":
        return _code(argument)
    if name == "RANGE":
        return f"{_code(argument[0])}-{_code(argument[1])}"
    if name == "CATEGORY" and str(argument) in _CATEGORIES:
        return _CATEGORIES[str(argument)]
    raise NoKernelError


def _code(character: int) -> str:
    return f"\\x{{{character:x}}}"
