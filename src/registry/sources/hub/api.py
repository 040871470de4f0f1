"""Requests to the Hugging Face Hub, with its errors translated to ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from registry.base.locations import public_location
from registry.errors import AccessError, SourceError
from registry.manifest.source import is_commit
from registry.sources.filesystem import causes, offline_error, status_of

if TYPE_CHECKING:
    from registry.manifest.source_models import HfSource
    from registry.sources.pins import SourcePin

__all__ = ["hub_errors", "request_commit"]

_TIMEOUT_SECONDS = 30.0


def request_commit(source: HfSource, revision: str | None) -> str:
    """Request the commit of a revision from the Hub.

    Raises:
        SourceError: no such repository or revision, or `datasets` can't read it.
    """
    from huggingface_hub import HfApi

    with hub_errors(source):
        info = HfApi().dataset_info(source.path, revision=revision, timeout=_TIMEOUT_SECONDS)
    script = f"{source.path.rpartition('/')[2]}.py"
    files = [file.rfilename for file in info.siblings or ()]
    if script in files:
        raise SourceError(
            f"{source.path}: this dataset needs its own Python script, {script}, which is never run"
            " (give a `revision` with Parquet files, such as refs/convert/parquet, or read its data"
            " files with `type: json`, `csv` or `parquet`)"
        )
    if info.sha is None or (is_commit(revision) and info.sha != revision):
        raise SourceError(f"{source.path}: requested {revision}, the Hub returned {info.sha}")
    return info.sha


@contextlib.contextmanager
def hub_errors(source: HfSource, pinned: SourcePin | None = None) -> Iterator[None]:
    """Translate errors of `datasets` and of the Hub's client to a SourceError."""
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
    if errors.OfflineModeIsEnabled in kinds:
        return offline_error(where)
    if errors.GatedRepoError in kinds:
        return AccessError(f"{where}: the dataset is gated (ask for access, then set HF_TOKEN)")
    if errors.RevisionNotFoundError in kinds:
        return SourceError(f"{where}: no revision '{source.revision}'")
    if errors.RepositoryNotFoundError in kinds:
        return AccessError(f"{where}: no such dataset, or a private one (then set HF_TOKEN)")
    status = status_of(error)
    if status in (401, 403):
        return AccessError(f"{where}: the Hub refuses access: {status} (check HF_TOKEN)")
    if status:
        return SourceError(f"{where}: the Hub answered {status} (try again later)")
    return SourceError(f"{where}: {type(error).__name__}: {error}")
