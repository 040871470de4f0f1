"""`lock`: pin the contents of all sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import click

import registry
from registry.base.local_files import display_path
from registry.catalog.catalog import Catalog
from registry.catalog.discovery import package_of
from registry.cli import CLEAN, PROBLEMS, options
from registry.cli.help import dataset_names
from registry.cli.output import print_failures, print_json, print_line, print_warnings
from registry.cli.progress_bars import bars
from registry.diff.checkout import folder_checkout
from registry.diff.snapshots.contents import Contents, read_contents
from registry.diff.snapshots.pair import missing_manifests
from registry.errors import LockError, OfflineError, count_text, list_names
from registry.load.call import OpenCatalog
from registry.lockfile.merge import merge_locks
from registry.lockfile.models import (
    Lock,
    Version,
    lock_text,
    parse_lock,
    read_lock,
    read_sides,
    write_lock,
)
from registry.lockfile.text import read_bytes, write_text
from registry.settings import Settings, lock_file_of
from registry.workflows.lock import LockRequest, LockResult, lock_datasets, new_lock
from registry.workflows.lock_check import check_lock, is_as_written
from registry.workflows.pin_check import Difference, summary_of
from registry.workflows.versions import committed

__all__ = ["command"]

_ALL = "*"
_DROPPED = "dropped, it is in no manifest"
_MAX_NAMES = 5
_ONE_NAME = "--version needs the NAME of one dataset, and no --check"
_VERBS = {"pinned": "pinned", "repinned": "pinned again"}


@click.command(
    "lock",
    epilog="\b\nExample: registry lock demo-mcq\nregistry lock --check\n"
    "registry lock --check --config-from origin/main",
)
@options.names
@options.split
@click.option(
    "--upgrade",
    "upgrades",
    metavar="[NAME]",
    is_flag=False,
    flag_value=_ALL,
    multiple=True,
    shell_complete=dataset_names,
    help="Look up sources again and pin their current contents: those of dataset NAME, else of"
    " NAMES, else of all datasets.",
)
@click.option(
    "--version",
    "version",
    metavar="N-X",
    callback=options.parsed(Version.parse),
    help="Give the one dataset of NAMES this version, where the samples to derive it from are not"
    " here.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if the lock is stale.")
@click.option(
    "--merge",
    "merged",
    nargs=3,
    # A side that is missing would be one without any pin. git gives an empty file for that.
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="BASE OURS THEIRS",
    help="Merge three lockfiles into OURS, as a merge driver of git: --merge %O %A %B.",
)
@options.config_from
@options.run_changed_code
@options.jobs
@options.offline
@options.as_json
@options.root
def command(
    names: tuple[str, ...],
    upgrades: tuple[str, ...],
    version: Version | None,
    check: bool,
    merged: tuple[Path, Path, Path] | None,
    config_from: str | None,
    run_changed_code: bool,
    jobs: int,
    offline: bool | None,
    as_json: bool,
    root: str | None,
) -> int:
    """Pin the sources of all datasets, or of NAMES, in datasets.lock.

    Of a dataset that can't be built, as with --offline, the commit that its manifest names is
    written. Datasets of an included package have the pins of its own lockfile, unless they are
    among NAMES. Pins of unchanged manifests are not changed; merge conflicts are resolved. A pin's
    version N-X is 1-A at first; N rises if inputs, targets, ids or the set of samples change, else
    X. With --check and --config-from, a version that says less than what changed is a difference.

    The exit code is 1
    if a dataset could not be pinned, or a pin no longer holds because its files have changed. A
    dataset whose server can't be reached, or of an included package that needs a package which is
    not installed, is only counted, unless it is one of NAMES or was pinned for an older manifest.
    """
    if merged is not None:
        if names or upgrades or check or version:
            raise click.UsageError("--merge takes no other arguments than its three files")
        return _merge(*merged)
    options.refuse_several({"--check": check, "--upgrade": bool(upgrades)})
    if version is not None and check:
        raise click.UsageError(_ONE_NAME)
    settings = Settings.from_environment(root=root, offline=offline)
    if check:
        with options.rules_of(config_from, settings.index) as rules:
            opened = OpenCatalog.of(settings, rules_from=None if rules is None else rules.index)
            catalog = opened.catalog
            options.check_members(names, opened)
            names = tuple(options.current(catalog, *names))
            unrun = (
                {} if rules is None or run_changed_code else options.unrun_mappers(catalog, rules)
            )
            base, found = None, list[Difference]()
            if rules is not None:
                base = read_contents(rules.checkout)
                found += _changed_files(catalog, base, rules.index, names)
            return _check(
                opened,
                names,
                found,
                unrun=unrun,
                base=base,
                jobs=jobs,
                as_json=as_json,
            )
    return _pin(settings, names, upgrades, version, jobs=jobs, as_json=as_json)


def _pin(
    settings: Settings,
    names: tuple[str, ...],
    upgrades: tuple[str, ...],
    version: Version | None,
    *,
    jobs: int,
    as_json: bool,
) -> int:
    """Pin datasets, write the lockfile, and print what was done."""
    opened, path = OpenCatalog.of(settings), settings.lock_file
    catalog = opened.catalog
    asked = (*names, *upgrades)
    names = tuple(options.current(catalog, *names))
    if version is not None and len(names) != 1:
        raise click.UsageError(_ONE_NAME)
    single = options.current(catalog, *(name for name in upgrades if name != _ALL))
    named = tuple(dict.fromkeys((*names, *single)))
    if settings.index.parent == Path(registry.__file__).parent:
        hint = "create a datasets.yaml with `version: 1` and `include: [package:registry]`"
        raise LockError(f"the built-in catalog is read-only ({hint})")
    request = LockRequest(
        catalog=catalog,
        cache=opened.cache,
        old=read_sides(path, shown_as=display_path(path)),
        upgrade={*single, *((names or catalog) if _ALL in upgrades else ())},
        offline=settings.offline,
        versions={} if version is None else {names[0]: version},
    )
    # A conflict is resolved completely, as half a lockfile is invalid.
    also = [name for name in request.conflicting if named and name in catalog]
    chosen = tuple(dict.fromkeys((*named, *also))) or _locked_here(catalog, *request.old)
    results = []
    with (
        committed(settings.index) as earlier,
        bars(as_json=as_json, number=len(chosen)) as report,
    ):
        request = replace(request, earlier=earlier)
        for result in lock_datasets(chosen, request, jobs=jobs, report=report):
            results.append(result)
            report.finish(result.name, failed=_is_failure(result, named))
    options.check_members(asked, opened)
    results.sort(key=lambda one: one.name)
    # With names, nothing is known about the others.
    stray = not named and options.print_stray_problems(catalog)
    # What is away or can't be read may define the datasets that seem to be gone: keep their pins.
    away = [] if named else missing_manifests(folder_checkout(catalog.index, ""))
    if away:
        print_line(f"note: no pin is dropped, as {away[0]} is not checked out", err=True)
    can_drop = not (named or away or catalog.unread_problems())
    dropped = _write(request, results, path, drop=can_drop)
    failed = [one for one in results if _is_failure(one, named)]
    if as_json:
        print_json({"datasets": [one.to_dict() for one in results], "dropped": dropped})
    else:
        _print(results, dropped, failed, catalog, path=display_path(path))
        if not named:
            _print_packages(catalog, set(catalog).difference(chosen))
    return PROBLEMS if stray or failed else CLEAN


def _write(
    request: LockRequest, results: Sequence[LockResult], path: Path, *, drop: bool
) -> list[str]:
    """Write the lock; return the datasets whose pins are dropped, as no manifest has them."""
    pinned = {name for old in request.old for name in old.names}
    dropped = sorted(pinned.difference(request.catalog)) if drop else []
    lock = new_lock(request.old, results, pinned.union(request.catalog).difference(dropped))
    # Not rewritten with equal content, so that build tools see no change.
    if len(request.old) != 1 or not is_as_written(path, lock):
        write_lock(path, lock)
    return dropped


def _locked_here(catalog: Catalog, *locks: Lock) -> tuple[str, ...]:
    """Return the datasets whose pins are in the catalog's own lockfile.

    Those of an included package are in the package's, but for those that somebody pinned by name.
    """
    locked = {name for lock in locks for name in lock.names}
    root = catalog.index.parent
    return tuple(name for name in catalog if name in locked or catalog.home_of(name) == root)


def _is_failure(one: LockResult, named: Sequence[str]) -> bool:
    if one.status == "commit":  # without a network that is what can be asked for
        return one.name in named and not isinstance(one.error, OfflineError)
    if one.status == "unreachable":
        return one.name in named or (one.pin is not None and one.stale)
    return one.status in ("failed", "broken")


def _print(
    results: Sequence[LockResult],
    dropped: Sequence[str],
    failed: Sequence[LockResult],
    catalog: Catalog,
    *,
    path: str,
) -> None:
    for one in results:
        if one.note:
            print_line(f"{one.name}: merge conflict: {one.note}")
        if one.status in _VERBS and one.pin is not None:
            print_line(f"{one.name}: {_VERBS[one.status]}, {count_text(one.pin.samples, 'sample')}")
        elif one.status == "moved":
            print_line(f"{one.name}: {one.change}")
        if one.version:
            print_line(f"{one.name}: version {one.version}")
    for name in dropped:
        new = catalog.retired.get(name)
        print_line(f"{name}: {f'its pin is that of {new} now' if new else _DROPPED}")
    print_warnings((one.name, one.warnings) for one in results)
    failures = list[tuple[str, object]]()
    for one in failed:
        failures += [(one.name, difference) for difference in one.differences]
        if one.error is not None:
            kept = " (its old pin is kept)" if one.pin is not None else ""
            kept = " (only the commit that its manifest names is written)" if one.commit else kept
            failures.append((one.name, f"{one.error}{kept}"))
    print_failures(failures)
    unreachable = [one for one in results if one.status == "unreachable" and one not in failed]
    print_line(f"{path}: {', '.join(_counts(results, unreachable))}")


def _print_packages(catalog: Catalog, names: Iterable[str]) -> None:
    """Print how many datasets have the pins of which package."""
    for folder, number in sorted(Counter(catalog.entries[name].folder for name in names).items()):
        package = package_of(folder) or folder.name
        print_line(f"{package}: {count_text(number, 'dataset')}, pinned by the package's lockfile")


def _counts(results: Sequence[LockResult], unreachable: Sequence[LockResult]) -> list[str]:
    """Return how many pins there are, how many do not hold, and what could not be asked."""
    pinned = sum(one.pin is not None for one in results)
    counts = [f"{pinned:,} of {count_text(len(results), 'dataset')} pinned"]
    if commits := sum(one.commit is not None for one in results):
        counts.append(f"{commits:,} by the commit alone")
    if broken := sum(one.status == "broken" for one in results):
        counts.append(
            f"{count_text(broken, 'pin')} kept that {'does' if broken == 1 else 'do'} not hold"
        )
    for has_pin, outcome in ((True, "kept their pins"), (False, "left without a pin")):
        names = [one.name for one in unreachable if (one.pin is not None) == has_pin]
        if names:
            listed = list_names(names, _MAX_NAMES)
            counts.append(f"{len(names):,} unreachable and {outcome} ({listed})")
    return counts


def _merge(base: Path, ours: Path, theirs: Path) -> int:
    """Merge lockfiles into `ours`; what both sides changed is marked there, as git does."""
    locks = [
        parse_lock(text, str(path)) if (text := read_bytes(path)) else Lock()
        for path in (base, ours, theirs)
    ]
    lock, conflicts = merge_locks(*locks)
    marked = {name: (one.ours, one.base, one.theirs) for name, one in conflicts.items()}
    write_text(ours, lock_text(lock, marked))
    what = "both sides changed its pin (`registry lock` pins what fits the manifest)"
    print_failures((name, what) for name in conflicts)
    return PROBLEMS if conflicts else CLEAN


def _changed_files(
    catalog: Catalog, base: Contents, rules: Path, names: Sequence[str]
) -> Iterator[Difference]:
    """Yield the differences from the base that no pin has: files that samples name."""
    from registry.diff.checkout import folder_checkout  # few invocations need git
    from registry.diff.snapshots.contents import read_contents
    from registry.diff.snapshots.named_files import named_files

    head = read_contents(folder_checkout(catalog.index, "work tree"), rules)
    found = named_files(base, head)
    for name in names or found:
        pin = head.lock.pins.get(name)
        for path in found.get(name, ()) if name in catalog else ():
            if pin is not None and pin.has_file(path):
                continue  # the check compares it
            message = f"{path}, which its samples name, differs from the base"
            yield Difference(name, message, "no pin has it: review it, and check after the merge")


def _check(
    opened: OpenCatalog,
    names: Sequence[str],
    changed: Sequence[Difference],
    *,
    unrun: Mapping[str, str],
    base: Contents | None,
    jobs: int,
    as_json: bool,
) -> int:
    """Print the differences between the lockfile and what it was made of."""
    catalog, cache, settings = opened
    path = settings.lock_file
    shown = display_path(path)
    lock = read_lock(path, shown_as=shown)
    own = lock or Lock()
    checked = names or {*own.names, *_locked_here(catalog)}
    with bars(as_json=as_json) as report:
        run = check_lock(
            catalog,
            opened.pins.rows(name for name in checked if name in catalog),
            cache,
            checked,
            unrun=unrun,
            base=base,
            jobs=jobs,
            report=report,
        )
        checks = sorted(run, key=lambda one: one.name) if lock is not None else []
    found = [difference for one in checks for difference in one.differences]
    found += changed
    if lock is None:
        found.append(_missing(shown, catalog.rules_from))
    elif not names and not is_as_written(path, lock):
        message = "is not formatted as `lock` writes it"
        found.append(Difference(shown, message, "`registry lock` rewrites it"))
    if as_json:
        pins = [asdict(one) for one in checks if one.is_checked]
        print_json({"differences": [vars(one) for one in found], "pins": pins})
        return PROBLEMS if found else CLEAN
    for one in found:
        print_line(one)
    if lock is not None:
        state = count_text(len(found), "difference") if found else "fresh"
        print_line(f"{shown}: {state} ({summary_of(checks)})")
    return PROBLEMS if found else CLEAN


def _missing(shown: str, base: Path | None) -> Difference:
    """Return the difference of a missing lockfile."""
    if base is not None and lock_file_of(base).is_file():
        message = "there is none, but the base has one: the change deletes it, and every pin"
        return Difference(shown, message, "restore it, or run `registry lock`")
    return Difference(shown, "there is no lockfile", "`registry lock` writes one")
