"""A host that a manifest names as an endpoint or a proxy gets no request, and none of this machine's credentials."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.process import registry_each, write_catalog
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


@pytest.mark.parametrize("index", ["", "hosts: ['127.0.0.1']\n"], ids=["foreign", "listed"])
def test_a_host_gets_nothing_or_no_credentials_but_its_own(tmp_path: Path, index: str) -> None:
    with Recorder() as server:
        datasets = "".join(
            f"  {name}: {{source: {{type: csv, {text.replace('HOST', server.url(''))}}}}}\n"
            for name, text in SOURCES.items()
        )
        catalog = write_catalog(tmp_path, datasets, index=index)
        ended = registry_each(catalog, "validate", "sync", **SECRETS)
    assert ended.code == 1
    assert not [one for one in SECRETS.values() if one in ended.text + str(server.received)]
    if not index:
        assert server.received == []
        assert "hosts: ['127.0.0.1']" in ended.out
        assert f"{len(SOURCES)} failed" in ended.text
