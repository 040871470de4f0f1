"""The Hugging Face Hub as a source: pinned by its commit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.base.locations import Location
from registry.boundary.paths import check_folder, list_files
from registry.errors import DigestMismatchError, SourceError
from registry.manifest.source import Repository, is_commit
from registry.manifest.source_models import GENERIC_BUILDERS, HfSource
from registry.sources.files import pin_files
from registry.sources.filesystem import missing_error, offline_error, source_errors
from registry.sources.hub.api import request_commit
from registry.sources.pins import SourceContext, SourcePin
from registry.sources.source_type import FormatReader

if TYPE_CHECKING:
    from registry.decode.stream import SourceBytes
    from registry.sources.facts import SourceFacts

__all__ = ["HubReader", "pin_hub"]


class HubReader(FormatReader[HfSource]):
    """Reads what `datasets` loads: a repository, a local folder, or the files of a builder."""

    def pin(self, context: SourceContext) -> SourcePin:
        """Return the commit, or the digests of the files."""
        return pin_hub(self.source, context)

    def probe(self, context: SourceContext) -> SourcePin | None:
        """Return the commit of a repository whose records are not in the cache, else None."""
        # `datasets` decides which rows of a slice such as `test[:10%]` are the first.
        if self.source.repository is None or not self.source.split.isidentifier():
            return None
        pinned = pin_hub(self.source, context)
        if context.offline or context.cache.find("records", pinned.digest) is not None:
            return None
        return SourcePin({**pinned.identity, "glance": True}, revision=pinned.revision)

    def facts(self, context: SourceContext, *, rows: int | None) -> SourceFacts:
        """Ask the Hub for commit, configuration, split and row count."""
        from registry.sources.facts import hub_facts  # only `verify` asks

        return hub_facts(self.source, context, pin_hub, rows=rows)

    def fetch(
        self, pinned: SourcePin, context: SourceContext, *, rows: int | None = None
    ) -> list[SourceBytes]:
        """Return all records, or the first `rows`, as one Arrow file."""
        from registry.sources.hub import records  # not needed for cached samples

        if rows is not None:
            return [records.fetch_hub_part(self.source, pinned, context, rows)]
        return [records.fetch_hub(self.source, pinned, context)]


def pin_hub(source: HfSource, context: SourceContext, **extra: Any) -> SourcePin:
    """Pin a repository to a commit, and a local folder or a builder's files to their digests.

    A full commit makes no request. Any other revision is looked up; offline, the commit of the
    last lookup is used. `extra` are further arguments of `load_dataset`.
    """
    identity: dict[str, Any] = {
        "path": source.path,
        "name": source.name,
        "split": source.split,
        "data_dir": source.data_dir,
        "data_files": source.data_files,
        # The folder of the download does not change what is in it.
        "extra": {key: repr(extra[key]) for key in sorted(extra) if key != "cache_dir"},
    }
    if source.path in GENERIC_BUILDERS:
        if source.data_files is None:
            raise SourceError(f"the builder {source.path} needs `data_files`")
        for path in source.paths():
            path.check()
        files = pin_files(source.paths(), {}, context)
        return SourcePin({**identity, "data_files": files.identity}, files.files)
    repository = source.repository
    if repository is None:
        files = _pin_folder(Location(source.path), context)
        names = [os.path.relpath(file.location, source.path) for file in files.files]
        return SourcePin({**identity, "path": names, "files": files.identity}, contents=files.files)
    revision = _commit(source, repository, context)
    return SourcePin({**identity, "revision": revision}, revision=revision)


def _pin_folder(path: Location, context: SourceContext) -> SourcePin:
    """Pin all files in a folder, because `datasets` chooses among them."""
    real = context.boundary.check_path(path)
    if not os.path.exists(real):
        raise missing_error(path, "no such folder")
    if not os.path.isdir(real):
        hint = "`type: csv`, `json` or `parquet` reads one"
        raise SourceError(f"{path}: is a file, not a folder ({hint})")
    with source_errors(path):
        check_folder(path, context.boundary)
    found = [*map(Location, list_files(path, context.boundary))]
    if not found:
        raise missing_error(path, "the folder has no files")
    lock = context.lock
    pinned = lock.files(path) if lock else None
    if lock is None or pinned is None:
        return pin_files(found, {}, replace(context, lock=None), requested=path)
    locations = sorted(location for location, _ in pinned)
    if lock.compare and locations != found:
        before, now = (
            ", ".join(os.path.relpath(file, path) for file in files) for files in (locations, found)
        )
        raise DigestMismatchError(path, dataset=lock.dataset, pinned=before, found=now)
    return pin_files([path], {}, context, requested=path)


def _commit(source: HfSource, repository: Repository, context: SourceContext) -> str:
    locked = context.lock and context.lock.revision(repository)
    if locked:
        return locked
    if source.revision is not None and is_commit(source.revision):
        return source.revision
    endpoint = os.environ.get("HF_ENDPOINT", "")
    key = digest_of({"hub": source.path, "revision": source.revision, "endpoint": endpoint})
    if context.offline:
        known = context.cache.recall(key, "revision")
        if known is None:
            raise offline_error(Location(source.path))
        return str(known["revision"])
    if key not in context.lookups:
        context.lookups[key] = request_commit(
            source, source.revision, context.deadline, report=context.report
        )
        context.cache.remember(key, {"revision": context.lookups[key]})
    return str(context.lookups[key])
