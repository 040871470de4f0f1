"""Receipts as values: what a rebuild compares, and what it can't."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from registry.api import options, read_provenance
from registry.plugins.results.here import Here
from registry.plugins.results.receipt import Rebuilt, receipt_of
from registry.plugins.results.runs import Run, RunSample
from tests.cli.invocation import HUB, write
from tests.cli.invocation import Run as Invoke
from tests.plugins.results.conftest import QUESTIONS, stated

SAMPLES = tuple(
    RunSample(id=number, input=question, target=answer)
    for number, (question, answer) in enumerate(QUESTIONS, 1)
)


@pytest.fixture
def here(own: Path, run: Invoke) -> Here:
    """Pin and open the small catalog."""
    assert run("lock").code == 0
    write(own, "hub", HUB)
    return Here(*options.open_catalog(None))


def run_of(**fields: object) -> Run:
    return Run(file="log", tool="inspect", samples=SAMPLES, **fields)  # type: ignore[arg-type]


def test_repetitions_of_a_sample_are_one(here: Here) -> None:
    samples = (*SAMPLES[:2], replace(SAMPLES[2], target="other"))
    twice = (*samples, *(replace(one, epoch=2) for one in samples))
    receipt = receipt_of(Run(file="log", tool="inspect", samples=twice), here, rebuild=True)
    assert receipt.samples == 3
    assert receipt.reasons == (
        "2 of 3 samples are in qa, by input and target",
        "1 have the input of one, and another target: 3",
    )
    assert receipt.rebuilt is not None
    assert receipt.rebuilt.text.endswith("2 of 3 samples of the log are in it, but not 3")


def test_a_dataset_that_is_found_but_not_pinned_is_named(own: Path, run: Invoke) -> None:
    assert run("sync").code == 0
    receipt = receipt_of(run_of(), Here(*options.open_catalog(None)))
    unpinned = "datasets.lock does not pin qa"
    assert receipt.reasons == ("3 of 3 samples are in qa, by input and target", unpinned)


def test_empty_fingerprint_is_not_that_of_a_dataset_whose_own_is_unknown(here: Here) -> None:
    assert here.fingerprint("hub") == ""
    assert receipt_of(run_of(task="hub", fingerprint=""), here).dataset == "qa"


def test_modified_samples_are_the_same_data_but_not_rebuilt(here: Here) -> None:
    provenance = replace(read_provenance(stated("qa")), ordered=None, modified=("filtered",))
    receipt = receipt_of(run_of(provenance=provenance), here, rebuild=True)
    assert (receipt.verdict, receipt.dataset) == ("same", "qa")
    reasons = ("they are built from what qa is now", "after they were opened they were filtered")
    assert receipt.reasons == reasons
    text = "missing: the code by which they were filtered; before that, 3 of 3 samples of the log"
    assert receipt.rebuilt == Rebuilt(equal=False, text=f"{text} are in it")


def test_modified_samples_without_corrections_are_not_those_of_a_pin_that_has_none(
    here: Here,
) -> None:
    fields = {"ordered": None, "original": True, "fingerprint": f"sha256:{'0' * 64}"}
    provenance = replace(read_provenance(stated("qa")), modified=("filtered",), **fields)
    receipt = receipt_of(run_of(provenance=provenance), here)
    assert (receipt.verdict, receipt.reasons[0]) == ("different", "qa has other samples now")


def test_equal_samples_without_a_pin_are_the_same_whatever_the_fingerprint(
    here: Here, own: Path
) -> None:
    (own / "datasets.lock").unlink()
    provenance = replace(read_provenance(stated("qa", limit=2)), fingerprint=f"sha256:{'0' * 64}")
    for ordered, verdict in ((provenance.ordered, "same"), (f"sha256:{'1' * 64}", "different")):
        found = receipt_of(run_of(provenance=replace(provenance, ordered=ordered)), here)
        assert (found.verdict, found.dataset) == (verdict, "qa")


def test_what_is_neither_pinned_nor_cached_is_unknown(here: Here) -> None:
    provenance = replace(read_provenance(stated("qa")), name="hub")
    provenance = replace(provenance, ordered=f"sha256:{'0' * 64}")
    receipt = receipt_of(run_of(provenance=provenance), here)
    reason = "datasets.lock does not pin hub, and its samples can't be known without a request"
    assert (receipt.verdict, receipt.reasons[0]) == ("unknown", reason)


def test_rebuild_says_why_it_is_impossible(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_OFFLINE", "1")
    provenance = replace(read_provenance(stated("qa")), name="hub", fingerprint=None)
    provenance = replace(provenance, ordered=f"sha256:{'0' * 64}")
    receipt = receipt_of(run_of(provenance=provenance), here, rebuild=True)
    assert receipt.rebuilt is not None
    assert not receipt.rebuilt.equal
    assert receipt.rebuilt.text.startswith("missing: org/name: not in the cache")


def test_log_without_provenance_and_samples_says_nothing(here: Here) -> None:
    receipt = receipt_of(Run(file="log", tool="eee"), here, rebuild=True)
    reason = "the log has neither a provenance nor samples"
    assert (receipt.verdict, receipt.reasons) == ("unknown", (reason,))
    assert receipt.rebuilt == Rebuilt(equal=False, text="missing: which data it was")


def test_content_that_matches_is_rebuilt(here: Here) -> None:
    receipt = receipt_of(run_of(), here, rebuild=True)
    assert (receipt.verdict, receipt.found_by, receipt.dataset) == ("same", "content", "qa")
    text = "the log has no digest; 3 of 3 samples of the log are in it"
    assert receipt.rebuilt == Rebuilt(equal=True, text=text)


def test_other_release_and_other_view_are_named(here: Here) -> None:
    provenance = replace(
        read_provenance(stated("qa")),
        ordered=f"sha256:{'0' * 64}",
        fingerprint=f"sha256:{'0' * 64}",
        release="0.0.1",
        view={"limit": 2},
    )
    receipt = receipt_of(run_of(provenance=provenance), here)
    assert receipt.verdict == "different"
    text = "the view was limit 2, and is the order of the source in the manifest"
    assert text in receipt.reasons
    assert "release 0.0.1 of this package made them" in receipt.reasons[-1]
