"""The machine that computes a result: package versions, commit, processor, device, and the engines it has."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..models.compiled import ENGINES, load_module, NotServed

GPU = "cuda"
"""The engine of runs whose networks are on a GPU."""
CELL_ENGINES = (*ENGINES, GPU)
"""The engines that compute training runs, by the names that are part of a run's key."""
PACKAGES = ("fedbounds", "numpy", "scipy", "sympy", "torch", "scikit-learn", "numba")


@cache
def machine() -> dict[str, Any]:
    """Return versions, commit and hardware as JSON data.

    The commit is marked if files differ from it, and empty outside of a source tree. The device is the GPU if torch is
    loaded and finds one, else the processor; torch is not loaded for this.
    """
    versions = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    commit, processor, torch = "", platform.processor(), sys.modules.get("torch")
    with suppress(OSError):
        here = Path(__file__).resolve().parent
        git = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True)
        commit = git.stdout.strip() if git.returncode == 0 else ""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return {
        "python": platform.python_version(),
        "versions": versions,
        "commit": commit,
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor,
        "device": torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else "cpu",
    }


def computing() -> dict[str, str]:
    """The package versions on which the last bits of a training run depend."""
    return {name: text for name, text in machine()["versions"].items() if name in ("fedbounds", "torch", "numpy")}


def lacking(engines: Collection[str]) -> str:
    """The reason why this process cannot use one of these engines; empty if it can use all."""
    if GPU in engines:
        import torch

        if not torch.cuda.is_available():
            return "torch finds no GPU, which engine cuda needs: use engine torch for all runs"
    if set(engines) - {"torch", GPU}:
        try:
            load_module("network")
        except NotServed as reason:
            return f"{reason}: use engine torch for all runs"
    return ""
