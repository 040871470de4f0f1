"""Templates are split into strings, placeholders and sections."""

from __future__ import annotations

import pytest

from registry.manifest.templates import (
    Placeholder,
    Section,
    TemplatePart,
    parse_template,
    template_columns,
)

A, B = Placeholder("a"), Placeholder("b")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("text", ("text",)),
        ("{a}", (A,)),
        ("x{a}y{b}", ("x", A, "y", B)),
        ("{{a}}", ("{a}",)),
        ("{{{a}}}", ("{", A, "}")),
        ("{a|none}", (Placeholder("a", "none"),)),
        ("{a|}", (Placeholder("a", ""),)),
        ("{a|b|c}", (Placeholder("a", "b|c"),)),
        ("{a.b c}", (Placeholder("a.b c"),)),
        ("{?a}x{a}{/}y", (Section("a", ("x", A)), "y")),
        ("{?a}{?b}{b}{/}{/}", (Section("a", (Section("b", (B,)),)),)),
        ("{?a}{/}", (Section("a", ()),)),
    ],
)
def test_template_is_parsed_into_parts(text: str, parts: tuple[TemplatePart, ...]) -> None:
    assert parse_template(text) == parts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{a", "`{` in a template names no column (write a literal brace twice)"),
        ("a}", "`}` in a template names no column (write a literal brace twice)"),
        ("{}", "`{}` in a template names no column (write a literal brace twice)"),
        ("{?a}b", "`{?a}` is not closed by `{/}`"),
        ("{?a}{?b}{/}", "`{?a}` is not closed by `{/}`"),
        ("a{/}", "`{/}` closes no section of the template"),
        ("{?a}" * 33 + "{/}" * 33, "sections of a template nest at most 32 deep"),
    ],
)
def test_invalid_template_is_rejected_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (full text is compared)
        parse_template(text)
    assert str(caught.value) == message


def test_sections_nest_up_to_the_limit() -> None:
    (part,) = parse_template("{?a}" * 32 + "{/}" * 32)
    assert isinstance(part, Section)


def test_template_reads_the_columns_of_its_placeholders_and_sections() -> None:
    parts = parse_template("x{a}{?b}{c|none}{?d}{/}{/}{a}")
    assert list(template_columns(parts)) == ["a", "b", "c", "d", "a"]
