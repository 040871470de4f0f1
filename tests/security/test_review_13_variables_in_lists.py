"""Row 13: `{env: NAME}` inside a list was not replaced, and was reported "out of reach"."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry import csv_dataset
from tests.security.audit import run_audited
from tests.servers.recorder import Recorder

MANIFEST = """\
version: 1
hosts: [localhost]
secrets: {QA_KEY: [localhost]}
datasets:
  d: {source: {type: csv, path: URL, fs_options: OPTIONS}, fields: {input: q, target: a}}
"""


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ("{headers: [[X-Key, {env: QA_KEY}]]}", "fs_options.headers[0][1]"),
        ("{client_kwargs: {headers: [{env: QA_KEY}]}}", "fs_options.client_kwargs.headers[0]"),
        ("{proxies: [{env: QA_KEY}]}", "fs_options.proxies[0]"),
        ("{headers: {X-Key: [{env: QA_KEY}]}}", "fs_options.headers.X-Key[0]"),
    ],
)
def test_a_place_that_takes_no_variable_is_named(tmp_path: Path, options: str, place: str) -> None:
    with Recorder() as server:
        text = MANIFEST.replace("URL", server.url("/x.csv", "localhost"))
        (tmp_path / "datasets.yaml").write_text(text.replace("OPTIONS", options))
        for verb in (["validate"], ["preview", "d"]):
            found = run_audited(verb, folder=tmp_path, environment={"QA_KEY": "planted-key"})
            assert found.code == 1
            assert "datasets.yaml:5:" in found.text
            assert f"$.datasets.d.source.{place}: http takes no option" in found.text
            assert "planted-key" not in found.text
    assert server.received == []


def test_a_loader_replaces_variables_in_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QA_KEY", "planted-key")
    headers = [("X-Key", {"env": "QA_KEY"}), ["X-Other", {"env": "QA_KEY"}]]
    with Recorder() as server:
        server.body = b"input,target\n1,2\n"
        options = {"client_kwargs": {"headers": [list(one) for one in headers]}}
        csv_dataset(server.url("/x.csv"), fs_options=options)
        assert server.headers("/x.csv")["x-key"] == "planted-key"
        assert server.headers("/x.csv")["x-other"] == "planted-key"
