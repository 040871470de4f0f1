"""The local files that samples name, and those that compose files, Dockerfiles and scripts name."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.load.named_files import NamedFiles, named_files
from registry.samples.messages import ChatMessageUser, Content, ContentImage, ContentText
from registry.samples.sample import Sample
from tests.git_repository import write_files

TREE = {
    "data.jsonl": "",
    "compose.yaml": "services: {default: {image: python:3.12}}",
    "env/a.env": "",
    "env/b.env": "",
    "image/Dockerfile": "FROM debian:12 AS base\nCOPY --from=base /x /y\nCOPY app.py lib /app/\n",
    "image/app.py": "",
    "image/lib/one.py": "",
    "image/unused.txt": "",
    "mount/deep/file": "",
    "other.yml": "services: {helper: {image: 'redis@sha256:00'}}",
    "setup.sh": "#!/bin/sh\nset -e\nsh steps/more.sh && cat $HOME/x\n",
    "steps/more.sh": "true",
    "steps/unused.sh": "",
    "img/1.png": "",
    "notes.txt": "",
}
COMPOSE = {
    "env files": ("env_file: [env/a.env, {path: env/b.env}]", ["env/a.env", "env/b.env"]),
    "one env file": ("env_file: ./env/a.env", ["env/a.env"]),
    "mounted folder": ("volumes: ['./mount:/m:ro', 'named:/n']", ["mount/deep/file"]),
    "long volume": ("volumes: [{type: bind, source: ./mount, target: /m}]", ["mount/deep/file"]),
    "context": ("build: image", ["image/Dockerfile", "image/app.py", "image/lib/one.py"]),
    "dockerfile": (
        "build: {context: ., dockerfile: image/Dockerfile}",
        ["image/Dockerfile"],  # what it copies is looked for in its context
    ),
    "other service": ("extends: {file: other.yml, service: helper}", ["other.yml"]),
    "anchor defined again": ("x: &x {a: b}\n    y: &x {env_file: env/a.env}", ["env/a.env"]),
    "second document": ("x: 1\n---\nservices: {a: {env_file: env/a.env}}", ["env/a.env"]),
    "alias": ("x: &x {env_file: env/a.env}\n    y: *x", ["env/a.env"]),
    "variable": ("env_file: env/${WHICH}.env", []),
    "missing": ("env_file: env/none.env", []),
    "outside": ("env_file: ../outside.env", []),
}
DOCKERFILES = {
    "COPY app.py /": ["app.py"],
    'COPY ["app.py", "/a b"]': ["app.py"],
    "COPY lib/ \\\n  app.py /": ["app.py", "lib/one.py"],
    "ADD --chown=1 app.py /": ["app.py"],
    "COPY *.py /": ["Dockerfile", "app.py", "lib/one.py", "unused.txt"],
    "COPY . .": ["Dockerfile", "app.py", "lib/one.py", "unused.txt"],
    "RUN --mount=type=bind,target=/x make": ["Dockerfile", "app.py", "lib/one.py", "unused.txt"],
    "RUN make app.py": [],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.env").touch()
    return write_files(tmp_path / "catalog", TREE)


def found_in(folder: Path, **fields: object) -> NamedFiles:
    sample = Sample(**{"input": "q", **fields})  # type: ignore[arg-type]
    boundary = Boundary(folders=(str(folder),))
    return named_files([sample], Location(str(folder / "data.jsonl")), boundary)


def names(folder: Path, paths: tuple[str, ...]) -> list[str]:
    return [Path(path).relative_to(folder).as_posix() for path in paths]


@pytest.mark.parametrize("case", COMPOSE)
def test_compose_file_names_files(folder: Path, case: str) -> None:
    line, expected = COMPOSE[case]
    text = f"services:\n  default:\n    image: python:3.12\n    {line}\n"
    (folder / "compose.yaml").write_text(text)
    found = found_in(folder, sandbox=("docker", "compose.yaml"))
    assert names(folder, found.sandbox) == sorted(["compose.yaml", *expected])
    assert found.images == (("debian:12",) if "image/" in line or "build:" in line else ()) + (
        "python:3.12",
    )


@pytest.mark.parametrize("line", DOCKERFILES)
def test_dockerfile_names_what_it_copies(folder: Path, line: str) -> None:
    (folder / "image" / "Dockerfile").write_text(f"FROM scratch\n{line}\n")
    found = found_in(folder, sandbox=("docker", "image/Dockerfile"))
    expected = {"Dockerfile", *DOCKERFILES[line]}
    assert names(folder, found.sandbox) == sorted(f"image/{name}" for name in expected)
    assert found.images == ()


def test_stages_of_a_dockerfile_are_no_images(folder: Path) -> None:
    (folder / "image" / "Dockerfile").write_text(
        "FROM --platform=linux/amd64 debian:12 AS Base\nFROM base as next\nFROM next\n"
        "COPY --from=BASE /x /y\nCOPY --from=0 /x /y\nCOPY --from=nginx:1 /x /y\n"
        "COPY --from=redis@sha256:00 /x /y\nFROM later\nFROM scratch AS later\n"
    )
    found = found_in(folder, sandbox=("docker", "image/Dockerfile"))
    assert found.images == ("debian:12", "later", "nginx:1")


def test_an_image_in_a_variable_is_not_pinned(folder: Path) -> None:
    image = folder / "image" / "Dockerfile"
    image.write_text("ARG BASE\nFROM ${BASE}\n")
    (folder / "compose.yaml").write_text("services: {a: {image: $NAME, build: image}}")
    found = found_in(folder, sandbox=("docker", "compose.yaml"))
    assert found.images == ("$NAME", "${BASE}")


def test_setup_script_names_what_it_runs(folder: Path) -> None:
    found = found_in(folder, setup="setup.sh")
    assert names(folder, found.sandbox) == ["setup.sh", "steps/more.sh"]


def test_media_and_files_are_apart_from_code(folder: Path) -> None:
    content: list[Content] = [ContentText(text="q"), ContentImage(image="img/1.png")]
    files = {"notes.txt": "notes.txt", "inline": "some text", "lib": "image/lib"}
    found = found_in(folder, input=[ChatMessageUser(content=content)], files=files, setup="ls")
    assert names(folder, found.files) == ["image/lib/one.py", "img/1.png", "notes.txt"]
    assert names(folder, found.folders) == ["image/lib"]
    assert found.sandbox == ()


@pytest.mark.parametrize("text", ["[" * 5000, "a: [", "- !x &a *a", "\0"])
def test_file_that_is_no_configuration_counts_itself(folder: Path, text: str) -> None:
    (folder / "compose.yaml").write_text(text)
    found = found_in(folder, sandbox=("docker", "compose.yaml"))
    assert names(folder, found.sandbox) == ["compose.yaml"]


def test_files_that_include_each_other_end(folder: Path) -> None:
    (folder / "compose.yaml").write_text("include: [other.yml]\n")
    (folder / "other.yml").write_text("include: [{path: compose.yaml}]\n")
    found = found_in(folder, sandbox=("docker", "compose.yaml"))
    assert names(folder, found.sandbox) == ["compose.yaml", "other.yml"]
