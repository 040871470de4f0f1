"""Names of files in samples: what is looked up, where, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.pipeline.file_references import (
    local_resolver,
    remote_resolver,
    resolve_files,
    resolver,
)
from registry.samples.messages import (
    ChatMessageAssistant,
    ChatMessageUser,
    ContentImage,
    ContentText,
)
from registry.samples.sample import Sample, SandboxEnvironmentSpec
from registry.sources.filesystem import FilesystemPool

POOL = FilesystemPool({}, UNBOUNDED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "img").mkdir()
    for name in ("img/1.png", "setup.sh", "compose.yaml"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("value", "is_file"),
    [
        ("img/1.png", True),
        ("img/2.png", False),
        ("", False),
        ("two\nlines", False),
        ("nul\0", False),
        ("data:image/png;base64,AAAA", False),
        ("https://example.org/img/1.png", False),
        ("x" * 2000, False),
    ],
)
def test_a_local_name_becomes_a_path_only_where_the_file_exists(
    folder: Path, value: str, is_file: bool
) -> None:
    resolve = resolver(Location(str(folder / "data.jsonl")), POOL)
    assert resolve(value) == (str(folder / value) if is_file else value)


def test_a_local_name_that_leads_out_of_the_boundary_is_content(folder: Path) -> None:
    location, boundary = (
        Location(str(folder / "data.jsonl")),
        Boundary(folders=(str(folder / "img"),)),
    )
    resolve = local_resolver(location, boundary)
    assert resolve("img/1.png") == str(folder / "img" / "1.png")
    assert resolve("setup.sh") == "setup.sh"


@pytest.mark.parametrize(
    ("location", "beside"),
    [
        ("file://{folder}/data.jsonl", "file://{folder}/"),
        ("zip://in/data.jsonl::{folder}/data.zip", "{folder}/"),
        ("zip://in/data.jsonl::file://{folder}/data.zip", "{folder}/"),
    ],
)
def test_a_file_beside_a_url_is_a_url_only_if_that_is_a_file(
    folder: Path, location: str, beside: str
) -> None:
    resolve = resolver(Location(location.format(folder=folder)), POOL)
    assert resolve("img/1.png") == beside.format(folder=folder) + "img/1.png"


@pytest.mark.parametrize(
    "value", ["import os\nprint(1)", "../secret.txt", "/etc/passwd", "plain", "a?b.txt", ""]
)
def test_inline_content_never_becomes_part_of_a_request(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setattr(POOL, "of", lambda _: pytest.fail("asked the server"))
    assert remote_resolver(Location("https://example.org/d/data.jsonl"), POOL)(value) == value


def test_every_place_that_may_name_a_file_is_resolved(folder: Path) -> None:
    sample = Sample(
        input=[
            ChatMessageUser(
                content=[ContentText(text="img/1.png"), ContentImage(image="img/1.png")]
            ),
            ChatMessageAssistant(content=[ContentImage(image="img/1.png")]),
        ],
        sandbox=SandboxEnvironmentSpec("docker", "compose.yaml"),
        files={"a.sh": "setup.sh", "b.txt": "inline text"},
        setup="setup.sh",
    )
    found = resolve_files(sample, resolver(Location(str(folder / "data.jsonl")), POOL))
    path = str(folder / "setup.sh")
    assert found.files == {"a.sh": path, "b.txt": "inline text"}
    assert found.setup == path
    assert found.sandbox == SandboxEnvironmentSpec("docker", str(folder / "compose.yaml"))
    assert not isinstance(found.input, str)
    user, assistant = found.input
    assert user.content == [
        ContentText(text="img/1.png"),
        ContentImage(image=str(folder / "img/1.png")),
    ]
    # Inspect resolves what a user sends, and leaves what a model said.
    assert assistant.content == [ContentImage(image="img/1.png")]
