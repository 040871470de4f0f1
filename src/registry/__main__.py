"""Run the command line as `python -m registry`."""

import sys

from registry.cli import main

if __name__ == "__main__":
    sys.exit(main())
