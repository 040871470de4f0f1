"""Attack 6: what follows `?` and `#` in a URL, or is before its host, is in no output and no file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git_repository import GitRepository
from tests.security.audit import run_audited
from tests.servers.recorder import Recorder

QUERY, FRAGMENT, LATER = "plantedQuery", "plantedFragment", "plantedLater"
VERBS = [
    *("sync", "sync --json", "lock", "lock --check", "lock --upgrade", "verify", "verify --json"),
    *("preview d", "preview d --json", "show d", "show d --json", "show d --call", "list --json"),
    *("show d --origin", "show d --origin --json", "cache list", "preview gone", "sync gone"),
    *("validate", "validate --format json", "validate --format sarif"),
    *("diff HEAD", "diff HEAD --json", "diff HEAD --format markdown"),
    "diff HEAD --build --format markdown",
]


@pytest.fixture(scope="module")
def server() -> Iterator[Recorder]:
    with Recorder() as server:
        server.pages["/gone.csv?x=plantedQuery"] = None
        yield server


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, server: Recorder) -> Path:
    folder = tmp_path_factory.mktemp("redaction") / "checkout"
    base = f"""\
datasets:
  d:
    description: Questions.
    source: {{type: csv, path: '{server.url("/d.csv")}?x={QUERY}#{FRAGMENT}'}}
    fields: {{input: q, target: a}}
  gone:
    source: {{type: csv, path: ['{server.url("/gone.csv")}?x={QUERY}#{FRAGMENT}', '{server.url("/2.csv")}#{FRAGMENT}', '{server.url("")}?{QUERY}']}}
"""
    index = "version: 1\ninclude: [m.yaml]\n"
    GitRepository.make(folder, {"datasets.yaml": index, "m.yaml": base})
    head = base.replace(QUERY, LATER, 1).replace("Questions.", "Other questions.")
    (folder / "m.yaml").write_text(head)
    return folder


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_shows_or_keeps_it(checkout: Path, verb: str) -> None:
    environment = {"REGISTRY_CACHE_DIR": str(checkout.parent / "cache")}
    found = run_audited(verb.split(), folder=checkout, environment=environment)
    for planted in (QUERY, FRAGMENT, LATER):
        assert planted not in found.text
        for file in [*checkout.parent.glob("cache/**/*"), *checkout.glob("*.lock")]:
            assert not file.is_file() or planted.encode() not in file.read_bytes(), file
