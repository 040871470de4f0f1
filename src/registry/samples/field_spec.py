"""How the loaders turn records into samples: columns by name."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

__all__ = ["FieldSpec"]


@dataclass
class FieldSpec:
    """Names of the columns that hold the parts of a sample."""

    input: str = "input"
    """Column of the prompt: text, or a list of `{role, content}` messages. It must not be empty."""
    target: str = "target"
    """Column of the ideal answer; missing is "", a list stays a list of texts."""
    choices: str = "choices"
    """Column of the answer choices: a list, or text split at commas, else at blanks."""
    id: str = "id"
    """Column of the identifier, a number or text."""
    metadata: list[str] | type[BaseModel] | None = None
    """Columns to keep as metadata, or a frozen pydantic model that reads them; None takes a
    column `metadata` (an object or JSON text) where there is one."""
    sandbox: str = "sandbox"
    """Column of the sandbox: a type, or a pair of type and configuration file."""
    files: str = "files"
    """Column of the files: an object of texts, or JSON text of one."""
    setup: str = "setup"
    """Column of the setup script."""
