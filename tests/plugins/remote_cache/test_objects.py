"""The interface of stores; `store_contract` is what each has to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.plugins.remote_cache.folder_store import FolderStore
from registry.plugins.remote_cache.objects import Store, StoredObject


def test_objects_are_values(tmp_path: Path) -> None:
    one = StoredObject("a", 1, 2.0)
    assert one == StoredObject("a", 1, 2.0)
    with pytest.raises(AttributeError, match="immutable"):
        one.size = 2  # type: ignore[misc]


@pytest.mark.parametrize("name", [name for name in vars(Store) if not name.startswith("_")])
def test_methods_of_stores_have_the_names_of_the_interface(name: str) -> None:
    assert hasattr(FolderStore, name)
