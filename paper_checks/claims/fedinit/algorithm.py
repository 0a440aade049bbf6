"""Algorithm 1: its lines in plain loops, the identity (15), the released code, and what the relaxed start does."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ..checkers import Computed
from ..claim import Book, Claim, Defect, fails, Finding, Grade, holds, judged, Kind, Repair
from ..parabolas import followed
from .by_hand.absent import collapses

CURVATURES = (Fraction(1, 2), Fraction(2), Fraction(5, 4))
MINIMA = (Fraction(3), Fraction(-1), Fraction(1, 3))
START = Fraction(7, 5)
STEPS, STEP = 3, Fraction(1, 10)
Model = Fraction
Models = tuple[Fraction, ...]


def _round(w: Model, last: Models, cohort: Iterable[int], beta: Fraction, moves: bool = False) -> tuple[Model, Models]:
    """Lines 3 to 12 of Algorithm 1 for three parabolas without noise; ``moves``: as the released code averages."""
    drawn, ends, added = tuple(cohort), list(last), Fraction(0)
    for i in drawn:
        local = start = w + beta * (w - last[i])
        for _ in range(STEPS):
            local -= STEP * CURVATURES[i] * (local - MINIMA[i])
        ends[i], added = local, added + (local - start if moves else local - w)
    return w + added / len(drawn), tuple(ends)


def _identity(participants: bool, moves: bool = False) -> Finding:
    """w^{t+1} - w_{i,K}^t against beta (w_{i,K}^{t-1} - w^t) + (w^{t+1} - w^t) + what the gradients added."""
    beta, w = Fraction(1, 7), START
    last: Models = (START,) * 3
    for cohort in ((0, 1, 2), (1, 2), (0,)):
        after, ends = _round(w, last, cohort, beta, moves)
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
    note="A client that does not take part makes no move: its w_{i,K}^t is its w_{i,K}^{t-1}. Lemma 4 averages (15) "
    "over all clients. Were all clients to train in every round and N be averaged, it would hold for all: it is one "
    "client's steps, whatever the server averages.",
    repair=Repair(
        "for participants, as listed and in the released code",
        {
            "listed": Computed("the same rounds", lambda book: _identity(participants=True)),
            "released code": Computed("the same rounds, moves averaged", lambda book: _identity(True, moves=True)),
        },
    ),
    defect=Defect.GAP,
)


def _code(cohorts: tuple[tuple[int, ...], ...]) -> Computed:
    def run(book: Book) -> Finding:
        models = [START, START]
        lasts: list[Models] = [(START,) * 3] * 2
        for r, cohort in enumerate(cohorts, start=1):
            for way in (0, 1):
                models[way], lasts[way] = _round(models[way], lasts[way], cohort, Fraction(1, 10), moves=bool(way))
            if models[0] != models[1]:
                said = (
                    f"after round {r} the model is {float(models[1]):.6g} in the code, {float(models[0]):.6g} as listed"
                )
                return fails(said, {"cohorts": cohorts, "beta": Fraction(1, 10)}, r == 2)
        return holds(f"equal in {len(cohorts)} rounds")

    return Computed("plays both on three parabolas", run)


CODE = Claim(
    "fedinit.algorithm_1.code",
    "The released code, which averages the moves from the relaxed starts, performs Algorithm 1, which averages models.",
    Kind.ALGORITHM.at("Algorithm 1, line 12; released code"),
    _code(((0,), (1,), (0, 2))),
    note="The paper does not compare them. The mean of the participants' offsets beta (w^t - last model) is in "
    "Algorithm 1's average, not in the code's.",
    repair=Repair("with all clients in every round, where the offsets cancel", _code(((0, 1, 2),) * 4)),
    defect=Defect.READING,
    ours=True,
)


def _closed_form(book: Book) -> Finding:
    """Two clients of equal curvature: the limit of Algorithm 1's divergence against the closed form."""
    shrink = 0.9**4
    for beta in (-0.3, 0.0, 0.1, 0.6):
        run = followed(f"fedinit(beta={beta})", (1, 1), (1, -3), 0.5, rounds=60, cohort=2, local_steps=4, step_size=0.1)
        found = float(run.server["divergence"][-1])
        wanted = (2 * (1 - shrink) / (1 + beta * shrink)) ** 2
        if abs(found / wanted - 1) > 1e-8:
            return fails(f"{found:.8g} against {wanted:.8g}", {"beta": beta})
    return holds("the limit is ((1-q) delta/(1 + beta q))^2 for beta = -0.3, 0, 0.1, 0.6", Grade.SEARCHED)


GATHERS = Claim(
    "fedinit.start.gathers",
    "Starting beyond the server model draws the local models together after training; starting nearer lets them part "
    "(where all take part, curvatures are equal and gradients have no noise).",
    Kind.REMARK.at("Section 3.2; Section 5.2"),
    Computed("60 rounds of two clients of equal curvature, four relaxations", _closed_form),
    note="For equal curvatures a: without noise the divergence is multiplied by 1/(1 + beta q)^2, q = (1 - eta a)^K. "
    "With noise see fedinit.start.gathers_noise. Table 3 measures the opposite sign at -0.1 and at 0.01.",
)


def _noisy(minima: int) -> Computed:
    """Clients (w -/+ m)^2/2 in every round, K = 1, eta = 1/2, noise 1: the divergence settles at beta = 0 and 1/10."""

    def settled(beta: Fraction) -> Fraction:
        shrink = added = Fraction(1, 2)  # q = 1 - eta; noise of variance eta^2 in each of two clients
        return (minima * (1 - shrink) / (1 + beta * shrink)) ** 2 + added**2 / 2 / (1 - (beta * shrink) ** 2)

    def run(book: Book) -> Finding:
        plain, relaxed = settled(Fraction(0)), settled(Fraction(1, 10))
        at = {"f_i": f"(w -/+ {minima})^2/2", "C = N": 2, "K": 1, "eta": "1/2", "sigma_l^2": 1, "beta": "1/10"}
        return judged(relaxed < plain, f"the divergence settles at {relaxed}, at beta = 0 at {plain}", at)

    return Computed("what two noisy clients of equal curvature settle at, in exact numbers", run)


GATHERS_NOISE = Claim(
    "fedinit.start.gathers_noise",
    "Starting beyond the server model draws the local models together whatever keeps them apart, noise too.",
    Kind.REMARK.at("Section 3.2"),
    _noisy(0),
    note="What noise parts, a relaxed start of either sign parts further: by 1/(1 - beta^2 q^2) where disagreement is "
    "multiplied by 1/(1 + beta q)^2. Section 3.2 names the local offset, not where it comes from.",
    repair=Repair("where disagreement outweighs the noise", _noisy(1)),
    defect=Defect.READING,
    ours=True,
)

THRESHOLD = Claim(
    "fedinit.start.threshold",
    "On parabolas of equal curvature L, without noise, the expected models of Algorithm 1 as listed grow from "
    "beta = C/(a(C-N)) - 1 on, a = (1 - eta L)^K; those of the released code grow at no beta below 1.",
    Kind.REMARK.at("Section 5.2, Hyperparameters; Table 3"),
    Computed("the eigenvalues of the map of both expected models, symbolically", collapses),
    note="N/(C-N) as the step vanishes: 1/9 at 10 of 100, 1/19 at 10 of 200, none where all take part; and none where "
    "all clients train, whose last models average to the server model in expectation. Old models of absent clients are "
    "the cause. Section 5.2 speaks of networks: Table 3 collapses between 0.1 and 0.15, on either side of 1/9, but the "
    "released code averages moves, and expected models of parabolas do not explain its training.",
    ours=True,
)
