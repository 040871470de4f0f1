"""The page docs/reference/datasets.md, generated from `gaps.yaml`: `python -m tests.gaps.page`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import yaml
from msgspec import Meta, Struct

from registry.base.conversion import convert
from tests.evidence.rows import REPOSITORY

__all__ = ["PAGE", "Family", "Gaps", "datasets_page", "read_gaps"]

PAGE = REPOSITORY / "docs" / "reference" / "datasets.md"

_HEAD = """# Datasets

`registry list` shows the built-in catalog, and each manifest in `registry/` names its
source. [evidence.md](../explanation/evidence.md) says what shows that their samples are right. Some datasets are
files of the package inspect_evals, so they need `pip install inspect-evals`. This page says what is
not there, and why; it is generated from `tests/gaps/gaps.yaml` by `python -m tests.gaps.page`.

## Left out, and why

The following public datasets are not in the catalog, because a manifest can't describe them or their
records can't be downloaded.

"""

_EVALS = """
## Evaluations of inspect_evals without a dataset here

inspect_evals 0.26.0 has 130 evaluations. These have no dataset in the catalog:

"""

_FAMILIES = """
## Families of datasets that people look for

Of a list of {total} families that lm-evaluation-harness, lighteval, HELM and leaderboards use and that were
not in the catalog in November 2026, {present} are there now: {names}.

The others are not:

"""

_FLOATING = """
## Built-in datasets that nothing pins

Each built-in dataset names a commit or a sha256 for its bytes, or the lockfile has them, but for these:

"""

_Text = Annotated[str, Meta(min_length=1)]


class Family(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Datasets that belong together, which the catalog has or lacks."""

    title: _Text
    names: Annotated[tuple[_Text, ...], Meta(min_length=1)]
    """Patterns of the names of datasets and groups."""
    reason: str = ""
    """Why there are none; empty if there are."""

    def found(self, names: Iterable[str]) -> list[str]:
        """Return the names that belong to it."""
        return [name for name in names if any(fnmatchcase(name, one) for one in self.names)]


class Gaps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the catalog lacks, each with its reason in a few words."""

    floating: dict[_Text, _Text]
    left_out: dict[_Text, _Text]
    inspect_evals: dict[_Text, _Text]
    families: tuple[Family, ...]


def read_gaps() -> Gaps:
    """Return the content of `gaps.yaml`."""
    path = Path(__file__).with_name("gaps.yaml")
    return convert(yaml.safe_load(path.read_bytes()), Gaps)


def datasets_page(gaps: Gaps) -> str:
    """Return the page as Markdown."""
    present = [family for family in gaps.families if not family.reason]
    shown = (f"{one.title} (`{'`, `'.join(one.names)}`)" for one in present)
    missing = {one.title: one.reason for one in gaps.families if one.reason}
    families = _FAMILIES.format(
        total=len(gaps.families), present=len(present), names=", ".join(shown)
    )
    return "".join(
        [
            _HEAD,
            *_table("name", gaps.left_out, code=True),
            _EVALS,
            *_table("evaluation", gaps.inspect_evals, code=True),
            families,
            *_table("family", missing, code=False),
            _FLOATING,
            *_table("dataset", gaps.floating, code=True),
        ]
    )


def _table(title: str, rows: dict[str, str], *, code: bool) -> Iterator[str]:
    yield f"| {title} | reason |\n|---|---|\n"
    for name, reason in rows.items():
        yield f"| {f'`{name}`' if code else name} | {reason} |\n"


if __name__ == "__main__":
    PAGE.write_text(datasets_page(read_gaps()), encoding="utf-8")
