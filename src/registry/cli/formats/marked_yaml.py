"""YAML with comments that say where each value comes from; the data stays the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from registry.base.escape import escape_control, escape_double_quoted, escape_lines
from registry.cli.formats.spans import end_of, lines_of
from registry.errors import ManifestError
from registry.manifest.provenance import Origin
from registry.yamldoc.reader import DataPath, parse_yaml

__all__ = ["comment_start", "marked_yaml", "without_defaults", "yaml_text"]

_LONGEST, _WORD = 100, 20
_HAS_SPACE = re.compile(r" *(?:- )*(?:[^ :]+: +)?\S+ ")
"""A line with a space in its value, where it can be folded."""
_COMMENT = re.compile(r"(?:^ *|  )\# (?:default|from [^'\"]*)$")


def without_defaults(data: Any, origins: Mapping[DataPath, Origin]) -> Any:
    """Return the data of a dataset without what only the program itself says."""
    defaults = {path for path, origin in origins.items() if _is_builtin(origin)}
    return _without(data, (), defaults)


def marked_yaml(data: Any, name: str, origins: Mapping[DataPath, Origin], *, width: int) -> str:
    """Return the manifest of a dataset with comments at values that its own entry does not have.

    Args:
        data: The data of the dataset.
        name: Its name.
        origins: Where its values come from, by their paths.
        width: Columns for a line and its comment, which is above the line if it does not fit.
    """
    text = _folded({"datasets": {name: data}}, min(width, _LONGEST))
    try:
        positions = parse_yaml(text, file="").positions
    except ManifestError:  # larger than any manifest may be
        return text
    lines = [*lines_of(text)]
    for path, origin in origins.items():
        found = positions.get(("datasets", name, *path))
        if found is not None and (mark := _mark(origin)):
            line, start = lines[found.line - 1], found.column - 1
            lines[found.line - 1] = _marked(line, start, mark, text, found.line, width)
    return "\n".join(lines)


def _folded(data: Any, width: int) -> str:
    """Return YAML whose lines fit a width, where there is a space to fold them at."""
    # PyYAML folds a line at the first space behind its width.
    for narrower in range(width, max(width - _WORD, _WORD), -1):
        text = yaml_text(data, width=narrower)
        if all(len(line) <= width for line in lines_of(text) if _HAS_SPACE.match(line)):
            return text
    return yaml_text(data, width=max(width - _WORD, _WORD))


def comment_start(line: str) -> int:
    """Return where the comment of a line begins, or its length."""
    found = _COMMENT.search(line)
    return len(line) if found is None else found.start()


def _marked(line: str, start: int, mark: str, text: str, number: int, width: int) -> str:
    comment = f"# {mark}"
    # In a value that goes on in the next line, a comment would be a part of it.
    is_complete = line.endswith(":") or end_of(text, number, start, key_only=False) == len(line)
    if is_complete and len(line) + len(comment) + 2 <= width:
        return f"{line}  {comment}"
    return f"{' ' * start}{comment}\n{line}" if line[:start].isspace() else line


def _mark(origin: Origin) -> str:
    if _is_builtin(origin):
        return "default"
    if origin.layer == "own":
        return ""
    return escape_control(f"from {origin.place}")


def _is_builtin(origin: Origin) -> bool:
    return origin.layer == "default" and not origin.file


def _without(value: Any, path: DataPath, left_out: set[DataPath]) -> Any:
    if not isinstance(value, dict):
        return value
    kept = {
        key: _without(item, (*path, key), left_out)
        for key, item in value.items()
        if (*path, key) not in left_out
    }
    return {key: item for key, item in kept.items() if item != {} or value[key] == {}}


class _Dumper(yaml.SafeDumper):
    """Writes text that needs an escape in double quotes, where YAML has escapes."""


def _represent_str(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    # A long scalar is folded, so that any part of it may begin a line.
    needs_escape = "::" in value or escape_lines(value) != value
    style = '"' if needs_escape else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _represent_str)


def yaml_text(data: Any, *, width: int = 100) -> str:
    """Return data as YAML, in the order of its keys; longer lines are folded between words."""
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=width)
    return escape_double_quoted(text)
