"""The tables of the page beside those of cases: cost of operations, and of imports."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

__all__ = ["imports_table", "median_imports", "operations_table", "packages"]

_WAYS = {"alone": "alone", "batch": "in a batch"}
_SHOWN = 12
"""Packages of the imports table; the others are summed up."""


def operations_table(operations: Mapping[str, Mapping[str, float | None]]) -> str:
    """Return the µs per record of each operation in each way."""
    rows = [
        f"| {name} | {' | '.join(_micro(costs[way]) for way in _WAYS)} |"
        for name, costs in operations.items()
    ]
    return "\n".join([_head(["", *(f"µs {name}" for name in _WAYS.values())]), *rows])


def _micro(cost: float | None) -> str:
    return "" if cost is None else f"{cost * 1e6:.2f}"


def _head(names: Sequence[str]) -> str:
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"


def packages(trace: str) -> dict[str, float]:
    """Return the milliseconds that importing the modules of each package takes by itself.

    Args:
        trace: What `python -X importtime` writes: `import time: SELF | CUMULATIVE | MODULE` lines.
    """
    found: Counter[str] = Counter()
    for line in trace.splitlines():
        own, _, rest = line.removeprefix("import time:").partition("|")
        if line.startswith("import time:") and own.strip().isdigit():
            found[rest.rpartition("|")[2].strip().partition(".")[0]] += int(own)
    return {name: own / 1000 for name, own in found.items()}


def median_imports(traces: Sequence[str]) -> dict[str, float]:
    """Return the median milliseconds of each package over several processes."""
    runs = [packages(trace) for trace in traces]
    return {name: statistics.median(run.get(name, 0.0) for run in runs) for name in runs[0]}


def imports_table(imports: Mapping[str, float]) -> str:
    """Return the packages that take the longest to import, and the sum of the others."""
    ordered = sorted(imports.items(), key=lambda item: -item[1])
    rows = [f"| {name} | {taken:.1f} |" for name, taken in ordered[:_SHOWN]]
    others = sum(taken for _, taken in ordered[_SHOWN:])
    rows.append(f"| {len(ordered[_SHOWN:])} others, most of Python's library | {others:.1f} |")
    rows.append(f"| all | {sum(imports.values()):.1f} |")
    return "\n".join([_head(["package", "ms"]), *rows])
