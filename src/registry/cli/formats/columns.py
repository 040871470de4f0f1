"""Lines of aligned values whose first one, a name, may be too long for the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from registry.cli.terminal import wrap

__all__ = ["Columns"]

_GAP = 2


@dataclass(frozen=True)
class Columns:
    """The widths of aligned values."""

    widths: tuple[int, ...]
    right: Collection[int]
    """Numbers of the columns that are aligned to the right."""

    @classmethod
    def of(
        cls, rows: Sequence[Sequence[str]], *, right: Collection[int], width: int | None
    ) -> Columns:
        """Return columns for values; `width` is that of the terminal, None for a pipe."""
        from rich.cells import cell_len

        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        if width is not None:
            widths[0] = max(1, min(widths[0], width - sum(widths[1:]) - _GAP * (len(widths) - 1)))
        return cls(tuple(widths), right)

    @property
    def total(self) -> int:
        """The width of a line."""
        return sum(self.widths) + _GAP * (len(self.widths) - 1)

    def lines(self, values: Sequence[str], *, width: int) -> Iterator[str]:
        """Yield the lines of a row: a name that is too long for its column is on its own lines."""
        from rich.cells import cell_len

        name, *rest = values
        if cell_len(name) > self.widths[0]:
            *above, name = wrap(name, width)
            yield from above
            if cell_len(name) > self.widths[0]:
                yield name
                name = ""
        yield (" " * _GAP).join(self._pad(index, one) for index, one in enumerate((name, *rest)))

    def _pad(self, index: int, value: str) -> str:
        from rich.cells import cell_len

        space = " " * (self.widths[index] - cell_len(value))
        return space + value if index in self.right else value + space
