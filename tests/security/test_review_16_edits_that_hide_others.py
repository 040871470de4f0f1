"""Row 16: edits at both ends of a long text hide none between them."""

from __future__ import annotations

from pathlib import Path

from tests.security.pull_request import PullRequest

FILES = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\n",
    "m/d.yaml": "datasets:\n  demo:\n    source: {type: csv, path: d.csv}\n",
}
MIDDLE = " ".join(f"word{n}" for n in range(1_000))


def test_word_removed_between_two_edits_is_shown(tmp_path: Path) -> None:
    record = "id,input,target\n1,{} " + MIDDLE + " do {}answer " + MIDDLE + " {},yes\n"
    change = PullRequest.make(
        tmp_path,
        {**FILES, "d.csv": record.format("first", "CANARY ", "last")},
        {"d.csv": record.format("First", "", "Last")},
    )
    for form in ("text", "markdown", "html", "json"):
        shown = change.run("diff", "main", "--build", "--offline", "--format", form)
        assert "CANARY" in shown.out, form
