"""`bundle` and `unbundle`: what is printed, and how they end."""

from __future__ import annotations

from pathlib import Path

from tests.cli.invocation import Run


def test_a_bundle_is_written_and_described(run: Run, own: Path, tmp_path: Path) -> None:
    assert run("lock").code == 0
    file = tmp_path / "out.tar.zst"
    result = run("bundle", "qa", "-o", str(file))
    assert result.code == 0, result.err
    assert result.lines[0].split() == ["dataset", "samples", "fingerprint"]
    assert result.lines[1].startswith("qa ")
    data = run("bundle", "qa", "-o", str(file), "--json").json
    assert result.lines[-1] == f"sha256: {data['sha256']}"
    assert (data["bytes"], data["needs"]) == (file.stat().st_size, [])


def test_an_unlocked_dataset_is_an_error_and_leaves_no_file(
    run: Run, own: Path, tmp_path: Path
) -> None:
    result = run("bundle", "qa", "-o", str(tmp_path / "out.tar.zst"))
    assert result.code == 1
    assert "qa: datasets.lock does not pin it (`registry lock qa` does)" in result.err
    assert not (tmp_path / "out.tar.zst").exists()


def test_help_has_examples(run: Run) -> None:
    assert "registry bundle demo-mcq -o demo.tar.zst" in run("bundle", "--help").out
    assert "registry unbundle demo.tar.zst --root datasets" in run("unbundle", "--help").out
