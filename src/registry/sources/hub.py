"""The Hugging Face Hub as a source: which commit a dataset is at."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.base.locations import public_location
from registry.errors import (
    AccessError,
    DigestMismatchError,
    OfflineError,
    SourceError,
)
from registry.manifest.models import GENERIC_BUILDERS, data_file_list, is_commit, is_folder
from registry.sources.files import pin_files
from registry.sources.filesystem import causes, status_of
from registry.sources.pins import SourceContext, SourcePin

if TYPE_CHECKING:
    from registry.manifest.models import HfSource

__all__ = ["ask_commit", "hub_errors", "offline_error", "pin_hub", "probe_hub"]

_ASK_SECONDS = 30.0


def pin_hub(source: HfSource, context: SourceContext, **extra: Any) -> SourcePin:
    """Pin a Hub dataset to a commit, a local folder or a builder's files to their bytes.

    A full commit makes no request. Another revision is asked for, unless offline: then it is
    the commit that it was when last asked for. `extra` are further arguments of `load_dataset`.
    """
    identity: dict[str, Any] = {
        "path": source.path,
        "name": source.name,
        "split": source.split,
        "data_dir": source.data_dir,
        "data_files": source.data_files,
        "extra": {key: repr(value) for key, value in sorted(extra.items())},
    }
    if source.path in GENERIC_BUILDERS:
        if source.data_files is None:
            raise SourceError(f"the builder {source.path} needs `data_files`")
        files = pin_files(data_file_list(source.data_files), {}, context)
        return SourcePin({**identity, "data_files": files.identity}, files.files)
    if is_folder(source.path):
        files = _pin_folder(source.path, context)
        names = [os.path.relpath(file.location, source.path) for file in files.files]
        whole = {**identity, "path": names, "files": files.identity}
        return SourcePin(whole, contents=files.files)
    revision = _commit(source, context)
    return SourcePin({**identity, "revision": revision}, revision=revision)


def _pin_folder(path: str, context: SourceContext) -> SourcePin:
    """Pin the files of a folder, which `datasets` reads as a whole."""
    found = _folder_files(Path(path))
    if not found:
        raise SourceError(f"{path}: the folder has no files")
    lock = context.lock
    pinned = lock.files(path) if lock else None
    if lock is None or pinned is None:
        return pin_files(found, {}, replace(context, lock=None), asked=path)
    locations = sorted(location for location, _ in pinned)
    if lock.compare and locations != found:
        names = [
            ", ".join(os.path.relpath(one, path) for one in all_) for all_ in (locations, found)
        ]
        raise DigestMismatchError(path, dataset=lock.dataset, pinned=names[0], found=names[1])
    return pin_files([path], {}, context, asked=path)


def _folder_files(folder: Path) -> list[str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in paths if not path.relative_to(folder).parts[0].startswith(".")]


def _commit(source: HfSource, context: SourceContext) -> str:
    lock = context.lock and context.lock.revision(source.path, source.revision)
    if lock:
        return lock
    if source.revision is not None and is_commit(source.revision):
        return source.revision
    endpoint = os.environ.get("HF_ENDPOINT", "")
    key = digest_of({"hub": source.path, "revision": source.revision, "endpoint": endpoint})
    if context.offline:
        known = context.cache.recall(key, "revision")
        if known is None:
            raise offline_error(source)
        return str(known["revision"])
    commit = ask_commit(source, source.revision)
    context.cache.remember(key, {"revision": commit})
    return commit


def ask_commit(source: HfSource, revision: str | None) -> str:
    """Return the commit of a revision; says what is wrong with the repository, if anything."""
    from huggingface_hub import HfApi

    with hub_errors(source):
        info = HfApi().dataset_info(source.path, revision=revision, timeout=_ASK_SECONDS)
    script = f"{source.path.rpartition('/')[2]}.py"
    files = [file.rfilename for file in info.siblings or ()]
    if script in files and source.data_files is None:
        raise SourceError(_script_advice(source, script))
    if info.sha is None or (is_commit(revision) and info.sha != revision):
        raise SourceError(f"{source.path}: asked for {revision}, the Hub answered {info.sha}")
    return info.sha


def offline_error(source: HfSource) -> OfflineError:
    """Return the error of a dataset that would have to be asked for."""
    return OfflineError(
        f"{source.path}: not in the cache, and requests are switched off (offline);"
        " run `python -m registry sync` once while online"
    )


def probe_hub(source: HfSource, context: SourceContext) -> SourcePin | None:
    """Return the commit of a repository, for a build of the first samples; else None.

    None also where the records are in the cache, and for parts of splits.
    """
    is_repository = source.path not in GENERIC_BUILDERS and not is_folder(source.path)
    if not is_repository or not source.split.isidentifier():
        return None
    pinned = pin_hub(source, context)
    if context.offline or context.cache.find("records", pinned.digest) is not None:
        return None
    return SourcePin({**pinned.identity, "glance": True}, revision=pinned.revision)


@contextlib.contextmanager
def hub_errors(source: HfSource, pinned: SourcePin | None = None) -> Iterator[None]:
    """Turn what `datasets` and the Hub's client raise into a SourceError with the way out."""
    import httpx2
    from datasets.exceptions import DatasetsError
    from huggingface_hub.errors import HfHubHTTPError

    files = ", ".join(public_location(file.location) for file in pinned.files) if pinned else ""
    where = f"{source.path} of {files}" if files else source.path
    try:
        yield
    except DatasetsError as error:
        if isinstance(error, OSError):
            raise _translated(error, source) from error
        raise SourceError(f"{where}: {error.__cause__ or error}") from error
    except (HfHubHTTPError, httpx2.HTTPError, OSError) as error:
        raise _translated(error, source) from error
    except (ValueError, RuntimeError) as error:
        raise SourceError(f"{where}: {error}") from error


def _translated(error: Exception, source: HfSource) -> SourceError:
    from huggingface_hub import errors

    kinds = {type(link) for link in causes(error)}
    where = source.path
    if kinds & {errors.OfflineModeIsEnabled}:
        return offline_error(source)
    if kinds & {errors.GatedRepoError}:
        return AccessError(f"{where}: the dataset is gated (ask for access, then set HF_TOKEN)")
    if kinds & {errors.RevisionNotFoundError}:
        return SourceError(f"{where}: no revision '{source.revision}'")
    if kinds & {errors.RepositoryNotFoundError}:
        return AccessError(f"{where}: no such dataset, or a private one (then set HF_TOKEN)")
    status = status_of(error)
    if status in (401, 403):
        return AccessError(f"{where}: the Hub refuses access: {status} (check HF_TOKEN)")
    if status:
        return SourceError(f"{where}: the Hub answered {status} (try again later)")
    return SourceError(f"{where}: {type(error).__name__}: {error}")


def _script_advice(source: HfSource, script: str) -> str:
    return (
        f"{source.path}: this dataset needs its own Python script, {script}, which is never run"
        " (give a `revision` with Parquet files, such as refs/convert/parquet, or read its data"
        " files with `data_files`, or with `type: json`, `csv` or `parquet`)"
    )
