"""Observations say what is there, and what to do next."""

from __future__ import annotations

import pytest

from registry.plugins.doctor.observation import (
    mask,
    masked_url,
    secrets_of,
)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://proxy:3128", "http://proxy:3128"),
        ("user:canary@proxy:3128", "proxy:3128"),
        ("s3://key:canary@bucket/a?token=canary", "s3://bucket/a?…"),
        ("/local/folder", "/local/folder"),
        ("http://user:can/ary@proxy:3128", "http://***"),
        ("user:can/ary@proxy:3128", "***"),
    ],
)
def test_urls_are_shown_without_user_password_and_parameters(url: str, shown: str) -> None:
    assert masked_url(url) == shown


def test_secrets_are_found_by_name_and_in_urls() -> None:
    found = secrets_of(
        {
            "AWS_SECRET_ACCESS_KEY": "canary-1",
            "REGISTRY_REMOTE_KEY_CI": "canary-2",
            "MY_PASSWORD": "canary-3",
            "HTTPS_PROXY": "http://someone:can%41ry-4@proxy",
            "REGISTRY_REMOTE_CACHE": "s3://bucket/x?sig=canary-5",
            "BARE_PROXY": "someone:canary-6@proxy",
            "ALL_PROXY": "http://someone:can/ary-8@proxy",
            "HF_TOKEN_PATH": "/home/me/token",
            "SHORT_KEY": "abc",
            "BROKEN": "http://[::1",
        },
        "canary-7",
        None,
    )
    wanted = {f"canary-{number}" for number in range(1, 8)} - {"canary-4"}
    assert wanted | {"canAry-4", "can%41ry-4", "can/ary-8"} <= set(found)
    assert {"/home/me/token", "abc"}.isdisjoint(found)
    assert found == sorted(found, key=len, reverse=True)


def test_secrets_in_texts_of_libraries_are_masked() -> None:
    assert mask("failed: http://u:canary@h", ["canary"]) == "failed: http://u:***@h"
