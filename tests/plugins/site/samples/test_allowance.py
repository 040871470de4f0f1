"""Texts of a page take no more bytes than there are for them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.plugins.site.samples.allowance import Allowance
from registry.plugins.site.text import content_html


@settings(deadline=None)
@given(st.lists(st.text(max_size=50), max_size=20), st.integers(0, 200))
def test_allowance_bounds_the_bytes_of_a_page(texts: list[str], size: int) -> None:
    allowance = Allowance(size)
    shown = [allowance.take(text, 40)[0] for text in texts]
    # The share that fits is an estimate for the one text that is cut for it.
    assert sum(len(one.encode()) for one in shown) <= size + 40 * 10
    starts = [{content_html(text[:end]) for end in range(41)} for text in texts]
    assert all(one in known for one, known in zip(shown, starts, strict=True))


def test_allowance_that_is_used_up_gives_nothing() -> None:
    allowance = Allowance(10)
    assert allowance.take("0123456789", 99) == ("0123456789", "")
    assert allowance.take("more", 99) == ("", "4 more characters of 4 not shown")
