"""Field specs as in manifests, over the columns of the generated files."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from registry.mapping.operations import OPERATIONS

__all__ = ["COLUMNS", "conditions", "dataset_keys", "expressions", "steps"]

COLUMNS = ("q", "a", "b", "n", "m")
"""Columns of most files; their values differ from file to file."""

_names = st.sampled_from([*COLUMNS * 4, "none", "m.x", "m.x.y", "k", "m.x.y.z"])
_literals = st.sampled_from(["x", "", "é", 1, 0, -1, 2.5, True, None, ["x"], [1], {"x": 1}, "1"])
steps: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(operation.example.step for operation in OPERATIONS.values()),
        *["lower", "upper", "strip", "letter", {"letter": {"base": 1}}],
        *[{"replace": {"x": "", "y": "z"}}],
        *[{"default": "none"}, {"split": "x"}, {"coalesce": ["b", "n"]}, {"letter_in": "m"}, "len"],
        *[{"each": "str"}, {"each": ["str", "strip"]}, {"map": {"x": "y", "*": 1}}, {"index": 0}],
        *[{"letter_in": {"const": ["x", "1", 1]}}, {"strip": "x"}, {"parse": "json"}],
        *[{"index": "n"}, {"slice": ["n", None]}, {"slice": [None, {"const": 1}]}],
        *[{"each": {"to": ["item", "q"]}}, {"each": {"where": {"value": "item", "equals": "x"}}}],
        *[{"dict": {"value": "n"}}, {"dict": {"key": "index", "value": "item"}}, {"shuffle": "q"}],
    ]
)
_templates = st.lists(
    st.sampled_from(
        [
            *["{q}", "{a}", "{b}", "{n}", "{m.x}", "{none|-}", "{b|}", "{?a}A {a}{/}", "{v}", "x "],
            *["{{é"],
        ]
    ),
    min_size=1,
    max_size=3,
).map("".join)


_HASH_OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "prefix": st.sampled_from(["p", {"from": "m"}, {"const": "x"}, {"template": "{q}"}]),
    "length": st.sampled_from([1, 8, 64]),
    "algorithm": st.sampled_from(["md5", "sha256"]),
}
_hashes = st.fixed_dictionaries(
    {"hash": st.lists(st.sampled_from(["q", "q", "a", "b", "n", "m"]), min_size=1, max_size=3)},
    optional=_HASH_OPTIONS,
)


def _grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pipe = {"from": inner, "do": st.lists(steps, max_size=2)}
    return st.one_of(
        st.lists(inner, max_size=3),
        st.fixed_dictionaries(pipe),
        st.fixed_dictionaries(
            {"template": _templates}, optional={"with": st.fixed_dictionaries({"v": inner})}
        ),
        st.fixed_dictionaries(
            {"object": st.dictionaries(st.sampled_from("xy"), inner, max_size=2)}
        ),
        st.fixed_dictionaries({"if": conditions(inner), "then": inner}, optional={"else": inner}),
        st.fixed_dictionaries(
            {"hash": st.one_of(st.just("*"), inner, st.lists(inner, max_size=2))},
            optional=_HASH_OPTIONS,
        ),
        st.fixed_dictionaries({"messages": st.lists(_turns(inner), min_size=1, max_size=2)}),
    )


def _turns(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    content = st.one_of(inner, st.lists(st.fixed_dictionaries({"text": inner}), max_size=2))
    return st.fixed_dictionaries({"role": st.sampled_from(["system", "user"]), "content": content})


def conditions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw conditions on the values of expressions."""
    tests = st.one_of(
        st.fixed_dictionaries({"equals": _literals}),
        st.fixed_dictionaries({"not_equals": _literals}),
        st.fixed_dictionaries({"in": st.lists(_literals, max_size=2)}),
        st.fixed_dictionaries({"empty": st.booleans()}),
        st.fixed_dictionaries({"regex": st.sampled_from(["x", "^$", "é|1"])}),
        st.fixed_dictionaries({"less": st.sampled_from([1, 2.5, "x"])}),
        st.fixed_dictionaries({"at_least": st.sampled_from([0, "a"])}),
    )
    one = st.tuples(inner, tests).map(lambda pair: {"value": pair[0], **pair[1]})
    several = st.lists(one, max_size=2)
    return st.one_of(
        one,
        one,
        several,
        st.fixed_dictionaries({"all": several}),
        st.fixed_dictionaries({"any": several}),
        one.map(lambda part: {"not": part}),
    )


_leaves = st.one_of(
    _names,
    _names,
    _literals.map(lambda value: {"const": value}),
    st.sampled_from([{"row_number": 1}, {"row_number": 0, "width": 3}, {"row_number": -3}]),
)
expressions = st.recursive(_leaves, _grown, max_leaves=4)
# Expressions with a columnar kernel are overrepresented.
_texts = st.sampled_from(
    [
        *["q", "q", {"template": "{q}"}, {"template": "{q} {n}"}],
        *[{"template": "x {q}{v}", "with": {"v": "q"}}],
        *[
            {"from": "q", "do": [step]}
            for step in ("lower", "upper", "capitalize", "strip", {"replace": {"x": "é"}})
        ],
        {"from": "q", "do": ["strip", "upper"]},
        # Operations whose result is computed once for repeated texts.
        *[{"from": "q", "do": [step]} for step in ({"regex": r"^(\w*)"}, "str", {"strip": "x"})],
        {"template": "{q|}{none|-}"},
        *[
            {"from": ["q", {"const": "é"}], "do": steps}
            for steps in (
                [{"each": {"to": {"template": "{index}{item}"}}}, {"join": "x"}],
                ["lettered"],
                [{"shuffle": "q"}, {"index": 0}],
                [{"dict": {"key": "index", "value": "item"}}, {"index": {"const": "0"}}],
            )
        ],
    ]
)
_targets = st.sampled_from(
    [
        *["a", "b", "n", "q", "m", ["q"], ["a", "b"], {"template": "{n}"}, {"row_number": 1}],
        *[{"const": "A"}],
        *[
            {"from": name, "do": [{"regex": {"pattern": "x|(\\d)", "optional": True}}]}
            for name in "qa"
        ],
        *[
            {"from": "a", "do": [step]}
            for step in ({"split": ","}, {"map": {"x": 1, "*": "y"}}, "len")
        ],
        *[{"from": "n", "do": ["letter"]}, {"from": "n", "do": [{"letter": {"base": 1}}]}],
    ]
)
_metadata = st.one_of(
    st.none(),
    st.lists(st.sampled_from(COLUMNS), max_size=4),
    st.dictionaries(st.sampled_from(["x", "y"]), st.one_of(_texts, _targets), max_size=2),
    st.just("*"),
    _names,
    st.lists(_names, max_size=4),
    st.dictionaries(st.sampled_from(["x", "y", "z", "q.q"]), expressions, max_size=3),
    st.tuples(_names, st.dictionaries(st.sampled_from(["x", "y"]), expressions, max_size=2)).map(
        lambda pair: {"*": pair[0], **pair[1]}
    ),
    st.just({"*": "*", "x": "q"}),
)


def _mostly(plain: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    # `one_of` counts a strategy that is given twice once.
    return st.sampled_from([*[plain] * 15, expressions]).flatmap(lambda chosen: chosen)


_fields = st.fixed_dictionaries(
    {"input": _mostly(_texts)},
    optional={
        "target": _mostly(_targets),
        "choices": _mostly(st.sampled_from([*["m"] * 6, "b", ["a", "b"], ["q"], ["q", "a", "b"]])),
        "id": _mostly(
            st.one_of(st.sampled_from(["n", "n", "a", "q", {"row_number": 5}, None]), _hashes)
        ),
        "metadata": _metadata,
        "sandbox": st.sampled_from(["none", "none", {"const": "docker"}, "a"]),
        "files": st.sampled_from([*["none"] * 4, {"const": {"x": "y"}}, "m"]),
        "setup": st.sampled_from(["a", "n", "none"]),
        "description": st.sampled_from(["a", "q", "none", None, {"template": "{a|}"}]),
        "checkpoint": st.sampled_from([*["none"] * 3, None, {"const": {"sandbox_paths": {}}}, "m"]),
    },
)
_sometimes = st.sampled_from([*[False] * 5, True])


@st.composite
def dataset_keys(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the keys of a dataset beside its source."""
    keys: dict[str, Any] = {
        "fields": draw(_fields),
        "on_duplicate": draw(st.sampled_from(["suffix", "drop", "error"])),
    }
    if draw(_sometimes):
        equals = st.sampled_from([{"value": "a", "equals": "x"}, {"value": "none", "equals": "x"}])
        keys["where"] = draw(st.one_of(equals, conditions(expressions)))
    if draw(_sometimes):
        by = st.sampled_from([{}, {"stratify_by": "x"}, {"stratify_by": "q"}])
        keys["sample"] = {"n": draw(st.integers(0, 6)), "seed": 1, **draw(by)}
    if draw(_sometimes):
        keys["view"] = {"auto_id": True}
    return keys
