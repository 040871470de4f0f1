"""What a table of figures was measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

__all__ = ["machine", "sentence"]

_PACKAGES = ("pyarrow", "inspect_ai", "datasets", "pydantic", "numpy")


def machine() -> dict[str, str | int]:
    """Return the processor, its cores, the memory, Python, and the versions of packages."""
    return {
        "cpu": _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count() or 1,
        "memory": _field("/proc/meminfo", "MemTotal") or "unknown",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in _PACKAGES},
    }


def _field(file: str, name: str) -> str | None:
    """Return a field of one of Linux's files of `name: value` lines, if it is there."""
    path = Path(file)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)


def sentence(facts: dict[str, str | int]) -> str:
    """Return the machine in one line."""
    packages = ", ".join(f"{name} {facts[name]}" for name in _PACKAGES)
    return (
        f"{facts['cpu']}, {facts['cores']} cores, {facts['memory']} memory, {facts['system']};"
        f" Python {facts['python']}, {packages}"
    )
