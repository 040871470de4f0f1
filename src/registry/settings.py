"""Settings from arguments and the environment: the catalog, the cache, what is allowed, limits."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from registry.errors import RegistryError
from registry.progress import DEADLINE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BYTES",
    "INDEX_NAME",
    "SECONDS",
    "SWITCH",
    "Remote",
    "Settings",
    "amount",
    "builtin_root",
    "deadline_seconds",
    "find_root",
    "is_on",
    "lock_file_of",
    "lock_limit",
    "most_jobs",
    "most_manifests",
    "read_timeout",
    "remote_cache",
    "remote_seconds",
    "usable_cores",
    "validate_seconds",
    "working_folder",
]

INDEX_NAME = "datasets.yaml"
# Some 13,000 pins, read in a second or two. Of a hostile file, more would take minutes.
_LOCK_MIB = 8
_MOST_MANIFESTS = 20_000
# Twice what a catalog of 10,000 new manifests takes.
_VALIDATE_SECONDS = 10
_READ_SECONDS = 60
# More seconds are too many for a clock.
_MOST_DIGITS = 9
_REMOTE_SECONDS = 30
# An HMAC with a shorter key can be guessed.
_LEAST_KEY = 16
_ANYONE = "anyone"
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
BYTES |= {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
# A number of more digits could be infinite.
_AMOUNT = r"([0-9]{1,15}(?:\.[0-9]+)?)([A-Za-z]+)"
SWITCH = dict.fromkeys(("1", "true", "yes", "on"), True)
SWITCH |= dict.fromkeys(("", "0", "false", "no", "off"), False)
"""Value of a variable in lower case → whether it switches something on."""


class Settings(Struct, frozen=True, kw_only=True):
    """Which catalog and cache to use, and whether requests and new pins are allowed."""

    index: Path
    """The index file, `datasets.yaml`."""
    cache_dir: Path
    """The cache's folder, without the version part."""
    offline: bool = False
    """Make no requests."""
    locked: bool = False
    """Require for each dataset a pin that matches its manifest."""
    frozen: bool = False
    """Use the pins of the lockfile even if the manifest differs, and look nothing up."""
    allow_paths: tuple[str, ...] = ()
    """Absolute paths of files and folders that manifests may read, beside the catalog's own."""
    cache_size: int | None = None
    """Bytes above which what the cache has used least recently is removed."""

    @property
    def lock_file(self) -> Path:
        """The lockfile of the catalog."""
        return lock_file_of(self.index)

    @classmethod
    def from_environment(
        cls,
        *,
        root: str | Path | None = None,
        offline: bool | None = None,
        locked: bool | None = None,
        frozen: bool | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> Settings:
        """Combine arguments and environment; an argument other than None takes precedence.

        Reads REGISTRY_ROOT, REGISTRY_CACHE_DIR, REGISTRY_OFFLINE, HF_HUB_OFFLINE,
        REGISTRY_LOCKED, REGISTRY_FROZEN, REGISTRY_CACHE_SIZE and REGISTRY_ALLOW_PATHS, whose paths
        are separated as those of PATH.
        """
        given = root or environ.get("REGISTRY_ROOT")
        here = working_folder()
        index = _absolute(given) if given else find_root(here)
        if folder := environ.get("REGISTRY_CACHE_DIR"):
            cache_dir = _absolute(folder)
        else:
            cache_dir = _user_cache_dir()
        return cls(
            index=index / INDEX_NAME if os.path.isdir(index) else index,
            cache_dir=cache_dir,
            offline=_switch(offline, environ, "REGISTRY_OFFLINE", "HF_HUB_OFFLINE"),
            locked=_switch(locked, environ, "REGISTRY_LOCKED"),
            frozen=_switch(frozen, environ, "REGISTRY_FROZEN"),
            allow_paths=tuple(
                os.path.abspath(os.path.expanduser(path))
                for path in environ.get("REGISTRY_ALLOW_PATHS", "").split(os.pathsep)
                if path
            ),
            cache_size=_cache_size(environ.get("REGISTRY_CACHE_SIZE")),
        )


def _cache_size(given: str | None) -> int | None:
    if not given:
        return None
    try:
        return int(amount(given, BYTES, what="size", example="500MB or 20GB"))
    except ValueError as error:
        raise RegistryError(f"REGISTRY_CACHE_SIZE: {error}") from error


def amount(text: str, units: Mapping[str, int], *, what: str, example: str) -> float:
    """Return a number with a unit, whatever its case, in the smallest of the units.

    Raises:
        ValueError: it is none; the message has `what` it should be, and an `example`.
    """
    found = re.fullmatch(_AMOUNT, text)
    factors = {unit.casefold(): factor for unit, factor in units.items()}
    factor = factors.get(found[2].casefold()) if found else None
    if found is None or factor is None:
        message = f"'{text}' is not a {what}: give a number and a unit, such as {example}"
        raise ValueError(f"{message} (units: {', '.join(units)})")
    return float(found[1]) * factor


def _user_cache_dir() -> Path:
    """Return the cache's folder in the home folder of this user."""
    import platformdirs  # not needed if the variable is set, as on clusters

    try:
        folder = platformdirs.user_cache_dir("registry", appauthor=False)
    except RuntimeError:  # its older versions return a path that starts with `~`
        folder = ""
    if not os.path.isabs(folder):
        message = "this user has no home folder, which the cache is in by default"
        raise RegistryError(f"{message} (set REGISTRY_CACHE_DIR)")
    return Path(folder)


def _absolute(path: str | Path) -> Path:
    """Return an absolute path without `..`; `~` is the home folder."""
    if "\0" in str(path):
        raise RegistryError(f"{str(path)!r} has a NUL, which no path has (correct it)")
    found = _path(path)
    # Not `Path.expanduser`, which raises an error where `~x` is not the name of a user.
    if found.is_absolute() and ".." not in found.parts:
        return found
    # Without `..`: below a cache whose path has one, no file is equal to one that a catalog lists.
    return Path(os.path.abspath(os.path.expanduser(found)))


@functools.lru_cache(maxsize=16)  # a path that is made again is parsed again
def _path(path: str | Path) -> Path:
    return Path(path)


def working_folder() -> Path:
    """Return the working directory.

    Raises:
        RegistryError: there is none, as it was removed.
    """
    try:
        return Path.cwd()
    except OSError as error:
        message = f"can't read the working folder: {error.strerror}"
        raise RegistryError(f"{message} (change to a folder that exists)") from error


def _switch(given: bool | None, environ: Mapping[str, str], *names: str) -> bool:
    if given is not None:
        return given
    return any(is_on(name, environ) for name in names)


def is_on(name: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether a variable switches something on.

    Raises:
        RegistryError: it is one of ours, and says neither yes nor no.
    """
    given = environ.get(name, "")
    found = SWITCH.get(given.lower())
    if found is None and name.startswith("REGISTRY_"):
        raise RegistryError(f"{name} is neither on nor off: '{given}' (1 is on, 0 is off)")
    return found is True


def find_root(start: Path) -> Path:
    """Return the nearest `datasets.yaml` in `start` or above it, else the built-in one."""
    for folder in (start, *start.parents):
        index = folder / INDEX_NAME
        if index.is_file() or index.is_symlink():  # a broken link is an error when it is read
            return index
    return builtin_root()


def builtin_root() -> Path:
    """Return the index that this package ships; in a checkout, that of the repository.

    Beside it are the lockfile, the manifests, the schemas and the action.
    """
    package = Path(__file__).parent
    # A wheel has the index as package data; in an editable install it is two folders up.
    shipped = package / INDEX_NAME
    return shipped if shipped.is_file() else package.parents[1] / INDEX_NAME


def lock_file_of(index: Path) -> Path:
    """Return the lockfile of an index: next to it, with the suffix `.lock`."""
    return index.with_suffix(".lock")


def most_manifests(environ: Mapping[str, str] = os.environ) -> int:
    """Return how many manifests a catalog may have; REGISTRY_MAX_MANIFESTS changes it."""
    return _number(environ, "REGISTRY_MAX_MANIFESTS", _MOST_MANIFESTS)


def lock_limit(environ: Mapping[str, str] = os.environ) -> int:
    """Return the number of bytes that a lockfile may have, from REGISTRY_MAX_LOCK_MIB."""
    return _number(environ, "REGISTRY_MAX_LOCK_MIB", _LOCK_MIB) << 20


def validate_seconds(environ: Mapping[str, str] = os.environ) -> int:
    """Return how much processor time `validate` takes, from REGISTRY_VALIDATE_SECONDS."""
    return _number(environ, "REGISTRY_VALIDATE_SECONDS", _VALIDATE_SECONDS)


def deadline_seconds(environ: Mapping[str, str] = os.environ) -> int:
    """Return how long a dataset may make no progress, from REGISTRY_DEADLINE."""
    return _number(environ, "REGISTRY_DEADLINE", DEADLINE_SECONDS)


def most_jobs(environ: Mapping[str, str] = os.environ) -> int:
    """Return how many processes a command may use, from REGISTRY_JOBS; 1 starts none."""
    return _number(environ, "REGISTRY_JOBS", usable_cores(), least=1)


def usable_cores() -> int:
    """Return how many cores this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_timeout(environ: Mapping[str, str] = os.environ) -> int:
    """Return how many seconds a server may send nothing, from REGISTRY_READ_TIMEOUT."""
    return _number(environ, "REGISTRY_READ_TIMEOUT", _READ_SECONDS, least=1)


def _number(environ: Mapping[str, str], name: str, default: int, *, least: int = 0) -> int:
    given = environ.get(name) or str(default)
    is_number = given.isascii() and given.isdecimal() and len(given) <= _MOST_DIGITS
    if not is_number or int(given) < least:
        what = f"a whole number from {least} to {10**_MOST_DIGITS - 1}"
        raise RegistryError(f"{name} is not {what}: '{given}' (the default is {default})")
    return int(given)


class Remote(Struct, frozen=True, kw_only=True):
    """The remote cache, and whose entries are used beside those that a lockfile proves."""

    url: str
    """Path or URL of a folder."""
    keys: tuple[tuple[str, str], ...] = ()
    """Names of trusted writers, and their keys."""
    trusts_all: bool = False
    """Whether everybody is trusted who can write there."""
    signs_as: tuple[str, str] | None = None
    """Name and key of the writer that this process is."""
    seconds: int = _REMOTE_SECONDS
    """How long it may make no progress."""


def remote_cache(environ: Mapping[str, str] = os.environ) -> Remote | None:
    """Return the remote cache that REGISTRY_REMOTE_CACHE names, or None.

    REGISTRY_REMOTE_TRUST names the writers that are trusted, separated by commas, or is `anyone`;
    REGISTRY_REMOTE_WRITER is the name of this process as a writer. The key of the writer `ci` is in
    REGISTRY_REMOTE_KEY_CI. REGISTRY_REMOTE_TIMEOUT is how many seconds it may make no progress.

    Raises:
        RegistryError: a name is invalid, or has no key.
    """
    url = environ.get("REGISTRY_REMOTE_CACHE")
    if not url:
        return None
    names = [name.strip() for name in environ.get("REGISTRY_REMOTE_TRUST", "").split(",")]
    trusted = [name for name in names if name and name != _ANYONE]
    writer = environ.get("REGISTRY_REMOTE_WRITER")
    return Remote(
        url=url,
        keys=tuple((name, _writer_key(environ, name, "TRUST")) for name in trusted),
        trusts_all=_ANYONE in names,
        signs_as=(writer, _writer_key(environ, writer, "WRITER")) if writer else None,
        seconds=remote_seconds(environ),
    )


def remote_seconds(environ: Mapping[str, str] = os.environ) -> int:
    """Return how many seconds a remote cache, or a place for mirrors, may make no progress."""
    return _number(environ, "REGISTRY_REMOTE_TIMEOUT", _REMOTE_SECONDS, least=1)


def _writer_key(environ: Mapping[str, str], name: str, setting: str) -> str:
    if not (name.isascii() and name.isidentifier() and name == name.lower()):
        raise RegistryError(
            f"REGISTRY_REMOTE_{setting} has the name '{name}' (a name has lower-case letters,"
            " digits and underscores)"
        )
    variable = f"REGISTRY_REMOTE_KEY_{name.upper()}"
    key = environ.get(variable, "")
    if len(key) < _LEAST_KEY:
        raise RegistryError(
            f"REGISTRY_REMOTE_{setting} names '{name}', and {variable} has no key of at least"
            f" {_LEAST_KEY} characters (`openssl rand -hex 32` makes one)"
        )
    return key
