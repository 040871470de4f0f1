"""Use an environment with the wheel in it as a new user does: `try_wheel.py BIN [EXTRA…]`.

It has an empty home and an empty folder. Without an extra, each verb works or names the extra.
Inspect AI counts tokens with tiktoken, which downloads its vocabulary. TIKTOKEN_VOCABULARY names a
file with it, `o200k_base.tiktoken.gz`, for machines that reach nothing but an index of packages;
tiktoken compares its digest.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

QUESTIONS = "question;answer\nWhat is 2 + 2?;4\nWhat is 3 + 3?;6\n"
STORY = [
    "init .",
    "preview example-qa",
    "add my-qa --file questions.csv --yes",
    "validate",
    "lock",
    "lock --check",
    "sync --locked --offline",
    "show my-qa",
    "show my-qa --call",
    "list",
    "stats",
    "preview my-qa --raw",
    "describe my-qa",
    "verify my-qa",
    "licenses",
    "diff . .",
    "export my-qa --out out.parquet",
    "export my-qa --out out.csv",
    "export my-qa --out croissant --format croissant",
    "compare my-qa my-qa",
    "bundle my-qa -o my-qa.bundle",
    "unbundle my-qa.bundle --root other",
    "doctor --offline",
    "schema manifest",
    "completion bash",
    "cache list",
    "cache verify",
]
NEEDS = {
    "site": ["site --out pages", "diff . . --format html"],
    "dask": ["sync my-qa --refresh --engine dask"],
    "s3": ["add far --file s3://bucket/questions.csv --yes"],
    "inspect": [],
}
TO_INSPECT = "import registry; print(registry.get_dataset('my-qa').to_inspect())"
EVALUATION = "eval registry/dataset -T name={} -T scorer=includes --model mockllm/model"
VOCABULARY = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""What tiktoken calls o200k_base in its cache: the sha1 of its URL."""
CLEAN, PROBLEMS, UNEXPECTED = 0, 1, 3


class Tryout:
    """Runs programs of an environment in a folder that nobody has used."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs = programs
        self.folder = folder
        self.failures: list[str] = []
        (folder / "home").mkdir()
        (folder / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
        self._environment = {
            "HOME": str(folder / "home"),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "NO_COLOR": "1",
        }
        if vocabulary := os.environ.get("TIKTOKEN_VOCABULARY"):
            cache = folder / "vocabulary"
            cache.mkdir()
            (cache / VOCABULARY).write_bytes(gzip.decompress(Path(vocabulary).read_bytes()))
            self._environment["TIKTOKEN_CACHE_DIR"] = str(cache)

    def run(self, program: str, *arguments: str) -> tuple[int, str]:
        """Return the exit code, and what was printed."""
        done = subprocess.run(
            [str(self.programs / program), *arguments],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout

    def expect(self, line: str, wanted: int, words: str, result: tuple[int, str]) -> None:
        """Note a failure unless the program ended so, and printed these words."""
        code, printed = result
        is_right = code == wanted and words in printed and "Traceback" not in printed
        print(f"{'ok  ' if is_right else 'FAIL'}  {line}", flush=True)
        if not is_right:
            self.failures.append(
                f"{line}: exit code {code}, not {wanted} with {words!r}\n{printed}"
            )

    def verbs(self, extras: set[str]) -> None:
        """Run each verb; one that lacks an extra must name it."""
        for line in STORY:
            self.expect(line, CLEAN, "", self.run("registry", *line.split()))
        for extra, lines in NEEDS.items():
            # Inspect AI brings s3fs, and the bucket is nobody's.
            for line in lines if extra != "s3" or not extras & {"s3", "inspect"} else []:
                wanted, words = (CLEAN, "") if extra in extras else (PROBLEMS, _advice(extra))
                self.expect(line, wanted, words, self.run("registry", *line.split()))

    def evaluate(self, *, is_possible: bool) -> None:
        """Run an evaluation with Inspect AI, whose log must name the data."""
        if not is_possible:
            result = self.run("python", "-I", "-c", TO_INSPECT)
            self.expect("to_inspect()", 1, _advice("inspect"), (result[0], _last(result[1])))
            return
        for name in ("example-qa", "my-qa"):
            line, logs = EVALUATION.format(name), f"logs-{name}"
            wanted = ("--log-format", "json", "--log-dir", logs)
            self.expect(f"inspect {line}", CLEAN, "", self.run("inspect", *line.split(), *wanted))
            paths = list((self.folder / logs).glob("*.json"))
            self.expect(f"one log in {logs}", 1, "", (len(paths), ""))
            for path in paths:
                log = json.loads(path.read_text(encoding="utf-8"))
                found = log["eval"]["metadata"]["registry"]["name"], log["status"]
                self.expect("the log names the data", 0, f"{name} success", (0, " ".join(found)))
                self.expect("receipt", CLEAN, name, self.run("registry", "receipt", str(path)))


def _advice(extra: str) -> str:
    return f"pip install 'eval-registry[{extra}]'"


def _last(printed: str) -> str:
    """Return the last line: in Python, an error has a traceback."""
    return printed.strip().rpartition("\n")[2]


def main(programs: str, *extras: str) -> int:
    """Return whether something failed."""
    with tempfile.TemporaryDirectory() as folder:
        tryout = Tryout(Path(programs).absolute(), Path(folder))
        print(tryout.run("python", "-VV")[1].strip(), *extras)
        tryout.verbs(set(extras))
        tryout.evaluate(is_possible="inspect" in extras)
    for failure in tryout.failures:
        print("---", failure, sep="\n")
    return bool(tryout.failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
