"""Assumptions 1 to 3: the constants G and Gamma, and what is said of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from bounds.decaying_k.letters import eta, h, L, mu
from bounds.vocabulary import distance_sq, initial_distance_sq

from ..checkers import All, ImpliedBy, number, Same, short, States
from ..claim import Book, Claim, Defect, Finding, Grade, holds, judged, Kind, Repair
from ..parabolas import Scalars
from .common import CAP

GRADIENT_CAP = "decaying_k.gradient_cap"
OPPOSED = Scalars.of((1, -1))


def _passes_on(book: Book) -> Finding:
    """The inequalities of A1 and A2 for F, with the clients' constants, at all pairs of seven points."""
    problem = Scalars(
        tuple(map(Fraction, (3, -1, 2))),
        tuple(map(Fraction, (1, 4, 2))),
        weights=(Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),
    )
    for x, y in product(map(Fraction, range(-3, 4)), repeat=2):
        excess = problem.loss(x) - problem.loss(y) - (x - y) * problem.global_gradient(y)
        if not problem.strong_convexity * (x - y) ** 2 / 2 <= excess <= problem.smoothness * (x - y) ** 2 / 2:
            return judged(False, f"fails between {x} and {y}", {"x": str(x), "y": str(y)})
    bends = problem.strong_convexity < problem.curvature < problem.smoothness
    return judged(bends, "clients of curvature 1, 4 and 2", grade=Grade.SEARCHED)


CONVEX_COMBINATION = Claim(
    "decaying_k.assumptions_1_2",
    "F, a convex combination of the f_c, is L-smooth and mu-strongly convex as they are, and mu <= L.",
    Kind.ASSUMPTION.at("Assumptions 1 and 2; A.1, before eq. (22)"),
    {"F": _passes_on, "mu <= L": ImpliedBy(mu / 2 * distance_sq, L / 2 * distance_sq, where=(mu <= h, h <= L))},
)


# ---- G ----


def _federated(book: Book) -> Finding:
    """Opposed clients, one drawn, four steps of 1/20 from 1/100."""
    start = Fraction(1, 100)
    cap = number(book, GRADIENT_CAP, smoothness=1, initial_distance_sq=start**2)
    server = sum(p * OPPOSED.global_gradient(x) ** 2 for p, x in OPPOSED.round_ends(start, 1, 4, Fraction(1, 20)))
    client = max(OPPOSED.gradient(c, start) ** 2 for c in range(2))
    said = f"G^2 = {cap}; E||grad F||^2 after one round {short(server)}; a client's first gradient {short(client)}"
    witness = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x_1": "1/100", "N": "1", "K": "4", "eta": "1/20"}
    return judged(max(server, client) <= cap, said, witness, server > 300 * cap and client > 10**4 * cap)


FEDERATED = Claim(
    "decaying_k.gradient_cap_of_training",
    "G^2 = L^2 ||x_1 - x^*||^2, which bounds the gradients of F along gradient descent, is the largest squared "
    "gradient norm during federated training.",
    Kind.DEFINITION.at("Section 3.3, definition of G; Appendix A.1"),
    All(
        {
            "training": _federated,
            "formula": Same(GRADIENT_CAP, L**2 * initial_distance_sq),
            "smooth": ImpliedBy(h**2 * initial_distance_sq, GRADIENT_CAP, where=(h <= L,)),
            "never further": ImpliedBy((1 - eta * h) ** 2 * distance_sq, distance_sq, where=(h <= L, CAP)),
            "conditions": States(GRADIENT_CAP, assumptions=("smooth",), relation="="),
        },
        wrong=("training",),
    ),
    note="Along full gradient descent on F it does, with steps up to 2/L. Clients descend their own losses, and a "
    "round ends at the mean of a few of them; started at x^* the defined G is even 0. Nor are the assumptions as "
    "strong as those of the work whose lemma is taken over: there G bounds the clients' stochastic gradients, which "
    "A1 to A3 do not give and no client of a strongly convex loss has on the whole space.",
    repair=Repair(
        "L times the largest distance to the clients' minima, for exact gradients and while models stay between them, "
        "as in one dimension; in two they may leave",
        lambda book: _hull(book),
    ),
    defect=Defect.REFUTED,
)


def _hull(book: Book) -> Finding:
    start, cap = Fraction(1, 100), Fraction(2) ** 2
    models = [x for c in range(2) for x in OPPOSED.local(c, start, 4, Fraction(1, 20))]
    largest = max(OPPOSED.gradient(c, x) ** 2 for c in range(2) for x in models)
    return judged(largest <= cap, f"largest squared client gradient {short(largest)} against {cap}")


# ---- Gamma ----


def _heterogeneous(book: Book) -> Finding:
    """Gamma over pairs of minima and curvatures: zero only where both minima agree."""
    seen = []
    for minima in product((-1, 0, 1), repeat=2):
        for bends in ((1, 1), (1, 3)):
            problem = Scalars.of(minima, bends)
            centre = sum(p * b for p, b in zip(problem.shares, problem.minima, strict=True))
            if problem.minimiser != centre and problem.heterogeneity == 0:
                return judged(False, f"Gamma = 0 for minima {minima}")
            seen.append((problem.minimiser == centre, problem.heterogeneity > 0))
    converse = sum(1 for centred, positive in seen if centred and positive)
    said = f"no exception in {len(seen)}; {converse} of them have Gamma > 0 though x^* is the mean of the minima"
    return holds(said, Grade.SEARCHED)


GAMMA_NONZERO = Claim(
    "decaying_k.gamma_nonzero",
    "Gamma is not 0 where the minimiser of F is not the mean of the clients' minimisers.",
    Kind.DEFINITION.at("Section 3.3, definition of Gamma"),
    _heterogeneous,
    note="Gamma is the weighted sum of f_c(x^*) - f_c^*, at least mu/2 ||x^* - x_c^*||^2 each: 0 only where all minima "
    "agree. The converse fails: for equal curvatures x^* is always the mean of the minima.",
)


def _iid(samples: int) -> Fraction:
    """E Gamma for two clients with ``samples`` fair signs each and the loss (x - sign)^2 / 2."""
    draws = list(product((-1, 1), repeat=samples))
    means = [Fraction(sum(d), samples) for d in draws]
    pairs = [((a - b) / 2) ** 2 / 2 for a, b in product(means, repeat=2)]
    return sum(pairs, Fraction(0)) / len(pairs)


def _iid_gamma(book: Book) -> Finding:
    found = {n: _iid(n) for n in (1, 2, 4)}
    said = "; ".join(f"{n} samples: {v}" for n, v in found.items())
    audited = all(v == Fraction(1, 4 * n) for n, v in found.items())
    return judged(all(v == 0 for v in found.values()), f"E Gamma of two iid clients, {said}", {}, audited)


GAMMA_IID = Claim(
    "decaying_k.gamma_iid",
    "Gamma is 0 where the data are iid over the clients.",
    Kind.DEFINITION.at("Section 3.3, definition of Gamma"),
    _iid_gamma,
    note="True of expected losses. Those of (1) are empirical, and clients with different samples of one distribution "
    "have different minima: E Gamma is 1/(4 n) for n fair signs each. It vanishes as n grows: F(x^*) is at most F at "
    "the minimum of the expected loss, and f_c - f_c^* is there at most ||grad f_c||^2/(2 mu), of mean v/(2 mu n).",
    repair=Repair(
        "at most v/(2 mu n), v the variance of a sample's gradient at the minimum of the expected loss; here 1/(4n)",
        lambda book: judged(all(4 * n * _iid(n) == 1 for n in (1, 2, 4, 6)), "4 n E Gamma = 1 for n = 1, 2, 4, 6"),
    ),
    defect=Defect.READING,
)

# ---- the loss along the run ----


def _from_optimum(book: Book) -> Finding:
    """E F after one step of one of two opposed clients from x^* = 0, for ever smaller steps."""
    rises = {}
    for step_size in (Fraction(1, 4), Fraction(1, 40), Fraction(1, 4000)):
        ends = OPPOSED.round_ends(Fraction(0), 1, 1, step_size)
        rises[step_size] = sum(p * OPPOSED.loss(x) for p, x in ends) - OPPOSED.optimal_loss
    said = "; ".join(f"step size {s}: by {r}" for s, r in rises.items())
    audited = all(r == s**2 / 2 for s, r in rises.items())
    witness = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x_0": "x^* = 0", "N": "1", "K": "1"}
    return judged(all(r <= 0 for r in rises.values()), f"the expected loss rises, {said}", witness, audited)


def _descends(book: Book) -> Finding:
    """F after one step of all of three different clients, from nine starts, at the largest step size of Theorem 1."""
    problem = Scalars.of((3, -1, 2), (1, 4, 2))
    starts = [Fraction(k, 2) for k in range(-4, 5)]
    ends = [problem.average(x, 1, 1 / (4 * problem.smoothness)) for x in starts]
    falls = [problem.loss(x) - problem.loss(y) for x, y in zip(starts, ends, strict=True)]
    return judged(min(falls) >= 0, f"it falls from nine starts, by {short(min(falls))} at least")


LOSS_NEVER_RISES = Claim(
    "decaying_k.loss_never_rises",
    "With smoothness and a suitable step size F(x_t) <= F(x_0).",
    Kind.REMARK.at("Remark 2.3, inequality in eq. (10); Remark 2.1.3"),
    _from_optimum,
    note="From the optimum every step size raises the expected loss where not all clients take part, and so does "
    "gradient noise. Far from it a step size can be found, but that depends on the noise and the clients, not on A1.",
    repair=Repair("for full gradients of all clients and one local step, up to 1/(4L) and beyond", _descends),
    defect=Defect.REFUTED,
)
