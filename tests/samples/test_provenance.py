"""A provenance as JSON: complete, and an edit of it is noticed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

import registry
from registry.base.digest import digest_of
from registry.base.materials import Material
from registry.samples.provenance import CatalogVersion, Provenance, read_provenance

ROW = Material(location="data/qa.csv", size=3, sha256="a" * 64)
FULL = Provenance(
    name="qa",
    version="2-B",
    samples=3,
    ordered="sha256:" + "b" * 64,
    state="verified",
    pins=(ROW,),
    view={"limit": 3},
    modified=("sorted",),
    license="mit",
    catalog=CatalogVersion(repository="https://example.org/o/r", commit="c" * 40, changed=True),
)


def test_json_has_all_that_is_known_and_is_read_back() -> None:
    data = json.loads(json.dumps(FULL.as_data()))
    assert read_provenance(data) == FULL
    assert data["pins"] == [{"location": "data/qa.csv", "size": 3, "sha256": "a" * 64}]
    assert data["catalog"]["changed"] is True
    assert data["release"] == FULL.release != "unknown"
    assert {"fewshot", "split", "fingerprint"}.isdisjoint(data)
    nothing = Provenance(samples=0, pins=(replace(ROW, size=0),))
    assert read_provenance(nothing.as_data()) == nothing


def test_edit_of_any_value_is_noticed() -> None:
    data = FULL.as_data()
    for key in data.keys() - {"digest"}:
        edited: dict[str, Any] = {**data, key: "other"}
        with pytest.raises(ValueError, match="edited by hand"):
            read_provenance(edited)
        with pytest.raises(ValueError, match="edited by hand"):
            read_provenance({name: value for name, value in data.items() if name != key})


@pytest.mark.parametrize("data", [None, [], "text", {}, {"name": "qa"}, {"digest": 3}])
def test_something_else_is_no_provenance(data: Any) -> None:
    with pytest.raises(ValueError, match="not a provenance"):
        read_provenance(data)


def test_keys_of_a_newer_release_are_left_alone_and_wrong_types_are_not() -> None:
    newer = {"samples": 1, "release": "9.0", "mirror": "m"}
    assert read_provenance({**newer, "digest": digest_of(newer)}).release == "9.0"
    wrong = {"samples": "three"}
    with pytest.raises(ValueError, match=r"of this release: .*\$\.samples"):
        read_provenance({**wrong, "digest": digest_of(wrong)})


def test_dataset_in_memory_says_which_samples_it_has() -> None:
    samples = [registry.Sample(input="a", target="x"), registry.Sample(input="b")]
    found = registry.MemoryDataset(samples, name="mine").provenance
    assert (found.name, found.samples, found.state, found.catalog) == ("mine", 2, "floating", None)
    assert found.ordered != registry.MemoryDataset(samples[::-1]).provenance.ordered
    assert found.ordered == registry.MemoryDataset(samples[:]).provenance.ordered
