"""The quick road from YAML to a document gives what the thorough one gives, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import ManifestError
from registry.yamldoc.fast_parser import compose_plain
from registry.yamldoc.parser import MAX_DEPTH, MAX_NODES, compose

SHIPPED = sorted((Path(__file__).parents[2] / "registry").glob("*.yaml"))

Read = tuple[str, list[Any]] | None
"""The repr of a value, which tells True from 1, and the places; None where there is no document."""


def plain(text: str) -> Read:
    document = compose_plain(text, file="m.yaml")
    return None if document is None else (repr(document.value), list(document.positions.items()))


def thorough(text: str) -> Read:
    try:
        document = compose(text, file="m.yaml")
    except ManifestError:
        return None
    return repr(document.value), list(document.positions.items())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_manifests_without_anchors_are_plain(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    has_anchors = any(
        getattr(event, "anchor", None) for event in yaml.parse(text, yaml.CSafeLoader)
    )
    assert plain(text) == (None if has_anchors else thorough(text))


@pytest.mark.parametrize(
    "text",
    [
        *("a: 1", "{a: [1, {b: c}], 'd': \"e\"}", "- a\n-\n- b: |\n    x\n", "x", "''", "? a\n: b"),
        *("%YAML 1.1\n---\na: yes", "---\na: 1\n...\n", "é: [ü, y]", "a:\n# c\n  - 0x1F"),
        *(f"{sign}{word}" for sign in ("", "-", "+") for word in ("1", ".5", "1e3", "0o7", "x", "-")),
        *("[" * MAX_DEPTH + "]" * MAX_DEPTH, f"[{'a,' * (MAX_NODES - 1)}]"),
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_what_is_not_odd_is_plain(text: str) -> None:
    assert plain(text) == thorough(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        *("", "# nothing", "&x a", "[&x a, *x]", "&x {a: 1}", "!!str 1", "! 1", "!!map {}", "{<<: {a: 1}}"),
        *("'<<': 1", "'<<': 1\n<<: {b: 2}", "{a: 1, a: 2}", "1: a", "[a]: b", "{null: a}", "a: .inf", "[-.INF]", ".nan"),
        *("1e999", str(2**63), str(-(2**63) - 1), "9" * 5000, "a: 1\n---\nb: 2", "a: 1\n...\nb", "---\n---\n"),
        *("a: [", "a: '\x07'", "\ud800", "a: 'b", "\tb: 1", "[" * 70 + "]" * 70, f"[{'a,' * MAX_NODES}]"),
    ],
    ids=lambda text: ascii(text[:20]),
)  # fmt: skip
def test_what_is_odd_is_left_to_the_thorough_road(text: str) -> None:
    assert plain(text) is None


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["<<", "no", "0o1"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip
PIECES = [
    *("a: ", "b: ", "- ", "\n", "\n  ", "\n    ", "&x ", "*x", "<<: ", "!!str ", "! ", "1", ".5", "~", "'q'"),
    *("{", "}", "[", "]", ", ", "? ", "x", "---\n", "...\n", "|\n  ", ">-\n  ", "# c\n", '"\\n"', "é", "\0"),
]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(DATA, st.sampled_from([True, False, None]))
def test_what_pyyaml_writes_is_read_the_same(data: Any, flow: bool | None) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow, sort_keys=False, allow_unicode=True)
    assert plain(text) in (None, thorough(text))


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_text_is_read_the_same_or_not_at_all(text: str) -> None:
    assert plain(text) in (None, thorough(text))
