"""Compare a dataset, built from a real file, with the code of others, and write its row.

Run it from the root of the repository in the environment that `make parity` makes:

    .venv-parity/bin/python -m tests.evidence.record gsm8k test.jsonl --whole \\
        --origin github:openai/grade-school-math@COMMIT:grade_school_math/data/test.jsonl
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from registry.base.locations import Location
from registry.catalog.catalog import Catalog
from registry.samples.digest import digest_samples
from tests.evidence.conversions import BY_FILE, CONVERSIONS
from tests.evidence.peers import PEERS
from tests.evidence.plain_peers import TABLE
from tests.evidence.replay import build, converted, decode, named_paths
from tests.evidence.repositories import Files, raw_parts
from tests.evidence.rows import REPOSITORY, File, Row, find_file, read_rows, sha256_of, write_rows
from tests.parity.cases import differences

__all__ = ["record", "record_selection"]


def record(
    name: str,
    files: Sequence[Path],
    origins: Sequence[str],
    *,
    whole: bool = False,
    convert: str = "",
    note: str = "",
    peer: bool = True,
) -> Row:
    """Compare all samples of a dataset with its peer, and write the row.

    Args:
        name: The dataset.
        files: Its real files, in the order of the source.
        origins: Where each file is from, as `File.origin`.
        whole: Whether this is the file that the manifest names; then `expect.samples` holds too.
        convert: A name in CONVERSIONS.
        note: What a reader should know.
        peer: Whether others have code for this dataset; if not, the note says so.

    Raises:
        AssertionError: a difference that PEERS does not document.
    """
    catalog = Catalog.open(REPOSITORY / "datasets.yaml")
    found: set[str] = set()
    with TemporaryDirectory() as folder:
        file = converted(files, convert, Path(folder))
        dataset = build(catalog, name, file, Path(folder), whole=whole)
        digest = digest_samples(dataset)
        if peer:
            plain = build(catalog, name, file, Path(folder), whole=whole, view=False)
            records = _records(catalog, name, file)
            found = differences(PEERS[name], plain, PEERS[name].samples(records))
    row = Row(
        grade="whole-file" if whole else "real-records",
        files=tuple(_file(path, origin) for path, origin in zip(files, origins, strict=True)),
        convert=convert,
        samples=digest.samples,
        digest=digest.ordered,
        against=PEERS[name].peer() if peer else "",
        differs=tuple(f"{field}: {PEERS[name].differs[field].reason}" for field in sorted(found)),
        note=note,
    )
    _write(catalog, name, row, files)
    return row


def _records(catalog: Catalog, name: str, file: Path | Sequence[Path]) -> list[dict[str, Any]]:
    """Return the records of the files, with the columns that their sources add."""
    if isinstance(file, Path):
        return decode(file)
    left, spec = iter(file), catalog[name]
    records = [
        {**one, **source.columns}
        for source in spec.sources
        for _ in source.paths()
        for one in decode(next(left))
    ]
    # The table of `join` comes last; readings look their records up in it.
    join, table = spec.join, [one for path in left for one in decode(path)]
    if join is None or not table:
        return records
    if join.on is None:  # row by row
        return [{**one, join.into: row} for one, row in zip(records, table, strict=True)]
    return [{**one, TABLE: table} for one in records]


def record_whole(name: str, repositories: Path, note: str, *, peer: bool) -> Row:
    """Write the row of a dataset whose files are in git repositories that are at hand.

    Args:
        name: The dataset; its manifest names each file by its commit.
        repositories: As of `tests.evidence.lock.Files`.
        note: As for `record`.
        peer: As for `record`.
    """
    catalog = Catalog.open(REPOSITORY / "datasets.yaml")
    urls = [path for path in named_paths(catalog[name]) if not Location(path).is_local]
    parts = [raw_parts(url) for url in urls]
    is_unique = len({part.path.rpartition("/")[2] for part in parts}) == len(parts)
    folder = Path(os.environ["REGISTRY_EVIDENCE_DATA"], name)
    files = []
    for url, part in zip(urls, parts, strict=True):
        data = Files({}, repositories, ()).find(Location(url).file)
        if data is None:
            raise FileNotFoundError(url)
        files.append(folder / (part.path.rpartition("/")[2] if is_unique else part.path))
        files[-1].parent.mkdir(parents=True, exist_ok=True)
        files[-1].write_bytes(data)
    origins = [part.origin for part in parts]
    return record(name, files, origins, whole=True, note=note, peer=peer)


def record_selection(name: str, whole: str) -> Row:
    """Write the row of a dataset that is a selection of samples of another one with a row."""
    catalog, base = Catalog.open(REPOSITORY / "datasets.yaml"), read_rows()[whole]
    files = [path for one in base.files if (path := find_file(whole, one))]
    with TemporaryDirectory() as folder:
        file = converted(files, base.convert, Path(folder))
        is_whole = base.grade == "whole-file"
        dataset = build(catalog, name, file, Path(folder), whole=is_whole)
        digest = digest_samples(dataset)
    row = Row(
        grade=base.grade,
        files=base.files,
        convert=base.convert,
        samples=digest.samples,
        digest=digest.ordered,
        against=base.against,
        differs=base.differs,
        note=f"selected from {whole}",
    )
    _write(catalog, name, row, files)
    return row


def _file(path: Path, origin: str) -> File:
    own = os.environ.get("REGISTRY_EVIDENCE_DATA", "/dev/null")
    is_own = path.is_relative_to(own)
    name = "/".join(path.relative_to(own).parts[1:]) if is_own else path.name
    return File(
        name=name,
        origin=origin,
        sha256=sha256_of(path),
        bytes=path.stat().st_size,
        rows=len(decode(path)),
    )


def _write(catalog: Catalog, name: str, row: Row, files: Sequence[Path]) -> None:
    """Write a row; copy its files to the folder that REGISTRY_EVIDENCE_DATA names, if any."""
    write_rows(Path(catalog.entries[name].document.file).stem, {name: row})
    folder = os.environ.get("REGISTRY_EVIDENCE_DATA")
    for path, file in zip(files, row.files, strict=True):
        if folder and find_file(name, file) is None:
            kept = Path(folder, name, file.name)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, kept)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--origin", action="append", default=[], help="of each file, in order")
    parser.add_argument("--whole", action="store_true", help="the file that the manifest names")
    parser.add_argument("--convert", default="", choices=["", *CONVERSIONS, *BY_FILE])
    parser.add_argument("--note", default="")
    parser.add_argument(
        "--repositories", type=Path, help="a folder of bare repositories, in place of files"
    )
    parser.add_argument("--no-peer", action="store_true", help="others have no code for it")
    parser.add_argument("--selection-of", help="a dataset with a row, in place of files")
    given = parser.parse_args()
    if given.repositories:
        row = record_whole(given.name, given.repositories, given.note, peer=not given.no_peer)
    elif given.selection_of:
        row = record_selection(given.name, given.selection_of)
    else:
        row = record(
            given.name,
            given.files,
            given.origin,
            whole=given.whole,
            convert=given.convert,
            note=given.note,
            peer=not given.no_peer,
        )
    sys.stdout.write(f"{given.name}: {row.grade}, {row.samples:,} samples, {row.digest}\n")


if __name__ == "__main__":
    main()
