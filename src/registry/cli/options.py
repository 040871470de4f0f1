"""Options, and ways to open the catalog, that several commands share."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

import click

from registry.catalog.catalog import Catalog
from registry.cli.help import dataset_names, tag_names
from registry.cli.output import ROOT, print_line
from registry.errors import LockError, RegistryError, ReviewError, RevisionError, near_or_known
from registry.installation import our_own
from registry.load.call import DatasetCall, OpenCatalog
from registry.settings import BYTES, SECONDS, Settings, amount, remote_cache, usable_cores

if TYPE_CHECKING:
    from registry.cache.remote import RemoteCache
    from registry.diff.checkout import Rules

__all__ = [
    "Access",
    "OutFile",
    "as_json",
    "call_of",
    "check_members",
    "choose",
    "config_from",
    "current",
    "duration",
    "fewshot",
    "frozen",
    "jobs",
    "locked",
    "name",
    "names",
    "no_corrections",
    "offline",
    "open_catalog",
    "opened_remote_cache",
    "overrides_of",
    "parsed",
    "plain",
    "print_stray_problems",
    "refuse_several",
    "require_remote_cache",
    "root",
    "rules_of",
    "run_changed_code",
    "settings_of",
    "size",
    "split",
    "tags",
    "unrun_mappers",
    "with_members",
]

Command = TypeVar("Command", bound=Callable[..., Any])


def _allow(context: click.Context, _: click.Parameter, paths: tuple[str, ...]) -> None:
    """Add paths to REGISTRY_ALLOW_PATHS for this invocation, and for the processes it starts."""
    if not paths:
        return
    name = "REGISTRY_ALLOW_PATHS"
    before = os.environ.get(name)
    for path in paths:
        if os.pathsep in path:
            raise click.BadParameter(f"'{path}' has a '{os.pathsep}'")
    os.environ[name] = os.pathsep.join([*paths, *filter(None, [before])])

    @context.call_on_close
    def restore() -> None:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


_allow_path = click.option(
    "--allow-path",
    "allowed",
    multiple=True,
    type=click.Path(),
    metavar="PATH",
    expose_value=False,
    callback=_allow,
    help="Let manifests read this file or folder, although it is outside the catalog's folder;"
    " repeat it for several. Also: REGISTRY_ALLOW_PATHS.",
)
_root = click.option(
    "--root",
    type=click.Path(),
    metavar="PATH",
    callback=lambda context, _, path: context.meta.setdefault(ROOT, path),
    help="The catalog: a folder with a datasets.yaml, or an index file. Default: REGISTRY_ROOT,"
    " else the nearest datasets.yaml in this folder or above it, else the built-in catalog.",
)


def root(command: Command) -> Command:
    """Add the options that say which catalog is meant, and what it may read."""
    return _root(_allow_path(command))


class OutFile(click.Path):
    """A file that a command writes; not an empty name, and not `-` unless that is stdout."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of the file."""
        if value == "":
            self.fail("the name of the file is empty (is a variable not set?)", param, ctx)
        if value == "-" and not self.allow_dash:
            self.fail("it is not written to stdout (`./-` is a file)", param, ctx)
        return super().convert(value, param, ctx)


# Flags default to None rather than False: then the environment variable of the setting counts.
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
offline = click.option("--offline", is_flag=True, default=None, help="Make no network request.")
locked = click.option(
    "--locked",
    is_flag=True,
    default=None,
    help="Refuse a dataset that datasets.lock does not pin, or pins for an older manifest.",
)
frozen = click.option(
    "--frozen",
    is_flag=True,
    default=None,
    help="Use the bytes that datasets.lock pins, even if manifests have changed; look up nothing.",
)
fewshot = click.option(
    "--fewshot",
    type=click.IntRange(min=0),
    metavar="N",
    help="Give each sample N examples, as its `fewshot` block says; 0 for none.",
)
no_corrections = click.option(
    "--no-corrections",
    is_flag=True,
    help="The samples as the source has them, without `corrections`.",
)
name = click.argument("name", shell_complete=dataset_names)
names = click.argument("names", nargs=-1, metavar="[NAMES]...", shell_complete=dataset_names)


def split(command: Command) -> Command:
    """Add `--split S`, with which each name of the invocation means `NAME:S`."""

    @functools.wraps(command)
    def joined(*args: Any, split: str | None = None, **params: Any) -> Any:
        if split is not None:
            key = "name" if "name" in params else "names"
            given = (params[key],) if key == "name" else params[key]
            if not given:
                raise click.UsageError("--split is for datasets that are named")
            named = tuple(f"{one.partition(':')[0]}:{split}" for one in given)
            params[key] = named[0] if key == "name" else named
        return command(*args, **params)

    option = click.option(
        "--split",
        metavar="S",
        help="This one of the splits that the manifest declares: the same as NAME:S.",
    )
    return cast("Command", option(joined))


plain = click.option(
    "--plain", is_flag=True, help="Print lines of words and numbers, as for a screen reader."
)
jobs = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=lambda: min(8, 2 * usable_cores()),
    metavar="N",
    help="Number of datasets to process in parallel. Default: 2 per core, at most 8.",
)
tags = click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="T",
    shell_complete=tag_names,
    help="Only datasets with this tag; repeat it for datasets with all of several tags.",
)

run_changed_code = click.option(
    "--run-changed-code",
    is_flag=True,
    help="Run mappers whose code in the repository differs from the base: read it first.",
)
config_from = click.option(
    "--config-from",
    metavar="BASE",
    envvar="REGISTRY_CONFIG_FROM",
    help="Judge by the index of BASE, a git revision or a folder with a datasets.yaml: by its"
    " `trust`, `hosts`, `secrets`, `paths`, `limits` and `validate`, so that a change can't permit"
    " or ignore anything for itself. Default: REGISTRY_CONFIG_FROM.",
)


def overrides_of(*, fewshot: int | None = None, no_corrections: bool = False) -> dict[str, Any]:
    """Return the overrides of a dataset that options ask for."""
    corrections = {"corrections": False} if no_corrections else {}
    return corrections if fewshot is None else {**corrections, "fewshot": fewshot}


def settings_of(root: str | None) -> Settings:
    """Return the settings of this invocation."""
    return Settings.from_environment(root=root)


class Access(TypedDict):
    """The options that say which catalog is opened, and how: arguments of `open_catalog`."""

    root: str | None
    offline: bool | None
    locked: bool | None
    frozen: bool | None


def open_catalog(
    root: str | None,
    *,
    offline: bool | None = None,
    locked: bool | None = None,
    frozen: bool | None = None,
    rules: Rules | None = None,
) -> OpenCatalog:
    """Return the catalog, the cache and the settings of this invocation.

    `rules` are those of `--config-from`, which decide what the catalog may reach.
    """
    settings = Settings.from_environment(root=root, offline=offline, locked=locked, frozen=frozen)
    return OpenCatalog.of(settings, rules_from=None if rules is None else rules.index)


def require_remote_cache() -> RemoteCache:
    """Return the remote cache.

    Raises:
        RegistryError: there is none, or a setting is invalid.
    """
    opened = opened_remote_cache()
    if opened is None:
        raise RegistryError(
            "no remote cache (REGISTRY_REMOTE_CACHE names it: a folder, or a URL such as"
            " s3://bucket/folder)"
        )
    return opened


def opened_remote_cache() -> RemoteCache | None:
    """Return the remote cache, or None.

    Raises:
        RegistryError: a setting is invalid.
    """
    remote = remote_cache()
    if remote is None:
        return None
    opened: RemoteCache = our_own("open_remote_cache")(remote)
    return opened


@contextmanager
def rules_of(base: str | None, index: Path) -> Iterator[Rules | None]:
    """Yield the rules that `--config-from` names, or None."""
    if not base:
        yield None
        return
    from registry.diff.checkout import open_rules  # few invocations need git

    with ExitStack() as opened:
        try:
            rules = opened.enter_context(open_rules(base, index))
        except RevisionError as error:
            raise click.BadParameter(str(error), param_hint="--config-from") from error
        if not rules.is_valid:
            message = "its index is invalid, so it permits nothing, and default rules count"
            print_line(f"warning: {rules.checkout.label}: {message}", err=True)
        yield rules


def unrun_mappers(catalog: Catalog, rules: Rules) -> dict[str, str]:
    """Return mapper → why it is not run, for those whose code differs from the base."""
    from registry.diff.checkout import folder_checkout  # few invocations need git
    from registry.diff.snapshots.mapper_code import changed_code

    head = folder_checkout(catalog.index, "work tree")
    found = changed_code(catalog.boundary.trust, rules.checkout, head)
    return {mapper: one.message for mapper, one in found.items()}


def current(catalog: Catalog, *names: str) -> list[str]:
    """Return the present names of datasets; a group gives the datasets of its members.

    Says on stderr which names are old, and which datasets are deprecated.

    Raises:
        DatasetNotFoundError: a name is unknown, or its dataset was removed.
        ManifestError: a group is invalid.
    """
    asked = [
        one
        for name in dict.fromkeys(names)
        for one in (catalog.group(name).datasets if catalog.is_group(name) else [name])
    ]
    return _named(catalog, asked, catalog.named)


def with_members(opened: OpenCatalog, names: Sequence[str]) -> list[str]:
    """Return what `current` does, but with members in the place of groups and of their datasets.

    Raises:
        RegistryError: as for `current`, or the values that make the members can't be read.
    """
    catalog, asked = opened.catalog, list[str]()
    for name in names:
        of, colon, split = name.partition(":")
        if not catalog.is_group(of):
            asked.append(name)
            continue
        group = catalog.group(of)
        if not group.is_complete:
            from registry.load.groups import checked_group  # few groups need it

            group = checked_group(group, opened.settings)
        asked += (
            catalog.named(one.dataset, split)
            if one.only is None
            else f"{group.asked(one)}{colon}{split}"
            for one in group.members
        )
    return _named(
        catalog, asked, lambda name: name if catalog.is_member(name) else catalog.named(name)
    )


def _named(catalog: Catalog, asked: Sequence[str], present: Callable[[str], str]) -> list[str]:
    found = list(dict.fromkeys(map(present, asked)))
    for notice in dict.fromkeys(filter(None, map(catalog.notice, asked))):
        print_line(f"warning: {notice}", err=True)
    return found


def call_of(
    opened: OpenCatalog,
    name: str,
    overrides: Mapping[str, Any] | None = None,
    *,
    source: str | None = None,
    rules: Rules | None = None,
) -> DatasetCall:
    """Return a dataset, or a member of a group; say on stderr if the name is old or deprecated.

    Raises:
        ReviewError: by the rules of a base, its mapper must not be run.
    """
    asked = opened.call_of(name, overrides, source=source)
    if notice := opened.catalog.notice(name):
        print_line(f"warning: {notice}", err=True)
    spec = asked.spec
    if rules is not None and spec.mapper is not None:
        reason = unrun_mappers(opened.catalog, rules).get(spec.mapper)
        if reason is not None:
            raise ReviewError(f"{spec.name}: {reason} (read it; --run-changed-code runs it)")
    return asked


def check_members(names: Iterable[str], opened: OpenCatalog) -> None:
    """Check that the members of groups among the names have samples, where these are cached.

    Raises:
        ExpectationError: one has none.
    """
    for name in names:
        if not opened.catalog.is_group(name) and opened.catalog.is_member(name):
            with suppress(LockError):  # whoever needs the pin reports it
                asked = opened.call_of(name)
                _, entry = asked.find()
                if entry is not None:
                    asked.open_found(entry)


def choose(
    opened: OpenCatalog, names: tuple[str, ...], tags: tuple[str, ...], *, required: bool = True
) -> list[str]:
    """Return the named datasets, or all; with tags, only those that have every one of them.

    A group means the datasets of its members, and a member its dataset.

    Raises:
        DatasetNotFoundError: A name is unknown.
        ExpectationError: A member of a group has no samples, as those in the cache show.
        click.UsageError: No dataset has the tags, and one is `required`.
    """
    catalog = opened.catalog
    check_members(names, opened)
    chosen = current(catalog, *names) or list(catalog)
    if not tags:
        return chosen
    if tagged := [name for name in chosen if set(tags) <= catalog.tags_of(name)]:
        return tagged
    if not required:
        return []
    known = sorted({tag for name in catalog for tag in catalog.tags_of(name)})
    wanted = " and ".join(tags)
    # Several may all exist, and share no dataset.
    hint = near_or_known(wanted if len(tags) == 1 else "", known, "tags")
    raise click.UsageError(f"no dataset has the tag {wanted} ({hint})")


def refuse_several(ways: Mapping[str, bool]) -> str:
    """Return which one of some options is given; "" if none is, a UsageError if several are."""
    given = [name for name, is_given in ways.items() if is_given]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and {given[1]} exclude each other")
    return "".join(given)


def print_stray_problems(catalog: Catalog) -> bool:
    """Print the problems of files that define no dataset; return whether there are any.

    The problems of other files are reported with their datasets.
    """
    stray = catalog.stray_problems()
    for problem in stray:
        print_line(f"error: {problem}", err=True)
    return bool(stray)


def parsed(
    parse: Callable[[str], Any],
) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Return the callback of an option whose text `parse` reads, or refuses by a ValueError."""

    def callback(context: click.Context, option: click.Parameter, value: str | None) -> Any:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error), context, option) from error

    return callback


duration = parsed(lambda text: amount(text, SECONDS, what="duration", example="12h or 30d"))
"""The callback of an option for a duration such as `30d`; its value is in seconds."""
size = parsed(lambda text: int(amount(text, BYTES, what="size", example="500MB or 20GB")))
"""The callback of an option for a size such as `20GB`; its value is in bytes."""
