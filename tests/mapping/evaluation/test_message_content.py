"""Values become the parts of a message's content."""

from __future__ import annotations

import pytest

from registry.errors import MappingError
from registry.mapping.evaluation.message_content import content_parts


def test_a_list_gives_a_part_for_each_item_that_is_not_empty() -> None:
    assert content_parts("image", ["a", None, ""]) == [{"type": "image", "image": "a"}]
    assert content_parts("", [{"text": "x", "image": None}]) == [{"type": "text", "text": "x"}]


def test_a_part_that_is_no_string_is_an_error() -> None:
    with pytest.raises(MappingError, match="a message's text must be a string"):
        content_parts("text", 5)
