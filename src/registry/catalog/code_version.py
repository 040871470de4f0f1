"""The version of the code that reads manifests: results cached by other code are not used."""

from __future__ import annotations

import functools
import os
import sys
import time
import uuid
from pathlib import Path

from registry.base.digest import digest_of
from registry.base.file_state import FileState
from registry.settings import builtin_root

__all__ = ["package_version_key"]

_LOADED = time.time_ns()
"""When this process began to load its code."""


@functools.cache
def package_version_key() -> str:
    """Return a key that changes with Python's version, and with any of our modules or schemas.

    For an installed release it is equal on all machines, so that a cluster can share a cache. It
    uses the digests in the installer's RECORD, as the version number alone is the same for
    different commits installed by `pip install git+…`.
    """
    package = Path(__file__).parents[1]
    records = list(package.parent.glob("eval_registry-*.dist-info/RECORD"))
    # In a checkout the schemas are next to the package. Use the states of its files: reading them
    # all would take longer than the rest of opening a dataset.
    files = [str(record) for record in records] or [
        os.path.join(folder, name)
        for top in (package, builtin_root().parent / "schemas")
        for folder, _, names in os.walk(top)
        for name in names
        if name.endswith((".py", ".json"))
    ]
    states = {file: FileState.of(file) for file in sorted(files)}
    # If a file changed after this process loaded it, the process runs other code than the files
    # contain, so it shares no cache. By ctime, because mtime can be set to any value.
    if any(state.ctime_ns >= _LOADED for state in states.values()):
        return uuid.uuid4().hex
    if not records:
        return digest_of([sys.version, [[file, *state] for file, state in states.items()]])
    lines = [line for record in records for line in record.read_text("utf-8").splitlines()]
    # Compiled modules have no digest in RECORD, and not every installer creates them.
    ours = sorted(line for line in lines if line.startswith("registry/") and ",sha256=" in line)
    return digest_of([sys.version, ours])
