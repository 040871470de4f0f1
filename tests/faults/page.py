"""The table of docs/explanation/reliability.md, from the tests beside this file: `python -m tests.faults.page`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["FAULTS", "PAGE", "FaultTests", "files_by_fault", "with_table"]

_FOLDER = Path(__file__).parent
PAGE = _FOLDER.parents[1] / "docs" / "explanation" / "reliability.md"
_MEASURED = "Measured: "
_BEGIN, _END = "<!-- table: -->\n", "<!-- :table -->\n"

FAULTS: Mapping[int, str] = {
    1: "several cold processes at once",
    2: "file locks that do nothing",
    3: "`kill -9` at any change of a file",
    4: "what killed processes left, and their locks",
    5: "a full disk",
    6: "a disk that fails to write",
    7: "damage in the cache",
    8: "a flipped byte on the way",
    9: "a body that ends too early",
    10: "a reset connection",
    11: "429 and 503 with `Retry-After`",
    12: "500, 502, 504, a few times or always",
    13: "a server that is silent, or slow",
    14: "a server that ignores `Range`",
    15: "S3: SlowDown",
    16: "S3: ExpiredToken, AccessDenied",
    17: "bytes or samples that are not the pinned ones",
    18: "a source that changes under its name",
    19: "a file that changes while it is read",
    20: "a repository that is gone, gated or offline",
    21: "a misspelt revision, split or column",
    22: "a read-only cache",
    23: "a second user, and any umask",
    24: "a cache that is cleared under its readers",
    25: "a symbolic link at a temporary path",
    26: "names of files that lead elsewhere, or collide",
    27: "hostile archives",
    28: "a YAML alias bomb",
    29: "YAML that parsers disagree on",
    30: "locations that manifests may not name",
    31: "an endpoint at a foreign host",
    32: "secrets in locations",
    33: "a dataset that is a script",
    34: "odd CSV",
    35: "odd JSON",
    36: "other content than expected",
    37: "a library that changes its order",
    38: "wrong clocks",
}
"""What can go wrong, by its number."""


class FaultTests(NamedTuple):
    """What the docstring of a file of tests says."""

    name: str
    promise: str
    """Its first paragraph."""
    measured: str
    """What follows `Measured:` in another paragraph; most have none."""


def files_by_fault() -> dict[int, list[FaultTests]]:
    """Return the files of tests, by the number of their fault."""
    found: dict[int, list[FaultTests]] = {}
    for path in sorted(_FOLDER.glob("test_*.py")):
        name = re.match(r"test_fault_(\d\d)_", path.name)
        assert name is not None, f"{path.name} has no number of a fault"
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        promise, *others = (" ".join(part.split()) for part in docstring.split("\n\n"))
        measured = [part.removeprefix(_MEASURED) for part in others if part.startswith(_MEASURED)]
        found.setdefault(int(name[1]), []).append(
            FaultTests(path.name, promise, " ".join(measured))
        )
    return found


def with_table(page: str) -> str:
    """Return the page with its table brought up to date."""
    lines = ["| | fault | promise | tests | measured |\n", "|---|---|---|---|---|\n"]
    for number, tests in sorted(files_by_fault().items()):
        promises = " ".join(one.promise for one in tests)
        names = ", ".join(f"`{one.name}`" for one in tests)
        measured = " ".join(one.measured for one in tests if one.measured)
        lines.append(f"| {number} | {FAULTS[number]} | {promises} | {names} | {measured} |\n")
    before, after = page.partition(_BEGIN)[0], page.partition(_END)[2]
    return "".join([before, _BEGIN, *lines, _END, after])


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
