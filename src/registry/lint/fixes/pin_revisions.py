"""Write the commits that a lockfile pins into manifests whose revisions float."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import yaml

from registry.errors import ManifestError
from registry.lint.fixes.source_file import ManifestFile
from registry.lint.suppressions import read_ignores
from registry.lockfile.models import Lock
from registry.manifest.source import Repository, is_commit
from registry.manifest.source_models import source_model
from registry.yamldoc.reader import json_path, parse_yaml

__all__ = ["pin_revisions"]

_RULE = "unpinned-revision"


def pin_revisions(file: ManifestFile, lock: Lock) -> tuple[ManifestFile, list[str], list[str]]:
    """Pin the sources that datasets of a file say themselves, where the lock has one commit.

    Return the file, what was done and what was left. Samples stay those that are pinned.
    """
    done, left = list[str](), list[str]()
    for name, repository in list(_floating(file)):
        place = json_path(("datasets", name, "source"))
        commits = _commits(lock, repository) if name in lock.pins else set[str]()
        if len(commits) > 1:
            left.append(f"datasets.lock pins the source of {place} to several commits")
        for commit in commits if len(commits) == 1 else ():
            changed = _with_revision(file, name, commit)
            if changed is None:
                left.append(f"the revision {commit} can't be written into {place}")
                continue
            file = changed
            lock_again = f"`python -m registry lock {name}` pins that"
            done.append(f"took the revision of {place} from datasets.lock ({lock_again})")
    return file, done, left


def _floating(file: ManifestFile) -> Iterator[tuple[str, Repository]]:
    """Yield the repositories without a commit, but those whose rule a comment ignores."""
    meant = {
        comment.target
        for comment in read_ignores(file.text)
        if _RULE in comment.rules and comment.reason
    }
    for name, entry in (file.document.value.get("datasets") or {}).items():
        source = entry.get("source") if isinstance(entry, dict) else None
        repository = (
            source_model(source).repository_of(source) if isinstance(source, dict) else None
        )
        if repository is None or is_commit(repository.revision):
            continue
        key = "path" if repository.revision is None else "revision"
        if file.document.position(("datasets", name, "source", key)).line not in meant:
            yield name, repository


def _commits(lock: Lock, repository: Repository) -> set[str]:
    """Return all commits that a revision of a repository is pinned to: heirs have its source."""
    return {
        one.revision
        for pin in lock.pins.values()
        for one in pin.sources
        if one.revision is not None
        and one.location == repository.location
        and one.asked == repository.revision
    }


def _with_revision(file: ManifestFile, name: str, commit: str) -> ManifestFile | None:
    """Return the file with nothing else changed; None where that can't be done."""
    wanted = deepcopy(file.document.value)
    wanted["datasets"][name]["source"]["revision"] = commit
    if file.has_odd_breaks:
        return None
    # A commit of digits alone, or like 12e4…, is a number without quotes.
    for written in (commit, f'"{commit}"'):
        try:
            text = _edited(file.text, name, written)
            document = parse_yaml(text, file=file.document.file)
        except (KeyError, ManifestError):
            continue
        if document.value == wanted:
            return replace(file, text=text, document=document)
    return None


def _edited(text: str, name: str, written: str) -> str:
    """Return the text with a revision in place of the one that is there, or behind the path."""
    source = _value(_value(_value(yaml.compose(text, yaml.SafeLoader), "datasets"), name), "source")
    keys = {key.value: (key, value) for key, value in source.value}
    if "revision" in keys:
        value = keys["revision"][1]
        return text[: value.start_mark.index] + written + text[value.end_mark.index :]
    key, path = keys["path"]
    if source.flow_style:
        end = path.end_mark.index
        return f"{text[:end]}, revision: {written}{text[end:]}"
    end = text.find("\n", path.end_mark.index)
    end = len(text) if end < 0 else end
    tail = "\r" if text[:end].endswith("\r") else ""
    indent = " " * key.start_mark.column
    return f"{text[:end]}\n{indent}revision: {written}{tail}{text[end:]}"


def _value(node: Any, key: str) -> Any:
    """Return the node below a key; a KeyError where it is not written there."""
    return {one.value: value for one, value in node.value}[key]
