"""A repository whose dataset is a Python script is refused by name, before anything of it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.process import registry, write_catalog
from tests.servers.hub import HubEmulator


@pytest.mark.parametrize("command", ["sync", "lock default branch files"])
def test_the_script_never_runs(tmp_path: Path, hub: HubEmulator, command: str) -> None:
    mark = tmp_path / "mark"
    script = f"open({str(mark)!r}, 'w')\n".encode()
    data = b'{"input": "1", "target": "2"}\n'
    hub.commit("org/scripted", {"scripted.py": script, "x.json": data})
    source = "{type: hf, path: org/scripted, split: train"
    catalog = write_catalog(
        tmp_path / "catalog",
        f"  default: {{source: {source}}}}}\n"
        f"  branch: {{source: {source}, revision: main}}}}\n"
        f"  files: {{source: {source}, data_files: x.json}}}}\n",
    )
    # What `datasets` once needed to run scripts.
    ended = registry(catalog, *command.split(), HF_DATASETS_TRUST_REMOTE_CODE="1")
    assert not mark.exists()
    assert ended.code == 1
    assert (
        "error: 3 datasets: org/scripted: this dataset needs its own Python script, scripted.py, which is never run"
        in ended.err
    )
