"""A host that a manifest names as an endpoint or a proxy gets no request, and none of this machine's credentials."""

from __future__ import annotations

from pathlib import Path

from tests.faults.process import registry, write_catalog
from tests.servers.recorder import Recorder

SECRETS = {
    "AWS_ACCESS_KEY_ID": "AKIAPLANTEDPLANTED00",
    "AWS_SECRET_ACCESS_KEY": "planted/aws/secret/key/0123456789",
    "AWS_SESSION_TOKEN": "plantedSessionToken",
    "HF_TOKEN": "hf_plantedPlantedPlanted",
    "CI_TOKEN": "ghs_plantedPlantedPlanted",
}
SOURCES = {
    "endpoint": "path: 's3://b/x.csv', fs_options: {endpoint_url: 'HOST'}",
    "client": "path: 's3://b/x.csv', fs_options: {client_kwargs: {endpoint_url: 'HOST'}}",
    "hub": "path: 'hf://datasets/a/b/x.csv', fs_options: {endpoint: 'HOST'}",
    "proxy": "path: 's3://b/x.csv', fs_options: {use_ssl: false, config_kwargs: {proxies: {http: 'HOST'}}}",
    "variable": "path: 's3://b/x.csv', fs_options: {endpoint_url: 'HOST', key: {env: CI_TOKEN}, secret: {env: CI_TOKEN}}",
    "header": "path: 'HOST/x.csv', fs_options: {headers: {Authorization: {env: CI_TOKEN}}}",
}


def catalog_of(folder: Path, host: str, index: str = "") -> Path:
    lines = (
        f"  {name}: {{source: {{type: csv, {text.replace('HOST', host)}}}}}\n"
        for name, text in SOURCES.items()
    )
    return write_catalog(folder, "".join(lines), index=index)


def test_a_foreign_host_gets_nothing(tmp_path: Path) -> None:
    with Recorder() as server:
        catalog = catalog_of(tmp_path, server.url(""))
        found = [registry(catalog, *verb, **SECRETS) for verb in (["validate"], ["sync"])]
    assert server.received == []
    for ended in found:
        assert ended.code == 1
        assert not [one for one in SECRETS.values() if one in ended.text]
    assert "hosts: ['127.0.0.1']" in found[0].text
    assert f"{len(SOURCES)} failed" in found[1].text


def test_a_host_that_the_index_lists_gets_no_credentials_but_its_own(tmp_path: Path) -> None:
    with Recorder() as server:
        catalog = catalog_of(tmp_path, server.url(""), "hosts: ['127.0.0.1']\n")
        ended = registry(catalog, "sync", **SECRETS)
    assert ended.code == 1
    assert not [one for one in SECRETS.values() if one in ended.text + str(server.received)]
