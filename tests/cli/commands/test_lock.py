"""`lock`: what is written, kept, dropped and left out, what is result, and how it ends."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from registry import DigestMismatchError, get_dataset
from registry.cli import main
from registry.cli.commands import lock as lock_verb
from registry.lockfile.models import Pin, read_lock
from registry.workflows.lock import lock_datasets
from tests.cli.invocation import QA, Invocation, Run, write
from tests.conftest import REPOSITORY, Https
from tests.git_repository import GitRepository

AWAY = "datasets:\n  away: {source: {type: json, path: 'https://127.0.0.1:1/x.jsonl'}}\n"
BROKEN = "datasets:\n  broken: {source: {type: csv, path: qa.csv}, fields: {input: none}}\n"
NOT_HERE = ": the old samples are not here to compare, so it says that results are not comparable"
GONE_FILE = "datasets:\n  gone-file: {source: {type: csv, path: none.csv}}\n"


@dataclass(frozen=True)
class Catalog:
    """A catalog in the current folder, and the command line."""

    folder: Path
    run: Run

    @property
    def path(self) -> Path:
        return self.folder / "datasets.lock"

    def write(self, name: str, text: str) -> None:
        write(self.folder, name, text)

    def lock(self, *arguments: str) -> Invocation:
        return self.run("lock", *arguments)

    @property
    def pins(self) -> dict[str, Pin]:
        lock = read_lock(self.path)
        assert lock is not None
        return dict(lock.pins)


@pytest.fixture
def own(own: Path, run: Run) -> Catalog:
    return Catalog(own, run)


# --- writing ---


def test_all_datasets_are_pinned_and_printed(own: Catalog) -> None:
    result = own.lock()
    assert (result.code, result.err) == (0, "")
    assert result.lines == [
        "qa: pinned, 3 samples",
        "qa-one: pinned, 1 sample",
        "datasets.lock: 2 of 2 datasets pinned",
    ]
    pins = own.pins
    assert pins["qa"].sources == pins["qa-one"].sources
    assert pins["qa"].columns == ("q", "a")
    assert (pins["qa"].samples, pins["qa-one"].samples) == (3, 1)


def test_second_run_writes_nothing_and_builds_nothing(
    own: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.lock()
    before = own.path.stat().st_mtime_ns, own.path.read_bytes()
    monkeypatch.setattr("registry.workflows.lock.load", None)
    assert own.lock() == Invocation(0, "datasets.lock: 2 of 2 datasets pinned\n", "")
    assert (own.path.stat().st_mtime_ns, own.path.read_bytes()) == before


def test_order_of_work_does_not_change_the_lockfile(
    own: Catalog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own.lock("--jobs", "1")
    first = own.path.read_bytes()
    own.path.unlink()
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / "another"))
    own.lock("qa-one")
    own.lock("qa", "--jobs", "4")
    assert own.path.read_bytes() == first


def test_only_changed_manifests_are_pinned_again(own: Catalog) -> None:
    own.lock()
    before = own.pins
    own.write("qa", QA.replace("limit: 1", "limit: 2"))
    assert own.lock().lines[0] == "qa-one: pinned again, 2 samples"
    assert own.pins["qa"] == before["qa"]
    assert own.pins["qa-one"].sources == before["qa-one"].sources
    assert own.pins["qa-one"].samples == 2


def test_names_do_not_change_the_other_pins(own: Catalog) -> None:
    own.lock()
    own.write("qa", QA.replace("target: a", "target: q"))
    before = own.pins
    assert own.lock("qa-one").lines == [
        "qa-one: pinned again, 1 sample",
        f"qa-one: version 1-A → 2-A{NOT_HERE} (if they are, `registry lock qa-one --version 1-B`)",
        "datasets.lock: 1 of 1 dataset pinned",
    ]
    assert own.pins["qa"] == before["qa"]


def test_removed_dataset_is_dropped(own: Catalog) -> None:
    own.lock()
    own.write("qa", QA.partition("  qa-one")[0])
    assert own.lock().lines[0] == "qa-one: dropped, it is in no manifest"
    assert list(own.pins) == ["qa"]


def test_manifest_that_a_sparse_checkout_leaves_out_drops_no_pin(own: Catalog) -> None:
    own.write("other", "datasets: {other: {extends: qa}}\n")
    own.lock()
    before = own.path.read_bytes()
    repository = GitRepository.of(own.folder)
    repository.commit()
    repository.git("sparse-checkout", "set", "--no-cone", "/*", "!/m/other.yaml")
    assert own.lock().err == "note: no pin is dropped, as m/other.yaml is not checked out\n"
    assert own.path.read_bytes() == before
    checked = own.lock("--check")
    assert "other: is pinned, and may be in m/other.yaml (check that out)" in checked.lines


def test_broken_manifest_drops_no_pin(own: Catalog) -> None:
    own.lock()
    before = own.path.read_bytes()
    own.write("qa", "datasets: [\n")
    result = own.lock()
    assert result.code == 1
    assert result.err.startswith("error: m/qa.yaml:2:1 $: not YAML")
    assert own.path.read_bytes() == before
    own.write("qa", "datasets: {one: {limitt: 1}, two: {extends: one}}\n")
    errors = [line for line in own.lock().errors if "limitt" in line]
    assert errors[0].startswith("error: 2 datasets: m/qa.yaml:1:18 $.datasets.one.limitt: unknown")
    assert len(errors) == 1


def test_unknown_name_is_an_error_and_writes_nothing(own: Catalog) -> None:
    for arguments in (["qb"], ["--upgrade", "qb"], ["--check", "qb"]):
        result = own.lock(*arguments)
        assert result.code == 1
        assert "no dataset 'qb'" in result.errors[0]
    assert not own.path.exists()


def test_json_has_the_result_of_each_dataset(own: Catalog) -> None:
    own.write("broken", BROKEN)
    result = own.lock("--json")
    assert result.code == 1
    by_name = {one["name"]: one for one in result.json["datasets"]}
    statuses = {name: one["status"] for name, one in by_name.items()}
    assert statuses == {"broken": "failed", "qa": "pinned", "qa-one": "pinned"}
    assert by_name["qa"]["samples"] == 3
    assert by_name["broken"]["error"]["type"] == "ManifestError"
    assert result.json["dropped"] == []


def test_interrupt_keeps_the_old_file(own: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    own.lock("qa")
    before = own.path.read_bytes()

    def interrupted(*arguments: Any, **options: Any) -> Iterator[Any]:
        yield from lock_datasets(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(lock_verb, "lock_datasets", interrupted)
    assert own.lock().code == 130
    assert own.path.read_bytes() == before
    assert [path.name for path in own.folder.glob(".*")] == []


# --- what can't be pinned ---


def test_unreachable_server_is_counted_and_no_failure(own: Catalog) -> None:
    own.write("away", AWAY)
    result = own.lock()
    assert (result.code, result.err) == (0, "")
    assert result.lines[-1] == (
        "datasets.lock: 2 of 3 datasets pinned, 1 unreachable and left without a pin (away)"
    )
    assert list(own.pins) == ["qa", "qa-one"]


def test_unreachable_server_is_a_failure_of_a_named_dataset(own: Catalog) -> None:
    own.write("away", AWAY)
    result = own.lock("away")
    assert result.code == 1
    (error,) = result.errors
    start = "error: away: https://127.0.0.1:1/x.jsonl: 127.0.0.1:1 refuses the connection (check "
    assert error.startswith(start)
    assert own.pins == {}


@pytest.fixture
def package(own: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Include the catalog of a package, which has a lockfile; return its folder."""
    package = tmp_path / "site" / "qa_lib"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "data" / "x.csv").write_text("input,target\nOne?,1\nTwo?,2\n", "utf-8")
    text = (
        "version: 1\ndatasets:\n  theirs: {source: {type: csv, path: data/x.csv}}\n"
        "  gone: {source: {type: csv, path: 'package:qa_gone/x.csv'}}\n"
    )
    (package / "datasets.yaml").write_text(text, "utf-8")
    assert main(["lock", "theirs", "--root", str(package)]) == 0
    monkeypatch.syspath_prepend(str(package.parent))
    index = own.folder / "datasets.yaml"
    text = index.read_text("utf-8")
    index.write_text(text.replace("include: [", "include: ['package:qa_lib', "), "utf-8")
    return package


def test_pins_of_an_included_package_are_those_of_its_lockfile(own: Catalog, package: Path) -> None:
    result = own.lock()
    assert (result.code, result.err) == (0, "")
    assert result.lines[-1] == "qa_lib: 2 datasets, pinned by the package's lockfile"
    assert list(own.pins) == ["qa", "qa-one"]
    found = get_dataset("theirs", root=own.folder, locked=True)
    assert (len(found), found.provenance.state) == (2, "verified")
    rows = {row["name"]: row for row in own.run("list", "--json").json}
    assert (rows["theirs"]["state"], rows["gone"]["state"]) == ("verified", "floating")
    assert own.lock("--check").code == 0
    (package / "data" / "x.csv").write_text("input,target\nOne?,1\nTwo?,3\n", "utf-8")
    with pytest.raises(DigestMismatchError, match=r"data/x\.csv: .*pins sha256:"):
        get_dataset("theirs", root=own.folder)
    assert own.lock("--check").code == 0, "its package's own check finds that"
    own.write("qa", "datasets: {}\n")
    own.lock()
    last = "datasets.lock: fresh (0 pins checked completely)"
    assert own.lock("--check").lines == [last], "of a catalog without any dataset of its own, too"


def test_a_dataset_of_a_package_that_is_pinned_by_name_stays_pinned_here(
    own: Catalog, package: Path
) -> None:
    assert own.lock("theirs").code == 0
    pin, shipped = own.pins["theirs"], read_lock(package / "datasets.lock")
    assert shipped is not None
    assert pin == shipped.pins["theirs"]
    assert own.lock().code == 0
    assert own.pins["theirs"] == pin
    (package / "datasets.lock").unlink()
    assert get_dataset("theirs", root=own.folder, locked=True).provenance.state == "verified"


def test_what_extends_a_dataset_that_overrides_that_of_a_package_is_pinned_here(
    own: Catalog, package: Path
) -> None:
    text = (package / "datasets.yaml").read_text("utf-8")
    (package / "datasets.yaml").write_text(f"{text}  kid: {{extends: theirs, limit: 1}}\n", "utf-8")
    assert main(["lock", "kid", "--root", str(package)]) == 0
    source = "source: {type: csv, path: qa.csv}, fields: {input: q, target: a}"
    own.write("mine", f"datasets:\n  theirs: {{override: true, {source}}}\n")
    assert get_dataset("kid", root=own.folder).provenance.state == "floating"
    result = own.lock()
    assert (result.code, result.err) == (0, "")
    assert list(own.pins) == ["kid", "qa", "qa-one", "theirs"]
    assert own.pins["kid"].sources == own.pins["qa"].sources, "portable"
    assert get_dataset("kid", root=own.folder, locked=True).provenance.state == "verified"
    assert own.lock("--check").code == 0
    shown = own.run("show", "theirs")
    assert shown.lines[-4:-2] == [
        f"# overrides that of package qa_lib: {package}/datasets.yaml:3",
        "# extended by kid",
    ]
    data = own.run("show", "theirs", "--json").json
    place = {"package": "qa_lib", "file": f"{package}/datasets.yaml", "line": 3}
    assert (data["overrides"], data["extended_by"]) == ([place], ["kid"])
    (row,) = (one for one in own.run("list", "--json").json if one["overrides"])
    assert (row["name"], row["overrides"]) == ("theirs", ["qa_lib"])
    assert "(overrides that of package qa_lib)" in own.run("list", "theirs").lines[1]


def test_a_package_that_is_not_installed_is_an_error_where_it_is_asked_for(
    own: Catalog, package: Path
) -> None:
    assert own.lock().code == 0
    assert own.lock("gone").code == 1
    # Without the package, one's own dataset would not be pinned for anybody.
    own.write("mine", "datasets: {mine: {extends: gone}}\n")
    result = own.lock()
    assert result.code == 1
    message = "package:qa_gone/x.csv: the package qa_gone is not installed (`pip install qa-gone`)"
    assert result.errors[0] == f"error: mine: {message}"


def test_stale_pin_that_can_t_be_renewed_is_a_failure(own: Catalog, https: Https) -> None:
    url = https.put("/x.jsonl", b'{"input": "q", "target": "a"}\n')
    own.write("away", AWAY.replace("https://127.0.0.1:1/x.jsonl", url))
    assert own.lock().code == 0
    pin = own.pins["away"]
    own.write("away", AWAY)
    result = own.lock()
    assert result.code == 1
    assert result.errors[0].endswith("uses what is cached) (its old pin is kept)")
    assert own.pins["away"] == pin


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("broken", BROKEN, "$.datasets.broken.fields.input: no column"),
        ("gone-file", GONE_FILE, "none.csv: no such file"),
        ("bad", "datasets:\n  bad: {source: {type: csv}}\n", "the key 'path' is missing"),
    ],
)
def test_failed_dataset_does_not_stop_the_others(
    own: Catalog, name: str, text: str, problem: str
) -> None:
    own.write(name, text)
    result = own.lock()
    assert result.code == 1
    assert problem in result.errors[0]
    assert list(own.pins) == ["qa", "qa-one"]


def test_offline_makes_no_request(own: Catalog, https: Https) -> None:
    url = https.put("/x.jsonl", b'{"input": "q", "target": "a"}\n')
    own.write("away", AWAY.replace("https://127.0.0.1:1/x.jsonl", url))
    assert own.lock("--offline").code == 0
    assert https.requests == []
    assert "away" not in own.pins


# --- merges ---


def test_merge_conflict_is_resolved_to_the_side_that_fits_the_manifest(own: Catalog) -> None:
    own.lock()
    ours = own.path.read_text(encoding="utf-8")
    own.write("qa", QA.replace("limit: 1", "limit: 2"))
    own.lock()
    theirs = own.path.read_text(encoding="utf-8")
    conflict = "".join(
        f"<<<<<<< ours\n{a}\n=======\n{b}\n>>>>>>> theirs\n" if a != b else f"{a}\n"
        for a, b in zip(ours.splitlines(), theirs.splitlines(), strict=True)
    )
    own.path.write_text(conflict, encoding="utf-8")
    for arguments in (["sync"], ["lock", "--check"], ["show", "qa"]):
        result = own.run(*arguments)
        assert result.code == 1
        assert "unresolved merge conflict" in result.errors[0]
    note = "qa-one: merge conflict: took the pin of theirs, which fits the manifest"
    last = "datasets.lock: 2 of 2 datasets pinned"
    assert own.lock() == Invocation(0, f"{note}\n{last}\n", "")
    assert own.path.read_text(encoding="utf-8") == theirs


def test_sides_of_a_merge_exist_and_may_be_one_file(own: Catalog) -> None:
    own.lock()
    before = own.path.read_bytes()
    assert own.lock("--merge", *["datasets.lock"] * 3) == Invocation(0, "", "")
    missing = own.lock("--merge", "datasets.lock", "datasets.lock", "none")
    assert (missing.code, "File 'none' does not exist." in missing.err) == (2, True)
    assert own.path.read_bytes() == before, "it would have been a side that drops all pins"


def test_invalid_lockfile_is_not_overwritten(own: Catalog) -> None:
    own.path.write_text("version: 3\n", encoding="utf-8")
    result = own.lock()
    assert result.code == 1
    place = "error: datasets.lock:1:1 $.version"
    newer = "written by a newer release: upgrade eval-registry"
    assert result.errors == [
        f"{place}: must be 1, is 3 ({newer})",
        f"error: The lockfile was {newer}",
    ]
    assert own.path.read_text(encoding="utf-8") == "version: 3\n"


# --- versions ---


def test_pin_of_an_older_release_gets_the_first_version(own: Catalog) -> None:
    own.lock()
    written = own.path.read_text(encoding="utf-8")
    own.path.write_text(written.replace('    version: "1-A"\n', ""), encoding="utf-8")
    assert own.pins["qa"].version is None
    assert own.lock() == Invocation(0, "datasets.lock: 2 of 2 datasets pinned\n", "")
    assert own.path.read_text(encoding="utf-8") == written


def test_renamed_dataset_keeps_its_version(own: Catalog) -> None:
    own.lock()
    own.lock("qa-one", "--version", "3-B")
    own.write("qa", QA.replace("qa-one", "qa-first"))
    assert own.lock().code == 0
    assert {name: pin.version for name, pin in own.pins.items()} == {"qa": "1-A", "qa-first": "3-B"}


def test_version_that_is_too_low_is_refused(own: Catalog) -> None:
    own.lock()
    (own.folder / "qa.csv").write_text("q,a\nOne?,1\n", encoding="utf-8")
    result = own.lock("qa", "--upgrade", "--version", "1-B")
    assert result.code == 1
    (message,) = result.errors
    assert message.startswith("error: qa: its data changed, so its version can't be 1-B (2-A is")
    assert own.lock("qa", "--upgrade", "--version", "4-A").code == 0
    assert own.pins["qa"].version == "4-A"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--version 1-B", "--version needs the NAME of one dataset, and no --check"),
        ("qa qa-one --version 1-B", "--version needs the NAME of one dataset"),
        ("qa --check --version 1-B", "--version needs the NAME of one dataset"),
        ("both --version 1-B", "--version needs the NAME of one dataset"),
        ("--check --upgrade=qa", "--check and --upgrade exclude each other"),
        ("qa --version 1.0", "'1.0' is not a version (write a number and a letter"),
        *(
            (f"{more} --merge {' '.join(['qa.csv'] * 3)}", "--merge takes no other arguments")
            for more in ("qa", "--upgrade=qa", "--check", "--version 2-A")
        ),
    ],
)
def test_version_and_merge_take_what_they_say(own: Catalog, arguments: str, message: str) -> None:
    own.write("both", "groups: {both: {datasets: [qa, qa-one]}}\n")
    result = own.lock(*arguments.split())
    assert (result.code, message in result.err) == (2, True)


# --- check ---


def test_fresh_lock_passes_the_check_without_a_request(
    own: Catalog, https: Https, cache_dir: Path
) -> None:
    url = https.put("/x.jsonl", b'{"input": "q", "target": "a"}\n')
    own.write("there", AWAY.replace("https://127.0.0.1:1/x.jsonl", url).replace("away", "there"))
    own.write("away", AWAY)
    own.lock()
    https.requests.clear()
    message = "datasets.lock: fresh (3 pins checked completely)\n"
    assert own.lock("--check") == Invocation(0, message, "")
    assert https.requests == []
    shutil.rmtree(cache_dir)
    pins = {one["name"]: one for one in own.lock("--check", "--json").json["pins"]}
    reason = {"reason": "source bytes not in the cache"}
    assert pins["there"]["unchecked"][0] == {"field": "sources[0].size", **reason}


def test_check_reports_stale_pins_and_writes_nothing(own: Catalog) -> None:
    own.lock()
    before = own.path.read_bytes()
    text = QA.replace("limit: 1", "limit: 2").replace("  qa:", "  new:")
    own.write("qa", text.replace("extends: qa", "extends: new"))
    result = own.lock("--check")
    assert result.code == 1
    assert result.lines == [
        "new: is not pinned (`registry lock new` pins it)",
        "qa: is pinned but in no manifest (`registry lock` drops it)",
        (
            "qa-one: is pinned for an older manifest: its sources are those pinned, but its"
            " mapping, transforms or view changed (`registry lock qa-one` updates the pin)"
        ),
        "datasets.lock: 3 differences (0 pins checked completely)",
    ]
    found = own.lock("--check", "--json").json
    assert [one["name"] for one in found["differences"]] == ["new", "qa", "qa-one"]
    assert found["pins"] == []
    last = own.lock("--check", "new").lines[-1]
    assert last == "datasets.lock: 1 difference (0 pins checked completely)"
    assert own.path.read_bytes() == before


def test_check_compares_local_files(own: Catalog) -> None:
    own.lock()
    (own.folder / "qa.csv").write_text("q,a\nFour?,4\n", encoding="utf-8")
    result = own.lock("--check", "qa")
    assert result.code == 1
    assert result.lines[0] == (
        "qa: qa.csv differs from its pin (`registry lock --upgrade qa` pins what is there now)"
    )


def test_check_notices_manual_edits(own: Catalog) -> None:
    own.lock()
    own.path.write_text(own.path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    result = own.lock("--check")
    assert result.code == 1
    assert result.lines[0].startswith("datasets.lock: is not formatted as `lock` writes it")
    assert own.lock().code == 0
    assert own.lock("--check").code == 0


def test_check_without_a_lockfile_says_how_to_write_one(own: Catalog) -> None:
    message = "datasets.lock: there is no lockfile (`registry lock` writes one)"
    assert own.lock("--check") == Invocation(1, f"{message}\n", "")
    (difference,) = own.lock("--check", "--json").json["differences"]
    assert difference["message"] == "there is no lockfile"
    assert not own.path.exists()


# --- the other verbs ---


def test_sync_refuses_bytes_that_differ_from_the_lock(own: Catalog) -> None:
    own.lock()
    (own.folder / "qa.csv").write_text("q,a\nFour?,4\n", encoding="utf-8")
    result = own.run("sync")
    errors = [line for line in result.errors if line.startswith("error: ")]
    assert (result.code, len(errors)) == (1, 2)
    assert all("datasets.lock pins sha256:" in line for line in errors)


# --- the built-in catalog ---


def test_shipped_lock_is_fresh(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(REPOSITORY)
    code = main(["lock", "--check"])
    assert code == 0, capsys.readouterr().out
    lock = read_lock(REPOSITORY / "datasets.lock")
    assert lock is not None
    assert {"demo-chat", "demo-mcq", "demo-mcq-small"} <= set(lock.pins)
    for name in ("demo-chat", "demo-mcq", "demo-mcq-small"):
        assert len(get_dataset(name, locked=True)) == lock.pins[name].samples
