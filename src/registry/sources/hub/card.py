"""What the card of a dataset repository on the Hub says about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from registry.progress import silent
from registry.sources.hub.api import ask_hub

if TYPE_CHECKING:
    from registry.progress import Deadline, Report

__all__ = ["Card", "card_of", "language_tags", "read_card"]

_MOST_TAGS = 5
_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
"""A BCP 47 tag of a language, with a script or a region, as the schema of manifests has it."""
_MOST_LANGUAGES = 50
_NO_LICENSE = ("unknown", "other", "")
_HUB_NAMES = {
    "odc-by": "ODC-By-1.0",
    "odbl": "ODbL-1.0",
    "pddl": "PDDL-1.0",
}
"""Names of licenses on the Hub that are no ids of SPDX."""


class Card(Struct, frozen=True, kw_only=True):
    """The front matter of a README, as far as it describes a dataset."""

    title: str | None = None
    """Name for people."""
    license: str | None = None
    """None if there is none, several, or one without a name."""
    tags: tuple[str, ...] = ()
    """Kinds of tasks, and the author's words."""
    languages: tuple[str, ...] = ()
    """Those that are named by a code."""
    splits: tuple[tuple[str, str], ...] = ()
    """Pairs of a configuration and a split; empty if the card names none."""
    labels: dict[str, tuple[str, ...]] = {}
    """Names of the numbers in a column, by column."""


def read_card(
    repository: str, revision: str | None, deadline: Deadline, *, report: Report = silent
) -> Card:
    """Request the card of a repository.

    Raises:
        SourceError: no such repository or revision, or the Hub can't be reached.
    """
    from huggingface_hub import HfApi

    def request() -> Any:
        data: Any = HfApi().dataset_info(repository, revision=revision).card_data
        return {} if data is None else data.to_dict()

    return card_of(ask_hub(request, repository, deadline, report=report))


def card_of(data: Mapping[str, Any]) -> Card:
    """Return the card with this front matter, which may hold anything."""
    licenses = [one for one in _list(data.get("license")) if isinstance(one, str)]
    if licenses == ["other"]:
        licenses = [one for one in [data.get("license_name")] if isinstance(one, str)]
    is_known = len(licenses) == 1 and licenses[0].lower() not in _NO_LICENSE
    title = data.get("pretty_name")
    words = [*_list(data.get("task_categories")), *_list(data.get("tags"))]
    tags = [one for one in words if isinstance(one, str) and one and ":" not in one]
    return Card(
        title=title if isinstance(title, str) and title.strip() else None,
        license=_spdx(licenses[0]) if is_known else None,
        tags=tuple(dict.fromkeys(tags))[:_MOST_TAGS],
        languages=tuple(language_tags(data.get("language"))),
        splits=tuple(dict.fromkeys(_splits(data))),
        labels=dict(_labels(data)),
    )


def language_tags(given: Any) -> list[str]:
    """Return the tags of the languages that a card names; names in words have none."""
    found = [one for one in _list(given) if isinstance(one, str) and _LANGUAGE.fullmatch(one)]
    return list(dict.fromkeys(found)) if len(found) <= _MOST_LANGUAGES else ["mul"]


def _spdx(name: str) -> str | None:
    """Return the Hub's name of a license as an SPDX expression; None if it has no such letter."""
    try:
        canonicalize_license_expression(name)
    except InvalidLicenseExpression:
        own = re.sub("[^A-Za-z0-9.]+", "-", name).strip("-")
        return _HUB_NAMES.get(name.lower(), f"LicenseRef-{own}" if own else None)
    return name


def _splits(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    configs = [one for one in _list(data.get("configs")) if isinstance(one, Mapping)]
    for config in configs:
        name = str(config.get("config_name", "default"))
        files = config.get("data_files")
        if isinstance(files, Mapping):
            yield from ((name, str(split)) for split in files)
            continue
        named = [one for one in _list(files) if isinstance(one, Mapping) and "split" in one]
        yield from ((name, str(one["split"])) for one in named)
        if files and not named:  # files without a split are those of `train`
            yield name, "train"
    if not configs:
        for info in _infos(data):
            name = str(info.get("config_name", "default"))
            found = [one for one in _list(info.get("splits")) if isinstance(one, Mapping)]
            yield from ((name, str(one["name"])) for one in found if "name" in one)


def _labels(data: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield columns of numbers with names; not those whose names differ by configuration."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for info in _infos(data):
        for feature in _list(info.get("features")):
            dtype = feature.get("dtype") if isinstance(feature, Mapping) else None
            label = dtype.get("class_label") if isinstance(dtype, Mapping) else None
            names = label.get("names") if isinstance(label, Mapping) else None
            if isinstance(names, Mapping) and list(names) == [str(n) for n in range(len(names))]:
                names = list(names.values())
            if isinstance(names, list) and all(isinstance(one, str) for one in names):
                found.setdefault(str(feature.get("name")), set()).add(tuple(names))
    for column, several in found.items():
        if len(several) == 1:
            yield column, several.pop()


def _infos(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in _list(data.get("dataset_info")) if isinstance(one, Mapping)]


def _list(value: Any) -> Sequence[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
