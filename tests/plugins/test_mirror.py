"""`mirror`: copies of pinned files, where licences allow them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.invocation import Run, write
from tests.conftest import S3, Https

BODIES = {"/a.csv": b"input,target\nq,a\n", "/b.csv": b"input,target\nr,b\n"}
MORE = b"input,target\ns,c\n"
DATASETS = """\
datasets:
  free:
    description: Free.
    license: {{spdx: CC-BY-4.0, read-at: 'https://example.org/free'}}
    access: open
    source: {{type: csv, path: ['{url}/a.csv', '{url}/b.csv']}}
  gated: {{extends: free, access: {{gated: 'https://example.org/terms'}}}}
  silent: {{extends: free, license: {{none-stated: 2026-11-23, looked-at: 'https://example.org/s'}}}}
  owned: {{extends: free, license: LicenseRef-Ours}}
  unpinned: {{extends: free, limit: 1}}
  local: {{extends: free, source: {{path: qa.csv}}}}
  twice: {{extends: free, source: {{path: ['{url}/a.csv', '{url}/more/a.csv']}}}}
"""


@pytest.fixture
def catalog(own: Path, https: Https, run: Run) -> Path:
    (own / "m" / "qa.yaml").unlink()
    index = own / "datasets.yaml"
    index.write_text(index.read_text(encoding="utf-8") + "hosts: [localhost]\n", encoding="utf-8")
    for path, body in BODIES.items():
        https.put(path, body)
    https.put("/more/a.csv", MORE)
    (own / "qa.csv").write_bytes(MORE)
    write(own, "a", DATASETS.format(url=https.url))
    assert run("lock", "free", "gated", "silent", "owned", "local", "twice").code == 0
    return own


def test_copies_each_file_once_and_prints_the_mirrors(
    catalog: Path, tmp_path: Path, run: Run
) -> None:
    to = tmp_path / "copies, all"
    result = run("mirror", "free", "--out", str(to))
    assert (result.code, result.lines) == (
        0,
        [
            "free:  # 2 files copied, 0 there before",
            "  source:",
            f"    mirrors: ['{to.as_posix()}/free/']",
        ],
    )
    found = {path.name: path.read_bytes() for path in (to / "free").iterdir()}
    assert "CC-BY-4.0" in found.pop("NOTICE").decode()
    assert found == {name[1:]: body for name, body in BODIES.items()}
    (again,) = json.loads(run("mirror", "free", "--out", str(to), "--json").out)
    assert (again["copied"], again["present"]) == ([], ["a.csv", "b.csv"])
    for other in (b"other", b"input,target\nq,b\n"):
        (to / "free" / "a.csv").write_bytes(other)
        result = run("mirror", "free", "--out", str(to))
        assert result.code == 1
        assert "free/a.csv: is there with other bytes" in result.err


def test_copies_to_a_bucket(catalog: Path, s3: S3, run: Run) -> None:
    s3.bucket("ours")
    assert run("mirror", "free", "--out", "s3://ours/copies").code == 0
    again = run("mirror", "free", "--out", "s3://ours/copies")
    assert again.lines[0] == "free:  # 0 files copied, 2 there before"
    result = run("mirror", "free", "--out", "s3://absent/copies")
    assert result.code == 1
    assert "s3://absent/copies/free/: can't be written" in result.err


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("dropbox://ours", "can't open dropbox:// (DropboxFileSystem requires "),
        ("nothing://ours", "can't open nothing:// (Protocol not known: nothing)"),
        ("nothing://me:s3cret@ours", "can't open nothing:// (Protocol not known: nothing)"),
        ("/dev/null", "[Errno 20] Not a directory: '/dev/null/free'"),
    ],
)
def test_place_that_can_t_be_written_is_named(to: str, why: str, catalog: Path, run: Run) -> None:
    result = run("mirror", "free", "--out", to)
    assert result.code == 1
    shown = to.replace("me:s3cret@", "")
    assert result.err.startswith(f"error: {shown}/free/: can't be written: {why}")


def test_home_folder_is_that_of_the_user(
    catalog: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (
        run("mirror", "free", "--out", "~/copies").lines[-1].endswith(f"{tmp_path}/copies/free/]")
    )
    assert (tmp_path / "copies" / "free" / "a.csv").is_file()
    assert run("mirror", "free", "--out", "").code == 2


def test_refuses_what_may_not_be_copied(catalog: Path, tmp_path: Path, run: Run) -> None:
    names = ("gated", "silent", "owned", "unpinned", "local")
    result = run("mirror", *names, "--out", str(tmp_path / "copies"))
    assert result.code == 1
    assert not (tmp_path / "copies").exists()
    reasons = [
        "gated: not copied: access is gated: whoever wants it accepts the terms at",
        "silent: not copied: no license is known",
        "owned: not copied: its license is LicenseRef-Ours",
        "unpinned: not copied: its bytes are not verified (`registry lock unpinned` pins them)",
        "local: not copied: all of its files are in the catalog",
    ]
    assert [reason for reason in reasons if reason not in result.err] == []
    text = (catalog / "m" / "a.yaml").read_text(encoding="utf-8")
    write(catalog, "a", text.replace("Free.\n", "Free.\n    auto_id: true\n"))
    stale = run("mirror", "free", "owned", "--out", str(tmp_path / "copies"))
    assert "free: not copied: datasets.lock pins it for an older manifest: " in stale.err
    assert reasons[2] in stale.err, "it stops no other"
    write(catalog, "a", text)
    twice = run("mirror", "twice", "--out", str(tmp_path / "copies"))
    assert (twice.code, twice.err.endswith("have the same file name\n")) == (1, True)
