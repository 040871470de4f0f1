"""Modules that are imported at their first use."""

from __future__ import annotations

import sys

import pytest

from registry.store import LazyModule


def test_module_is_imported_when_a_name_is_first_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    lazy = LazyModule("colorsys")
    assert "colorsys" not in sys.modules
    assert lazy.rgb_to_hsv(1, 1, 1) == (0.0, 0.0, 1)
    assert lazy.rgb_to_hsv is sys.modules["colorsys"].rgb_to_hsv


def test_name_that_the_module_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'colorsys' has no attribute 'nothing'"):
        LazyModule("colorsys").nothing  # noqa: B018 (the attribute access is tested)
