"""No change of the table is hidden from a review: each diff is held to a plain reference."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.review_flow.oracle.changes import CHANGES, apart, mixed
from tests.review_flow.oracle.check import Oracle

# Several, so that they run in parallel.
CHUNKS = 6


@pytest.fixture(scope="module", params=[True, False], ids=["locked", "not locked"])
def oracle(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Oracle]:
    """Make the repository and the process of the reference, for 2 s; a change leaves no trace."""
    folder = tmp_path_factory.mktemp("oracle")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("REGISTRY_CACHE_DIR", str(folder / "settings"))
        made = Oracle.make(folder, locked=request.param)
    yield made
    made.reference.close()


def test_table_has_many_kinds() -> None:
    assert len(CHANGES) >= 240


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_change_of_the_table_is_hidden(oracle: Oracle, chunk: int) -> None:
    of_data = apart(sorted(name for name, one in CHANGES.items() if one.in_data))
    rest = sorted((name, one) for name, one in CHANGES.items() if not one.in_data)
    # With a lockfile, samples of other data are refused, so that there is less to see.
    changes = [*rest, *of_data[::8]] if oracle.locked else of_data
    found = {name: oracle.faults(change) for name, change in changes[chunk::CHUNKS]}
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_no_random_change_is_hidden(oracle: Oracle) -> None:
    found = {name: oracle.faults(change) for name, change in map(mixed, range(10))}
    assert {name: faults for name, faults in found.items() if faults} == {}
