"""Every algorithm of the papers by name; plug-ins take an algorithm as their first argument."""

from __future__ import annotations

from collections.abc import Callable

from bounds.errors import UnknownNameError

from ..errors import EmpiricsError
from ..spec_strings import parse, spec_string
from .algorithm import Algorithm, fedavg as plain
from .consensus import fedcog, with_consensus_data
from .contrast import feddecorr, moon
from .fedgen import fedgen
from .fedreg import fedreg
from .layerwise import fedals, layerwise
from .local import dsgd, fedcm, feddyn, fedprox, fedsam, scaffold
from .personal import ditto, fedrep, finetuned
from .relaxed import fedinit, relaxed
from .scheduled import scheduled, schedules
from .server import fedadam, fedavgm, fedexp
from .virtual import vhl


def fedavg() -> Algorithm:
    """FedAvg (McMahan et al. 2017)."""
    return plain


ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    method.__name__: method
    for method in (
        *(ditto, dsgd, fedadam, fedals, fedavg, fedavgm, fedcm, fedcog, feddecorr, feddyn, fedexp, fedgen, fedinit),
        *(fedprox, fedreg, fedrep, fedsam, finetuned, layerwise, moon, relaxed, scaffold, scheduled, vhl),
        with_consensus_data,
    )
}


def algorithm(text: str) -> Algorithm:
    """The algorithm written as ``text``, such as ``relaxed(scaffold(), beta=0.05)``; ``path/file.py:variable``: own."""
    try:
        built: Algorithm = parse(text, ALGORITHMS, "algorithm", Algorithm)
    except UnknownNameError:
        if (name := text.strip().removesuffix("()")) in schedules():
            raise EmpiricsError(f"{name} is a schedule: write scheduled(fedavg(), schedule='{name}')") from None
        raise
    return built


__all__ = ["ALGORITHMS", "algorithm", "spec_string"]
