"""The sandbox of a sample, as in Inspect AI."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict

__all__ = ["SandboxEnvironmentSpec", "SandboxEnvironmentType"]


class SandboxEnvironmentSpec(BaseModel):
    """A sandbox type and its configuration."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    type: str
    """Kind of sandbox, such as `docker`."""
    config: Annotated[Any, "a pydantic model, a str or None"] = None
    """File name of the configuration, or a configuration model."""

    def __init__(self, type: str, config: BaseModel | str | None = None) -> None:
        super().__init__(type=type, config=config)


SandboxEnvironmentType = str | tuple[str, str] | SandboxEnvironmentSpec
"""A spec or its short form: `"docker"`, `("docker", "compose.yaml")`."""
