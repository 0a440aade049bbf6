"""The functions that cells may call: the registered jobs, and functions in files of the user's own.

Grids and stored cells name what is to be called; nothing but these names is ever looked up, so that no file of data
decides what is imported. ``function`` is what stored keys are made of and stays as it is; ``name`` is what a grid may
write instead; ``version`` is raised when a job's numbers change for the same arguments.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from typing import Any, NamedTuple

from bounds.errors import unknown
from bounds.showing.loading import run_file

from ..errors import EmpiricsError


class Job(NamedTuple):
    """A registered function: what a grid calls it, where it is, and the version of its numbers."""

    name: str
    function: str
    version: int


JOBS = {
    job.function: job
    for job in (
        Job("train", "empirics.cells:train", 1),
        Job("continued", "empirics.cells_continued:continued", 1),
        Job("timed", "empirics.cells_timed:timed", 1),
        Job("round_times", "empirics.cells_wall:seconds", 1),
        Job("step_times", "empirics.cells_step_times:step_times", 1),
        Job("generated_images", "empirics.cells_generation:images", 1),
        Job("generation_seconds", "empirics.cells_generation:generation_seconds", 1),
        Job("generation_round_seconds", "empirics.cells_generation:round_seconds", 1),
        Job("validate_best_steps", "paper_checks.validation.cells:best_steps", 1),
        Job("validate_exact", "paper_checks.validation.cells:exact", 1),
        Job("validate_gaussian_mean", "paper_checks.validation.cells:gaussian_mean", 1),
        Job("validate_one_round", "paper_checks.validation.cells:one_round", 1),
        Job("validate_relaxed", "paper_checks.validation.cells:relaxed", 1),
        Job("validate_trained", "paper_checks.validation.cells:trained", 1),
        Job("tightness", "paper_checks.worst_cases.cells:tightness", 1),
    )
}
"""By the name that keys are made of."""
NAMES = {job.name: job for job in JOBS.values()}
"""By the name that grids write."""


def job_function(text: str) -> str:
    """The function as keys have it. Whatever is neither registered nor in a file is refused; nothing is imported."""
    if text in NAMES:
        return NAMES[text].function
    if text in JOBS:
        return text
    path, _, name = text.rpartition(":")
    if path.endswith(".py") and re.fullmatch(r"[A-Za-z_]\w*", name):
        return f"{Path(path)}:{name}"
    raise EmpiricsError(f"{unknown('job', text, NAMES)}; a function of your own is path/file.py:name")


def job_version(function: str) -> str:
    """What changes when the same arguments may give other numbers: a job's version, or the text of the file."""
    if function in JOBS:
        return str(JOBS[function].version)
    path = Path(function.rpartition(":")[0])
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise EmpiricsError(f"{path}, which a cell's function is in: {error.strerror}") from None


def job_called(function: str) -> Callable[..., Any]:
    """The function itself. That of a file must be defined there and say that it returns an ``Outcome``."""
    place, _, name = function.rpartition(":")
    if function in JOBS:
        found: Callable[..., Any] = getattr(import_module(place), name)
        return found
    module = run_file(Path(place))
    own = {n: f for n, f in vars(module).items() if isfunction(f) and f.__module__ == module.__name__}
    if name not in own:
        raise unknown(f"function in {place}", name, own)
    if str(own[name].__annotations__.get("return", "")).rpartition(".")[2].rstrip("'>") != "Outcome":
        raise EmpiricsError(f"{name} in {place} is no cell's function: it must be written def {name}(...) -> Outcome")
    return own[name]
