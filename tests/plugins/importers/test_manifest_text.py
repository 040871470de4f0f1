"""The text of an imported manifest: valid YAML, one line per field, what is missing as comments."""

from __future__ import annotations

from registry.plugins.importers.manifest_text import imported_text, left_out_lines
from registry.plugins.importers.models import ImportedDataset, LeftOut
from registry.yamldoc.reader import parse_yaml

KEYS = {
    "tags": ["a"],
    "source": {"type": "hf", "path": "a/b", "split": "no"},
    "fields": {"input": {"template": "a:\n{b}\u2028\n"}, "choices": None},
}
LEFT_OUT = (
    LeftOut("code", "bad\nline", line=3),
    LeftOut("metrics", "scores", "evaluation"),
    LeftOut("shots", "examples", "evaluation"),
)


def test_the_text_is_read_back_unchanged() -> None:
    text = imported_text([ImportedDataset("d", KEYS, LEFT_OUT)], schema="s.json")
    assert parse_yaml(text, file="x").value == {"datasets": {"d": KEYS}}
    assert text.splitlines()[:3] == [
        "# yaml-language-server: $schema=s.json",
        "datasets:",
        "  # left out: code: bad line (line 3)",
    ]
    assert '      input: {template: "a:\\n{b}\\L\\n"}' in text


def test_what_only_scoring_needs_is_one_line() -> None:
    assert list(left_out_lines(LEFT_OUT)) == [
        "code: bad\nline (line 3)",
        "how it is run and scored: metrics, shots",
    ]
