"""Find out which part of a repository on the Hub is meant, and what its card says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import click

from registry.cli.adding.options import SourceOptions
from registry.errors import SourceError, list_names
from registry.scaffold.new_manifest import About
from registry.scaffold.sniff.guess import Ask, Guess, Question
from registry.sources.hub.api import is_unknown_revision
from registry.sources.hub.card import Card, read_card
from registry.sources.pins import SourceContext

__all__ = ["about_repository", "sniff_repository"]

_URL = re.compile(r"(?:https://(?:www\.)?huggingface\.co/datasets/|hf://datasets/)")
_MOST_NAMES = 8


def sniff_repository(
    options: SourceOptions, context: SourceContext, ask: Ask
) -> tuple[dict[str, Any], list[Guess], Card]:
    """Return the keys of a source for a repository, what of them is guessed, and its card.

    Raises:
        SourceError: there is no such repository, or it can't be reached.
        click.UsageError: its card names no split, and neither does the user.
    """
    path = _URL.sub("", str(options.hf)).rstrip("/")
    is_folder = path.startswith((".", "/", "~"))
    card = Card()
    if not is_folder and not context.offline:
        try:
            card = read_card(path, options.revision, context.deadline, report=context.report)
        except SourceError as error:
            # Whoever pins the source fails as well, and lists the revisions that there are.
            if not is_unknown_revision(error) or options.split is None:
                raise
    guesses = []
    config, split = options.name, options.split
    if split is None:
        config, guess = _choose(path, card, config, ask)
        split = str(guess.value)
        guesses.append(guess)
        if config is not None and config != options.name:
            guesses.insert(0, Guess("name", config, "the only one that the card names, or chosen"))
    keys = {"path": path, "name": config, "split": split, "revision": options.revision}
    given = {key: value for key, value in keys.items() if value is not None}
    return {"type": "hf", **given}, guesses, card


def _choose(path: str, card: Card, config: str | None, ask: Ask) -> tuple[str | None, Guess]:
    """Return the configuration, None for the default one, and a split."""
    pairs = [pair for pair in card.splits if config in (None, pair[0])]
    if not pairs:
        raise click.UsageError(f"--hf needs --split, such as test: the card of {path} names none")
    configs = list(dict.fromkeys(name for name, _ in pairs))
    splits = [split for name, split in pairs if name == configs[0]]
    if len(configs) > 1 or (len(splits) > 1 and "test" not in splits):
        if len(pairs) > _MOST_NAMES:
            names = list_names(configs if len(configs) > 1 else splits, _MOST_NAMES)
            what = "configurations: pass --name and" if len(configs) > 1 else "splits: pass"
            raise click.UsageError(f"{path} has several {what} --split ({names})")
        ways = {_as_options(name, split): (name, split) for name, split in pairs}
        results = {way: f"the split {split} of {name}" for way, (name, split) in ways.items()}
        name, split = ways[ask(Question(path, "split", results))]
        return _config(name), Guess("split", split, "chosen")
    if "test" in splits and len(splits) > 1:
        reason = f"the test split of {list_names(splits, _MOST_NAMES)}"
        return _config(configs[0]), Guess("split", "test", reason)
    return _config(configs[0]), Guess("split", splits[0], "the only one")


def _as_options(name: str, split: str) -> str:
    return f"--split {split}" if name == "default" else f"--name {name} --split {split}"


def _config(name: str) -> str | None:
    return None if name == "default" else name


def about_repository(keys: Mapping[str, Any], card: Card) -> About:
    """Return what the card says about a dataset."""
    path, split = keys["path"], keys["split"]
    part = f"{keys['name']}, {split}" if "name" in keys else split
    is_page = not path.startswith((".", "/", "~"))
    return About(
        f"{card.title or path}, the split {part}.",
        f"https://huggingface.co/datasets/{path}" if is_page else None,
        card.license,
        card.tags,
    )
