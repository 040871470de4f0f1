"""Two datasets, splits, or the original and the corrected samples, beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from registry.api import STATUSES, Compared, Status, cached_property, file_stem, sample_line
from registry.plugins.site.diff_page import ExampleLook, example_html
from registry.plugins.site.environment import LINKED_POLICY, linked_page
from registry.plugins.site.sample_pages import SamplePage, linked_pages, sample_pages

__all__ = ["Comparison", "Side", "compare_file", "compare_page", "compare_pages"]

_ORIGINAL = "~original"
"""What follows the name of a dataset without its corrections: no name has a `~`."""
_MOST_NAMES = 1_000
"""Names that a field offers."""


@dataclass(frozen=True)
class Side:
    """A dataset of a comparison."""

    name: str
    is_original: bool = False
    """Whether it is meant without its corrections."""

    @classmethod
    def of(cls, text: str) -> Side:
        """Return the side that `text` names."""
        name = text.strip().removesuffix(_ORIGINAL)
        return cls(name, name != text.strip())

    @property
    def text(self) -> str:
        """Its name in an address."""
        return f"{self.name}{_ORIGINAL}" if self.is_original else self.name

    @property
    def label(self) -> str:
        """Its name for people."""
        return f"{self.name} (original)" if self.is_original else self.name


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two datasets, and how their samples compare."""

    left: Side
    right: Side
    compared: Compared | None = None
    """None where their samples are not, or are not on this page."""
    corrections: tuple[str, ...] = ()
    """The reviewed rows behind the differences."""
    fault: str = ""
    """Why they are not compared."""
    is_code: bool = False
    most: int | None = None
    """How many samples of each status are shown."""

    @property
    def title(self) -> str:
        """What is compared, as a link to it says."""
        if self.left.name == self.right.name:
            return "Original beside corrected"
        return f"{self.left.label} beside {self.right.label}"

    @cached_property
    def counts(self) -> list[tuple[Status, str, int]]:
        """How many samples there are of each status, and what it is called here."""
        if self.compared is None:
            return []
        words = {
            "changed": "changed",
            "removed": f"only in {self.left.label}",
            "added": f"only in {self.right.label}",
            "equal": "equal",
        }
        return [(one, words[one], len(getattr(self.compared, one))) for one in STATUSES]

    @cached_property
    def places(self) -> list[tuple[Status, int]]:
        """The samples in their order on the pages: what differs comes first."""
        return [
            (one, place) for one, _, count in self.counts for place in range(count)[: self.most]
        ]

    def articles(self, first: int = 1) -> Iterator[Markup]:
        """Yield the samples from a number on as HTML."""
        assert self.compared is not None  # noqa: S101 (else there are no places)
        words = {str(one): word for one, word, _ in self.counts}
        sides = (self.left.label, self.right.label)
        look = ExampleLook(words=words, sides=sides, is_page=True, is_code=self.is_code)
        for number, place in enumerate(self.places[first - 1 :], first):
            one = self.compared.example(*place)
            # Of a sample that is only on one side, the rendered one says it all.
            shown = one if one.status == "changed" else replace(one, fields=())
            yield example_html(shown, number, look)


def compare_file(left: Side, right: Side, first: int = 1) -> str:
    """Return the file of the page of a comparison that begins with a sample."""
    stems = [f"{file_stem(one.name)}{_ORIGINAL * one.is_original}" for one in (left, right)]
    return f"compare/{'@'.join(stems)}@{first}.html"


def compare_pages(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield the files of a comparison with their texts."""
    articles = comparison.articles() if comparison.places else ()
    for part in linked_pages(sample_pages(articles)):
        file = compare_file(comparison.left, comparison.right, part.first)
        yield file, compare_page(comparison, part)


def compare_page(
    comparison: Comparison,
    part: SamplePage,
    *,
    policy: str = LINKED_POLICY,
    names: Sequence[str] = (),
) -> str:
    """Return a page of a comparison.

    Args:
        comparison: What is compared.
        part: The samples on the page.
        policy: The Content-Security-Policy.
        names: The datasets that can be chosen, where a server answers.
    """

    def link(first: int) -> str:
        return f"../{compare_file(comparison.left, comparison.right, first)}" if first else ""

    starts = {one: number for number, (one, _) in reversed([*enumerate(comparison.places, 1)])}
    shown, total = len(comparison.places), sum(count for _, _, count in comparison.counts)
    change = comparison.compared and comparison.compared.change(examples=0)
    return linked_page(
        "compare.html",
        base="../",
        scripts=["dataset.js"],
        policy=policy,
        comparison=comparison,
        part=part,
        names=names[:_MOST_NAMES],
        counts=[
            (
                word,
                f"{count:,}",
                link(_page_of(starts.get(one, 0), part.starts)),
                starts.get(one, 0),
            )
            for one, word, count in comparison.counts
        ],
        line=sample_line(change) if change else "",
        position=f"{part.first:,} to {part.last:,} of {shown:,}"
        + (f" shown; {total - shown:,} more not on these pages" if total > shown else ""),
        previous=link(part.previous),
        following=link(part.following),
        jumps=[(one, link(one)) for one in part.jumps] if part.starts else [],
    )


def _page_of(number: int, starts: Sequence[int]) -> int:
    """Return the number that the page with a sample begins with."""
    return max((one for one in starts if one <= number), default=0)
