"""List the local files that samples name, and those that such a file names in turn.

A sandbox is made of more than the file in its sample: a compose file mounts folders and builds
images, whose Dockerfiles copy further files. Names are read as Compose and Docker read them,
without variables; where those decide, all of the folder counts.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import yaml
from msgspec import Struct

from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.boundary.paths import list_files, shallow_loader
from registry.errors import ReachError
from registry.pipeline.file_references import local_resolver, resolve_files
from registry.samples.sample import Sample

__all__ = ["NamedFiles", "named_files"]

_MAX_BYTES = 1 << 20
"""Size of a file of Compose or Docker that is read for further names."""
_YAML = (".yaml", ".yml")
_DOCKERFILE = re.compile(r"(?i)(?:^|[._-])(?:docker|container)file(?:$|[._-])")
# Keys of Compose whose text, or texts, are paths.
_PATHS = {"env_file", "file", "include", "label_file", "path", "source"}
# What may be a path to a file: with a suffix, or in a folder.
_WORD = re.compile(r"(?<![\w$/])[\w@%+~-][\w@%+~./-]*[./][\w@%+~-]+")
# An instruction of a Dockerfile, with the lines that continue it.
_INSTRUCTION = re.compile(r"(?im)^\s*(FROM|COPY|ADD|RUN)\s+((?:.*\\\s*\n)*.*)$")


class NamedFiles(Struct, frozen=True):
    """Local files by what samples name them for: absolute paths, sorted."""

    files: tuple[str, ...] = ()
    """Media, and what is copied into the sandbox."""
    sandbox: tuple[str, ...] = ()
    """What runs in the sandbox, or configures it."""
    images: tuple[str, ...] = ()
    """Container images that are named without a digest."""
    folders: tuple[str, ...] = ()
    """Folders of which all files count."""


def named_files(samples: Iterable[Sample], location: Location, boundary: Boundary) -> NamedFiles:
    """Return the files that samples name, in the folder of the data file at `location`.

    The samples are as stored, with names, not paths, and are changed. Files outside the boundary
    are left out, as they are by a build.

    Raises:
        ReachError: a named folder has a link that leads outside.
        SourceError: it has more files than the limits allow.
    """
    resolve = local_resolver(location, boundary)
    files, code = set[str](), set[str]()

    def noting(found: set[str]) -> Callable[[str], str]:
        def note(value: str) -> str:
            if (path := resolve(value)) != value:
                found.add(os.path.normpath(Location(path).local_path()))
            return value

        return note

    note, note_code = noting(files), noting(code)
    for sample in samples:
        resolve_files(sample, note, resolve_code=note_code)
    found = _Search(boundary)
    media = found.below(files)
    sandbox = found.closure(code)
    return NamedFiles(
        tuple(sorted(media - sandbox)),
        tuple(sorted(sandbox)),
        tuple(sorted(found.images)),
        tuple(sorted(found.folders)),
    )


class _Search:
    """Follows names from file to file."""

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary
        self.images = set[str]()
        self.folders = set[str]()
        self._built = set[str]()
        """Dockerfiles that were read, in their context."""

    def below(self, paths: Iterable[str]) -> set[str]:
        """Return the files at some paths, those in folders included; missing ones are left out."""
        found = set[str]()
        for path in paths:
            if not self._boundary.contains(path):
                continue
            if os.path.isdir(path):
                self.folders.add(path)
                found.update(list_files(path, self._boundary))
            elif os.path.isfile(path):
                found.add(path)
        return found

    def closure(self, paths: Iterable[str]) -> set[str]:
        """Return the files at some paths, and all that they name."""
        found, waiting = set[str](), self.below(paths)
        while waiting:
            found |= waiting
            waiting = self.below(name for path in waiting for name in self._names_in(path)) - found
        return found

    def _names_in(self, path: str) -> Iterator[str]:
        folder, name = os.path.split(path)
        if path in self._built:
            return
        if _DOCKERFILE.search(name):  # its sample names it, so its folder is the context
            yield from self._copied(path, folder)
        elif name.endswith(_YAML):
            try:
                documents = list(yaml.compose_all(self._text(path), Loader=shallow_loader()))
            except yaml.YAMLError:
                return  # no configuration; the file itself counts
            for key, values in _pairs(*documents):
                yield from self._configured(key, values, folder)
        else:  # a script names what it runs
            words = set(_WORD.findall(self._text(path)))
            yield from (os.path.normpath(os.path.join(folder, one)) for one in sorted(words))

    def _configured(self, key: str, node: yaml.Node, folder: str) -> Iterator[str]:
        """Yield the paths that a key of a compose file names."""
        if key == "image":  # in a variable, too, as in a Dockerfile: it is not pinned
            self._note_images(_texts(node), ())
            return
        texts = [one for one in _texts(node) if "$" not in one]
        if key == "build":
            inner = dict(_pairs(node, deep=False)) if isinstance(node, yaml.MappingNode) else {}
            context = _first(inner.get("context"), *texts, ".")
            place = os.path.normpath(os.path.join(folder, context))
            file = os.path.join(place, _first(inner.get("dockerfile"), "Dockerfile"))
            if self._boundary.contains(file) and os.path.isfile(file):
                self._built.add(file)
                yield file
                yield from self._copied(file, place)
        elif key == "volumes":
            yield from (os.path.normpath(os.path.join(folder, one.split(":")[0])) for one in texts)
        elif key in _PATHS:
            yield from (os.path.normpath(os.path.join(folder, one)) for one in texts)

    def _copied(self, dockerfile: str, context: str) -> Iterator[str]:
        """Yield the paths that a Dockerfile copies; all of its context where that is unsure."""
        stages = {"scratch"}
        for word, rest in _INSTRUCTION.findall(self._text(dockerfile)):
            words = _words(rest)
            options = [one for one in words if one.startswith("--")]
            names = [one for one in words if not one.startswith("--")]
            if word.upper() == "FROM":
                self._note_images(names[:1], stages)
                stages.update(one.lower() for one in names[2:])  # FROM image AS stage
            elif word.upper() == "RUN":
                if any(one.startswith("--mount") for one in options):
                    yield context
            elif origins := [one[7:] for one in options if one.startswith("--from=")]:
                self._note_images([one for one in origins if not one.isdecimal()], stages)
            else:
                for name in names[:-1]:
                    path = os.path.normpath(os.path.join(context, name.lstrip("/")))
                    is_sure = not re.search(r"[$*?\[]|<<", name) and path.startswith(context)
                    yield path if is_sure else context

    def _note_images(self, names: Iterable[str], stages: Collection[str]) -> None:
        """Note the images among what a Dockerfile takes files from: others are stages of it."""
        named = (one for one in names if one.lower() not in stages)
        self.images.update(one for one in named if "@sha256:" not in one)

    def _text(self, path: str) -> str:
        try:
            with self._boundary.open_file(path) as file:
                return file.read(_MAX_BYTES).decode("utf-8", "replace")
        except (OSError, ReachError):
            return ""


def _pairs(*roots: Any, deep: bool = True) -> Iterator[tuple[str, yaml.Node]]:
    """Yield each key and value of mappings, and of all that they contain; an alias counts once."""
    waiting, seen = [*roots], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield from ((key.value, value) for key, value in node.value if _is_text(key))
            waiting += [value for _, value in node.value] if deep else []
        elif isinstance(node, yaml.SequenceNode) and deep:
            waiting += node.value


def _is_text(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode)


def _texts(node: yaml.Node) -> list[str]:
    """Return the text of a value, or those in a list."""
    nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return [one.value for one in nodes if _is_text(one)]


def _first(*values: yaml.Node | str | None) -> str:
    texts = (one.value if isinstance(one, yaml.ScalarNode) else one for one in values)
    return next(one for one in texts if isinstance(one, str))


def _words(rest: str) -> list[str]:
    """Return the words of an instruction, which may be a JSON array."""
    text = re.sub(r"\\\s*\n", " ", rest).strip()
    try:
        return shlex.split(text.strip("[]").replace('",', '" ') if text.startswith("[") else text)
    except ValueError:
        return text.split()
