"""Progress of `add` goes to the terminal under the name of the dataset."""

from __future__ import annotations

import pytest
from msgspec import structs

from registry.cli.adding.progress import shown_progress
from registry.progress import Progress
from registry.sources.pins import SourceContext


def test_what_is_waited_for_is_shown_with_the_name(
    context: SourceContext, capsys: pytest.CaptureFixture[str]
) -> None:
    with shown_progress(structs.replace(context, dataset="d"), 5) as reporting:
        reporting.report(Progress("wait", 2, note="example.org"))
    assert capsys.readouterr().err == "d: waiting for example.org (2 s so far)\n"
