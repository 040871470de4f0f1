"""Write YAML from which the parser of this package, and those of YAML 1.1, read the same values."""

from __future__ import annotations

import json
from typing import Any

import yaml

from registry.base.escape import escape_double_quoted, escape_lines
from registry.yamldoc.parser import plain_scalar

__all__ = ["block_lines", "block_text", "flow_text", "quoted_text"]

_UNFOLDED = 1 << 30
_STR = "tag:yaml.org,2002:str"


class _Dumper(yaml.SafeDumper):
    """Writes values in full, without aliases, and quotes what YAML 1.1 or 1.2 has numbers for."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def style_of(self, text: str) -> str | None:
        return None if isinstance(plain_scalar(text), str) else "'"


class _Block(_Dumper):
    """Puts text that needs an escape in double quotes, where YAML has escapes."""

    def style_of(self, text: str) -> str | None:
        # A long scalar is folded, so that any part of it may begin a line.
        needs_escape = "::" in text or escape_lines(text) != text
        return '"' if needs_escape else super().style_of(text)


class _Flow(_Block):
    """Writes a text of several lines on one line."""

    def style_of(self, text: str) -> str | None:
        return super().style_of(text) if text.splitlines() == [text] else '"'


class _Quoted(_Dumper):
    """Quotes all texts, as JSON does."""

    def style_of(self, text: str) -> str | None:
        return '"'

    def write_double_quoted(self, text: str, split: bool = True) -> None:
        # The escapes of PyYAML would hide emoji.
        self.write_indicator(json.dumps(text, ensure_ascii=False), True)


class _Lines(_Dumper):
    """Writes a text of several lines as such."""

    def style_of(self, text: str) -> str | None:
        return "|" if "\n" in text.strip("\n") else super().style_of(text)


def _represent_str(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(_STR, text, style=dumper.style_of(text))


_Dumper.add_representer(str, _represent_str)


def flow_text(value: Any) -> str:
    """Return a value as YAML on one line."""
    return _one_line(value, _Flow)


def quoted_text(value: Any) -> str:
    """Return a value as YAML on one line, whose texts are quoted, so that none looks like more."""
    return _one_line(value, _Quoted)


def block_text(value: Any, *, width: int = 100) -> str:
    """Return a value as YAML, in the order of its keys; longer lines are folded between words."""
    return escape_double_quoted(_dumped(value, _Block, width=width))


def block_lines(value: Any) -> list[str]:
    """Return a value as lines of YAML for a reader, whose invisible characters have no escapes."""
    return _dumped(value, _Lines).removesuffix("\n").removesuffix("\n...").split("\n")


def _one_line(value: Any, dumper: type[_Dumper]) -> str:
    text = _dumped(value, dumper, default_flow_style=True)
    return escape_double_quoted(text.removesuffix("\n").removesuffix("\n..."))


def _dumped(value: Any, dumper: type[_Dumper], width: int = _UNFOLDED, **options: Any) -> str:
    options = {"allow_unicode": True, "sort_keys": False, "width": width, **options}
    return str(yaml.dump(value, Dumper=dumper, **options))
