"""What samples say: whether two have the same content, and questions and answers by templates."""

from __future__ import annotations

from typing import Any

import pytest

from registry.boundary.boundary import Boundary
from registry.errors import ManifestError, MappingError
from registry.manifest.models import Fewshot
from registry.pipeline.fewshot.texts import (
    Texts,
    answers_of,
    content_of,
    near_duplicates,
    normalized,
)
from registry.samples.messages import ChatMessageSystem, ChatMessageUser
from registry.samples.sample import Sample

QUIZ = Sample(
    input="Which?",
    target="B",
    choices=["x", "y"],
    id=7,
    metadata={"subject": "art", "deep": {"a": 1}},
)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("What is  it?\n", "what is it"),
        ("\u201cDon\u2019t\u201d, he said.", "dont he said"),
        ("\uff11\uff12 \ufb01sh", "12 fish"),  # full width, a ligature
        ("a \u2014 b", "a - b"),
        ("Stra\u00dfe", "strasse"),
        ("1,000.5: yes", "1,000.5 yes"),
        ("\ufeffHyphen\u00adation,\u200b a\u200d\u0301, \u2764\ufe0f", "hyphenation \u00e1 \u2764"),
    ],
)
def test_texts_that_say_the_same_are_equal(text: str, same: str) -> None:
    assert normalized(text) == same == normalized(same)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2-1", "2+1"),
        ("1.5", "15"),
        ("(a+b)*c", "a+b*c"),
        ("x < y", "x > y"),
        ("na\u00efve", "naive"),
    ],
)
def test_other_texts_differ(one: str, other: str) -> None:
    assert normalized(one) != normalized(other)


def sample(text: Any, target: Any, choices: list[str] | None = None) -> Sample:
    return Sample(input=text, target=target, choices=choices)


def test_a_letter_stands_for_its_choice() -> None:
    assert answers_of(sample("q", "b", ["one", "two"])) == ["two"]
    assert answers_of(sample("q", ["A", "C"], ["one", "two"])) == ["one", "C"]
    assert answers_of(sample("q", "B")) == ["B"]


def test_shuffled_choices_and_other_letters_are_the_same_content() -> None:
    one, other = sample("Q?", "A", ["x", "y"]), sample(" q", "B", ["y", "X"])
    assert content_of(one) == content_of(other) == content_of(sample("q", "x"))


def test_the_same_question_with_another_answer_is_another() -> None:
    question = "Which of the following is true?"
    one, other = sample(question, "A", ["x", "y"]), sample(question, "A", ["p", "q"])
    assert content_of(one) != content_of(other)


def test_the_order_of_several_targets_does_not_matter() -> None:
    assert content_of(sample("q", ["a", "b"])) == content_of(sample("q", ["B", "a"]))


def test_the_parts_do_not_run_into_each_other() -> None:
    assert content_of(sample("a b", "c")) != content_of(sample("a", "b c"))


def test_conversations_compare_by_their_texts_and_pictures() -> None:
    plain = sample([ChatMessageUser(content="Hello!")], "hi")
    assert content_of(plain) == content_of(sample("hello", "hi"))
    system = [ChatMessageSystem(content="Be kind."), ChatMessageUser(content="Hello!")]
    assert content_of(sample(system, "hi")) != content_of(plain)
    asked = [{"type": "text", "text": "What is it?"}]
    pictures = [
        sample([ChatMessageUser(content=[*asked, {"type": "image", "image": name}])], "cat")  # type: ignore[list-item]
        for name in ("a.png", "b.png")
    ]
    assert content_of(pictures[0]) != content_of(pictures[1])


LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"


def test_near_duplicates_share_thirteen_words() -> None:
    samples = [
        sample(f"Yesterday: {LONG}.", "a"),
        sample(" ".join(LONG.split()[:12]) + " other", "b"),
        sample("short one", "c"),
    ]
    others = [sample("SHORT, one", "z"), sample(f"{LONG}!", "y")]
    found = list(near_duplicates(samples, others))
    assert [(one.place, one.other, one.share) for one in found] == [(0, 1, 1.0), (2, 0, 1.0)]


def test_texts_without_words_are_near_nothing() -> None:
    assert list(near_duplicates([sample("?", "a")], [sample("!", "a")])) == []


def texts(**keys: Any) -> Texts:
    return Texts(Fewshot(split="dev", **keys), Boundary(), dataset="quiz")


def test_defaults_have_the_choices_and_the_target() -> None:
    made = texts()
    assert made.question(QUIZ) == "Which?\nA) x\nB) y"
    assert made.answer(QUIZ) == "B"
    assert (made.intro(QUIZ), made.ask(QUIZ), made.asks_anew) == ("", "Which?", False)
    assert made.question(Sample(input="Open?", target="so")) == "Open?"


def test_templates_name_the_fields() -> None:
    made = texts(
        question="{id} {input} [{letters}]",
        answer="{answer} ({target}), {metadata.deep.a}",
        intro="About {metadata.subject}:",
    )
    assert made.question(QUIZ) == made.ask(QUIZ) == "7 Which? [A,B]"
    assert made.answer(QUIZ) == "y (B), 1"
    assert made.intro(QUIZ) == "About art:"


def test_choices_are_written_by_a_template_of_their_own() -> None:
    made = texts(question="{choices}", choice="({lower}{number}) {choice}", ask="{input}")
    assert made.question(QUIZ) == "(a1) x\n(b2) y"
    assert made.ask(QUIZ) == "Which?"


def test_an_expression_of_the_field_language_is_a_template_too() -> None:
    made = texts(answer={"from": "options", "do": [{"join": "|"}]})
    assert made.answer(QUIZ) == "x|y"


def test_the_first_of_several_targets_is_shown() -> None:
    assert texts().answer(Sample(input="q", target=["one", "two"])) == "one"


def test_a_missing_value_names_the_key_and_the_sample() -> None:
    message = "fewshot.answer: sample 7: no column 'metadata.level'"
    with pytest.raises(MappingError, match=message):
        texts(answer="{metadata.level}").answer(QUIZ)


def test_a_text_is_needed() -> None:
    with pytest.raises(MappingError, match="not a string"):
        texts(answer={"from": "options"}).answer(QUIZ)


def test_a_conversation_can_not_be_written_as_text() -> None:
    chat = Sample(input=[ChatMessageUser(content="Hi")], target="Hello")
    assert texts().answer(chat) == "Hello"
    for write in (texts().question, texts().ask, texts(question="{input}!").ask):
        with pytest.raises(MappingError, match="conversation, which can't be written as text"):
            write(chat)


def test_a_template_that_does_not_compile_is_a_problem_of_the_manifest() -> None:
    with pytest.raises(ManifestError, match=r"\$\.fewshot\.answer"):
        texts(answer={"from": "x", "do": ["nothing_like_this"]})
