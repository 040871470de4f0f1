"""Two sides: the same samples or not, why, and means whose errors are those of numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import ChatMessageUser, Sample
from registry.api import ChangeClass, LogError, Provenance, Samples
from registry.plugins.results.compare import Comparison, Mean, Side, compare, mean_of, side_of_run
from registry.plugins.results.runs import Run, RunSample

MANY = 1_400
TEXTS = ["One?", "Two?", "Three?", "Four?"]


def sample(number: int, text: str, target: str = "x", **fields: Any) -> Sample:
    return Sample(input=text, target=target, id=number, **fields)


def side(label: str, samples: list[Sample], **fields: Any) -> Side:
    return Side(label=label, samples=Samples(samples), **{"dataset": "qa", **fields})


def log(label: str, samples: list[Sample], scores: list[float], **fields: Any) -> Side:
    return side(label, samples, is_log=True, scores={"match": scores}, **fields)


def four(**changed: str) -> list[Sample]:
    return [sample(n, text, changed.get(text[:-1], "x")) for n, text in enumerate(TEXTS, 1)]


def score_of(found: Comparison) -> Any:
    (score,) = found.scores
    return score


def test_same_samples_are_comparable_in_any_order() -> None:
    found = compare(log("a", four(), [1, 0, 1, 0]), log("b", four()[::-1], [1, 1, 0, 1]))
    assert found.reasons == ()
    assert (found.common, found.kinds) == (4, (ChangeClass.ORDER,))
    score = score_of(found)
    # By sample: 1→1, 0→0, 1→1, 0→1.
    assert (score.old.value, score.new.value, score.difference.value) == (0.5, 0.75, 0.25)
    assert score.difference.error == pytest.approx(0.25)  # deviation 0.5, of four


def test_samples_that_differ_are_left_out_of_the_common_ones() -> None:
    found = compare(log("a", four(), [1, 0, 1, 0]), log("b", four(Two="y"), [0, 1, 0, 0]))
    assert found.reasons == ("1 sample differs (target of 1)",)
    assert (found.common, found.kinds) == (3, (ChangeClass.TARGETS,))
    common = score_of(found).common_old
    assert (common.value, common.samples) == (pytest.approx(2 / 3), 3)


def test_each_reason_is_given() -> None:
    assert compare(side("a", four()), side("b", four()[1:])).reasons == ("1 sample only in a",)
    assert compare(side("a", four()[1:]), side("b", four())).reasons == ("1 sample only in b",)
    assert compare(side("a", []), side("b", four())).reasons == (
        "a has no samples",
        "4 samples only in b",
    )
    other = [sample(9, "Other?"), sample(8, "More?")]
    assert compare(side("a", four()), side("b", other)).reasons == ("no sample in common",)
    edited = side("b", four(), problem="the provenance was edited by hand")
    assert compare(side("a", four()), edited).reasons == ("b: the provenance was edited by hand",)
    versions = [Provenance(samples=4, version=one) for one in ("1-B", "2-A")]
    old, new = (side("s", four(), provenance=one) for one in versions)
    assert compare(old, new).reasons == ("version 1-B of the data, and 2-A",)
    newer = side("b", four(), provenance=Provenance(samples=4, version="1-C"))
    assert compare(old, newer).is_comparable


def test_metadata_and_ids_alone_are_comparable_and_named() -> None:
    renumbered = [sample(n, text, metadata={"n": n}) for n, text in enumerate(TEXTS, 11)]
    found = compare(side("a", four()), side("b", renumbered, dataset="other"))
    assert found.is_comparable
    assert found.kinds == (ChangeClass.METADATA,)
    renamed = [sample(n, text) for n, text in enumerate(TEXTS, 11)]
    found = compare(side("a", four()), side("b", renamed))
    assert (found.is_comparable, found.kinds) == (True, (ChangeClass.IDS,))


def test_log_and_dataset_are_compared_by_what_both_have() -> None:
    with_metadata = [sample(n, text, metadata={"n": n}) for n, text in enumerate(TEXTS, 1)]
    found = compare(log("a", four(), [1] * 4), side("qa", with_metadata))
    assert found.samples.is_same
    assert found.notes == (
        "compared by input, choices, target and id, which a log has as the dataset had them",
    )


def test_row_numbers_of_two_datasets_don_t_pair_different_samples() -> None:
    shifted = [sample(n, text) for n, text in enumerate(["Zero?", *TEXTS], 1)]
    found = compare(side("a", four()), side("b", shifted, dataset="other"))
    assert (found.samples.matched_by, found.samples.added, found.common) == ("content", 1, 4)
    # Of one dataset an id is a promise: the samples behind them were changed.
    assert compare(side("a", four()), side("b", shifted)).samples.changed == 4


def test_notes_name_epochs_scores_and_repeated_ids() -> None:
    twice = [*four(), sample(1, "Five?")]
    found = compare(
        log("a", four(), [1] * 4),
        side("b", twice, is_log=True, epochs=3, scores={"f1": [1] * 5}, dataset="renamed"),
    )
    assert found.notes == (
        "two names: qa and renamed",
        "epochs: 1 and 3; each sample counts with its mean",
        "different scores: match; and f1",
        "b: several samples have the id 1",
    )


def run_of(*rows: tuple[Any, int, str, Any]) -> Run:
    samples = tuple(
        RunSample(id=one, epoch=epoch, input=text, target="x", scores={"match": score})
        for one, epoch, text, score in rows
    )
    return Run(file="f.eval", tool="inspect", dataset="qa", samples=samples)


def test_epochs_of_a_sample_count_with_their_mean() -> None:
    found = side_of_run(run_of((1, 1, "a", 1.0), (2, 1, "b", 0.0), (1, 2, "a", 0.0)))
    assert [one.input for one in found.samples.samples] == ["a", "b"]
    assert (found.scores, found.epochs) == ({"match": [0.5, 0.0]}, 2)


def test_scores_in_words_have_no_mean() -> None:
    found = side_of_run(run_of((1, 1, "a", "good"), (2, 1, "b", 1.0)))
    assert math.isnan(found.scores["match"][0])
    words = side_of_run(run_of((1, 1, "a", "good")))
    assert compare(words, words).scores == ()


def test_run_that_ended_early_is_not_comparable_and_its_origin_of_messages_no_change() -> None:
    failed = Run(file="f.eval", tool="inspect", incomplete="it failed", samples=run_of().samples)
    assert compare(side_of_run(failed), side("qa", [])).reasons[0] == "f.eval: it failed"
    chat = [{"role": "user", "content": "a", "source": "input"}]
    log = Run(file="f", tool="inspect", dataset="qa", samples=(RunSample(id=1, input=chat),))
    plain = Sample(input=[ChatMessageUser(content="a")], id=1)
    assert compare(side_of_run(log), side("qa", [plain])).samples.is_same


def test_messages_that_are_none_are_an_error_with_the_sample() -> None:
    run = Run(file="f.json", tool="inspect", samples=(RunSample(id=7, input=[{"role": "judge"}]),))
    with pytest.raises(LogError, match=r"f\.json: sample 7: input\."):
        side_of_run(run)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50))
def test_mean_and_error_are_those_of_numpy(values: list[float]) -> None:
    found = mean_of([*values, math.nan])
    assert found is not None
    assert found.samples == len(values)
    assert found.value == pytest.approx(np.mean(values), rel=1e-9, abs=1e-6)
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    assert found.error == pytest.approx(error, rel=1e-6, abs=1e-6)


def test_one_number_has_no_error_and_none_no_mean() -> None:
    assert mean_of([0.5]) == Mean(value=0.5, error=None, samples=1)
    assert mean_of([math.nan]) is None


def test_one_planted_target_among_many_is_found() -> None:
    def run(target: str, right: int) -> Run:
        rows = (
            RunSample(
                id=f"q-{n}",
                input=f"Is statement {n} of a long list of statements about the world true?",
                choices=["yes", "no"],
                target=target if n == 851 else "A",
                scores={"choice": float(n % 7 < right)},
            )
            for n in range(MANY)
        )
        return Run(file=f"{target}.eval", tool="inspect", dataset="mmlu", samples=tuple(rows))

    found = compare(side_of_run(run("A", 3)), side_of_run(run("B", 4)))
    assert found.reasons == ("1 sample differs (target of 1)",)
    assert [one.label for one in found.samples.examples] == ["id q-851"]
    score = score_of(found)
    assert score.difference.samples == found.common == MANY - 1
    assert score.difference.value == pytest.approx(1 / 7, abs=1e-3)
    # Two runs that are not paired would differ by the errors of both.
    assert score.difference.error < score.old.error
