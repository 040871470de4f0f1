"""What a check of this machine found."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

__all__ = ["Observation", "Status", "fail", "fine", "warn"]

Status = Literal["ok", "warn", "fail"]


class Observation(Struct, frozen=True, kw_only=True):
    """One line of the report."""

    name: str
    """What was checked."""
    status: Status
    text: str
    """What is there, without any secret."""
    next: str = ""
    """What to do; empty if nothing is."""


def fine(name: str, text: str) -> Observation:
    """Return that all is well."""
    return Observation(name=name, status="ok", text=text)


def warn(name: str, text: str, step: str) -> Observation:
    """Return something that may be meant, or will be a problem."""
    return Observation(name=name, status="warn", text=text, next=step)


def fail(name: str, text: str, step: str) -> Observation:
    """Return something that does not work."""
    return Observation(name=name, status="fail", text=text, next=step)
