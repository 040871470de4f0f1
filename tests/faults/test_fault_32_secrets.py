"""A presigned query, a fragment, a password and a token are in no output, file or request to another host."""

from __future__ import annotations

import re
from pathlib import Path

from tests.command_line import Ran
from tests.faults.process import datasets_of, registry, registry_each, write_catalog
from tests.git_repository import GitRepository, write_files
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.hub import HubEmulator, parquet_repo
from tests.servers.recorder import Recorder

PLANTED = (
    "plantedQuery",
    "plantedLater",
    "plantedSignature",
    "plantedGone",
    "hf_plantedTokenOfTheUser",
)
TOKEN = PLANTED[-1]
VERBS = (
    *("sync", "sync --json", "lock", "lock --check", "lock --upgrade", "verify", "verify --json"),
    *("preview d", "preview d --json", "show d", "show d --json", "show d --call", "list --json"),
    *("show d --origin", "show d --origin --json", "cache list", "preview gone", "sync gone"),
    *("validate", "validate --format json", "validate --format sarif"),
    *("diff HEAD", "diff HEAD --json", "diff HEAD --format markdown"),
    "diff HEAD --build --format markdown",
)


def assert_absent(folder: Path, ended: Ran) -> None:
    """Look for what was planted in all output, and in all files but the manifest."""
    for planted in PLANTED:
        assert planted not in ended.text
        for file in folder.rglob("*"):
            if file.is_file() and file.name != "datasets.yaml":
                assert planted.encode() not in file.read_bytes(), file


def test_a_presigned_url(tmp_path: Path) -> None:
    with Recorder(body=b"input,target\n1,2\n") as server:
        server.pages["/gone.csv?X-Amz-Signature=plantedGone"] = None
        url = f"{server.url('/d.csv')}?q=plantedQuery#sig=plantedSignature"
        more = (
            f"{server.url('/gone.csv')}?X-Amz-Signature=plantedGone",
            f"{server.url('/2.csv')}#sig=plantedSignature",
            f"{server.url('')}?plantedQuery",
        )
        datasets = datasets_of("csv", {"d": f"'{url}'", "gone": str(list(more))})
        catalog = tmp_path / "catalog"
        text = f"version: 1\ndatasets:\n{datasets}"
        GitRepository.make(catalog, {"datasets.yaml": text})
        write_files(catalog, {"datasets.yaml": text.replace("plantedQuery", "plantedLater", 1)})
        ended = registry_each(catalog, *VERBS)
    assert re.search(r"^d +built ", ended.out, re.MULTILINE)
    assert any("plantedLater" in one.path for one in server.received)
    assert_absent(tmp_path, ended)


def test_the_token_of_the_hub_stays_there(tmp_path: Path, hub: HubEmulator) -> None:
    files = parquet_repo({"default": {"test": [{"input": "1", "target": "2"}]}})
    hub.commit("org/moved", files)
    (name,) = (name for name in files if name.endswith(".parquet"))
    # As the Hub does with large files; another host, so that clients leave the token out.
    with Recorder(body=files[name]) as cdn, FaultProxy(hub.url) as proxy:
        location = cdn.url(f"/{name}?X-Amz-Signature=plantedSignature", "localhost")
        proxy.add(Fault(status=302, headers={"Location": location}), path=r".*\.parquet")
        catalog = write_catalog(
            tmp_path, "  d: {source: {type: hf, path: org/moved, split: test}}\n"
        )
        home = str(tmp_path / "huggingface")
        ended = registry(catalog, "sync", HF_ENDPOINT=proxy.url, HF_HOME=home, HF_TOKEN=TOKEN)
    assert any(TOKEN in str(seen.headers) for seen in proxy.log)
    assert any(one.path.startswith(f"/{name}") for one in cdn.received), ended.text
    assert TOKEN not in str(cdn.received)
    assert_absent(tmp_path, ended)
