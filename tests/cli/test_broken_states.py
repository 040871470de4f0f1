"""Every command in every broken state of a catalog or a machine: an answer, and never a bug.

A sweep: a state breaks one thing, and each command then runs on the dataset `bad`, on `good`, and on
the catalog, as it runs on a healthy one. What is wrong is said as `validate` says it.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.command_line import Ran, run_apart
from tests.git_repository import HERMETIC, GitRepository

MANIFEST = """\
datasets:
  bad:
    description: Questions.
    license: mit
    source: {type: csv, path: data/bad.csv}
    fields: {id: n, input: q, target: a}
"""
FILES = {
    "datasets.yaml": "version: 1\ninclude: [m/*.yaml]\n",
    "m/bad.yaml": MANIFEST,
    "m/good.yaml": MANIFEST.replace("bad", "good"),
    "data/bad.csv": "n,q,a\n1,Three?,3\n",
    "data/good.csv": "n,q,a\n1,One?,1\n2,Two?,2\n",
    "copy.jsonl": '{"n": "1", "q": "One?", "a": "4"}\n',
}
DESCRIBING = (
    "show NAME",
    "show NAME --origin",
    "preview NAME --from data/good.csv",
    "log NAME",
    "mirror NAME --out out/mirror",
)
OPENING = (
    "preview NAME",
    "preview NAME --raw",
    "describe NAME",
    "export NAME --out out/NAME.jsonl --force",
    "correct NAME copy.jsonl",
    "compare NAME NAME",
    "blame NAME 1",
    "verify NAME",
    "sync NAME",
    "bundle NAME -o out/NAME.zst",
    "lock --check NAME",
)
"""Commands that need the samples of a dataset."""
LISTING = (
    "validate",
    "list",
    "list --json",
    "stats",
    "licenses",
    "site --out out/site --force",
    "diff HEAD",
)
BUILDING = ("lock --check", "verify", "sync", "bundle -o out/all.zst", "lock")
OTHERS = (
    "cache list",
    "doctor --offline",
    "receipt log",
    "add new --file data/good.csv --dry-run",
    "init out/new",
    "schema manifest",
    "completion bash",
    "import m/good.yaml",
    "unbundle none.zst --root out/there",
    "plugin",
)
NAMED = {
    name: [one.replace("NAME", name) for one in (*DESCRIBING, *OPENING)] for name in ("bad", "good")
}
LOCKS = {name: f"lock {name}" for name in NAMED}
COMMANDS = (
    *(command for commands in NAMED.values() for command in commands),
    *(*LISTING, *OTHERS, *LOCKS.values(), *BUILDING),  # those that change the lockfile are the last
)
# What answers to one broken manifest, data file, index or lockfile answers to others of its kind.
FEW = ("show bad", "preview bad", "preview good", "log bad", "validate", "list", "sync", "lock")
SAMPLES = tuple(
    one for name in NAMED for one in NAMED[name] if one.startswith(("describe", "export", "bundle"))
)
"""Commands that write to the cache."""
PRINTING = (*NAMED["bad"][:3], *NAMED["good"][:3], *LISTING, *OTHERS[5:7])
WITHOUT_RIGHTS = (
    "import ctypes\n"
    "ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())"
)
"""Root may read and write everything until it gives up its capabilities."""
WITHOUT_HOME = """\
import os, pwd
def getpwuid(uid): raise KeyError(uid)
os.environ.pop("HOME", None), os.environ.pop("REGISTRY_CACHE_DIR", None)
pwd.getpwuid = getpwuid
"""
BROKEN_PIPE = "import os; r, w = os.pipe(); os.dup2(w, 1); os.close(r); os.close(w)"
FULL = "import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1)"
ASCII = "import sys; sys.stdout.reconfigure(encoding='ascii', errors='strict')"


@dataclass(frozen=True)
class State:
    """One thing that is broken, and what the commands say of it."""

    breaks: Callable[[Path], object] = lambda _: None
    says: str = ""
    """What the commands that it affects say."""
    affected: tuple[str, ...] = ()
    unaffected: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    before: str = ""
    folder: str = "catalog"
    commands: tuple[str, ...] = COMMANDS


def text(name: str, content: str | bytes) -> Callable[[Path], object]:
    data = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / name).write_bytes(data)


def edited(name: str, old: str, new: str) -> Callable[[Path], object]:
    def edit(folder: Path) -> None:
        before = (folder / name).read_text()
        assert old in before
        (folder / name).write_text(before.replace(old, new, 1))

    return edit


def replaced(name: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    def replace(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return replace


def half(name: str) -> Callable[[Path], object]:
    return lambda folder: text(name, (folder / name).read_text()[:-60])(folder)


def manifest(breaks: Callable[[Path], object], says: str, *, before: str = "") -> State:
    """Return a state of a manifest: its dataset can't be used, and all others can."""
    affected = (*NAMED["bad"], LOCKS["bad"], *LISTING, *BUILDING)
    return State(
        breaks,
        f"m/bad.yaml:{says}",
        affected,
        (*NAMED["good"], LOCKS["good"], *OTHERS),
        before=before,
    )


def data(breaks: Callable[[Path], object], says: str, *, before: str = "") -> State:
    """Return a state of a data file: its dataset has no samples."""
    opening = tuple(one.replace("NAME", "bad") for one in OPENING)
    unaffected = (*NAMED["good"], LOCKS["good"], *OTHERS, "list", "licenses", "show bad", "log bad")
    return State(breaks, f"data/bad.csv{says}", (*opening, *BUILDING), unaffected, before=before)


def index(breaks: Callable[[Path], object], says: str, *, before: str = "") -> State:
    """Return a state of the index: nothing can be used."""
    affected = (*(one for both in NAMED.values() for one in both), *LISTING, *BUILDING)
    return State(breaks, f"datasets.yaml{says}", affected, OTHERS[4:], before=before)


def lock(breaks: Callable[[Path], object], says: str, *, before: str = "") -> State:
    """Return a state of the lockfile: nothing that it pins can be used."""
    affected = (
        *(one.replace("NAME", name) for name in NAMED for one in (DESCRIBING[0], *OPENING)),
        *("list", "stats", "validate", "site --out out/site --force", "diff HEAD"),
        *BUILDING[:-1],
    )
    return State(breaks, f"datasets.lock{says}", affected, OTHERS[3:], before=before)


def plugin(folder: Path) -> None:
    """Install a package whose code raises an error."""
    site = folder.with_name("site")
    (site / "odd-1.dist-info").mkdir(parents=True)
    (site / "odd.py").write_text("raise ValueError('odd')")
    (site / "odd-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: odd\nVersion: 1\n"
    )
    groups = ("commands", "exporters", "importers", "sources")
    points = "".join(f"[eval_registry.{group}]\nplugin = odd:plugin\n" for group in groups)
    (site / "odd-1.dist-info" / "entry_points.txt").write_text(points)


def link(path: Path) -> None:
    path.symlink_to("gone")


def closed(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).chmod(0)


# Name of a manifest's state → how it breaks, and what is said.
MANIFESTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a key too deep": (edited("m/bad.yaml", "    lic", "      lic"), "4:14 $.datasets.bad: not YAML"),
    "half-written": (half("m/bad.yaml"), "5:26 $.datasets.bad: not YAML"),
    "an open bracket": (text("m/bad.yaml", "datasets: {bad: ["), "2:1 $: not YAML"),
    "a name only": (text("m/bad.yaml", "datasets:\n  bad:\n"), "2:3 $.datasets.bad: must be a mapping"),
    "an empty file": (text("m/bad.yaml", ""), "1:1 $: must be a mapping"),
    "a cycle of parents": (edited("m/bad.yaml", "license: mit", "extends: bad"), "4:5 $.datasets.bad.extends: `extends` forms a cycle"),
    "an open string": (text("m/bad.yaml", 'datasets:\n  bad: {license: "m'), "2:20 $.datasets.bad: not YAML"),
    "a key only": (text("m/bad.yaml", "datasets:\n  bad:\n    source:\n"), "3:5 $.datasets.bad.source: must be a mapping"),
    "no dataset": (text("m/bad.yaml", "datasets:\n"), "1:1 $.datasets: must be a mapping"),
    "a wrong type": (edited("m/bad.yaml", "license: mit", "limit: few"), "4:5 $.datasets.bad.limit: must be an integer"),
    "a repeated key": (edited("m/bad.yaml", "license", "description"), "4:5 $.datasets.bad.description: the key 'description' is repeated"),
    "a tab": (edited("m/bad.yaml", "    lic", "\tlic"), "4:1 $.datasets.bad: not YAML"),
    "a NUL": (edited("m/bad.yaml", "mit", "m\0t"), "4:15 $.datasets.bad: not YAML text"),
    "UTF-16": (text("m/bad.yaml", MANIFEST.encode("utf-16")), "1:1 $: byte 0xff is not UTF-8"),
    "Latin-1": (text("m/bad.yaml", "# für\n".encode("latin-1")), "1:4 $: byte 0xfc is not UTF-8"),
    "marks of a merge": (edited("m/bad.yaml", "    lic", "<<<<<<< HEAD\n    lic"), "4:1 $.datasets.bad: not YAML: a conflict marker of a merge"),
    "a dangling manifest": (replaced("m/bad.yaml", link), "1:1 $: can't read the file: No such file"),
}  # fmt: skip
STATES = {
    **{name: manifest(*one) for name, one in MANIFESTS.items()},
    "a broken file": manifest(text("m/bad.yaml", "datasets: {bad: [1"), "2:1 $: not YAML"),
    "a broken dataset": manifest(
        text("m/bad.yaml", 'datasets:\n  bad: {tags: "m'), "2:17 $.datasets.bad: not YAML"
    ),
    "a missing parent": manifest(
        edited("m/bad.yaml", "license: mit", "extends: gone"),
        "4:5 $.datasets.bad.extends: no dataset 'gone'",
    ),
    "an unknown key": manifest(
        edited("m/bad.yaml", "license", "licens"), "4:5 $.datasets.bad.licens: unknown key"
    ),
    "a manifest without rights": manifest(
        closed("m/bad.yaml"), "1:1 $: can't read the file: Permission denied", before=WITHOUT_RIGHTS
    ),
    "a folder as manifest": manifest(
        replaced("m/bad.yaml", Path.mkdir), "1:1 $: can't read the file: Is a directory"
    ),
    "no data file": data(replaced("data/bad.csv", lambda _: None), ""),
    "a folder as data": data(replaced("data/bad.csv", Path.mkdir), ""),
    "dangling data": data(replaced("data/bad.csv", link), ""),
    "data without rights": data(
        closed("data/bad.csv"), ": can't be read: Permission denied", before=WITHOUT_RIGHTS
    ),
    "binary data": data(text("data/bad.csv", bytes(range(256))), ""),
    "empty data": data(text("data/bad.csv", ""), ""),
    "no index": index(replaced("datasets.yaml", lambda _: None), ": there is no catalog"),
    "no YAML in the index": index(text("datasets.yaml", "version: 1\n x: y\n"), ":2:3 $: not YAML"),
    "an empty index": index(text("datasets.yaml", ""), ":1:1 $: must be a mapping"),
    "a newer index": index(edited("datasets.yaml", "1", "2"), ":1:1 $.version: must be 1, is 2"),
    "an index without rights": index(
        closed("datasets.yaml"), ":1:1 $: can't read the file", before=WITHOUT_RIGHTS
    ),
    "a folder as index": index(replaced("datasets.yaml", Path.mkdir), ": there is no catalog"),
    "a newer lockfile": lock(
        edited("datasets.lock", "version: 1", "version: 9"),
        ":3:1 $.version: must be 1, is 9 (written by a newer release",
    ),
    "half a lockfile": lock(half("datasets.lock"), ":"),
    "an empty lockfile": lock(text("datasets.lock", ""), ":1:1 $: must be a mapping"),
    "a lockfile with a conflict": lock(
        edited("datasets.lock", "    spec", "<<<<<<< HEAD\n    spec"), ":"
    ),
    "a folder as lockfile": lock(
        replaced("datasets.lock", Path.mkdir), " $: can't be read: Is a directory"
    ),
    "a lockfile without rights": lock(
        closed("datasets.lock"), " $: can't be read: Permission denied", before=WITHOUT_RIGHTS
    ),
    "a file as cache": State(
        lambda folder: folder.with_name("cache").write_text("x"),
        "can't write to the cache in ",
        SAMPLES,
    ),
    "a cache without rights": State(
        lambda folder: folder.with_name("cache").mkdir(0o500),
        "can't write to the cache in ",
        SAMPLES,
        before=WITHOUT_RIGHTS,
    ),
    "a full disk behind stdout": State(
        says="error: the output can't be written: No space left",
        affected=PRINTING,
        before=FULL,
    ),
    "nobody reads stdout": State(before=BROKEN_PIPE),
    "a user without a home": State(
        says="error: this user has no home folder, which the cache is in by default (set",
        affected=(*NAMED["good"], *LISTING, *BUILDING),
        before=WITHOUT_HOME,
    ),
    "20 columns": State(environment={"COLUMNS": "20"}, unaffected=COMMANDS),
    "stdout in ASCII": State(unaffected=COMMANDS, before=ASCII),
    "a folder named as a pattern": State(folder="data [v2]*?", unaffected=COMMANDS),
    "no repository": State(
        lambda folder: shutil.rmtree(folder / ".git"),
        "",
        unaffected=(*NAMED["good"][:2], *LISTING[:-1]),
    ),
    "no git": State(
        environment={"PATH": "/nowhere"}, unaffected=(*NAMED["good"][:2], *LISTING[:-1])
    ),
    "a pattern of nothing": State(
        edited("datasets.yaml", "]", ", n/*.yaml]"),
        "datasets.yaml:2:21 $.include[1]: 'n/*.yaml' matches nothing",
        LISTING,
        (*NAMED["bad"], *NAMED["good"]),
    ),
    "a missing package": State(
        edited("datasets.yaml", "]", ", 'package:gone']"),
        "datasets.yaml:2:21 $.include[1]: 'package:gone' matches nothing",
        LISTING,
        (*NAMED["bad"], *NAMED["good"]),
    ),
    "a variable that is no number": State(
        says="REGISTRY_MAX_MANIFESTS",
        affected=(*NAMED["good"], *LISTING, *BUILDING),
        environment={"REGISTRY_MAX_MANIFESTS": "many"},
    ),
    "a byte order mark": State(text("m/bad.yaml", f"\ufeff{MANIFEST}"), unaffected=COMMANDS),
    "a plugin that fails": State(
        plugin,
        "error: the plugin 'plugin' of odd 1 can't be imported from 'odd:plugin': ValueError: odd",
        ("plugin",),
        tuple(one for one in COMMANDS if one != "plugin"),
    ),
}
ALIKE = (
    *(*MANIFESTS, "a broken dataset", "a folder as manifest"),
    *("a folder as data", "dangling data", "empty data"),
    *("an empty index", "a newer index", "a folder as index"),
    *("half a lockfile", "an empty lockfile", "a folder as lockfile"),
)
STATES |= {name: replace(STATES[name], commands=FEW) for name in ALIKE}


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Ran]]:
    """Return a locked catalog under git, and what each command does with it."""
    folder = tmp_path_factory.mktemp("healthy") / "catalog"
    repository = GitRepository.make(folder, FILES)
    assert sweep(folder, State(), ["lock"])["lock"].code == 0
    repository.commit()
    copy = shutil.copytree(folder, folder.with_name("copy"))
    return folder, sweep(copy, State(), COMMANDS)


def sweep(folder: Path, state: State, commands: Sequence[str]) -> dict[str, Ran]:
    """Run commands in a process of a catalog; what they write to is beside it."""
    environment = {
        **HERMETIC,
        "HOME": str(folder.with_name("home")),
        "REGISTRY_CACHE_DIR": str(folder.with_name("cache")),
        "REGISTRY_ROOT": str(folder),
        **state.environment,
    }
    ran = run_apart(
        folder,
        [one.split() for one in commands],
        environment=environment,
        site=folder.with_name("site"),
        before_each=state.before,
        errors="replace",
    )
    assert len(ran) == len(commands), f"{commands[len(ran) - 1]} ended the process: {ran[-1]}"
    return dict(zip(commands, ran, strict=True))


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_every_command_answers(
    state: State, healthy: tuple[Path, dict[str, Ran]], tmp_path: Path
) -> None:
    if state.before in (WITHOUT_RIGHTS, FULL) and sys.platform != "linux":
        pytest.skip("needs capabilities, or /dev/full")
    base, usual = healthy
    folder = shutil.copytree(base, tmp_path / state.folder)
    state.breaks(folder)
    ran = sweep(folder, state, state.commands)
    wrong = dict(faults(state, ran, usual))
    assert wrong == {}


def faults(
    state: State, ran: Mapping[str, Ran], usual: Mapping[str, Ran]
) -> Iterator[tuple[str, object]]:
    """Yield the commands that do not answer as they must, with what they did."""
    for command, one in ran.items():
        if one.code not in (0, 1, 2, 4) or "Traceback" in one.text or "bug in" in one.text:
            yield command, ("a bug", one)
        elif command in state.affected and (one.code == 0 or state.says not in one.text):
            yield command, (f"does not say {state.says!r}", one)
        elif command in state.unaffected and one.code != usual[command].code:
            yield command, ("fails", one)
        elif one.code and not one.err + one.out:
            yield command, ("is silent", one)
