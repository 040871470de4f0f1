"""A mirror in a manifest, through the command line and real servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.cli import main
from tests.conftest import Https

BODY = b"input,target\nq,a\n"
MANIFEST = """\
version: 1
hosts: [localhost]
datasets:
  qa:
    description: Questions.
    source: {{type: csv, path: {path}{more}}}
"""


def test_a_mirror_serves_what_the_lock_pins_and_changes_no_pin(
    tmp_path: Path,
    https: Https,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def write(more: str = "") -> None:
        text = MANIFEST.format(path=path, more=more)
        (tmp_path / "datasets.yaml").write_text(text, encoding="utf-8")

    def run(*arguments: str) -> int:
        return main([*arguments, "--root", str(tmp_path)])

    path, mirror = https.put("/a.csv", BODY), https.put("/copies/a.csv", BODY)
    write()
    assert run("lock", "qa") == 0
    pinned = (tmp_path / "datasets.lock").read_bytes()

    write(f", mirrors: ['{mirror}']")
    assert run("lock", "--check", "qa") == 0
    assert run("show", "qa") == 0
    assert mirror in capsys.readouterr().out
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "empty"))
    https.fail("/a.csv", 404)
    assert run("sync", "qa") == 0
    assert f"the mirror {mirror}, as the source failed: {path}: no such file" in (
        capsys.readouterr().err
    )
    assert run("lock", "--check", "qa") == 0
    assert (tmp_path / "datasets.lock").read_bytes() == pinned
