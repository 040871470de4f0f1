"""Only regular files are opened, and never through a link that leads out of their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from registry.base.local_files import open_beside, open_regular


def test_a_file_and_a_link_beside_it_are_opened(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").symlink_to("a")
    for opener in (open_regular, open_beside):
        with opener(tmp_path / "b") as file:
            assert file.read() == b"a"


@pytest.mark.parametrize("opener", [open_regular, open_beside])
def test_a_pipe_is_refused_at_once(tmp_path: Path, opener: type) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a device, pipe or socket"):
        opener(tmp_path / "pipe")


def test_a_device_is_refused() -> None:
    with pytest.raises(OSError, match="a device, pipe or socket"):
        open_regular("/dev/zero")


def test_a_folder_and_a_missing_file_are_the_usual_errors(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_beside(tmp_path / "missing")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    (tmp_path / "catalog").mkdir()
    link = tmp_path / "catalog" / "datasets.lock"
    link.symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match=r"it is a link to .*secret, outside its folder") as caught:
        open_beside(link)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(OSError, match="symbolic link"):
        open_regular(link, follow=False)
