"""The page docs/explanation/evidence.md, generated from the rows: `python -m tests.evidence.page`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.evidence.rows import ENOUGH, LEVELS, REPOSITORY, Row, read_families

__all__ = ["PAGE", "evidence_page"]

PAGE = REPOSITORY / "docs" / "explanation" / "evidence.md"

_HEAD = """# Evidence

What shows that each dataset of the built-in catalog gives the right samples: the strongest evidence
that could be had. Generated from `tests/evidence/*.yaml` by `python -m tests.evidence.page`.

| evidence | what it means | datasets |
|---|---|---|
"""

_MEANING = {
    "whole-file": "the files that the manifest names, built and compared sample by sample with the"
    " code of others; where others have none, with a plain reading of ours in Python"
    " (`tests.evidence.plain_peers`), which can share a misunderstanding with the manifest",
    "real-records": "real records from another place, such as the benchmark's own repository or an"
    f" earlier version, {ENOUGH} samples or more, built and compared the same way",
    "few": f"the same with fewer than {ENOUGH}: a column or a case may be missing in them",
    "worked-example": "a record and its sample, worked out by hand",
    "own-records": "made-up records, built and compared with the code of others where the row"
    " names some (`make parity`)",
    "none": "no evidence",
}

_SELECTED = re.compile("selected from ")

_ABOUT = """
`tests/evidence/*.yaml` has the origin, sha256 and number of rows of each file, the digest of the
samples in order, all files, and every field that differs on purpose, with
notes on where a file comes from. The files are not in this repository.
`tests/evidence/test_replay.py` builds again each one that is present in `../shared/data`,
`../shared/data/real` or the folder `REGISTRY_EVIDENCE_DATA`, there also as `DATASET/NAME`, and
compares the samples with the digest. `python -m tests.evidence.record --help` tells how to add one.
"""


def evidence_page() -> str:
    """Return the page as Markdown."""
    families = read_families()
    counts = Counter(row.level for rows in families.values() for row in rows.values())
    lines = [f"| {level} | {_MEANING[level]} | {counts[level]} |\n" for level in LEVELS]
    lines.append(f"| total | | {counts.total()} |\n")
    return "".join([_HEAD, *lines, _ABOUT, *_tables(families)])


def _tables(families: Mapping[str, Mapping[str, Row]]) -> Iterator[str]:
    """Yield a table for each family, with one row for datasets of which the same is to be said."""
    for family, rows in families.items():
        alike: dict[tuple[str, ...], list[tuple[str, Row]]] = {}
        selected = [name for name, row in rows.items() if _SELECTED.match(row.note)]
        for name, row in rows.items():
            if name not in selected:
                alike.setdefault(_said(row), []).append((name, row))
        yield f"\n## {family}\n\n"
        yield "| datasets, with the samples compared | evidence | from | compared with | differs on purpose |\n"
        yield "|---|---|---|---|---|\n"
        for (level, _repositories, against, notes), listed in alike.items():
            names = ", ".join(_named(name, row) for name, row in listed)
            yield f"| {names} | {level} | {_origins(listed)} | {against} | {notes} |\n"
        if selected:
            names = ", ".join(_named(name, rows[name]) for name in selected)
            yield f"\nSelected from these, and compared with the same files: {names}.\n"


def _said(row: Row) -> tuple[str, ...]:
    """Return what a row of the table says besides names, numbers and files."""
    repositories = sorted({file.origin.partition(":")[2].partition(":")[0] for file in row.files})
    notes = "; ".join(row.differs)
    against = f"`{row.against}`" if row.against else ""
    return row.level, " ".join(repositories), against, notes.replace("|", "\\|")


def _named(name: str, row: Row) -> str:
    return f"`{name}` ({row.samples:,})" if row.samples else f"`{name}`"


def _origins(listed: list[tuple[str, Row]]) -> str:
    """Return the files; of more than two those of the first dataset, as the others lie beside it."""
    origins = dict.fromkeys(_short_origin(file.origin) for _, row in listed for file in row.files)
    first = list(origins)[:2]
    more = len(origins) - len(first)
    return "<br>".join(first) + (f"<br>and {more} more" if more else "")


def _short_origin(origin: str) -> str:
    """Return the origin with seven digits of the commit."""
    short = re.sub(r"@([0-9a-f]{7})[0-9a-f]{33}:", r"@\1 ", origin)
    return f"`{short}`"


if __name__ == "__main__":
    Path(PAGE).write_text(evidence_page(), encoding="utf-8")
