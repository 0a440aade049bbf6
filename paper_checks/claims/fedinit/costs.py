"""Table 8: the costs of a round in communication, gradients and storage."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from bounds.fedinit.letters import C, d, K, N

from ...reported import table
from ..checkers import All, Prints, Same
from ..claim import Book, Finding, finding
from .tables import METHODS

COLUMNS = {
    "communication": ("communication per round", N * d),
    "gradients": ("gradient calculation per round", N * K * d),
    "storage": ("total storage", C * d),
}


def _cell(method: str, cost: str) -> tuple[sp.Expr, Fraction]:
    """Return the expression in a cell of Table 8, and the multiple of FedAvg printed beside it."""
    text, _, ratio = table("fedinit", "Table 8")[method, COLUMNS[cost][0]].value.partition(" (")
    multiple, letters = (text[0], text[1:]) if text[0].isdigit() else ("1", text)
    return int(multiple) * sp.Mul(*({"N": N, "K": K, "C": C, "d": d}[x] for x in letters)), Fraction(ratio[:-2])


communication_cells, gradient_cells, storage_cells = (
    All({m: Same(f"fedinit.cost_{cost}_{m.lower()}", _cell(m, cost)[0]) for m in METHODS}) for cost in COLUMNS
)
"""The checks that the costs of all methods are the printed expressions."""


def _ratios(cost: str) -> dict[str, Fraction]:
    """Return, by method, the printed expression over FedAvg's."""
    return {m: Fraction(int(sp.cancel(_cell(m, cost)[0] / COLUMNS[cost][1]))) for m in METHODS}


multiples = Prints(
    {f"{m} {cost}": str(_cell(m, cost)[1]) for m in METHODS for cost in COLUMNS},
    {f"{m} {cost}": ratio for cost in COLUMNS for m, ratio in _ratios(cost).items()},
    wrong=("FedCM storage",),
)
storage_mended = Prints(
    {f"{m} storage": "2" if m == "FedCM" else str(_cell(m, "storage")[1]) for m in METHODS},
    {f"{m} storage": ratio for m, ratio in _ratios("storage").items()},
)

KEPT = {method: {"model"} for method in METHODS} | {
    "SCAFFOLD": {"model", "own variate", "global variate"},
    "FedDyn": {"model", "dual"},
    "FedCM": {"model", "global direction"},
    "FedInit": {"model", "last local model"},
}
"""Vectors that a client receives and keeps between rounds."""
IN_A_STEP = {**KEPT, "FedSAM": {"model", "perturbed model"}, "FedDyn": {"model", "dual", "start"}, "FedInit": {"model"}}
"""Vectors that a local step reads and writes besides the data; FedInit's last local model is part of the start then."""


def stored(book: Book, counted: Mapping[str, set[str]], wrong: tuple[str, ...] = ()) -> Finding:
    """The printed multiples of storage are the numbers of vectors; ``wrong`` are the methods audited as wrong."""
    printed = {m: str(_ratios("storage")[m]) for m in METHODS}
    return Prints(printed, {m: len(vectors) for m, vectors in counted.items()}, wrong=wrong)(book)


MESSAGES = {
    "FedAvg": (("model",), ("model",)),
    "SCAFFOLD": (("model", "global variate"), ("model", "own variate")),
    "FedCM": (("model", "global direction"), ("model",)),
}
"""Vectors that a participant receives and sends."""


def _vectors(method: str) -> Fraction:
    """Return the number of vectors received and sent, over FedAvg's."""
    down, up = MESSAGES[method]
    return Fraction(len(down) + len(up), sum(map(len, MESSAGES["FedAvg"])))


def traffic(book: Book) -> Finding:
    counted = {m: _vectors(m) for m in MESSAGES}
    printed = {m: _cell(m, "communication")[1] for m in MESSAGES}
    wrong = {m: f"{counted[m]} against {printed[m]}" for m in MESSAGES if counted[m] != printed[m]}
    evidence = "; ".join(f"{m}: {text}" for m, text in wrong.items()) or "both double it"
    return finding(not wrong, evidence, wrong, as_audited=set(wrong) == {"FedCM"})


traffic_mended = Prints({"SCAFFOLD": "2", "FedCM": "1.5"}, {m: _vectors(m) for m in ("SCAFFOLD", "FedCM")})
