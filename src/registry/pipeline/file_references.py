"""Resolve file names in samples, relative to the data file of the dataset.

A value of `files`, `setup`, a sandbox's configuration or a user message's media may be a path or
the content itself. Only values that look like a relative path are resolved, and only in the folder
of the data file, so that inline content never becomes part of a request.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial

from registry.base.digest import digest_of
from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.manifest.expressions import MEDIA_KINDS
from registry.samples.messages import ChatMessage, ChatMessageUser
from registry.samples.sample import Sample, SandboxEnvironmentSpec
from registry.sources.filesystem import FilesystemPool, offline_error, source_errors
from registry.sources.pins import SourceContext

__all__ = ["Resolve", "local_resolver", "remote_resolver", "resolve_files", "resolver"]

Resolve = Callable[[str], str]
"""Returns the path or URL of a file beside the data file, or the value unchanged."""

# Letters, digits and a few signs, with a folder or a suffix: `img/1.png`, `compose.yaml`.
_PATH_LIKE = re.compile(r"(?!/)(?=.*[./])[\w.+@~-]+(/[\w.+@~-]+)*")
_LONGEST_PATH = 1024


def local_resolver(location: Location, boundary: Boundary) -> Resolve:
    """Return the resolver for a dataset in a local file.

    A name that leads outside the boundary is inline content, as it is beside a remote file.
    """
    folder = os.path.dirname(location.local_path())
    # As in Inspect, files beside a `file://` URL are such URLs too.
    shown = location.rpartition("/")[0] if location.startswith("file://") else folder
    return partial(_resolve_local, folder=folder, shown=shown, boundary=boundary)


# Not a closure, which could not be pickled with the dataset.
def _resolve_local(value: str, *, folder: str, shown: str, boundary: Boundary) -> str:
    if not value or len(value) > _LONGEST_PATH or "\n" in value or "\0" in value:
        return value
    if value.startswith("data:") or "://" in value:
        return value
    path = os.path.join(folder, value)
    # In this order, so that nobody learns which files exist outside.
    if not boundary.contains(path) or not os.path.exists(path):
        return value
    return os.path.join(shown, value)


def remote_resolver(
    location: Location, pool: FilesystemPool, context: SourceContext | None = None
) -> Resolve:
    """Return the resolver for a dataset on a remote file system.

    Args:
        location: URL of the data file.
        pool: Its file systems.
        context: Remembers what was found, for when no request may be made; None remembers nothing.
    """
    folder = location.without_query.rpartition("/")[0]
    shown = Location(folder).public
    known: dict[str, str] = {}

    def resolve(value: str) -> str:
        if len(value) > _LONGEST_PATH or not _PATH_LIKE.fullmatch(value) or ".." in value:
            return value
        if value not in known:
            exists = _exists(Location(f"{folder}/{value}"), pool, context)
            known[value] = f"{shown}/{value}" if exists else value
        return known[value]

    return resolve


def _exists(url: Location, pool: FilesystemPool, context: SourceContext | None) -> bool:
    """Return whether a remote file exists; offline, whether it did when it was last looked up."""
    key = "" if context is None else digest_of({"exists": url, "options": dict(pool.options)})
    if context is not None and context.offline:
        found = context.cache.recall(key, "exists")
        if found is None:
            raise offline_error(url)
        return bool(found["exists"])
    with source_errors(url):
        exists = bool(pool.of(url).exists(url))
    if context is not None:
        context.cache.remember(key, {"exists": exists})
    return exists


def resolver(location: Location, pool: FilesystemPool) -> Resolve:
    """Return the resolver for the file of a dataset that the user names in a call."""
    if location.is_local:
        return local_resolver(location, pool.boundary)
    return remote_resolver(location, pool)


def resolve_files(
    sample: Sample, resolve: Resolve, *, resolve_code: Resolve | None = None
) -> Sample:
    """Resolve the file names of a sample in place, and return the sample.

    Args:
        sample: A sample of its own, which is changed.
        resolve: Returns the path or URL of a name.
        resolve_code: The same for what runs in the sandbox, or configures it; None is `resolve`.
    """
    resolve_code = resolve_code or resolve
    if sample.sandbox is not None and isinstance(sample.sandbox.config, str):
        config = resolve_code(sample.sandbox.config)
        sample.sandbox = SandboxEnvironmentSpec(sample.sandbox.type, config)
    if sample.files is not None:
        sample.files = {name: resolve(value) for name, value in sample.files.items()}
    if sample.setup is not None:
        sample.setup = resolve_code(sample.setup)
    if not isinstance(sample.input, str):
        sample.input = [_resolve_media(message, resolve) for message in sample.input]
    return sample


def _resolve_media(message: ChatMessage, resolve: Resolve) -> ChatMessage:
    # As Inspect does: it does not resolve media in messages of a model or a tool.
    if not isinstance(message, ChatMessageUser) or isinstance(message.content, str):
        return message
    content = [
        part.model_copy(update={part.type: resolve(getattr(part, part.type))})
        if part.type in MEDIA_KINDS
        else part
        for part in message.content
    ]
    return message.model_copy(update={"content": content})
