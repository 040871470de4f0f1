"""The signatures by which editors complete a call, and what is passed on, name the same arguments."""

from __future__ import annotations

import inspect
from typing import get_type_hints

import registry.inspect
from registry import get_dataset
from registry.load.dataset import Options


def test_all_arguments_are_named_in_the_signature() -> None:
    parameters = inspect.signature(get_dataset).parameters
    assert {one.kind for one in parameters.values()} == {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    }
    described = inspect.getdoc(get_dataset) or ""
    assert [name for name in parameters if f"\n    {name}: " not in described] == []


def test_what_is_passed_on_has_the_same_names() -> None:
    parameters = inspect.signature(get_dataset).parameters.keys()
    others = inspect.signature(registry.inspect.get_dataset).parameters.keys() - {"options"}
    assert others == {"name", "root", "source"}
    assert get_type_hints(Options).keys() == parameters - others
