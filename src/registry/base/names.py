"""Names of datasets and of their files, which must be possible on every platform, and in texts."""

from __future__ import annotations

import re
from pathlib import Path

from registry.base.escape import normal_form

__all__ = ["NAME_PATTERN", "display_path", "file_stem", "is_device", "name_fault"]

_DEVICES = r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:[.]|$)"

NAME_PATTERN = rf"^(?!{_DEVICES})[a-z0-9](?:[a-z0-9._-]{{0,126}}[a-z0-9_-])?$(?!\n)"
"""A valid name, as in the schemas. Without capital letters no two names differ only by case, which
many file systems ignore; Windows reserves names of devices, and drops a dot at the end."""


def is_device(file: str) -> bool:
    """Return whether Windows reserves the name of a file for a device."""
    # It takes a superscript for a digit, and drops spaces before the suffix. NFKC has the digit.
    name = normal_form("NFKC", file).partition(".")[0].rstrip()
    return re.match(_DEVICES, name, re.IGNORECASE) is not None


def file_stem(name: str) -> str:
    """Return the name of a dataset as that of a file: `qa+dev` for the split `qa:dev`."""
    # Windows allows no colon, in a URL it ends the protocol, and a slash is a folder.
    return re.sub("[:/]", "+", name)


def name_fault(name: str) -> str:
    """Return what is wrong with the name of a dataset; "" if it is valid."""
    if re.search(NAME_PATTERN, name):
        return ""
    if is_device(name):
        return "Windows reserves it for a device"
    if len(name) > 128:
        return "use at most 128 characters"
    if name.endswith("."):
        return "it must not end with a dot"
    return "use lower-case letters, digits, '.', '-' and '_'"


def display_path(path: Path, here: Path | None = None) -> str:
    """Return a file's name in messages: relative if it is below the working directory."""
    path, here = path.absolute(), here or Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
