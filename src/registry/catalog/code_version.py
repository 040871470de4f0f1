"""The version of the code that reads manifests: what other code understood is not used again."""

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
"""When this process loaded its code, or began to."""


@functools.cache
def package_version_key() -> str:
    """Return a key that changes with Python's version, and with any module or schema of ours.

    Of an installed release it is the same on every machine, so that those of a cluster share what
    is cached. It takes the digests that the installer wrote down, not the version alone, which
    stays the same between the commits that `pip install git+…` installs.
    """
    package = Path(__file__).parents[1]
    records = list(package.parent.glob("eval_registry-*.dist-info/RECORD"))
    # In a checkout the schemas are beside the package. The states of its files are enough, as
    # reading all of them would take longer than anything else that opens a dataset.
    files = [str(record) for record in records] or [
        os.path.join(folder, name)
        for top in (package, builtin_root().parent / "schemas")
        for folder, _, names in os.walk(top)
        for name in names
        if name.endswith((".py", ".json"))
    ]
    states = {file: FileState.of(file) for file in sorted(files)}
    # What this process runs is then no longer what the files hold, so it shares no cache. The
    # inode's time tells, because that of the content may be set to anything.
    if any(state.ctime_ns >= _LOADED for state in states.values()):
        return uuid.uuid4().hex
    if not records:
        return digest_of([sys.version, [[file, *state] for file, state in states.items()]])
    lines = [line for record in records for line in record.read_text("utf-8").splitlines()]
    # Compiled modules have no digest there, and not every installer makes them.
    ours = sorted(line for line in lines if line.startswith("registry/") and ",sha256=" in line)
    return digest_of([sys.version, ours])
