"""Check a folder that `datasets` reads in place, as it follows links and cards by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from registry.base.local_files import NOT_A_FILE
from registry.boundary.boundary import Boundary
from registry.errors import ReachError

__all__ = ["CARDS", "check_folder", "leaves_folder"]

# A card is a README that starts with YAML, or a file of YAML alone. The first expression is that of
# `huggingface_hub.repocard`: a different one could end the YAML elsewhere.
CARDS = {
    "README.md": r"\s*---(?:\r\n|\r|\n)(.*?)(?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|$)",
    ".huggingface.yaml": r"(.*)",
}
"""Name of a card → expression whose group is its YAML."""
_LONGEST_CARD = 1 << 20


def check_folder(path: str, boundary: Boundary) -> None:
    """Check that no link and no card in a folder leads to a file outside the boundary.

    Raises:
        ReachError: one does, or the folder has a device, pipe or socket.
    """
    if boundary.is_open:
        return
    waiting, seen = [boundary.check_path(path)], set[str]()
    while waiting:
        folder = waiting.pop()
        if folder in seen:
            continue
        seen.add(folder)
        with os.scandir(folder) as entries:
            for entry in entries:
                real = boundary.check_path(entry.path) if entry.is_symlink() else entry.path
                if entry.is_dir():
                    waiting.append(real)
                elif os.path.exists(real) and not entry.is_file():
                    raise ReachError(f"{entry.path}: {NOT_A_FILE} (remove it from the data)")
    for name, pattern in CARDS.items():
        if os.path.isfile(card := os.path.join(path, name)):
            _check_card(card, pattern, boundary)


def leaves_folder(path: str) -> bool:
    """Return whether a path may lead out of the folder that it is relative to, or into a `.git`."""
    parts = path.casefold().split("/")
    hidden = any(part == ".git" or re.match(r"\..*[*?[{]", part) for part in parts)
    return "://" in path or path.startswith(("/", "~", "\\")) or ".." in parts or hidden


def _check_card(card: str, pattern: str, boundary: Boundary) -> None:
    import yaml

    with boundary.open_file(card) as file:
        text = file.read(_LONGEST_CARD + 1).decode("utf-8", "replace")
    if len(text) > _LONGEST_CARD:
        raise ReachError(f"{card}: is larger than {_LONGEST_CARD >> 20} MiB (shorten it)")
    found = re.match(pattern, text, re.DOTALL)
    try:
        data = yaml.safe_load(found[1]) if found else None
    # PyYAML leaks errors of its own: for deep nesting, 2024-99-99, 5,000 digits, `!!timestamp x`.
    except (yaml.YAMLError, RecursionError, ValueError, AttributeError) as error:
        message = f"is not valid YAML, so it can't be checked: {error}"
        raise ReachError(f"{card}: {message} (correct it)") from error
    configs = data.get("configs") if isinstance(data, dict) else None
    for path in _paths(configs, set()):
        if leaves_folder(path):
            hint = "write a path relative to that folder"
            raise ReachError(f"{card}: '{path}' leads out of the dataset's folder ({hint})")


def _paths(value: Any, seen: set[int], *, named: bool = False) -> Iterator[str]:
    """Yield the strings below `data_files` and `data_dir`; each alias of YAML only once."""
    if isinstance(value, str) and named:
        yield value
    if isinstance(value, dict | list) and id(value) not in seen:
        seen.add(id(value))
        items = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for key, item in items:
            yield from _paths(item, seen, named=named or key in ("data_files", "data_dir"))
