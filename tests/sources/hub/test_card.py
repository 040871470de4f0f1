"""The card of a repository: licence, tags, splits and names of labels, whatever else is in it."""

from __future__ import annotations

from typing import Any

import pytest

from registry.errors import SourceError
from registry.manifest.schema import read_schema
from registry.progress import Deadline
from registry.sources.hub.card import _LANGUAGE, Card, card_of, read_card
from tests.servers.hub import HubEmulator, parquet_repo

ROWS = [{"question": "?", "answer": "!"}]


def test_card_is_requested_from_the_hub(hub: HubEmulator) -> None:
    files = parquet_repo({"easy": {"test": ROWS}, "hard": {"train": ROWS}}, licence="mit")
    hub.commit("acme/quiz", files)
    card = read_card("acme/quiz", None, Deadline(30))
    assert card == Card(license="mit", splits=(("easy", "test"), ("hard", "train")))


def test_repository_without_a_card_has_an_empty_one(hub: HubEmulator) -> None:
    hub.commit("acme/bare", {"data.csv": b"a\n1\n"})
    assert read_card("acme/bare", None, Deadline(30)) == Card()


@pytest.mark.usefixtures("hub")
def test_unknown_repository_is_an_error() -> None:
    with pytest.raises(SourceError, match="no such dataset"):
        read_card("acme/nothing", None, Deadline(30))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"license": ["mit"]}, "mit"),
        ({"license": ["mit", "apache-2.0"]}, None),
        ({"license": "unknown"}, None),
        ({"license": "other", "license_name": "llama 3!"}, "LicenseRef-llama-3"),
        ({"license": "\u5176\u4ed6"}, None),
        ({"license": "odc-by"}, "ODC-By-1.0"),
        ({"license": "odbl"}, "ODbL-1.0"),
        ({"license": "pddl"}, "PDDL-1.0"),
        ({"license": "other"}, None),
        ({"license": 3}, None),
    ],
)
def test_license_is_known_only_if_there_is_one(data: dict[str, Any], expected: str | None) -> None:
    assert card_of(data).license == expected


def test_tags_are_tasks_and_words_without_namespaces() -> None:
    data = {"task_categories": ["question-answering"], "tags": ["maths", "region:us", "maths", 1]}
    assert card_of(data).tags == ("question-answering", "maths")
    assert len(card_of({"tags": [f"t{number}" for number in range(9)]}).tags) == 5


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"configs": [{"data_files": [{"split": "test", "path": "x"}]}]}, (("default", "test"),)),
        ({"configs": [{"config_name": "a", "data_files": {"dev": "x"}}]}, (("a", "dev"),)),
        ({"configs": [{"config_name": "a", "data_files": "x.csv"}]}, (("a", "train"),)),
        ({"dataset_info": {"splits": [{"name": "test"}, {}]}}, (("default", "test"),)),
        ({"dataset_info": [{"config_name": "a", "splits": [{"name": "b"}]}]}, (("a", "b"),)),
        ({"configs": [3], "dataset_info": "x"}, ()),
        ({}, ()),
    ],
)
def test_splits_are_those_of_the_configurations(data: dict[str, Any], expected: Any) -> None:
    assert card_of(data).splits == expected


def info(config: str, names: Any) -> dict[str, Any]:
    feature = {"name": "label", "dtype": {"class_label": {"names": names}}}
    text = {"name": "text", "dtype": "string"}
    return {"config_name": config, "features": [text, feature, 3]}


@pytest.mark.parametrize(
    ("infos", "expected"),
    [
        ([info("a", {"0": "neg", "1": "pos"})], {"label": ("neg", "pos")}),
        ([info("a", ["neg", "pos"])], {"label": ("neg", "pos")}),
        ([info("a", ["x"]), info("b", ["x"])], {"label": ("x",)}),
        ([info("a", ["x"]), info("b", ["y"])], {}),
        ([info("a", {"1": "x"})], {}),
        ([info("a", 3)], {}),
    ],
)
def test_names_of_labels_count_if_they_are_the_same_everywhere(infos: Any, expected: Any) -> None:
    assert card_of({"dataset_info": infos}).labels == expected


def test_title_is_a_text() -> None:
    assert card_of({"pretty_name": "GSM8K"}).title == "GSM8K"
    assert card_of({"pretty_name": ["x"]}).title is None


def test_languages_are_those_that_a_manifest_may_name() -> None:
    given = ["te", "pt-BR", "zh-Hans", "es-419", "te", "English", "code", "TE", "multilingual", 3]
    assert card_of({"language": given}).languages == ("te", "pt-BR", "zh-Hans", "es-419")
    assert card_of({"language": "hi"}).languages == ("hi",)
    many = [f"a{a}{b}" for a in "abc" for b in "abcdefghijklmnopqrs"]
    assert card_of({"language": many}).languages == ("mul",)
    items = read_schema("manifest")["$defs"]["dataset"]["properties"]["languages"]["items"]
    assert items["pattern"] == f"^{_LANGUAGE.pattern}$"
