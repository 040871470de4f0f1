"""`file:`, chained and link-local locations, and redirects to them, are refused before anything is read or asked."""

from __future__ import annotations

import re
from pathlib import Path

from tests.faults.process import datasets_of, write_catalog
from tests.security.audit import run_audited
from tests.servers.recorder import Recorder

SECRET = "the-runners-own"
# HOME has the secret, SITE is a server that redirects, INNER one that no manifest may name.
PATHS = {
    "file-url": "file://HOME/x.csv",
    "file-short": "file:HOME/x.csv",
    "local": "local://HOME/x.csv",
    "simplecache": "simplecache::file://HOME/x.csv",
    "filecache": "filecache::local://HOME/x.csv",
    "outside": "HOME/x.csv",
    "parent": "../home/x.csv",
    "link-local": "http://169.254.169.254/latest/meta-data/x.csv",
    "as-a-number": "http://2852039166/x.csv",
    "in-ipv6": "http://[::ffff:169.254.169.254]/x.csv",
    "private": "https://10.0.0.1/x.csv",
    "to-metadata": "SITE/to-metadata.csv",
    "to-a-file": "SITE/to-a-file.csv",
    "to-another-port": "SITE/to-inner.csv",
}


def test_nothing_of_it_is_read_or_asked(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "x.csv").write_text(f"input,target\n{SECRET},x\n")
    with Recorder() as inner, Recorder() as site:
        site.redirects |= {
            "/to-metadata.csv": "http://169.254.169.254/x.csv",
            "/to-a-file.csv": f"file://{home}/x.csv",
            "/to-inner.csv": f"http://0.0.0.0:{inner.port}/x.csv",
        }
        here = site.url("", "localhost")
        paths = {
            name: f"'{path.replace('HOME', str(home)).replace('SITE', here)}'"
            for name, path in PATHS.items()
        }
        catalog = write_catalog(tmp_path / "catalog", datasets_of("csv", paths))
        done = run_audited(["sync"], folder=catalog)
    assert done.code == 1
    assert "Traceback" not in done.text
    assert SECRET not in done.text
    assert f"{len(PATHS)} failed" in done.err
    for name in PATHS:
        assert re.search(f"^error: {name}: ", done.err, re.MULTILINE), name
    assert str(home / "x.csv") not in done.opened
    assert inner.received == []
    assert {one.path for one in site.received} == set(site.redirects)
    reached = {event[2] for event in done.connections if event[0] == "socket.connect"}
    assert all(str(site.port) in address for address in reached if "127.0.0.1" in address)
    assert not [one for one in reached if "169.254" in one or "10.0.0.1" in one]
