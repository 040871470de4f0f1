"""Limits of the Hub's client, in the thread that reads a dataset."""

from __future__ import annotations

import httpx2
import pytest
from huggingface_hub import HfApi, close_session, get_session
from huggingface_hub.errors import HfHubHTTPError

from registry.progress import Deadline
from registry.sources.hub.client import METERED, PassingError, limited_client
from registry.sources.retry import is_transient, retry_after
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator


def test_an_answer_that_asks_to_come_back_ends_the_call(hub: HubEmulator) -> None:
    hub.commit("org/client", {"a.txt": b""})
    hub.fail_with(429, headers={"Retry-After": "86400"})
    with pytest.raises(PassingError) as caught, limited_client("org/client", Deadline(1)):
        list(HfApi().list_repo_tree("org/client", repo_type="dataset"))
    assert is_transient(caught.value)
    assert retry_after(caught.value) == 86400
    assert len(hub.requests) == 1


def test_other_answers_and_other_callers_are_left_as_they_are(hub: HubEmulator) -> None:
    hub.commit("org/client", {"a.txt": b""})
    with limited_client("org/client", Deadline(1)):
        assert HfApi().dataset_info("org/client").id == "org/client"
        with pytest.raises(HfHubHTTPError):
            HfApi().dataset_info("org/nowhere")
    hub.fail_with(429)
    with pytest.raises(HfHubHTTPError):
        HfApi().dataset_info("org/client")


def test_a_client_that_is_made_in_the_middle_of_a_call_is_limited(
    hub: HubEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
    with FaultProxy(hub.url) as proxy:
        proxy.add(Fault(silence=10))
        with limited_client("org/client", Deadline(1)):
            close_session()  # as huggingface_hub does after a refused connection
            with pytest.raises(httpx2.ReadTimeout):
                get_session().get(proxy.url)


def test_a_header_must_arrive_in_time_as_a_whole(
    hub: HubEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
    with FaultProxy(hub.url) as proxy:
        proxy.add(Fault(begin=b"HTTP/1.1 200 OK\r\nX-Endless: ", repeat=b"x"), times=1)
        with limited_client("org/client", Deadline(1)):
            with pytest.raises(httpx2.ReadTimeout, match="no whole header in 1 second"):
                get_session().get(proxy.url)
            assert get_session().get(f"{proxy.url}/api/datasets/org/nowhere").status_code == 401
            with get_session().stream("GET", f"{proxy.url}/api/whoami-v2") as response:
                assert not response.is_stream_consumed


@pytest.mark.parametrize("extensions", [{}, {METERED: True}], ids=["counted here", "by the sender"])
def test_pieces_of_a_body_must_arrive_in_time(
    hub: HubEmulator, monkeypatch: pytest.MonkeyPatch, extensions: dict[str, bool]
) -> None:
    """The client's own time-out begins again with each byte of a chunk's length."""
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
    begin = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
    expected = httpx2.ReadTimeout if extensions else PassingError
    with FaultProxy(hub.url) as proxy:
        proxy.add(Fault(begin=begin, repeat=b"0"), times=1)
        with (
            limited_client("org/client", Deadline(1)),
            get_session().stream("GET", proxy.url, extensions=extensions) as response,
            pytest.raises(expected, match="no more of the body in 1 second") as caught,
        ):
            list(response.iter_bytes())
    assert is_transient(caught.value)
