"""Operations on strings: results and errors."""

from __future__ import annotations

from tests.mapping.operations.one_step import forbids, refuses, returns

test_an_operation_returns = returns(
    ({"split": ","}, "", [""]),
    ({"split": ","}, "a,,b", ["a", "", "b"]),
    ({"split": "."}, 1.5, ["1", "5"]),
    ("lines", "a\r\nb\n", ["a", "b"]),
    ({"strip": "()"}, "((a))", "a"),
    ("upper", "straße", "STRASSE"),
    ("capitalize", "ǆ IN", "ǅ in"),
    ("capitalize", "", ""),
    ({"replace": {"a": "b", "b": "c"}}, "ab", "cc"),
    ({"regex": "a(b)|c(d)"}, "xcd", "d"),
    ({"regex": "b+"}, "abbb", "bbb"),
    ({"regex": {"pattern": "[0-9]", "all": True}}, "a1b2", ["1", "2"]),
    ({"regex": {"pattern": "x", "all": True}}, "a", []),
    ({"regex": {"pattern": "x", "optional": True}}, "a", None),
    ({"sub": {"pattern": "[aeiou]"}}, "vowel", "vwl"),
    ({"sub": {"pattern": "(a)(b)", "to": r"\2\1"}}, "abc", "bac"),
    ({"replace": {"a": ""}}, "banana", "bnn"),
    ({"regex": {"pattern": "(a)|b", "all": True}}, "ab", ["a", "b"]),
    ("lines", "", []),
    ("lower", 1.5, "1.5"),
)  # fmt: skip


test_a_value_of_the_wrong_type_is_refused = refuses(
    ({"split": ","}, None, "split(,)", "needs a string"),
    ("lines", [], "lines", "needs a string"),
    ("strip", True, "strip", "needs a string"),
    ("lower", {}, "lower", "needs a string"),
    ("capitalize", None, "capitalize", "needs a string"),
    ({"regex": "a"}, "b", "regex(a)", "the pattern 'a' matches nowhere"),
    ({"regex": {"pattern": "a", "all": True}}, None, "regex({'pattern': 'a', 'all': True})", "needs a string"),
    ({"sub": {"pattern": "a", "to": r"\2"}}, "a", r"sub({'pattern': 'a', 'to': '\\2'})", r"can't substitute '\\2': invalid group reference 2 at position 1"),
)  # fmt: skip


test_an_invalid_argument_is_refused_before_any_record = forbids(
    ("split", "takes the separator, a string that is not empty"),
    ({"split": ""}, "takes the separator, a string that is not empty"),
    ({"lower": 1}, "takes no argument, got 1"),
    ({"regex": "("}, "not a regular expression: missing ), unterminated subpattern at position 0"),
    ({"regex": {"patern": "a"}}, "unknown option 'patern', known: pattern, all, optional"),
    ({"sub": "a"}, "takes a mapping of pattern, to, got 'a'"),
    ({"replace": {"": "a"}}, "takes a mapping from a string to its replacement"),
    ({"strip": 5}, "takes the characters to strip, a string"),
    ({"replace": {}}, "takes a mapping from a string to its replacement"),
    ({"replace": {"a": 1}}, "takes a mapping from a string to its replacement"),
    ({"regex": {"pattern": 5}}, "takes a pattern, a string"),
    ({"sub": {"pattern": "a", "to": 5}}, "`to` is a string"),
)  # fmt: skip
