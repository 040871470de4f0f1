"""Describe the indexes of a repository that a change adds, edits or removes, but its catalog's own.

Such an index takes over for everybody who works in its folder, with its own permissions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from registry.catalog.catalog import Catalog
from registry.diff.models import Reach
from registry.diff.reach import index_reach
from registry.diff.snapshots.changed_files import changed_files, differing_digests, paths_of
from registry.diff.snapshots.contents import Contents
from registry.errors import ManifestError, list_names
from registry.settings import INDEX_NAME

__all__ = ["nested_indexes"]

_MOST_READ = 20
"""More are only named: each may include as many files as a catalog may have."""
_MAX_NAMES = 5


def nested_indexes(base: Contents, head: Contents) -> frozenset[Reach]:
    """Return each other index of the repository that differs, with what it permits and defines."""
    if base.catalog is None or head.catalog is None:
        return frozenset()
    paths = {
        path
        for path in paths_of(base.checkout) | paths_of(head.checkout)
        # Where case does not matter, such a file is found, too.
        if os.path.basename(path).lower() == INDEX_NAME
    }
    own = {side.checkout.relative(str(side.checkout.index)) for side in (base, head)}
    found = set[Reach]()
    changed = changed_files(base, head, paths - own)
    for path, (before, after) in differing_digests(base, head, changed).items():
        status = "removed" if after is None else "added" if before is None else "changed"
        is_read = after is not None and len(found) < _MOST_READ
        facts = _facts(head, path, base) if is_read else ()
        found.add(Reach("nested index", f"{path}: {'; '.join([status, *facts])}"))
    return frozenset(found)


def _facts(head: Contents, path: str, rules: Contents) -> Iterator[str]:
    """Yield what an index permits, and which names it has that the catalog has, too."""
    checkout = head.checkout.at(path)
    try:
        # What it may include is decided by the base, not by its own `paths`.
        catalog = Catalog.open(checkout.index, keep=False, paths_from=rules.checkout.index)
        value = catalog.index_document().value
    except ManifestError:
        yield "can't be read"
        return
    if permitted := sorted(one.name for one in index_reach(value) if one.kind == "permission"):
        yield f"permits {', '.join(permitted)}"
    assert head.catalog is not None  # noqa: S101 (see above)
    if shared := sorted(set(catalog.entries) & set(head.catalog.entries)):
        yield f"defines {list_names(shared, _MAX_NAMES)}, as the catalog does"
