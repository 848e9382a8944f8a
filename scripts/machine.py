"""What the benchmarks say of the machine they ran on."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

from corpora.threads import cores


def describe_machine() -> str:
    """Processor, cores, and the versions that decide the speed."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    libraries = ", ".join(f"{name} {version(name)}" for name in ("aligner", "numpy", "scipy", "numba"))
    processor = names[0] if names else platform.processor()
    return f"{processor}, {cores()} cores, Python {platform.python_version()}, {libraries}"
