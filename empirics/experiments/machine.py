"""What a result's card says of where it was made: versions, commit, processor, device."""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("fedbounds", "numpy", "scipy", "sympy", "torch", "scikit-learn", "numba")


@cache
def machine() -> dict[str, Any]:
    """Versions, commit and hardware, as JSON data."""
    return {
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
        "commit": _commit(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "device": _device(),
    }


def computing() -> dict[str, str]:
    """The versions on which the last bits of a training run depend."""
    return {name: found for name, found in machine()["versions"].items() if name in ("fedbounds", "torch", "numpy")}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _commit() -> str:
    """The commit of the source tree, marked when files differ from it; empty outside of one."""
    here = Path(__file__).resolve().parent
    try:
        said = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True)
    except OSError:
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _device() -> str:
    """The GPU if torch is loaded and sees one, else the processor; torch is not loaded for this."""
    import sys

    torch = sys.modules.get("torch")
    return torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else "cpu"
