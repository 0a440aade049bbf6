"""Section 3.5 and Table 3: the schedules, those that follow the loss, and its estimate (15)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy as sp

from bounds.decaying_k.letters import eta_0, F_0, F_r, K_0, R, r, ratio
from bounds.decaying_k.schedules import SCHEDULES
from bounds.numerics.rounding import RoundUp
from bounds.vocabulary import plateau

from ..checkers import All, Formula, Same, States, term
from ..claim import Book, Check, Finding, judged
from .setup import shared


def reported(book: Book, *parts: int) -> Finding:
    """The mean over uniformly drawn clients of f_c(1) against F(1)."""
    problem, x = shared(*parts), Fraction(1)
    mean = sum(((x - b) ** 2 / 2 for b in problem.minima), Fraction(0)) / 2
    said = f"clients drawn uniformly report {mean} on average, F is {problem.loss(x)}"
    witness = {"p": ", ".join(map(str, problem.weights)), "minima": "0, 4", "x": "1"}
    return judged(mean == problem.loss(x), said, witness)


# ---- Table 3 ----

LOSSES = (sp.Gt(F_0, 0), sp.Ge(F_r, 0))
CUBE_ROOT = sp.cbrt(F_r / F_0)


def _schedule(
    key: str, steps: Formula, size: Formula, printed: str = "", ours: Formula | None = None
) -> dict[str, Check]:
    """A row of Table 3: local steps and step size of round r, and the conditions on the losses it divides.

    ``printed`` ends the name of the bound with the printed steps where that of the schedule, ``ours``, is another.
    """
    names = {"steps": f"decaying_k.schedule_{key}_steps{printed}", "step size": f"decaying_k.schedule_{key}_step_size"}
    schedule, rows = SCHEDULES[key], {"steps": steps, "step size": size}
    kept, title = f"decaying_k.schedule_{key}_steps", schedule.title
    used = {"steps": schedule.local_steps, "step size": schedule.step_size}
    asked = {what: LOSSES if F_r in used[what].free_symbols else () for what in names}
    return {
        **({} if ours is None else {f"{title}, steps kept": Same(kept, ours, where=asked["steps"])}),
        **{f"{title}, {what}": Same(name, rows[what], where=asked[what]) for what, name in names.items()},
        **{f"{title}, conditions of {w}": States(name, asked[w], relation="=") for w, name in names.items()},
    }


def _over_first_round(best: sp.Expr) -> sp.Expr:
    """(10) or (12) with r for R, over its value for R = 1."""
    return sp.simplify(best.subs(R, r) / best.subs(R, 1))


def _k_rounds(book: Book) -> sp.Expr:
    return RoundUp(K_0 * _over_first_round(book["decaying_k.k_star_rounds_cap_printed"].expr))


def _eta_rounds(book: Book) -> sp.Expr:
    return eta_0 * _over_first_round(book["decaying_k.eta_star_rounds_cap_printed"].expr)


table_3 = All(
    {
        **_schedule("dsgd", sp.S.One, eta_0),
        **_schedule("k_eta_fixed", K_0, eta_0),
        **_schedule("k_rounds", _k_rounds, eta_0),
        **_schedule("k_error", RoundUp(K_0 * CUBE_ROOT), eta_0, "_printed", ours=sp.Max(1, RoundUp(K_0 * CUBE_ROOT))),
        **_schedule("k_step", RoundUp(sp.Piecewise((K_0, sp.Eq(plateau, 0)), (K_0 / 10, True))), eta_0),
        **_schedule("eta_rounds", K_0, _eta_rounds),
        **_schedule("eta_error", K_0, eta_0 * sp.sqrt(F_r / F_0)),
        **_schedule("eta_step", K_0, sp.Piecewise((eta_0, sp.Eq(plateau, 0)), (eta_0 / 10, True))),
    }
)


def beside_even(book: Book) -> Finding:
    """The drift of (6) for 1,000 rounds from K_0 = 80, over that of as many rounds and steps evenly spread."""
    found = {}
    for key in ("k_rounds", "k_error", "k_step"):
        plan = SCHEDULES[key].plan(
            rounds=1000, initial_local_steps=80, initial_step_size=0.1, losses=30 / (30 + np.arange(1000)),
            plateau_round=501,
        )  # fmt: skip
        steps = [int(k) for k in plan.local_steps]
        each, more = divmod(sum(steps), len(steps))
        even = [each + 1] * more + [each] * (len(steps) - more)
        ratios = [sp.Rational(sum(k**3 for k in spread), sum(spread)) for spread in (steps, even)]
        own, evened = (term("decaying_k.theorem_1", "drift")(book).subs(ratio, value) for value in ratios)
        found[SCHEDULES[key].title] = float(sp.simplify(own / evened))
    said = ", ".join(f"{title}: {times:.3g}" for title, times in found.items())
    witness = {"K_0": "80", "R": "1000", "loss": "30/(29 + r)", "plateau": "501"}
    above = min(found.values()) > 1
    return judged(max(found.values()) <= 1, f"drift of (6) over that of even rounds, {said}", witness, above)
