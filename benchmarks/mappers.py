"""The mapper that the catalog trusts: Python for each record."""

from __future__ import annotations

from registry import Sample
from registry.samples.sample import DatasetRecord

__all__ = ["to_sample"]


def to_sample(record: DatasetRecord) -> Sample:
    """Return a record's sample; `peer.mapped` is the same for Inspect AI."""
    return Sample(
        input=f"{record['question'].strip()} (about {record['subject']})",
        choices=[choice.capitalize() for choice in record["choices"]],
        target=record["answer"],
        id=record["id"],
        metadata={"subject": record["subject"]},
    )
