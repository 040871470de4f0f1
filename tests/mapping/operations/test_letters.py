"""Operations on letters of choices: results and errors."""

from __future__ import annotations

from string import ascii_uppercase

from tests.mapping.operations.one_step import error_of, forbids, refuses, returns

test_an_operation_returns = returns(
    ({"letter": {"base": 1}}, 1, "A"),
    ("letter", "2 ", "C"),
    ("letter", 25, "Z"),
    ("letter", 26, "1"),
    ({"letter_in": {"const": ["a", "b"]}}, "b", "B"),
    ("letters_where", [], []),
    ({"letters_where": {"equals": "yes"}}, ["no", "yes"], ["B"]),
    ({"letters_where": {"greater": 0.5}}, [0.2, 0.9], ["B"]),
    ({"letter": {"base": 0}}, "0", "A"),
    ({"letter": {"bools": True}}, False, "A"),
    ({"letter": {"bools": True}}, True, "B"),
    ({"letter": {"bools": True}}, 2, "C"),
    ("letters_where", [1, True, 1.0, "1"], ["A", "B", "C"]),
    ("letters_where", [True, False, True], ["A", "C"]),
    ({"letters_where": {"equals": 1}}, [1, True], ["A"]),
    ({"letter_in": {"const": [1, True]}}, True, "B"),
    ("lettered", ["x", "y"], "A. x\nB. y"),
    ("lettered", [], ""),
    ("lettered", [1, 2.5], "A. 1\nB. 2.5"),
    ({"lettered": {"format": "{{{letter}}} {item}/{item}", "separator": ""}}, ["a"], "{A} a/a"),
    ({"lettered": {"separator": " "}}, ["a"] * 27, " ".join(f"{letter}. a" for letter in ascii_uppercase + "1")),
)  # fmt: skip


test_a_value_of_the_wrong_type_is_refused = refuses(
    ("letter", -1, "letter", "needs an index from 0 to 999"),
    ("letter", "B", "letter", "needs an integer, or digits"),
    ("letter", True, "letter", "needs an integer, or digits (for a boolean, {letter: {bools: true}}: A for false, B for true)"),
    ("letter", 1.0, "letter", "needs an integer, or digits"),
    ("letter", "5" * 5000, "letter", "needs an integer, or digits"),
    ({"letter": {"base": 1}}, 0, "letter({'base': 1})", "needs an index from 1 to 1000"),
    ({"letter_in": {"const": ["a"]}}, "b", "letter_in({'const': ['a']})", "not among the labels ['a']"),
    ("letters_where", {"a": 1}, "letters_where", "needs a list"),
    (
        "letters_where",
        ["TRUE", "FALSE"],
        "letters_where",
        "the marks are strings, so none is 1 or true (say which, as in `{equals: 'TRUE'}`)",
    ),
    ("lettered", "ab", "lettered", "needs a list of strings"),
    ("lettered", ["a"] * 1001, "lettered", "needs at most 1000 items"),
    ("letter", "1000", "letter", "needs an index from 0 to 999"),
    ("letter", "\u0663", "letter", "needs an integer, or digits"),
)  # fmt: skip


test_an_invalid_argument_is_refused_before_any_record = forbids(
    ({"letter": {"base": 2}}, "base is 0 or 1"),
    ({"lettered": {"format": 5}}, "`format` is a string with {letter} and {item}"),
    ({"lettered": {"format": "{text}"}}, "`format` has no placeholders but {letter} and {item}"),
    ({"lettered": {"format": "{item|x}"}}, "`format` has no placeholders but {letter} and {item}"),
    ({"lettered": {"format": "{?item}{/}"}}, "`format` has no placeholders but {letter} and {item}"),
    ({"lettered": {"format": "{"}}, "`{` in a template names no column (write a literal brace twice)"),
    ({"lettered": {"separator": 1}}, "`separator` is a string"),
    ({"letter": {"bass": 1}}, "unknown option 'bass', known: base, bools"),
    ({"letters_where": {"equal": 1}}, "unknown comparison 'equal' (did you mean 'equals'?)"),
    ({"letter_in": 5}, "5 is not an expression (write a constant as {const: 5})"),
    ({"letter": {"base": True}}, "base is 0 or 1"),
    ({"letters_where": 1}, "takes comparisons: equals, not_equals, in, not_in, less, at_most, greater, at_least, regex, empty"),
)  # fmt: skip


def test_error_of_missing_labels_names_the_column() -> None:
    error = error_of({"letter_in": "lables"}, "a", {"labels": ["a"]})
    assert "no column 'lables' (did you mean 'labels'?)" in str(error)


def test_labels_must_be_a_list() -> None:
    error = error_of({"letter_in": "labels"}, "a", {"labels": "abc"})
    assert (error.message, error.value) == ("needs a list of labels", "abc")
