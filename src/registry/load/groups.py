"""Open the members of a group, and check that they are those that its manifest declares."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.errors import ExpectationError, check_arguments, list_names
from registry.load.dataset import CachedSamples, Options, check_name, get_dataset
from registry.manifest.models import View
from registry.settings import Settings

if TYPE_CHECKING:
    from registry.catalog.groups import Group, Member
    from registry.lockfile.pin_cache import CatalogPins
    from registry.samples.dataset import Dataset
    from registry.store.arrow_dataset import ArrowDataset
    from registry.store.views import ValueRows

__all__ = [
    "GroupDatasets",
    "check_values",
    "checked_group",
    "get_group",
    "group_digest",
    "list_groups",
]

_NAMED = 5


def get_group(
    name: str, *, root: str | Path | None = None, **options: Unpack[Options]
) -> GroupDatasets:
    """Return the datasets of a group by the names of its members; each is opened when it is used.

    What its manifest declares of the values of a key is compared with the samples, which are built
    for it.

    Args:
        name: One of the names that `list_groups` returns.
        root: As for `get_dataset`.
        **options: Other arguments of `get_dataset`, for each member.

    Raises:
        DatasetNotFoundError: no such group; the message suggests similar names.
        ManifestError: its manifest is invalid.
        ExpectationError: the samples have other values than the manifest declares, or lack one.
            Other errors as `get_dataset`.
        TypeError: an unknown argument, or a `name` that is not a str.
    """
    check_name(name)
    check_arguments(options, sorted(Options.__optional_keys__))
    group = Catalog.open(root).group(name)
    given = {**options, "root": root}
    return GroupDatasets(_checked(group, given), given)


def list_groups(*, root: str | Path | None = None) -> list[str]:
    """Return the names of the catalog's groups, sorted."""
    return sorted(Catalog.open(root).groups)


class GroupDatasets(Mapping[str, "Dataset"]):
    """The datasets of a group, in its order."""

    def __init__(self, group: Group, options: dict[str, Any]) -> None:
        self._members = {one.name: one for one in group.members}
        self._options = options
        self.group = group
        """Its members with their weights."""

    def __getitem__(self, name: str) -> Dataset:
        return _opened(self.group.asked(self._members[name]), self._options)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        return f"GroupDatasets(name={self.group.name!r}, members={len(self)})"

    @property
    def weights(self) -> dict[str, float]:
        """The share of each member in the mean of the group; they add up to 1."""
        return {name: one.weight for name, one in self._members.items()}

    @property
    def digest(self) -> str:
        """One digest of the samples of all members, whatever their order."""
        ordered = {}
        for name in self.group.datasets:
            whole = _open_whole(name, self._options, refresh=False)  # as the members are
            ordered[name] = str(whole.provenance.ordered)
        digest = self.group.digest(ordered)
        assert digest is not None  # noqa: S101 (all members are known, and all datasets)
        return digest


def group_digest(group: Group, pins: CatalogPins) -> str | None:
    """Return the digest of a group by the pins of its datasets; None if one has no pin."""
    found = ((name, pins.get(name)) for name in group.datasets)
    return group.digest({name: pin.ordered for name, pin in found if pin is not None})


def checked_group(group: Group, settings: Settings) -> Group:
    """Return a group as `get_group` does, with all its members; warns of nothing.

    Raises:
        ExpectationError: the samples have other values than it declares, or lack one.
            Other errors as `get_dataset`.
    """
    switches = {key: getattr(settings, key) for key in ("offline", "locked", "frozen")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the command says what there is to say
        return _checked(group, {"root": settings.index, **switches})


def _checked(group: Group, options: dict[str, Any]) -> Group:
    """Return the group with a member of each value; compare those that are declared."""
    by_key: dict[tuple[str, str], list[Member]] = {}
    for one in group.members:
        key = one.by or next(iter(one.only or ()), "")
        if key:
            by_key.setdefault((one.dataset, key), []).append(one)
    for (dataset, key), members in by_key.items():
        # A limit counts for each member: the values are those of all samples.
        found = values_of(_open_whole(dataset, options, limit=None), key)
        for one in members:
            if one.by:
                group = group.with_values(one, _names(found, group.name))
        declared = [one.only[key] for one in members if one.only is not None]
        if declared:
            are_all = not all(one.is_alone for one in members if not one.by)
            check_values(group.name, found, declared, are_all=are_all)
    return group


def values_of(dataset: ArrowDataset, key: str) -> ValueRows:
    """Return the values of a metadata key of an open dataset, as the cache has them."""
    from registry.store.views import value_rows  # what lists groups opens nothing

    file, _ = dataset.as_opened()
    cache, opened = Cache(Settings.from_environment().cache_dir), dataset.origin
    assert isinstance(opened, CachedSamples)  # noqa: S101 (of a dataset of the catalog)
    return value_rows(file, cache, samples=opened.fingerprint, key=key)


def check_values(
    group: str, found: ValueRows, declared: list[Any], *, are_all: bool = True
) -> None:
    """Compare the values of the samples with those that a group declares, all of them or some.

    Raises:
        ExpectationError: the samples lack one, or have others than `are_all`.
    """
    has = {repr(one): one for one in found.values}
    wanted = {repr(one): one for one in declared}
    others = [str(one) for text, one in has.items() if are_all and text not in wanted]
    lacking = [str(one) for text, one in wanted.items() if text not in has]
    parts = [f"has {list_names(others, _NAMED)}, which it does not declare"] if others else []
    parts += [f"lacks {list_names(lacking, _NAMED)}"] if lacking else []
    if parts:
        raise ExpectationError(
            f"{group}: the data {' and '.join(parts)} as `{found.key}`"
            f" (edit its `{'values' if are_all else 'datasets'}`)"
        )


def _names(found: ValueRows, group: str) -> list[str]:
    """Return the values of undeclared members as their names.

    Raises:
        ExpectationError: a value is not a str.
    """
    for value in found.values:
        if not isinstance(value, str):
            raise ExpectationError(
                f"{group}: a sample has {value!r} as `{found.key}`, which is not a string: declare"
                " `values`, as a mapping from the names of members to values"
            )
    return list(found.values)


def _open_whole(name: str, options: dict[str, Any], **view_of_its_own: Any) -> ArrowDataset:
    """Return a dataset as its manifest has it, whatever part of it the members are to have."""
    others = {key: item for key, item in options.items() if key not in View.__struct_fields__}
    return _opened(name, {**others, **view_of_its_own})


def _opened(name: str, options: dict[str, Any]) -> ArrowDataset:
    from registry.store.arrow_dataset import ArrowDataset  # what lists groups opens nothing

    dataset = get_dataset(name, **options)
    assert isinstance(dataset, ArrowDataset)  # noqa: S101 (get_dataset returns no other)
    return dataset
