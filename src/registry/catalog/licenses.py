"""Licenses of datasets: SPDX expressions, what a policy denies, and the text of a NOTICE."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from registry.base.escape import escape_control
from registry.manifest.checks import license_expression
from registry.manifest.models import NO_LICENSE

if TYPE_CHECKING:
    from registry.manifest.models import DatasetSpec

__all__ = ["LICENSE_PARTS", "denied_by", "is_denial", "license_class", "notice_text"]

NONE = "none"
"""Denies datasets of which no license is known, whether or not somebody has looked."""
LICENSE_PARTS = ("NC", "ND", "SA", "BY", "GPL", "LGPL", "AGPL", "LicenseRef")
"""Parts of SPDX ids that deny each license that has them."""
_CLASSES: dict[str, tuple[str, ...]] = {
    "not commercial": ("NC",),
    "unchanged only": ("ND",),
    "share alike": ("SA", "GPL", "LGPL", "AGPL"),
    "terms of its own": ("LicenseRef",),
}
"""What a license asks for most, the strictest first → the parts of ids that say so."""
_WORD = re.compile(r"[()]|[^\s()]+")


def license_class(spec: DatasetSpec) -> str:
    """Return what the license of a dataset allows, in a few words."""
    if spec.license is None:
        return "not looked for"
    if str(spec.license) == NO_LICENSE:
        return "none stated"
    for name, parts in _CLASSES.items():
        if found := denied_by(spec, parts):
            return name if found in parts else "terms of its own"
    return "any use"


def is_denial(word: str) -> bool:
    """Return whether a word can deny a license: `none`, one of LICENSE_PARTS, or an SPDX id."""
    if word.lower() in {NONE, *map(str.lower, LICENSE_PARTS)}:
        return True
    try:
        license_expression(word)
    except ValueError:
        return False
    return True


def denied_by(spec: DatasetSpec, words: Collection[str]) -> str:
    """Return what denies the license of a dataset: one of the words; empty if nothing does.

    Of the alternatives of an `OR` one that is allowed is enough, as a user may choose it. What is
    no SPDX expression can't be compared, so any word denies it.
    """
    text = NO_LICENSE if spec.license is None else str(spec.license)
    if text == NO_LICENSE:
        return NONE if NONE in map(str.lower, words) else ""
    try:
        expression = license_expression(text)
    except ValueError:
        return "no SPDX expression" if words else ""
    return _any_of(_WORD.findall(expression), words)


def _any_of(rest: list[str], words: Collection[str]) -> str:
    found = [_all_of(rest, words)]
    while rest and rest[0].upper() == "OR":
        del rest[0]
        found.append(_all_of(rest, words))
    return found[0] if all(found) else ""


def _all_of(rest: list[str], words: Collection[str]) -> str:
    found = _one(rest, words)
    while rest and rest[0].upper() in ("AND", "WITH"):
        del rest[0]
        other = _one(rest, words)  # always, as it takes its words from the rest
        found = found or other
    return found


def _one(rest: list[str], words: Collection[str]) -> str:
    word = rest.pop(0) if rest else ""
    if word == "(":
        found = _any_of(rest, words)
        if rest:
            del rest[0]
        return found
    parts = {word.lower(), *word.lower().split("-")}
    return next((one for one in words if one.lower() in parts), "")


def notice_text(specs: Iterable[DatasetSpec]) -> str:
    """Return what has to be beside a copy of datasets: where they are from, and their terms."""
    lines = ["Datasets in this copy, their licenses, and where these were read.", ""]
    for spec in specs:
        lines += [
            spec.name,
            *(f"  {key}: {escape_control(text)}" for key, text in _facts(spec) if text),
            "",
        ]
    return "\n".join(lines)


def _facts(spec: DatasetSpec) -> Iterator[tuple[str, str]]:
    stated = spec.license
    yield "description", spec.description or ""
    yield "homepage", spec.homepage or ""
    if stated is None:
        yield "license", "not known"
    elif stated.spdx is None:
        yield "license", f"none stated at {stated.looked_at} on {stated.none_stated}"
    else:
        yield "license", stated.spdx
        yield "read at", stated.read_at or ""
    if spec.access is not None and spec.access.url:
        yield "access", f"{spec.access}, see {spec.access.url}"
