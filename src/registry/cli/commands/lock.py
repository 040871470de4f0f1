"""`lock`: pin what the sources of datasets hold."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

import registry
from registry.cache import Cache
from registry.catalog.catalog import Catalog, display_path
from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.output import print_json
from registry.cli.progress_bars import bars
from registry.errors import LockError
from registry.lockfile.models import Lock, read_lock, read_sides, write_lock
from registry.settings import Settings
from registry.workflows.lock import LockRequest, LockResult, lock_datasets, new_lock
from registry.workflows.lock_check import Difference, differences, is_as_written

__all__ = ["command"]

_ALL = "*"
_SHOWN_NAMES = 5
_WORDS = {"pinned": "pinned", "repinned": "pinned anew"}


@click.command(
    "lock",
    epilog="\b\nExample: python -m registry lock demo-mcq\npython -m registry lock --check",
)
@click.argument("names", nargs=-1, metavar="[NAMES]...")
@click.option(
    "--upgrade",
    "upgrades",
    metavar="[NAME]",
    is_flag=False,
    flag_value=_ALL,
    multiple=True,
    help="Let what floats move: a branch to its commit, a URL to its bytes. Of one dataset, else of"
    " NAMES, else of all.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 where the lock is stale.")
@options.jobs
@options.offline
@options.as_json
@options.root
def command(
    names: tuple[str, ...],
    upgrades: tuple[str, ...],
    check: bool,
    jobs: int,
    offline: bool | None,
    as_json: bool,
    root: str | None,
) -> int:
    """Write datasets.lock: what the sources of all datasets hold, or of NAMES.

    Pins of unchanged manifests are kept as they are. The exit code is 1 where a dataset could not
    be pinned; one that was not named, has no pin of another manifest and lies on a server that
    can't be reached is only counted.
    """
    catalog, cache, settings = options.open_catalog(root, offline=offline)
    single = [name for name in upgrades if name != _ALL]
    for name in (*names, *single):
        catalog.check_name(name)
    if check:
        return _check(catalog, cache, settings.lock_file, names, as_json)
    _refuse_builtin(settings)
    named = tuple(dict.fromkeys((*names, *single)))
    path = settings.lock_file
    request = LockRequest(
        catalog=catalog,
        cache=cache,
        old=read_sides(path, shown_as=display_path(path)),
        upgrade={*single, *((names or catalog) if _ALL in upgrades else ())},
        offline=settings.offline,
    )
    with bars(as_json=as_json) as report:
        run = lock_datasets(named or tuple(catalog), request, jobs=jobs, report=report)
        done = sorted(run, key=lambda one: one.name)
    return _finish(path, request, done, named, as_json=as_json)


def _finish(
    path: Path,
    request: LockRequest,
    done: Sequence[LockResult],
    named: Sequence[str],
    *,
    as_json: bool,
) -> int:
    """Write the lock, say what became of it, and return the exit code."""
    catalog = request.catalog
    # A file that can't be read may hold what seems to be gone.
    stray = options.print_stray_problems(catalog)
    pinned = {name for old in request.old for name in old.pins}
    gone = [] if stray else sorted(pinned - set(catalog))
    lock = new_lock(request.old, done, pinned.union(catalog).difference(gone))
    # A file that says the same already is left alone.
    if len(request.old) != 1 or not is_as_written(path, lock):
        write_lock(path, lock)
    if as_json:
        print_json({"datasets": [one.to_dict() for one in done], "dropped": gone})
    else:
        _print(done, gone, path=display_path(path), named=named)
    return PROBLEMS if stray or any(_counts(one, named) for one in done) else CLEAN


def _refuse_builtin(settings: Settings) -> None:
    if settings.index.parent == Path(registry.__file__).parent:
        hint = "make a datasets.yaml of your own, with `include: [package:registry]`"
        raise LockError(f"the built-in catalog is not written to ({hint})")


def _counts(one: LockResult, named: Sequence[str]) -> bool:
    """Return whether what became of a dataset makes the exit code 1."""
    if one.status == "unreachable":
        return one.name in named or (one.pin is not None and one.stale)
    return one.status == "failed"


def _print(
    done: Sequence[LockResult], gone: Sequence[str], *, path: str, named: Sequence[str]
) -> None:
    for one in done:
        if one.status in _WORDS and one.pin is not None:
            print(f"{one.name}: {_WORDS[one.status]}, {one.pin.samples:,} samples")
        elif one.status == "moved":
            print(f"{one.name}: {one.change}")
    for name in gone:
        print(f"{name}: dropped, it is in no manifest")
    for one in done:
        if _counts(one, named):
            kept = " (its old pin is kept)" if one.pin is not None else ""
            print(f"error: {one.name}: {_without_name(one)}{kept}", file=sys.stderr)
    print(f"{path}: {', '.join(_summary(done, named))}")


def _without_name(one: LockResult) -> str:
    return str(one.error).removeprefix(f"{one.name}: ")


def _summary(done: Sequence[LockResult], named: Sequence[str]) -> Iterator[str]:
    pinned = sum(one.pin is not None for one in done)
    yield f"{pinned} of {len(done)} datasets pinned"
    away = [one for one in done if one.status == "unreachable" and not _counts(one, named)]
    for kept, text in ((True, "kept as they were"), (False, "left without a pin")):
        names = [one.name for one in away if (one.pin is not None) == kept]
        if names:
            yield f"{len(names)} out of reach and {text} ({_listed(names)})"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def _check(catalog: Catalog, cache: Cache, path: Path, names: Sequence[str], as_json: bool) -> int:
    """Say where the lockfile is not what would be written from the manifests."""
    lock = read_lock(path, shown_as=display_path(path))
    found = list(differences(catalog, lock or Lock(), cache, names))
    if lock is not None and not names and not is_as_written(path, lock):
        message = "is not the text that is written for its pins"
        found.append(Difference(display_path(path), message, "`python -m registry lock` writes it"))
    if as_json:
        print_json([vars(one) for one in found])
        return PROBLEMS if found else CLEAN
    for one in found:
        print(one)
    state = f"{len(found)} differences" if len(found) > 1 else "1 difference" if found else "fresh"
    pins = "there is no such file" if lock is None else f"{len(lock.pins):,} pins"
    print(f"{display_path(path)}: {state} ({pins})")
    return PROBLEMS if found else CLEAN
