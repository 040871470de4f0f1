"""The table of protocols: what is not in it is refused."""

from __future__ import annotations

from registry.boundary.protocols import PROTOCOLS


def test_the_protocols_of_the_allow_list() -> None:
    assert set(PROTOCOLS) == {"https", "http", "s3", "s3a", "hf"}


def test_what_names_a_server_or_weakens_a_connection_needs_a_listed_host() -> None:
    words = ("endpoint", "prox", "ssl", "verify", "trust_env", "config_kwargs")
    for options in PROTOCOLS.values():
        for name, option in options.items():
            if any(word in name for word in words):
                assert option.listed, name
                assert not option.secret, name


def test_no_protocol_takes_an_option_that_names_code_or_files() -> None:
    names = {name for options in PROTOCOLS.values() for name in options}
    assert not [name for name in names if any(part in name for part in ("cache_storage", "fo", "target", "session.", "loop"))]  # fmt: skip
