"""Run the command line: the script `registry`, and `python -m registry`."""

import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line and return its exit code, also of Ctrl-C before it can take it."""
    try:
        from registry.cli import main as run  # takes longer than many commands

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
