"""What this machine has of a dataset, and which dataset the samples of a log are from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from registry import ChatMessageSystem, ChatMessageUser, MemoryDataset, Sample, get_dataset
from registry.api import Material, Provenance, file_sha256, options
from registry.plugins.results.here import Here, Match, Needed, find_dataset, match
from registry.plugins.results.runs import Run, RunSample
from tests.cli.invocation import HUB, write
from tests.cli.invocation import Run as Invoke
from tests.plugins.results.conftest import WriteLog

COMMIT = "c" * 40


@pytest.fixture
def here(own: Path, run: Invoke) -> Here:
    """Pin and open the small catalog; nothing is cached."""
    assert run("lock").code == 0
    assert run("cache", "clear", "--yes").code == 0
    write(own, "hub", HUB)
    return Here(*options.open_catalog(None))


def of(here: Here, name: str = "qa", **changes: object) -> Provenance:
    pin = here.pin(name)
    given = Provenance(name=name, samples=3, pins=pin.sources if pin else ())
    return replace(given, **changes)


def test_names_are_found_by_the_digest_of_their_samples(here: Here) -> None:
    pin = here.pin("qa")
    assert pin is not None
    assert here.names_with(pin.ordered) == ["qa"]
    assert here.names_with(f"sha256:{'0' * 64}") == []
    assert here.pin("hub") is None


def test_what_needs_a_request_has_no_fingerprint_and_is_not_opened(here: Here) -> None:
    assert here.fingerprint("hub") == ""
    assert [name for name, _ in here.openable()] == ["qa", "qa-one"]


def test_local_file_with_the_pinned_bytes_is_all_that_is_needed(here: Here) -> None:
    assert here.needed("qa", of(here)) == here.needed("qa") == Needed("here")


def test_file_above_the_index_is_known_by_its_name(
    here: Here, own: Path, run: Invoke, monkeypatch: pytest.MonkeyPatch, write_log: WriteLog
) -> None:
    monkeypatch.setenv("REGISTRY_ALLOW_PATHS", str(own.parent))
    far = own.parent / "far.csv"
    far.write_text("q,a\nFar?,1\n")
    keys = "{source: {type: csv, path: ../far.csv}, fields: {input: q, target: a}}"
    write(own, "far", f"datasets:\n  far: {keys}\n")
    assert run("lock", "far").code == 0
    provenance = get_dataset("far").provenance
    assert [one.location for one in provenance.pins] == ["far.csv"]
    assert run("cache", "clear", "--yes").code == 0
    here = Here(*options.open_catalog(None))
    assert here.needed("far", provenance) == Needed("here")
    log = str(write_log([("Far?", "1")], registry=provenance.as_data()))
    assert run("receipt", log, "--rebuild").code == 0
    far.write_text("q,a\nFar?,2\n")
    assert run("lock", "far", "--upgrade", "far").code == 0
    assert run("cache", "clear", "--yes").code == 0
    found = run("receipt", log)
    assert "  data       far has other samples now" in found.lines
    assert "  rebuild    a part is missing: far.csv: this file has other bytes now" in found.lines


def test_local_file_that_is_gone_or_other_is_the_missing_part(here: Here) -> None:
    pin = here.pin("qa")
    assert pin is not None
    (source,) = pin.sources
    other = replace(source, sha256="0" * 64)
    stated = of(here, pins=(other, replace(source, location="gone.csv")))
    parts = ("qa.csv: this file has other bytes now", "gone.csv: no such file here")
    assert here.needed("qa", stated) == Needed("missing", parts)


def test_log_leads_to_no_other_folder_than_the_catalog_and_the_cache(
    here: Here, tmp_path: Path
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("key")
    sha256 = file_sha256(tmp_path / "secret" / "key")
    up = os.path.relpath(tmp_path / "secret", here.cache.versioned / "samples")
    for location in (str(tmp_path / "secret" / "key"), "../secret/key"):
        pins = (Material(location=location, size=3, sha256=sha256),)
        stated = of(here, pins=pins, fingerprint=f"sha256:{up}")
        found = here.needed("qa", stated)
        assert found == Needed("missing", (f"{location}: no such file here",))
    # A folder that is no entry of the cache would go to the quarantine.
    assert (tmp_path / "secret" / "key").exists()


def test_commits_and_urls_are_downloads(here: Here) -> None:
    commit = Material(location="hf://org/name", revision=COMMIT)
    url = Material(location="https://example.org/a.csv", size=1, sha256="0" * 64)
    found = here.needed("qa", of(here, pins=(commit, url)))
    parts = ("hf://org/name at ccccccc", "https://example.org/a.csv")
    assert found == Needed("download", parts)
    assert here.needed("hub").state == "download"


def test_url_of_which_other_bytes_are_pinned_now_is_missing(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    then = Material(location="https://example.org/a.csv", size=1, sha256="0" * 64)
    pin = here.pin("qa")
    assert pin is not None
    now = replace(pin, sources=(replace(then, sha256="1" * 64),))
    monkeypatch.setattr(Here, "pin", lambda *_: now)
    text = "https://example.org/a.csv: datasets.lock pins other bytes of it now"
    assert here.needed("qa", of(here, pins=(then,))) == Needed("missing", (text,))


def test_split_and_commit_of_a_provenance_are_opened(
    here: Here, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = "{test: {path: qa.csv}, dev: {path: dev.csv}}"
    keys = f"{{source: {{type: csv}}, splits: {splits}, fields: {{input: q, target: a}}"
    write(own, "parts", f"datasets:\n  parts: {keys}, default_split: test}}\n")
    (own / "dev.csv").write_text("q,a\nDev?,1\n")
    here = Here(*options.open_catalog(None))
    stated = replace(get_dataset("parts", split="dev").provenance, fingerprint=None)
    assert [one.input for one in here.open_stated(stated, "parts", offline=True)] == ["Dev?"]
    asked: dict[str, object] = {}
    monkeypatch.setattr(Here, "open", lambda *_, **given: asked.update(given))
    commit = Material(location="hf://org/name", revision=COMMIT)
    here.open_stated(Provenance(name="hub", samples=1, pins=(commit,)), "hub", offline=True)
    assert asked == {"offline": True, "revision": COMMIT}


def test_cached_samples_of_then_need_nothing(here: Here, run: Invoke) -> None:
    here.open("qa", offline=True)
    pins = (Material(location="gone.csv", size=1, sha256="0" * 64),)
    stated = of(here, pins=pins, fingerprint=here.fingerprint("qa"))
    assert here.needed("qa", stated) == Needed("here")


def test_view_of_a_provenance_is_opened(here: Here) -> None:
    stated = of(here, view={"shuffle": True, "seed": 5, "limit": 2})
    built = here.open_stated(stated, "qa", offline=True)
    cached = here.open_stated(
        replace(stated, fingerprint=here.fingerprint("qa")), "qa", offline=True
    )
    assert len(built) == 2
    assert [one.input for one in built] == [one.input for one in cached]
    assert [one.input for one in here.open_stated(of(here), "qa-one", offline=True)] != []


CHAT = Sample(
    input=[ChatMessageSystem(content="Be  brief."), ChatMessageUser(content="Two?")], target="2"
)
CHOICE = Sample(input="Which?", choices=["p", "q"], target="B")
DATASET = MemoryDataset([Sample(input="One?\n", target="1"), CHAT, CHOICE])


def counts(value: Any, target: str | list[str] = "", **fields: Any) -> tuple[int, int]:
    found = match([RunSample(id=1, input=value, target=target, **fields)], "d", DATASET)
    return found.exact, found.inputs


@pytest.mark.parametrize(
    ("value", "target", "found"),
    [
        ("One?", "1", (1, 1)),
        (" One? ", "1", (1, 1)),
        ("One?", "2", (0, 1)),
        ("Nine?", "1", (0, 0)),
        # The whole conversation, and what records of EEE have of it.
        (
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Two?"}],
            "2",
            (1, 1),
        ),
        ([{"role": "user", "content": [{"type": "text", "text": "Two?"}]}], "2", (1, 1)),
        ("Two?", "2", (1, 1)),
    ],
)
def test_input_and_target_are_compared(value: Any, target: str, found: tuple[int, int]) -> None:
    assert counts(value, target) == found


@pytest.mark.parametrize(
    ("target", "choices", "found"),
    [
        ("B", ["p", "q"], (1, 1)),
        ("1", ["p", "q"], (1, 1)),
        ("q", None, (1, 1)),
        # Other choices in another order, but the same answer.
        ("A", ["q", "p"], (1, 1)),
        ("A", ["p", "q"], (0, 1)),
        ("9" * 5000, ["p", "q"], (0, 1)),
    ],
)
def test_choice_is_the_same_by_letter_index_and_text(
    target: str, choices: list[str] | None, found: tuple[int, int]
) -> None:
    assert counts("Which?", target, choices=choices) == found


def test_record_that_lm_eval_logs_beside_the_prompt_is_compared() -> None:
    assert counts("Q: One?\nA:", "1", metadata={"question": "One?", "n": 3}) == (1, 1)


def test_dataset_with_most_samples_is_found_and_its_name_preferred(own: Path) -> None:
    write(own, "more", "datasets:\n  qa-all: {extends: qa, shuffle: true, seed: 1}\n")
    here = Here(*options.open_catalog(None))
    samples = (RunSample(id=1, input="One?", target="1"), RunSample(id=2, input="Two?", target="2"))
    found = find_dataset(Run(file="a", tool="eee", samples=samples), here)
    assert found == Match(dataset="qa", of=3, exact=2, inputs=2, also=("qa-all", "qa-one"))
    found = find_dataset(Run(file="a", tool="eee", dataset="qa-all", samples=samples), here)
    assert found is not None
    assert found.dataset == "qa-all"


def test_datasets_that_cannot_be_opened_are_passed_over(own: Path) -> None:
    write(own, "gone", "datasets:\n  gone: {source: {type: csv, path: gone.csv}}\n")
    # This one is found out only when it is built.
    invalid = "{source: {type: csv, path: qa.csv}, fields: {input: nothing}}"
    write(own, "invalid", f"datasets:\n  invalid: {invalid}\n")
    here = Here(*options.open_catalog(None))
    run = Run(file="a", tool="eee", dataset="gone", samples=(RunSample(id=1, input="Nine?"),))
    assert find_dataset(run, here) is None
