"""The text of a manifest for one new dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from registry.scaffold.fields import InferredMapping
from registry.yamldoc.writer import flow_text

__all__ = ["About", "dataset_lines", "manifest_text"]

_MOST_UNUSED = 10
_BLOCKS = ("source", "join", "fields", "eval")
"""Keys with a line for each of their keys."""
_NO_LICENSE = "registry: ignore missing-license -- not known yet: say it, such as `license: mit`"


@dataclass(frozen=True)
class About:
    """What a dataset is, for people."""

    description: str
    homepage: str | None = None
    license: str | None = None
    """None if nobody has said it yet."""
    tags: Sequence[str] = ()
    languages: Sequence[str] = ()

    def updated(self, description: str | None, license_: str | None) -> About:
        """Return the same with what the user says."""
        return replace(
            self, description=description or self.description, license=license_ or self.license
        )


def manifest_text(
    name: str,
    source: Mapping[str, Any],
    mapping: InferredMapping,
    *,
    about: About,
    samples: int | None,
    schema: str,
    looked_at: int | None = None,
    splits: Sequence[str] = (),
    join: Mapping[str, Any] | None = None,
) -> str:
    """Return the commented manifest of an inferred mapping.

    Args:
        name: The dataset's name.
        source: Keys of the source, in order.
        mapping: The mapping.
        about: The description and so on.
        samples: Number of samples to expect, if it is known.
        schema: The schema for editors, as the manifest refers to it.
        looked_at: How many records the mapping was inferred from, if not from all.
        splits: Names of splits that the path of the source has, the default one first.
        join: Keys of the lookup table.
    """
    fields = {key: one.expression for key, one in mapping.fields.items()}
    remarks = {f"fields.{key}": one.reason for key, one in mapping.fields.items()}
    # Written out, as a field that is left out reads the column of its name.
    for key in ("choices", "target"):
        if key not in fields:
            fields[key], remarks[f"fields.{key}"] = None, "nothing found"
    if looked_at:
        remarks["fields"] = f"inferred from the first {looked_at:,} records"
    if mapping.unused:
        left = len(mapping.unused) - _MOST_UNUSED
        more = f", and {left} more" if left > 0 else ""
        remarks["fields."] = f"no field reads {flow_text([*mapping.unused[:_MOST_UNUSED]])}{more}"
    remarks["where"] = f"without input: {mapping.without_input:,}"
    remarks["on_duplicate"] = "some records ask the same; `drop` keeps the first"
    question = fields["input"]
    column = question["from"] if isinstance(question, dict) and "from" in question else question
    keys: dict[str, Any] = {
        "description": about.description,
        "homepage": about.homepage,
        "license": about.license,
        "tags": list(about.tags),
        "languages": list(about.languages),
        "source": source,
        "splits": {name: {} for name in splits},
        "default_split": next(iter(splits), None),
        "join": join,
        "where": {"value": column, "empty": False} if mapping.without_input else None,
        "fields": fields,
        "on_duplicate": "suffix" if mapping.repeated else None,
        "expect": None if samples is None else {"samples": samples},
        "shuffle_choices": mapping.shuffle_choices,
    }
    known = {key: value for key, value in keys.items() if value not in (None, "", [], {})}
    # `validate` accepts this until somebody knows the license, and then reports the comment.
    above = () if about.license else (_NO_LICENSE,)
    lines = dataset_lines(name, known, above, remarks)
    return "\n".join([f"# yaml-language-server: $schema={schema}", "datasets:", *lines, ""])


def dataset_lines(
    name: str,
    keys: Mapping[str, Any],
    above: Iterable[str] = (),
    remarks: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Yield the lines of a dataset in a manifest, below comments.

    `remarks` are comments behind the keys that they name, such as `fields` and `fields.input`; that
    of `fields.` is below all fields.
    """

    def behind(place: str) -> str:
        return f"  # {_comment(remarks[place])}" if remarks and place in remarks else ""

    yield from (f"  # {_comment(one)}" for one in above)
    yield f"  {flow_text(name)}:"
    for key, value in keys.items():
        if key not in _BLOCKS or not isinstance(value, Mapping) or not value:
            yield f"    {key}: {flow_text(value)}{behind(key)}"
            continue
        yield f"    {key}:{behind(key)}"
        for inner, one in value.items():
            yield f"      {flow_text(inner)}: {flow_text(one)}{behind(f'{key}.{inner}')}"
        if below := behind(f"{key}."):
            yield f"    {below}"


def _comment(text: str) -> str:
    """Return text that stays on the line of its comment."""
    return "".join(one if one.isprintable() else " " for one in text)
