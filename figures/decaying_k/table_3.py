"""Table 3: the eight schedules, computed by the code that trains with them and by the catalogue's formulas."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from bounds.decaying_k.schedules import SCHEDULES
from bounds.vocabulary import current_loss, initial_local_steps, initial_loss, initial_step_size, plateau, round_index
from paper_checks.reported import table

from ..artefact import Artefact, no_runs, Shown
from ..comparing import counted
from ..runs import Runs
from ..sheets import entry, tidy
from .grid import PRINTED, TITLES

REPORTED = table("decaying_k", "Table 3")
ROUNDS = (1, 8, 64, 512)
STEPS, SIZE = PRINTED["FEMNIST"].local_steps, PRINTED["FEMNIST"].step_size
LOSSES = {1: 1.0, 8: 0.5, 64: 0.25, 512: 0.125}
"""An example: the loss relative to the first."""
MANY = 10**9
"""So large a K_0 that rounding up hides no exponent."""
LETTERS = {
    initial_local_steps: "K0", initial_step_size: "eta0", current_loss: "Fr", initial_loss: "F0", round_index: "r",
    plateau: "plateau",
}  # fmt: skip


def trained(key: str, round_: int, steps: int = STEPS, size: float = SIZE, loss: float = 1.0) -> tuple[int, float]:
    """K and eta of a round as a training run takes them, the loss then being ``loss`` times the first one."""
    import torch

    from empirics.algorithms.scheduled import ScheduledSteps
    from empirics.algorithms.state import State

    rule = ScheduledSteps(key, window=1, plateau_round=ROUNDS[-1])
    losses = (1.0, loss) if round_ > 1 else ()
    return rule(State(round_ - 1, torch.zeros(1), {}, {}, losses), steps, size)


@cache
def formulas(key: str) -> dict[int, tuple[int, float]]:
    """K and eta of the same rounds by the catalogue."""
    found = np.ones(ROUNDS[-1])
    for round_, loss in LOSSES.items():
        found[round_ - 1 :] = loss
    plan = SCHEDULES[key].plan(
        rounds=ROUNDS[-1], initial_local_steps=STEPS, initial_step_size=SIZE, losses=found, plateau_round=ROUNDS[-1]
    )
    return {r: (int(plan.local_steps[r - 1]), float(plan.step_sizes[r - 1])) for r in ROUNDS}


def data(runs: Runs, scale: str) -> Shown:
    entries = [entry(REPORTED[place], *place, [number()]) for place, number in NUMBERS.items()]
    compared = [(key, r, trained(key, r, loss=LOSSES[r]), formulas(key)[r]) for key in TITLES for r in ROUNDS]
    same = [a[0] == b[0] and math.isclose(a[1], b[1], rel_tol=1e-12) for _, _, a, b in compared]
    exact = [math.isclose(e.mean, e.reported, rel_tol=1e-6) for e in entries]
    return Shown(
        f"K and η as the training code takes them, with K0 {STEPS} and η0 {SIZE:g} (FEMNIST), for a loss that is "
        f"{', '.join(f'{LOSSES[r]:g}' for r in ROUNDS)} of the first in rounds {', '.join(map(str, ROUNDS))} and an "
        f"error that has stalled from round {ROUNDS[-1]} on (plateau 1). No training: the same at every scale.",
        tidy(entries),
        [["schedule", "K", "η", *(f"round {r}" for r in ROUNDS)], *(_line(key) for key in TITLES)],
        [
            counted(words, all(good), f"{sum(good)} of {len(good)} agree")
            for words, good in (
                ("the training code takes the K and η of the catalogue's formulas in every round shown", same),
                ("exponents and divisors are those printed", exact),
            )
        ],
    )


def _line(key: str) -> list[str]:
    schedule = SCHEDULES[key]
    numbers = (trained(key, r, loss=LOSSES[r]) for r in ROUNDS)
    return [
        TITLES[key], _formula(schedule.local_steps), _formula(schedule.step_size),
        *(f"{steps}, {size:.4g}" for steps, size in numbers),
    ]  # fmt: skip


def _formula(expression: Any) -> str:
    short = expression.subs({quantity: sp.Symbol(letter) for quantity, letter in LETTERS.items()})
    return str(sp.sstr(short)).replace("RoundUp", "ceil")


# ---- the printed numbers, read off the training code ----


def _exponent(key: str, which: int, of_loss: bool) -> float:
    """The power of the round (256 against 1) or of the loss (two fifths against 1) that K or eta follows."""
    base = 0.4 if of_loss else 256.0
    late = trained(key, 2 if of_loss else 256, MANY, 1.0, 0.4 if of_loss else 1.0)[which]
    return math.log(late / (MANY, 1.0)[which]) / math.log(base)


def _divisor(key: str, which: int) -> float:
    return (STEPS, SIZE)[which] / trained(key, ROUNDS[-1])[which]


NUMBERS = {
    ("dSGD", "K_r"): lambda: float(trained("dsgd", 5)[0]),
    ("K_r-step", "divisor of K_0"): lambda: _divisor("k_step", 0),
    ("eta_r-step", "divisor of eta_0"): lambda: _divisor("eta_step", 1),
    ("K_r-rounds", "exponent of r"): lambda: _exponent("k_rounds", 0, False),
    ("K_r-error", "exponent of F_r/F_0"): lambda: _exponent("k_error", 0, True),
    ("eta_r-rounds", "exponent of r"): lambda: _exponent("eta_rounds", 1, False),
    ("eta_r-error", "exponent of F_r/F_0"): lambda: _exponent("eta_error", 1, True),
}

ARTEFACTS = (Artefact("decaying_k.table_3", "the eight schedules", data, reads=no_runs),)
