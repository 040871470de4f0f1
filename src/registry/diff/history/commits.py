"""Read commits: who wrote, reviewed and merged them, and which was the last to touch some files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from registry.base.git import Repository
from registry.base.process_state import cached_property

__all__ = ["Commit", "Commits", "Merge"]

# Not `git log`, whose output the repository's own settings may change (`log.showSignature` runs
# a program that they name).
_FORMAT = "%H%x00%P%x00%aI%x00%ct%x00%an <%ae>%x00%cn <%ce>%x00%s%x00%b"
_TRAILER = re.compile(r"([A-Za-z][A-Za-z-]*)[ \t]*:[ \t]*(\S.*)")
_REQUESTS = re.compile(
    r"Merge pull request #(\d+)|\(pull request #(\d+)\)|\(#(\d+)\)$|See merge request \S*!(\d+)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Merge:
    """The merge by which a commit came into the history of HEAD."""

    id: str
    subject: str
    author: str
    request: str
    """Number of the pull or merge request that its message names; empty if it names none."""


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit, with all that its message says of who reviewed it."""

    id: str
    parents: tuple[str, ...]
    date: datetime
    """When its author wrote it."""
    time: int
    """Seconds of the epoch when it was committed."""
    author: str
    committer: str
    subject: str
    trailers: tuple[tuple[str, str], ...]
    """`Reviewed-by`, `Co-authored-by` and others, in the order of the message."""
    request: str
    """Number of the pull or merge request that its message names; empty if it names none."""

    @property
    def short(self) -> str:
        """The first digits of its id."""
        return self.id[:7]


@dataclass(frozen=True)
class Commits:
    """The commits of a repository."""

    repository: Repository

    @cached_property
    def cut(self) -> frozenset[str]:
        """The commits of a shallow clone whose parents are not here."""
        git = self.repository.git
        # Relative to the folder in which git runs: the top.
        path = self.repository.top / git("rev-parse", "--git-path", "shallow").removesuffix("\n")
        try:
            return frozenset(Path(path).read_text(encoding="ascii").split())
        except FileNotFoundError:
            return frozenset()

    def last(self, start: str, pathspecs: Iterable[str]) -> Commit | None:
        """Return the last commit, from `start` backwards, that touched any of some files.

        Where a merge has all of them as one of its parents does, that parent alone is followed.
        """
        return self._read("--max-count=1", start, "--", *pathspecs)

    def read(self, commit: str) -> Commit:
        """Return a commit."""
        found = self._read("--max-count=1", commit)
        assert found is not None  # noqa: S101 (git fails for a commit that it lacks)
        return found

    def _read(self, *arguments: str) -> Commit | None:
        out = self.repository.git(
            "rev-list", "--encoding=UTF-8", f"--format=%x00{_FORMAT}", *arguments
        )
        if not out:
            return None
        values = out.removesuffix("\n").split("\0", 8)[1:]
        commit, parents, date, time, author, committer, subject, body = values
        return Commit(
            id=commit,
            parents=tuple(parents.split()),
            date=datetime.fromisoformat(date),
            time=int(time),
            author=author,
            committer=committer,
            subject=subject,
            trailers=_trailers(body),
            request=_request(f"{subject}\n{body}"),
        )

    def merge_of(self, commit: str) -> Merge | None:
        """Return the merge that brought a commit into the main line of HEAD, if one did."""
        found = self._merges.get(commit)
        if found is None:
            return None
        merge = self.read(found)
        return Merge(merge.id, merge.subject, merge.author, merge.request)

    @cached_property
    def _merges(self) -> Mapping[str, str]:
        """Commit → the merge of HEAD's main line that brought it in; without those of that line."""
        listing = self.repository.git("rev-list", "--parents", "HEAD")
        rows = (line.split() for line in listing.split("\n") if line)
        parents = {commit: others for commit, *others in rows}
        line = [next(iter(parents))]
        while parents.get(line[-1]):
            line.append(parents[line[-1]][0])
        found = dict.fromkeys(line, "")
        for merge in reversed(line):  # the oldest first, as a later one brings in what is left
            waiting = parents[merge][1:] if merge in parents else []
            while waiting:
                commit = waiting.pop()
                if commit not in found:
                    found[commit] = merge
                    waiting += parents.get(commit, ())
        return {commit: merge for commit, merge in found.items() if merge}


def _trailers(body: str) -> tuple[tuple[str, str], ...]:
    """Return the `Key: value` lines of the last paragraph, if it has nothing else."""
    lines = body.strip().rpartition("\n\n")[2].splitlines()
    found = [_TRAILER.fullmatch(line.strip()) for line in lines]
    return tuple((one[1], one[2].strip()) for one in found if one) if all(found) else ()


def _request(message: str) -> str:
    found = _REQUESTS.search(message)
    return next(filter(None, found.groups()), "") if found else ""
