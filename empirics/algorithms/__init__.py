"""Federated algorithms: every method of the papers by name, and the pieces to build others from.

``algorithm("relaxed(scaffold(), beta=0.05)")`` reads an algorithm from text; plug-ins such as ``relaxed`` take another
algorithm as their first argument. An ``Algorithm`` (``algorithm.py``) is FedAvg with some hooks replaced: where clients
start, their loss, direction and number of steps, the server step, and what is remembered from round to round. Start
with ``local.py`` (FedProx, SCAFFOLD, FedDyn) and ``server.py``. Training itself is in ``empirics.training``.
"""

from __future__ import annotations

from collections.abc import Callable

from bounds.errors import UnknownNameError

from ..errors import EmpiricsError
from ..spec_strings import parse, spec_string
from .algorithm import Algorithm, fedavg as FEDAVG
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
    return FEDAVG


ALGORITHMS: dict[str, Callable[..., Algorithm]] = {
    method.__name__: method
    for method in (
        *(ditto, dsgd, fedadam, fedals, fedavg, fedavgm, fedcm, fedcog, feddecorr, feddyn, fedexp, fedgen, fedinit),
        *(fedprox, fedreg, fedrep, fedsam, finetuned, layerwise, moon, relaxed, scaffold, scheduled, vhl),
        with_consensus_data,
    )
}


def algorithm(text: str) -> Algorithm:
    """Return the algorithm that ``text`` describes, such as ``relaxed(scaffold(), beta=0.05)``.

    ``path/file.py:variable`` reads an ``Algorithm`` from a user's file.
    """
    try:
        built: Algorithm = parse(text, ALGORITHMS, "algorithm", Algorithm)
    except UnknownNameError:
        if (name := text.strip().removesuffix("()")) in schedules():
            raise EmpiricsError(f"{name} is a schedule: write scheduled(fedavg(), schedule='{name}')") from None
        raise
    return built


__all__ = ["ALGORITHMS", "algorithm", "spec_string"]
