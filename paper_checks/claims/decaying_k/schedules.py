"""Section 3.5 and Table 3: the schedules, those that follow the loss, and its estimate (15)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import sympy as sp

from bounds.decaying_k.letters import eta_0, F_0, F_r, F_star, G2, h, K, K_0, L, mu, N, R, r, ratio, reports, s, W, W_0
from bounds.decaying_k.schedules import SCHEDULES
from bounds.numerics.rounding import RoundUp
from bounds.units import LOSS
from bounds.vocabulary import distance_sq, initial_distance_sq, plateau

from ..checkers import At, Formula, ImpliedBy, MeasuredIn, MonotoneIn, OrderIs, Same, States, term
from ..claim import Book, Check, Claim, Defect, Finding, judged, Kind, Repair
from ..parabolas import Scalars
from .common import REAL_ROOT
from .optima import ETA_PRINT, ETAR_CAP, K_PRINT, K_TRUE, KR_CAP
from .theorem import SIX

K_TIMED, ETA_TIMED = "decaying_k.k_error_with_time", "decaying_k.eta_error_with_time"
ROLLING, ROLLING_TRUE = "decaying_k.rolling_loss_printed", "decaying_k.rolling_loss"
OWN_CAP = At("decaying_k.gradient_cap", {initial_distance_sq: distance_sq})
LOSSES = (sp.Gt(F_0, 0), sp.Ge(F_r, 0))
K_LEFT, ETA_LEFT = sp.cbrt(W / W_0), sp.sqrt(W / W_0)
"""What the runtimes of two rounds leave in the quotients."""
CUBE_ROOT, SQUARE_ROOT = sp.cbrt(F_r / F_0), sp.sqrt(F_r / F_0)


def _relative(optimum: str, start: sp.Expr) -> Callable[[Book], sp.Expr]:
    """The optimum with F^* = 0 for (F_r, W), over the one for (F_0, W_0), times what was chosen there."""

    def made(book: Book) -> sp.Expr:
        now = book[optimum].expr.subs(F_star, 0)
        return start * now / now.subs({F_r: F_0, W: W_0}, simultaneous=True)

    return made


QUOTIENTS = Claim(
    "decaying_k.eq_13",
    "Dividing (9), and (11), at round r by what they are at round 0, with F^* = 0, gives (13) and (14).",
    Kind.EQUATION.at("Section 3.5, eqs. (13), (14)"),
    {
        "(13), one runtime": Same(K_0 * CUBE_ROOT, At(_relative(K_PRINT, K_0), {W: W_0})),
        "(14), one runtime": Same(eta_0 * SQUARE_ROOT, At(_relative(ETA_PRINT, eta_0), {W: W_0})),
        "(13), its runtimes": Same(K_0 * CUBE_ROOT, _relative(K_PRINT, K_0), K_LEFT, where=LOSSES),
        "(14), its runtimes": Same(eta_0 * SQUARE_ROOT, _relative(ETA_PRINT, eta_0), ETA_LEFT, where=LOSSES),
        "(13) with time": Same(K_TIMED, _relative(K_PRINT, K_0)),
        "(14) with time": Same(ETA_TIMED, _relative(ETA_PRINT, eta_0)),
        **{f"conditions of {n}": States(n, LOSSES, words=1, relation="=") for n in (K_TIMED, ETA_TIMED)},
    },
    wrong=("(13), its runtimes", "(14), its runtimes"),
    note="It holds if one runtime and one G (decaying_k.restart) are put into both. At the runtimes of the "
    "two rounds the quotients also have the cube (square) root of W_0 / W; the text puts round 0 at W = 0, where (9) "
    "has no value (decaying_k.k_0_at_zero), and lets W grow in (10). tau + beta K and Z cancel for a fixed K; "
    "the ceiling is left aside.",
    damaged="the brackets of (13), read as a ceiling as in Table 3",
    defect=Defect.READING,
)


AT_ZERO = Claim(
    "decaying_k.k_0_at_zero",
    "K_0, a good value of K at W = 0, replaces (9) at W = 0 when (13) is formed.",
    Kind.DEFINITION.at("Section 3.5, before eq. (13)"),
    OrderIs(At(K_PRINT, {F_star: 0}), W, 1, to=0, where=(sp.Gt(F_r, 0),)),
    note="(9) grows without limit as W falls to 0: a run without time has no best K, and (13) divides by it. It "
    "holds if W is read as the whole runtime, which the best K from the start belongs to.",
    defect=Defect.READING,
)


def _of_new_run(smallest: sp.Expr) -> At:
    """The best K of a run begun where a loss of curvature h is h/2 ||x - x^*||^2 above the smallest, with its own G."""
    return At(K_TRUE, {F_star: smallest, F_r: smallest + h / 2 * distance_sq, G2: OWN_CAP})


CURVED = (mu <= h, h <= L)
RESTART = Claim(
    "decaying_k.restart",
    "As every round may be seen as a new run, the best K falls while the loss falls from round to round.",
    Kind.REMARK.at("Section 3.4, first paragraph; Section 3.5, before eq. (13)"),
    {
        "F^* = 0": MonotoneIn(_of_new_run(sp.S.Zero), distance_sq, up=True, where=CURVED),
        "F^* > 0": MonotoneIn(_of_new_run(F_star), distance_sq, up=True, where=(*CURVED, sp.Gt(F_star, 0), mu < L)),
    },
    wrong=("F^* = 0", "F^* > 0"),
    note="It holds if one G bounds the gradients of all rounds, and fails with the G of the text, L times the distance "
    "from the start of the run to x^*: a new run has a new G, and G^2 falls as the loss does. With F^* = 0 the best K "
    "of the new runs changes by the cube root of kappa at most, and for a loss of one curvature not at all; with "
    "F^* > 0 it can even rise. (13) does not show it, as (9) has lost G: "
    "for clients x^2/2 the best K from x = 1 is that from x = 4, and (13) has cbrt(1/16) times it.",
    repair=Repair(
        "with one G for the whole run the best K falls with the loss",
        MonotoneIn(K_TRUE, F_r, up=True, where=(REAL_ROOT,)),
        K_TRUE,
    ),
    about=("decaying_k.gradient_cap",),
    defect=Defect.READING,
)

# ---- the estimate of the loss ----

ROLLING_MEAN = Claim(
    "decaying_k.eq_15",
    "(15) is the mean of the losses reported over a window.",
    Kind.EQUATION.at("Section 3.5, eq. (15)"),
    {
        "constant loss": Same(At(ROLLING, {reports: (s + 1) * N * F_r}), F_r, ratio=(s + 1) / s),
        "sum over s N": Same(ROLLING, reports / (s * N)),
        "conditions": States(ROLLING, words=1, relation="="),
    },
    wrong=("constant loss",),
    note="The sum runs over the s + 1 rounds r - s to r and is divided by s: a loss that never "
    "changes comes out (s + 1)/s times too large, 1 % with s = 100. In (13) that cancels only if F(x_0) is estimated "
    "the same way.",
    repair=Repair(
        "divided by s + 1",
        {
            "constant loss": Same(At(ROLLING_TRUE, {reports: (s + 1) * N * F_r}), F_r),
            "unit": MeasuredIn(ROLLING_TRUE, LOSS),
            "conditions": States(ROLLING_TRUE, words=1, relation="="),
        },
        ROLLING_TRUE,
    ),
    defect=Defect.SLIP,
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
    Kind.REMARK.at("Section 3.5, before eq. (15)"),
    lambda book: _reports((Fraction(1, 4), Fraction(3, 4))),
    note="A client's report has the mean f_c(x_r), and over uniformly drawn clients the plain mean of these, which is "
    "F only for equal shares.",
    repair=Repair(
        "over the draw of the clients, if their shares are equal", lambda book: _reports((Fraction(1, 2),) * 2)
    ),
    defect=Defect.REFUTED,
)

# ---- Table 3 ----


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
    note="(10) is for a run of R rounds in all; that R may be replaced by the current round is the step which "
    "decaying_k.theorem_2_decay refutes. K_r-error prints no lower limit of 1, which matters for a loss of 0 alone; "
    "the schedule has it. K_0 / 10, printed without a ceiling, is a whole number in every task.",
)


DECAYING = ("k_rounds", "k_error", "k_step")


def _beside_even(book: Book) -> Finding:
    """The drift of (6) for 1,000 rounds from K_0 = 80, over that of as many rounds and steps evenly spread."""
    found = {}
    for key in DECAYING:
        plan = SCHEDULES[key].plan(
            rounds=1000, initial_local_steps=80, initial_step_size=0.1, losses=30 / (30 + np.arange(1000)),
            plateau_round=501,
        )  # fmt: skip
        steps = [int(k) for k in plan.local_steps]
        each, more = divmod(sum(steps), len(steps))
        even = [each + 1] * more + [each] * (len(steps) - more)
        ratios = [sp.Rational(sum(k**3 for k in spread), sum(spread)) for spread in (steps, even)]
        own, evened = (term(SIX, "drift")(book).subs(ratio, value) for value in ratios)
        found[SCHEDULES[key].title] = float(sp.simplify(own / evened))
    said = ", ".join(f"{title}: {times:.3g}" for title, times in found.items())
    witness = {"K_0": "80", "R": "1000", "loss": "30/(29 + r)", "plateau": "501"}
    above = min(found.values()) > 1
    return judged(max(found.values()) <= 1, f"drift of (6) over that of even rounds, {said}", witness, above)


SUPPORTED = Claim(
    "decaying_k.three_schedules",
    "Three schedules that decay K are motivated by the theory.",
    Kind.REMARK.at("Abstract; Section 1, organisation; Table 3"),
    {
        "any schedule": ImpliedBy(3 * K_0**2 * K - 2 * K_0**3, K**3, squares=((K - K_0) ** 2 * (K + 2 * K_0),)),
        "(6) grows with the ratio": MonotoneIn(SIX, ratio, up=True, where=(sp.Gt(G2, 0),)),
        "the three": _beside_even,
    },
    wrong=("the three",),
    note="As K^3 >= 3 m^2 K - 2 m^3 in every round, m the mean number of steps, sum K^3 / sum K is smallest for equal "
    "K_r. Rounds and steps fix the runtime (5) and the first term of (6), so that Theorem 1 prefers "
    "equal K_r to every decaying schedule of the same cost, and the improved bound does too; that decaying K can gain "
    "neither shows (decaying_k.remark_1_1_decay). What motivates two of "
    "them reads the runtime ahead as the time passed (decaying_k.theorem_2_decay) and keeps G through restarts "
    "(decaying_k.restart); the list of contributions counts two, and calls the third a practical heuristic.",
    defect=Defect.GAP,
)
