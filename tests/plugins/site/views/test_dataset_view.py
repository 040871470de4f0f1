"""The values that the page of a dataset shows."""

from __future__ import annotations

from registry.plugins.site.views.dataset_view import DatasetView, SpecRow


def test_states_are_what_a_dataset_is_found_by() -> None:
    row = SpecRow(key="pin.samples", value="2", layer="lock", place="datasets.lock:4")
    assert DatasetView(name="qa").states == ()
    assert DatasetView(name="qa", problems=("x",)).states == ("broken",)
    view = DatasetView(name="qa", samples=(), pin=(row,), is_pinned=True, warnings=("odd",))
    assert view.states == ("cached", "pinned", "warned")
