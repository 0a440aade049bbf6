"""Sections 3.1 to 3.3: the problem (1), Algorithm 1, the runtime (3) to (7), Assumptions 1 to 3, G and Gamma."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise, product

import sympy as sp

from bounds.decaying_k.letters import beta, beta_c, D, D_c, eta, h, K, L, mu, R, T, U, U_c, x
from bounds.operators import ClientMax, equal_clients
from bounds.units import SECOND
from bounds.vocabulary import distance_sq, initial_distance_sq

from ..checkers import ArgminIs, At, ImpliedBy, MeasuredIn, MonotoneIn, number, Same, short, States
from ..checkers.points import near, points, value
from ..claim import Book, Claim, claimed, Defect, Finding, Grade, holds, judged, Kind, Repair
from ..parabolas import Scalars
from .common import CAP, TAU
from .experiments import TASKS

SAMPLES = ((0,), (4, 4, 4))
"""Two clients with one and three samples of the loss (x - sample)^2 / 2."""
UNLIKE = Scalars.of((0, 1, -2), (1, 3, 2))
STEP = Fraction(1, 8)


def _objective(per_sample: bool) -> Finding:
    """Where (1) is smallest as printed, with a sum over the samples of a client, or with the mean over them."""
    weighed = [(sample, 1 if per_sample else len(own)) for own in SAMPLES for sample in own]  # p_c is len(own) / 4
    found = Fraction(sum(z * weight for z, weight in weighed), sum(weight for _, weight in weighed))
    wanted = Fraction(sum(z for z, _ in weighed), len(weighed))
    said = f"minimised at {found}, the loss over all samples at {wanted}"
    return judged(found == wanted, said, {"samples": "0 | 4, 4, 4"}, found == Fraction(18, 5))


OBJECTIVE = Claim(
    "decaying_k.eq_1",
    "With p_c the share of all samples, (1) is, but for a factor, the loss over all samples of all clients.",
    Kind.EQUATION.at("Section 3.1, eq. (1)"),
    lambda book: _objective(per_sample=False),
    note="1/n_c is missing, unless f is meant to hold it. As printed the bracket sums over a client's samples, so "
    "that large clients count twice: by p_c and by their number; and the gradient of one sample, as in Assumption "
    "3, is then biased without bound.",
    repair=Repair("with the mean over a client's samples in the bracket", lambda book: _objective(per_sample=True)),
    defect=Defect.SLIP,
)


def _listed(problem: Scalars, client: int, start: Fraction, steps: int) -> Fraction:
    """Line 7 as printed: every step begins at the round's model x_r, with the gradient at the last local one."""
    x = start
    for _ in range(steps):
        x = start - STEP * problem.gradient(client, x)
    return x


def _line_7(steps: int) -> Finding:
    listed = [_listed(UNLIKE, c, Fraction(1), steps) for c in range(3)]
    meant = [UNLIKE.local(c, Fraction(1), steps, STEP)[-1] for c in range(3)]
    said = f"after {steps} steps of 1/8 from 1: printed {', '.join(map(str, listed))}; SGD {', '.join(map(str, meant))}"
    return judged(listed == meant, said, {"f_1": "x^2/2", "f_2": "3 (x - 1)^2/2", "f_3": "(x + 2)^2"})


def _as_trained(book: Book) -> Finding:
    """Two rounds of the library's FedAvg, all three clients taking part, against the reference implementation."""
    from empirics.exact import play

    slopes = [partial(UNLIKE.gradient, c) for c in range(3)]
    trained = play("fedavg()", slopes, 1, [(0, 1, 2)] * 2, local_steps=3, step_size=STEP)[-1].model[0]
    server = UNLIKE.average(UNLIKE.average(Fraction(1), 3, STEP), 3, STEP)
    wanted = float(UNLIKE.global_gradient(server) ** 2)
    return judged(trained == server, f"squared gradient after two rounds {wanted:.9g}, both ways")


LOCAL_STEP = Claim(
    "decaying_k.algorithm_1_line_7",
    "Line 7, repeated K_r times, performs K_r steps of SGD.",
    Kind.ALGORITHM.at("Algorithm 1, line 7"),
    lambda book: _line_7(3),
    note="The text and (2) have SGD. As printed the step is taken from x_r, the round's first model, each "
    "time, so that all but the last are undone.",
    repair=Repair("from x_(r,k-1), as the library trains", _as_trained),
    defect=Defect.SLIP,
)


def _rests_at(weights: tuple[Fraction, ...]) -> Finding:
    """Where line 11 rests with K = 1 and everybody present, against the minimiser of F."""
    problem = Scalars((Fraction(0), Fraction(4)), (Fraction(1),) * 2, weights=weights)
    rest = sum(problem.minima, Fraction(0)) / 2  # equal curvatures: the mean of the clients' steps vanishes there
    still = problem.round_ends(rest, 2, 1, STEP)[0][1] == rest
    said = f"Algorithm 1 rests at {rest}, F is smallest at {problem.minimiser}"
    witness = {"p": ", ".join(map(str, weights)), "minima": "0, 4"}
    return judged(still and rest == problem.minimiser, said, witness, still)


def _beside_theorem_1(book: Book, weights: tuple[Fraction, ...]) -> Finding:
    """The rest of ``_rests_at`` against (6) with a true G: nothing moves there; K = 1, a million steps of 1/1000."""
    problem = Scalars((Fraction(0), Fraction(4)), (Fraction(1),) * 2, weights=weights)
    rest, step = Fraction(2), Fraction(1, 1000)
    exact, cap = problem.global_gradient(rest) ** 2, max(problem.gradient(c, rest) ** 2 for c in range(2))
    bound = number(
        book, "decaying_k.theorem_1", **problem.values(), initial_loss=problem.loss(rest), cohort=2,
        grad_cap_sq=cap, steps_cubed_ratio=1, step_size=step, iterations=10**6,
    )  # fmt: skip
    said = f"squared gradient {exact} at every iteration, (6) with G^2 = {cap}: {float(bound):.6g}"
    witness = {"p": ", ".join(map(str, weights)), "minima": "0, 4", "start": "2", "eta": "1/1000", "T": "10^6"}
    return judged(exact <= bound, said, witness)


UNEQUAL, EQUAL = (Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 2), Fraction(1, 2))

PLAIN_MEAN = Claim(
    "decaying_k.algorithm_1_line_11",
    "Algorithm 1, which averages its participants with equal weights, minimises F.",
    Kind.ALGORITHM.at("Algorithm 1, line 11, with eq. (1)"),
    {"Theorem 1": lambda book: _beside_theorem_1(book, UNEQUAL), "minimiser": lambda book: _rests_at(UNEQUAL)},
    wrong=("Theorem 1", "minimiser"),
    note="Uniformly drawn clients averaged with equal weights minimise the plain mean of the f_c, whatever the shares "
    "p_c are. The "
    "listing leaves the draw open; uniform is how the text says it is usually described. Theorem 1 is false of it "
    "then, with any G and even if all take part.",
    repair=Repair(
        "for clients of equal weight",
        {"minimiser": lambda book: _rests_at(EQUAL), "Theorem 1": lambda book: _beside_theorem_1(book, EQUAL)},
    ),
    defect=Defect.REFUTED,
)


def _by_iterations(cohorts: Sequence[tuple[int, ...]], steps: Sequence[int], divide: bool) -> list[Fraction]:
    """(2): every client steps; at the iterations of I all get sum_c p_c y_c over the cohort (or its mean)."""
    models, met, found = [Fraction(1)] * 3, list(accumulate(steps)), []
    for t in range(1, sum(steps) + 1):
        models = [x - STEP * UNLIKE.gradient(c, x) for c, x in enumerate(models)]
        if t in met:
            chosen = cohorts[met.index(t)]
            shares = [Fraction(1, len(chosen)) if divide else UNLIKE.shares[c] for c in chosen]
            models = [sum((s * models[c] for s, c in zip(shares, chosen, strict=True)), Fraction(0))] * 3
            found.append(models[0])
    return found


def _equivalent(divide: bool) -> Finding:
    cohorts, steps, server, listed = ((0, 1), (1, 2), (0, 2)), (3, 2, 1), Fraction(1), []
    for chosen, count in zip(cohorts, steps, strict=True):
        ends = [UNLIKE.local(c, server, count, STEP)[-1] for c in chosen]
        server = sum(ends, Fraction(0)) / len(chosen)
        listed.append(server)
    found = _by_iterations(cohorts, steps, divide)
    said = "; ".join(f"{short(a)} against {short(b)}" for a, b in zip(found, listed, strict=True))
    return judged(found == listed, f"server models by (2) and by Algorithm 1: {said}", {"K_r": "3, 2, 1", "N": "2"})


BY_ITERATIONS = Claim(
    "decaying_k.eq_2",
    "The form by iterations (2) is Algorithm 1: those who do not take part may be imagined to compute too.",
    Kind.EQUATION.at("Section 3.1, eq. (2)"),
    lambda book: _equivalent(divide=False),
    note="The shares p_c of a cohort do not sum to 1, so that (2) shrinks the model towards 0 whenever a client is "
    "absent: by half with one of two equal clients.",
    repair=Repair("with 1/N for p_c, as in line 11", lambda book: _equivalent(divide=True)),
    defect=Defect.REFUTED,
)


def _stays_away(book: Book) -> Finding:
    """Rounds of two steps of all clients; one of two opposed clients drawn; a coin of +-1 for each of two clients."""
    eta, moment = sp.symbols("eta moment", positive=True)
    pulls = [1 - (1 - eta * h) ** 2 for h in UNLIKE.curvatures]
    rest = sp.Add(*(a * b for a, b in zip(pulls, UNLIKE.minima, strict=True))) / sp.Add(*pulls)
    distance = sp.cancel(UNLIKE.minimiser - rest)
    (drawn,) = sp.solve((1 - eta) ** 2 * moment + eta**2 - moment, moment)
    (noisy,) = sp.solve((1 - eta) ** 2 * moment + eta**2 / 2 - moment, moment)
    wanted = {
        "two local steps rest from x^* by": (distance, 5 * eta / (18 - 21 * eta)),
        "E x^2 stays with a draw at": (drawn, eta / (2 - eta)),
        "with noise at": (noisy, eta / (4 - 2 * eta)),
    }
    away = all(sp.cancel(found - closed) == 0 for found, closed in wanted.values())
    said = ", ".join(f"{where} {closed}" for where, (_, closed) in wanted.items())
    return judged(away, f"{said}: above 0 for every eta <= 1/(4L)", grade=Grade.PROVED)


def _falls_to_one(book: Book) -> Finding:
    """Rounds of 3, 2, 2 and then 1 step of all clients with a fixed step size."""
    server, distances = Fraction(1), []
    for steps in (3, 2, 2, *(1,) * 60):
        server = UNLIKE.average(server, steps, STEP)
        distances.append(abs(server - UNLIKE.minimiser))
    falls = all(b == (1 - STEP * UNLIKE.curvature) * a for a, b in pairwise(distances[2:]))
    return judged(falls and distances[-1] < Fraction(1, 10**6), f"with K_r = 3, 2, 2, 1, .. {short(distances[-1])}")


NEEDS_DECAY = Claim(
    "decaying_k.remark_1_1_decay",
    "For FedAvg to come arbitrarily close to the minimum in every federation, the step size must fall.",
    Kind.REMARK.at("Remark 1.1"),
    {"fixed step size": _stays_away, "K_r falls to 1": _falls_to_one},
    note="Each of K_r >= 2 for ever, a draw of clients and gradient noise keeps FedAvg away from the minimum of some "
    "federation at every fixed step size. Where all clients take part, gradients are exact and K_r falls to 1, the "
    "step size need not fall: this is what decaying K achieves, and (6) does not show.",
)


# ---- the runtime model ----

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


@claimed(
    "decaying_k.remark_2_3_setting",
    "Communication takes much longer than computation, tau >> beta K, as (10) and its schedule take it.",
    Kind.SETTING.at("Remark 2.3"),
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
def communication_dominates(book: Book) -> Finding:
    ratios = {n: t.communication / t.computation(t.first_steps) for n, t in TASKS.items()}
    broken = {n: f"{float(r):.3g}" for n, r in ratios.items() if r < 10}
    said = "; ".join(f"{n}: {float(r):.3g}" for n, r in ratios.items())
    return judged(not broken, f"tau over beta K at K = K_0: {said}", broken, len(broken) == len(TASKS))


# ---- Assumptions 1 to 3 ----

GRADIENT_CAP = "decaying_k.gradient_cap"
OPPOSED = Scalars.of((1, -1))


def _passes_on(book: Book) -> Finding:
    """The inequalities of A1 and A2 for F, with the clients' constants, at all pairs of seven points."""
    problem = Scalars(
        tuple(map(Fraction, (3, -1, 2))),
        tuple(map(Fraction, (1, 4, 2))),
        weights=(Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),
    )
    for a, b in product(map(Fraction, range(-3, 4)), repeat=2):
        excess = problem.loss(a) - problem.loss(b) - (a - b) * problem.global_gradient(b)
        if not problem.strong_convexity * (a - b) ** 2 / 2 <= excess <= problem.smoothness * (a - b) ** 2 / 2:
            return judged(False, f"fails between {a} and {b}", {"x": str(a), "y": str(b)})
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
    {
        "training": _federated,
        "formula": Same(GRADIENT_CAP, L**2 * initial_distance_sq),
        "smooth": ImpliedBy(h**2 * initial_distance_sq, GRADIENT_CAP, where=(h <= L,)),
        "never further": ImpliedBy((1 - eta * h) ** 2 * distance_sq, distance_sq, where=(h <= L, CAP)),
        "conditions": States(GRADIENT_CAP, assumptions=("smooth",), relation="="),
    },
    wrong=("training",),
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


@claimed(
    "decaying_k.gamma_nonzero",
    "Gamma is not 0 where the minimiser of F is not the mean of the clients' minimisers.",
    Kind.DEFINITION.at("Section 3.3, definition of Gamma"),
    note="Gamma is the weighted sum of f_c(x^*) - f_c^*, at least mu/2 ||x^* - x_c^*||^2 each: 0 only where all minima "
    "agree. The converse fails: for equal curvatures x^* is always the mean of the minima.",
)
def gamma_nonzero(book: Book) -> Finding:
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


def _iid(samples: int) -> Fraction:
    """E Gamma for two clients with ``samples`` fair signs each and the loss (x - sign)^2 / 2."""
    draws = list(product((-1, 1), repeat=samples))
    means = [Fraction(sum(d), samples) for d in draws]
    pairs = [((a - b) / 2) ** 2 / 2 for a, b in product(means, repeat=2)]
    return sum(pairs, Fraction(0)) / len(pairs)


@claimed(
    "decaying_k.gamma_iid",
    "Gamma is 0 where the data are iid over the clients.",
    Kind.DEFINITION.at("Section 3.3, definition of Gamma"),
    note="True of expected losses. Those of (1) are empirical, and clients with different samples of one distribution "
    "have different minima: E Gamma is 1/(4 n) for n fair signs each. It vanishes as n grows: F(x^*) is at most F at "
    "the minimum of the expected loss, and f_c - f_c^* is there at most ||grad f_c||^2/(2 mu), of mean v/(2 mu n).",
    repair=Repair(
        "at most v/(2 mu n), v the variance of a sample's gradient at the minimum of the expected loss; here 1/(4n)",
        lambda book: judged(all(4 * n * _iid(n) == 1 for n in (1, 2, 4, 6)), "4 n E Gamma = 1 for n = 1, 2, 4, 6"),
    ),
    defect=Defect.READING,
)
def gamma_iid(book: Book) -> Finding:
    found = {n: _iid(n) for n in (1, 2, 4)}
    said = "; ".join(f"{n} samples: {v}" for n, v in found.items())
    audited = all(v == Fraction(1, 4 * n) for n, v in found.items())
    return judged(all(v == 0 for v in found.values()), f"E Gamma of two iid clients, {said}", {}, audited)


# ---- the loss along the run ----


def _descends(book: Book) -> Finding:
    """F after one step of all of three different clients, from nine starts, at the largest step size of Theorem 1."""
    problem = Scalars.of((3, -1, 2), (1, 4, 2))
    starts = [Fraction(k, 2) for k in range(-4, 5)]
    ends = [problem.average(x, 1, 1 / (4 * problem.smoothness)) for x in starts]
    falls = [problem.loss(x) - problem.loss(y) for x, y in zip(starts, ends, strict=True)]
    return judged(min(falls) >= 0, f"it falls from nine starts, by {short(min(falls))} at least")


@claimed(
    "decaying_k.loss_never_rises",
    "With smoothness and a suitable step size F(x_t) <= F(x_0).",
    Kind.REMARK.at("Remark 2.3, inequality in eq. (10); Remark 2.1.3"),
    note="From the optimum every step size raises the expected loss where not all clients take part, and so does "
    "gradient noise. Far from it a step size can be found, but that depends on the noise and the clients, not on A1.",
    repair=Repair("for full gradients of all clients and one local step, up to 1/(4L) and beyond", _descends),
    defect=Defect.REFUTED,
)
def loss_never_rises(book: Book) -> Finding:
    """E F after one step of one of two opposed clients from x^* = 0, for ever smaller steps."""
    rises = {}
    for step_size in (Fraction(1, 4), Fraction(1, 40), Fraction(1, 4000)):
        ends = OPPOSED.round_ends(Fraction(0), 1, 1, step_size)
        rises[step_size] = sum(p * OPPOSED.loss(x) for p, x in ends) - OPPOSED.optimal_loss
    said = "; ".join(f"step size {s}: by {r}" for s, r in rises.items())
    audited = all(r == s**2 / 2 for s, r in rises.items())
    witness = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x_0": "x^* = 0", "N": "1", "K": "1"}
    return judged(all(r <= 0 for r in rises.values()), f"the expected loss rises, {said}", witness, audited)
