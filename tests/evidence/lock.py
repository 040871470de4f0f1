"""Pin built-in datasets from real files that are at hand, as `registry lock` would from their URLs.

    python -m tests.evidence.lock --repositories FOLDER NAMES…

`registry lock` runs as always; only the hosts of the manifests are a server of this process, which
serves files of git repositories (`FOLDER/OWNER+NAME`, bare) and those where `tests.evidence.rows`
looks for real data, by the paths of their public addresses.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import trustme
from aiohttp.abc import ResolveResult
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from registry.base.locations import Location
from registry.boundary import http_client
from registry.catalog.catalog import Catalog
from registry.cli import main
from tests.evidence.repositories import Files
from tests.evidence.rows import REPOSITORY

__all__ = ["run", "serving"]

_AUTHORITY = "REGISTRY_EVIDENCE_AUTHORITY"


@contextmanager
def serving(
    find: Callable[[str], bytes | None], hosts: frozenset[str], authority: trustme.CA
) -> Iterator[None]:
    """Serve the addresses of hosts from this process, which trusts the authority."""

    def answer(request: Request) -> Response:
        body = find(f"https://{request.host.partition(':')[0]}{request.full_path.rstrip('?')}")
        return Response(status=404) if body is None else Response(body)

    async def resolve(
        resolver: http_client._Resolver,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,
    ) -> list[ResolveResult]:
        if host not in hosts:
            raise OSError(f"{host} is not served")
        address = ResolveResult(
            hostname=host, host=server.host, port=server.port, family=family, proto=0, flags=0
        )
        return [address]

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*sorted(hosts)).configure_cert(context)
    with ExitStack() as stack:
        stack.enter_context(patch.object(http_client._Resolver, "resolve", resolve))
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        server = stack.enter_context(
            HTTPServer(host="127.0.0.1", port=0, ssl_context=context, threaded=True)
        )
        server.expect_request(re.compile(".*")).respond_with_handler(answer)
        yield


def _urls(names: Sequence[str], catalog: Catalog) -> dict[str, str]:
    """Return each URL that datasets name, with one of the datasets."""
    specs = [catalog[name] for name in names]
    return {
        Location(path).file: spec.name
        for spec in specs
        for source in spec.all_sources
        for path in source.paths()
        if not Location(path).is_local
    }


def run(names: Sequence[str], root: Path, repositories: Path | None, options: Sequence[str]) -> int:
    """Run `registry lock` for datasets; return its exit code."""
    files = Files(_urls(names, Catalog.open(root)), repositories)
    folder = Path(os.environ[_AUTHORITY])
    parts = [(folder / name).read_bytes() for name in ("authority.pem", "authority.key")]
    with serving(files.find, files.hosts, trustme.CA.from_pem(*parts)):
        return main(["lock", "--root", str(root), *options, *names])


def _again_with_an_authority() -> int:
    """Run this command in a process that trusts an authority, as aiohttp asks at its import."""
    authority = trustme.CA()
    with TemporaryDirectory() as name:
        folder = Path(name)
        authority.cert_pem.write_to_path(folder / "authority.pem")
        authority.private_key_pem.write_to_path(folder / "authority.key")
        given = {
            _AUTHORITY: name,
            "SSL_CERT_FILE": str(folder / "authority.pem"),
            "REGISTRY_CACHE_DIR": str(folder / "cache"),
        }
        command = [sys.executable, "-m", "tests.evidence.lock", *sys.argv[1:]]
        return subprocess.run(command, env={**os.environ, **given}, check=False).returncode


if __name__ == "__main__":
    if _AUTHORITY not in os.environ:
        sys.exit(_again_with_an_authority())
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAMES")
    parser.add_argument("--repositories", type=Path, metavar="FOLDER")
    parser.add_argument("--root", type=Path, default=REPOSITORY / "datasets.yaml")
    parser.add_argument("--upgrade", action="store_true", help="pin again what is pinned")
    given = parser.parse_args()
    again = ["--upgrade"] if given.upgrade else []
    sys.exit(run(given.names, given.root, given.repositories, again))
