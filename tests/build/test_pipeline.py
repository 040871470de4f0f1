"""The compiled mapping of a dataset: an error names the key that does not compile."""

from __future__ import annotations

from typing import Any

import pytest

from registry.build.pipeline import compile_pipeline
from registry.errors import ManifestError
from tests.build.conftest import Prepare


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"fields": {"input": {"from": "a", "do": ["nope"]}}}, "$.fields"),
        ({"where": {"value": {"from": "a", "do": ["nope"]}, "equals": 1}}, "$.where"),
        (
            {
                "fields": {"input": {"from": "a", "do": ["nope"]}},
                "where": {"value": {"from": "a", "do": ["nope"]}, "equals": 1},
            },
            "$.fields",
        ),
    ],
)
def test_a_mapping_that_does_not_compile_is_a_problem_of_its_key(
    prepare: Prepare, keys: dict[str, Any], path: str
) -> None:
    prepared = prepare([{"input": "a"}], **keys)
    with pytest.raises(ManifestError) as caught:
        compile_pipeline(prepared.spec, prepared.pins, prepared.context)
    (problem,) = caught.value.problems
    assert (problem.path, problem.rule) == (path, "bad-expression")
    assert "no operation 'nope'" in problem.message


def test_a_local_source_needs_no_resolver_while_it_is_built(prepare: Prepare) -> None:
    prepared = prepare([{"input": "a"}])
    assert compile_pipeline(prepared.spec, prepared.pins, prepared.context).resolve is None
