"""Show the progress of work on a source while nothing is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from msgspec import structs

from registry.cli.progress_bars import bars
from registry.sources.pins import SourceContext

__all__ = ["shown_progress"]


@contextmanager
def shown_progress(context: SourceContext, samples: int = 0) -> Iterator[SourceContext]:
    """Yield a context whose progress is shown until the block ends.

    Args:
        context: The context; its dataset names the bar.
        samples: How many samples will be mapped, if that is known.
    """
    name = context.dataset
    with bars(as_json=False, samples={name: samples} if samples else None) as report:
        yield structs.replace(context, report=partial(report, name))
