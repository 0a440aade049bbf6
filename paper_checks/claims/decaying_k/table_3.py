"""Table 3: the eight schedules against the equations they are named after."""

from __future__ import annotations

import sympy as sp

from bounds.decaying_k.schedules import SCHEDULES
from bounds.numerics.rounding import RoundUp
from bounds.vocabulary import (
    current_loss as F_r,
    initial_local_steps as K_0,
    initial_step_size as eta_0,
    plateau,
    round_index as r,
    rounds as R,
)

from ..checkers import Formula, Same, States
from ..claim import Book, Check, Claim, Kind
from .optima import ETAR_CAP, KR_CAP
from .practice import CUBE_ROOT, LOSSES, SQUARE_ROOT


def _schedule(
    key: str, steps: Formula, size: Formula, printed: str = "", ours: Formula | None = None
) -> dict[str, Check]:
    """A row of Table 3: local steps and step size of round r, and the conditions on the losses it divides.

    ``printed`` ends the name of the bound with the printed steps where that of the schedule, ``ours``, is another.
    """
    names = {"steps": f"decaying_k.schedule_{key}_steps{printed}", "step size": f"decaying_k.schedule_{key}_step_size"}
    asked = {what: LOSSES if F_r in _symbols(key, what) else () for what in names}
    rows = {"steps": steps, "step size": size}
    kept = f"decaying_k.schedule_{key}_steps"
    title = SCHEDULES[key].title
    return {
        **({} if ours is None else {f"{title}, steps kept": Same(kept, ours, where=asked["steps"])}),
        **{f"{title}, {what}": Same(name, rows[what], where=asked[what]) for what, name in names.items()},
        **{f"{title}, conditions of {w}": States(name, asked[w], relation="=") for w, name in names.items()},
    }


def _symbols(key: str, what: str) -> set[sp.Basic]:
    schedule = SCHEDULES[key]
    return (schedule.local_steps if what == "steps" else schedule.step_size).free_symbols


def _k_rounds(book: Book) -> sp.Expr:
    """(10) with r for R, over its value for R = 1, times K_0, rounded up."""
    best = book[KR_CAP].expr
    return RoundUp(K_0 * sp.simplify(best.subs(R, r) / best.subs(R, 1)))


def _eta_rounds(book: Book) -> sp.Expr:
    best = book[ETAR_CAP].expr
    return eta_0 * sp.simplify(best.subs(R, r) / best.subs(R, 1))


TABLE_3 = Claim(
    "decaying_k.table_3",
    "The schedules are the equations they are named after: K_r-rounds (10) and eta_r-rounds (12) with the round r in "
    "place of R, relative to the first round; K_r-error (13) and eta_r-error (14); the steps a tenth after the "
    "plateau.",
    Kind.TABLE.at("Table 3"),
    {
        **_schedule("dsgd", sp.S.One, eta_0),
        **_schedule("k_eta_fixed", K_0, eta_0),
        **_schedule("k_rounds", _k_rounds, eta_0),
        **_schedule("k_error", RoundUp(K_0 * CUBE_ROOT), eta_0, "_printed", ours=sp.Max(1, RoundUp(K_0 * CUBE_ROOT))),
        **_schedule("k_step", RoundUp(sp.Piecewise((K_0, sp.Eq(plateau, 0)), (K_0 / 10, True))), eta_0),
        **_schedule("eta_rounds", K_0, _eta_rounds),
        **_schedule("eta_error", K_0, eta_0 * SQUARE_ROOT),
        **_schedule("eta_step", K_0, sp.Piecewise((eta_0, sp.Eq(plateau, 0)), (eta_0 / 10, True))),
    },
    note="(10) speaks of a run of R rounds in all; that R may be replaced by the current round is the step which "
    "decaying_k.theorem_2_decay refutes. K_r-error prints no lower limit of 1, which matters for a loss of 0 alone; "
    "the schedule has it. K_0 / 10, printed without a ceiling, is a whole number in every task.",
)
