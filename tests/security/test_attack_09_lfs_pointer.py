"""Attack 9: a text that looks like a pointer of Git LFS hides an edit."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from tests.security.pull_request import PullRequest

RECORDS = "x,y\nx,y\nx,y\nq,a\nOne?,1\n"
MANIFEST = """\
version: 1
datasets:
  qa:
    source: {type: csv, path: qa.csv, skip_rows: 3}
    fields: {input: q, target: a}
"""


def pointer(data: str) -> str:
    """Return the pointer of Git LFS for a file with these bytes."""
    digest = sha256(data.encode()).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(data)}\n"


def review(tmp_path: Path, base: str, head: str) -> tuple[int, str]:
    files = {"datasets.yaml": MANIFEST, "qa.csv": base}
    done = PullRequest.make(tmp_path, files, {"qa.csv": head}).run("diff", "--build")
    return done.code, done.out


def test_pointer_before_records_hides_no_edit(tmp_path: Path) -> None:
    code, out = review(tmp_path, RECORDS, pointer(RECORDS) + "q,a\nOne?,2\n")
    assert code == 1
    assert "bytes.qa.csv: sha256:" in out
    assert "target: [-1-]{+2+}" in out


def test_pointer_in_place_of_the_records_hides_no_edit(tmp_path: Path) -> None:
    # It names the same bytes, but nothing replaces it by them.
    code, out = review(tmp_path, RECORDS, pointer(RECORDS))
    assert code == 1
    assert "bytes.qa.csv: sha256:" in out


def test_new_pointer_is_a_change_of_the_data_that_it_names(tmp_path: Path) -> None:
    code, out = review(tmp_path, pointer(RECORDS), pointer("other"))
    assert code == 1
    assert f"sha256:{sha256(b'other').hexdigest()[:12]}…" in out


def test_data_in_place_of_its_pointer_is_no_change(tmp_path: Path) -> None:
    request = PullRequest.make(
        tmp_path, {"datasets.yaml": MANIFEST, "qa.csv": pointer(RECORDS)}, {"README.md": "x"}
    )
    # As `git lfs pull` does.
    request.repository.write({"qa.csv": RECORDS})
    assert request.run("diff").code == 0
