"""Attack 5: a manifest names a file system of fsspec that runs committed code.

On fsspec before 2026.6 `filecache://` unpickles the file `cache` of `cache_storage`, and
`reference://` renders Jinja of a committed file. Here no such file system is made at all.
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from registry.base.materials import Material
from registry.lockfile.models import Lock, Pin, lock_text
from tests.git_repository import GitRepository, write_files
from tests.security.audit import run_audited

INDEX = "version: 1\ninclude: [m.yaml]\n"
ATTACKS = {
    "filecache": "path: filecache://data.csv, fs_options: {cache_storage: CHECKOUT/store, target_protocol: file}",
    "chained": "path: 'filecache::file://CHECKOUT/data.csv', fs_options: {filecache: {cache_storage: CHECKOUT/store}}",
    "simplecache": "path: 'simplecache::https://localhost:9/x.csv'",
    "blockcache": "path: 'blockcache::https://localhost:9/x.csv'",
    "reference": "path: reference://a, fs_options: {fo: CHECKOUT/refs.json, simple_templates: false, target_protocol: file}",
    "archive": "path: 'zip://data.csv::filecache::file://CHECKOUT/data.zip'",
    "option": "path: 's3://b/x.csv', fs_options: {anon: true, session: {profile: x}}",
    "github": "path: 'github://o:r@main/x.csv'",
    "dir": "path: 'dir:///etc/hostname', fs_options: {target_protocol: file}",
    "ssh": "path: 'ssh://localhost/x.csv'",
}


class Payload:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.mark),)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "code-ran"


@pytest.fixture
def checkout(tmp_path: Path, mark: Path) -> Path:
    """Check out a repository with the manifests and the files that they lead to."""
    folder = tmp_path / "checkout"
    sources = (text.replace("CHECKOUT", str(folder)) for text in ATTACKS.values())
    manifest = "datasets:\n" + "".join(
        f"  {name}:\n    source: {{type: csv, {text}}}\n    fields: {{input: q, target: a}}\n"
        for name, text in zip(ATTACKS, sources, strict=True)
    )
    jinja = "{{ cycler.__init__.__globals__.os.mkdir('%s') }}" % mark  # noqa: UP031
    refs = '{"version": 1, "templates": {"u": "x"}, "refs": {"a": ["%s"]}}' % jinja  # noqa: UP031
    files = {"datasets.yaml": INDEX, "m.yaml": manifest, "refs.json": refs, "data.csv": "q,a\n1,2\n"}  # fmt: skip
    GitRepository.make(folder, files)
    (folder / "store").mkdir()
    (folder / "store" / "cache").write_bytes(pickle.dumps(Payload(mark)))
    return folder


def test_validate_names_each_attack_with_its_place(checkout: Path, mark: Path) -> None:
    found = run_audited(["validate", "--strict"], folder=checkout)
    assert found.code == 1
    lines = (checkout / "m.yaml").read_text().splitlines()
    for name in ATTACKS:
        line = lines.index(f"  {name}:") + 2
        reported = [one for one in found.out.splitlines() if one.startswith(f"m.yaml:{line}:")]
        assert any(rule in "".join(reported) for rule in ("[refused-protocol]", "[refused-option]")), name  # fmt: skip
    assert not mark.exists()


@pytest.mark.parametrize(
    "arguments",
    [["sync"], ["lock"], ["verify"], ["diff", "--build", "HEAD"], ["lock", "--check"], ["list"]]
    + [["preview", name] for name in ("filecache", "reference", "archive")],
    ids=" ".join,
)
def test_no_verb_makes_such_a_file_system(checkout: Path, mark: Path, arguments: list[str]) -> None:
    found = run_audited(arguments, folder=checkout)
    assert not mark.exists()
    # Which compares files by their bytes, and reads which others they name.
    if arguments[0] != "diff":
        assert not [one for one in found.opened if one.startswith(str(checkout / "store"))]
        assert str(checkout / "refs.json") not in found.opened
    assert "/etc/hostname" not in found.opened
    assert not [one for one in found.executed if "/fsspec/implementations/cache" in one]
    assert found.connections == []


def test_a_lock_does_not_lead_there_either(checkout: Path, mark: Path) -> None:
    pattern, digest = "https://localhost:9/*.csv", f"sha256:{'0' * 64}"
    location = f"filecache::file://{checkout}/data.csv"
    source = Material(location=location, requested=pattern, size=8, sha256="1" * 64)
    digests: dict[str, Any] = {"spec": digest, "ordered": digest, "unordered": digest}
    pin = Pin(sources=(source,), samples=1, columns=("q", "a"), format=1, **digests)
    keys = f"source: {{type: csv, path: '{pattern}'}}, fields: {{input: q, target: a}}"
    files = {
        "m.yaml": f"datasets: {{d: {{{keys}}}}}\n",
        "datasets.lock": lock_text(Lock({"d": pin})),
    }
    write_files(checkout, files)
    for arguments in (["preview", "d"], ["sync", "--frozen"], ["lock", "--check"]):
        found = run_audited(arguments, folder=checkout)
        assert not mark.exists()
        assert not [one for one in found.executed if "/fsspec/implementations/cache" in one]
