"""Read the YAML of other tools: YAML 1.1 as PyYAML reads it, with tags as data and with limits.

Nothing is imported or executed: `!function utils.f` becomes a `Tagged` value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from registry.api import MAX_BYTES, open_regular
from registry.plugins.importers.models import problem_at

__all__ = ["ForeignYaml", "Tagged", "parse_foreign_yaml", "read_foreign_text", "read_foreign_yaml"]

MAX_ALIASES = 256
MAX_DEPTH = 64
MAX_NODES = 200_000
MAX_NUMBER = 400
"""Characters of a number. YAML 1.1 has `10:10:10`, of which a long one takes minutes to read, and
hex numbers of which Python refuses to write a long one in decimal."""
_MAX_EXPANDED = 1_000_000

# Events first: the composer of the C library overflows the stack with deep nesting.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Tagged:
    """A value with a tag that plain YAML does not have, such as `!function utils.f`."""

    tag: str
    text: str
    folder: Path | None = None
    """The folder of its file, where an importer looks for a module."""

    def __str__(self) -> str:
        return f"{self.tag} {self.text}".strip()


@dataclass(frozen=True)
class ForeignYaml:
    """A parsed file: its value, and the lines of the keys of its mappings."""

    value: Any
    lines: Mapping[tuple[str | int, ...], int] = field(default_factory=dict)
    """Path of a value → its line."""


def read_foreign_text(file: Path) -> str:
    """Return the text of a regular file.

    Raises:
        ManifestError: it can't be read, is too large, or is not UTF-8.
    """
    try:
        with open_regular(file) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise problem_at(file, f"can't read the file: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise problem_at(file, f"the file is larger than {MAX_BYTES >> 20} MiB", "split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message = f"byte {data[error.start]:#04x} is not UTF-8"
        raise problem_at(file, message, "save it as UTF-8", line=line) from error


@lru_cache(maxsize=32)
def read_foreign_yaml(file: Path, *, has_tags: bool = False) -> ForeignYaml:
    """Parse a YAML file of another tool; without `has_tags`, a tag is an error.

    A file that was just read is not read again: its kind is found before its content is used, and
    those of a folder include the same files. The value must not be changed.

    Raises:
        ManifestError: it can't be read or parsed, or exceeds a limit.
    """
    return parse_foreign_yaml(read_foreign_text(file), file, has_tags=has_tags)


def parse_foreign_yaml(
    text: str, file: Path, *, first_line: int = 1, has_tags: bool = False
) -> ForeignYaml:
    """Parse YAML text; `first_line` is the number of its first line in the file."""
    try:
        _check_limits(text, file, first_line)
        node = yaml.compose(text, Loader=_LOADER)
        if node is None:
            return ForeignYaml(None)
        _check_expanded(node, file)
        value = (_TagConstructor if has_tags else _Constructor)().construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + first_line
        message = ", ".join(part for part in (error.context, error.problem) if part)
        raise problem_at(file, f"not YAML: {message}", line=line) from error
    except RecursionError as error:
        raise problem_at(file, "aliases nest too deeply") from error
    except (yaml.YAMLError, ValueError, OverflowError, TypeError) as error:
        raise problem_at(file, f"not YAML: {error}") from error
    return ForeignYaml(value, dict(_lines(node, (), first_line)))


def _check_limits(text: str, file: Path, first_line: int) -> None:
    depth = nodes = aliases = 0
    for event in yaml.parse(text, Loader=_LOADER):
        nodes += isinstance(event, yaml.NodeEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        for count, most, what in (
            (depth, MAX_DEPTH, "levels of nesting"),
            (nodes, MAX_NODES, "values"),
            (aliases, MAX_ALIASES, "aliases"),
        ):
            if count > most:
                line = event.start_mark.line + first_line if event.start_mark else None
                raise problem_at(file, f"more than {most:,} {what}", line=line)


def _check_expanded(root: yaml.Node, file: Path) -> None:
    """Refuse aliases of aliases that stand for more values than a file may have."""
    sizes: dict[int, int | None] = {}

    def size(node: yaml.Node) -> int:
        if id(node) not in sizes:
            sizes[id(node)] = None  # until all that it contains is counted
            sizes[id(node)] = 1 + sum(map(size, _children(node)))
        found = sizes[id(node)]
        if found is None or found > _MAX_EXPANDED:
            what = "a value contains itself" if found is None else "aliases repeat too many values"
            raise problem_at(file, what, line=node.start_mark.line + 1)
        return found

    size(root)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


class _Constructor(yaml.constructor.SafeConstructor):
    """PyYAML's safe constructor of plain data; a date is a str, and other tags are errors."""


class _TagConstructor(_Constructor):
    """Gives a value with a tag as `Tagged`."""


def _tagged(_: Any, node: yaml.Node) -> Tagged:
    text = node.value if isinstance(node, yaml.ScalarNode) else ""
    return Tagged(node.tag, text)


def _number(loader: Any, node: yaml.ScalarNode) -> Any:
    if len(node.value) > MAX_NUMBER:
        message = f"a number of more than {MAX_NUMBER} characters"
        raise yaml.constructor.ConstructorError(problem=message, problem_mark=node.start_mark)
    kind = node.tag.removeprefix(_YAML)
    return getattr(_SAFE, f"construct_yaml_{kind}")(loader, node)


_YAML = "tag:yaml.org,2002:"
_SAFE: Any = yaml.constructor.SafeConstructor
_TagConstructor.add_constructor(None, _tagged)
for _class in (_Constructor, _TagConstructor):
    _class.add_constructor(f"{_YAML}timestamp", _SAFE.construct_yaml_str)
    for _name in ("int", "float"):
        _class.add_constructor(f"{_YAML}{_name}", _number)
for _name in ("binary", "omap", "pairs", "set"):
    _Constructor.add_constructor(f"{_YAML}{_name}", _SAFE.construct_undefined)
    _TagConstructor.add_constructor(f"{_YAML}{_name}", _tagged)


def _lines(
    node: yaml.Node, path: tuple[str | int, ...], first: int
) -> Iterator[tuple[tuple[str | int, ...], int]]:
    if len(path) > 4:  # messages are about the upper levels
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*path, key.value if isinstance(key, yaml.ScalarNode) else "")
            yield inner, key.start_mark.line + first
            yield from _lines(value, inner, first)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*path, index), value.start_mark.line + first
            yield from _lines(value, (*path, index), first)
