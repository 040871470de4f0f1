"""New files in an editor: the real yaml-language-server follows their schema lines."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Self

import pytest

from registry.cli import main

SERVER = os.environ.get("YAML_LANGUAGE_SERVER") or shutil.which("yaml-language-server")
pytestmark = pytest.mark.skipif(
    SERVER is None, reason="needs yaml-language-server (npm install -g yaml-language-server)"
)


class Server:
    """The language server, as an editor without settings of its own starts it."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [str(SERVER), "--stdio"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._count = 0
        self.call("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
        self._send({"method": "initialized", "params": {}})

    def open(self, file: Path, text: str) -> list[str]:
        """Open a file; return the messages of its problems."""
        item = {"uri": file.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": item}})
        while True:
            message = self._receive()
            params = message.get("params") or {}
            if (
                message.get("method", "").endswith("publishDiagnostics")
                and params["uri"] == item["uri"]
            ):
                return [one["message"] for one in params["diagnostics"]]

    def complete(self, file: Path, line: int, character: int) -> list[str]:
        """Return what can be written at a position."""
        where = {
            "textDocument": {"uri": file.as_uri()},
            "position": {"line": line, "character": character},
        }
        return [one["label"] for one in self.call("textDocument/completion", where)["items"]]

    def call(self, method: str, params: dict[str, Any]) -> Any:
        self._count += 1
        self._send({"id": self._count, "method": method, "params": params})
        while (answer := self._receive()).get("id") != self._count or "method" in answer:
            pass
        return answer["result"]

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        """Return the next message; answer what the server asks of the editor."""
        assert self._process.stdout is not None
        size = 0
        while line := self._process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                size = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(self._process.stdout.read(size))
        if "method" in message and "id" in message:
            items = (message.get("params") or {}).get("items", [])
            self._send({"id": message["id"], "result": [{} for _ in items] or None})
        return message

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.mark.parametrize("command", ["init", "add"])
def test_editor_completes_and_checks_new_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    folder = tmp_path / "catalog"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "q.csv").write_text("question,answer\nWho?,me\n")
    assert main(["init"] if command == "init" else ["add", "example", "--file", "q.csv"]) == 0
    index, manifest = folder / "datasets.yaml", folder / "registry" / "example.yaml"
    text = manifest.read_text()
    with Server(folder) as server:
        assert server.open(index, index.read_text()) == []
        assert server.open(manifest, text) == []
        wrong = folder / "registry" / "wrong.yaml"
        (problem,) = server.open(wrong, text.replace("target: answer", "targte: answer"))
        assert "targte" in problem
        lines = text.splitlines()
        at = next(number for number, line in enumerate(lines) if line.startswith("    fields:"))
        unfinished = "\n".join([*lines[: at + 1], "      "])
        new = folder / "registry" / "new.yaml"
        server.open(new, unfinished)
        assert {"input", "target", "choices", "sandbox"} <= set(server.complete(new, at + 1, 6))
