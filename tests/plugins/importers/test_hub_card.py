"""README files of the Hub: configurations and splits."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import ManifestError
from registry.plugins.importers.hub_card import read, source_of_repository
from registry.plugins.importers.models import ImportOptions
from tests.plugins.importers.support import specs_of, write

OPTIONS = ImportOptions(repository="acme/Quiz", revision="v2")


def card(front: str) -> str:
    return f"---\n{front}\n---\n# Quiz\n"


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        (
            "configs:\n- config_name: default\n  data_files:\n  - {split: test, path: t.csv}",
            {"quiz": ("test", None)},
        ),
        (
            "configs:\n- {config_name: a, data_files: {train: x, test: y}}\n- {config_name: b, data_files: b.csv}",
            {
                "quiz-a-train": ("train", "a"),
                "quiz-a-test": ("test", "a"),
                "quiz-b-train": ("train", "b"),
            },
        ),
        (
            "dataset_info:\n  config_name: main\n  splits: [{name: test, num_examples: 3}]",
            {"quiz": ("test", "main")},
        ),
        (
            "dataset_info:\n- {config_name: x, splits: [{name: test}]}\n- {config_name: y, splits: [{name: test}]}",
            {"quiz-x-test": ("test", "x"), "quiz-y-test": ("test", "y")},
        ),
    ],
)
def test_splits(tmp_path: Path, front: str, expected: dict[str, tuple[str, str | None]]) -> None:
    text = card(f"license: mit\n{front}")
    imported = read(write(tmp_path, "README.md", text), OPTIONS)
    found = {}
    for one in imported.datasets:
        source = one.keys["source"]
        assert (source["path"], source["revision"]) == ("acme/Quiz", "v2")
        assert one.keys["license"] == "mit"
        found[one.name] = (source["split"], source.get("name"))
        specs_of(one)
    assert found == expected


def test_several_licenses_are_left_out(tmp_path: Path) -> None:
    front = "license: [mit, cc0-1.0]\nconfigs:\n- data_files: [{split: a, path: x}]"
    (found,) = read(write(tmp_path, "README.md", card(front)), OPTIONS).datasets
    assert "license" not in found.keys
    assert [one.what for one in found.left_out] == ["fields", "license"]


def test_a_card_without_splits(tmp_path: Path) -> None:
    (refused,) = read(write(tmp_path, "README.md", card("license: mit")), OPTIONS).refused
    assert "names a split" in refused.why


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# Quiz", "README.md:1: no front matter"),
        ("---\na: 1\n", "README.md:1: no front matter"),
        ("---\n- a\n---\n", "README.md:2: the front matter is not a mapping"),
        ("---\na: 1\nb: [\n---\n", "README.md:4: not YAML"),
    ],
)
def test_invalid_front_matter(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read(write(tmp_path, "README.md", text), OPTIONS)
    assert message in str(caught.value)


COMMIT = "0123456789" * 4
CACHED = Path(f"/c/hub/datasets--acme--quiz/snapshots/{COMMIT}/eval.yaml")


@pytest.mark.parametrize(
    ("file", "options", "source"),
    [
        (CACHED, ImportOptions(), {"path": "acme/quiz", "revision": COMMIT}),
        (CACHED, ImportOptions(repository="a/b"), {"path": "a/b"}),
        (
            Path("eval.yaml"),
            ImportOptions(repository="./copy", revision="v1"),
            {"path": "./copy", "revision": "v1"},
        ),
    ],
)
def test_repository(file: Path, options: ImportOptions, source: dict[str, str]) -> None:
    assert source_of_repository(file, options) == {"type": "hf", **source}


def test_a_repository_is_not_guessed() -> None:
    with pytest.raises(ManifestError, match="add --repository OWNER/NAME"):
        source_of_repository(Path("eval.yaml"), ImportOptions())
