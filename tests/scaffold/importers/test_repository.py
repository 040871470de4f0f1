"""The repository of a file: named, or found in the Hub's cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ManifestError
from registry.scaffold.importers.models import ImportOptions
from registry.scaffold.importers.repository import source_of_repository

COMMIT = "0123456789" * 4
CACHED = Path(f"/c/hub/datasets--acme--quiz/snapshots/{COMMIT}/eval.yaml")


@pytest.mark.parametrize(
    ("file", "options", "source"),
    [
        (CACHED, ImportOptions(), {"path": "acme/quiz", "revision": COMMIT}),
        (CACHED, ImportOptions(repository="a/b"), {"path": "a/b"}),
        (
            Path("eval.yaml"),
            ImportOptions(repository="./copy", revision="v1"),
            {"path": "./copy", "revision": "v1"},
        ),
    ],
)
def test_repository(file: Path, options: ImportOptions, source: dict[str, str]) -> None:
    assert source_of_repository(file, options) == {"type": "hf", **source}


def test_a_repository_is_not_guessed() -> None:
    with pytest.raises(ManifestError, match="add --repository OWNER/NAME"):
        source_of_repository(Path("eval.yaml"), ImportOptions())
