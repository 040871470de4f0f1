"""Samples get their examples in a build, and none of them is the sample itself."""

from __future__ import annotations

import json
import pickle
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry import get_dataset
from registry.cli import main
from registry.errors import LockStaleError, ManifestError, MappingError
from registry.samples.dataset import Dataset
from registry.samples.sample import Sample

Records = list[dict[str, Any]]
Write = Callable[..., None]

MANIFEST = """
datasets:
  train:
    description: Examples.
    license: mit
    source: {type: json, path: train.jsonl}
    fields: {input: question, target: answer, choices: options, id: id, metadata: [subject]}
  quiz:
    extends: train
    source: {path: test.jsonl}
    fewshot: {dataset: train, n: 2}
  quiz-2:
    extends: quiz
    fewshot: {apply: true}
"""


def record(name: str, **keys: Any) -> dict[str, Any]:
    given = {"question": f"What is {name}?", "answer": f"It is {name}.", "id": name}
    return {**given, "subject": "art", "options": None, **keys}


TRAIN = [record(f"t{number}") for number in range(4)]
TEST = [record(f"e{number}") for number in range(5)]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return what writes a catalog with two files of records."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "cache"))

    def write_all(train: Records = TRAIN, test: Records = TEST, manifest: str = MANIFEST) -> None:
        Path("datasets.yaml").write_text("version: 1\ninclude: [m.yaml]\n", encoding="utf-8")
        Path("m.yaml").write_text(manifest, encoding="utf-8")
        for name, records in (("train", train), ("test", test)):
            lines = "".join(json.dumps(one) + "\n" for one in records)
            Path(f"{name}.jsonl").write_text(lines, encoding="utf-8")

    return write_all


def turns(sample: Sample) -> list[tuple[str, str]]:
    assert not isinstance(sample.input, str)
    return [(one.role, one.text) for one in sample.input]


def shown(dataset: Dataset) -> list[list[str]]:
    """Return the questions of the examples of each sample, and last its own."""
    return [[text for role, text in turns(one) if role == "user"] for one in dataset]


def test_the_key_alone_changes_nothing(write: Write) -> None:
    write()
    plain = [one.input for one in get_dataset("quiz")]
    assert plain == [one["question"] for one in TEST]
    assert [one.input for one in get_dataset("quiz-2", fewshot=False)] == plain
    assert [one.input for one in get_dataset("quiz-2", fewshot=0)] == plain


def test_examples_are_turns_before_the_question(write: Write) -> None:
    write()
    first = get_dataset("quiz", fewshot=1)[0]
    assert turns(first) == [
        ("user", "What is t0?"),
        ("assistant", "It is t0."),
        ("user", "What is e0?"),
    ]
    assert (first.target, first.id) == ("It is e0.", "e0")
    assert shown(get_dataset("quiz-2"))[4] == ["What is t0?", "What is t1?", "What is e4?"]


def test_an_introduction_is_a_system_message_or_the_start_of_the_text(write: Write) -> None:
    write()
    intro = {"n": 1, "intro": "On {metadata.subject}. "}
    assert turns(get_dataset("quiz", fewshot=intro)[0])[0] == ("system", "On art. ")
    text = get_dataset("quiz", fewshot={**intro, "into": "text"})[0].input
    assert text == "On art. What is t0?\nAnswer: It is t0.\n\nWhat is e0?"
    system = get_dataset("quiz", fewshot={**intro, "into": "system"})[0]
    assert turns(system) == [
        ("system", "On art. What is t0?\nAnswer: It is t0."),
        ("user", "What is e0?"),
    ]


def test_examples_can_be_data(write: Write) -> None:
    write()
    sample = get_dataset("quiz", fewshot={"into": "metadata"})[1]
    assert sample.input == "What is e1?"
    assert sample.metadata is not None
    assert sample.metadata["subject"] == "art"
    examples = sample.metadata["fewshot"]
    assert [one["id"] for one in examples] == ["t0", "t1"]
    assert examples[0] == {
        "id": "t0",
        "input": "What is t0?",
        "target": "It is t0.",
        "metadata": {"subject": "art"},
    }


def test_own_metadata_of_that_name_is_not_lost(write: Write) -> None:
    write(manifest=MANIFEST.replace("[subject]", "{fewshot: subject}"))
    with pytest.raises(MappingError, match="has the key 'fewshot' already"):
        get_dataset("quiz", fewshot={"into": "metadata"})


def test_examples_of_a_conversation_are_conversations(write: Write) -> None:
    messages = """
    fields:
      input: {messages: [{role: system, content: {const: Be brief.}}, {role: user, content: question}]}
      target: answer"""
    manifest = MANIFEST.replace(
        "\n    fields: {input: question, target: answer, choices: options, id: id,"
        " metadata: [subject]}",
        messages,
    )
    write(manifest=manifest)
    assert turns(get_dataset("quiz", fewshot=1)[0]) == [
        ("system", "Be brief."),
        ("user", "What is t0?"),
        ("assistant", "It is t0."),
        ("user", "What is e0?"),
    ]
    with pytest.raises(MappingError, match="conversation, which can't be written as text"):
        get_dataset("quiz", fewshot={"into": "text"})


def test_files_of_an_example_are_beside_the_dataset(write: Write) -> None:
    picture = [{"role": "user", "content": [{"type": "image", "image": "a.png"}]}]
    write([record("t", question=picture)])
    assert len(shown(get_dataset("quiz", fewshot=1))) == 5
    Path("other").mkdir()
    Path("train.jsonl").rename("other/train.jsonl")
    manifest = Path("m.yaml").read_text(encoding="utf-8")
    Path("m.yaml").write_text(manifest.replace("train.jsonl", "other/train.jsonl"))
    with pytest.raises(MappingError, match="files of an example must be in the folder of the dat"):
        get_dataset("quiz", fewshot=1)


# --- no leak ---


def test_a_leak_is_an_error_with_both_places(write: Write) -> None:
    train = [*TRAIN, record("leak", question="what is  E3", answer="it is e3!")]
    write(train)
    with pytest.raises(MappingError) as caught:
        get_dataset("quiz-2")
    text = str(caught.value)
    assert "1 sample of train would show the model a question of this dataset" in text
    assert "record 5 of " in text
    assert "train.jsonl is record 4 of " in text
    assert "test.jsonl: 'What is e3?'" in text
    assert re.search(r"at \S*m\.yaml:\d+:5$", text), text
    assert len(get_dataset("quiz")) == 5, "without examples there is no leak"


def disturbed(record: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return a record that says the same in other characters."""
    text: str = record["question"]
    changes: list[Callable[[str], str]] = [
        str.upper,
        lambda text: text.replace(" ", "  "),
        lambda text: f"\n{text} ",
        lambda text: text.replace("?", ""),
        lambda text: f"\u201c{text}\u201d",
        lambda text: text.replace("a", "\uff41"),
        lambda text: text.replace("'", "\u2019"),
    ]
    for change in rng.sample(changes, 3):
        text = change(text)
    return {**record, "question": text, "answer": f" {record['answer'].lower()}"}


def test_fifty_planted_leaks_are_all_found(write: Write) -> None:
    rng = random.Random(5)
    test = [record(f"the thing's name {number}") for number in range(150)]
    planted = rng.sample(test, 50)
    train = [record(f"other {number}") for number in range(20)]
    train += [{**disturbed(one, rng), "id": f"leak {one['id']}"} for one in planted]
    rng.shuffle(train)
    write(train, test)
    with pytest.raises(
        MappingError, match=r"^quiz-2: field fewshot: 50 samples of train would show"
    ):
        get_dataset("quiz-2")
    skipped = get_dataset("quiz", fewshot={"n": 70, "into": "metadata", "overlap": "skip"})
    counts = [len((one.metadata or {})["fewshot"]) for one in skipped]
    names = {one["id"] for one in planted}
    assert counts == [69 if one["id"] in names else 70 for one in test]


def test_in_the_same_split_no_example_is_the_sample(write: Write) -> None:
    write()
    found = shown(get_dataset("train", fewshot={"dataset": "train", "n": 3}))
    questions = [one["question"] for one in TRAIN]
    for own, texts in zip(questions, found, strict=True):
        assert texts[-1] == own
        assert texts[:-1] == [one for one in questions if one != own]


# --- the choice ---


def test_each_subject_has_its_own_examples(write: Write) -> None:
    train = [record(f"{one} {number}", subject=one) for number in range(3) for one in ("a", "b")]
    write(train, [record("x", subject="b"), record("y", subject="a")])
    found = shown(get_dataset("quiz", fewshot={"by": "subject"}))
    assert [texts[0] for texts in found] == ["What is b 0?", "What is a 0?"]
    with pytest.raises(MappingError, match="no column 'topic'"):
        get_dataset("quiz", fewshot={"by": "topic"})


def test_random_examples_are_the_first_of_the_shuffled_companion(write: Write) -> None:
    write()
    shuffled = get_dataset("train", shuffle=True, seed=11)
    found = shown(get_dataset("quiz", fewshot={"pick": "random", "seed": 11}))
    assert found[0][:2] == [one.input for one in shuffled][:2] == found[4][:2]


def test_all_samples_of_the_companion_count_whatever_its_view(write: Write) -> None:
    changed = MANIFEST.replace("    license: mit\n", "    license: mit\n    limit: 1\n", 1)
    write(
        manifest=changed.replace(
            "source: {path: test.jsonl}", "source: {path: test.jsonl}\n    limit: 5"
        )
    )
    assert len(get_dataset("train")) == 1
    assert shown(get_dataset("quiz", fewshot=4))[0][3] == "What is t3?"


# --- with everything else ---


def test_limit_and_shuffle_leave_each_sample_its_examples(write: Write) -> None:
    write()
    everything = {one.id: turns(one) for one in get_dataset("quiz-2")}
    few = get_dataset("quiz-2", limit=3, shuffle=True, seed=1)
    assert {one.id: turns(one) for one in few}.items() <= everything.items()
    assert len(few) == 3


def test_shuffled_choices_do_not_touch_the_examples(write: Write) -> None:
    options = ["red", "green", "blue"]
    train = [record("t", options=options, answer="A")]
    test = [record("e", options=options, answer="C")]
    write(train, test)
    plain = get_dataset("quiz", fewshot=1)[0]
    for seed in range(5):
        sample = get_dataset("quiz", fewshot=1, shuffle_choices=seed)[0]
        assert turns(sample) == turns(plain)
        assert sample.choices is not None
        assert sample.choices["ABC".index(str(sample.target))] == "blue"
    with pytest.raises(ManifestError, match="`shuffle_choices` would move the choices"):
        get_dataset("quiz", fewshot={"n": 1, "question": "{input} {choices}"}, shuffle_choices=1)


def test_the_companion_is_part_of_the_samples_identity(write: Write) -> None:
    write()
    before = get_dataset("quiz-2").provenance
    assert before.fewshot is not None
    assert (before.fewshot["companion"], before.fewshot["n"]) == ("train", 2)
    assert [one.location for one in before.pins] == ["test.jsonl", "train.jsonl"]
    write([*TRAIN[1:], TRAIN[0]])
    after = get_dataset("quiz-2").provenance
    assert before.fingerprint != after.fingerprint
    assert get_dataset("quiz").provenance.fewshot is None
    other = get_dataset("quiz", fewshot={"n": 2, "separator": " "}).provenance
    assert other.fingerprint != after.fingerprint


def test_equal_builds_are_equal_in_every_byte(write: Write, tmp_path: Path) -> None:
    write()
    one = get_dataset("quiz-2").provenance.ordered
    assert get_dataset("quiz-2", refresh=True).provenance.ordered == one is not None


def test_a_pickle_finds_its_samples(write: Write) -> None:
    write()
    dataset = get_dataset("quiz", fewshot={"n": 1, "into": "text"})
    copy = pickle.loads(pickle.dumps(dataset))
    assert [one.input for one in copy] == [one.input for one in dataset]


def test_overrides_are_checked(write: Write) -> None:
    write()
    with pytest.raises(TypeError, match="`fewshot` must be a number of examples"):
        get_dataset("quiz", fewshot="5")  # type: ignore[arg-type]
    with pytest.raises(ManifestError, match="does not say where the examples are"):
        get_dataset("train", fewshot=3)
    with pytest.raises(ManifestError, match=r"no dataset 'trian' \(similar names: train\)"):
        get_dataset("quiz", fewshot={"dataset": "trian"})
    with pytest.raises(ManifestError, match="quiz has no split 'dev': its source has no splits"):
        get_dataset("quiz", fewshot={"dataset": None, "split": "dev"})
    with pytest.raises(ManifestError, match="unknown key 'pik'"):
        get_dataset("quiz", fewshot={"pik": "first"})


# --- the lock ---


def test_a_pin_has_the_companion(write: Write) -> None:
    write()
    assert main(["lock"]) == 0
    assert get_dataset("quiz-2", locked=True).provenance.state == "verified"
    assert len(get_dataset("quiz", fewshot=1, locked=True)) == 5
    lines = Path("train.jsonl").read_text(encoding="utf-8").splitlines()
    Path("train.jsonl").write_text("\n".join([*lines[1:], lines[0]]), encoding="utf-8")
    with pytest.raises(Exception, match=r"train\.jsonl"):
        get_dataset("quiz-2")
    with pytest.raises(Exception, match=r"train\.jsonl"):
        get_dataset("quiz", fewshot=1)
    assert len(get_dataset("quiz")) == 5


def test_examples_of_an_unpinned_companion_are_refused_where_pins_are_required(
    write: Write,
) -> None:
    write()
    assert main(["lock", "quiz"]) == 0
    assert get_dataset("quiz", fewshot=1).provenance.state == "floating"
    ways: list[dict[str, Any]] = [{"locked": True}, {"frozen": True}]
    for how in ways:
        with pytest.raises(LockStaleError, match="train"):
            get_dataset("quiz", fewshot=1, **how)


# --- splits ---

SPLITS = """
datasets:
  quiz:
    description: Questions.
    license: mit
    source: {type: json}
    splits: {test: {path: test.jsonl}, train: {path: train.jsonl}}
    default_split: test
    fields: {input: question, target: answer, id: id, metadata: [subject]}
    fewshot: {split: train, n: 2}
  quiz-2:
    extends: quiz
    sample: {n: 3, seed: 1}
    expect: {samples: 3}
    fewshot: {apply: true}
"""
WHOLE_SPLITS = SPLITS.replace("    sample: {n: 3, seed: 1}\n    expect: {samples: 3}\n", "")


def test_a_declared_split_has_the_examples(write: Write) -> None:
    write(manifest=SPLITS)
    assert shown(get_dataset("quiz", fewshot=1))[0] == ["What is t0?", "What is e0?"]
    assert [texts[:2] for texts in shown(get_dataset("quiz-2"))] == [
        ["What is t0?", "What is t1?"]
    ] * 3
    provenance = get_dataset("quiz-2").provenance
    assert (provenance.fewshot or {})["companion"] == "quiz-2:train"
    with pytest.raises(ManifestError, match=r"quiz has no split 'trian' \(did you mean 'train'"):
        get_dataset("quiz", fewshot={"split": "trian"})


def test_the_split_with_the_examples_has_none_unless_they_are_asked_for(write: Write) -> None:
    write(manifest=WHOLE_SPLITS)
    assert get_dataset("quiz-2", split="train")[0].input == "What is t0?"
    asked = shown(get_dataset("quiz", split="train", fewshot=3))
    assert asked[1] == ["What is t0?", "What is t2?", "What is t3?", "What is t1?"]


def test_every_split_is_pinned_with_its_examples(write: Write) -> None:
    write(manifest=WHOLE_SPLITS)
    assert main(["lock"]) == 0
    assert main(["lock", "--check"]) == 0
    assert get_dataset("quiz-2", locked=True).provenance.state == "verified"
    found = get_dataset("quiz", fewshot=1, locked=True, offline=True).provenance
    assert (found.state, [one.location for one in found.pins]) == (
        "verified",
        ["test.jsonl", "train.jsonl"],
    )


def test_code_that_nobody_judges_makes_no_examples(write: Write) -> None:
    manifest = MANIFEST.replace(
        "fields: {input: question, target: answer, choices: options, id: id, metadata: [subject]}",
        "mapper: 'own.code:sample'",
    )
    write(
        manifest=manifest.replace(
            "    extends: train\n    source:",
            "    fields: {input: question}\n    license: mit\n    source:",
        ).replace("path: test.jsonl", "type: json, path: test.jsonl")
    )
    with pytest.raises(
        ManifestError, match=r"the samples of 'train' are made by code, 'own\.code:"
    ):
        get_dataset("quiz-2")


# --- at the command line, in a review and in Inspect ---


def test_commands_take_a_number_of_examples(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write()
    assert main(["preview", "quiz", "--fewshot", "1", "-n", "1"]) == 0
    assert "user: What is t0?\nassistant: It is t0.\nuser: What is e0?" in capsys.readouterr().out
    assert main(["show", "quiz", "--fewshot", "3"]) == 0
    assert "n: 3" in capsys.readouterr().out
    assert main(["sync", "--fewshot", "3"]) == 2
    assert main(["preview", "quiz", "--fewshot", "3", "--from", "test.jsonl"]) == 2
    assert main(["preview", "train", "--fewshot", "3"]) == 1
    assert "does not say where the examples are" in capsys.readouterr().err


def test_a_review_shows_what_changes_examples(
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        write()
    manifest = Path("m.yaml")
    text = MANIFEST.replace("fields: {input: question,", "fields: {input: id,", 1)
    text = text.replace(
        "    source: {path: test.jsonl}",
        "    source: {path: test.jsonl}\n    fields: {input: question}",
    )
    manifest.write_text(text, encoding="utf-8")
    assert main(["diff", str(tmp_path / "old"), str(tmp_path / "new"), "--build"]) == 1
    out = capsys.readouterr().out
    assert "~ quiz-2: inputs" in out
    assert "fewshot.of.fields.input: question → id" in out
    manifest.write_text(MANIFEST.replace("n: 2", "n: 1"), encoding="utf-8")
    assert main(["diff", str(tmp_path / "old"), str(tmp_path / "new"), "--build"]) == 1
    out = capsys.readouterr().out
    assert "fewshot.n: 2 → 1" in out
    assert "samples: 5 → 5: 5 changed (input)" in out


def test_inspect_has_the_turns(write: Write) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    write()
    data = get_dataset("quiz", fewshot=1).to_inspect()
    assert [one.role for one in data[0].input] == ["user", "assistant", "user"]  # type: ignore[union-attr]
    assert isinstance(data[0].input[1], inspect_ai.model.ChatMessageAssistant)


GROUP = """
groups:
  by-subject: {from: quiz, by: subject}
"""


def test_a_member_of_a_group_has_the_examples_of_its_subject(write: Write) -> None:
    train = [record(f"{one} {number}", subject=one) for number in range(3) for one in ("a", "b")]
    test = [record("x", subject="b"), record("y", subject="a"), record("z", subject="b")]
    write(
        train,
        test,
        MANIFEST.replace("{dataset: train, n: 2}", "{dataset: train, n: 2, by: subject}") + GROUP,
    )
    found = get_dataset("by-subject/b", fewshot=1)
    assert shown(found) == [["What is b 0?", "What is x?"], ["What is b 0?", "What is z?"]]


def test_an_old_name_of_the_companion_means_the_new_one(write: Write) -> None:
    write(
        manifest=MANIFEST.replace("{dataset: train,", "{dataset: old-train,")
        + "  old-train: {renamed_to: train}\n"
    )
    assert shown(get_dataset("quiz-2"))[0][0] == "What is t0?"


def test_a_log_leads_to_its_examples(write: Write) -> None:
    from registry.api import options
    from registry.plugins.results.here import Here
    from registry.samples.digest import samples_id

    write(manifest=SPLITS)
    for name, keys in (
        ("quiz", {"n": 1, "into": "text", "by": "subject"}),
        ("quiz", 2),
        ("quiz-2", False),
    ):
        found = get_dataset(name, fewshot=keys)
        stated = found.provenance
        Path("m.yaml").write_text(SPLITS.replace("n: 2", "n: 2, intro: Hello."), encoding="utf-8")
        assert main(["cache", "clear", "--yes"]) == 0
        again = Here(*options.open_catalog(None)).open_stated(stated, name, offline=None)
        assert samples_id(again).ordered == stated.ordered  # type: ignore[arg-type]
        write(manifest=SPLITS)
