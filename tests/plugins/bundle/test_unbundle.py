"""Another machine takes a bundle, or refuses it before anything is written."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from msgspec.structs import replace

from registry import get_dataset
from registry.cache.cache import Cache
from registry.cache.folders import seal, unseal
from registry.cli import main
from registry.errors import BundleError
from registry.plugins.bundle.unbundle import Unbundled, unbundle
from tests.cli.invocation import Run
from tests.conftest import Https, OneDataset, Page, permit
from tests.plugins.bundle.conftest import Files, packed, read, written

ROWS = b"q,a\n" + b"".join(b"question %d,answer %d\n" % (n, n) for n in range(300))


@pytest.fixture
def file(https: Https, one_dataset: OneDataset, tmp_path: Path) -> Path:
    """Give a bundle of a dataset behind a server, which is gone afterwards."""
    https.pages["/data.csv"] = Page(ROWS)
    source = {"type": "csv", "path": f"{https.url}/data.csv"}
    root = permit(one_dataset(source, shuffle=True, seed=1, limit=50), hosts=["localhost"])
    assert main(["lock", "--root", str(root)]) == 0
    path = packed(root, tmp_path, "data").file
    shutil.rmtree(root)
    https.reset()
    return path


def taken(file: Path, tmp_path: Path, **options: Any) -> Unbundled:
    cache = Cache(tmp_path / "second")
    return unbundle(file, tmp_path / "new", cache, report=lambda *_: None, **options)


def traces(tmp_path: Path) -> list[str]:
    """Return the files that a refused bundle left."""
    places = [tmp_path / "new", tmp_path / "second"]
    return [str(path) for place in places for path in place.rglob("*") if path.is_file()]


def changed(file: Path, change: Callable[[Files], None]) -> Path:
    """Write a bundle with other files, which is consistent in itself."""
    contents, files = read(file)
    change(files)
    written(file, contents, files)
    return file


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:-1] + b"?"])
def test_a_damaged_entry_of_the_cache_is_replaced(
    damage: Callable[[bytes], bytes],
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    taken(file, tmp_path)
    (samples,) = (tmp_path / "second").rglob("samples.arrow")
    inode = samples.stat().st_ino
    taken(file, tmp_path)
    assert samples.stat().st_ino == inode, "an intact one stays"
    samples.write_bytes(damage(samples.read_bytes()))
    taken(file, tmp_path)
    assert "moved to the quarantine" in caplog.text
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "second"))
    assert len(get_dataset("data", root=tmp_path / "new", offline=True, locked=True)) == 50
    cached = Cache(tmp_path / "second")
    assert [one.damage() for one in cached.entries("samples")] == [""]


# What it needs is imported before: another user may not be able to read this installation.
AS_ANOTHER_USER = """
import os, sys
from registry import get_dataset
from registry.cli import main
file, home, user = sys.argv[1], sys.argv[2], int(sys.argv[3])

def take(name):
    os.environ["REGISTRY_CACHE_DIR"] = os.path.join(home, name, "cache")
    assert main(["unbundle", file, "--root", os.path.join(home, name, "new")]) == 0
    root = os.path.join(home, name, "new")
    print(len(get_dataset("data", root=root, offline=True, locked=True)))

os.umask(0o077)
take("imports")
if user:
    os.setgid(user), os.setuid(user)
take("own")
"""


def test_with_a_closed_umask_all_files_are_private(file: Path) -> None:
    # Only root can become another user.
    user = 12345 if os.getuid() == 0 else 0
    with TemporaryDirectory() as home:
        shutil.copy(file, home)
        if user:
            os.chown(home, user, user)
            os.chown(Path(home, file.name), user, user)
        code = [sys.executable, "-c", AS_ANOTHER_USER, str(Path(home, file.name)), home, str(user)]
        done = subprocess.run(
            code, check=False, capture_output=True, text=True, cwd=home, timeout=60
        )
        assert done.stdout.splitlines().count("50") == 2, done.stderr
        states = [path.stat() for path in Path(home, "own").rglob("*")]
    assert {state.st_mode & 0o077 for state in states} == {0}
    assert {state.st_uid for state in states} == {user or os.getuid()}


def replaced(end: str, old: bytes, new: bytes) -> Callable[[Files], None]:
    """Return a change of the file whose name ends so."""

    def change(files: Files) -> None:
        (name,) = (name for name in files if name.endswith(end))
        files[name] = files[name].replace(old, new)

    return change


def removed(start: str) -> Callable[[Files], None]:
    """Return a change that removes the files whose names start so."""

    def change(files: Files) -> None:
        for name in [name for name in files if name.startswith(start)]:
            del files[name]

    return change


def other_pin(files: Files) -> None:
    name = "catalog/datasets.lock"
    place = files[name].index(b"ordered: sha256:") + len(b"ordered: sha256:")
    digit = b"0" if files[name][place : place + 1] != b"0" else b"1"
    files[name] = files[name][:place] + digit + files[name][place + 1 :]


def other_limit(files: Files) -> None:
    (name,) = (name for name in files if name.endswith("entry.json"))
    text = unseal(files[name])
    text["meta"]["limit"] = 1
    files[name] = seal(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: files.update({"catalog/x.csv": b"q,a\n"}), "none of its datasets needs"),
        (replaced(".arrow", b"answer 7", b"answer X"), "its samples don't have the digest of its"),
        (removed("samples/"), "it lacks samples/"),
        (removed("catalog/datasets.lock"), "datasets.lock does not pin it"),
        (removed("catalog/datasets.yaml"), "datasets.yaml"),
        (replaced("/data.yaml", b"limit: 50", b"limit: 51"), "pins it for an older manifest"),
        (other_pin, "data: the samples in it are not those that its datasets.lock pins"),
        (other_limit, "data: the samples in it are not those of its manifest and lockfile"),
        (
            replaced("entry.json", b'"limit": null', b'"limit":    1'),
            "its entry.json is invalid: the checksum differs",
        ),
    ],
)
def test_an_altered_bundle_leaves_nothing(
    file: Path, tmp_path: Path, change: Callable[[Files], None], message: str
) -> None:
    with pytest.raises(BundleError) as raised:
        taken(changed(file, change), tmp_path)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"{file}: ")
    assert traces(tmp_path) == []


def test_a_cut_bundle_leaves_nothing(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    for size in (0, 10, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:size])
        with pytest.raises(BundleError):
            taken(file, tmp_path)
    assert traces(tmp_path) == []
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_refused_before_it_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BundleError, match="not a regular file"):
        taken(pipe, tmp_path, digest="0" * 64)


def test_files_that_are_there_are_not_replaced(file: Path, tmp_path: Path) -> None:
    lock = tmp_path / "new" / "datasets.lock"
    lock.parent.mkdir()
    lock.write_text("version: 1\ndatasets: {}\n", "utf-8")
    with pytest.raises(
        BundleError, match=r"already has a different datasets\.lock \(choose another --root\)"
    ):
        taken(file, tmp_path)
    assert traces(tmp_path) == [str(lock)]


def test_a_folder_with_other_files_is_refused(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "new" / "inner" / "conftest.txt"
    other.parent.mkdir(parents=True)
    other.touch()
    with pytest.raises(BundleError, match=r"has other files, such as inner/conftest\.txt"):
        taken(file, tmp_path)
    assert traces(tmp_path) == [str(other)]
    other.unlink()
    assert len(taken(file, tmp_path).written) == 3


def test_a_root_that_can_t_be_made_leaves_nothing(file: Path, tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file")
    cache = Cache(tmp_path / "new-cache")
    root = tmp_path / "blocked" / "x"
    with pytest.raises(BundleError, match=r"can't write .*blocked.x: Not a directory"):
        unbundle(file, root, cache, report=lambda *_: None)
    assert list(cache.entries("samples")) == []


def test_links_below_the_root_are_not_followed(file: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "registry").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match=r"already has a different registry/data\.yaml"):
        taken(file, tmp_path)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_cache_format_of_another_release_is_refused(file: Path, tmp_path: Path) -> None:
    written(file, replace(read(file)[0], cache_format=99), {})
    with pytest.raises(BundleError, match="its samples have the format 99 of the cache"):
        taken(file, tmp_path)


def test_it_opens_offline_on_another_machine(
    run: Run, file: Path, tmp_path: Path, https: Https, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "new"
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "second"))
    result = run("unbundle", str(file), "--root", str(folder))
    assert result.code == 0, result.err
    assert f"1 dataset in {folder}: data" in result.lines
    dataset = get_dataset("data", root=folder, offline=True, locked=True)
    assert len(dataset) == 50
    assert {sample.input for sample in dataset} <= {f"question {n}" for n in range(300)}
    assert https.requests == []
    again = run("unbundle", str(file), "--root", str(folder), "--json").json
    assert (again["datasets"], again["written"]) == (["data"], [])


@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_only_the_expected_file_is_taken(run: Run, file: Path, tmp_path: Path, prefix: str) -> None:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    root = ("--root", str(tmp_path / "new"))
    assert run("unbundle", str(file), *root, "--digest", f"{prefix}{digest}").code == 0
    refused = run("unbundle", str(file), *root, "--digest", f"{prefix}{'0' * 64}")
    assert refused.code == 1
    assert f"its sha256 is {digest}, not" in refused.err


def test_a_bundle_that_is_too_large_leaves_nothing(run: Run, file: Path, tmp_path: Path) -> None:
    result = run("unbundle", str(file), "--root", str(tmp_path / "new"), "--max-size", "1kB")
    assert result.code == 1
    assert "bytes uncompressed, and 1,000 are allowed" in result.err
    assert traces(tmp_path) == []


def test_a_missing_file_is_an_error_in_one_line(run: Run, tmp_path: Path) -> None:
    for options in ((), ("--digest", "0" * 64)):
        root = ("--root", str(tmp_path / "new"))
        result = run("unbundle", str(tmp_path / "missing"), *root, *options)
        assert result.code == 1
        assert result.err.startswith(f"error: {tmp_path / 'missing'}: can't be read: ")
