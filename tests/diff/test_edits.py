"""Changed keys as lines of YAML, and changed rows of corrections."""

from __future__ import annotations

from typing import Any

import pytest

from registry.corrections.file import Corrections, parse_corrections
from registry.diff.edits import correction_lines, edits, facts
from registry.diff.models import DatasetChange, KeyChange
from registry.diff.samples import corrections_between
from registry.manifest.origins import Origin


def change(key: str, old: Any, new: Any, **more: Any) -> KeyChange:
    def origin(value: Any, line: int) -> Origin | None:
        return Origin(key=key, value=value, layer="own", file="m.yaml", line=line)

    return KeyChange(key=key, kind="", old=origin(old, 1), new=origin(new, 2), **more)


def shown(*changes: KeyChange) -> list[str]:
    return [f"{sign}{text}" for one in edits(changes) for sign, text in one.lines]


STEPS = {"from": "answer", "do": [{"split": "####"}, {"index": -1}, "strip"]}
LINES: dict[str, tuple[list[KeyChange], list[str]]] = {
    "a step that was added": (
        [change("fields.target", STEPS, {**STEPS, "do": [*STEPS["do"], {"replace": {",": ""}}]})],
        ["=… 3 equal lines", "=- index: -1", "=- strip", "+- replace:", "+    ',': ''"],
    ),
    "a line of a template": (
        [change("fields.input", {"template": "{q}"}, {"template": "Read.\n{q}"})],
        ["-template: '{q}'", "+template: |-", "+  Read.", "+  {q}"],
    ),
    "a column in place of a mapping": (
        [
            change("fields.metadata.a", None, "x"),
            change("fields.metadata.b", None, "y"),
            change("fields.metadata", "m", None),
        ],
        ["-m", "+a: x", "+b: y"],
    ),
    "a scalar": ([change("limit", 10, 12)], ["-10", "+12"]),
    "a short list": ([change("tags", ["a"], ["a", "b"])], ['-["a"]', '+["a","b"]']),
    "a value that is new": ([change("limit", None, 12)], ["-(none)", "+12"]),
    "digests": (
        [change("pin", {"a": "sha256:" + "ab" * 32}, None)],
        ["-a: sha256:abababababab…"],
    ),
}


@pytest.mark.parametrize("case", LINES)
def test_change_is_a_diff_of_yaml(case: str) -> None:
    changes, lines = LINES[case]
    assert shown(*changes) == lines
    assert len(list(edits(changes))) == 1


def test_keys_of_two_fields_are_two_edits_with_their_places() -> None:
    found = list(
        edits(
            [
                change("fields.input", "a", "b"),
                change("fields.target", "a", "b", inherited_by=("c",)),
                change("fields.target.x", None, "b"),
            ]
        )
    )
    assert [(one.key, one.places, one.inherited_by) for one in found] == [
        ("fields.input", "m.yaml:1 → m.yaml:2", ()),
        ("fields.target", "m.yaml:1 → m.yaml:2", ("c",)),
        ("fields.target", "m.yaml:1 → m.yaml:2", ()),
    ]
    assert found[0].pair == ("a", "b")


def test_what_is_left_out_of_a_long_change_is_counted() -> None:
    old, new = ({"do": [f"{side}{n}" for n in range(100)]} for side in "ab")
    lines = shown(change("fields.target", old, new))
    assert lines[-1] == "=… 141 more lines"
    (line,) = shown(change("fields.target", None, ["x" * 1_000]))
    assert "more characters" in line


def test_untrusted_text_controls_nothing() -> None:
    text = "".join(shown(change("fields.input", {"a": "\x1b[31m\u202e"}, {"a\nb": "\u200b"})))
    assert not set(text) & set("\x1b\u202e\u200b\n")


def test_facts_start_with_what_a_reviewer_reads_first() -> None:
    keys = ["fields.input", "limit", "source.path", "seed", "license", "description"]
    made = DatasetChange(
        name="d",
        status="added",
        facts={key: Origin(key=key, value=1, layer="own", file="m.yaml", line=1) for key in keys},
    )
    assert [one.key for one in facts(made)] == [
        *("description", "license", "source.path", "fields.input", "limit", "seed")
    ]


def rows(*lines: str) -> Corrections:
    text = "corrections:\n" + "".join(f"- {{{row}}}\n" for row in lines)
    return parse_corrections(text.encode(), file="e.yaml")


def test_rows_that_differ_are_listed_with_reason_and_source() -> None:
    same = "id: 1, field: target, was: A, now: B, reason: r"
    old = rows(
        same, "id: 2, field: target, was: A, now: B, reason: r", "id: 3, drop: true, reason: r"
    )
    new = rows(
        same,
        "id: 2, field: target, was: A, now: C, verdict: v, reason: r, source: s, by: b",
        "id: '2', field: metadata.k, was: [1], now: null, reason: q",
    )
    changes = corrections_between(old, new)
    assert [*correction_lines(changes, most=9)] == [
        '~ id 2: target "A" → "C": v: r (s, reviewed by b)',
        "+ id '2': metadata.k [1] → null: q",
        "- id 3: left out: r",
    ]
    assert [*correction_lines(changes, most=1)][1] == "… and 2 more"


def test_order_and_place_of_rows_do_not_matter() -> None:
    lines = ["id: 1, drop: true, reason: r", "id: 2, drop: true, reason: r"]
    assert corrections_between(rows(*lines), rows(*reversed(lines))) == ()
    assert corrections_between(None, None) == ()
    assert len(corrections_between(None, rows(*lines))) == 2
