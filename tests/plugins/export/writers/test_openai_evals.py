"""The samples file of OpenAI's evals: input and ideal."""

from __future__ import annotations

import io
import json

from registry.plugins.export.writers.openai_evals import write
from tests.plugins.export.conftest import Opener


def test_lines_have_input_and_ideal(opened: Opener) -> None:
    file = io.BytesIO()
    write(opened("mixed"), file)
    records = [json.loads(line) for line in file.getvalue().splitlines()]
    assert records[0] == {"input": [{"role": "user", "content": "Né?"}], "ideal": "x"}
    assert records[1]["ideal"] == ["y", "z"]
    assert records[3]["input"][0]["content"] == "D\n\nA) p\nB) q"
