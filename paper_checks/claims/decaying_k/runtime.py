"""The runtime model, eqs. (3) to (5) and (7), and what the text says of it."""

from __future__ import annotations

import sympy as sp

from bounds.decaying_k.letters import beta, beta_c, D, D_c, eta, K, R, T, U, U_c, x
from bounds.operators import ClientMax, equal_clients
from bounds.units import SECOND

from ..checkers import ArgminIs, At, MeasuredIn, MonotoneIn, Same, States
from ..checkers.points import near, points, value
from ..claim import Book, Check, Claim, Defect, Finding, judged, Kind, Repair
from .common import TAU
from .measured import TASKS

ROUND = "decaying_k.client_round"
SLOWEST = "decaying_k.round_time"
RUN = "decaying_k.runtime"
FIXED = "decaying_k.runtime_fixed"


def _alike_rounds(book: Book) -> Finding:
    """(4) for equal clients, summed over rounds of 7, 4, 4 and 2 steps, against (5) with R = 4 and T = 17."""
    by_name = {"client_download_rate": D, "client_upload_rate": U, "client_minibatch_time": beta}
    one = equal_clients(book[SLOWEST].expr)
    one = one.subs({s: by_name[s.name] for s in one.free_symbols if s.name in by_name}, simultaneous=True)
    summed = sp.Add(*(one.subs(K, k) for k in (7, 4, 4, 2)))
    stated = book[RUN].expr.subs({R: 4, T: 17})
    for point in points((summed, stated), 4):
        if not near(value(summed, point), value(stated, point)):
            return judged(False, f"(4) sums to {value(summed, point)}, (5) says {value(stated, point)}")
    return judged(True, "four rounds of unequal length sum to it at 4 generic points")


TOTAL = Claim(
    "decaying_k.eq_5",
    "A client's round takes its download, K_r SGD steps and its upload, (3), a round as long as its slowest client, "
    "(4); for equal clients the rounds add up to (5), and with K_r = K to (7).",
    Kind.EQUATION.at("Section 3.2, eqs. (3) to (5); Section 3.4, eq. (7); Remark 1.4"),
    {
        "(3)": Same(ROUND, x / D_c + x / U_c + beta_c * K),
        "(3) grows with K_r": MonotoneIn(ROUND, K, up=True, where=(sp.Gt(beta_c, 0),)),
        "(4)": Same(SLOWEST, lambda book: ClientMax(book[ROUND].expr)),
        "sum of (4)": _alike_rounds,
        "(5)": Same(RUN, R * TAU + beta * T),
        "(7) from (5)": Same(FIXED, At(RUN, {R: T / K})),
        "(7)": Same(FIXED, T / K * (TAU + beta * K)),
        **{f"{name} in seconds": MeasuredIn(name, SECOND) for name in (ROUND, SLOWEST, RUN, FIXED)},
        "conditions of (3)": States(ROUND, words=1, relation="="),
        "conditions of (4)": States(SLOWEST, words=2, relation="="),
        "conditions of (5)": States(RUN, (R <= T,), words=1, relation="="),
        "conditions of (7)": States(FIXED, (K <= T,), words=1, relation="="),
    },
    note="The print sets the download rate equal to the letter C, a slip for D. As every client takes longer with a "
    "larger K_r, fewer complete a round by a deadline (Remark 1.4); the theorem takes N as constant all the same.",
    damaged="D^c = C, read as D^c = D",
)


def _communication_dominates(steps: str) -> Check:
    def run(book: Book) -> Finding:
        ratios = {n: t.communication / t.computation(t.first_steps if steps == "K_0" else 1) for n, t in TASKS.items()}
        broken = {n: f"{float(r):.3g}" for n, r in ratios.items() if r < 10}
        said = "; ".join(f"{n}: {float(r):.3g}" for n, r in ratios.items())
        wanted = len(TASKS) if steps == "K_0" else 1
        return judged(not broken, f"tau over beta K at K = {steps}: {said}", broken, len(broken) == wanted)

    return run


COMMUNICATION_DOMINATES = Claim(
    "decaying_k.remark_2_3_setting",
    "Communication takes much longer than computation, tau >> beta K, as (10) and its schedule take it.",
    Kind.SETTING.at("Remark 2.3"),
    _communication_dominates("K_0"),
    note="The remark only supposes it. As Section 3.2 says, computation can take most of a round: it does in three of "
    "the four tasks. With the paper's own numbers tau is never more than 1.24 beta K_0, and "
    "0.011 beta K_0 for Shakespeare, where it is smaller than beta even with one local step. 'Much larger' is read as "
    "ten times.",
    repair=Repair(
        "for a given number of rounds the assumption is not needed: (10) and (12) then follow from (6) with T = K R",
        {
            "K": ArgminIs("decaying_k.per_rounds", K, "decaying_k.k_star_rounds"),
            "step size": ArgminIs("decaying_k.per_rounds", eta, "decaying_k.eta_star_rounds"),
        },
    ),
    defect=Defect.SETTINGS,
    ours=True,
)
