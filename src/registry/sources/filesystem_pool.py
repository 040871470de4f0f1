"""The file systems of one source, created on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.boundary.checks import check_location
from registry.progress import Deadline, Report, silent
from registry.settings import deadline_seconds
from registry.sources.filesystem import filesystem, limited_requests, option_errors
from registry.sources.retry import with_retries

__all__ = ["FilesystemPool"]

Result = TypeVar("Result")


class FilesystemPool:
    """The file systems of one source: one per protocol, created on first use."""

    def __init__(
        self,
        options: Mapping[str, Any],
        boundary: Boundary,
        deadline: Deadline | None = None,
        report: Report = silent,
    ) -> None:
        self.options = options
        self.boundary = boundary
        self.deadline = deadline or Deadline(deadline_seconds())
        """How long requests may be repeated."""
        self._report = report
        self._by_protocol: dict[str, Any] = {}

    def of(self, location: Location) -> Any:
        """Return the file system of a location, which makes each request once.

        Raises:
            ReachError: the boundary excludes the location or an option.
        """
        protocol = location.protocol
        if protocol in self._by_protocol:
            check_location(location, self.options, self.boundary)
        else:
            self._by_protocol[protocol] = filesystem(location, self.options, self.boundary)
        return self._by_protocol[protocol]

    def ask(self, location: Location, question: Callable[[Any, Location], Result]) -> Result:
        """Return what `question` finds out with a file system, repeated if need be."""

        def attempt() -> Result:
            with option_errors(location), limited_requests(location, self.deadline):
                return question(self.of(location), location)

        answer = with_retries(attempt, self.deadline, report=self._report)
        self.deadline.progress()
        return answer
