"""A manifest as YAML for people: the same data, with everything in it visible."""

from __future__ import annotations

from typing import Any

import yaml

from registry.base.escape import escape_double_quoted, escape_lines

__all__ = ["yaml_text"]


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
