"""Fuzz each target for some time: `python -m tests.fuzz --seconds 300`.

Inputs that fail are written to the corpus, so that the tests repeat them; inputs that reach new code
are kept in `build/fuzz` for the next run.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
REPOSITORY = Path(__file__).parents[2]
WORK = REPOSITORY / "build" / "fuzz"
_HANG_SECONDS = 10
_MEMORY_MB = 2000
_LONGEST_INPUT = 4096


def main() -> int:
    """Fuzz the targets one after another, each in its own process; return how many failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=300, help="for all targets together")
    parser.add_argument("--target", help="only this one")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return _fuzz(options.target, options.seconds)
    from tests.fuzz.targets import TARGETS

    names = [options.target] if options.target else list(TARGETS)
    seconds = max(1, options.seconds // len(names))
    failed = []
    for name in names:
        print(f"== {name}: {seconds} s", flush=True)
        command = [sys.executable, "-m", "tests.fuzz", "--child", "--target", name]
        done = subprocess.run([*command, "--seconds", str(seconds)], check=False)
        failed += [name] if done.returncode else []
    print(f"failed: {', '.join(failed)}" if failed else "no findings")
    return len(failed)


def _fuzz(name: str, seconds: int) -> int:
    if importlib.util.find_spec("atheris"):
        return _with_atheris(name, seconds)
    print("atheris is not installed: inputs are changed at random, without coverage")
    return _at_random(name, seconds)


def _with_atheris(name: str, seconds: int) -> int:
    import atheris

    with atheris.instrument_imports(include=["registry"]):
        from tests.fuzz.targets import run_target
    from tests.fuzz.watch import watch

    reached, words = WORK / name, WORK / "words"
    reached.mkdir(parents=True, exist_ok=True)
    words.write_text("\n".join(f'"{word}"' for word in sorted(_words())), encoding="ascii")
    arguments = [
        f"-max_total_time={seconds}",
        f"-timeout={_HANG_SECONDS}",
        f"-rss_limit_mb={_MEMORY_MB}",
        f"-max_len={_LONGEST_INPUT}",
        f"-dict={words}",
        f"-artifact_prefix={CORPUS / name}/found-",
        "-verbosity=0",
        "-print_final_stats=1",
        str(reached),  # where new inputs are written; the corpus is only read
        str(CORPUS / name),
    ]
    atheris.Setup([sys.argv[0], *arguments], lambda data: run_target(name, data))
    run_target(name, b"")  # import what is imported late, before the watch begins
    watch()
    atheris.Fuzz()
    return 0


def _words() -> set[str]:
    """Return the keys of the schemas, which no random change finds."""
    text = "".join(path.read_text("utf-8") for path in (REPOSITORY / "schemas").glob("*.json"))
    return set(re.findall(r'"([a-z_]+)":', text))


def _at_random(name: str, seconds: int) -> int:
    from tests.fuzz.targets import run_target
    from tests.fuzz.watch import watch

    chance = random.Random(time.time_ns())
    seeds = [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]
    run_target(name, b"")
    watch()
    end, runs = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data, start = _changed(chance.choice(seeds), seeds, chance), time.monotonic()
        try:
            run_target(name, data)
            if time.monotonic() - start > _HANG_SECONDS:
                raise TimeoutError(f"took {time.monotonic() - start:.0f} s")
        except BaseException:
            path = CORPUS / name / f"found-{chance.getrandbits(64):016x}"
            path.write_bytes(data)
            traceback.print_exc()
            print(f"written to {path}")
            return 1
        runs += 1
    print(f"{runs:,} runs")
    return 0


def _changed(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """Return an input with some bytes replaced, removed, repeated, or taken from another input."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randint(0, len(changed))
        other = chance.choice(others)
        start = chance.randint(0, len(other))
        match chance.randrange(4):
            case 0:
                changed[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del changed[at : at + chance.randint(1, 16)]
            case 2:
                changed[at:at] = other[start : start + chance.randint(1, 64)]
            case _:
                changed[at:at] = changed[at : at + chance.randint(1, 16)] * chance.randint(1, 40)
    return bytes(changed[:_LONGEST_INPUT])


if __name__ == "__main__":
    sys.exit(main())
