"""What no test of a download would miss of the proxy; tests/faults would of everything else."""

from __future__ import annotations

from urllib.request import Request, urlopen

from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.static import StaticFiles

BODY = bytes(range(100))


def test_a_byte_is_flipped_at_its_place_in_the_file() -> None:
    spoilt = BODY[:95] + bytes([BODY[95] ^ 1]) + BODY[96:]
    with StaticFiles({"/a": BODY}) as site, FaultProxy(site.url) as proxy:
        proxy.add(Fault(flip=95))
        for start in (0, 90, 96):
            request = Request(f"{proxy.url}/a", headers={"Range": f"bytes={start}-"})
            with urlopen(request) as answer:
                assert answer.read() == spoilt[start:]
