"""What the names of several files say: splits, other parts of names, and numbered parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Layout", "infer_layout"]

_SPLITS = (
    *("test", "testing", "eval", "evaluation", "validation", "valid", "val", "dev", "devel"),
    *("development", "train", "training"),
)
"""Names of splits; the first that there is becomes the default."""
_SEPARATORS = (r"([/._-])", r"([/.])")
_LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z]{2,4})?")
_MOST_CAPTURES = 2


@dataclass(frozen=True)
class Layout:
    """One path for several files."""

    path: str
    """The path, with `{split}`, other names in braces, and `*` for numbers."""
    splits: tuple[str, ...] = ()
    """The splits, the default one first."""
    captures: Mapping[str, str] = field(default_factory=dict)
    """Names in braces other than `split`, each with one of its values."""

    @property
    def default_path(self) -> str:
        """The path of the default split."""
        return self.path.replace("{split}", self.splits[0]) if self.splits else self.path


def infer_layout(names: Sequence[str]) -> Layout | None:
    """Return the path that the names of files have in common; None if they have no common form."""
    found = [layout for one in _SEPARATORS if (layout := _aligned(names, one)) is not None]
    # Splits are the surest; otherwise the fewest parts that vary.
    return min(found, key=lambda one: (not one.splits, len(one.captures)), default=None)


def _aligned(names: Sequence[str], separators: str) -> Layout | None:
    rows = [re.split(separators, name) for name in names]
    if len({len(row) for row in rows}) > 1:
        return None
    path, splits, captures = "", (), dict[str, str]()
    for number, values in enumerate(zip(*rows, strict=True)):
        if len(set(values)) == 1:
            path += values[0]
        elif number % 2:  # separators
            return None
        elif not splits and {one.casefold() for one in values} <= set(_SPLITS):
            ordered = sorted(set(values), key=lambda one: _SPLITS.index(one.casefold()))
            path, splits = f"{path}{{split}}", tuple(ordered)
        elif all(map(str.isdigit, values)):
            path += "*"
        else:
            is_language = "lang" not in captures and all(map(_LANGUAGE.fullmatch, values))
            name = "lang" if is_language else f"part_{len(captures) + 1}" if captures else "part"
            path += f"{{{name}}}"
            captures[name] = values[0]
    return Layout(path, splits, captures) if len(captures) <= _MOST_CAPTURES else None
