"""Logs that Inspect's own writer made, read by Inspect's own reader."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import inspect_ai
import pytest

from registry.api import LogError, MissingDependencyError
from registry.plugins.results import inspect_logs
from registry.plugins.results.inspect_logs import read
from tests.plugins.results.conftest import WriteLog


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
def test_both_formats_have_the_samples_with_their_scores(name: str, write_log: WriteLog) -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Two?"}]
    (run,) = read(write_log([("One?", "1"), (chat, ["2", "two"])], name=name))
    assert (run.tool, run.model, run.task) == ("inspect", "acme/one", "quiz")
    assert (run.dataset, run.location, run.provenance) == ("qa", "qa.csv", None)
    first, second = run.samples
    assert (first.id, first.epoch, first.input, first.target) == (1, 1, "One?", "1")
    assert first.scores == {"match": 1.0}
    assert second.target == ["2", "two"]
    # Without what the run added, such as random ids.
    assert second.input == chat


def test_long_texts_that_inspect_stores_apart_are_read(write_log: WriteLog) -> None:
    image = f"data:image/png;base64,{'A' * 5000}"
    chat = [{"role": "user", "content": [{"type": "image", "image": image}]}]
    (run,) = read(write_log([(chat, "x")]))
    assert image in str(run.samples[0].input)


def test_scorer_with_several_values_has_a_score_for_each(write_log: WriteLog) -> None:
    (run,) = read(write_log([("One?", "1")], scores=[{"form": "I", "fact": 0.5}]))
    assert run.samples[0].scores == {"match/form": 0.0, "match/fact": 0.5}


def test_choices_and_metadata_are_kept(write_log: WriteLog) -> None:
    (run,) = read(write_log([("One?", "A")], choices=["1", "2"], metadata={"kind": "x"}))
    assert (run.samples[0].choices, run.samples[0].metadata) == (["1", "2"], {"kind": "x"})


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
@pytest.mark.parametrize("part", [0.02, 0.5, 0.99])
def test_truncated_log_is_refused(name: str, part: float, write_log: WriteLog) -> None:
    log = write_log(name=name)
    data = log.read_bytes()
    log.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(LogError, match=r"Inspect can't read this log \(.*\): it is truncated or"):
        list(read(log))


@pytest.mark.parametrize("stated", [20_000_000, 1])
def test_log_that_would_fill_the_memory_is_refused(
    stated: int, write_log: WriteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_log()
    with zipfile.ZipFile(log, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more", " " * 20_000_000)
    data = log.read_bytes()
    start, size = data.rindex(b"PK\1\2") + 24, (20_000_000).to_bytes(4, "little")
    assert data[start : start + 4] == size
    log.write_bytes(data[:start] + stated.to_bytes(4, "little") + data[start + 4 :])
    assert len(list(read(log))) == 1
    monkeypatch.setattr(inspect_logs, "HARMLESS_BYTES", 1 << 20)
    with pytest.raises(LogError, match=r"would unpack to more than .* bytes, so it is not read"):
        list(read(log))


def test_damage_within_a_sample_is_refused(write_log: WriteLog) -> None:
    """A flipped bit leaves JSON that Inspect reads, with another question."""
    log = write_log()
    with zipfile.ZipFile(log) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(log, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    data = bytearray(log.read_bytes())
    start = data.index(b"samples/1_epoch_1.json")
    data[data.index(b"One?", start) + 1] ^= 1
    log.write_bytes(data)
    with pytest.raises(LogError, match=r"Bad CRC-32 for file 'samples/1_epoch_1.json'.*damaged"):
        list(read(log))


def test_log_of_a_newer_release_of_inspect_says_so(write_log: WriteLog) -> None:
    log = write_log(name="log.json")
    log.write_text(log.read_text().replace('"version": 2', '"version": 99', 1))
    with pytest.raises(LogError, match=rf"or of a newer release than {inspect_ai.__version__}"):
        list(read(log))


def test_log_of_an_evaluation_that_still_runs_says_so(write_log: WriteLog) -> None:
    log = write_log([], status="started")
    (run,) = read(log)
    assert run.problem == "the evaluation was still running, or its log is incomplete"


def test_without_inspect_the_message_says_what_to_install(
    write_log: WriteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: Path = write_log()
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'eval-registry\[inspect\]'"):
        list(read(log))
