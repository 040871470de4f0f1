"""The table of formats: names, suffixes, and modules that exist."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from registry import get_dataset
from registry.errors import ExtensionError
from registry.plugins.export import formats
from registry.plugins.export.command import publish
from registry.plugins.export.formats import FORMATS, find_format, format_of_path
from tests.plugins.export.conftest import Opener


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_writer_and_is_found_by_its_suffix(name: str) -> None:
    kind = find_format(name)
    assert callable(kind.write)
    if kind.is_default:
        assert format_of_path(f"folder/x{kind.suffix}") is kind


# A suffix without a dot is the whole name of a file that only describes a source.
@pytest.mark.parametrize(
    "name", [row.name for row in FORMATS.values() if row.is_folder or row.suffix[:1] == "."]
)
@pytest.mark.parametrize("dataset", ["few", "chat"])
def test_bytes_do_not_depend_on_the_folder_or_the_cache(
    dataset: str, name: str, opened: Opener, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "lm-eval" or (dataset, name) == ("few", "fine-tuning"):
        dataset = "mcq"  # one has several targets, and the other conversations
    found = []
    for folder in ("one", "two"):
        (catalog / folder).mkdir()
        for path in catalog.glob("*.*"):
            shutil.copy(path, catalog / folder)
        monkeypatch.chdir(catalog / folder)
        monkeypatch.setenv("REGISTRY_CACHE_DIR", str(catalog / f"cache-{folder}"))
        if folder == "two":  # the first has only the first samples
            get_dataset(dataset, shuffle=False, limit=None)
        exported, kind = opened(dataset, shuffle=False, limit=2), find_format(name)
        files = publish(exported, kind, Path("out" if kind.is_folder else f"out{kind.suffix}"))
        found.append({path.name: path.read_bytes() for path in files})
    assert found[0] == found[1]


def test_a_plugin_that_is_no_format_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "extension", lambda kind, name: print)
    with pytest.raises(ExtensionError, match=r"'notes' is no registry\S+\.Format, but builtin_f"):
        find_format("notes")
