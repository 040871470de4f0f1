"""Complete a command line: commands, options and their values, names of datasets, tags.

A shell runs this on each press of the Tab key, so it imports no command: what there is to complete
is in `commands.json`, which `make docs` writes from the commands.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["VARIABLE", "Completion", "completion_lines", "find_completion"]

VARIABLE = "_REGISTRY_COMPLETE"
"""The variable by which a shell asks for completions; its value is the shell's name."""

_TABLE = Path(__file__).with_name("commands.json")


class Completion(NamedTuple):
    """What may follow."""

    kind: str = "values"
    """`values`, or `file` or `dir`, which the shell itself completes."""
    values: tuple[tuple[str, str], ...] = ()
    """Values with what they mean."""


def completion_lines(words: Sequence[str], shell: str) -> Iterator[str]:
    """Yield what the scripts of the shells read: the kind, then a value per line."""
    found = find_completion(_join_equals(words) if shell == "bash" else words)
    yield found.kind
    for value, about in found.values:
        if shell == "bash":
            yield shlex.quote(value)
        elif shell == "zsh":  # `_describe` separates the two by a colon
            escaped = value.replace(":", r"\:")
            yield f"{escaped}:{about}" if about else escaped
        else:
            yield f"{value}\t{about}"


def _join_equals(words: Sequence[str]) -> list[str]:
    """Return words without `=`, at which bash divides `--format=text` into three."""
    joined = [word for word in words if word != "="]
    return [*joined, ""] if words[-1:] == ["="] else joined


def find_completion(words: Sequence[str]) -> Completion:
    """Return what may follow some words of a command line; the last is incomplete."""
    table: dict[str, Any] = json.loads(_TABLE.read_text(encoding="utf-8"))
    *before, current = words or [""]
    command, option, count = _walk(table, before)
    root = _option_value(before, "--root")
    name, equals, value = current.partition("=")
    if option is not None:
        return _values(option, current, root, before)
    if equals and name.startswith("--"):
        known = command["options"].get(name, {}).get("takes")
        found = _values(known, value, root, before)
        joined = tuple((f"{name}={one}", about) for one, about in found.values)
        return found._replace(values=joined)
    if current.startswith("-"):
        options = ((one, data["help"]) for one, data in command["options"].items())
        return _starting(options, current)
    if "commands" in command and not count:
        verbs = ((verb, data["help"]) for verb, data in command["commands"].items())
        return _starting(verbs, current)
    return _values(_argument(command, count), current, root, before)


def _walk(table: dict[str, Any], words: Sequence[str]) -> tuple[dict[str, Any], Any, int]:
    """Return the command, what the option before the cursor takes, and the number of arguments."""
    command, takes, count = table, None, 0
    for word in words:
        if takes is not None:
            takes = None
        elif word.startswith("-"):
            takes = command["options"].get(word, {}).get("takes")
        elif word in command.get("commands", ()):
            command = command["commands"][word]
        else:
            count += 1
    return command, takes, count


def _argument(command: dict[str, Any], count: int) -> Any:
    """Return what the next argument of a command is; the last one may be repeated."""
    arguments = command.get("arguments", [])
    if count < len(arguments):
        return arguments[count]["takes"]
    return arguments[-1]["takes"] if arguments and arguments[-1]["many"] else None


def _values(takes: Any, current: str, root: str | None, before: Sequence[str]) -> Completion:
    """Return the values of an option or an argument."""
    if takes in ("file", "dir"):
        return Completion(takes)
    if isinstance(takes, list):
        return _starting(((value, "") for value in takes), current)
    if takes in ("dataset", "tag"):
        names = _names(root) if takes == "dataset" else _tags(root)
        return _starting(((name, "") for name in names if name not in before), current)
    return Completion()


def _starting(values: Iterable[tuple[str, str]], start: str) -> Completion:
    return Completion(values=tuple(value for value in values if value[0].startswith(start)))


def _option_value(words: Sequence[str], option: str) -> str | None:
    """Return the value of an option among the words before the cursor."""
    for number, word in enumerate(words):
        if word == option and number + 1 < len(words):
            return words[number + 1]
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None


def _names(root: str | None) -> list[str]:
    """Return the valid names of the datasets; none if the catalog can't be read."""
    from registry.base.names import name_fault
    from registry.catalog.catalog import Catalog  # commands and options need no catalog
    from registry.errors import RegistryError

    with suppress(RegistryError, OSError):
        # Others can have line ends, which would end the quotes that keep a shell from running them.
        return [name for name in Catalog.open(_expanded(root)) if not name_fault(name)]
    return []


def _tags(root: str | None) -> list[str]:
    """Return the tags of the datasets; none if the catalog can't be read."""
    from registry.base.best_effort import best_effort_path, read_best_effort, write_best_effort
    from registry.catalog.catalog import Catalog
    from registry.errors import RegistryError
    from registry.settings import Settings

    with suppress(RegistryError, OSError):
        settings = Settings.from_environment(root=_expanded(root))
        catalog = Catalog.open(settings=settings)
        # Finding them decodes every manifest, which takes half a second for 10,000 of them.
        path = best_effort_path(settings.index, settings.cache_dir, "tags")
        known = json.loads((read_best_effort(path) or b"{}\n").splitlines()[0])
        if catalog.content is None or known.get("content") != catalog.content:
            tags = sorted({tag for name in catalog for tag in catalog.tags_of(name)})
            known = {"content": catalog.content, "tags": tags}
            write_best_effort(path, f"{json.dumps(known)}\n".encode())
        return [tag for tag in known["tags"] if tag.isprintable()]
    return []


def _expanded(root: str | None) -> str | None:
    """Return a folder as the shell would pass it to a command."""
    return None if root is None else os.path.expandvars(os.path.expanduser(root.strip("'\"")))
