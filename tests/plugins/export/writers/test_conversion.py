"""Errors name the sample."""

from __future__ import annotations

import pytest

from registry import Sample
from registry.errors import ExportError
from registry.plugins.export.writers.conversion import convert_samples
from tests.plugins.export.conftest import Opener


def test_error_names_number_and_id(opened: Opener) -> None:
    def refuse_third(sample: Sample) -> str:
        if sample.id == 3:
            raise ExportError("is odd")
        return str(sample.input)

    made = convert_samples(opened("mixed"), refuse_third)
    assert [next(made), next(made)] == ["Né?", "B"]
    with pytest.raises(ExportError, match=r"^mixed: sample 3 \(id 3\): is odd$"):
        next(made)
