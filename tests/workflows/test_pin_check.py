"""What the check of a pin finds, and how it is summarized."""

from __future__ import annotations

from registry.errors import SourceError
from registry.workflows.pin_check import Difference, PinCheck, Reason, summary_of


def checked(name: str, *reasons: Reason) -> PinCheck:
    check = PinCheck(name, is_checked=True)
    for reason in reasons:
        check.skip(reason, "samples", "ordered")
    return check


def test_equal_fields_are_no_difference() -> None:
    check = PinCheck("qa")
    check.compare("samples", 3, 3)
    assert check.differences == []
    check.compare("samples", 7, 3)
    hint = "`registry lock --upgrade qa` pins what is there now"
    assert check.differences == [Difference("qa", "samples is 7 in its pin, but 3", hint)]
    assert str(check.differences[0]) == f"qa: samples is 7 in its pin, but 3 ({hint})"


def test_values_of_a_difference_are_shortened_and_escaped() -> None:
    check = PinCheck("qa")
    check.compare("columns", ["\x1b[31m" + "x" * 1000], [])
    assert "\x1b" not in check.differences[0].message
    assert len(check.differences[0].message) < 200


def test_summary_counts_pins_by_reason() -> None:
    checks = [
        checked("a"),
        checked("b", Reason.BYTES, Reason.SAMPLES),
        checked("c", Reason.SAMPLES),
        PinCheck("not-pinned"),
    ]
    assert summary_of(checks) == (
        "1 pin checked completely, 2 in part: source bytes not in the cache (1), samples not in"
        " the cache (2)"
    )
    assert summary_of([checked("a"), checked("b")]) == "2 pins checked completely"


def test_check_is_json_data() -> None:
    data = checked("a", Reason.MAPPER).to_dict()
    assert data["unchecked"] == [
        {"field": "samples", "reason": Reason.MAPPER},
        {"field": "ordered", "reason": Reason.MAPPER},
    ]


def test_an_error_has_one_hint() -> None:
    check = PinCheck("qa")
    check.fails(SourceError("qa: a.csv: no such file"), "restore it")
    check.fails(SourceError("a.csv: outside (allow it)"), "restore it")
    assert [str(one) for one in check.differences] == [
        "qa: a.csv: no such file (restore it)",
        "qa: a.csv: outside (allow it)",
    ]
