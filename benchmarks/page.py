"""Put the results into docs/performance.md, each part between two markers, and draw the plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks import distribution
from benchmarks.distribution import Quantile, distributions, ratios
from benchmarks.plot import plot
from benchmarks.report import Report, markdown
from benchmarks.tables import imports_table, operations_table

__all__ = ["PICTURE", "with_part", "write_page"]

PICTURE = "performance-mappings.svg"
_END = "<!-- end -->"


def write_page(documents: Path, report: Report, order: Sequence[str]) -> None:
    """Replace the measured parts of the page, and the image of the distribution."""
    page = documents / "performance.md"
    text = page.read_text(encoding="utf-8")
    for name, part in {
        "table": markdown(report, order),
        "mappings": distribution.markdown(report, PICTURE),
        "operations": operations_table(report.get("operations", {})),
        "imports": imports_table(report.get("imports", {})),
    }.items():
        text = with_part(text, name, part)
    page.write_text(text, encoding="utf-8")
    if series := _series(report):
        (documents / PICTURE).write_text(plot(series), encoding="utf-8")


def _series(report: Report) -> dict[str, tuple[list[float], tuple[Quantile, ...]]]:
    goals = {case.name: case.goals for case in distributions(0, 0)}
    return {
        f"{case['rows']:,} records each": (
            list(ratios(case["mappings"]).values()),
            goals[case["name"]],
        )
        for case in report["cases"]
        if "mappings" in case
    }


def with_part(document: str, name: str, text: str) -> str:
    """Return a document with the text after the marker of a part replaced.

    Raises:
        ValueError: the document lacks a marker.
    """
    begin = f"<!-- {name}: written by `make bench BENCH=--write-docs` -->"
    before, begin_found, rest = document.partition(begin)
    _, end_found, after = rest.partition(_END)
    if not begin_found or not end_found:
        raise ValueError(f"the document needs the lines {begin} and {_END}")
    return f"{before}{begin}\n\n{text}\n\n{_END}{after}"
