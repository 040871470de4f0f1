"""Tasks of Inspect AI over any dataset or group: `inspect eval registry/dataset`, `…/group`.

Inspect imports this module at the start of each of its commands, through the entry point of this
package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError  # its message is shown without a traceback
from inspect_ai.util import registry_info

from registry.errors import RegistryError, check_arguments

__all__ = ["dataset", "group"]

_STRINGS = ("name", "root", "source", "split", "revision")


def _registered(function: Callable[..., Task]) -> Callable[..., Task]:
    """Register a task as `registry/NAME`, however this package is installed."""
    registered, name = task(function), f"registry/{function.__name__}"
    # In an editable installation Inspect looks for a distribution of the name of the module,
    # `registry`, finds none, and takes the function for one of the user's own files.
    is_found = registry_info(registered).name == name
    return registered if is_found else task(name=name)(function)


@_registered
def dataset(
    name: str | None = None,
    *,
    dataset: str | None = None,
    root: str | None = None,
    offline: bool | None = None,
    refresh: bool = False,
    locked: bool | None = None,
    frozen: bool | None = None,
    source: str | None = None,
    solver: Any = None,
    scorer: Any = None,
    **kwargs: Any,
) -> Task:
    """Evaluate a dataset of the catalog, as its `eval` block says, or as multiple choice.

    Args:
        name: Name of the dataset.
        dataset: The same; older versions of Inspect AI can't pass an argument called `name`.
        root: As for `registry.get_dataset`, like the following.
        offline: Make no request.
        refresh: Build the samples again.
        locked: Refuse a dataset that `datasets.lock` does not pin.
        frozen: Use the bytes that `datasets.lock` pins.
        source: A path or URL with the same data.
        solver: In place of that of the `eval` block, and in the same forms: a name, a mapping with
            `name` and `args`, or a list of these.
        scorer: The same for the scorer.
        **kwargs: Overrides: `limit`, `shuffle`, `seed`, `shuffle_choices`, `auto_id`, `split`,
            `revision`, `fewshot`, and `corrections`: False for the samples without corrections.

    Raises:
        PrerequisiteError: the dataset can't be opened, or it is not known how to evaluate it.
    """
    from registry.inspect.evaluate import task_of  # as every command of Inspect imports this
    from registry.load.dataset import Options

    arguments = {"root": root, "source": source, **kwargs}
    given = {"solver": solver, "scorer": scorer}
    with _refusing("registry/dataset"):
        check_arguments(kwargs, sorted(Options.__optional_keys__))
        _check_strings("dataset", {"name": name or dataset, **arguments})
        how = {"offline": offline, "refresh": refresh, "locked": locked, "frozen": frozen}
        return task_of(name or dataset or "", given, **arguments, **how)


@_registered
def group(
    name: str | None = None,
    *,
    group: str | None = None,
    root: str | None = None,
    solver: Any = None,
    scorer: Any = None,
    **kwargs: Any,
) -> Task:
    """Evaluate a group: each sample as its member says, the mean of each member, and theirs.

    Args:
        name: Name of the group.
        group: The same; older versions of Inspect AI can't pass an argument called `name`.
        root: As for `registry.get_group`.
        solver: In place of those of the `eval` blocks; see `dataset`.
        scorer: The same for the scorer.
        **kwargs: Other arguments of `dataset`, for each member, such as `limit`.

    Raises:
        PrerequisiteError: a member can't be opened, or it is not known how to evaluate it.
    """
    from registry.inspect.evaluate import group_task  # as every command of Inspect imports this

    with _refusing("registry/group"):
        _check_strings("group", {"name": name or group, "root": root, **kwargs})
        given = {"solver": solver, "scorer": scorer}
        return group_task(name or group or "", given, root=root, **kwargs)


@contextmanager
def _refusing(task_name: str) -> Iterator[None]:
    """Raise errors as Inspect shows them: without a traceback."""
    from rich.markup import escape

    try:
        yield
    except (RegistryError, TypeError, ValueError) as error:
        # Inspect prints it through rich, which would take `[…]` for markup.
        raise PrerequisiteError(escape(f"{task_name}: {error}")) from error


def _check_strings(what: str, arguments: dict[str, Any]) -> None:
    """Raise an error for the name, and for strings that `-T` has read as YAML of another type."""
    if arguments["name"] is None:
        raise ValueError(f"which {what}? `-T name=NAME` (`registry list` shows all)")
    for key in _STRINGS:
        value = arguments.get(key)
        if value is not None and not isinstance(value, str):
            hint = f"""quote it for YAML, too: -T "{key}='…'" """
            raise ValueError(f"`{key}` was read as {value!r}, not as a string ({hint.strip()})")
