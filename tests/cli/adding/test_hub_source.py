"""The part of a repository that is meant: named, the only one, the test split, or asked."""

from __future__ import annotations

from typing import Any

import click
import pytest
from msgspec import structs

from registry.cli.adding.hub_source import about_repository, sniff_repository
from registry.cli.adding.options import SourceOptions
from registry.errors import DecodeError, SourceError
from registry.scaffold.sniff.guess import Question, refuse
from registry.sources.hub.card import Card
from registry.sources.pins import SourceContext
from tests.servers.hub import HubEmulator, parquet_repo

ROWS = [{"question": "?", "answer": "!"}]
REPO = "acme/quiz"


def sniff(context: SourceContext, **options: Any) -> tuple[dict[str, Any], list[str]]:
    keys, guesses, _ = sniff_repository(SourceOptions(**options), context, refuse)
    return keys, [str(guess) for guess in guesses]


@pytest.mark.parametrize(
    ("configs", "expected", "said"),
    [
        ({"default": ["train"]}, {"split": "train"}, ["split train (the only one)"]),
        (
            {"main": ["test"]},
            {"name": "main", "split": "test"},
            [
                "name main (the only one that the card names, or chosen)",
                "split test (the only one)",
            ],
        ),
        (
            {"default": ["train", "test"]},
            {"split": "test"},
            ["split test (the test split of train, test)"],
        ),
    ],
)
def test_part_is_found_in_the_card(
    context: SourceContext,
    hub: HubEmulator,
    configs: dict[str, list[str]],
    expected: dict[str, str],
    said: list[str],
) -> None:
    splits = {config: dict.fromkeys(names, ROWS) for config, names in configs.items()}
    hub.commit(REPO, parquet_repo(splits))
    assert sniff(context, hf=REPO) == ({"type": "hf", "path": REPO, **expected}, said)


@pytest.mark.parametrize(
    "url", [f"https://huggingface.co/datasets/{REPO}", f"hf://datasets/{REPO}/"]
)
def test_address_of_a_repository_is_its_path(
    context: SourceContext, hub: HubEmulator, url: str
) -> None:
    hub.commit(REPO, parquet_repo({"default": {"test": ROWS}}))
    assert sniff(context, hf=url)[0]["path"] == REPO


def test_several_parts_are_asked(context: SourceContext, hub: HubEmulator) -> None:
    hub.commit(REPO, parquet_repo({"easy": {"test": ROWS}, "hard": {"test": ROWS}}))

    def last(question: Question) -> str:
        return list(question.choices)[-1]

    keys, _, _ = sniff_repository(SourceOptions(hf=REPO), context, last)
    assert (keys["name"], keys["split"]) == ("hard", "test")
    with pytest.raises(DecodeError, match="--name easy --split test gives the split test of easy"):
        sniff(context, hf=REPO)
    assert sniff(context, hf=REPO, name="easy")[0]["split"] == "test"


def test_many_parts_are_a_usage_error(context: SourceContext, hub: HubEmulator) -> None:
    hub.commit(REPO, parquet_repo({f"c{number}": {"test": ROWS} for number in range(12)}))
    with pytest.raises(click.UsageError, match="several configurations: pass --name and --split"):
        sniff(context, hf=REPO)


def test_card_without_splits_needs_the_option(context: SourceContext, hub: HubEmulator) -> None:
    hub.commit(REPO, {"data.csv": b"a\n1\n"})
    with pytest.raises(click.UsageError, match="--hf needs --split"):
        sniff(context, hf=REPO)


@pytest.mark.usefixtures("hub")
def test_missing_repository_is_an_error(context: SourceContext) -> None:
    with pytest.raises(SourceError, match="no such dataset"):
        sniff(context, hf="acme/nothing", split="test")


def test_offline_and_folders_have_no_card(context: SourceContext) -> None:
    offline = structs.replace(context, offline=True)
    assert sniff(offline, hf=REPO, split="test")[1] == []
    keys = sniff(context, hf="./data", split="test")[0]
    assert about_repository(keys, Card()).homepage is None


def test_card_describes_the_dataset() -> None:
    card = Card(title="Quiz", license="mit", tags=("qa",))
    about = about_repository({"path": REPO, "name": "easy", "split": "test"}, card)
    assert about.description == "Quiz, the split easy, test."
    assert about.homepage == f"https://huggingface.co/datasets/{REPO}"
    assert (about.license, about.tags) == ("mit", ("qa",))
