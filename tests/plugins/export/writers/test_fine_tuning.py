"""Chat fine-tuning: conversations that end with the one target."""

from __future__ import annotations

import io
import json

import pytest

from registry.errors import ExportError
from registry.plugins.export.writers.fine_tuning import write
from tests.plugins.export.conftest import Opener


def test_conversations_end_with_the_target(opened: Opener) -> None:
    file = io.BytesIO()
    write(opened("chat"), file)
    first = json.loads(file.getvalue().splitlines()[0])
    assert first == {
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "U"},
            {"role": "assistant", "content": "1"},
        ]
    }


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ({}, r"mixed: sample 2 \(id 2\): it has 2 targets"),
        ({"shuffle": True, "seed": 3}, "mixed: sample"),
    ],
)
def test_several_targets_or_none_are_refused(
    opened: Opener, view: dict[str, int], message: str
) -> None:
    with pytest.raises(ExportError, match=message):
        write(opened("mixed", **view), io.BytesIO())
