"""A sandbox is a kind with a configuration, and can't be changed."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from registry.samples.sandbox import SandboxEnvironmentSpec


def test_spec_is_frozen_and_has_positional_arguments() -> None:
    spec = SandboxEnvironmentSpec("docker", "compose.yaml")
    assert (spec.type, spec.config) == ("docker", "compose.yaml")
    with pytest.raises(ValidationError):
        spec.type = "local"
