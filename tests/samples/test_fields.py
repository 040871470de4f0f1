"""The table of fields is that of the model, and nothing else names them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.samples.fields import FIELDS, NAMES, OBJECTS, REST, SETTINGS, field_data
from registry.samples.sample import Sample, SandboxEnvironmentSpec

SOURCE = Path(__file__).parents[2] / "src" / "registry"
# What a new field of Inspect changes, besides the table; and importers, which name foreign keys.
NAMED_IN = {
    "__init__.py",
    "samples/fields.py",
    "samples/sample.py",
    "samples/field_spec.py",
    "samples/checkpoint.py",
    "manifest/models.py",
    "mapping/coerce.py",
}


def test_table_has_the_fields_of_the_model_in_its_order() -> None:
    assert tuple(Sample.model_fields) == NAMES
    assert {*REST} == {field.name for field in FIELDS} - {"input", "choices", "target", "id"}
    assert {*SETTINGS} == {*REST} - {"metadata"}


def test_a_rare_field_is_named_only_where_a_new_one_has_to_be() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "checkpoint" in path.read_text(encoding="utf-8")
    }
    assert found == NAMED_IN


@pytest.mark.parametrize("config", [None, "compose.yaml", {"a": 1}])
def test_objects_become_data_and_objects_again(config: object) -> None:
    spec = SandboxEnvironmentSpec("docker", config)  # type: ignore[arg-type]
    restore = OBJECTS["sandbox"].from_data
    assert restore is not None
    assert restore(field_data("sandbox", spec)) == spec
    assert field_data("files", {"a": "b"}) == {"a": "b"}
    assert field_data("checkpoint", None) is None


def test_sandbox_of_a_model_is_no_data() -> None:
    spec = SandboxEnvironmentSpec("docker", SandboxEnvironmentSpec("x"))
    with pytest.raises(TypeError, match="a file name or plain data"):
        field_data("sandbox", spec)
