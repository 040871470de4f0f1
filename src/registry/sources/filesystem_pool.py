"""The file systems of one source, created on first use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.base.locations import protocol_of
from registry.boundary.boundary import Boundary
from registry.boundary.checks import check_location
from registry.sources.filesystem import filesystem

__all__ = ["FilesystemPool"]


class FilesystemPool:
    """The file systems of one source: one per protocol, created on first use."""

    def __init__(self, options: Mapping[str, Any], boundary: Boundary) -> None:
        self.options = options
        self.boundary = boundary
        self._by_protocol: dict[str, Any] = {}

    def of(self, location: str) -> Any:
        """Return the file system of a location.

        Raises:
            ReachError: the boundary excludes the location or an option.
        """
        protocol = protocol_of(location)
        if protocol in self._by_protocol:
            check_location(location, self.options, self.boundary)
        else:
            self._by_protocol[protocol] = filesystem(location, self.options, self.boundary)
        return self._by_protocol[protocol]
