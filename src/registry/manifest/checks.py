"""Check a dataset's merged keys; `registry.rules` maps each rule to its function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from registry.errors import close_matches
from registry.manifest.expressions import parse_condition, parse_expression
from registry.manifest.merge import Merged
from registry.rules import Finding

__all__ = [
    "bad_expression",
    "bad_fewshot",
    "bad_license",
    "license_expression",
    "license_fault",
    "mapper_and_fields",
    "missing_description",
    "missing_key",
    "missing_license",
    "seed_without_shuffle",
    "unseeded_shuffle",
]


_COMMON = (
    *("Apache-2.0", "BSD-3-Clause", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-ND-4.0"),
    *(
        "CC-BY-NC-SA-4.0",
        "CC-BY-ND-4.0",
        "CC-BY-SA-3.0",
        "CC-BY-SA-4.0",
        "CC0-1.0",
        "CDLA-Permissive-2.0",
    ),
    *("GPL-3.0-only", "MIT", "ODC-By-1.0", "ODbL-1.0", "PDDL-1.0"),
)
"""Those of most datasets, for hints."""


def unseeded_shuffle(merged: Merged) -> Iterator[Finding]:
    """Report `shuffle` and `shuffle_choices` without a seed."""
    value = merged.value
    if value.get("shuffle") and "seed" not in value:
        message = "`shuffle` without `seed` gives a different order on every run"
        yield Finding(("shuffle",), message, "add `seed: 42`")
    if value.get("shuffle_choices") is True:
        message = "`shuffle_choices: true` gives a different order on every run"
        yield Finding(("shuffle_choices",), message, "write the seed: `shuffle_choices: 42`")


def seed_without_shuffle(merged: Merged) -> Iterator[Finding]:
    """Report a seed that nothing uses."""
    if "seed" in merged.value and not merged.value.get("shuffle"):
        yield Finding(("seed",), "`seed` without `shuffle` does nothing", "add `shuffle: true`")


def bad_expression(merged: Merged) -> Iterator[Finding]:
    """Report expressions and conditions that can't be parsed, and items that hide each other."""
    expressions: dict[tuple[str, ...], Any] = {}
    for key, raw in merged.value.get("fields", {}).items():
        if key == "metadata" and isinstance(raw, dict):
            expressions.update({("fields", key, name): item for name, item in raw.items()})
        else:
            expressions["fields", key] = raw
    for path, expression in expressions.items():
        if expression is not None:  # null removes an inherited field
            try:
                parse_expression(expression)
            except ValueError as error:
                yield Finding(path, str(error))
    if "where" in merged.value:
        try:
            parse_condition(merged.value["where"])
        except ValueError as error:
            yield Finding(("where",), str(error))
    yield from _hidden_items(merged.value.get("explode"))


def _hidden_items(explode: Any) -> Iterator[Finding]:
    """Report a level of `explode` whose item would take the place of that of an outer one."""
    path: tuple[str, ...] = ("explode",)
    names: list[str] = []
    while isinstance(explode, dict):
        name = explode.get("item", "item")
        if name in names:
            message = f"the item of an outer list is in the column '{name}' already"
            yield Finding(path, message, "name the columns: `item: paragraph`, `item: question`")
        names.append(name)
        explode, path = explode.get("then"), (*path, "then")
        explode = {} if isinstance(explode, str) else explode


_FEWSHOT_TEXTS = ("question", "answer", "choice", "intro", "ask")


def bad_fewshot(merged: Merged) -> Iterator[Finding]:
    """Report settings of examples that contradict each other, or lack a part."""
    value = merged.value.get("fewshot")
    if not isinstance(value, dict):
        return
    is_random, ids = value.get("pick") == "random", value.get("ids")
    if "dataset" not in value and "split" not in value:
        message = "`fewshot` does not say where the examples are"
        yield Finding(("fewshot",), message, "add `split: dev`, or `dataset: NAME`")
    if value.get("apply") and not ids and "n" not in value:
        yield Finding(("fewshot",), "`fewshot` does not say how many examples", "add `n: 5`")
    if is_random and "seed" not in value:
        message = "`pick: random` without `seed` gives other examples on every run"
        yield Finding(("fewshot", "pick"), message, "add `seed: 42`")
    for key in ("seed", "each"):
        if _is_given(value.get(key)) and not is_random:
            message = f"`{key}` without `pick: random` does nothing"
            yield Finding(("fewshot", key), message, "add `pick: random`")
    if isinstance(ids, list):
        yield from _bad_ids(ids, value, is_random=is_random)
    for key in _FEWSHOT_TEXTS:
        text = value.get(key)
        try:
            if text is not None:
                parse_expression({"template": text} if isinstance(text, str) else text)
        except ValueError as error:
            yield Finding(("fewshot", key), str(error))
    if value.get("apply") and _is_given(merged.value.get("shuffle_choices")):
        asked = value.get("ask", value.get("question"))
        if "choices" in repr(asked):
            message = "`shuffle_choices` would move the choices that the question is written with"
            hint = "write `ask: '{input}'`, and let the solver write the choices"
            yield Finding(("fewshot", "ask"), message, hint)


def _is_given(value: object) -> bool:
    # Not by `in`: the seed 0 equals False.
    return value is not None and value is not False


def _bad_ids(ids: list[Any], value: dict[str, Any], *, is_random: bool) -> Iterator[Finding]:
    if is_random:
        message = "`ids` and `pick: random` exclude each other"
        yield Finding(("fewshot", "ids"), message, "remove one")
    elif "by" not in value and value.get("n", len(ids)) != len(ids):
        message = f"`n` is {value['n']}, and `ids` lists {len(ids)}"
        yield Finding(("fewshot", "n"), message, "leave `n` out")


def mapper_and_fields(merged: Merged) -> Iterator[Finding]:
    """Report a dataset with both a mapper and fields."""
    if "mapper" in merged.value and "fields" in merged.value:
        message = "`mapper` and `fields` can't be combined"
        yield Finding(("mapper",), message, "remove one; null removes an inherited key")


def missing_key(merged: Merged) -> Iterator[Finding]:
    """Report a dataset without a source."""
    # Not in the schema of a manifest, because the source may be inherited.
    if "source" not in merged.value:
        yield Finding((), "the dataset has no source", "add `source: {type: …, path: …}`")


def missing_license(merged: Merged) -> Iterator[Finding]:
    """Report a dataset without a license."""
    if _lacks(merged, "license"):
        hint = "copy it from the dataset's homepage: `license: mit`"
        yield Finding(("license",), "no license", hint)


def bad_license(merged: Merged) -> Iterator[Finding]:
    """Report a license that is no SPDX expression."""
    given = merged.value.get("license")
    path: tuple[str, ...] = ("license",)
    if isinstance(given, dict):
        given, path = given.get("spdx"), ("license", "spdx")
    if isinstance(given, str) and (fault := license_fault(given, path)) is not None:
        yield fault


def license_fault(text: str, path: tuple[str, ...] = ()) -> Finding | None:
    """Return what is wrong with a text that is no SPDX expression, and similar common ones."""
    try:
        license_expression(text)
    except ValueError as error:
        near = close_matches(text, _COMMON)
        others = (
            "`LicenseRef-…` names a license that SPDX doesn't list, and"
            " `license: {none-stated: DATE, looked-at: URL}` says that there is none"
        )
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        message = f"{text!r} is no SPDX expression: {error}"
        return Finding(path, message, f"{hint}{others}")
    return None


def license_expression(text: str) -> str:
    """Return an SPDX expression in the spelling of SPDX.

    Raises:
        ValueError: it is none.
    """
    try:
        return str(canonicalize_license_expression(text))
    except InvalidLicenseExpression as error:
        raise ValueError(str(error)) from error


def missing_description(merged: Merged) -> Iterator[Finding]:
    """Report a dataset without a description."""
    if _lacks(merged, "description"):
        yield Finding(("description",), "no description", "add one plain sentence")


def _lacks(merged: Merged, key: str) -> bool:
    # If the parent lacks the key too, the parent is reported, once, and not every dependent.
    return key not in merged.value and (not merged.has_parent or (key,) in merged.layers)
