"""Pins as the lockfile has them: plain data, and where each value stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from registry.errors import ManifestError, Problem
from registry.origins import Origin

__all__ = ["LOCK_NAME", "lock_origins", "pins_of"]

LOCK_NAME = "datasets.lock"

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def pins_of(root: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the pins of the lockfile in a folder by dataset; none where there is no such file.

    Raises:
        ManifestError: it is no lockfile.
    """
    path = root / LOCK_NAME
    if not path.is_file():
        return {}
    data = _parsed(path, lambda text: yaml.load(text, _LOADER))  # noqa: S506 (a safe loader)
    pins = data.get("datasets") if isinstance(data, dict) else None
    if not isinstance(pins, dict) or not all(isinstance(pin, dict) for pin in pins.values()):
        raise _no_lock(path, "`datasets` must be a mapping from names to pins", "wrong-type")
    return pins


def lock_origins(root: Path) -> dict[str, tuple[Origin, ...]]:
    """Return the values of each pin, by dataset, with their lines.

    Raises:
        ManifestError: it is no lockfile.
    """
    pins = pins_of(root)
    if not pins:
        return {}
    tree = _parsed(root / LOCK_NAME, lambda text: yaml.compose(text, _LOADER))
    nodes = _children(_children(tree)["datasets"])
    file = str(root / LOCK_NAME)
    return {
        name: tuple(
            Origin(key=key, value=value, layer="lock", file=file, line=line, dataset=name)
            for key, value, line in _flat("pin", pin, nodes[name])
        )
        for name, pin in pins.items()
    }


def _flat(key: str, value: Any, node: yaml.Node) -> Iterator[tuple[str, Any, int]]:
    """Yield each value below a key with its line; lists of plain values are one."""
    if isinstance(value, dict) and value:
        nodes = _children(node)
        for name, item in value.items():
            yield from _flat(f"{key}.{name}", item, nodes[str(name)])
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, (item, inner) in enumerate(zip(value, node.value, strict=True)):
            yield from _flat(f"{key}[{number}]", item, inner)
    else:
        yield key, value, node.start_mark.line + 1


def _children(node: yaml.Node) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in node.value}


def _parsed(path: Path, parse: Any) -> Any:
    try:
        return parse(path.read_bytes())
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise _no_lock(path, " ".join(str(error).split()), "yaml-syntax") from error


def _no_lock(path: Path, message: str, rule: str) -> ManifestError:
    hint = "`python -m registry lock` writes it anew"
    return ManifestError([Problem(message=message, file=str(path), hint=hint, rule=rule)])
