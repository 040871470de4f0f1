"""The budget of one dataset."""

from __future__ import annotations

import msgspec
import pytest

from registry.base.conversion import convert
from registry.boundary.limits import Limits


def test_unknown_limits_are_refused() -> None:
    assert convert({}, Limits) == Limits()
    with pytest.raises(msgspec.ValidationError):
        convert({"forever": 1}, Limits)
