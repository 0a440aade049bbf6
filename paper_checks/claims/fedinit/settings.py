"""Section 5 and Appendix B.1: the settings of the experiments compared with the theorems and with each other."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb

from bounds.fedinit.letters import beta

from ...reported import table
from ..checkers import exact, Prints, resolve
from ..claim import Book, Finding, finding

CLIENTS = {"10%-100": (100, 10), "5%-200": (200, 5)}
"""Number of clients and the percentage that takes part."""
TRAIN, BATCH, EPOCHS = 50000, 50, 5
DECAY, ROUNDS = Fraction(998, 1000), {"CIFAR-10": 500, "CIFAR-100": 800}


def _listed(row: str, column: str) -> tuple[Fraction, ...]:
    """Return a grid of Table 6 as numbers."""
    return tuple(exact(str(x)) for x in json.loads(table("fedinit", "Table 6")[row, column].value))


MEETING = ("0.01", "0.02", "0.05", "0.1", "-0.1")


def weights(book: Book) -> Finding:
    """The factors of Theorems 1 and 4 at the best relaxation are at most those of FedAvg."""
    weight = 1 / (1 - 96 * Fraction(1, 100))
    kappas = (resolve(name, book) for name in ("fedinit.kappa_1", "fedinit.kappa_2"))
    one, two = (float(kappa.subs(beta, Fraction(1, 10)) / kappa.subs(beta, 0)) for kappa in kappas)
    evidence = f"divergence times {float(weight):g}, kappa_1 times {one:.3g}, kappa_2 times {two:.3g}"
    audited = weight == 25 and abs(one - 3.731) < 1e-3
    return finding(max(float(weight), one, two) <= 1, evidence, {"beta": "0.1"}, as_audited=audited)


def local_steps(book: Book) -> Finding:
    """The SGD steps of a round are K, although the released code counts epochs."""
    steps = {name: EPOCHS * TRAIN // clients // BATCH for name, (clients, _) in CLIENTS.items()}
    evidence = "; ".join(f"{k}: {v} SGD steps" for k, v in steps.items())
    return finding(set(steps.values()) == {EPOCHS}, evidence, steps, as_audited=steps == {"10%-100": 50, "5%-200": 25})


def sampled(book: Book) -> Finding:
    """Independent draws with the published probability always give N = 10 participants."""
    chances = {name: comb(n, 10) * (p / 100) ** 10 * (1 - p / 100) ** (n - 10) for name, (n, p) in CLIENTS.items()}
    evidence = "; ".join(f"{name}: N = 10 in {100 * chance:.1f}% of rounds" for name, chance in chances.items())
    return finding(min(chances.values()) == 1, evidence, chances, as_audited=abs(chances["10%-100"] - 0.1319) < 1e-3)


below_one = Prints(dict.fromkeys(MEETING, "1"), {b: int(96 * exact(b) ** 2 < 1) for b in MEETING})


def decayed(book: Book) -> Finding:
    """The step size is constant in a run."""
    factors = {data: float(DECAY**rounds) for data, rounds in ROUNDS.items()}
    factor = factors["CIFAR-10"]
    evidence = f"to {factor:.3f} of its start in 500 rounds; c/tau falls to {1 / (500 * 50):.2g}"
    return finding(factor == 1, evidence, factors, as_audited=abs(factor - 0.3675) < 1e-3)


def grids(book: Book) -> Finding:
    """FedDyn's decay per round of Section 5 is in a grid of Table 6."""
    used = exact("0.999")
    grids = {d: _listed(f"{d}/learning rate decay", "selection") for d in ROUNDS}
    listed = any(used in grid for grid in grids.values())
    evidence = "listed" if listed else "0.999 is in neither grid"
    return finding(listed, evidence, {d: tuple(map(float, g)) for d, g in grids.items()})
