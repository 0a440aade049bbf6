"""Tables 8, 10 and 11: what a round costs, seconds, and rounds to a target accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from bounds.fedinit.letters import C, d, K, N

from ...reported import table
from ..checkers import All, Prints, Same
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair
from .tables import METHODS

COLUMNS = {
    "communication": ("communication per round", N * d),
    "gradients": ("gradient calculation per round", N * K * d),
    "storage": ("total storage", C * d),
}


def _cell(method: str, cost: str) -> tuple[sp.Expr, Fraction]:
    """Table 8: a cell's expression, and the multiple of FedAvg printed beside it."""
    text, _, ratio = table("fedinit", "Table 8")[method, COLUMNS[cost][0]].value.partition(" (")
    multiple, letters = (text[0], text[1:]) if text[0].isdigit() else ("1", text)
    return int(multiple) * sp.Mul(*({"N": N, "K": K, "C": C, "d": d}[x] for x in letters)), Fraction(ratio[:-2])


EXPRESSIONS = Claim(
    "fedinit.table_8.expressions",
    "Table 8's expressions: communication N d or twice that, gradients N K d (FedSAM twice), storage C d to 3 C d.",
    Kind.TABLE.at("Table 8"),
    {cost: All({m: Same(f"fedinit.cost_{cost}_{m.lower()}", _cell(m, cost)[0]) for m in METHODS}) for cost in COLUMNS},
)


def _ratios(cost: str) -> dict[str, Fraction]:
    """Each printed expression over FedAvg's."""
    return {m: Fraction(int(sp.cancel(_cell(m, cost)[0] / COLUMNS[cost][1]))) for m in METHODS}


RATIOS = Claim(
    "fedinit.table_8.ratios",
    "The multiples beside the expressions of Table 8 are those of FedAvg's costs.",
    Kind.TABLE.at("Table 8"),
    Prints(
        {f"{m} {cost}": str(_cell(m, cost)[1]) for m in METHODS for cost in COLUMNS},
        {f"{m} {cost}": ratio for cost in COLUMNS for m, ratio in _ratios(cost).items()},
        wrong=("FedCM storage",),
    ),
    note="A slip: FedCM's storage is printed 2Cd with 3x beside it.",
    repair=Repair(
        "2x for FedCM, the rest as printed",
        Prints(
            {f"{m} storage": "2" if m == "FedCM" else str(_cell(m, "storage")[1]) for m in METHODS},
            {f"{m} storage": ratio for m, ratio in _ratios("storage").items()},
        ),
    ),
    defect=Defect.SLIP,
)

KEPT = {method: {"model"} for method in METHODS} | {
    "SCAFFOLD": {"model", "own variate", "global variate"},
    "FedDyn": {"model", "dual"},
    "FedCM": {"model", "global direction"},
    "FedInit": {"model", "last local model"},
}
"""What a client receives and keeps between rounds."""
IN_A_STEP = {**KEPT, "FedSAM": {"model", "perturbed model"}, "FedDyn": {"model", "dual", "start"}, "FedInit": {"model"}}
"""What a local step reads and writes besides the data; FedInit's last local model has become the start by then."""


def _stored(counted: Mapping[str, set[str]], wrong: tuple[str, ...] = ()) -> Prints:
    printed = {m: str(_ratios("storage")[m]) for m in METHODS}
    return Prints(printed, {m: len(vectors) for m, vectors in counted.items()}, wrong=wrong)


STORAGE = Claim(
    "fedinit.table_8.storage",
    "Table 8's total storage is what all clients keep between rounds and receive: no more for FedInit than for FedAvg.",
    Kind.TABLE.at("Table 8, storage; Appendix B.2.3"),
    _stored(KEPT, wrong=("FedSAM", "FedDyn", "FedInit")),
    note="The table does not say what is counted. Read so, FedInit needs its last local model at the next start, "
    "beside the server model that it receives: 2Cd, printed Cd, and C models stay stored where FedAvg's clients keep "
    "none. FedSAM's 2 and FedDyn's 3 count a vector of one step.",
    repair=Repair("what a client needs during a local step is as printed", _stored(IN_A_STEP)),
    defect=Defect.READING,
)

MESSAGES = {
    "FedAvg": (("model",), ("model",)),
    "SCAFFOLD": (("model", "global variate"), ("model", "own variate")),
    "FedCM": (("model", "global direction"), ("model",)),
}
"""Vectors that a participant receives and sends."""


def _vectors(method: str) -> Fraction:
    """Vectors received and sent, over FedAvg's."""
    down, up = MESSAGES[method]
    return Fraction(len(down) + len(up), sum(map(len, MESSAGES["FedAvg"])))


def _traffic(book: Book) -> Finding:
    found = {m: _vectors(m) for m in MESSAGES}
    printed = {m: _cell(m, "communication")[1] for m in MESSAGES}
    off = {m: f"{found[m]} against {printed[m]}" for m in MESSAGES if found[m] != printed[m]}
    said = "; ".join(f"{m}: {text}" for m, text in off.items()) or "both double it"
    return judged(not off, said, off, set(off) == {"FedCM"})


TRAFFIC = Claim(
    "fedinit.table_8.traffic",
    "SCAFFOLD and FedCM need twice FedAvg's communication.",
    Kind.TABLE.at("Appendix B.2.3; Table 8"),
    _traffic,
    note="Counting both directions. FedCM's clients receive a second vector but send none: half as much again "
    "over both directions. Table 8 is right for what is received.",
    repair=Repair(
        "1.5 times for FedCM, 2 times for SCAFFOLD",
        Prints({"SCAFFOLD": "2", "FedCM": "1.5"}, lambda: {m: _vectors(m) for m in ("SCAFFOLD", "FedCM")}),
    ),
    defect=Defect.READING,
)
