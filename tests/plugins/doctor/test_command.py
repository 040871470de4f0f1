"""`doctor`: a report of this machine, without a secret of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

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
