"""A sample on a page: as notebooks show it, with its JSON, its record and how to report it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from registry import Sample
from registry.api import Allowance, cut, json_html, sample_body, visible

__all__ = ["SampleView", "body_html", "sample_view"]

_JSON_TEXT, _JSON_LINE = 4_000, 60
_ID_TEXT = 200


_CUT = re.compile(r'<p class="quiet small">[^<]* not shown')
"""A note of `display`; no text of a sample has the tag."""


@dataclass(frozen=True, kw_only=True)
class SampleView:
    """A sample; `number` is its position from 1."""

    number: int
    id: str
    body: Markup
    data: Markup
    """The sample as JSON."""
    record: Markup | None
    """The record that it was made of, if it is known."""
    report: str
    """The row of a corrections file that reports a fault of it, or the command that prints it."""

    @property
    def is_cut(self) -> bool:
        """Whether something of it is left out, which a note says."""
        return any(_CUT.search(html) for html in (self.body, self.data, self.record or ""))


def body_html(sample: Sample, allowance: Allowance) -> Markup:
    """Return what a sample has as HTML, within an allowance."""
    return Markup(sample_body(sample, allowance))  # nosec B704 # noqa: S704 (it is escaped)


def sample_view(
    sample: Sample,
    number: int,
    allowance: Allowance,
    record: tuple[int, Mapping[str, Any]] | None = None,
    report: str = "",
) -> SampleView:
    """Return what a page shows of a sample, and of its numbered record, within an allowance."""
    body = body_html(sample, allowance)
    data = sample.model_dump(mode="json", exclude_none=True)
    return SampleView(
        number=number,
        id="" if sample.id is None else _shown_id(str(sample.id)),
        body=body,
        data=_json(data, allowance),
        record=record and _json(record[1], allowance, label=f"record {record[0]:,}"),
        report=report,
    )


def _json(value: Any, allowance: Allowance, *, label: str = "") -> Markup:
    html = json_html(value, allowance, most=_JSON_TEXT, line=_JSON_LINE, label=label)
    return Markup(html)  # nosec B704 # noqa: S704 (it is escaped)


def _shown_id(identifier: str) -> str:
    # As its link has it: with the codes of invisible characters.
    start, note = cut(identifier, _ID_TEXT)
    return visible(start) + ("…" if note else "")
