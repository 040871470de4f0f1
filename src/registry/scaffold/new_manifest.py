"""The text of a manifest for one new dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from registry.scaffold.fields import InferredMapping
from registry.yamldoc.writer import flow_text

__all__ = ["About", "Join", "manifest_text"]

_MOST_UNUSED = 10


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


@dataclass(frozen=True)
class Join:
    """A lookup table of a new manifest."""

    source: Mapping[str, Any]
    """Keys of its source."""
    on: str
    key: str
    into: str

    def keys(self) -> dict[str, Any]:
        """Return the keys of `join`, in order."""
        key = {} if self.key == self.on else {"key": self.key}
        return {"source": dict(self.source), "on": self.on, **key, "into": self.into}


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
    join: Join | None = None,
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
        join: The lookup table.
    """
    lines = [
        f"# yaml-language-server: $schema={schema}",
        "datasets:",
        *_about(name, about),
        "    source:",
        *(f"      {key}: {flow_text(value)}" for key, value in source.items()),
    ]
    if splits:
        lines.append(f"    splits: {flow_text({name: {} for name in splits})}")
        lines.append(f"    default_split: {splits[0]}")
    if join is not None:
        lines.append("    join:")
        lines += [f"      {key}: {flow_text(value)}" for key, value in join.keys().items()]
    if mapping.without_input:
        expression = mapping.fields["input"].expression
        column = expression["from"] if isinstance(expression, dict) else expression
        condition = flow_text({"value": column, "empty": False})
        lines.append(f"    where: {condition}  # without input: {mapping.without_input:,}")
    lines += _fields(mapping, looked_at)
    if samples is not None:
        lines.append(f"    expect: {{samples: {samples}}}")
    if mapping.shuffle_choices is not None:
        lines.append(f"    shuffle_choices: {mapping.shuffle_choices}")
    return "\n".join(lines) + "\n"


def _about(name: str, about: About) -> Iterator[str]:
    if not about.license:
        # `validate` accepts this until somebody knows the license, and then reports the comment.
        unknown = "not known yet: say it, such as `license: mit`"
        yield f"  # registry: ignore missing-license -- {unknown}"
    yield f"  {flow_text(name)}:"
    yield f"    description: {flow_text(about.description)}"
    known: dict[str, Any] = {"homepage": about.homepage, "license": about.license}
    known |= {"tags": list(about.tags), "languages": list(about.languages)}
    yield from (f"    {key}: {flow_text(value)}" for key, value in known.items() if value)


def _fields(mapping: InferredMapping, looked_at: int | None) -> Iterator[str]:
    seen = f"  # inferred from the first {looked_at:,} records" if looked_at else ""
    yield f"    fields:{seen}"
    for key, one in mapping.fields.items():
        yield f"      {key}: {flow_text(one.expression)}  # {one.reason}"
    # Written out, as a field that is left out reads the column of its name.
    for key in ("choices", "target"):
        if key not in mapping.fields:
            yield f"      {key}: null  # nothing found"
    if mapping.unused:
        left = len(mapping.unused) - _MOST_UNUSED
        more = f", and {left} more" if left > 0 else ""
        yield f"      # no field reads {flow_text(list(mapping.unused[:_MOST_UNUSED]))}{more}"
    if mapping.repeated:
        yield "    on_duplicate: suffix  # some records ask the same; `drop` keeps the first"
