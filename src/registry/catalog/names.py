"""What a name means: a dataset, a split or an old name of one, a group, or a member of one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from registry.base.process_state import cached_property
from registry.boundary.boundary import Boundary
from registry.catalog.cache import retired_of
from registry.catalog.groups import Group, GroupEntry, Member, group_problems, read_group
from registry.errors import (
    DatasetNotFoundError,
    GroupError,
    ManifestError,
    Problem,
    SplitNotFoundError,
    close_matches,
)
from registry.manifest.derived import declared_splits
from registry.manifest.merge import Entry, current_name, home_of, parent_of
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import notice_of, retirement_problem
from registry.yamldoc.reader import is_within, json_path

__all__ = ["Names"]


class Names(Mapping[str, DatasetSpec]):
    """The names of a catalog."""

    index: Path
    entries: Mapping[str, Entry]
    groups: Mapping[str, GroupEntry]
    problems: tuple[Problem, ...]
    boundary: Boundary

    @property
    def written(self) -> list[Entry | GroupEntry]:
        """What its files define: datasets, old names of them, and groups."""
        return [*self.entries.values(), *self.groups.values()]

    @cached_property
    def retired(self) -> Mapping[str, str]:
        """The names of datasets that were renamed or removed, with their names now, or ""."""
        return retired_of(self.entries)

    def splits_of(self, name: str) -> tuple[str, ...]:
        """Return the splits that a dataset declares, the default one first."""
        splits, default = declared_splits(name, self.entries)
        return tuple(sorted(splits, key=lambda split: split != default))

    def named(self, name: str, split: str | None = None) -> str:
        """Return the name that a dataset has now, or one of its splits: its own for the default.

        Args:
            name: A name of the catalog, perhaps an old one; it may end with `:` and a split.
            split: Another split of this dataset.

        Raises:
            DatasetNotFoundError: there is no such dataset, or it declares no such split.
            ManifestError: no name is similar, and the dataset may be in a file with problems; or
                what it was renamed to is in no manifest.
        """
        if (member := self.member(name)) is not None:
            return self.named(member.dataset, split)
        written, _, own = name.partition(":")
        wanted = split or own
        if not wanted or (split is None and name in self.entries):
            return self._current(name)
        written = self._current(written)
        splits = self.splits_of(written)
        if wanted not in splits:
            raise SplitNotFoundError(written, wanted, splits)
        return written if wanted == splits[0] else f"{written}:{wanted}"

    def _current(self, name: str) -> str:
        """Return the name that a dataset has now; errors as for `named`."""
        if name not in self.entries:
            own = json_path(("datasets", name.partition(":")[0]))
            if mine := [one for one in self.problems if is_within(one.path, own)]:
                raise ManifestError(mine)
            # If a name is similar, a misspelling is more likely than a file with problems.
            known = [one for one in self.entries if self.retired.get(one, one)]
            near = close_matches(name.partition("/")[0], [*known, *self.groups])
            if self.problems and not near:
                raise ManifestError(self.problems)
            unread = next((one.file for one in self.problems if one.file), "")
            raise DatasetNotFoundError(
                name, [*known, *self.groups], catalog=str(self.index), unread=unread
            )
        if found := self.retired.get(name, name):
            return found
        new = current_name(name, self.entries)
        problem = retirement_problem(self.entries[name], self.entries)
        if new in self.entries and "removed" in self.entries[new].value:
            raise DatasetNotFoundError(name, (), reason=self.notice(name))
        raise ManifestError([problem] if problem else self.problems)

    def former(self, name: str) -> list[str]:
        """Return the old names of a dataset, or of a split of it."""
        written, colon, split = name.partition(":")
        return [f"{old}{colon}{split}" for old, new in self.retired.items() if new == written]

    def notice(self, name: str) -> str:
        """Return that a dataset is deprecated, or that the name is an old one; "" if neither."""
        member = self.member(name)
        name = name if member is None else member.dataset
        known = name if name in self.entries else name.partition(":")[0]
        return notice_of(known, self.entries)

    def tags_of(self, name: str) -> frozenset[str]:
        """Return the tags of a dataset, its own or inherited, even if it does not resolve."""
        # Without resolving, so that an invalid dataset does not break filters by tag.
        tags = self.written_value(name, "tags")
        return frozenset(map(str, tags)) if isinstance(tags, list) else frozenset()

    def written_value(self, name: str, key: str) -> Any:
        """Return the own or inherited value of a key, as written; None without one."""
        layers = [entry.value for entry in self.lineage(name)]
        layers.append(self.entries[name].defaults.value)
        return next((layer[key] for layer in layers if key in layer), None)

    def lineage(self, name: object) -> Iterator[Entry]:
        """Yield a dataset and its ancestors, up to a missing parent or the start of a cycle.

        Of a chain that is too long to resolve, the first ones.
        """
        most = self.boundary.limits.extends + 1
        entry = (
            self.entries.get(current_name(name, self.entries)) if isinstance(name, str) else None
        )
        seen: set[str] = set()
        while entry and not entry.is_retired and entry.name not in seen and len(seen) < most:
            seen.add(entry.name)
            yield entry
            entry = parent_of(entry, self.entries)

    def dependents(self, name: str) -> list[str]:
        """Return the datasets that extend one, directly or not."""
        lineages = {one: [*self.lineage(one)][1:] for one in self if not self.entries[one].split}
        return [one for one, above in lineages.items() if self.entries[name] in above]

    def home_of(self, name: str) -> Path:
        """Return the folder of the index whose lockfile has the pin of a dataset."""
        return home_of(self.lineage(name))

    def group(self, name: str) -> Group:
        """Return a group, `GROUP/INNER` for one in another group.

        Raises:
            DatasetNotFoundError: there is no such group; the error has similar names.
            ManifestError: its manifest is invalid.
        """
        outer, _, found = name.rpartition("/")
        if found not in self.groups or (outer and found not in self.group(outer).groups):
            raise DatasetNotFoundError(name, self.groups, catalog=str(self.index), what="group")
        if found in self._groups_read:
            return self._groups_read[found]
        entry = self.groups[found]
        path = json_path(("groups", found))
        own = [
            one
            for one in self.problems
            if one.file == entry.document.file
            and (one.path in ("$", "$.groups") or is_within(one.path, path))
        ]
        group, problems = read_group(found, self.groups, self.entries, self._present)
        errors = [*own, *(one for one in problems if one.severity == "error")]
        if errors:
            raise ManifestError(errors)
        self._groups_read[found] = group
        return group

    @cached_property
    def _groups_read(self) -> dict[str, Group]:
        """The groups that were asked for: one may have thousands of members."""
        return {}

    def valid_groups(self) -> Iterator[Group]:
        """Yield the groups that can be used, by name."""
        for name in sorted(self.groups):
            with contextlib.suppress(ManifestError):
                yield self.group(name)

    def is_group(self, name: str) -> bool:
        """Return whether a name is that of a group, or of one in another group."""
        first, last = name.partition("/")[0], name.rpartition("/")[2]
        return name not in self.entries and first in self.groups and last in self.groups

    def is_member(self, name: str) -> bool:
        """Return whether a name is that of a selection of a dataset's samples."""
        member = self.member(name)
        return member is not None and member.only is not None

    def group_problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the groups, and what their members are warned about."""
        return group_problems(self.groups, self.entries, self._present)

    def member(self, name: str) -> Member | None:
        """Return the member `GROUP/MEMBER`, or all of a group by values; None for other names.

        Raises:
            DatasetNotFoundError: the group has no such member; the error has similar names.
            GroupError: it is a group of several datasets.
            ManifestError: the manifest of the group is invalid.
        """
        if name in self.entries or not self.groups:
            return None
        written, slash, label = name.partition("/")
        if written not in self.groups:
            return self._split_of_member(name)
        if not slash or label.rpartition("/")[2] in self.groups:
            inner = self.group(name)
            if "from" in self.groups[inner.name].value:
                return Member(name=name, dataset=inner.datasets[0], weight=1.0)
            raise GroupError(inner.name, [one.name for one in inner.members])
        group = self.group(written)
        if all(one.name != label for one in group.members) and (
            found := self._split_of_member(name)
        ):
            return found
        return group.member(label)

    def _split_of_member(self, name: str) -> Member | None:
        """Return the member `GROUP/MEMBER:SPLIT`, or all of a group by values; None for others."""
        whole, _, split = name.rpartition(":")
        if whole.partition("/")[0] not in self.groups:
            return None
        try:
            found = self.member(whole)
        except DatasetNotFoundError:
            return None  # the name of a member has the colon
        if found is None or ("/" in whole and split not in self.splits_of(found.dataset)):
            return None  # or the value of one that is not declared
        return replace(found, name=name, dataset=self.named(found.dataset, split))

    def _present(self, name: str) -> str:
        """Return the present name of a dataset.

        Raises:
            LookupError: there is none, or it can't be read.
        """
        # A group may be that which is being read.
        if name not in self.entries and (name in self.groups or "/" in name):
            raise LookupError(name)
        try:
            return self.named(name)
        except ManifestError as error:
            raise LookupError(name) from error
