"""Records become samples by the field language; what does not fit is said with its place."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import inspect_ai.dataset as theirs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import FieldSpec, MappingError, Sample, map_fields
from registry.mapping import map_records, record_mapper
from registry.mapping.row import Row, get_column

Record = dict[str, Any]


def sample_of(fields: dict[str, Any], record: Record, *, number: int = 17) -> Sample:
    """Map one record; the input is a constant where the fields do not say."""
    mapper = map_fields({"input": {"const": "q"}, **fields})
    ((found, sample),) = map_records([(number, record)], mapper, dataset="sales")
    assert found == number
    return sample


def error_of(fields: dict[str, Any], record: Record) -> MappingError:
    with pytest.raises(MappingError) as caught:
        sample_of(fields, record)
    return caught.value


def value_of(expression: Any, record: Record, *, number: int = 1) -> Any:
    """Evaluate an expression; metadata keeps what it gives."""
    metadata = sample_of({"metadata": {"made": expression}}, record, number=number).metadata
    assert metadata is not None
    return metadata["made"]


# --- columns ---


@pytest.mark.parametrize(
    ("name", "record", "value"),
    [
        ("a", {"a": 1}, 1),
        ("a.b", {"a": {"b": 1}}, 1),
        ("a.b", {"a.b": "exact", "a": {"b": "nested"}}, "exact"),
        ("a.b", {"a.b": None, "a": {"b": "nested"}}, None),
        ("a.b.c", {"a": {"b": {"c": 1}}}, 1),
        ("a.b.c", {"a.b": {"c": 1}}, 1),
        ("a.b.c", {"a": {"b.c": 1}}, 1),
        ("a.b.c", {"a": {"b": 2}, "a.b": {"c": 1}}, 1),
        ("Correct Answer", {"Correct Answer": 1}, 1),
        ('it\'s "quoted"', {'it\'s "quoted"': 1}, 1),
        ("x y.'z'", {"x y": {"'z'": 1}}, 1),
        ("a.", {"a.": 1}, 1),
        ("é", {"é": 1}, 1),
    ],
)
def test_a_column_is_its_exact_name_then_a_dotted_path(
    name: str, record: Record, value: Any
) -> None:
    assert get_column(record, name) == value
    assert value_of({"from": name}, record) == value


@pytest.mark.parametrize("name", ["b", "a.c", "a.b.c", "l.0", ".", "a.", ".a", "A"])
def test_a_path_that_leads_nowhere_is_missing(name: str) -> None:
    record = {"a": {"b": 1}, "l": [1]}
    assert value_of(name, record) is None
    with pytest.raises(MappingError, match="no column"):
        value_of({"from": name}, record)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=3), min_size=1, max_size=4))
def test_every_nested_value_has_a_path(keys: list[str]) -> None:
    record: Any = "found"
    for key in reversed(keys):
        record = {key: record}
    assert get_column(record, ".".join(keys)) == "found"


def test_a_field_that_is_left_out_reads_the_column_of_its_name() -> None:
    record = {
        "input": "q",
        "target": "B",
        "choices": "a, b",
        "id": 7,
        "metadata": '{"topic": 1}',
        "files": {"a.txt": "text"},
        "setup": "echo",
        "sandbox": "docker",
        "more": 1,
    }
    sample = map_fields({})(record)
    assert sample == record_mapper(FieldSpec())(record)
    assert sample.choices == ["a", "b"]
    assert sample.metadata == {"topic": 1}


def test_null_leaves_a_field_empty() -> None:
    record = {"target": "a", "choices": ["x"], "id": 1, "metadata": {"a": 1}, "setup": "s"}
    fields = dict.fromkeys(["target", "choices", "id", "metadata", "setup"])
    assert sample_of(fields, record) == Sample(input="q")


@pytest.mark.parametrize(
    "field", ["target", "choices", "id", "metadata", "files", "sandbox", "setup"]
)
def test_a_missing_column_is_no_value_as_with_the_loaders(field: str) -> None:
    assert sample_of({field: "nowhere"}, {"a": 1}) == Sample(input="q")


def test_a_missing_input_has_the_nearest_column() -> None:
    error = error_of({"input": "qestion"}, {"id": 1, "question": "?"})
    assert str(error) == (
        "sales: record 17, field input: no column 'qestion' (did you mean 'question'?)"
    )


def test_a_missing_column_without_a_near_one_lists_what_is_there() -> None:
    record = {f"c{number}": 1 for number in range(14)}
    listed = ", ".join(f"c{number}" for number in range(12))
    assert str(error_of({"input": "zzz"}, record)) == (
        f"sales: record 17, field input: no column 'zzz' (columns: {listed}, …)"
    )


@pytest.mark.parametrize("value", [None, "", [], math.nan])
def test_an_input_must_not_be_empty(value: Any) -> None:
    error = error_of({"input": "q"}, {"q": value})
    assert str(error) == f"sales: record 17, field input: No input in dataset, value: {value!r}"


@pytest.mark.parametrize(
    ("field", "value", "result"),
    [
        ("target", 18, "18"),
        ("target", [1, "b"], ["1", "b"]),
        ("target", math.nan, ""),
        ("choices", "a b", ["a", "b"]),
        ("choices", "New York, Rome", ["New York", "Rome"]),
        ("choices", ["a", " "], ["a"]),
        ("choices", 5, ["5"]),
        ("id", 1.0, 1),
        ("id", "007", "007"),
        ("files", '{"a": "b"}', {"a": "b"}),
        ("setup", 5, "5"),
    ],
)
def test_values_become_parts_of_a_sample_as_with_the_loaders(
    field: str, value: Any, result: Any
) -> None:
    assert getattr(sample_of({field: "x"}, {"x": value}), field) == result


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("input", 5, "must be text or a list of {role, content} messages, value: 5"),
        ("id", 1.5, "an id must be a whole number or text, value: 1.5"),
        ("id", [1], "an id must be a whole number or text, value: [1]"),
        ("metadata", "[1]", "must be an object, or JSON text of one, value: '[1]'"),
        ("metadata", 5, "must be an object, or JSON text of one, value: 5"),
        ("files", {"a": 1}, "must be an object of texts, or JSON text of one, value: {'a': 1}"),
        ("sandbox", ["docker"], "must be text, or a list of two: type and configuration file, value: ['docker']"),
    ],
)  # fmt: skip
def test_values_that_are_no_part_of_a_sample_are_refused(
    field: str, value: Any, message: str
) -> None:
    assert str(error_of({field: "x"}, {"x": value})) == (
        f"sales: record 17, field {field}: {message}"
    )


@pytest.mark.parametrize("field", ["metadata", "files", "sandbox"])
@pytest.mark.parametrize("text", ["[" * 100_000, "[" + "9" * 5000 + "]", "[1"], ids=lambda t: t[:2])
def test_json_text_that_can_not_be_read_is_refused(field: str, text: str) -> None:
    assert error_of({field: "x"}, {"x": text}).field == field


# --- lists, constants, objects ---


def test_lists_are_flattened_one_level() -> None:
    record = {"a": 1, "l": [2, [3]], "e": []}
    assert value_of(["a", "l", "e", {"const": [4]}, ["a", ["l"]]], record) == [
        1, 2, [3], 4, 1, 2, [3],
    ]  # fmt: skip


def test_a_column_of_a_list_must_be_there() -> None:
    error = error_of({"choices": ["A", "B"]}, {"A": "a", "b": "b"})
    assert str(error) == ("sales: record 17, field choices: no column 'B' (did you mean 'b'?)")


@pytest.mark.parametrize("field", ["target", "choices"])
@pytest.mark.parametrize(
    ("expression", "listed"),
    [
        (["a", "n"], ["x", None]),
        (["a", {"const": math.nan}], ["x", math.nan]),
        ({"from": "l", "do": [{"slice": [0, 2]}]}, ["x", None]),
        ({"const": ["x", None]}, ["x", None]),
    ],
)
def test_a_null_in_a_list_that_the_manifest_makes_is_an_error(
    field: str, expression: Any, listed: Any
) -> None:
    error = error_of({field: expression}, {"a": "x", "n": None, "l": ["x", None, "y"]})
    assert (error.field, error.value) == (field, pytest.approx(listed, nan_ok=True))
    assert error.message == "item 1 is null (add drop_null to leave it out)"


@pytest.mark.parametrize(
    "expression", [["a", "n"], {"from": ["a", "n"], "do": []}], ids=["list", "pipe"]
)
def test_drop_null_leaves_nulls_out(expression: Any) -> None:
    fields = {"choices": {"from": expression, "do": ["drop_null"]}}
    assert sample_of(fields, {"a": "x", "n": None}).choices == ["x"]


def test_constants_are_as_written_and_not_shared() -> None:
    mapper = map_fields({"input": {"const": "q"}, "metadata": {"c": {"const": {"a": [1, None]}}}})
    first, second = mapper({}), mapper({})
    assert first.metadata == {"c": {"a": [1, None]}}
    assert first.metadata is not None
    first.metadata["c"]["a"].append(2)
    assert second.metadata == {"c": {"a": [1, None]}}


def test_objects_are_maps_of_expressions() -> None:
    expression = {"object": {"a": "x", "b": {"const": 1}, "c": "nowhere"}}
    assert value_of(expression, {"x": [1]}) == {"a": [1], "b": 1, "c": None}


# --- hashes ---


def md5(*texts: str) -> str:
    return hashlib.md5("\0".join(texts).encode(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ({"hash": "q"}, md5("What?")),
        ({"hash": ["q", "c"]}, md5("What?", "['a', 'b']")),
        ({"hash": ["q", "n", "i"]}, md5("What?", "None", "7")),
        ({"hash": ["q"], "length": 8}, md5("What?")[:8]),
        ({"hash": ["q"], "prefix": "mmlu", "length": 8}, f"mmlu_{md5('What?')[:8]}"),
        ({"hash": ["q"], "prefix": {"template": "x{i}"}}, f"x7_{md5('What?')}"),
        ({"hash": ["q"], "algorithm": "sha256"}, hashlib.sha256(b"What?").hexdigest()),
        ({"hash": "*"}, md5("What?", "é")),
        ({"hash": [{"from": "q", "do": ["upper"]}]}, md5("WHAT?")),
        ({"hash": ["u"]}, md5("é")),
    ],
)
def test_a_hash_is_that_of_the_texts_joined_with_nul(expression: Any, result: str) -> None:
    record = {"u": "é", "q": "What?", "c": ["a", "b"], "n": None, "i": 7}
    assert sample_of({"id": expression}, record).id == result


def test_a_hash_needs_its_columns() -> None:
    error = error_of({"id": {"hash": ["q", "choice"]}}, {"q": 1, "choices": 2})
    assert str(error) == (
        "sales: record 17, field id: no column 'choice' (did you mean 'choices'?)"
    )


# --- templates ---


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{q} or {n.m}?", "Who or 2?"),
        ("{{q}} {q}", "{q} Who"),
        ("{none|nobody} {empty|nobody} {q|nobody}", "nobody nobody Who"),
        ("{none|}", ""),
        ("a{?hint} {hint}{/}{?none} {none}{/}", "a H"),
        ("{?hint}{?none}x{/}y{/}", "y"),
        ("{f} {t}", "1.5 True"),
        ("no braces", "no braces"),
        ("", ""),
        ("{a b}", "spaced"),
    ],
)
def test_templates_put_columns_into_text(template: str, text: str) -> None:
    record = {
        "q": "Who",
        "n": {"m": 2},
        "none": None,
        "empty": "",
        "hint": "H",
        "f": 1.5,
        "t": True,
        "a b": "spaced",
    }
    assert value_of({"template": template}, record) == text


def test_with_names_expressions_before_columns() -> None:
    expression = {
        "template": "{q}: {listed}",
        "with": {"q": {"const": "mine"}, "listed": {"from": "l", "do": [{"join": ", "}]}},
    }
    assert value_of(expression, {"q": "theirs", "l": ["a", "b"]}) == "mine: a, b"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{qq}", "no column 'qq' (did you mean 'q'?)"),
        ("{none}", "the column 'none' of the template is null (write {none|} for no text)"),
        ("{l}", "'l' in the template needs text (turn a list into text under `with`), value: [1]"),
    ],
)
def test_a_template_that_can_not_be_filled_is_refused(template: str, message: str) -> None:
    error = error_of({"input": {"template": template}}, {"q": "a", "none": None, "l": [1]})
    assert str(error) == f"sales: record 17, field input: {message}"


# --- choices of the mapper, rows, messages ---


def test_if_takes_one_expression_or_another() -> None:
    expression = {"if": {"value": "kind", "equals": "x"}, "then": "a", "else": {"const": "b"}}
    assert value_of(expression, {"kind": "x", "a": 1}) == 1
    assert value_of(expression, {"kind": "y", "a": 1}) == "b"
    del expression["else"]
    assert value_of(expression, {"kind": "y", "a": 1}) is None


def test_a_row_has_the_number_of_its_record() -> None:
    assert value_of({"row_number": 1}, {}, number=5) == 5
    assert value_of({"row_number": 0}, {}, number=5) == 4
    assert value_of({"row_number": 1, "width": 4}, {}, number=5) == "0005"
    assert map_fields({"input": {"const": "q"}, "id": {"row_number": 1}}).map(Row({}, 9)).id == 9


def test_messages_are_made_of_expressions() -> None:
    turns = [
        {"role": "system", "content": "nowhere"},
        {"role": "user", "content": [{"text": "q"}, {"image": "pic"}, {"audio": "none"}]},
        {"role": "assistant", "content": {"const": "I see."}},
    ]
    sample = sample_of({"input": {"messages": turns}}, {"q": "What?", "pic": "a.png", "none": None})
    assert not isinstance(sample.input, str)
    assert [message.role for message in sample.input] == ["user", "assistant"]
    user = sample.input[0]
    assert not isinstance(user.content, str)
    assert [part.type for part in user.content] == ["text", "image"]
    assert user.text == "What?"


def test_messages_have_the_same_ids_everywhere() -> None:
    record = {"input": [{"role": "user", "content": "Hello"}]}
    first, second = (map_fields({})(record).input for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("messages", "place", "message"),
    [
        (["hi"], "input[0]", "a message must be an object"),
        ([{"role": "user"}], "input[0]", "content not specified for chat input"),
        (
            [{"role": "user", "content": "a"}, {"role": "robot", "content": "b"}],
            "input[1]",
            "role must be one of system, user, assistant, tool",
        ),
        ([{"role": [], "content": "a"}], "input[0]", "role must be one of system, user, assistant, tool"),
    ],
)  # fmt: skip
def test_a_message_that_is_none_is_named_by_its_place(
    messages: Any, place: str, message: str
) -> None:
    error = error_of({"input": "m"}, {"m": messages})
    assert (error.field, error.message) == (place, message)


# --- metadata ---


@pytest.mark.parametrize(
    ("metadata", "result"),
    [
        (["a", "b.c", "nowhere"], {"a": 1, "b.c": 2, "nowhere": None}),
        ([], {}),
        ({"x": "a", "y": {"const": 5}, "z": "nowhere"}, {"x": 1, "y": 5, "z": None}),
        ({}, {}),
        ("b", {"c": 2}),
        ("j", {"k": [1]}),
        ("n", None),
        ("nowhere", None),
        (None, None),
        ("*", {"a": 1, "b": {"c": 2}, "j": '{"k": [1]}', "n": None}),
        ({"*": "b", "x": "a"}, {"c": 2, "x": 1}),
        ({"*": "b", "c": "a"}, {"c": 1}),
        ({"*": "n", "x": "a"}, {"x": 1}),
    ],
)
def test_metadata_is_a_list_a_map_a_column_or_the_record(metadata: Any, result: Any) -> None:
    record = {"a": 1, "b": {"c": 2}, "j": '{"k": [1]}', "n": None}
    assert sample_of({"metadata": metadata}, record).metadata == result


def test_metadata_does_not_change_the_record() -> None:
    record = {"input": "q", "metadata": {"a": 1}}
    metadata = map_fields({"metadata": {"*": "metadata", "b": {"const": 2}}})(record).metadata
    assert metadata == {"a": 1, "b": 2}
    assert record == {"input": "q", "metadata": {"a": 1}}


# --- errors ---


def test_an_error_has_dataset_record_field_operation_and_value() -> None:
    pipe = {"from": "answer", "do": [{"split": "####"}, {"index": -1}, "strip", {"index": -9}]}
    error = error_of({"target": pipe}, {"answer": "steps #### 18"})
    assert str(error) == (
        "sales: record 17, field target, operation index(-9): no item -9 among 2, value: '18'"
    )
    assert isinstance(error, ValueError)
    assert (error.dataset, error.record, error.field) == ("sales", 17, "target")
    assert (error.operation, error.value) == ("index(-9)", "18")


def test_an_error_in_metadata_names_the_key() -> None:
    error = error_of({"metadata": {"a b": {"from": "x", "do": ["strip"]}}}, {"x": []})
    assert str(error) == (
        "sales: record 17, field metadata.a b, operation strip: needs text, value: []"
    )


def test_long_values_are_cut_in_the_middle() -> None:
    error = error_of({"target": {"from": "x", "do": ["letter"]}}, {"x": "a" * 50_000 + "z"})
    assert len(str(error)) < 250
    assert str(error).endswith("aaz'")
    assert error.value == "a" * 50_000 + "z"


def test_an_error_of_a_function_has_the_place_of_its_record() -> None:
    def to_sample(record: Record) -> Sample:
        if record["id"] == 2:
            raise MappingError("is odd", field="target", value=record)
        return Sample(input="q")

    mapped = map_records([(1, {"id": 1}), (2, {"id": 2})], to_sample, dataset="sales")
    assert next(mapped) == (1, Sample(input="q"))
    with pytest.raises(MappingError) as caught:
        next(mapped)
    assert str(caught.value) == "sales: record 2, field target: is odd, value: {'id': 2}"


def test_a_function_that_makes_no_sample_is_a_mapping_error() -> None:
    mapped = map_records([(3, {"a": 1})], lambda record: Sample(input=record), dataset="sales")  # type: ignore[arg-type]
    with pytest.raises(MappingError, match=r"^sales: record 3: not a sample: ") as caught:
        next(mapped)
    assert caught.value.value == {"a": 1}


@pytest.mark.parametrize(
    ("made", "gave"),
    [
        (None, "None; {rule}, value: None"),
        ({"input": "q"}, "a dict; {rule}, value: {{'input': 'q'}}"),
        ("q", "a str; {rule}, value: 'q'"),
        ((Sample(input="q"),), "a tuple; {rule}, value: "),
        ((Sample(input=text) for text in "ab"), "a generator; {rule}, value: "),
        (FieldSpec(), "a FieldSpec; {rule}, value: "),
        ([Sample(input="q"), None], "a list with None; {rule}, value: None"),
        ([[Sample(input="q")]], "a list with a list; {rule}, value: "),
    ],
)
def test_a_function_that_gives_no_sample_is_a_mapping_error(made: Any, gave: str) -> None:
    mapped = map_records([(3, {"a": 1})], lambda _: made, dataset="sales")
    with pytest.raises(MappingError) as caught:
        list(mapped)
    told = gave.format(rule="a mapper returns a Sample or a list of them")
    assert str(caught.value).startswith(f"sales: record 3: the mapper gave {told}")


class _OwnSample(Sample):
    """A sample of a class of one's own."""


@pytest.mark.parametrize("kind", [Sample, _OwnSample, theirs.Sample])
def test_a_function_may_give_any_class_of_sample_alone_or_in_a_list(kind: Any) -> None:
    for made in (kind(input="q"), [kind(input="q"), kind(input="r")], []):
        several = made if isinstance(made, list) else [made]
        mapped = map_records([(3, {"a": 1})], lambda _, made=made: made, dataset="sales")  # type: ignore[misc]
        assert list(mapped) == [(3, sample) for sample in several]


# --- what can not be compiled ---


def test_an_unknown_field_is_a_type_error() -> None:
    with pytest.raises(TypeError) as caught:
        map_fields({"inptu": "q"})
    assert str(caught.value) == "a sample has no field 'inptu' did you mean 'input'?"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"target": 5}, "field target: 5 is not an expression; write a constant as {const: 5}"),
        ({"metadata": {"a": None}}, "field metadata.a: None is not an expression; write a constant as {const: None}"),
        ({"target": {"const": 1, "do": []}}, "field target: unknown key 'do' beside 'const'"),
        ({"target": {"hash": ["q"], "lenght": 8}}, "field target: unknown key 'lenght' beside 'hash' (did you mean 'length'?)"),
        ({"target": {"from": "q", "do": [{"a": 1, "b": 2}]}}, "field target: {'a': 1, 'b': 2} is not an operation; write a name, or {name: argument}"),
        ({"target": {"template": "{q"}}, "field target: `{` in a template names no column; write a literal brace twice"),
        ({"target": {"template": "{}"}}, "field target: `{}` in a template names no column; write a literal brace twice"),
        ({"target": {"template": "{?q}a"}}, "field target: `{?q}` is not closed by `{/}`"),
        ({"target": {"template": "a{/}"}}, "field target: `{/}` closes no section of the template"),
        ({"target": {"if": {"value": "q", "equals": 1}}}, "field target: `if` needs `then`"),
        ({"target": {"if": {"equals": 1}, "then": "q"}}, "field target: a condition has `value` with comparisons, or one of all, any, not"),
        ({"target": {"if": {"value": "q", "regex": "("}, "then": "q"}}, "field target: not a regular expression: missing ), unterminated subpattern at position 0"),
        ({"target": {"row_number": "a"}}, "field target: `row_number` (the first number) and `width` take integers"),
        ({"input": {"messages": []}}, "field input: `messages` takes a list of {role, content}"),
        ({"input": {"messages": [{"role": "robot", "content": "q"}]}}, "field input: 'robot' is not one of the roles system, user, assistant"),
    ],
)  # fmt: skip
def test_an_expression_that_is_none_is_refused_before_any_record(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=r"^field ") as caught:
        map_fields(fields)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "fields",
    [
        {"id": {"hash": ["q"], "algorithm": "crc32"}},
        {"id": {"hash": ["q"], "length": "8"}},
        {"id": {"hash": ["q"], "length": 8.0}},
        {"id": {"hash": ["q"], "length": 0}},
        {"id": {"hash": ["q"], 5: 1}},
        {"id": {"hash": []}},
        {"input": None},
        {"metadata": 5},
        {"metadata": [5]},
        {"metadata": {"*": 5}},
        {"target": {"template": "{q}", "with": ["q"]}},
        {"target": {"if": {"all": 5}, "then": "q"}},
        {"target": {"from": "q", "do": [{5: 1}]}},
        {"target": {"row_number": 1, "width": -1}},
        {"target": {"row_number": 1, "width": 10**9}},
    ],
)
def test_what_the_schema_would_refuse_is_refused_in_python_too(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^field "):
        map_fields({"input": "q", **fields})


def test_a_template_of_any_depth_is_filled_or_refused() -> None:
    template = f"{'{?a}' * 3000}x{'{/}' * 3000}"
    mapper = _mapper_or_none({"input": {"template": template}})
    assert mapper is None or mapper({"a": "1"}).input == "x"


FIELD_NAMES = ("input", "target", "choices", "id", "metadata", "sandbox", "files", "setup")
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.fixed_dictionaries({"role": st.just("user"), "content": inner})
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELD_NAMES), VALUES))
def test_any_record_is_a_sample_or_a_mapping_error(record: Record) -> None:
    try:
        samples = list(map_records([(1, record)], map_fields({}), dataset="d"))
    except MappingError:
        return
    assert len(samples) == 1


EXPRESSIONS = st.recursive(
    LEAVES | st.sampled_from(["a", "b.c", "{a}"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.builds(lambda value: {"const": value}, inner)
        | st.builds(lambda value, steps: {"from": value, "do": steps}, inner, st.lists(inner))
        | st.builds(lambda value: {"hash": value}, inner)
        | st.builds(lambda value: {"template": value}, inner)
        | st.builds(lambda value, then: {"if": {"value": value, "equals": 1}, "then": then}, inner, inner)
        | st.builds(lambda value: {"object": {"k": value}}, inner)
        | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=6,
)  # fmt: skip


def _mapper_or_none(fields: dict[str, Any]) -> Any:
    try:
        return map_fields(fields)
    except ValueError:
        return None


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS, VALUES)
def test_any_expression_is_compiled_or_refused(expression: Any, value: Any) -> None:
    mapper = _mapper_or_none({"input": {"const": "q"}, "metadata": {"made": expression}})
    if mapper is None:
        return
    try:
        list(map_records([(1, {"a": value, "b": {"c": value}})], mapper, dataset="d"))
    except MappingError as error:
        text = str(error)
    else:
        return
    assert text.startswith("d: record 1, field metadata.made")
