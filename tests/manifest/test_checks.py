"""The checks of merged keys: each function separately."""

from __future__ import annotations

from typing import Any

import pytest

from registry.manifest import checks
from registry.manifest.merge import Layer, Merged, merge
from registry.rules import Finding


def merged(value: dict[str, Any]) -> Merged:
    return Merged(value, {(): Layer("own", value)})


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ({"shuffle": True}, [("shuffle",)]),
        ({"shuffle_choices": True}, [("shuffle_choices",)]),
        ({"shuffle": True, "shuffle_choices": True}, [("shuffle",), ("shuffle_choices",)]),
        ({"shuffle": True, "seed": 0}, []),
        ({"shuffle": False}, []),
        ({"shuffle_choices": 1}, []),
        ({}, []),
    ],
)
def test_shuffle_needs_a_seed(value: dict[str, Any], paths: list[Any]) -> None:
    assert [found.path for found in checks.unseeded_shuffle(merged(value))] == paths


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ({"seed": 1}, 1),
        ({"seed": 1, "shuffle": False}, 1),
        ({"seed": 1, "shuffle": True}, 0),
        ({"shuffle": True}, 0),
    ],
)
def test_seed_needs_a_shuffle(value: dict[str, Any], count: int) -> None:
    expected = Finding(("seed",), "`seed` without `shuffle` does nothing", "add `shuffle: true`")
    assert list(checks.seed_without_shuffle(merged(value))) == [expected] * count


@pytest.mark.parametrize("seed", [0, 1])
def test_examples_and_a_seed_that_contradict_each_other_are_reported(seed: int) -> None:
    written = {"split": "dev", "n": 1, "apply": True, "question": "{input} {choices}"}
    value = {"fewshot": {**written, "seed": seed}, "shuffle_choices": seed}
    found = [one.path for one in checks.bad_fewshot(merged(value))]
    assert found == [("fewshot", "seed"), ("fewshot", "ask")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"fields": {"input": "q", "target": None}}, []),
        ({"fields": {"input": {"template": "{q"}}}, ["fields", "input"]),
        ({"fields": {"metadata": {"a": "x", "b.c": {"template": "{x"}}}}, ["fields", "metadata", "b.c"]),
        ({"fields": {"metadata": ["x", "y"]}}, []),
        ({"where": {"value": "q", "equals": 1}}, []),
        ({"where": {"value": "q", "equal": 1}}, ["where"]),
    ],
)  # fmt: skip
def test_invalid_expression_is_reported_at_its_key(
    value: dict[str, Any], expected: list[str]
) -> None:
    found = list(checks.bad_expression(merged(value)))
    assert [list(one.path) for one in found] == ([expected] if expected else [])
    assert all(one.message for one in found)


def test_mapper_together_with_fields_is_reported_at_the_mapper() -> None:
    (found,) = checks.mapper_and_fields(merged({"mapper": "p:f", "fields": {}}))
    assert found == Finding(
        ("mapper",),
        "`mapper` and `fields` can't be combined",
        "remove one; null removes an inherited key",
    )


@pytest.mark.parametrize(
    ("key", "check"),
    [("license", checks.missing_license), ("description", checks.missing_description)],
)
def test_missing_key_of_a_parent_is_not_reported_again_for_children(key: str, check: Any) -> None:
    defaults = Layer("default", {})

    def found(*layers: Layer) -> list[tuple[str | int, ...]]:
        return [one.path for one in check(merge(layers, defaults))]

    own, parent = Layer("own", {"limit": 1}), Layer("parent", {"limit": 2})
    assert found(own) == [(key,)]
    assert found(parent, own) == []
    assert found(Layer("parent", {key: "x"}), own) == []
    # A child that removes the key is reported itself.
    assert found(Layer("parent", {key: "x"}), Layer("own", {key: None})) == [(key,)]


@pytest.mark.parametrize(
    ("given", "path", "hint"),
    [
        ("mit", None, ""),
        ("MIT AND (CC-BY-4.0 OR LicenseRef-Ours)", None, ""),
        ({"none-stated": "2026-11-23", "looked-at": "https://x.org"}, None, ""),
        ({"spdx": "MIT", "read-at": "https://x.org"}, None, ""),
        ("CC-BY-4", ("license",), "did you mean CC-BY-4.0 or "),
        ({"spdx": "other"}, ("license", "spdx"), "`LicenseRef-…` names"),
    ],
)
def test_licence_is_an_spdx_expression(given: Any, path: Any, hint: str) -> None:
    found = list(checks.bad_license(merged({"license": given})))
    assert [one.path for one in found] == ([] if path is None else [path])
    assert all(one.hint.startswith(hint) for one in found)
