"""Who may ask: the browser that has the token, by a name of this machine, to read."""

from __future__ import annotations

import pytest

from registry.plugins.browse.gate import HEADERS, POLICY, Gate

GATE = Gate(8321, "secret")


def test_every_server_has_a_secret_of_its_own_that_no_message_shows() -> None:
    first, second = Gate(1), Gate(1)
    assert first.session != second.session
    assert len(first.session) >= 40
    token = first.new_url().removeprefix("http://127.0.0.1:1/?token=")
    assert len(token) >= 40
    assert not {first.session, token} & set(repr(first).replace("'", " ").split())
    assert first.session != token


def test_each_address_lets_in_once() -> None:
    gate = Gate(1)
    tokens = [gate.new_url().partition("=")[2] for _ in range(2)]
    assert not gate.admit(tokens[0][:-1])
    assert not gate.admit(gate.session)
    assert [gate.admit(token) for token in tokens] == [True, True]
    assert [gate.admit(token) for token in tokens] == [False, False]


@pytest.mark.parametrize("host", ["127.0.0.1:8321", "localhost:8321"])
def test_names_of_this_machine_are_answered(host: str) -> None:
    assert GATE.refusal("GET", [host], "secret") is None
    assert GATE.refusal("HEAD", [host], "secret") is None


HOST = "127.0.0.1:8321"
OTHER_HOSTS = [
    *([], ["evil.example:8321"], ["127.0.0.1.evil.example:8321"], ["127.0.0.1:80"], ["127.0.0.1"]),
    *([HOST, "evil.example"], [f"{HOST}, evil.example"]),
]


@pytest.mark.parametrize(
    ("method", "hosts", "cookie", "status"),
    [
        *(("GET", hosts, "secret", 403) for hosts in OTHER_HOSTS),
        *(("GET", [HOST], one, 403) for one in (None, "", "secre", "secret2", "sécret", "\udcff")),
        *((one, [HOST], "secret", 405) for one in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH")),
    ],
)
def test_other_requests_are_refused(
    method: str, hosts: list[str], cookie: str | None, status: int
) -> None:
    refused = GATE.refusal(method, hosts, cookie)
    assert refused is not None
    assert refused.status == status
    assert "secret" not in refused.reason
    hint = "open the address that `registry browse` printed; it works once"
    assert (hint in refused.reason) == (cookie != "secret")


def test_headers_allow_no_other_origin() -> None:
    assert not [name for name in HEADERS if name.startswith("Access-Control")]
    assert "frame-ancestors 'none'" in HEADERS["Content-Security-Policy"]
    assert POLICY.startswith("default-src 'none';")
    assert "unsafe" not in POLICY
