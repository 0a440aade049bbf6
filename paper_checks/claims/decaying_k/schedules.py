"""Section 3.5 and Table 3: the schedules, and the estimate (15) of the loss that some of them follow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy as sp

from bounds.decaying_k.letters import eta_0, F_0, F_r, K_0, R, r, ratio
from bounds.decaying_k.schedules import SCHEDULES
from bounds.numerics.functions import RoundUp
from bounds.vocabulary import plateau

from ..checkers import All, Formula, Same, States, term
from ..claim import Book, Check, Finding, finding
from .setup import two_clients


def reported(book: Book, *parts: int) -> Finding:
    """The mean over uniformly drawn clients of f_c(1) is F(1)."""
    problem, x = two_clients(*parts), Fraction(1)
    mean = sum(((x - b) ** 2 / 2 for b in problem.minima), Fraction(0)) / 2
    evidence = f"clients drawn uniformly report {mean} on average, F is {problem.loss(x)}"
    witness = {"p": ", ".join(map(str, problem.weights)), "minima": "0, 4", "x": "1"}
    return finding(mean == problem.loss(x), evidence, witness)


# ---- Table 3 ----

LOSSES = (sp.Gt(F_0, 0), sp.Ge(F_r, 0))
CUBE_ROOT = sp.cbrt(F_r / F_0)


def _schedule(
    key: str, steps: Formula, size: Formula, printed: str = "", ours: Formula | None = None
) -> dict[str, Check]:
    """Return the checks of a row of Table 3: local steps, step size, and conditions on the losses that it divides by.

    Where the implemented local steps, ``ours``, differ from the printed ones, ``printed`` is the ending of the name of
    the bound that states the printed ones.
    """
    names = {"steps": f"decaying_k.schedule_{key}_steps{printed}", "step size": f"decaying_k.schedule_{key}_step_size"}
    schedule, formulas = SCHEDULES[key], {"steps": steps, "step size": size}
    implemented = {"steps": schedule.local_steps, "step size": schedule.step_size}
    checks, conditions = dict[str, Check](), dict[str, Check]()
    if ours is not None:
        where = LOSSES if F_r in schedule.local_steps.free_symbols else ()
        checks[f"{schedule.title}, steps kept"] = Same(f"decaying_k.schedule_{key}_steps", ours, where=where)
    for what, name in names.items():
        where = LOSSES if F_r in implemented[what].free_symbols else ()
        checks[f"{schedule.title}, {what}"] = Same(name, formulas[what], where=where)
        conditions[f"{schedule.title}, conditions of {what}"] = States(name, where, relation="=")
    return checks | conditions


def _over_first_round(best: sp.Expr) -> sp.Expr:
    """Return (10) or (12) at R = r over its value at R = 1."""
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
    """The drift of (6) for 1,000 rounds of a schedule is at most that of rounds of equal length with as many steps."""
    drifts = {}
    for key in ("k_rounds", "k_error", "k_step"):
        plan = SCHEDULES[key].plan(
            rounds=1000, initial_local_steps=80, initial_step_size=0.1, losses=30 / (30 + np.arange(1000)),
            plateau_round=501,
        )  # fmt: skip
        steps = [int(k) for k in plan.local_steps]
        each, more = divmod(sum(steps), len(steps))
        even = [each + 1] * more + [each] * (len(steps) - more)
        ratios = [sp.Rational(sum(k**3 for k in spread), sum(spread)) for spread in (steps, even)]
        decaying, equal = (term("decaying_k.theorem_1", "drift")(book).subs(ratio, value) for value in ratios)
        drifts[SCHEDULES[key].title] = float(sp.simplify(decaying / equal))
    evidence = "drift of (6) over that of even rounds, " + ", ".join(f"{name}: {x:.3g}" for name, x in drifts.items())
    witness = {"K_0": "80", "R": "1000", "loss": "30/(29 + r)", "plateau": "501"}
    return finding(max(drifts.values()) <= 1, evidence, witness, as_audited=min(drifts.values()) > 1)
