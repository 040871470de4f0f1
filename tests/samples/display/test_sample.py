"""A sample in a notebook and as rich prints it: small, escaped, with all fields."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from registry import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText, Sample
from registry.display.html import MOST_BYTES

HOSTILE = "<script>alert(1)</script>\u202e&\ud800\x1b]0;x\x07"


def printed(value: object) -> str:
    out = io.StringIO()
    Console(file=out, width=80, color_system=None).print(value)
    return out.getvalue()


def test_html_has_all_fields_and_marks_the_target() -> None:
    sample = Sample("Which?", ["a", "b"], "B", id="q1", metadata={"n": 1}, sandbox="docker")
    html = sample._repr_html_()
    for cell in ("q1", "Which?", "{&quot;n&quot;: 1}", "&quot;type&quot;: &quot;docker&quot;"):
        assert cell in html
    assert "A) a<br><mark>B) b ✓</mark>" in html


def test_html_of_a_conversation_names_roles_and_parts_that_are_no_text() -> None:
    picture = ContentImage(image="data:image/png;base64," + "A" * 5_000)
    user = ChatMessageUser(content=[ContentText(text="What is it?"), picture])
    html = Sample([ChatMessageSystem(content="Be brief."), user])._repr_html_()
    assert "<b>system</b> Be brief.<br><b>user</b> What is it?\n[image, 5,022 characters]" in html


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sample(
            HOSTILE * 100_000,
            ["&" * 10_000] * 100,
            ["A"] * 10_000,
            id=HOSTILE * 100,
            metadata={HOSTILE: [HOSTILE] * 1_000},
            files={str(n): HOSTILE * 10 for n in range(1_000)},
            setup="'" * 100_000,
            description="<" * 100_000,
        ),
        lambda: Sample([ChatMessageUser(content=HOSTILE * 1_000) for _ in range(100)]),
        lambda: Sample(
            [ChatMessageUser(content="y" * 10**6) for _ in range(100)],
            ["x" * 10**6] * 100,
            metadata={"key": "z" * 10**6},
        ),
    ],
    ids=["fields", "conversation", "both"],
)
def test_hostile_sample_is_small_and_harmless(make: Callable[[], Sample]) -> None:
    sample = make()
    html = sample._repr_html_()
    assert len(html.encode()) < MOST_BYTES
    assert "<script" not in html
    assert not set(html) & set("\u202e\x1b\x07")
    assert "more characters" in html
    text = printed(sample)
    assert len(text) < 200_000
    assert not set(text) & set("\u202e\x1b\x07")


def test_rich_prints_fields_that_have_a_value() -> None:
    assert printed(Sample("Q?", id=3)) == "Sample(input='Q?', target='', id=3)\n"


def test_equality_and_repr_of_samples_stay_as_pydantic_makes_them() -> None:
    assert repr(Sample("Q?")).startswith("Sample(input='Q?', choices=None, target='', id=None")
