"""The file of a bundle: what is written is read again, and has what its datasets need, no more."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.cache.cache import Cache
from registry.catalog.catalog import Catalog
from registry.cli import main
from registry.errors import BundleError
from registry.plugins.bundle.bundle_file import (
    _SUFFIXES,
    BUNDLE_FORMAT,
    Contents,
    Dataset,
    listed_files,
    read_bundle,
    write_bundle,
)
from registry.plugins.bundle.unbundle import unbundle
from tests.conftest import CatalogRoot
from tests.plugins.bundle.conftest import Files, member, packed, read
from tests.plugins.bundle.conftest import written as write_files

KEY = "1" * 64
FILES = {
    "catalog/datasets.yaml": b"version: 1\n",
    "catalog/inner/data.csv": b"q,a\n" * 1000,
    "catalog/empty.txt": b"",
    f"samples/{KEY}/samples.arrow": bytes(range(256)) * 5,
}


EMPTY = Contents(BUNDLE_FORMAT, 2, (Dataset("demo", f"sha256:{KEY}", 3),), ())


def written(path: Path, files: Files = FILES) -> Contents:
    return write_files(path, EMPTY, files)


def decompressed(path: Path) -> bytes:
    with pa.OSFile(str(path)) as file, pa.CompressedInputStream(file, "zstd") as stream:
        data: bytes = stream.read()
    return data


def compressed(path: Path, data: bytes) -> Path:
    with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, "zstd") as out:
        out.write(data)
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    contents = written(tmp_path / "a")
    assert read(tmp_path / "a") == (contents, FILES)
    written(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_tar_reads_it(tmp_path: Path) -> None:
    written(tmp_path / "a")
    with tarfile.open(fileobj=io.BytesIO(decompressed(tmp_path / "a"))) as tar:
        assert tar.getnames() == ["bundle.json", *FILES]
        assert all(info.isreg() and info.mtime == 0 for info in tar)


def test_each_cut_file_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "a")
    data = (tmp_path / "a").read_bytes()
    for size in [*range(0, len(data), 7), len(data) - 1]:
        (tmp_path / "cut").write_bytes(data[:size])
        with pytest.raises(BundleError):
            read(tmp_path / "cut")


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("bundle") / "a"
    written(file)
    return file


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_no_changed_byte_is_accepted(intact: Path, data: st.DataObject) -> None:
    contents, plain = read(intact)[0], bytearray(decompressed(intact))
    place = data.draw(st.integers(0, len(plain) - 1))
    plain[place] ^= data.draw(st.integers(1, 255))
    try:
        found, files = read(compressed(intact.with_name("b"), bytes(plain)))
    except BundleError:
        return
    # Such as the name of a dataset in the list, which is compared with the lockfile later.
    assert files == FILES
    assert found.members == contents.members


def listing(**change: Any) -> Contents:
    return msgspec.structs.replace(EMPTY, **change)


def with_list(path: Path, data: bytes) -> Path:
    """Write a bundle that has nothing but a list."""
    info = tarfile.TarInfo("bundle.json")
    info.size = len(data)
    padding = bytes(-len(data) % 512 + 1024)
    return compressed(path, info.tobuf(tarfile.USTAR_FORMAT) + data + padding)


NAMES = [
    *("catalog/../../etc/passwd", "/etc/passwd", "catalog//x", "catalog/./x", "catalog/.."),
    *("catalog/", "catalog", "catalog/a\\b", "catalog/c:/x", "catalog/a\0b", "catalog/a\nb"),
    *("../catalog/x", "other/x", "bundle.json", "samples/../x", "samples/short/samples.arrow"),
    *(f"samples/{KEY}/other", f"samples/{KEY}/../{KEY}/samples.arrow", f"catalog/{'x' * 256}"),
    *("catalog/a.", "catalog/a /b", "catalog/NUL.txt", "catalog/a\u202egpj.exe"),
    "catalog/a\u2028b",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    data = msgspec.json.encode(listing(members=(member(name, b""),)))
    with pytest.raises(BundleError, match="it can't have a member with the name"):
        read(with_list(tmp_path / "a", data))


def of_members(*names: str, **change: Any) -> bytes:
    """Return a list with members of the catalog."""
    members = [member(f"catalog/{name}", b"") for name in names]
    changed = tuple(msgspec.structs.replace(one, **change) for one in members)
    return msgspec.json.encode(listing(members=changed))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}", "its bundle.json is invalid"),
        (b"\xff", "its bundle.json is invalid"),
        (b"[" * 100_000, "its bundle.json is invalid"),
        (b'{"format": 2, "more": []}', r"its format is 2, .*install a newer release"),
        (msgspec.json.encode(listing(format=7)), "its format is 7, and this release"),
        (msgspec.json.encode(listing(format=0)), "its format is 0, not 1"),
        (of_members("a", "a"), "two members with the same name"),
        (of_members("a", "A"), "two members with the same name"),
        (of_members("\xc4", "a\u0308"), "two members with the same name"),
        (of_members("A", "a/b"), "catalog/a/b inside of a file"),
        (of_members("a", "a/b"), "catalog/a/b inside of a file"),
        (of_members("a", size=-1), "without a size"),
        (of_members("a", size=1, sha256="0" * 63), "without a size or digest"),
    ],
)
def test_invalid_lists_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(BundleError, match=message):
        read(with_list(tmp_path / "a", data))


@pytest.mark.parametrize(
    "change",
    [
        {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
        {"type": tarfile.LNKTYPE, "linkname": "catalog/datasets.yaml"},
        {"type": tarfile.FIFOTYPE},
        {"type": tarfile.DIRTYPE},
        {"name": "catalog/other"},
        {"size": 1 << 40},
    ],
    ids=["linked", "hard linked", "pipe", "folder", "renamed", "larger"],
)
def test_members_that_are_not_as_listed_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    written(tmp_path / "a")
    plain = decompressed(tmp_path / "a")
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        info = tar.getmember("catalog/inner/data.csv")
    start = info.offset
    for name, value in change.items():
        setattr(info, name, value)
    header = info.tobuf(tarfile.GNU_FORMAT)
    with pytest.raises(BundleError, match=r"not a plain file|not where it is listed"):
        read(compressed(tmp_path / "b", plain[:start] + header + plain[start + 512 :]))


def test_bytes_after_the_end_are_refused(tmp_path: Path) -> None:
    written(tmp_path / "a")
    plain = decompressed(tmp_path / "a")
    for more in (b"x", bytes(512), plain):
        with pytest.raises(BundleError, match="something follows"):
            read(compressed(tmp_path / "b", plain + more))


def test_a_bomb_ends_where_the_list_does(tmp_path: Path) -> None:
    written(tmp_path / "a")
    plain = decompressed(tmp_path / "a")
    compressed(tmp_path / "b", plain + bytes(1 << 24))
    seen: list[int] = []
    with pytest.raises(BundleError, match="something follows"):
        read_bundle(tmp_path / "b", lambda _: None, seen.append)
    assert sum(seen) == sum(map(len, FILES.values()))


@pytest.mark.parametrize("data", [b"", b"no zstd", b"\x28\xb5\x2f\xfd" + b"x" * 100])
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(BundleError, match=str(tmp_path / "a")):
        read(tmp_path / "a")


def test_a_full_disk_is_not_taken_for_damage(tmp_path: Path) -> None:
    class FullDisk(io.BytesIO):
        def write(self, data: Any, /) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "x.tar.zst"
    written(path)
    with pytest.raises(
        BundleError, match=r"x\.tar\.zst: can't be unpacked: No space left on device$"
    ):
        read_bundle(path, lambda _: FullDisk(), lambda _: None)


def test_a_tar_of_something_else_is_refused(tmp_path: Path) -> None:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("README"))
    with pytest.raises(BundleError, match=r"does not start with bundle\.json"):
        read(compressed(tmp_path / "a", plain.getvalue()))


def test_a_member_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"catalog/empty\.txt: changed while it was read"):
        write_bundle(
            tmp_path / "a",
            listing(members=(member("catalog/empty.txt", b""),)),
            lambda _: io.BytesIO(b"more"),
            lambda _: None,
        )


def test_a_name_that_tar_can_not_hold_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="can't be in a bundle"):
        written(tmp_path / "a", {f"catalog/{'x' * 250}.csv": b""})


@pytest.mark.parametrize("name", ["catalog/a:b", "catalog/con"])
def test_what_no_reader_accepts_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(BundleError, match=r"the name 'catalog/.*on every system"):
        written(tmp_path / "a", {name: b""})


def test_contents_are_checked_before_any_member_is_read(tmp_path: Path) -> None:
    written(tmp_path / "a")
    read_bytes: list[int] = []

    def refuse(contents: Contents) -> None:
        raise BundleError(f"{contents.size:,} bytes are too many")

    with pytest.raises(BundleError, match="bytes are too many"):
        read_bundle(tmp_path / "a", lambda _: None, read_bytes.append, check=refuse)
    assert read_bytes == []


OBEYED = [
    *(".git/hooks/post-checkout", "a/.GIT/config", ".ssh/authorized_keys", ".bash_profile"),
    *(".envrc", "\u2024github/workflows/x.yml", "sitecustomize.py", "CONFTEST.PY"),
    *("x/\uff43onftest.py", "x/evil.pth", "x/evil.so", "Makefile", "x/GNUmakefile", "Justfile"),
    *("Package.json", "tox.ini", "setup.cfg", "pyproject.toml", "CMakeLists.txt"),
    *("\uff32equirements.txt", "x/datasets.lock", "data", "x.code-workspace", "AGENTS.md"),
]


def test_names_that_other_programs_obey_are_refused_together(tmp_path: Path) -> None:
    files = {f"catalog/{name}": b"" for name in OBEYED}
    data = of_members(*OBEYED, "x.csv")
    with pytest.raises(BundleError) as writer:
        written(tmp_path / "a", files)
    with pytest.raises(BundleError) as reader:
        read(with_list(tmp_path / "a", data))
    assert str(writer.value).startswith(f"it can't have {', '.join(OBEYED)}: only data")
    assert str(reader.value) == f"{tmp_path / 'a'}: {writer.value}"


@pytest.mark.parametrize(
    "name",
    [
        *("datasets.yaml", "datasets.lock", "m/x.yml", "x.parquet", "x.jsonl.gz", "X.CSV"),
        *("a/b.PNG", "x.mp4", "x.wav", "x.pdf", "setup.sh", "compose.yaml", "x/Dockerfile"),
    ],
)
def test_data_media_and_files_of_a_sandbox_are_accepted(tmp_path: Path, name: str) -> None:
    written(tmp_path / "a", {f"catalog/{name}": b""})


def test_the_documentation_has_each_suffix() -> None:
    text = (Path(__file__).parents[3] / "docs" / "reference" / "scale.md").read_text("utf-8")
    assert {one for one in _SUFFIXES if not re.search(rf"{re.escape(one)}[\s`]", text)} == set()


FIELDS = "fields: {input: q, target: a}"
ROWS = [
    {"q": "1", "a": "2", "f": {"x": "one.txt"}},
    {"q": "3", "a": "4", "f": {"y": "inner/two.txt", "z": "inline"}},
]


@pytest.fixture
def root(catalog_root: CatalogRoot) -> Path:
    """Give a catalog whose datasets need files of every kind."""
    text = "datasets: {NAME: {source: SOURCE, FIELDS}}".replace("FIELDS", FIELDS)
    sources = {
        "parts": "{type: csv, path: 'parts/*.csv'}",
        "member": "{type: csv, path: 'zip://in/rows.csv::all.zip'}",
        "named": "{type: json, path: data/rows.jsonl}",
    }
    manifests = {
        name: text.replace("NAME", name).replace("SOURCE", source)
        for name, source in sources.items()
    }
    manifests["named"] = manifests["named"].replace("target: a", "target: a, files: f")
    manifests["child"] = "datasets: {child: {extends: named, limit: 1}}"
    root = catalog_root(manifests)
    (root / "parts").mkdir()
    (root / "data" / "inner").mkdir(parents=True)
    for name in ("a", "b"):
        (root / "parts" / f"{name}.csv").write_text(f"q,a\n{name},1\n", "utf-8")
    with zipfile.ZipFile(root / "all.zip", "w") as archive:
        archive.writestr("in/rows.csv", "q,a\n1,2\n")
    rows = "".join(f"{json.dumps(row)}\n" for row in ROWS)
    (root / "data" / "rows.jsonl").write_text(rows, "utf-8")
    for name in ("one.txt", "inner/two.txt", "other.txt"):
        (root / "data" / name).write_text(name, "utf-8")
    (root / "extra.yaml").write_text("datasets: {}\n", "utf-8")
    index = root / "datasets.yaml"
    include = "include: [registry/*.yaml"
    assert include in index.read_text("utf-8")
    index.write_text(index.read_text("utf-8").replace(include, f"{include}, extra.yaml"), "utf-8")
    assert main(["lock", "--root", str(root)]) == 0
    return root


@pytest.mark.parametrize(
    ("names", "files"),
    [
        (["parts"], {"parts/a.csv", "parts/b.csv"}),
        (["member"], {"all.zip"}),
        (["named"], {"data/rows.jsonl", "data/one.txt", "data/inner/two.txt"}),
        (["child", "parts"], {"data/rows.jsonl", "data/one.txt", "parts/a.csv", "parts/b.csv"}),
    ],
)
def test_a_bundle_is_accepted_with_all_that_its_datasets_need(
    root: Path, tmp_path: Path, names: list[str], files: set[str]
) -> None:
    file = packed(root, tmp_path, *names).file
    done = unbundle(file, tmp_path / "new", Cache(tmp_path / "second"), report=lambda *_: None)
    found = {name for name in done.written if not name.endswith((".yaml", ".lock"))}
    assert found == files
    assert "extra.yaml" in done.written


def test_manifests_that_the_index_names_are_listed_without_those_of_patterns(root: Path) -> None:
    assert list(listed_files(Catalog.open(root))) == [root / "extra.yaml"]


def test_a_pattern_of_the_index_may_match_nothing_in_a_bundle(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = yaml.safe_load((root / "datasets.yaml").read_text("utf-8"))
    source = {"type": "csv", "path": "parts/a.csv"}
    index["datasets"] = {"own": {"source": source, "fields": {"input": "q", "target": "a"}}}
    (root / "datasets.yaml").write_text(yaml.safe_dump(index), "utf-8")
    file, new = str(tmp_path / "out.tar.zst"), str(tmp_path / "new")
    assert main(["lock", "own", "--root", str(root)]) == 0
    assert main(["bundle", "own", "-o", file, "--root", str(root)]) == 0
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "second"))
    assert main(["unbundle", file, "--root", new]) == 0
    assert main(["sync", "own", "--offline", "--locked", "--root", new]) == 0
    assert not Path(new, "registry").exists()
