"""Algorithm 1: its lines in plain loops, the identity (15), beta = 0, the released code, and what the start does."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, product
from typing import TYPE_CHECKING

from ..checkers import Computed, Prints
from ..claim import Book, Claim, fails, Finding, holds, Kind, Repair, Status
from ..parabolas import followed
from .by_hand.absent import collapses

if TYPE_CHECKING:
    from empirics.exact import ExactRun

CURVATURES = (Fraction(1, 2), Fraction(2), Fraction(5, 4))
MINIMA = (Fraction(3), Fraction(-1), Fraction(1, 3))
START = Fraction(7, 5)
STEPS, STEP, ROUNDS = 3, Fraction(1, 10), 3
Model = Fraction
Models = tuple[Fraction, ...]


def _round(w: Model, last: Models, cohort: Iterable[int], beta: Fraction) -> tuple[Model, Models]:
    """Lines 3 to 12 of Algorithm 1 for three parabolas without noise."""
    drawn, ends = tuple(cohort), list(last)
    for i in drawn:
        local = w + beta * (w - last[i])
        for _ in range(STEPS):
            local -= STEP * CURVATURES[i] * (local - MINIMA[i])
        ends[i] = local
    return sum((ends[i] for i in drawn), Fraction(0)) / len(drawn), tuple(ends)


def _mean_square(drawn: int, beta: Fraction) -> Fraction:
    """Mean over all sequences of cohorts of the squared server model after the last round."""
    cohorts = list(combinations(range(3), drawn))
    squares = []
    for sequence in product(cohorts, repeat=ROUNDS):
        w = START
        last: Models = (START,) * 3
        for cohort in sequence:
            w, last = _round(w, last, cohort, beta)
        squares.append(w * w)
    return sum(squares, Fraction(0)) / len(squares)


def _run(written: str, drawn: int, rounds: int = ROUNDS) -> ExactRun:
    """The project's implementation on the same federation, followed exactly."""
    return followed(
        written, CURVATURES, MINIMA, START, rounds=rounds, cohort=drawn, local_steps=STEPS, step_size=float(STEP)
    )


def _second_moment(written: str, drawn: int) -> float:
    """E ||w||^2 of the last server model, from the moments of the state."""
    run = _run(written, drawn)
    part = run.player.layout.part("model")
    last = list(run.moments())[-1]
    return float(last.mean[part][0] ** 2 + last.covariance[part, part][0, 0])


def _listing(book: Book) -> Finding:
    for drawn in (1, 2, 3):
        for beta in (Fraction(0), Fraction(1, 10), Fraction(-1, 5)):
            mine = float(_mean_square(drawn, beta))
            theirs = _second_moment(f"fedinit(beta={float(beta)})", drawn)
            if abs(theirs / mine - 1) > 1e-10:
                return fails(f"{theirs:.8g} against {mine:.8g}", {"N": drawn, "beta": beta})
    return holds(
        "second moments of w^T agree to 10 digits for N = 1, 2, 3 and beta = -0.2, 0, 0.1, all cohorts enumerated"
    )


LISTING = Claim(
    "fedinit.algorithm_1",
    "Algorithm 1: start at w^t + beta(w^t - last local model), K local steps, the mean of the participants' models.",
    Kind.ALGORITHM.at("Algorithm 1"),
    Computed("plays the listing in plain loops against the project's implementation", _listing),
    note="With the latest local model of a client that was not drawn before taken to be the one it had.",
)


def _identity(participants: bool) -> Finding:
    """w^{t+1} - w_{i,K}^t against beta (w_{i,K}^{t-1} - w^t) + (w^{t+1} - w^t) + what the gradients added."""
    beta, w = Fraction(1, 7), START
    last: Models = (START,) * 3
    for cohort in ((0, 1, 2), (1, 2), (0,)):
        after, ends = _round(w, last, cohort, beta)
        for i in cohort if participants else range(3):
            steps = w + beta * (w - last[i]) - ends[i] if i in cohort else Fraction(0)
            left, right = after - ends[i], beta * (last[i] - w) + (after - w) + steps
            if left != right:
                at = {"participants": cohort, "client": i, "left": left, "right": right}
                return fails(f"client {i} of cohort {cohort}: {left} against {right}", at, i not in cohort)
        w, last = after, ends
    return holds(f"exact for every {'participant' if participants else 'client'} in three rounds")


IDENTITY = Claim(
    "fedinit.identity",
    "(15) holds for every client i in C, as the divergence Delta^t over all clients needs.",
    Kind.EQUATION.at("Section 4.3.3, eq. (15)"),
    Computed("plays three rounds of Algorithm 1 in exact arithmetic", lambda book: _identity(participants=False)),
    known=Status.FAILS,
    note="A client that does not take part makes no move: its w_{i,K}^t is its w_{i,K}^{t-1}. Lemma 4 averages (15) "
    "over all clients. Were all clients to train in every round and N be averaged, it would hold for all.",
    repair=Repair("for participants", Computed("the same rounds", lambda book: _identity(participants=True))),
)


def _first_round(book: Book) -> Finding:
    """The initialisation of Algorithm 1: all differences to the server model are 0, whatever beta."""
    found = {
        beta: _round(START, (START,) * 3, (0, 2), beta) for beta in (Fraction(0), Fraction(1, 10), Fraction(9, 10))
    }
    if len(set(found.values())) != 1:
        return fails("the first round depends on beta", {str(b): v for b, v in found.items()})
    return holds("the first round is the same for beta = 0, 0.1, 0.9")


INITIAL = Claim(
    "fedinit.algorithm_1.initial",
    "With w^{-1} = w_{i,K}^{-1} = w^0 the divergence starts at 0 and the first round is FedAvg's.",
    Kind.ALGORITHM.at("Algorithm 1, initial states"),
    Computed("plays the first round for three relaxations", _first_round),
)


def _no_relaxation(book: Book) -> Finding:
    for drawn in (1, 2, 3):
        ours, fedavg = (_second_moment(name, drawn) for name in ("fedinit(beta=0.0)", "fedavg"))
        if ours != fedavg:
            return fails(f"{ours!r} against {fedavg!r}", {"N": drawn})
    return holds("the same numbers to the last bit for N = 1, 2, 3")


FEDAVG = Claim(
    "fedinit.algorithm_1.beta_0",
    "FedInit with beta = 0 is FedAvg.",
    Kind.ALGORITHM.at("Section 5.2, Consistency"),
    Computed("runs both implementations", _no_relaxation),
)


def _code(drawn: tuple[int, ...]) -> Computed:
    def run(book: Book) -> Finding:
        for n in drawn:
            listing, code = (_second_moment(f"fedinit(beta=0.1, reading='{r}')", n) for r in ("printed", "code"))
            if abs(code / listing - 1) > 1e-10:
                return fails(
                    f"N = {n}: E w^2 is {code:.8g} in the code, {listing:.8g} by Algorithm 1", {"N": n, "C": 3}, n == 1
                )
        return holds("equal second moments to 10 digits")

    return Computed("follows both exactly", run)


CODE = Claim(
    "fedinit.algorithm_1.code",
    "The released code, which averages the moves from the relaxed starts, performs Algorithm 1, which averages models.",
    Kind.ALGORITHM.at("Algorithm 1, line 12; released code"),
    _code((1, 2)),
    known=Status.FAILS,
    note="Ours: the paper does not compare them. The mean of the participants' offsets beta (w^t - last model) is in "
    "Algorithm 1's average, not in the code's.",
    repair=Repair("with all clients in every round, where the offsets cancel", _code((3,))),
)


def _divergences(book: Book) -> dict[str, float]:
    """Exact divergence after ten rounds of full participation for three relaxations."""
    return {
        f"beta={b}": float(_run(f"fedinit(beta={b})", 3, rounds=10).run().server["divergence"][-1])
        for b in (-0.1, 0.0, 0.1)
    }


def _gathers(book: Book) -> Finding:
    found = _divergences(book)
    if not found["beta=0.1"] < found["beta=0.0"] < found["beta=-0.1"]:
        return fails("the divergence does not fall with beta", found)
    return holds("; ".join(f"{name}: {value:.5g}" for name, value in found.items()))


def _closed_form(book: Book) -> Finding:
    """Two clients of equal curvature: the limit of Algorithm 1's divergence against the closed form."""
    shrink = 0.9**4
    for beta in (-0.3, 0.0, 0.1, 0.6):
        run = followed(f"fedinit(beta={beta})", (1, 1), (1, -3), 0.5, rounds=60, cohort=2, local_steps=4, step_size=0.1)
        found = float(run.run().server["divergence"][-1])
        wanted = (2 * (1 - shrink) / (1 + beta * shrink)) ** 2
        if abs(found / wanted - 1) > 1e-8:
            return fails(f"{found:.8g} against {wanted:.8g}", {"beta": beta})
    return holds("the limit is ((1-q) delta/(1 + beta q))^2 for beta = -0.3, 0, 0.1, 0.6")


GATHERS = Claim(
    "fedinit.start.gathers",
    "Starting beyond the server model draws the local models together after training; starting nearer lets them part.",
    Kind.REMARK.at("Section 3.2; Section 5.2"),
    {
        "three parabolas, ten rounds": Computed("exact divergences for three relaxations", _gathers),
        "equal curvatures": Computed("60 rounds, four relaxations", _closed_form),
    },
    note="For equal curvatures a: without noise the divergence is multiplied by 1/(1 + beta q)^2, q = (1 - eta a)^K. "
    "Table 3 measures the opposite sign at -0.1 and at 0.01.",
)

THRESHOLD = Claim(
    "fedinit.start.threshold",
    "With 10 of 100 clients training diverges quickly beyond a threshold of beta, between 0.1 and 0.15 in Table 3.",
    Kind.REMARK.at("Section 5.2, Hyperparameters; Table 3"),
    Computed("expected models of Algorithm 1 on equal parabolas, ten of 100 clients a round", collapses),
    note="On parabolas of equal curvature the expected models of Algorithm 1 stay bounded exactly while beta < "
    "C/(a(C-N)) - 1, a = (1 - eta L)^K, which is N/(C-N) as the step vanishes: 1/9 at 10 of 100, 1/19 at 10 of 200, "
    "none where all take part. Old models of absent clients are the cause, not the relaxed start alone. The released "
    "code averages moves and has no such threshold.",
)


def _messages() -> dict[str, float]:
    """Vectors received and sent by a participant, over FedAvg's, in the project's implementations."""
    from empirics.algorithms import algorithm

    base = algorithm("fedavg")
    names = {"FedInit": "fedinit(beta=0.1)", "FedSAM": "fedsam()", "SCAFFOLD": "scaffold()", "FedDyn": "feddyn()"}
    made = {name: algorithm(text) for name, text in names.items()}
    return {n: (a.uploads + a.downloads) / (base.uploads + base.downloads) for n, a in made.items()}


NO_EXTRA = Claim(
    "fedinit.start.communication",
    "The relaxed start needs no extra communication; per round it costs what FedAvg costs, SCAFFOLD twice that.",
    Kind.ALGORITHM.at("Section 3.2; Table 8"),
    Prints({"FedInit": "1", "FedSAM": "1", "SCAFFOLD": "2", "FedDyn": "1"}, _messages),
)
