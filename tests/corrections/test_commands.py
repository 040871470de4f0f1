"""Corrections through the command line: validate, lock, diff, compare and preview."""

from __future__ import annotations

import pytest

from registry import DigestMismatchError, LockError, get_dataset
from tests.cli.invocation import Run
from tests.corrections.conftest import Write
from tests.git_repository import git

GOOD = "corrections:\n  - {id: 1, field: target, was: A, now: B, reason: r1, source: s1}\n"
MORE = GOOD + "  - {id: 3, drop: true, reason: r3}\n"


def test_validate_checks_the_file_beside_the_manifests(write: Write, run: Run) -> None:
    root = write(GOOD.replace("reason", "reson"))
    result = run("validate", "--root", str(root))
    assert result.code == 1
    assert "q.yaml:2:44 $.corrections[0].reson: unknown key 'reson' (did you mean" in result.out
    write(GOOD)
    assert run("validate", "--root", str(root)).code == 0
    # The stored result of a whole catalog depends on the file too.
    write(GOOD.replace("now: B", "now: A"))
    assert "[bad-correction]" in run("validate", "--root", str(root)).out


def test_validate_takes_a_corrections_file_by_its_name(write: Write, run: Run) -> None:
    root = write(GOOD)
    stray = root / "errata" / "other.yaml"
    stray.write_text(GOOD.replace("now: B", "now: 3"), encoding="utf-8")
    result = run("validate", str(root / "errata"), "--root", str(root))
    assert "other.yaml:2:36 $.corrections[0].now: must be a string or a list, is 3" in result.out
    assert result.out.count("other.yaml") == 1
    stray.write_text(GOOD, encoding="utf-8")
    assert run("validate", str(root / "errata"), "--root", str(root)).code == 0


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone.yaml", "no file 'gone.yaml'"),
        ("../q.yaml", "is outside"),
        ("https://example.org/q.yaml", "is no local file (keep the corrections beside"),
    ],
)
def test_corrections_are_a_file_below_the_index(
    write: Write, run: Run, path: str, message: str
) -> None:
    root = write(GOOD)
    index = root / "datasets.yaml"
    index.write_text(index.read_text(encoding="utf-8").replace("errata/q.yaml", path), "utf-8")
    result = run("validate", "--root", str(root))
    assert (result.code, "$.datasets.q.corrections" in result.out) == (1, True)
    assert message in result.out


def test_original_and_corrected_samples_are_pinned(write: Write, run: Run) -> None:
    root = write(MORE)
    assert run("lock", "--root", str(root)).code == 0
    text = (root / "datasets.lock").read_text(encoding="utf-8")
    assert "location: errata/q.yaml" in text
    assert "samples: 2\n" in text
    assert "    original:\n      samples: 3\n" in text
    assert run("lock", "--check", "--root", str(root)).code == 0
    corrected, original = (
        get_dataset("q", root=root, locked=True, corrections=given) for given in (True, False)
    )
    assert (len(corrected), len(original)) == (2, 3)
    assert (corrected.provenance.version, original.provenance.version) == ("1-A", None)
    assert {corrected.provenance.state, original.provenance.state} == {"verified"}


@pytest.mark.parametrize("key", ["ordered", "unordered"])
def test_a_wrong_pin_of_the_original_is_found(write: Write, run: Run, key: str) -> None:
    root = write(MORE)
    run("lock", "--root", str(root))
    lock = root / "datasets.lock"
    start, mark, digest = lock.read_text(encoding="utf-8").rpartition(f" {key}: sha256:")
    flipped = ("1" if digest[0] == "0" else "0") + digest[1:]
    lock.write_text(start + mark + flipped, encoding="utf-8")
    result = run("lock", "--check", "--root", str(root))
    assert result.code == 1
    assert f"original.{key} is" in result.out + result.err
    assert len(get_dataset("q", root=root, locked=True)) == 2
    if key == "ordered":  # as for the corrected samples, the order is compared
        with pytest.raises(LockError, match="its samples differ"):
            get_dataset("q", root=root, corrections=False, locked=True)


def test_an_edit_of_the_corrections_is_another_digest_than_the_pin(write: Write, run: Run) -> None:
    root = write(GOOD)
    run("lock", "--root", str(root))
    write(MORE)
    with pytest.raises(DigestMismatchError, match=r"errata/q\.yaml: datasets\.lock pins"):
        get_dataset("q", root=root)
    assert run("lock", "--upgrade", "q", "--root", str(root)).code == 0
    assert get_dataset("q", root=root).provenance.version == "2-A"


def test_diff_shows_corrections_as_a_class_with_their_reasons(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(GOOD)
    monkeypatch.chdir(root)
    git(root, "init", "-q")
    run("lock")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    write(MORE)
    run("lock", "--upgrade", "q")
    result = run("diff", "HEAD", "--build")
    assert result.code == 1
    assert result.out.startswith("q: ")
    assert "correction + id 3: left out: r3" in result.out
    assert "id 1" not in result.out
    for form in ("markdown", "html"):
        assert "id 3: left out: r3" in run("diff", "HEAD", "--build", "--format", form).out
    (change,) = run("diff", "HEAD", "--build", "--format", "json").json["changes"]
    assert change["kinds"] == ["corrections"]
    assert [one["reason"] for one in change["samples"]["corrections"]] == ["r3"]
    assert run("diff", "HEAD", "--build", "--fail-on", "corrections").code == 1


def test_compare_shows_the_original_against_the_corrected_samples(write: Write, run: Run) -> None:
    root = write(MORE)
    result = run("compare", "q", "--corrections", "--root", str(root))
    assert result.code == 1
    assert "q (original) → q (corrected)" in result.out
    assert 'correction + id 1: target "A" → "B": r1 (s1)' in result.out
    assert "correction + id 3: left out: r3" in result.out
    assert run("compare", "q", "--root", str(root)).code == 2
    assert run("compare", "q", "q", "--corrections", "--root", str(root)).code == 2
    result = run("compare", "q", "--corrections", "--root", str(write()))
    assert (result.code, "q has no corrections" in result.err) == (4, True)


def test_show_names_the_file(write: Write, run: Run) -> None:
    result = run("show", "q", "--root", str(write(GOOD)))
    assert "errata/q.yaml" in result.out
