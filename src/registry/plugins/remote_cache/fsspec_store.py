"""A remote cache behind any file system of fsspec: S3, GCS, Azure, WebDAV, SFTP and others."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from registry import CacheError
from registry.api import Location
from registry.plugins.remote_cache.folder_store import Moved, StoredObject

__all__ = ["FsspecStore"]

# What is read at once: a connection that is slower than this in the time limit is given up.
_PIECE = 1 << 23
# Their objects appear complete or not at all, and they know no folders. With the others an object
# is written under another name and then renamed.
_OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "oss"}
# paramiko hangs when two threads wait for answers, and none of these connects again.
_ONE_CONNECTION = {"sftp", "ssh", "ftp"}
# Their packages report a missing bucket as a missing object.
_SILENT_ABOUT_BUCKETS = {"gs", "gcs"}
_NO_BUCKET = {"NoSuchBucket", "ContainerNotFound"}
# The first bytes of an empty object are a range that is not there.
_NO_RANGE = {"InvalidRange", "416"}
# Writers at the same time may come between the removal of a file and its replacement: how often it
# is removed, and how often a name is tried.
_REMOVALS = 3
_RENAMES = 20
_TIMES = ("LastModified", "last_modified", "mtime", "modified", "updated", "created")


class FsspecStore:
    """Objects are files of a file system, which is configured as fsspec and its package say."""

    def __init__(self, url: str) -> None:
        from fsspec.core import url_to_fs

        self._is_object_store = Location(url).protocol in _OBJECT_STORES
        self.is_concurrent = Location(url).protocol not in _ONE_CONNECTION
        # Object stores keep listings by default, in which what others wrote since is missing.
        options = {"use_listings_cache": False} if self._is_object_store else {}
        self._fs: Any
        self._fs, root = url_to_fs(url, skip_instance_cache=not self.is_concurrent, **options)
        self._root = root.rstrip("/")
        self._is_bucket_known = Location(url).protocol not in _SILENT_ABOUT_BUCKETS

    def read(self, name: str, most: int) -> bytes | None:
        """Return the content of an object, or the first `most` bytes; None if there is none."""
        try:
            return self._range(name, 0, most)
        except FileNotFoundError as error:
            self._check_bucket(error)
            return None

    def size(self, name: str) -> int | None:
        """Return the number of bytes of an object; None if there is none."""
        try:
            return int(self._fs.info(self._path(name))["size"])
        except FileNotFoundError as error:
            cause = error.__cause__
            # Of an HTTP server that does not answer, fsspec says that it lacks the file.
            if isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError):
                raise cause from None
            self._check_bucket(error)
            return None

    def download(self, name: str, path: Path, size: int, moved: Moved, *, start: int = 0) -> None:
        """Write `size` bytes of an object from `start` to a new file; less if it ends earlier."""
        # Not `get_file`: it has no bound, and shows no progress with some file systems. Not `open`
        # either: object stores are then asked for the size first, and for smaller ranges.
        end = start + size
        with path.open("xb") as target:
            while start < end:
                piece = self._range(name, start, min(end, start + _PIECE))
                target.write(piece)
                moved(len(piece))
                start += len(piece)
                if not piece:
                    break

    def _range(self, name: str, start: int, end: int) -> bytes:
        """Return a part of an object: less if it ends before, or nothing if that is no part."""
        try:
            data: bytes = self._fs.cat_file(self._path(name), start=start, end=end)
        except FileNotFoundError:
            raise
        except Exception as error:  # some of these errors are no OSError
            if _code(error) not in _NO_RANGE:
                raise
            return b""  # nobody writes an empty object, but something may have
        return data

    def upload(self, path: Path, name: str, moved: Moved) -> None:
        """Store a file as an object."""
        from fsspec.callbacks import Callback

        callback = Callback(hooks={"moved": lambda *_, **__: moved(0)})
        self._put(name, lambda target: self._fs.put_file(str(path), target, callback=callback))

    def write(self, name: str, data: bytes) -> None:
        """Store bytes as an object, in place of what is there."""
        self._put(name, lambda target: self._fs.pipe_file(target, data))

    def write_new(self, name: str, data: bytes) -> bool:
        """Store bytes as an object unless it is there; return whether it was not.

        S3, GCS and Azure decide it in one request. With others, of two writers at the same time the
        second one may replace the first one's, which is harmless: both describe complete objects.
        """
        if not self._is_object_store:
            if self.size(name) is not None:
                return False
            self.write(name, data)
            return True
        try:
            self._fs.pipe_file(self._path(name), data, mode="create")
        except FileExistsError:
            return False
        except OSError as error:
            # Another writer's request was decided at the same time.
            if _code(error) != "ConditionalRequestConflict":
                raise
            return False
        return True

    def objects(self) -> Iterator[StoredObject]:
        """Yield all objects.

        Raises:
            CacheError: the file system does not tell when they were written.
        """
        is_empty = True
        for info in self._files(self._path("")):
            is_empty = False
            name = info["name"][len(self._root) :].strip("/")
            yield StoredObject(name, int(info["size"] or 0), _time_of(info))
        if is_empty:
            self.size("nothing")  # raises that a server does not answer, which some listings hide

    def _files(self, path: str) -> Iterator[dict[str, Any]]:
        try:
            if self._is_object_store:
                yield from self._fs.find(path, detail=True).values()
                return
            # Not `find`, which leaves out folders that it can't list.
            for info in self._fs.ls(path, detail=True):
                if info["type"] != "directory":
                    yield info
                elif info["name"].strip("/") != path.strip("/"):  # some list the folder itself
                    yield from self._files(info["name"])
        except FileNotFoundError as error:  # no place, or a folder that another process removed
            self._check_bucket(error)

    def remove(self, name: str) -> None:
        """Remove an object."""
        try:
            self._fs.rm_file(self._path(name))
        except FileNotFoundError:
            return

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if self._root else name

    def _put(self, name: str, put: Any) -> None:
        target = self._path(name)
        if self._is_object_store:
            put(target)
            return
        self._make_folder(target.rpartition("/")[0])
        temporary = f"{target}.{uuid.uuid4().hex}.part"
        try:
            put(temporary)
            self._rename(temporary, target)
        except Exception:  # libraries raise errors of their own, such as for a full disk
            with contextlib.suppress(Exception):  # the first error says more
                self._fs.rm_file(temporary)
            raise

    def _make_folder(self, path: str) -> None:
        # SFTP looks for each folder before it makes it, and other writers may be faster at each.
        for left in range(path.count("/"), -1, -1):
            try:
                self._fs.makedirs(path, exist_ok=True)
                break
            except Exception:
                if not left and not self._fs.isdir(path):
                    raise

    def _rename(self, temporary: str, target: str) -> None:
        for turn in range(1, _RENAMES + 1):
            try:
                self._fs.mv(temporary, target)  # at best in place of what is there, as with SFTP
                break
            except Exception:  # some file systems rename to no name that is taken
                is_taken = self._fs.exists(target)
                if is_taken and turn > _REMOVALS:
                    # What another writer put there is as good.
                    self._fs.rm_file(temporary)
                    break
                if turn == _RENAMES:
                    raise
                # If it is not taken, another writer has removed it to put its own there.
                with contextlib.suppress(FileNotFoundError):
                    if is_taken:
                        self._fs.rm_file(target)

    def _check_bucket(self, error: FileNotFoundError) -> None:
        """Tell an object that is missing from a bucket that is."""
        if _code(error) in _NO_BUCKET:
            raise CacheError("there is no such bucket") from error
        if not self._is_bucket_known:
            try:
                self._fs.info(self._root.partition("/")[0])
            except FileNotFoundError:
                text = "there is no such bucket, or it is empty and you may not see that it exists"
                raise CacheError(text) from error
            self._is_bucket_known = True


def _code(error: Exception) -> str:
    """Return the code in the answer of S3, Azure or GCS; an empty str for any other error."""
    answer = error.__cause__ or error
    response = getattr(answer, "response", None)
    s3 = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    code = s3 or getattr(answer, "error_code", None) or getattr(answer, "code", None)
    return str(getattr(code, "value", code) or "")


def _time_of(info: dict[str, Any]) -> float:
    for key in _TIMES:
        value = info.get(key)
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, int | float):
            return float(value)
    raise CacheError("it does not tell when its objects were written")
