"""The command line: output, exit codes and messages of the verbs, never a traceback."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
import pytest

from registry import get_dataset
from registry.cli import command, main
from registry.errors import ManifestError
from tests.cli.invocation import HUB, INDEX, QA, SYNTAX, Invocation, Run, write

ROOT = Path(__file__).parents[2]
DEMO = ("demo-chat", "demo-mcq", "demo-mcq-small")
VERBS = command.list_commands(click.Context(command))


def python(
    *arguments: str, cwd: Path = ROOT, stdout: Any = subprocess.PIPE, **environment: str
) -> Invocation:
    """Run `python -m registry` in a separate process."""
    done = subprocess.run(
        [sys.executable, "-m", "registry", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=stdout,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return Invocation(done.returncode, done.stdout or "", done.stderr)


def test_help_lists_every_verb(run: Run) -> None:
    out = run("--help").out
    assert {"sync", "list", "show", "preview", "validate", "cache"} <= set(VERBS)
    assert all(f"\n  {verb} " in out for verb in VERBS)


def test_version_is_that_of_the_package(run: Run) -> None:
    from importlib.metadata import version

    assert version("eval-registry") in run("--version").out


def test_validate_checks_and_counts_only_the_given_paths(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(own, "more", "datasets:\n  more: {extends: qa}\n")
    assert run("validate").lines == ["no problems (3 datasets)"]
    assert run("validate", "m/qa.yaml").lines == ["no problems (2 datasets)"]
    assert (run("validate", "datasets.yaml").code, run("validate", "m").code) == (0, 0)
    write(own, "syntax", SYNTAX)
    monkeypatch.chdir(own / "m")
    codes = [run("validate", path).code for path in ("qa.yaml", "syntax.yaml", "../m")]
    assert codes == [0, 1, 1]


# --- several verbs ---


def test_invalid_condition_is_not_an_unexpected_error(run: Run, own: Path) -> None:
    keys = "source: {type: csv, path: qa.csv}, where: {value: q, regex: '('}"
    write(own, "d", f"datasets:\n  d: {{{keys}}}\n")
    for verb in ("sync", "preview", "validate", "show"):
        result = run(verb, *(["d"] if verb != "validate" else []))
        assert "unexpected" not in result.err
        assert result.code in (0, 1) if verb == "show" else result.code == 1


def test_offline_makes_no_request(run: Run, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(own, "hub", HUB)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    message = "org/name: not in the cache, and requests are disabled (offline; run"
    for verb in ("sync", "preview", "describe"):
        result = run(verb, "hub", "--offline")
        assert (result.code, message in result.err) == (1, True)
    monkeypatch.setenv("REGISTRY_OFFLINE", "1")
    assert message in run("preview", "hub").err


# --- how it ends ---


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ("list", 0, ""),
        ("show nothing", 1, "no dataset 'nothing'"),
        ("show", 2, "Missing argument 'NAME'"),
        ("validate none.yaml", 1, "error: none.yaml: no such file\n"),
        ("show qa more", 2, "unexpected extra argument (more)"),
        ("list --jsn", 2, "Did you mean '--json'?"),
        ("list --root nowhere", 1, "nowhere"),
        (f"list --allow-path a{os.pathsep}b", 2, f"'a{os.pathsep}b' has a '{os.pathsep}'"),
        ("sync --jobs 0", 2, "0 is not in the range"),
        ("", 2, ""),
        ("shwo qa", 2, "no command 'shwo' (did you mean 'show'?)"),
        ("zzzzzz", 2, f"no command 'zzzzzz' (commands: {', '.join(VERBS)})"),
        ("cache lst", 2, "no command 'cache lst' (did you mean 'list'?)"),
        ("list --tag smal", 2, "no dataset has the tag smal (did you mean 'small'?)"),
        ("sync qa-one --tag small --tag text", 2, "no dataset has the tag small and text (tags:"),
        ("sync qa aq --tag nothing", 1, "no dataset 'aq'"),
        ("cache prune --older 30", 2, "'30' is not a duration: give a number and a unit"),
        ("cache prune --keep-size 20", 2, "'20' is not a size: give a number and a unit"),
        ("--root . list", 2, "no option '--root' here: options follow the command"),
    ],
)
def test_exit_codes(run: Run, own: Path, arguments: str, code: int, words: str) -> None:
    result = run(*arguments.split())
    assert (result.code, words in result.err) == (code, True), result.err
    assert code == 0 or not arguments or result.out == ""


Raises = Callable[[BaseException], None]


@pytest.fixture
def raises(monkeypatch: pytest.MonkeyPatch) -> Raises:
    """Make commands that open a catalog raise an error."""

    def make(error: BaseException) -> None:
        def raised(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr("registry.cli.options.open_catalog", raised)

    return make


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyboardInterrupt(), "interrupted; what was finished before stays"),
        (click.Abort(), "aborted"),
    ],
)
def test_interrupt_or_refusal_has_exit_code_130(
    run: Run, raises: Raises, error: BaseException, message: str
) -> None:
    raises(error)
    result = run("list")
    assert (result.code, result.errors[-1]) == (130, message)


def test_unexpected_error_has_exit_code_3_and_a_traceback_only_on_request(
    run: Run, capsys: pytest.CaptureFixture[str], raises: Raises, monkeypatch: pytest.MonkeyPatch
) -> None:
    raises(ValueError("odd\x1b[2J\n::error::x ##[x]"))
    monkeypatch.setenv("REGISTRY_TRACEBACK", "0")
    result = run("list")
    message = "unexpected ValueError: odd\\u{1b}[2J⏎::error::x \\u{23}#[x]"
    advice = "This is a bug in registry; set REGISTRY_TRACEBACK=1 to see the traceback."
    assert (result.code, result.errors) == (3, [message, advice])
    monkeypatch.setenv("REGISTRY_TRACEBACK", "1")
    assert main(["list"]) == 3
    printed = capsys.readouterr().err
    assert "Traceback" in printed
    assert "\nValueError: odd\\u{1b}[2J\n\\u{3a}:error::x \\u{23}#[x]\n" in printed
    assert f"\n{message}\n" in printed


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
        ImportError("libarrow.so.1: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_lack_of_memory_is_not_taken_for_a_bug(run: Run, raises: Raises, error: Exception) -> None:
    raises(error)
    what = str(error) or "MemoryError"
    advice = "end other programs, or take a smaller dataset"
    message = f"error: there is not enough memory ({advice}): {what}\n"
    assert run("list") == Invocation(1, "", message)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OSError(errno.ENOSPC, "No space left", "/tmp/x"), " (is the disk full or broken?)"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "/x"), ""),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), ""),
        (
            FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']"),
            " (TMPDIR sets another folder, which can be written to and has space)",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_the_system_refuses_is_not_taken_for_a_bug(
    run: Run, raises: Raises, error: OSError, advice: str
) -> None:
    raises(error)
    assert run("list") == Invocation(1, "", f"error: {error}{advice}\n")


def test_limit_of_memory_is_named(
    run: Run, raises: Raises, monkeypatch: pytest.MonkeyPatch
) -> None:
    raises(MemoryError())
    monkeypatch.setattr("resource.getrlimit", lambda _: (300 << 20, resource.RLIM_INFINITY))
    advice = "`ulimit -v` allows 300 MiB, and a small build takes 350: raise it"
    assert run("list").err == f"error: there is not enough memory ({advice}): MemoryError\n"


@pytest.mark.parametrize("verb", ["show", "preview", "sync", "verify"])
def test_unknown_dataset_is_an_error_with_similar_names(run: Run, own: Path, verb: str) -> None:
    result = run(verb, "qa-on")
    assert result.code == 1
    assert result.err == (
        f"error: no dataset 'qa-on' in {own / 'datasets.yaml'}; similar names: qa-one, qa"
        " (`registry list` shows all)\n"
    )


def test_commands_that_messages_advise_are_about_the_same_catalog(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = own.rename(own.with_name("a b"))
    monkeypatch.chdir(other.parent)
    unknown = run("show", "none", "--root", "a b")
    assert unknown.err.endswith(" (`registry list --root 'a b'` shows all)\n")
    unpinned = run("sync", "qa", "--locked", "--root", "a b")
    assert "(`registry lock qa --root 'a b'` does)" in unpinned.err
    assert run("lock", "qa", "--root", "a b").code == 0
    write(other, "qa", QA.replace("limit: 1", "limit: 2").replace("qa.csv", "more.csv"))
    stale = run("validate", "--root", "a b").out
    assert re.search(r"`registry lock [^`]*--root 'a b'`", stale)
    for verb in ("bundle", "diff", "list", "lock", "show", "sync", "validate"):
        assert "  --root PATH" in run(verb, "--help").out


# --- processes ---


def test_module_runs_beside_a_folder_named_registry() -> None:
    assert (ROOT / "registry").is_dir()
    assert not (ROOT / "registry" / "__init__.py").exists()
    assert "demo-mcq-small" in python("list", "--tag", "demo").out
    unknown = python("show", "nothing-like-it")
    assert (unknown.code, unknown.out, unknown.err.count("\n")) == (1, "", 1)
    assert python("shwo").code == 2


def test_ctrl_c_before_the_command_line_is_loaded_is_no_traceback() -> None:
    code = """if True:
        import sys
        class Finder:
            def find_spec(name, path, target=None):
                if name == "registry.cli":
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Finder)
        from registry.__main__ import main
        sys.exit(main())
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_built_in_catalog_is_used_outside_of_any_catalog(tmp_path: Path) -> None:
    result = python("sync", "--tag", "demo", cwd=tmp_path)
    assert (result.code, {line.split()[0] for line in result.lines[1:]}) == (0, set(DEMO))
    checked = python("validate", str(ROOT / "registry" / "demo.yaml"), cwd=tmp_path).out
    assert checked.endswith(" of the built-in catalog; none of your own was checked)\n")
    assert list(tmp_path.glob("*.yaml")) == []


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [
        ("cache dir", ""),
        ("cache dir", "1"),
        ("list", "1"),
        ("preview demo-chat -n 50 --json", ""),
    ],
)
def test_broken_pipe_is_not_an_error(demo: Path, arguments: str, unbuffered: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "registry", *arguments.split()],
        cwd=demo,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # as `| true` does
    with process.stderr:
        result = process.stderr.read().decode()
    assert (result, process.wait(60)) == ("", 0)


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [
        ("--help", ""),
        ("list --json", ""),
        ("list --json", "1"),
        ("export demo-mcq --format jsonl --out -", ""),
    ],
)
def test_full_stdout_is_one_error(demo: Path, arguments: str, unbuffered: str) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full:
        done = python(*arguments.split(), cwd=demo, stdout=full, PYTHONUNBUFFERED=unbuffered)
    message = "error: the output can't be written: No space left on device"
    assert (done.code, done.errors[-1:]) == (1, [message])
    assert "bug" not in done.err


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_closed_stream_is_not_an_unexpected_error(demo: Path, stream: str) -> None:
    number = {"stdout": 1, "stderr": 2}[stream]
    line = f'"$0" -m registry sync demo-mcq {number}>&-'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable], cwd=demo, capture_output=True, timeout=60, check=False
    )
    assert b"unexpected" not in done.stderr
    assert done.returncode == 0


class Drip(BaseHTTPRequestHandler):
    """Sends an endless file, slowly."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(10**9))
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"q,a\n" * 16_384)
                time.sleep(0.05)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def test_ctrl_c_stops_a_download_at_once(own: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Drip)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/x.csv"
    write(own, "slow", f"datasets:\n  slow: {{source: {{type: csv, path: '{url}'}}}}\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "registry", "sync", "--jobs", "1", "qa", "slow"],
        cwd=own,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("dataset")
        assert process.stdout.readline().split()[:2] == ["qa", "built"]
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        # The file would take hours; a loaded machine may take a while to import the client.
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()  # else the pipes stay open, and a later test warns
        server.shutdown()
        server.server_close()
    assert process.returncode == 130
    assert err.splitlines()[-1] == "interrupted; what was finished before stays"
    assert "Traceback" not in err


@pytest.mark.parametrize("fault", ["raise ValueError('odd')", "1 +", "raise SystemExit"])
def test_mapper_that_can_t_be_imported_fails_its_dataset(
    run: Run, own: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    name = f"odd_mapper_{len(fault)}"
    (own / f"{name}.py").write_text(fault, encoding="utf-8")
    monkeypatch.syspath_prepend(own)
    index = INDEX.replace("os:getcwd", f"{name}:f")
    (own / "datasets.yaml").write_text(index, encoding="utf-8")
    mapper = f"{{source: {{type: csv, path: qa.csv}}, mapper: '{name}:f'}}"
    write(own, "odd", f"datasets:\n  odd: {mapper}\n")
    result = run("sync", "odd")
    assert result.code == 1
    assert f"can't import the mapper {name}:f: " in result.err


def test_name_of_a_dataset_of_a_package_gives_neither_dataset(
    run: Run, own: Path, shipped: Path
) -> None:
    write(own, "zz", "datasets:\n  theirs: {extends: qa}\n")
    for verb in ("preview", "show", "sync", "lock"):
        result = run(verb, "theirs")
        assert result.code == 1
        assert (
            "m/zz.yaml:2:3 $.datasets.theirs: the name 'theirs' is already defined by package"
            " shipped_sets (choose another, or write `override: true` to take its place; that one"
            f" is at {shipped}/m/theirs.yaml:2)\n"
        ) in result.err
    with pytest.raises(ManifestError, match="already defined by package shipped_sets"):
        get_dataset("theirs")
    # What extends it in the package still means that one.
    assert run("preview", "theirs-apart").code == 0
