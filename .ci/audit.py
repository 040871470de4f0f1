"""Check the installed packages for known vulnerabilities, or say why that was not possible.

pip-audit has no offline database: it asks PyPI. Where that can't be reached, or a mirror without
advisories answers, the check is skipped, with its reason; with AUDIT_REQUIRED=1 it fails instead.
"""

import json
import os
import subprocess
import sys
import urllib.request

# Old enough to have advisories for ever.
CANARY = "https://pypi.org/pypi/pip/9.0.1/json"
IGNORED: dict[str, str] = {}
"""Id of a vulnerability → why it doesn't matter here."""


def obstacle(canary: str) -> str:
    """Return why the service can't be used, or an empty str."""
    try:
        with urllib.request.urlopen(canary, timeout=10) as answer:
            advisories = json.load(answer).get("vulnerabilities")
    except (OSError, ValueError) as error:
        return f"{canary} can't be read: {error}"
    return "" if advisories else f"{canary} names no advisory for a version that has some"


def main(canary: str = CANARY) -> int:
    """Run pip-audit, and return its exit code."""
    if reason := obstacle(canary):
        print(f"audit SKIPPED: no package was checked, as {reason}")
        print("Run `make audit` with access to PyPI; AUDIT_REQUIRED=1 makes this an error.")
        return int(bool(os.environ.get("AUDIT_REQUIRED")))
    ignored = [f"--ignore-vuln={name}" for name in IGNORED]
    command = [sys.executable, "-I", "-m", "pip_audit", "--local", "--skip-editable", *ignored]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
