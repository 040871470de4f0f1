"""Run one function in this process: `python -m benchmarks.child MODULE:NAME ARGUMENTS-AS-JSON`."""

from __future__ import annotations

import importlib
import json
import sys

__all__ = ["main"]


def main(function: str, arguments: str) -> None:
    """Call a function and write what it returns, as the last line of the output."""
    module, _, name = function.partition(":")
    result = getattr(importlib.import_module(module), name)(**json.loads(arguments))
    sys.stdout.write(f"\n{json.dumps(result)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
