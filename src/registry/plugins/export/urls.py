"""URLs of exports: `registry://name.suffix?limit=100`, or `registry://limit=100/name.suffix`.

Options may come before the name, as many tools take the format from the end of a URL.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from registry.api import ExportError, did_you_mean
from registry.plugins.export.formats import FORMATS, Format

__all__ = ["OPTIONS", "Location", "has_query", "parse_path"]

OPTIONS = ("absolute_files", "auto_id", "limit", "root", "seed", "shuffle", "shuffle_choices")
_MAX_DIGITS = 19
"""Digits of a number of 64 bits."""
_SWITCHES = {"true": True, "false": False}


class Location(Struct, frozen=True, kw_only=True):
    """What a path of `registry://` names."""

    name: str
    """The dataset; empty for a folder."""
    kind: Format | None
    """The format; None for a folder."""
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

    Raises:
        ExportError: it has an unknown option, or a suffix that is not served.
    """
    before, _, query = path.partition("?") if has_query(path) else (path, "", "")
    folder, slash, file = before.rpartition("/")
    if not slash and "=" in before:
        folder, slash, file = before, "/", ""
    options = _options(folder, query, path)
    kind = _kind_of(file, path) if file else None
    return Location(
        name="" if kind is None else file.removesuffix(kind.suffix),
        kind=kind,
        root=options.pop("root", None),
        absolute_files=_is_on(options.pop("absolute_files", False), path),
        view=options,
        prefix=f"{folder}/" if folder else "",
    )


def _kind_of(file: str, path: str) -> Format:
    served = [row for row in FORMATS.values() if row.is_served]
    for row in served:
        if file.endswith(row.suffix):
            return row
    suffixes = ", ".join(row.suffix for row in served)
    raise ExportError(f"registry://{path}: only {suffixes} are served (`registry export`)")


def _options(folder: str, query: str, path: str) -> dict[str, Any]:
    """Return the options before the name, where `/` also separates them, and those after it."""
    found: dict[str, Any] = {}
    parts = [*folder.replace("/", "&").split("&"), *query.split("&")]
    for part in filter(None, parts):
        key, _, value = part.partition("=")
        if key not in OPTIONS:
            hint = did_you_mean(key, OPTIONS) or f"options: {', '.join(OPTIONS)}"
            raise ExportError(f"registry://{path}: no option '{key}' ({hint})")
        if key in found:
            raise ExportError(f"registry://{path}: the option '{key}' twice")
        found[key] = unquote(value) if key == "root" else _value(value)
    root = found.get("root")
    # An empty one would be the default, which this URL does not name.
    if root is not None and (not root or "\0" in root):
        raise ExportError(f"registry://{path}: root is not a path")
    return found


def _is_on(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise ExportError(f"registry://{path}: absolute_files is true or false, not '{value}'")
    return value


def _value(text: str) -> Any:
    """Return a bool or a number; the schema of the view refuses all other values."""
    if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS:
        return int(text)
    return _SWITCHES.get(text, text)
