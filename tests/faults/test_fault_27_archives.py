"""Nothing in an archive leads out of it or unpacks without bound, and nothing is unpacked to disk."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

from tests.faults.process import datasets_of, registry, write_catalog

ROW = b'{"input": "inside", "target": "1"}\n'
SECRET = b'{"input": "outside", "target": "1"}\n'
ZEROS = b" " * (1 << 20)
LIMITS = "limits: {unpacked_bytes: 2MB, line_bytes: 1MB, document_bytes: 1MB}\n"


def put_zip(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def put_tar(path: Path) -> None:
    """Write members that name files above, and links that lead to one."""
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo("../up.jsonl")
        info.size = len(ROW)
        archive.addfile(info, io.BytesIO(ROW))
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE)):
            info = tarfile.TarInfo(f"{name}.jsonl")
            info.type, info.linkname = kind, "../secret.jsonl"
            archive.addfile(info)


def test_members_that_lead_out(tmp_path: Path) -> None:
    (tmp_path / "secret.jsonl").write_bytes(SECRET)
    folder = tmp_path / "catalog"
    folder.mkdir()
    put_zip(folder / "a.zip", {"../up.jsonl": ROW, "/abs.jsonl": ROW, "..\\back.jsonl": ROW})
    put_tar(folder / "a.tar")
    members = {
        "up": "zip://../up.jsonl::a.zip",
        "abs": "zip:///abs.jsonl::a.zip",
        "back": "zip://..\\back.jsonl::a.zip",
        "all": "zip://**::a.zip",
        "tar-up": "tar://../up.jsonl::a.tar",
        "link": "tar://link.jsonl::a.tar",
        "hard": "tar://hard.jsonl::a.tar",
        "secret": "zip://../secret.jsonl::a.zip",
    }
    datasets = datasets_of("json", {name: f"'{path}'" for name, path in members.items()})
    before = set(tmp_path.rglob("*"))
    ended = registry(write_catalog(folder, datasets), "sync")
    assert ended.code == 1
    for name in ("link", "hard", "secret"):
        assert f"error: {name}: " in ended.err
    new = {path for path in set(tmp_path.rglob("*")) - before if "cache" not in path.parts}
    assert {path.name for path in new} <= {"datasets.yaml"}
    # What is read is in the archive: a name is no place on the disk.
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("cache/v*/**/*.arrow"))
    assert b"outside" not in stored


def test_bombs(tmp_path: Path) -> None:
    put_zip(tmp_path / "rows.zip", {"d.jsonl": ROW * 90_000, "line.jsonl": ZEROS * 3})
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(ROW * 90_000))
    (tmp_path / "line.jsonl.gz").write_bytes(gzip.compress(ZEROS * 3))
    (tmp_path / "all.json.gz").write_bytes(gzip.compress(b"[" + ZEROS * 3 + b"]"))
    assert (tmp_path / "rows.zip").stat().st_size * 100 < 3_000_000
    sources = {
        "zip": ("zip://d.jsonl::rows.zip", "to more than 2,000,000"),
        "zip-line": ("zip://line.jsonl::rows.zip", "to more than 2,000,000"),
        "gz": ("rows.jsonl.gz", "to more than 2,000,000"),
        "gz-line": ("line.jsonl.gz", "the line has more than 1,000,000 bytes"),
        "document": ("all.json.gz", "the document has more than 1,000,000 bytes"),
    }
    datasets = datasets_of("json", {name: f"'{path}'" for name, (path, _) in sources.items()})
    ended = registry(write_catalog(tmp_path, datasets, index=LIMITS), "sync")
    assert ended.code == 1
    for name, (_, message) in sources.items():
        (error,) = [one for one in ended.err.splitlines() if one.startswith(f"error: {name}: ")]
        assert message in error
        assert "in the root index" in error
    assert not list(tmp_path.glob("cache/v*/samples/*"))
