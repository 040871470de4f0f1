"""What samples depend on: rows for sources, for the files that samples name, and for code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from registry.base.locations import Location
from registry.base.materials import Material, Materials
from registry.boundary.boundary import Boundary
from registry.cache.cache import Cache
from registry.errors import LockError
from registry.load.load import load
from registry.load.materials import (
    check_named,
    code_materials,
    locked_sources,
    materials_of,
    named_differences,
)
from registry.manifest.models import DatasetSpec
from registry.manifest.resolve import spec_of_source
from registry.pipeline.execute import LoadResult
from registry.samples.digest import digest_samples
from registry.sources.pins import PinnedFile, Pins, SourceContext, SourcePin
from tests.git_repository import write_files
from tests.load.conftest import Spec

FOLDER = Path("/home/me/catalog")
COMMIT = "c" * 40


# --- sources and code ---


def rows(source: dict[str, str], *pins: SourcePin) -> tuple[Material, ...]:
    spec = DatasetSpec(name="d", folder=FOLDER, source=spec_of_source(source, FOLDER))
    return locked_sources(spec, Pins(pins))


def test_files_have_portable_locations_and_what_the_manifest_names() -> None:
    file = PinnedFile(
        Location("/home/me/catalog/d/a.csv"), "0" * 64, 3, requested="/home/me/catalog/d/*.csv"
    )
    found = rows({"type": "csv", "path": "d/*.csv"}, SourcePin({}, (file,)))
    row = Material(location="d/a.csv", requested="d/*.csv", size=3, sha256="0" * 64)
    assert found == (row,)


def test_repository_has_its_commit_and_branch() -> None:
    hub = {"type": "hf", "path": "o/n", "split": "test"}
    location, pinned = "hf://datasets/o/n", SourcePin({}, revision=COMMIT)
    assert rows(hub, pinned) == (Material(location=location, requested="HEAD", revision=COMMIT),)
    assert rows({**hub, "revision": COMMIT}, pinned) == (
        Material(location=location, revision=COMMIT),
    )


def test_equal_rows_are_written_once() -> None:
    file = PinnedFile(Location("/home/me/catalog/a.csv"), "0" * 64, 3)
    found = rows({"type": "csv", "path": "a.csv"}, SourcePin({}, (file, file)))
    assert len(found) == 1


def test_code_is_that_of_the_top_level_package(spec: Spec) -> None:
    ours = replace(spec(), mapper="ours.records:read")
    assert code_materials(ours, Pins((), code="sha256:1")) == {"ours": "sha256:1"}
    assert code_materials(spec(), Pins(())) == {}


# --- files that samples name ---

Opened = tuple[DatasetSpec, LoadResult, Materials, SourceContext]


@pytest.fixture
def opened(spec: Spec, cache: Cache) -> Opened:
    """A dataset with 60 pictures in one folder, a note, and a sandbox, and what it depends on."""
    folder = spec().folder
    write_files(folder / "img", {f"{number}.png": str(number) for number in range(60)})
    services = "services: {default: {image: python}}"
    write_files(folder, {"note.txt": "note", "compose.yaml": services})
    records = [
        {"q": str(n), "f": {"a": f"img/{n}.png", "b": "note.txt"}, "s": ["docker", "compose.yaml"]}
        for n in range(60)
    ]
    text = "".join(json.dumps(record) + "\n" for record in records)
    for path in folder.rglob("*"):  # older than a clock can confuse
        os.utime(path, (1e9, 1e9))
    made = spec(text, fields={"input": "q", "files": "f", "sandbox": "s"})
    boundary = Boundary(folders=(str(folder),))
    context = SourceContext(boundary=boundary, cache=cache)
    result = load(made, cache, boundary=boundary)
    digest = digest_samples(result.dataset.as_stored())
    return made, result, materials_of(made, result, digest, context), context


def test_many_files_of_a_folder_are_one_row(opened: Opened) -> None:
    _, result, found, _ = opened
    assert [one.location for one in found.files] == ["note.txt", "img/"]
    assert [one.size for one in found.files] == [4, 110]
    assert [one.location for one in found.sandbox] == ["compose.yaml"]
    assert found.images == ("python",)
    assert found.samples_id == digest_samples(result.dataset.as_stored()).samples_id


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("img/7.png", "other", "img/, which its samples name: not as pinned"),
        ("note.txt", "evil", "note.txt, which its samples name: not as pinned"),
        ("note.txt", None, "note.txt, which its samples name: pinned, but missing"),
        ("compose.yaml", "services: {}", "compose.yaml, of its sandbox: not as pinned"),
        ("compose.yaml", "services: {a: {env_file: x}}", "x, of its sandbox: not pinned"),
        ("compose.yaml", "services: {a: {image: evil}}", r"images is \['python'\] in its pin"),
    ],
)
def test_changed_file_is_refused(opened: Opened, name: str, text: str | None, message: str) -> None:
    spec, result, pinned, context = opened
    (spec.folder / "x").write_text("")
    check_named(spec, result, pinned, context)
    path = spec.folder / name
    path.unlink() if text is None else path.write_text(text)
    for _ in range(2):  # nothing is remembered of what differs
        with pytest.raises(LockError, match=f"^d: .*{message}"):
            check_named(spec, result, pinned, context)


def test_same_state_is_checked_once(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, result, pinned, context = opened
    for path in (spec.folder, spec.folder / "img"):
        os.utime(path, (1e9, 1e9))
    check_named(spec, result, pinned, context)
    monkeypatch.setattr("registry.load.materials.named_files_of", None)
    check_named(spec, result, pinned, context)


def test_nothing_named_is_no_difference(opened: Opened) -> None:
    pinned = opened[2]
    assert list(named_differences(replace(pinned, files=(), sandbox=(), images=()), {})) == []
