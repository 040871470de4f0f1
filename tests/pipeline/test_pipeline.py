"""The compiled mapping of a dataset: an error names the key that does not compile."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from registry.base.locations import Location
from registry.boundary.boundary import UNLIMITED, Boundary
from registry.errors import ManifestError
from registry.manifest.source_models import JsonSource
from registry.pipeline.pipeline import PipelineState, compile_pipeline, keep_pipeline
from tests.pipeline.conftest import Prepare


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


def test_names_of_files_are_resolved_beside_the_source_whichever_part_is_first(
    prepare: Prepare,
) -> None:
    made = prepare([{"input": "a"}])
    local, remote = made.spec.source, JsonSource(path=(Location("https://x.org/a.jsonl"),))
    for source, parts in ((local, ()), (local, (remote, local)), (remote, (local, remote))):
        spec = replace(made.spec, source=source, concat=parts)
        resolve = compile_pipeline(spec, made.pins, made.context).resolve
        assert (resolve is None) == (source is local)


@pytest.mark.parametrize(
    ("keys", "again"),
    [
        ({"where": {"value": "a", "equals": 1}}, True),
        # The numbers of items go on from file to file.
        ({"explode": {"column": "a", "number": "n"}}, False),
    ],
)
def test_a_mapping_without_a_state_is_used_by_the_next_build(
    prepare: Prepare, keys: dict[str, Any], again: bool
) -> None:
    made = prepare([{"input": "a", "a": [1]}], **keys)
    spec, pins, context = made.spec, made.pins, made.context
    first = compile_pipeline(spec, pins, context)
    # Another build at the same time has its own.
    assert compile_pipeline(spec, pins, context) is not first
    keep_pipeline(spec, first)
    for options in ({"json_keys": frozenset({"key"})}, {"limit": 1}):
        assert compile_pipeline(spec, pins, context, **options) is not first
    assert (compile_pipeline(spec, pins, context) is first) == again
    keep_pipeline(spec, first)
    elsewhere = replace(context, boundary=Boundary(folders=("/x",)))
    assert compile_pipeline(spec, pins, elsewhere).boundary.folders == ("/x",)


def test_the_state_of_a_build_is_its_own(prepare: Prepare) -> None:
    made = prepare([{"q": "a"}], fields={"input": "q"})
    first, second = (PipelineState.of(made.spec, UNLIMITED) for _ in range(2))
    first.unseen.see({"q": "a"})
    first.unread.add_record({"sandbox": "docker"})
    assert (len(first.unseen.uses), len(second.unseen.uses)) == (0, 1)
    assert first.unread.found == {"sandbox"}
    assert not second.unread.found
