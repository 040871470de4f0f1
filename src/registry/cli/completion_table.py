"""The table of what can be completed, made from the commands by `make docs`."""

from __future__ import annotations

import json
import re
from typing import Any

import click

__all__ = ["completion_table"]

_FILES = ("PATH", "FILE", "FOLDER", "DIR", "URL")
_DATASETS = ("name", "names")
_NEW = ("add", "import")
"""Commands whose names are those of new datasets."""


def completion_table(command: click.Group) -> str:
    """Return the commands as JSON, with what each option and argument takes."""
    root = click.Context(command, info_name="registry", **command.context_settings)
    return json.dumps(_command(command, root, ""), indent=1) + "\n"


def _command(verb: click.Command, context: click.Context, about: str) -> dict[str, Any]:
    data: dict[str, Any] = {"help": about, "options": _options(verb, context)}
    if isinstance(verb, click.Group):
        return data | {"commands": dict(_inner(verb, context))}
    arguments = [one for one in verb.params if isinstance(one, click.Argument)]
    return data | {
        "arguments": [{"takes": _takes(one, verb), "many": one.nargs == -1} for one in arguments]
    }


def _inner(group: click.Group, context: click.Context) -> list[tuple[str, dict[str, Any]]]:
    verbs = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    return [
        (
            name,
            _command(
                verb,
                click.Context(verb, info_name=name, parent=context),
                _first_sentence(verb.help or ""),
            ),
        )
        for name, verb in verbs
        if verb is not None
    ]


def _options(verb: click.Command, context: click.Context) -> dict[str, Any]:
    """Return the options by their names; a flag takes nothing."""
    return {
        name: {
            "help": _first_sentence(one.help or ""),
            "takes": None if one.is_flag else _takes(one, verb),
        }
        for one in verb.get_params(context)
        if isinstance(one, click.Option)
        for name in one.opts
    }


def _takes(parameter: click.Parameter, verb: click.Command) -> str | list[str]:
    """Return what completes a parameter: its values, or their kind."""
    shown = parameter.metavar or ""
    if isinstance(parameter.type, click.Choice):
        return list(parameter.type.choices)
    if "|" in shown and shown.islower():
        return shown.strip("[]").split("|")
    if isinstance(parameter.type, click.Path):
        return "file" if parameter.type.file_okay else "dir"
    if parameter.name == "tags":
        return "tag"
    if shown == "[NAME]" or (
        isinstance(parameter, click.Argument)
        and parameter.name in _DATASETS
        and verb.name not in _NEW
    ):
        return "dataset"
    is_file = any(word in shown for word in _FILES) and "--hf" not in parameter.opts
    return "file" if is_file else "text"


def _first_sentence(text: str) -> str:
    """Return the beginning of a help text, up to its first stop, on one line."""
    return re.split(r"[.;:](?:\s|$)", " ".join(text.replace("`", "").split()), maxsplit=1)[0]
