"""Section 3.5: the schedules that follow the loss, its estimate (15), and Table 3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bounds.decaying_k.schedules import SCHEDULES
from bounds.numerics.rounding import RoundUp
from bounds.units import LOSS
from bounds.vocabulary import (
    cohort as N,
    current_loss as F_r,
    initial_local_steps as K_0,
    initial_loss as F_0,
    initial_runtime as W_0,
    initial_step_size as eta_0,
    plateau,
    rolling_window as s,
    round_index as r,
    rounds as R,
    summed_client_loss as reports,
)

from ..checkers import All, At, Computed, Formula, MeasuredIn, OrderIs, Same
from ..claims import Book, Check, Claim, Finding, Kind, Repair, Status
from .common import at, F_star, judged, States, W
from .measured import TASKS
from .optima import ETA_PRINT, ETAR_CAP, K_PRINT, KR_CAP
from .scalar import Scalars

K_TIMED, ETA_TIMED = "decaying_k.k_error_with_time", "decaying_k.eta_error_with_time"
ROLLING, ROLLING_TRUE = "decaying_k.rolling_loss_printed", "decaying_k.rolling_loss"
LOSSES = (sp.Gt(F_0, 0), sp.Ge(F_r, 0))
CUBE_ROOT, SQUARE_ROOT = sp.cbrt(F_r / F_0), sp.sqrt(F_r / F_0)


def _relative(optimum: str, start: sp.Expr) -> Callable[[Book], sp.Expr]:
    """The optimum with F^* = 0 for (F_r, W), over the one for (F_0, W_0), times what was chosen there."""

    def made(book: Book) -> sp.Expr:
        now = book[optimum].expr.subs(F_star, 0)
        return start * now / now.subs({F_r: F_0, W: W_0}, simultaneous=True)

    return made


EQ_13 = Claim(
    "decaying_k.eq_13",
    "Dividing (9) at round r by (9) at round 0, with F^* = 0, gives (13).",
    at("Section 3.5, eq. (13)"),
    Kind.EQUATION,
    Same(K_0 * CUBE_ROOT, _relative(K_PRINT, K_0), ratio=sp.cbrt(W / W_0)),
    known=Status.FAILS,
    note="The runtimes are dropped: the quotient also has the cube root of W_0 / W. The ceiling is left aside.",
    repair=Repair(
        "with the runtimes",
        All(
            {
                "formula": Same(K_TIMED, _relative(K_PRINT, K_0)),
                "conditions": States(K_TIMED, LOSSES, words=1, relation="="),
            }
        ),
        K_TIMED,
    ),
    damaged="the brackets of (13), read as a ceiling as in Table 3",
)

EQ_14 = Claim(
    "decaying_k.eq_14",
    "Dividing (11) at round r by (11) at round 0, with F^* = 0, gives (14).",
    at("Section 3.5, eq. (14)"),
    Kind.EQUATION,
    Same(eta_0 * SQUARE_ROOT, _relative(ETA_PRINT, eta_0), ratio=sp.sqrt(W / W_0)),
    known=Status.FAILS,
    note="The runtimes are dropped here too; tau + beta K and Z cancel for a fixed K.",
    repair=Repair(
        "with the runtimes",
        All(
            {
                "formula": Same(ETA_TIMED, _relative(ETA_PRINT, eta_0)),
                "conditions": States(ETA_TIMED, LOSSES, words=1, relation="="),
            }
        ),
        ETA_TIMED,
    ),
)

AT_ZERO = Claim(
    "decaying_k.k_0_at_zero",
    "K_0 is a good value of (9) at W = 0.",
    at("Section 3.5, before eq. (13)"),
    Kind.DEFINITION,
    OrderIs(At(K_PRINT, {F_star: 0}), W, 1, to=0, where=(sp.Gt(F_r, 0),)),
    known=Status.FAILS,
    note="(9) grows without limit as W falls to 0: a run without time has no best K, and (13) divides by it.",
)

# ---- the estimate of the loss ----

ROLLING_MEAN = Claim(
    "decaying_k.eq_15",
    "(15) is the mean of the losses reported over a window.",
    at("Section 3.5, eq. (15)"),
    Kind.EQUATION,
    Same(At(ROLLING, {reports: (s + 1) * N * F_r}), F_r, ratio=(s + 1) / s),
    known=Status.FAILS,
    note="The sum runs over the s + 1 rounds r - s to r and is divided by s: a loss that never changes comes out "
    "(s + 1)/s times too large, 1 % with s = 100, so that K_r-error can exceed K_0.",
    repair=Repair(
        "divided by s + 1",
        All(
            {
                "constant loss": Same(At(ROLLING_TRUE, {reports: (s + 1) * N * F_r}), F_r),
                "unit": MeasuredIn(ROLLING_TRUE, LOSS),
                "conditions": States(ROLLING_TRUE, words=1, relation="="),
            }
        ),
        ROLLING_TRUE,
    ),
)


def _window(book: Book) -> Finding:
    """Rounds of a window that all exist, for r about s = 100."""
    window = 100
    complete = [r_ for r_ in range(1, 205) if r_ - window >= 1]
    said = f"the {len(range(window + 1))} rounds r - {window} to r all exist from r = {complete[0]} on"
    return judged(complete[0] == window + 1, said)


WINDOW_START = Claim(
    "decaying_k.eq_15_start",
    "(15) cannot be computed in the first s rounds, and can from then on.",
    at("Section 3.5, after eq. (15)"),
    Kind.REMARK,
    All(
        {
            "rounds": Computed("counting the rounds of a window", _window),
            "sum over s N": Same(ROLLING, reports / (s * N)),
            "conditions": States(ROLLING, words=1, relation="="),
        }
    ),
    known=Status.HOLDS,
    note="With s rounds in the window it could in round s already.",
)


def _reports(weights: tuple[Fraction, ...]) -> Finding:
    """The mean over uniformly drawn clients of f_c(1) against F(1)."""
    problem = Scalars((Fraction(0), Fraction(4)), (Fraction(1),) * 2, weights=weights)
    x = Fraction(1)
    reported = sum(((x - b) ** 2 / 2 for b in problem.minima), Fraction(0)) / 2
    said = f"clients drawn uniformly report {reported} on average, F is {problem.loss(x)}"
    return judged(reported == problem.loss(x), said, {"p": ", ".join(map(str, weights)), "minima": "0, 4", "x": "1"})


UNBIASED = Claim(
    "decaying_k.loss_reports",
    "What a client reports is F(x_r) in expectation.",
    at("Section 3.5, before eq. (15)"),
    Kind.REMARK,
    Computed("two clients with shares 1/4 and 3/4", lambda book: _reports((Fraction(1, 4), Fraction(3, 4)))),
    known=Status.FAILS,
    note="A client's report has the mean f_c(x_r), and over uniformly drawn clients the plain mean of these, which is "
    "F only for equal shares.",
    repair=Repair(
        "over the draw of the clients, if their shares are equal",
        Computed("shares 1/2", lambda book: _reports((Fraction(1, 2),) * 2)),
    ),
)

ONE_FLOAT = Claim(
    "decaying_k.one_float",
    "Reporting the loss adds next to nothing to the communication.",
    at("Section 3.5, before eq. (15)"),
    Kind.REMARK,
    Computed("32 bits against the model sizes of Table 1", lambda book: _one_float()),
    known=Status.HOLDS,
)


def _one_float() -> Finding:
    most = max(Fraction(32, 10**6) / task.size for task in TASKS.values())
    return judged(most <= Fraction(1, 10**3), f"at most {float(100 * most):.2g} % of an upload")


# ---- Table 3 ----


def _schedule(key: str, steps: Formula, size: Formula, words: str, note: str = "") -> Claim:
    """A row of Table 3: local steps and step size of round r, and the conditions on the losses it divides."""
    names = {what: f"decaying_k.schedule_{key}_{what}" for what in ("steps", "step_size")}
    asked = {name: LOSSES if F_r in _symbols(key, what) else () for what, name in names.items()}
    checks: dict[str, Check] = {
        "local steps": Same(names["steps"], steps, where=asked[names["steps"]]),
        "step size": Same(names["step_size"], size, where=asked[names["step_size"]]),
        **{f"conditions of {what}": States(n, asked[n], relation="=") for what, n in names.items()},
    }
    place = at(f"Table 3, {SCHEDULES[key].title}")
    return Claim(f"decaying_k.table_3_{key}", words, place, Kind.TABLE, All(checks), known=Status.HOLDS, note=note)


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
        sp.Max(1, RoundUp(K_0 * CUBE_ROOT)),
        eta_0,
        "K_r-error is (13), rounded up.",
        note="The print has no lower limit of 1, which matters for a loss of 0 alone.",
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
    at("Table 3 with Table 1"),
    Kind.SETTING,
    Computed("K_0 / 10 from Table 1", _tenths),
    known=Status.HOLDS,
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
    at("Section 3.5 with Theorem 1"),
    Kind.SETTING,
    All({key: NeverIncreases(key) for key in ("k_error", "k_rounds", "k_step")}),
    known=Status.FAILS,
    note="K_r-error follows an estimate of the loss, which can rise again.",
    repair=Repair("K_r-rounds and K_r-step do", All({key: NeverIncreases(key) for key in ("k_rounds", "k_step")})),
)

CLAIMS: tuple[Claim, ...] = (
    EQ_13,
    EQ_14,
    AT_ZERO,
    ROLLING_MEAN,
    WINDOW_START,
    UNBIASED,
    ONE_FLOAT,
    *TABLE_3,
    TENTHS,
    NEVER_INCREASES,
)
