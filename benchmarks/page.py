"""Put the results into docs/explanation/performance.md, each part between two markers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Report, markdown
from benchmarks.tables import imports_table
from benchmarks.whole_files import files_markdown

__all__ = ["with_part", "write_page"]

_END = "<!-- end -->"
_HEAD_LINES = 4
"""Lines of the table before its first case: the machine, an empty one, the names of columns."""


def write_page(documents: Path, report: Report, order: Sequence[str]) -> None:
    """Replace the measured parts of the page.

    What the report does not have stays as it is: parts, and on the same machine rows of the table.
    """
    page = documents / "performance.md"
    text = page.read_text(encoding="utf-8")
    for name, part in _parts(text, report, order).items():
        text = with_part(text, name, part)
    page.write_text(text, encoding="utf-8")


def _parts(document: str, report: Report, order: Sequence[str]) -> dict[str, str]:
    """Return the parts of the page that were measured."""
    parts = {}
    if report["cases"]:
        parts["table"] = _with_rows_of(_part(document, "table"), markdown(report, order), order)
    if any("files" in case for case in report["cases"]):
        parts["files"] = files_markdown(report)
    if "imports" in report:
        parts["imports"] = imports_table(report["imports"])
    return parts


def _with_rows_of(old: str, new: str, order: Sequence[str]) -> str:
    """Return a table with the rows of cases that only an older table of the same machine has."""
    if _machine(old) != _machine(new):
        return new
    rows = _rows_by_case(old) | _rows_by_case(new)
    head = new.splitlines()[:_HEAD_LINES]
    return "\n".join([*head, *(line for name in order for line in rows.get(name, ()))])


def _machine(table: str) -> str:
    return table.partition("\n")[0].partition(" on ")[2]


def _rows_by_case(table: str) -> dict[str, list[str]]:
    rows: dict[str, list[str]] = {}
    name = ""
    for line in table.splitlines()[_HEAD_LINES:]:
        # The further goals of a case have an empty first cell.
        name = line.split("|")[1].strip() or name
        rows.setdefault(name, []).append(line)
    return rows


def with_part(document: str, name: str, text: str) -> str:
    """Return a document with the text after the marker of a part replaced.

    Raises:
        ValueError: the document lacks a marker.
    """
    before, begin, _, after = _split(document, name)
    return f"{before}{begin}\n\n{text}\n\n{_END}{after}"


def _part(document: str, name: str) -> str:
    return _split(document, name)[2].strip("\n")


def _split(document: str, name: str) -> tuple[str, str, str, str]:
    """Return what is before a part, its marker, the part, and what is after its end."""
    begin = f"<!-- {name}: written by `make bench BENCH=--write-docs` -->"
    before, begin_found, rest = document.partition(begin)
    part, end_found, after = rest.partition(_END)
    if not begin_found or not end_found:
        raise ValueError(f"the document needs the lines {begin} and {_END}")
    return before, begin, part, after
