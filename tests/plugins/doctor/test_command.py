"""`doctor`: a report of this machine, without a secret of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from registry.plugins.doctor import (
    mask,
    masked_url,
    secrets_of,
)
from tests.cli.invocation import Run

CANARY = "canary"
SECRETS = {
    "HF_TOKEN": "hf_{}",
    "AWS_ACCESS_KEY_ID": "{}",
    "AWS_SECRET_ACCESS_KEY": "{}",
    "AWS_SESSION_TOKEN": "{}",
    "QA_PASSWORD": "{}",
    "HTTPS_PROXY": "http://user-{0}:{0}@127.0.0.1:9",
    "HTTP_PROXY": "http://user-{0}:{0}@127.0.0.1:9",
    "https_proxy": "{0}:{0}@127.0.0.1:9",
    "ALL_PROXY": "socks5://{0}:{0}@127.0.0.1:9/?{0}={0}",
    "NO_PROXY": "http://{0}:{0}@127.0.0.1/",
    "HF_ENDPOINT": "https://{0}:{0}@hub.example/?token={0}#{0}",
    "REGISTRY_REMOTE_CACHE": "nothing://{0}:{0}@bucket/x?sig={0}",
    "REGISTRY_REMOTE_TRUST": "ci",
    "REGISTRY_REMOTE_KEY_CI": "{0}-and-more-of-it",
    "AWS_ENDPOINT_URL": "https://{0}:{0}@s3.example/",
    "SSL_CERT_FILE": "https://{0}:{0}@host/{0}-is-a-path.pem",
}


def test_no_secret_is_printed(run: Run, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (name, pattern) in enumerate(SECRETS.items()):
        monkeypatch.setenv(name, pattern.format(f"{CANARY}{number}x"))
    monkeypatch.delenv("SSL_CERT_FILE")
    for arguments in (["doctor"], ["doctor", "--json"], ["doctor", "--offline"]):
        result = run(*arguments)
        assert "fail" in result.out or "--offline" in arguments
        assert CANARY not in result.out + result.err, result.out


def test_each_line_has_a_status_and_failures_a_next_step(
    run: Run, own: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpserver.expect_request("/api/datasets").respond_with_json([])
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("").rstrip("/"))
    good = run("doctor")
    assert good.code == 0, good.out
    assert any(line.startswith("ok    hub ") for line in good.lines)
    assert "warn  lock" in good.out
    assert "next: registry lock" in good.out
    httpserver.clear()
    httpserver.expect_request("/api/datasets").respond_with_json([], status=500)
    bad = run("doctor", "--json")
    assert bad.code == 1
    failed = [one for one in bad.json if one["status"] == "fail"]
    assert [one["name"] for one in failed] == ["hub"]
    assert all(one["next"] for one in bad.json if one["status"] != "ok")


def test_machine_that_is_merely_offline_has_no_failure(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://nobody.invalid")
    result = run("doctor")
    assert result.code == 0, result.out
    assert "warn  hub " in result.out


def test_offline_makes_no_request(
    run: Run, own: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("").rstrip("/"))
    names = [one["name"] for one in run("doctor", "--offline", "--json").json]
    assert {"hub", "remote cache"}.isdisjoint(names)
    monkeypatch.setenv("REGISTRY_OFFLINE", "1")
    assert [one["name"] for one in run("doctor", "--json").json] == names
    assert httpserver.log == []


def test_broken_catalog_is_an_observation_not_an_error(run: Run, own: Path) -> None:
    (own / "datasets.yaml").write_text("version: [\x1b[31m", encoding="utf-8")
    result = run("doctor", "--offline")
    assert result.code == 1
    assert "fail  catalog" in result.out
    assert "\x1b" not in result.out


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
