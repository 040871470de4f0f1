"""What a path of `registry://` names: a dataset, a split or a member of a group, in a view."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, unquote

from msgspec import Struct

from registry.api import ExportError, View, near_or_known
from registry.plugins.export.formats import FORMATS, Format

__all__ = ["OPTIONS", "Location", "has_query", "kind_of", "member_path", "parse_path"]

# `only` is no single value.
_VIEW = sorted({*View.__struct_fields__, "corrections", "fewshot"} - {"only"})
OPTIONS = ("absolute_files", *_VIEW, "root", "split")
_MAX_DIGITS = 19
"""Digits of a number of 64 bits."""
_SWITCHES = {"true": True, "false": False}
_KINDS = {
    "absolute_files": (bool, "true or false"),
    "corrections": (bool, "true or false"),
    "fewshot": (int, "a number of examples, true or false"),
}
"""Options that no schema checks, with the types of their values."""


class Location(Struct, frozen=True, kw_only=True):
    """What a path of `registry://` names."""

    name: str
    """The dataset or `GROUP/MEMBER`; for a folder the group, empty for that of all datasets."""
    kind: Format | None
    """The format; None for a folder."""
    split: str | None
    """One of the splits that the dataset declares; None for that of the name."""
    root: str | None
    """The catalog; None for the default."""
    view: dict[str, Any]
    """Values that replace those of the view."""
    absolute_files: bool
    """Whether files beside a local source get absolute paths."""
    prefix: str
    """The options that come before the name, with their slash."""


def has_query(path: str) -> bool:
    """Return whether a path ends with options: `?` alone stands for a character, as in a glob."""
    return "=" in path.partition("?")[2]


def parse_path(path: str) -> Location:
    """Return what a path without its protocol names.

    A part with `=` is options. All others are names: of groups, and last of the dataset or member.

    Raises:
        ExportError: it has an unknown option, or a suffix that is not served.
    """
    before, _, query = path.partition("?") if has_query(path) else (path, "", "")
    parts = before.split("/")
    # The last part is a file, in whose name `=` may be, unless it is all there is.
    is_option = ["=" in one for one in parts[:-1]] + ["=" in before and len(parts) == 1]
    given = [one for one, has in zip(parts, is_option, strict=True) if has]
    names = [one for one, has in zip(parts, is_option, strict=True) if one and not has]
    options = _options("&".join(given), query, path)
    # A group has no suffix.
    is_file = bool(names) and bool(parts[-1]) and "." in names[-1]
    kind = kind_of(names[-1], path) if is_file else None
    name = "/".join(names).removesuffix(kind.suffix if kind else "")
    return Location(
        name=unquote(name) if len(names) > 1 else name,
        kind=kind,
        split=options.pop("split", None),
        root=options.pop("root", None),
        absolute_files=options.pop("absolute_files", False),
        view=options,
        prefix="".join(f"{one}/" for one in given),
    )


def kind_of(file: str, path: str) -> Format:
    """Return the format of a file by its suffix.

    Raises:
        ExportError: there is none.
    """
    served = [row for row in FORMATS.values() if row.is_served]
    for row in served:
        if file.endswith(row.suffix):
            return row
    suffixes = ", ".join(row.suffix for row in served)
    raise ExportError(f"registry://{path}: only {suffixes} are served (`registry export`)")


def _options(before: str, query: str, path: str) -> dict[str, Any]:
    """Return the options before the name, and those after it.

    Before it, because many tools take the format from the end of a URL.
    """
    found: dict[str, Any] = {}
    for part in filter(None, [*before.split("&"), *query.split("&")]):
        key, _, value = part.partition("=")
        if key not in OPTIONS:
            hint = near_or_known(key, OPTIONS, "options")
            raise ExportError(f"registry://{path}: no option '{key}' ({hint})")
        if key in found:
            raise ExportError(f"registry://{path}: the option '{key}' twice")
        found[key] = unquote(value) if key in ("root", "split") else _value(value)
    root = found.get("root")
    # An empty one would be the default, which this URL does not name.
    if root is not None and (not root or "\0" in root):
        raise ExportError(f"registry://{path}: root is not a path")
    for key, (kinds, text) in _KINDS.items():
        if key in found and not isinstance(found[key], kinds):
            raise ExportError(f"registry://{path}: {key} is {text}, not '{found[key]}'")
    return found


def _value(text: str) -> Any:
    """Return a bool or a number; the schema of the view refuses all other values."""
    if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS:
        return int(text)
    return _SWITCHES.get(text, text)


def member_path(name: str) -> str:
    """Return the name of a member of a group as a path has it: `%3D` for what means options."""
    return re.sub(r"[%?=&*#\[\]]", lambda found: quote(found[0]), name)
