"""Review flow 11: data in an archive was a change each time, and named the temporary folder."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tests.git_repository import git
from tests.security.pull_request import PullRequest

MANIFEST = (
    "datasets:\n  d:\n    description: {0}\n"
    "    source: {{type: csv, path: 'zip://x.csv::data/x.zip'}}\n"
    "    fields: {{input: q, target: a}}\n"
)


def test_an_unchanged_archive_is_no_difference(tmp_path: Path) -> None:
    request = PullRequest.make(
        tmp_path,
        {
            "datasets.yaml": "version: 1\ninclude: [registry/*.yaml]\n",
            "registry/qa.yaml": MANIFEST.format("One."),
        },
        {"registry/data/notes.txt": "An archive."},
    )
    with zipfile.ZipFile(request.folder / "registry" / "data" / "x.zip", "w") as archive:
        archive.writestr("x.csv", "q,a\n1,2\n")
    request.repository.commit()
    git(request.folder, "branch", "--force", "main")
    request.push({"registry/qa.yaml": MANIFEST.format("Two.")})
    done = request.run("diff", "main", "--build", "--offline")
    assert "~ d: documentation only" in done.out
    assert "source" not in done.out
    assert "registry-diff-" not in done.out + done.err
