"""Changed files of every kind give datasets or an error of ours, never another exception."""

from __future__ import annotations

import contextlib
import json
import random
from importlib import import_module
from pathlib import Path

import pytest

from registry.errors import RegistryError
from registry.plugins.importers.command import KINDS
from registry.plugins.importers.models import ImportOptions
from tests.plugins.importers import (
    test_croissant,
    test_hub,
    test_inspect_task,
    test_lm_eval,
)
from tests.plugins.importers.support import specs_of, write

CROISSANT = {
    "name": "Quiz",
    "distribution": [test_croissant.CSV, test_croissant.ZIP, test_croissant.INNER],
    "recordSet": [{"@id": "r", "field": [test_croissant.field("q", "t.csv")]}],
}
SEEDS = {
    "eval.yaml": test_hub.ONE,
    "lm-eval": test_lm_eval.PIQA,
    "croissant": json.dumps(CROISSANT, indent=1),
    "hub-readme": "---\nlicense: mit\nconfigs:\n- config_name: a\n  data_files: [{split: b}]\n---\n",
    "inspect": test_inspect_task.TASK,
}
VALUES = (
    *("", "null", "1", "[]", "{}", "[1]", "{a: 1}", "true", "!function x", "2024-01-01"),
    *('"x"', ".nan"),
)


def changed(text: str, random_: random.Random) -> str:
    """Return text with a line removed, repeated or cut, or with another value."""
    lines = text.split("\n")
    for _ in range(random_.randint(1, 3)):
        number = random_.randrange(len(lines))
        key, colon, _ = lines[number].partition(":")
        match random_.randrange(4):
            case 0 if len(lines) > 1:
                del lines[number]
            case 1:
                lines.insert(number, lines[number])
            case 2:
                lines[number] = lines[number][: random_.randrange(len(lines[number]) + 1)]
            case _:
                lines[number] = f"{key}{colon} {random_.choice(VALUES)}"
    return "\n".join(lines)


@pytest.mark.parametrize("kind", KINDS)
def test_changed_files(tmp_path: Path, kind: str) -> None:
    module, _, function = KINDS[kind].partition(":")
    read = getattr(import_module(f"registry.plugins.importers.{module}"), function)
    options = ImportOptions(repository="a/b")
    names = {"croissant": "c.json", "hub-readme": "README.md", "inspect": "t.py"}
    imported = 0
    for seed in range(250):
        text = changed(SEEDS[kind], random.Random(seed))
        file = write(tmp_path, names.get(kind, "a.yaml"), text)
        with contextlib.suppress(RegistryError):
            found = read(file, options)
            for one in found.datasets:
                imported += 1
                with contextlib.suppress(RegistryError):
                    specs_of(one)
    assert imported > 10
