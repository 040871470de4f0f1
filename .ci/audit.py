"""Check the installed packages for known vulnerabilities, or say why that was not possible.

pip-audit has no offline database: it asks the package index for advisories. Where that can't be
reached, or a mirror without advisories answers, the check is skipped, with its reason; with
AUDIT_REQUIRED=1 it fails instead.
"""

import json
import os
import subprocess
import sys
import tempfile

# Old enough to have advisories for ever.
CANARY = "pip==9.0.1"
PIP_AUDIT = (sys.executable, "-I", "-m", "pip_audit")
IGNORED: dict[str, str] = {}
"""Id of a vulnerability → why it doesn't matter here."""


def obstacle(program: tuple[str, ...]) -> str:
    """Return why the service can't be used, or an empty str."""
    options = ("--no-deps", "--disable-pip", "--progress-spinner=off", "--format=json")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirement:
        requirement.write(f"{CANARY}\n")
        requirement.flush()
        command = [*program, f"--requirement={requirement.name}", *options]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    try:
        (package,) = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return f"advisories can't be read: {(done.stderr.splitlines() or [''])[-1]}"
    return "" if package.get("vulns") else f"there is no advisory for {CANARY}, which has some"


def main(*program: str) -> int:
    """Run pip-audit, or another program in its place, and return its exit code."""
    program = program or PIP_AUDIT
    if reason := obstacle(program):
        print(f"audit SKIPPED: no package was checked, as {reason}")
        print("Run `make audit` with access to PyPI; AUDIT_REQUIRED=1 makes this an error.")
        return int(bool(os.environ.get("AUDIT_REQUIRED")))
    ignored = [f"--ignore-vuln={name}" for name in IGNORED]
    command = [*program, "--local", "--skip-editable", *ignored]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
