"""A server of SFTP: python -m tests.servers.sftp PORT FOLDER.

It serves `FOLDER/served` to the user `team` with the password `secret-word`. While there is a file
`FOLDER/read-only` it permits no writing, and while there is `FOLDER/full` it has no space.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import asyncssh

__all__ = ["serve"]


class _Users(asyncssh.SSHServer):  # type: ignore[misc] # not installed where types are checked
    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("team", "secret-word")


def _files(folder: Path) -> type[asyncssh.SFTPServer]:
    class Files(asyncssh.SFTPServer):  # type: ignore[misc] # as above
        def __init__(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
            super().__init__(chan, chroot=os.fsencode(folder / "served"))

        def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
            if (folder / "read-only").exists() and pflags & asyncssh.FXF_WRITE:
                raise asyncssh.SFTPPermissionDenied("no writing here")
            return super().open(path, pflags, attrs)

        def write(self, file_obj: object, offset: int, data: bytes) -> int:
            if (folder / "full").exists():
                raise asyncssh.SFTPFailure("no space left on device")
            written: int = super().write(file_obj, offset, data)
            return written

    return Files


async def serve(port: int, folder: Path) -> None:
    """Serve until the end of the process."""
    (folder / "served").mkdir(exist_ok=True)
    listening = await asyncssh.listen(
        "127.0.0.1",
        port,
        server_factory=_Users,
        server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
        sftp_factory=_files(folder),
    )
    await listening.wait_closed()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), Path(sys.argv[2])))
