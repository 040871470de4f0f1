"""An emulator of the Hugging Face Hub, on a loopback port, for loading datasets."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import re
import socket
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import parse_qs, unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["HubEmulator", "Request", "blob_id", "parquet_repo"]

_DATE = "2024-01-01T00:00:00.000Z"
_LFS_SUFFIXES = (".arrow", ".bin", ".gz", ".parquet", ".zip", ".zst")
"""Files that the Hub keeps in Git LFS: known by their sha256, others by their git blob id."""


class Request(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    """As sent: still quoted, with its query."""


class HubEmulator:
    """Serves dataset repositories made by `commit`; a context manager, or `start` and `stop`.

    Repositories outlive `stop`; the next `start` has a new port.
    """

    def __init__(self) -> None:
        self.url = ""
        """Value for `HF_ENDPOINT`, once started."""
        self.token: str | None = None
        """The token that opens private repositories; None leaves them closed."""
        self.requests: list[Request] = []
        """Every request so far, each noted before its answer is sent."""
        self.sent = 0
        """Bytes of all answers' bodies so far."""
        self._repos: dict[str, _Repo] = {}
        self._failure: _Reply | None = None
        self._failures = 0.0
        self._commit_lock = threading.Lock()
        self._server: _Server | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Listen on a free port of 127.0.0.1, in a daemon thread."""
        self._server = _Server(("127.0.0.1", 0), functools.partial(_Handler, self._answer))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        # A short poll, as `shutdown` waits for the next one.
        serve = functools.partial(self._server.serve_forever, poll_interval=0.01)
        threading.Thread(target=serve, name="hub-emulator", daemon=True).start()

    def stop(self) -> None:
        """Refuse new connections, and close open ones."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def commit(
        self,
        repo_id: str,
        files: Mapping[str, bytes],
        *,
        branch: str = "main",
        private: bool = False,
        sha: str | None = None,
    ) -> str:
        """Make a commit that contains exactly `files`, move `branch` to it and return its full sha.

        Without `sha`, the sha depends only on the repository's name, the commit
        that `branch` pointed at and the files. A repository once private stays so.
        """
        with self._commit_lock:
            repo = self._repos.setdefault(repo_id, _Repo())
            sha = sha or _commit_sha(repo_id, repo.branches.get(branch), files)
            repo.private |= private
            repo.commits[sha] = _Commit(repo_id, sha, repo.private, dict(files))
            repo.branches[branch] = sha
        return sha

    def tag(self, repo_id: str, name: str, sha: str) -> None:
        """Give a commit another name."""
        self._repos[repo_id].tags[name] = sha

    def gate(self, repo_id: str) -> None:
        """Show a repository only to those who have asked for access, and nobody has."""
        self._repos[repo_id].gated = True

    def remove(self, repo_id: str) -> None:
        """Remove a repository, if it is there."""
        self._repos.pop(repo_id, None)

    def fail_with(
        self,
        status: int | None,
        *,
        headers: Mapping[str, str] | None = None,
        times: float = float("inf"),
    ) -> None:
        """Answer the next requests with `status` and `headers`; None restores normal replies."""
        self._failures = times
        reply = functools.partial(_refusal, message="Failing, as told", headers=headers or {})
        self._failure = None if status is None else reply(status)

    def _answer(self, call: _Call) -> _Reply:
        self.requests.append(Request(call.method, call.target))
        failure = self._failure if self._failures > 0 else None
        self._failures -= 1
        reply = failure or _route(call, self._repos, self.token)
        self.sent += len(reply.body) if call.method == "GET" else 0
        return reply


def parquet_repo(
    configs: Mapping[str, Mapping[str, list[dict[str, Any]]]],
    *,
    schemas: Mapping[str, pa.Schema] | None = None,
    licence: str | None = None,
) -> dict[str, bytes]:
    """Return the files of a dataset repository: a card, and a parquet file for each split.

    `configs` is `{config: {split: records}}`. A schema is inferred from the records where
    `schemas` has none for a config; a split without records needs one.
    """
    files = {"README.md": _card(configs, licence)}
    for config, splits in configs.items():
        for split, records in splits.items():
            table = pa.Table.from_pylist(records, schema=(schemas or {}).get(config))
            buffer = io.BytesIO()
            pq.write_table(table, buffer)
            files[_split_path(config, split)] = buffer.getvalue()
    return files


def _card(configs: Mapping[str, Iterable[str]], licence: str | None) -> bytes:
    metadata: dict[str, Any] = {} if licence is None else {"license": licence}
    metadata["configs"] = [
        {
            "config_name": config,
            "data_files": [{"split": name, "path": _split_path(config, name)} for name in splits],
        }
        for config, splits in configs.items()
    ]
    return f"---\n{yaml.safe_dump(metadata, sort_keys=False)}---\n\n# A dataset\n".encode()


def _split_path(config: str, split: str) -> str:
    return f"{config}/{split}-00000-of-00001.parquet"


class _Commit(NamedTuple):
    """A commit of a repository, with its files."""

    repo_id: str
    sha: str
    private: bool
    files: dict[str, bytes]


@dataclass
class _Repo:
    """A repository: commits by sha, shas by branch."""

    private: bool = False
    gated: bool = False
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    commits: dict[str, _Commit] = field(default_factory=dict)


class _Call(NamedTuple):
    """The parts of a request that an answer depends on."""

    method: str
    target: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes


class _Reply(NamedTuple):
    """The response."""

    status: int
    body: bytes
    headers: Mapping[str, str]


class _RefusedError(Exception):
    """Ends the handling of a request with this reply."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        self.reply = _refusal(
            status, message, {"X-Error-Code": code, "X-Error-Message": message, **headers}
        )
        super().__init__(message)


def _refusal(status: int, message: str, headers: Mapping[str, str]) -> _Reply:
    return _Reply(status, json.dumps({"error": message}).encode(), headers)


def _json_reply(value: object) -> _Reply:
    return _Reply(200, json.dumps(value).encode(), {"Content-Type": "application/json"})


def _route(call: _Call, repos: Mapping[str, _Repo], token: str | None) -> _Reply:
    """Answer with the route whose pattern fully matches the method and path of the call."""
    method = "GET" if call.method == "HEAD" else call.method
    # Matched before it is unquoted: a `/` in a revision arrives as `%2F`.
    line = f"{method} {urlsplit(call.target).path}"
    for pattern, reply in _ROUTES:
        if found := pattern.fullmatch(line):
            part = {name: unquote(text) for name, text in found.groupdict("").items()}
            try:
                repo = _repo(repos, part["repo"], call=call, token=token)
                if line.endswith("/refs"):
                    return _refs(repo)
                return reply(call, _commit(repo, part["revision"] or "main"), part.get("path", ""))
            except _RefusedError as refused:
                return refused.reply
    return _refusal(404, "The emulator has no such route", {})


def _repo(repos: Mapping[str, _Repo], repo_id: str, *, call: _Call, token: str | None) -> _Repo:
    """Find a repository; one that the caller may not see looks as if it didn't exist."""
    trusted = token is not None and call.headers.get("authorization") == f"Bearer {token}"
    repo = repos.get(repo_id)
    if repo is None or (repo.private and not trusted):
        raise _RefusedError(404 if trusted else 401, "RepoNotFound", "Repository not found")
    if repo.gated:
        raise _RefusedError(403, "GatedRepo", f"Access to dataset {repo_id} is restricted")
    return repo


def _refs(repo: _Repo) -> _Reply:
    kinds = {
        "branches": ("heads", repo.branches),
        "tags": ("tags", repo.tags),
        "converts": ("", {}),
    }
    return _json_reply(
        {
            kind: [
                {"name": name, "ref": f"refs/{folder}/{name}", "targetCommit": sha}
                for name, sha in names.items()
            ]
            for kind, (folder, names) in kinds.items()
        }
    )


def _commit(repo: _Repo, revision: str) -> _Commit:
    commit = repo.commits.get({**repo.tags, **repo.branches}.get(revision, revision))
    if commit is None:
        raise _RefusedError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
    return commit


def _no_entry(commit: _Commit, path: str) -> _RefusedError:
    # Clients remember that a file is missing under this sha.
    sha = {"X-Repo-Commit": commit.sha}
    return _RefusedError(404, "EntryNotFound", f"{path} does not exist", **sha)


def _info(_call: _Call, commit: _Commit, _path: str) -> _Reply:
    info = {
        "id": commit.repo_id,
        "sha": commit.sha,
        "private": commit.private,
        "gated": False,
        "lastModified": _DATE,
        "tags": [],
        "cardData": _card_data(commit.files.get("README.md", b"")),
        "siblings": [{"rfilename": path} for path in sorted(commit.files)],
    }
    return _json_reply(info)


@functools.lru_cache(maxsize=1000)
def _card_data(readme: bytes) -> object:
    found = re.match(rb"---\n(.*?)^---$", readme, re.DOTALL | re.MULTILINE)
    return yaml.load(found[1], Loader=yaml.CSafeLoader) if found else None


def _tree(call: _Call, commit: _Commit, under: str) -> _Reply:
    prefix = f"{under.rstrip('/')}/" if under else ""
    paths = [path for path in _paths(commit.files) if path.startswith(prefix)]
    if under and not paths:
        raise _no_entry(commit, under)
    query = parse_qs(urlsplit(call.target).query)
    if query.get("recursive", [""])[-1].lower() not in ("true", "1"):
        paths = [path for path in paths if "/" not in path.removeprefix(prefix)]
    return _json_reply([_entry(commit, path) for path in paths])


def _paths_info(call: _Call, commit: _Commit, _path: str) -> _Reply:
    """Describe the existing paths among those in the form."""
    wanted = parse_qs(call.body.decode()).get("paths", [])
    known = _paths(commit.files)
    return _json_reply([_entry(commit, path) for path in wanted if path in known])


def _paths(files: Iterable[str]) -> list[str]:
    """Return the files and the folders above them, sorted."""
    folders = {str(folder) for path in files for folder in PurePosixPath(path).parents}
    return sorted(folders - {"."} | set(files))


def _entry(commit: _Commit, path: str) -> dict[str, Any]:
    content = commit.files.get(path)
    if content is None:
        return {"type": "directory", "path": path, "size": 0, "oid": blob_id(path.encode())}
    size = len(content)
    entry = {"type": "file", "path": path, "size": size, "oid": blob_id(content)}
    if path.endswith(_LFS_SUFFIXES):
        entry["lfs"] = {"oid": _sha256(content), "size": size, "pointerSize": 130}
    return entry


def _file(call: _Call, commit: _Commit, path: str) -> _Reply:
    content = commit.files.get(path)
    if content is None:
        raise _no_entry(commit, path)
    etag = _sha256(content) if path.endswith(_LFS_SUFFIXES) else blob_id(content)
    headers = {"ETag": f'"{etag}"', "X-Repo-Commit": commit.sha, "Accept-Ranges": "bytes"}
    # RFC 9110, 14.2: a range is ignored for methods other than GET.
    wanted = call.headers.get("range", "") if call.method == "GET" else ""
    return _ranged(content, wanted, headers)


def _ranged(content: bytes, wanted: str, headers: Mapping[str, str]) -> _Reply:
    """Reply with the single `bytes=` range in `wanted`, or with all bytes without one."""
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted)
    if found is None or wanted == "bytes=-":
        return _Reply(200, content, headers)
    size = len(content)
    start = int(found[1]) if found[1] else max(size - int(found[2]), 0)
    stop = min(int(found[2]) + 1, size) if found[1] and found[2] else size
    if start >= stop:
        return _Reply(416, b"", {**headers, "Content-Range": f"bytes */{size}"})
    about = {"Content-Range": f"bytes {start}-{stop - 1}/{size}"}
    return _Reply(206, content[start:stop], {**headers, **about})


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def blob_id(content: bytes) -> str:
    """Return the digest of a file that git has."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _commit_sha(repo_id: str, parent: str | None, files: Mapping[str, bytes]) -> str:
    digests = {path: _sha256(content) for path, content in files.items()}
    canonical = json.dumps([repo_id, parent, digests], sort_keys=True)
    return hashlib.sha1(canonical.encode(), usedforsecurity=False).hexdigest()


_REPO = "(?P<repo>[^/]+/[^/]+)"
_REVISION = "(?P<revision>[^/]+)"
_ROUTES: tuple[tuple[re.Pattern[str], Callable[[_Call, _Commit, str], _Reply]], ...] = (
    (re.compile(f"GET /datasets/{_REPO}/resolve/{_REVISION}/(?P<path>.+)"), _file),
    (re.compile(f"GET /api/datasets/{_REPO}(?:/revision/{_REVISION}|/refs)?"), _info),
    (re.compile(f"GET /api/datasets/{_REPO}/tree/{_REVISION}(?:/(?P<path>.+))?"), _tree),
    (re.compile(f"POST /api/datasets/{_REPO}/paths-info/{_REVISION}"), _paths_info),
)


class _Handler(BaseHTTPRequestHandler):
    """Turns bytes into a `_Call`, and a `_Reply` into bytes."""

    protocol_version = "HTTP/1.1"
    # Otherwise a body waits some 40 ms until the client acknowledges the headers.
    disable_nagle_algorithm = True

    def __init__(self, answer: Callable[[_Call], _Reply], *connection: Any) -> None:
        self._answer = answer
        super().__init__(*connection)

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        reply = self._answer(_Call(self.command, self.path, headers, body))
        self.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(len(reply.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    do_HEAD = do_POST = do_GET  # noqa: N815 - http.server looks for these names

    def log_message(self, *_: object) -> None:
        """Print nothing: `HubEmulator.requests` is the log."""


class _Server(ThreadingHTTPServer):
    """Closes kept-alive connections when it stops, like a Hub that goes down."""

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for connection in tuple(self._open):
            with contextlib.suppress(OSError):  # its client may have left already
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect, as streaming clients do."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)
