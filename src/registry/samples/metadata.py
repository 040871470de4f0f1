"""Metadata of samples and messages as a model of the user."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

__all__ = ["Metadata", "metadata_as"]

Metadata = TypeVar("Metadata", bound=BaseModel)


def metadata_as(metadata: dict[str, Any] | None, cls: type[Metadata], owner: str) -> Metadata:
    """Return `metadata` as the frozen pydantic model `cls`, without keys that `cls` lacks.

    Raises:
        ValueError: there is no metadata, `cls` is not frozen, or the values are invalid.
    """
    # The error messages are Inspect's: its users may match them.
    if metadata is None:
        raise ValueError(f"{owner} does not have metadata")
    if not cls.model_config.get("frozen", False):
        raise ValueError(f"Metadata model {cls.__name__} must have frozen=True")
    known = {key: value for key, value in metadata.items() if key in cls.model_fields}
    try:
        return cls(**known)
    except ValidationError as error:
        raise ValueError(f"Could not parse metadata into {cls.__name__}: {error}") from error
