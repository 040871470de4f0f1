"""Files of one commit on the Hub: stored as blobs, and checked with the digests the Hub names."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.base.cache_access import make_folder
from registry.base.digest import digest_of
from registry.base.fs import file_sha256
from registry.base.locations import Location
from registry.boundary.paths import CARDS
from registry.errors import SourceError
from registry.sources.bodies import DamagedError, new_hash
from registry.sources.filesystem import limited_requests
from registry.sources.hub.api import hub_errors, wrong_answer
from registry.sources.transfer import Transfer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.progress import Deadline
    from registry.sources.pins import SourceContext

__all__ = [
    "Commit",
    "CommitFiles",
    "HubFile",
    "check_card",
    "fetch_file",
    "fetch_files",
    "list_all",
    "list_files",
]

_CARD = (*CARDS, "dataset_infos.json")
"""Files that `datasets` reads by itself, for the configurations and their data files."""
_DOWNLOADS = 2
_PATHS_PER_REQUEST = 500
# As in `datasets`: a few files are mostly large ones, which fill the line one after the other.
_MANY_FILES = 16
_THREADS = 16


class Commit(Struct, frozen=True):
    """A commit of a dataset repository."""

    repository: str
    """`owner/name`."""
    revision: str
    """The full commit."""
    token: str | bool | None = None
    """Token for the Hub; None is that of the user, False is none."""

    def path_of(self, location: str) -> str:
        """Return the path of a file in the repository, for its `hf://` location.

        Raises:
            SourceError: the location is elsewhere.
        """
        path = location.removeprefix(f"hf://datasets/{self.repository}@{self.revision}/")
        if path == location or ".." in PurePosixPath(path).parts or path.startswith("/"):
            message = "not a file of this commit, so its bytes can't be checked"
            raise SourceError(f"{self}: {location}: {message} (read it as `type: json`, `csv`, …)")
        return path

    def location(self, path: str) -> Location:
        """Return the `hf://` location of a file."""
        return Location(f"hf://datasets/{self.repository}@{self.revision}/{path}")

    def __str__(self) -> str:
        return f"{self.repository}@{self.revision[:7]}"


class HubFile(Struct, frozen=True):
    """A file as the Hub describes it."""

    path: str
    size: int
    digest: str
    """`sha256:…` of a file in LFS; of any other `git:…`, the id of its blob in git."""


class CommitFiles(Struct, frozen=True):
    """Files of a commit, with what `open_body` asks the file system of the Hub's client for."""

    commit: Commit
    listed: Mapping[str, HubFile]
    """The files that the Hub was asked about, by their paths."""

    @property
    def token(self) -> str | bool | None:
        """Token for the Hub."""
        return self.commit.token

    def info(self, location: Location) -> dict[str, Any]:
        """Return size and digest of a file, named as the client does."""
        file = self.listed[self.commit.path_of(location)]
        kind, _, digest = file.digest.partition(":")
        named = {"blob_id": digest} if kind == "git" else {"lfs": {"sha256": digest}}
        return {"size": file.size, **named}

    def url(self, location: Location) -> str:
        """Return where the bytes of a file are."""
        from huggingface_hub import hf_hub_url

        commit, path = self.commit, self.commit.path_of(location)
        return hf_hub_url(commit.repository, path, repo_type="dataset", revision=commit.revision)


def list_files(commit: Commit, paths: Sequence[str]) -> dict[str, HubFile]:
    """Ask the Hub for the sizes and digests of those of the paths that exist."""
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    found: dict[str, HubFile] = {}
    for start in range(0, len(paths), _PATHS_PER_REQUEST):
        listed = HfApi(token=commit.token).get_paths_info(
            commit.repository,
            list(paths[start : start + _PATHS_PER_REQUEST]),
            revision=commit.revision,
            repo_type="dataset",
        )
        for one in listed:
            if isinstance(one, RepoFile):
                digest = f"sha256:{one.lfs.sha256}" if one.lfs else f"git:{one.blob_id}"
                found[one.path] = HubFile(one.path, one.size, digest)
    return found


def list_all(commit: Commit, paths: Sequence[str]) -> dict[str, HubFile]:
    """Ask the Hub for sizes and digests of files; one that does not exist is an error."""
    files = list_files(commit, list(dict.fromkeys(paths)))
    if missing := [path for path in paths if path not in files]:
        raise wrong_answer(f"{commit}: no file '{missing[0]}'")
    return files


def fetch_files(
    locations: Iterable[str], commit: Commit, folder: Path, context: SourceContext
) -> list[str]:
    """Put files of a commit, by their `hf://` locations, into a folder; return their paths there.

    The folder has them under their names in the repository, since `datasets` looks for media beside
    the file that names them.
    """
    paths = [commit.path_of(location) for location in locations]
    files = list_all(commit, paths)
    fetch = partial(fetch_file, commit=commit, context=context)
    if len(files) < _MANY_FILES:
        blobs = list(map(fetch, files.values()))
    else:
        pool = ThreadPoolExecutor(_THREADS)
        try:
            blobs = list(pool.map(fetch, files.values()))
        finally:
            pool.shutdown(cancel_futures=True)
    for path, blob in zip(files, blobs, strict=True):
        _link(blob, folder / path)
    return [str(folder / path) for path in paths]


def fetch_file(file: HubFile, commit: Commit, context: SourceContext) -> Path:
    """Return the bytes of a file in the blobs; they are downloaded unless they are there, intact.

    Raises:
        SourceError: the Hub does not send the bytes whose digest it names.
    """
    blob = _known(file, context)
    if blob is None:
        # Another process may download it while this one waits for the lock.
        with context.working("blobs", _key(file)) as holding:
            blob = _known(file, context) or _download(file, commit, holding)
    return blob


def check_card(commit: Commit, context: SourceContext) -> None:
    """Fetch the files that `datasets` reads by itself, and remove damaged ones from its cache.

    It finds them by their commit in the folder of the Hub's client, whatever bytes they have there.
    """
    from huggingface_hub import try_to_load_from_cache

    files = list_files(commit, _CARD)
    for name in _CARD:
        if name in files:
            _fetch_card_file(files[name], commit, context)
            continue
        known = try_to_load_from_cache(
            commit.repository, name, repo_type="dataset", revision=commit.revision
        )
        if isinstance(known, str):
            _quarantine(Path(known), context)


def _fetch_card_file(file: HubFile, commit: Commit, context: SourceContext) -> None:
    from huggingface_hub import hf_hub_download

    for _ in range(_DOWNLOADS):
        path = hf_hub_download(
            commit.repository,
            file.path,
            repo_type="dataset",
            revision=commit.revision,
            token=commit.token,
        )
        found = _digest(Path(path), file)
        if found == file.digest:
            return
        _quarantine(Path(path), context)
    raise _damaged(file, commit, found)


def _known(file: HubFile, context: SourceContext) -> Path | None:
    sha256 = file.digest.removeprefix("sha256:")
    if sha256 == file.digest:
        remembered = context.cache.recall(_key(file), "sha256")
        if remembered is None:
            return None
        sha256 = str(remembered["sha256"])
    return context.cache.intact_blob(sha256)


def _download(file: HubFile, commit: Commit, context: SourceContext) -> Path:
    """Download a file; one that has another digest than the Hub names is fetched once more."""
    with context.cache.temporary() as folder:
        path = folder / "download"
        transfer = Transfer(
            commit.location(file.path),
            _Requests(file, commit, context.deadline),
            path,
            limits=context.boundary.limits,
            report=context.report,
            size=file.size,
            name=f"{commit}: {file.path}",
        )
        try:
            sha256, _ = transfer.run()
        except DamagedError:
            raise _damaged(file, commit, _digest(path, file)) from None
        finally:
            if transfer.rejected:
                context.cache.quarantine_file(path)
        if not file.digest.startswith("sha256:"):
            context.cache.remember(_key(file), {"sha256": sha256})
        return context.cache.store_blob(path, sha256)


@dataclass(frozen=True)
class _Requests:
    """Requests for one file of a commit."""

    file: HubFile
    commit: Commit
    deadline: Deadline

    def of(self, _: Location) -> CommitFiles:
        return CommitFiles(self.commit, {self.file.path: self.file})

    @contextlib.contextmanager
    def requests(self, location: Location) -> Iterator[None]:
        # The limits of who asked for several files are not those of the threads that fetch them.
        where = f"{self.commit}: {self.file.path}"
        with hub_errors(where), limited_requests(location, self.deadline):
            yield


def _key(file: HubFile) -> str:
    """Return the name of a blob's lock, and of what is remembered of it."""
    return file.digest if file.digest.startswith("sha256:") else digest_of({"hub": file.digest})


def _digest(path: Path, like: HubFile) -> str:
    """Return the digest of a file, of the kind that the Hub names for it."""
    if like.digest.startswith("sha256:"):
        return f"sha256:{file_sha256(path)}"
    with path.open("rb") as opened:
        found = hashlib.file_digest(opened, lambda: new_hash("git", path.stat().st_size))
    return f"git:{found.hexdigest()}"


def _damaged(file: HubFile, commit: Commit, found: str) -> SourceError:
    return wrong_answer(
        f"{commit}: {file.path}: the Hub names {file.digest}, the bytes it sends have {found}, in"
        f" {_DOWNLOADS} downloads (nothing is cached; try again, or from another network)"
    )


def _quarantine(path: Path, context: SourceContext) -> None:
    """Move a rejected file to the quarantine, and remove the link that leads to it."""
    blob = path.resolve()
    context.cache.quarantine_file(blob)
    blob.unlink(missing_ok=True)  # the folder of the Hub's client may be on another disk
    path.unlink(missing_ok=True)


def _link(blob: Path, target: Path) -> None:
    """Give a blob another name, which stays if the blob is pruned."""
    make_folder(target.parent)
    if target.exists():
        return
    try:
        os.link(blob, target)
    except OSError:  # a file system without hard links
        shutil.copyfile(blob, target)
