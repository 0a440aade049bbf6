"""Table 3: the eight schedules against the equations they are named after."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

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

from ..checkers import All, Computed, Formula, Same, States
from ..claim import Book, Check, Claim, Finding, judged, Kind, Repair, Status
from .measured import TASKS
from .optima import ETAR_CAP, KR_CAP
from .practice import CUBE_ROOT, LOSSES, SQUARE_ROOT


def _schedule(
    key: str, steps: Formula, size: Formula, words: str, note: str = "", printed: str = "", ours: Formula | None = None
) -> Claim:
    """A row of Table 3: local steps and step size of round r, and the conditions on the losses it divides.

    ``printed`` ends the name of the bound with the printed steps where that of the schedule, ``ours``, is another.
    """
    names = {"steps": f"decaying_k.schedule_{key}_steps{printed}", "step_size": f"decaying_k.schedule_{key}_step_size"}
    asked = {name: LOSSES if F_r in _symbols(key, what) else () for what, name in names.items()}
    kept = f"decaying_k.schedule_{key}_steps"
    checks: dict[str, Check] = {
        **({} if ours is None else {"local steps of the schedule": Same(kept, ours, where=asked[names["steps"]])}),
        "local steps": Same(names["steps"], steps, where=asked[names["steps"]]),
        "step size": Same(names["step_size"], size, where=asked[names["step_size"]]),
        **{f"conditions of {what}": States(n, asked[n], relation="=") for what, n in names.items()},
    }
    return Claim(
        f"decaying_k.table_3_{key}", words, Kind.TABLE.at(f"Table 3, {SCHEDULES[key].title}"), checks, note=note
    )


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


TABLE_3: tuple[Claim, ...] = (
    _schedule("dsgd", sp.S.One, eta_0, "dSGD takes one local step."),
    _schedule("k_eta_fixed", K_0, eta_0, "K-eta-fixed keeps K_0 and eta_0."),
    _schedule(
        "k_rounds",
        _k_rounds,
        eta_0,
        "K_r-rounds is (10) with the round r in place of R, relative to the first round, rounded up.",
        note="(10) speaks of a run of R rounds in all; that R may be replaced by the current round is the step which "
        "decaying_k.theorem_2_decay refutes.",
    ),
    _schedule(
        "k_error",
        RoundUp(K_0 * CUBE_ROOT),
        eta_0,
        "K_r-error is (13), rounded up.",
        note="The print has no lower limit of 1, which matters for a loss of 0 alone; the schedule has it.",
        printed="_printed",
        ours=sp.Max(1, RoundUp(K_0 * CUBE_ROOT)),
    ),
    _schedule(
        "k_step",
        RoundUp(sp.Piecewise((K_0, sp.Eq(plateau, 0)), (K_0 / 10, True))),
        eta_0,
        "K_r-step takes K_0 / 10 steps once the validation error has converged.",
    ),
    _schedule(
        "eta_rounds",
        K_0,
        _eta_rounds,
        "eta_r-rounds is (12) with the round r in place of R, relative to the first round.",
    ),
    _schedule("eta_error", K_0, eta_0 * SQUARE_ROOT, "eta_r-error is (14)."),
    _schedule(
        "eta_step",
        K_0,
        sp.Piecewise((eta_0, sp.Eq(plateau, 0)), (eta_0 / 10, True)),
        "eta_r-step takes eta_0 / 10 once the validation error has converged.",
    ),
)


def _tenths(book: Book) -> Finding:
    tenths = {name: Fraction(t.first_steps, 10) for name, t in TASKS.items()}
    said = ", ".join(f"{name}: {v}" for name, v in tenths.items())
    return judged(all(v.denominator == 1 for v in tenths.values()), said)


TENTHS = Claim(
    "decaying_k.k_step_whole",
    "K_0 / 10, printed without a ceiling, is a whole number in every task.",
    Kind.SETTING.at("Table 3 with Table 1"),
    Computed("K_0 / 10 from Table 1", _tenths),
)


@dataclass(frozen=True)
class NeverIncreases:
    """The local steps of four rounds of a schedule, for losses that fall, rise and fall again."""

    key: str

    def __call__(self, book: Book) -> Finding:
        losses = [2.0, 1.0, 1.6, 0.9]
        steps = (
            SCHEDULES[self.key]
            .plan(
                rounds=4,
                initial_local_steps=80,
                initial_step_size=0.1,
                losses=losses,
                initial_loss=2.0,
                plateau_round=3,
            )
            .local_steps.tolist()
        )
        said = f"{steps} for losses {losses}"
        return judged(steps == sorted(steps, reverse=True), said, {"losses": str(losses)}, True)


NEVER_INCREASES = Claim(
    "decaying_k.schedules_fall",
    "All schedules of K keep to Theorem 1: the number of local steps never increases.",
    Kind.SETTING.at("Section 3.5 with Theorem 1"),
    All({key: NeverIncreases(key) for key in ("k_error", "k_rounds", "k_step")}, wrong=("k_error",)),
    known=Status.FAILS,
    note="Ours: the paper does not claim it. K_r-error follows an estimate of the loss, which can rise again.",
    repair=Repair("K_r-rounds and K_r-step do", {key: NeverIncreases(key) for key in ("k_rounds", "k_step")}),
)
