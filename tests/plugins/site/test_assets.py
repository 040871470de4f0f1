"""Styles and scripts: ours, and no others."""

from __future__ import annotations

import re

import pytest

from registry.plugins.site.assets import LINKED_POLICY, SCRIPTS, STYLE, asset, inline_policy


@pytest.mark.parametrize("name", [STYLE, *SCRIPTS])
def test_assets_can_stand_in_a_page_and_reach_nothing_else(name: str) -> None:
    text = asset(name)
    assert text.isascii()
    assert not re.search(r"</|<!--|https?:|@import|url\(|innerHTML|eval\(|fetch\(", text)


def test_policies_allow_nothing_by_default() -> None:
    for policy in (LINKED_POLICY, inline_policy(["a{}"], ["1"])):
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        assert "*" not in policy
        assert "http" not in policy


def test_inline_policy_names_each_text_by_its_hash() -> None:
    # The example of the specification, Content Security Policy Level 3, section 8.3.
    text = "alert('Hello, world.');"
    known = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
    assert inline_policy([], [text]).endswith(f"script-src {known}")
