"""Attack 1, by the card of a repository on the Hub, whose owner also chooses what it says.

`datasets` looks for the files that a card names, wherever they are, but builds only those of the
repository. This test holds it to that: a version that reads others must not be released with.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from registry import RegistryError, get_dataset
from tests.conftest import OneDataset
from tests.servers.hub import HubEmulator

PLANTED = "planted-in-a-file-outside"


@pytest.mark.parametrize(
    "card",
    [
        "data_files: OUTSIDE/secret.txt",
        "data_files: [{split: train, path: OUTSIDE/secret.txt}]",
        "data_files: 'file://OUTSIDE/secret.txt'",
        "data_files: 'filecache::file://OUTSIDE/secret.txt'",
        "data_files: '../../../../../../../../OUTSIDE/secret.txt'",
        "data_dir: OUTSIDE",
    ],
)
def test_a_card_reads_no_file_outside_its_repository(
    hub: HubEmulator, one_dataset: OneDataset, tmp_path: Path, cache_dir: Path, card: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(PLANTED)
    keys = card.replace("OUTSIDE", str(outside))
    readme = f"---\nconfigs:\n- config_name: default\n  {keys}\n---\n"
    sha = hub.commit("org/card", {"README.md": readme.encode(), "x.txt": b"one\n"})
    source = {"type": "hf", "path": "org/card", "split": "train", "revision": sha}
    root = one_dataset(source, fields={"input": "text", "target": "text"})
    with pytest.raises(RegistryError) as caught:
        get_dataset("data", root=root)
    assert PLANTED not in str(caught.value)
    for file in cache_dir.rglob("*"):
        assert not file.is_file() or PLANTED.encode() not in file.read_bytes()
