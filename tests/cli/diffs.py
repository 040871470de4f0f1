"""Diffs for the tests of formats, with untrusted text in all places."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from registry.diff.models import (
    CatalogDiff,
    Chunk,
    DatasetChange,
    Example,
    FieldChange,
    InheritedChange,
    KeyChange,
    NewReach,
    SampleChange,
)
from registry.diff.severity import ChangeClass
from registry.errors import Problem
from registry.manifest.origins import Origin

__all__ = ["EVIL", "change", "diff_of", "origin", "untrusted_diff"]

EVIL = "``` `` ` | <b>&amp;</b> @octocat #1 </details> <!-- \n```\n# heading\n\x1b[31m\u202e*x* _y_ ~~z~~ [a](b)"


def origin(key: str, value: Any, line: int = 1) -> Origin:
    return Origin(key=key, value=value, layer="own", file="m.yaml", line=line, dataset="d")


def change(
    name: str, old: str, new: str, *, kind: ChangeClass = ChangeClass.INPUTS, **more: Any
) -> DatasetChange:
    key = KeyChange(
        key="fields.input",
        kind=kind,
        old=origin("fields.input", old),
        new=origin("fields.input", new, 2),
    )
    chunks = (Chunk("=", f"{new} "), Chunk("-", old), Chunk("+", new))
    example = Example("changed", f"id {name}", (FieldChange("input", chunks),))
    added = Example("added", f"id {name}", (FieldChange("input", (Chunk("+", new),)),))
    samples = SampleChange(
        old=3,
        new=4,
        matched_by="id",
        added=1,
        changed=1,
        fields={"input": 1},
        examples=(example, added),
        warnings=(f"blank target: {new}",),
    )
    given = {"keys": (key,), "kinds": (kind,), "samples": samples, "place": "m.yaml:1"}
    return DatasetChange(name=name, **{"status": "changed", **given, **more})


def diff_of(*changes: DatasetChange, **more: Any) -> CatalogDiff:
    return CatalogDiff(base="main (1234567)", head="work tree", changes=changes, **more)


def untrusted_diff(text: str) -> CatalogDiff:
    """Make a diff with an untrusted text wherever one can be."""
    problem = Problem(message=text, file=text, line=1)
    new = DatasetChange(
        name=text, status="added", facts={"description": origin("description", text)}, place=text
    )
    renamed = DatasetChange(name=text, status="renamed", old_name=text, place=text)
    inherited = replace(change(text, text, text), inherited=(InheritedChange(text, text),))
    filler = [change(f"filler-{n}", "a", "b") for n in range(6)]
    return CatalogDiff(
        base=text,
        head=text,
        changes=(inherited, new, renamed, *filler, inherited, new, renamed),
        shared=(
            KeyChange(key=text, kind="", old=None, new=origin(text, text), inherited_by=(text,)),
        ),
        reach=(NewReach("host", text, (text, text)), NewReach("permission", text, ())),
        base_problems=(problem,),
        not_compared=(text,),
    )
