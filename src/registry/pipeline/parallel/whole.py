"""Whole builds in worker processes, where several datasets are built at once."""

from __future__ import annotations

import pickle  # nosec B403
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from registry.base.processes.executor import WorkerLostError
from registry.pipeline.builder import BuildResult, build
from registry.pipeline.parallel.parts import parts_of

if TYPE_CHECKING:
    from registry.base.processes.child import Tell
    from registry.manifest.models import DatasetSpec
    from registry.pipeline.fewshot.examples import Companion
    from registry.sources.pins import Pins, SourceContext

__all__ = ["answer", "build_by_worker"]

_LEAST_BYTES = 1 << 23
"""Size of the files of a build that a worker does: less takes as long as sending it there."""


def build_by_worker(
    spec: DatasetSpec,
    pins: Pins,
    context: SourceContext,
    folder: Path,
    *,
    limit: int | None,
    companion: Companion | None = None,
) -> BuildResult | None:
    """Build a dataset as `build` does; return None if that is to be done in this process.

    Raises:
        RegistryError: as `build`.
        WorkersEndedError: the workers were ended.
    """
    size = sum(file.size for pinned in pins.sources for file in pinned.files)
    if context.workers is None or size < _LEAST_BYTES:
        return None
    pairs = zip(spec.sources, pins.sources, strict=True)
    if context.elsewhere is not None and any(
        len(parts_of(spec, *pair, context)) > 1 for pair in pairs
    ):
        return None
    arguments = (spec, pins, context.sent(), folder, limit, companion)
    try:
        # Not again by another worker: the folder has what the lost one wrote.
        later = context.workers.call(
            f"{__name__}:answer", *arguments, on_message=context.report, attempts=1
        )
        result: BuildResult = later.result()
    # The others are those of pickling.
    except (WorkerLostError, pickle.PicklingError, TypeError, AttributeError) as error:
        import logging  # slow to import

        message = "%s: %s; it is built by this process"
        logging.getLogger("registry").warning(message, spec.name, error)
        for path in folder.iterdir():
            path.unlink()
        return None
    return result


def answer(
    tell: Tell,
    spec: DatasetSpec,
    pins: Pins,
    sent: SourceContext,
    folder: Path,
    limit: int | None,
    companion: Companion | None,
) -> BuildResult:
    """Build a dataset in a worker, which reports its progress to its parent."""
    context = replace(sent, report=tell)
    return build(spec, pins, context, folder, limit=limit, companion=companion)
