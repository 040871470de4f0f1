"""Groups: datasets, or the values of a metadata key of one, that are used and reported together.

A member is named `GROUP/MEMBER`. It is a dataset of the catalog, or a selection of its samples:
no entry of its own, so a group of thousands costs a catalog nothing until it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.errors import DatasetNotFoundError, Problem, count_text, did_you_mean, list_names
from registry.manifest.merge import present_names
from registry.manifest.resolve import notice_of
from registry.yamldoc.reader import DataPath, Document

if TYPE_CHECKING:
    from registry.manifest.merge import Entry, Layer

Named = Callable[[str], str]
"""Returns the present name of a dataset; raises a LookupError if there is none."""

__all__ = ["Group", "GroupEntry", "Member", "group_problems", "read_group"]

_NAMED, _SHOWN = 5, 3


class GroupEntry(Struct, frozen=True):
    """One group as written in a file."""

    name: str
    document: Document
    folder: Path
    """The folder of the index."""
    defaults: Layer
    """The defaults of the index that includes the file."""

    @property
    def value(self) -> dict[str, Any]:
        """The group's keys in the file."""
        value: dict[str, Any] = self.document.value["groups"][self.name]
        return value

    def problem(self, path: DataPath, message: str, hint: str = "", *, rule: str) -> Problem:
        """Return a problem at `path`, which is relative to this group."""
        return self.document.problem(("groups", self.name, *path), message, hint, rule=rule)


class Member(Struct, frozen=True, kw_only=True):
    """One member of a group: a dataset, or the samples with one value."""

    name: str
    """In the group: `gsm8k`, `anatomy`, or `mmlu-subjects/anatomy` of a group in the group."""
    dataset: str
    """The dataset of the catalog that has the samples."""
    only: dict[str, Any] | None = None
    """Metadata key → value of its samples; None if it has all samples of the dataset."""
    weight: float
    """Its share of the group's mean; those of all members add up to 1."""
    is_alone: bool = False
    """Whether it is named by itself, `GROUP/MEMBER`: the data has other values of its key."""
    by: str = ""
    """A key whose values are not declared: this stands for a member of each value in the data."""

    def digest(self, ordered: str) -> str:
        """Return what identifies its samples, from the digest of those of the dataset."""
        return ordered if self.only is None else digest_of([ordered, self.only])


class Group(Struct, frozen=True, kw_only=True):
    """A group with its members, those of groups in it included."""

    name: str
    description: str | None = None
    tags: tuple[str, ...] = ()
    members: tuple[Member, ...]
    groups: tuple[str, ...] = ()
    """The groups that are members of it."""

    @property
    def datasets(self) -> list[str]:
        """The datasets that have the members' samples, each once."""
        return list(dict.fromkeys(one.dataset for one in self.members))

    def asked(self, member: Member) -> str:
        """Return the name by which `get_dataset` opens a member: its own, if it is a dataset."""
        return member.dataset if member.only is None else f"{self.name}/{member.name}"

    def member(self, label: str) -> Member:
        """Return a member by its name in the group.

        Raises:
            DatasetNotFoundError: there is none; the error has similar names.
        """
        for one in self.members:
            if one.name == label and not one.by:
                return one
        for one in self.members:  # by the value itself, where the values are not declared
            if one.by and label.startswith(prefix := one.name.removesuffix("*")):
                value = label.removeprefix(prefix)
                return replace(one, name=label, only={one.by: value}, by="")
        names = [one.name for one in self.members]
        raise DatasetNotFoundError(
            label,
            names,
            catalog=f"the group {self.name}",
            what="member",
            command=f"registry show {self.name}",
        )

    @property
    def text(self) -> str:
        """How many members it has, and the first of them."""
        if not self.is_complete:
            keys = list(dict.fromkeys(one.by for one in self.members if one.by))
            return f"a member of each {', '.join(keys)} of {', '.join(self.datasets)}"
        names = [one.name for one in self.members]
        return f"{count_text(len(names), 'member')}: {list_names(names, _SHOWN)}"

    @property
    def is_complete(self) -> bool:
        """Whether all members are known without reading samples."""
        return not any(one.by for one in self.members)

    def with_values(self, member: Member, values: Iterable[str]) -> Group:
        """Return the group with a member of each value in place of one that stands for them."""
        texts = list(values)
        found = [
            Member(
                name=member.name.removesuffix("*") + value,
                dataset=member.dataset,
                only={member.by: value},
                weight=member.weight / len(texts),
            )
            for value in texts
        ]
        at = self.members.index(member)
        return replace(self, members=(*self.members[:at], *found, *self.members[at + 1 :]))

    def digest(self, ordered: Mapping[str, str]) -> str | None:
        """Return one digest of all members, whatever their order; None if one is not known.

        `ordered` has the digest of each dataset's samples in their order, as a pin has it.
        """
        if not self.is_complete or any(name not in ordered for name in self.datasets):
            return None
        return digest_of(
            sorted([one.name, one.digest(ordered[one.dataset])] for one in self.members)
        )


def read_group(
    name: str, groups: Mapping[str, GroupEntry], entries: Mapping[str, Entry], named: Named
) -> tuple[Group, list[Problem]]:
    """Return one of the groups, and what is wrong with it; members with a problem are left out."""
    reader = _Reader(groups, entries, named)
    members = tuple(reader.members(name, 1.0, "", (name,)))
    value = groups[name].value
    tags, description = value.get("tags"), value.get("description")
    group = Group(
        name=name,
        description=description if isinstance(description, str) else None,
        tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
        members=members,
        groups=tuple(one for one in _listed(value) if one in groups),
    )
    return group, reader.problems


def group_problems(
    groups: Mapping[str, GroupEntry], entries: Mapping[str, Entry], named: Named
) -> Iterator[Problem]:
    """Yield what is wrong with the groups, and what their members are warned about."""
    for name, entry in groups.items():
        if name in entries:
            message = f"the name '{name}' is that of a dataset, too"
            yield entry.problem((), message, "choose another name", rule="duplicate-name")
        yield from read_group(name, groups, entries, named)[1]


class _Reader:
    """Collects the members of a group and of the groups in it, with their problems."""

    def __init__(
        self, groups: Mapping[str, GroupEntry], entries: Mapping[str, Entry], named: Named
    ) -> None:
        self.problems: list[Problem] = []
        self._groups, self._entries, self._named = groups, entries, named
        self._seen: dict[Hashable, str] = {}

    def members(
        self, name: str, share: float, prefix: str, trail: tuple[str, ...]
    ) -> Iterator[Member]:
        """Yield the members of a group that has a share of the whole."""
        entry = self._groups[name]
        listed = _listed(entry.value)
        if "from" in entry.value:
            yield from self._values(entry, share, prefix)
            return
        labels = [self._label(one) for one in listed]
        weights = self._weights(entry, labels)
        total = sum(weights.values()) or 1.0
        written: set[str] = set()
        for number, (one, label) in enumerate(zip(listed, labels, strict=True)):
            if one in written:  # the schema reports it
                continue
            written.add(one)
            part, place = share * weights[label] / total, ("datasets", number)
            if one in trail:
                message = f"a group can't contain itself: {' → '.join([*trail, one])}"
                self._report(entry, place, message, "remove one of them", "group-cycle")
            elif one in self._groups:
                yield from self.members(one, part, f"{prefix}{label}/", (*trail, one))
            elif one.partition("/")[0] in self._groups and one not in self._entries:
                yield from self._of_group(entry, place, one, prefix, part, trail)
            elif dataset := self._dataset(entry, place, one):
                member = Member(name=f"{prefix}{label}", dataset=dataset, weight=part)
                yield from self._once(entry, place, member)

    def _of_group(
        self,
        entry: GroupEntry,
        place: DataPath,
        written: str,
        prefix: str,
        share: float,
        trail: tuple[str, ...],
    ) -> Iterator[Member]:
        """Yield one member of another group, `GROUP/MEMBER`."""
        group, _, label = written.partition("/")
        if group in trail:
            message = f"a group can't contain itself: {' → '.join([*trail, group])}"
            self._report(entry, place, message, "remove one of them", "group-cycle")
            return
        # Of the others nothing is said here: it is that group's own affair.
        other = _Reader(self._groups, self._entries, self._named)
        known = Group(name=group, members=tuple(other.members(group, 1.0, "", (*trail, group))))
        try:
            found = known.member(label)
        except DatasetNotFoundError:
            names = [one.name for one in known.members]
            hint = did_you_mean(label, names) or f"members: {list_names(names, _NAMED)}"
            message = f"no member '{label}' in the group {group}"
            self._report(entry, place, message, hint, "unknown-member")
            return
        found = replace(found, name=f"{prefix}{written}", weight=share, is_alone=True)
        yield from self._once(entry, place, found)

    def _label(self, written: str) -> str:
        """Return the name of a member in its group: the present one of its dataset."""
        try:
            return written if written in self._groups else self._named(written)
        except LookupError:
            return written

    def _values(self, entry: GroupEntry, share: float, prefix: str) -> Iterator[Member]:
        """Yield the members of a group by the values of a key."""
        key, values = entry.value.get("by"), entry.value.get("values")
        dataset = self._dataset(entry, ("from",), entry.value["from"])
        if not dataset or not isinstance(key, str):
            return
        if not isinstance(values, dict | list):
            yield Member(name=f"{prefix}*", dataset=dataset, weight=share, by=key)
            return
        found: dict[str, tuple[str | int, Any]] = {}
        for place, value in values.items() if isinstance(values, dict) else enumerate(values):
            if not isinstance(value, str | int | float):  # the schema reports it
                continue
            written = str(value).lower() if isinstance(value, bool) else str(value)
            label = place if isinstance(place, str) else written
            _, first = found.setdefault(label, (place, value))
            if type(first) is not type(value):
                message = f"two values have the name '{label}'"
                hint = "write `values` as a mapping, which names each"
                self._report(entry, ("values", place), message, hint, "repeated-member")
        weights = self._weights(entry, found)
        total = sum(weights.values()) or 1.0
        for label, (place, value) in found.items():
            weight = share * weights[label] / total
            member = Member(
                name=f"{prefix}{label}", dataset=dataset, only={key: value}, weight=weight
            )
            yield from self._once(entry, ("values", place), member)

    def _once(self, entry: GroupEntry, place: DataPath, member: Member) -> Iterator[Member]:
        """Yield a member, unless another one has the same samples."""
        # With the type: 1 and True are equal, and other values.
        only = ((key, type(value), value) for key, value in (member.only or {}).items())
        samples = (member.dataset, *only)
        other = self._seen.setdefault(samples, member.name)
        if other is not member.name:
            as_other = f", as '{other}'" if other != member.name else ""
            message = f"'{member.name}' is a member already{as_other}"
            self._report(entry, place, message, "name it once", "repeated-member")
            return
        yield member

    def _dataset(self, entry: GroupEntry, place: DataPath, written: Any) -> str:
        """Return the present name of a dataset; "" if there is none."""
        if not isinstance(written, str):
            return ""
        try:
            name = self._named(written)
        except LookupError:
            gone = written in self._entries
            is_source = place == ("from",)  # which is no group
            known = [*present_names(self._entries), *(() if is_source else self._groups)]
            notice = notice_of(written, self._entries) if gone else ""
            message = notice or f"no dataset '{written}'"
            hint = "" if gone else did_you_mean(written, known)
            hint = (
                hint or f"name a dataset of the catalog{'' if is_source else ', or another group'}"
            )
            self._report(entry, place, message, hint, "unknown-member")
            return ""
        asked = written.partition(":")[0]
        if asked in self._entries and (notice := notice_of(asked, self._entries)):
            self._report(entry, place, notice, "", "deprecated-member")
        return name

    def _weights(self, entry: GroupEntry, labels: Iterable[str]) -> dict[str, float]:
        """Return the weight of each direct member: 1 unless the group says another."""
        found = dict.fromkeys(labels, 1.0)
        given = entry.value.get("weights")
        for written, weight in given.items() if isinstance(given, dict) else ():
            label = written if written in found else self._label(written)
            if label not in found:
                hint = did_you_mean(written, found) or f"members: {list_names([*found], _NAMED)}"
                message = f"'{written}' is no member of the group"
                self._report(entry, ("weights", written), message, hint, "unknown-member")
            elif isinstance(weight, int | float):
                found[label] = float(weight)
        return found

    def _report(
        self, entry: GroupEntry, place: DataPath, message: str, hint: str, rule: str
    ) -> None:
        problem = entry.problem(place, message, hint, rule=rule)
        if problem not in self.problems:
            self.problems.append(problem)


def _listed(value: Mapping[str, Any]) -> list[str]:
    """Return the `datasets` of a group, as far as they are names."""
    given = value.get("datasets")
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
