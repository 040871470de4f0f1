"""Check the Python arguments that replace manifest keys: `fields` and the keys of a source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from registry.base.conversion import convert
from registry.manifest.source import SourceModel
from registry.manifest.validation import schema_errors

__all__ = ["check_fields", "source_from_arguments"]

Model = TypeVar("Model", bound=SourceModel)


def check_fields(fields: Mapping[str, Any]) -> None:
    """Check a mapping from field to expression, as under `fields:` in a manifest.

    Raises:
        ValueError: an expression is invalid; the message describes the first problem.
    """
    for error in schema_errors(fields, "manifest", "fields"):
        raise ValueError(f"field {error}" if error.path else f"fields: {error}")


def source_from_arguments(model: type[Model], keys: Mapping[str, Any]) -> Model:
    """Return a source with the keys that are not None.

    Raises:
        ValueError: a key is invalid; the message has all problems that the schema reports.
    """
    given = {key: value for key, value in keys.items() if value is not None}
    try:
        return convert(given, model)
    except msgspec.ValidationError as error:
        source = {"type": model.type, **given}
        # In Python, `fs_options` may contain any objects, which the schema can't describe.
        if isinstance(source.get("fs_options"), dict):
            del source["fs_options"]
        errors = schema_errors(source, "manifest", "completeSource")
        if not errors:
            raise  # a bug: the model rejects what the schema accepts
        raise ValueError("; ".join(map(str, errors))) from error
