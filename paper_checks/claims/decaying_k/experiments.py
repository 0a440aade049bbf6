"""Section 4: the numbers of Tables 1, 2 and 4, and the experiments compared with the conditions of Theorem 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, count, islice

import numpy as np
import sympy as sp

from bounds.decaying_k.letters import eta, G2, L, mu, N, ratio

from ...reported import table
from ..checkers import exact, Ordered, Prints, rational, term
from ..checkers.tables import half_unit
from ..claim import Book, Finding, finding, Grade, holds, Status
from ..parabolas import Parabolas
from ..softmax import bias_curvature, hidden_curvature

TABLE_1, TABLE_2, TABLE_4 = (table("decaying_k", f"Table {number}") for number in (1, 2, 4))
RATES, RESULTS = (table("decaying_k", f"Text {section}") for section in ("4.2", "4.4"))
ROUNDS = int(table("decaying_k", "Text 3.5")["all", "rounds R"].value)
DOWN, UP = (exact(RATES["all", way].value) for way in ("download bandwidth D", "upload bandwidth U"))
"""Megabits per second."""


@dataclass(frozen=True)
class MeasuredTask:
    """A row of Table 1 (model size in megabits, clients, clients per round, K_0, eta_0), with the seconds per SGD step
    of Table 2."""

    size: Fraction
    clients: int
    cohort: int
    first_steps: int
    first_step_size: Fraction
    step_time: Fraction

    @property
    def communication(self) -> Fraction:
        """The seconds of communication in a round."""
        return self.size / DOWN + self.size / UP

    def computation(self, steps: int) -> Fraction:
        """Return the seconds that these SGD steps take."""
        return self.step_time * steps


def _task(name: str) -> MeasuredTask:
    size, step_size = (exact(TABLE_1[name, column].value) for column in ("Model size", "eta_0"))
    clients, cohort, steps = (int(TABLE_1[name, c].value) for c in ("Total clients", "Clients per round", "K_0"))
    return MeasuredTask(size, clients, cohort, steps, step_size, exact(TABLE_2[name, "beta"].value))


NETWORKS = {
    "Sent140": "sent140_linear", "FEMNIST": "femnist_dnn", "CIFAR100": "decaying_k_cnn",
    "Shakespeare": "shakespeare_gru",
}  # fmt: skip
TASKS = {name: _task(name) for name in NETWORKS}


# ---- Table 1 ----


def _megabits() -> Mapping[str, Fraction]:
    """Return the sizes of the networks as built, 32 bits per parameter."""
    import torch

    from empirics.models.networks import network

    with torch.device("meta"):
        modules = {name: network(text).build() for name, text in NETWORKS.items()}
    return {name: Fraction(32 * sum(p.numel() for p in m.parameters()), 10**6) for name, m in modules.items()}


sizes = Prints({name: TABLE_1[name, "Model size"].value for name in TASKS if name != "CIFAR100"}, _megabits)


def _cnn(side: int, channels: tuple[int, int], padded: bool) -> int:
    """Count the parameters of two 3x3 convolutions with 2x2 pooling, a dense layer of 512 and 100 classes."""
    for _ in range(2):
        side = (side if padded else side - 2) // 2
    first, second = channels
    convolutions = (27 * first + first) + (9 * first * second + second)
    return convolutions + (second * side**2 * 512 + 512) + (512 * 100 + 100)


def _fitting(side: int) -> list[str]:
    """Return the usual channel counts and paddings that give the printed model size for images of this side."""
    printed = TABLE_1["CIFAR100", "Model size"].value
    return [
        f"{a} and {b}{', padded' if padded else ''}"
        for a in (16, 32, 64, 128)
        for b in (16, 32, 64, 128)
        for padded in (False, True)
        if abs(Fraction(32 * _cnn(side, (a, b), padded), 10**6) - exact(printed)) <= half_unit(printed)
    ]


def crop(book: Book) -> Finding:
    """Open, since the channels are not published; the evidence lists usual channel counts that fit."""
    fitting = {side: _fitting(side) for side in (28, 32)}
    evidence = "; ".join(f"channels that fit on {s} x {s}: {', '.join(f) or 'none'}" for s, f in fitting.items())
    audited = fitting == {28: [], 32: ["32 and 64"]}
    return Finding(Status.OPEN, Grade.EXACT, f"channels and padding are not published; {evidence}", as_audited=audited)


# ---- Tables 2 and 4 ----


def _products() -> dict[str, int]:
    """Count the multiplications of a forward pass of a minibatch: 32 samples (8 for Sent140), sequences of 80."""
    gru = sum(3 * 128 * (inputs + 128) for inputs in (8, 128)) + 128 * 79
    convolutions = 30**2 * 27 * 32 + 13**2 * 9 * 32 * 64
    return {
        "Sent140": 8 * 5000 * 2,
        "FEMNIST": 32 * (784 * 200 + 200 * 200 + 200 * 62),
        "CIFAR100": 32 * (convolutions + 2304 * 512 + 512 * 100),
        "Shakespeare": 32 * 80 * gru,
    }


NUMBERS = {
    "times": {f"{task}, time": TABLE_2[task, "beta"] for task in TASKS},
    "multiplications": _products(),
    "experiments": {f"{t} {s}": cell.value for (t, s), cell in TABLE_4.items()} | {"K-eta-fixed": "1"},
}
"""Reported numbers by section or table, for the rows of ``claims.toml``: see ``claims.rows``."""


def _steps(first: int) -> Iterator[int]:
    """Yield ceil(r^(-1/3) K_0) for r = 1, 2, ... in integer arithmetic: the smallest k with k^3 r >= K_0^3."""
    k = first
    for r in count(1):
        while k > 1 and (k - 1) ** 3 * r >= first**3:
            k -= 1
        yield k


def steps_of_k_rounds(first: int) -> list[int]:
    """Return the local steps of K_r-rounds in each of the paper's rounds."""
    return list(islice(_steps(first), ROUNDS))


def printed_share(name: str) -> Fraction:
    return exact(TABLE_4[name, "K_r-rounds"].value)


def over_rounds(name: str) -> Fraction:
    """Return the steps of K_r-rounds over those of K-eta-fixed, both for the same number of rounds."""
    first = TASKS[name].first_steps
    return Fraction(sum(steps_of_k_rounds(first)), ROUNDS * first)


def over_time(name: str) -> Fraction:
    """Return the same ratio if both run for the time that K-eta-fixed takes for its rounds, by (5)."""
    task = TASKS[name]
    unit = task.communication.denominator * task.step_time.denominator
    sending, step = int(task.communication * unit), int(task.step_time * unit)
    time, total = ROUNDS * (sending + step * task.first_steps), 0
    for k in _steps(task.first_steps):
        time -= sending + step * k
        if time < 0 or k == 1:
            break
        total += k
    if time >= 0:  # one step per round from here on, this round included
        total += 1 + time // (sending + step)
    return Fraction(total, ROUNDS * task.first_steps)


Share = Callable[[str], Fraction]
"""A function that returns, by task, a schedule's steps as a share of those of K-eta-fixed."""


def k_rounds(book: Book, share: Share, *wrong: str, **corrected: str) -> Finding:
    """Table 4 prints the counted shares; ``wrong`` are audited as wrong, ``corrected`` shares replace printed ones."""
    printed = {name: corrected.get(name, TABLE_4[name, "K_r-rounds"].value) for name in TASKS}
    return Prints(printed, {name: share(name) for name in TASKS}, wrong=wrong)(book)


def below_a_tenth(book: Book, share: Share, *names: str) -> Finding:
    """The smallest share of these tasks, or of all, is below a tenth."""
    stated = exact(RESULTS["CIFAR100", "K_r-rounds share of SGD steps"].value) / 100
    least = min(share(name) for name in names or TASKS)
    return Ordered({"share": least, "a tenth": stated}, ("share < a tenth",))(book)


def step_share(task: MeasuredTask, switch: int) -> Fraction:
    """Return the steps of K_r-step, which are K_0, then K_0 / 10, over those of K-eta-fixed in the same time."""
    late = Fraction(task.first_steps, 10)
    long_, short_ = (task.communication + task.step_time * k for k in (Fraction(task.first_steps), late))
    rounds = (ROUNDS * long_ - switch * long_) // short_
    return (switch * task.first_steps + rounds * late) / (ROUNDS * task.first_steps)


def _switched() -> Prints:
    task, minutes = TASKS["CIFAR100"], exact(RESULTS["CIFAR100", "K_r-step switch visible at"].value)
    switch = int(60 * minutes / (task.communication + task.computation(task.first_steps)))
    share, later = (step_share(task, rounds) for rounds in (switch, switch + switch // 20))
    slack = abs(later - share)  # the 1000 minutes are read from a figure, with 5 % tolerance
    return Prints({"CIFAR100": TABLE_4["CIFAR100", "K_r-step"].value}, {"CIFAR100": share}, slack)


switched = _switched()


# ---- the conditions of Theorem 1, and whether (6) is informative ----

SIX = "decaying_k.theorem_1"
LEAST_SMOOTHNESS = Fraction(1, 2)
"""The smallest possible L of a softmax cross-entropy with output biases, for any data."""


def strongly_convex(book: Book) -> Finding:
    """The cross-entropy of two classes has curvature along equal output biases."""
    a, b = sp.symbols("a b", real=True)
    direction = sp.Matrix([1, 1])
    hessian = sp.hessian(sp.log(sp.exp(a) + sp.exp(b)) - a, (a, b))
    curvature = sp.simplify((direction.T * hessian * direction)[0])
    if curvature != 0:
        return holds(f"curvature {curvature} along equal biases")
    return Finding(Status.FAILS, Grade.PROVED, "adding one number to all output biases changes no loss", {"mu": "0"})


def smoothness(book: Book) -> Finding:
    """The curvature in the output biases of two classes that share all probability is 1/2."""
    largest = bias_curvature((1, 1))
    true = largest == LEAST_SMOOTHNESS
    return finding(true, f"curvature {largest} along opposite biases of two classes", as_audited=true)


def networks_step(book: Book) -> Finding:
    """The step sizes of the networks are within 1/(4L), where a hidden unit h gives L >= h^2/4."""
    curvatures = {unit: hidden_curvature(unit) for unit in (1, 4, 100)}
    evidence = ", ".join(f"L >= {L_} at h = {unit}, 1/(4L) <= {1 / (4 * L_)}" for unit, L_ in curvatures.items())
    allowed, names = 1 / (4 * max(curvatures.values())), [name for name in TASKS if name != "Sent140"]
    over = [name for name in names if TASKS[name].first_step_size > allowed]
    witness = {"loss": "log(1 + exp(-u max(h, 0)))", "u": "0"}
    return finding(not over, f"{evidence}; beyond it {', '.join(over)}", witness, as_audited=over == names)


def drift_goes_with(book: Book, by: sp.Symbol, power: int) -> Finding:
    drift = term(SIX, "drift")(book)
    true = bool(sp.simplify(by * drift.diff(by) / drift) == power)
    return finding(true, f"power {power} of {by.name}", as_audited=true)


def informative(book: Book, rounds: bool) -> Finding:
    """The drift of (6) is below G^2 in every task, for L = mu = 1/2, which makes it smallest."""
    shares = {}
    for name, task in TASKS.items():
        steps = steps_of_k_rounds(task.first_steps) if rounds else [task.first_steps]
        values = {L: LEAST_SMOOTHNESS, mu: LEAST_SMOOTHNESS, G2: 1, eta: task.first_step_size, N: task.cohort}
        values[ratio] = Fraction(sum(k**3 for k in steps), sum(steps))
        drift = term(SIX, "drift")(book)
        shares[name] = rational(drift.subs({quantity: sp.Rational(v) for quantity, v in values.items()}))
    evidence = "; ".join(f"{name}: {float(s):.4g}" for name, s in shares.items())
    evidence = f"the drift of (6) in units of G^2 is at least, {evidence}"
    vacuous = {name: f"{float(s):.4g} G^2" for name, s in shares.items() if s >= 1}
    return finding(not vacuous, evidence, vacuous, as_audited=len(vacuous) == len(TASKS))


# ---- the best K of exact runs ----

COSTS = {"slow network": (4.0, 0.2), "even": (1.0, 0.5), "slow clients": (0.3, 1.0)}
"""Seconds of communication and of a local step, by environment."""
HORIZONS = (30.0, 120.0, 480.0, 1920.0)
"""Runtimes in seconds."""


def _best_steps(runtime: float, sending: float, step: float) -> int:
    """Return the K with the smallest final distance to x^* of a run of three clients with eta = 1/40."""
    problem, rate = Parabolas.of((0, 1, -2), (1, 3, 2)), 1 / 40
    curvatures, minima = (np.array(v, dtype=float) for v in (problem.curvatures, problem.minima))
    distances = {}
    for k in range(1, 41):
        rounds = int(runtime / (sending + step * k))
        factors = (1 - rate * curvatures) ** k
        factor, rest = factors.mean(), ((1 - factors) * minima).mean() / (1 - factors.mean())
        model = rest + factor**rounds * (-30.0 - rest)  # the start is far beyond the rest point: nothing cancels
        distances[k] = abs(model - float(problem.minimiser))
    return min(distances, key=lambda k: distances[k])


def _best_steps_if_identical(runtime: float, sending: float, step: float) -> int:
    """Return the best K for identical clients: the one with most local steps in total, as drift costs nothing."""
    return max(range(1, int((runtime - sending) / step) + 1), key=lambda k: k * int(runtime / (sending + step * k)))


RUNS = {
    **{name: (*costs, _best_steps) for name, costs in COSTS.items()},
    "identical clients": (*COSTS["even"], _best_steps_if_identical),
}


def trend(book: Book) -> Finding:
    """K* of (8) ranks pairs of runtimes as the best K of exact runs does, in every environment."""
    formula, pairs = book["decaying_k.k_star"].formula, list(combinations(range(len(HORIZONS)), 2))
    shares: dict[str, float] = {}
    for name, (sending, step, best_steps) in RUNS.items():
        values = {
            "current_loss": 900.0, "optimal_loss": 1.0, "smoothness": 3.0, "strong_convexity": 1.0, "cohort": 3,
            "grad_cap_sq": 25.0, "step_size": 1 / 40, "model_size": sending, "download_rate": 2.0, "upload_rate": 2.0,
            "minibatch_time": step,
        }  # fmt: skip
        bounds = [float(formula(runtime=w, **values)) for w in HORIZONS]
        best = [best_steps(w, sending, step) for w in HORIZONS]
        agreeing = [(bounds[a] < bounds[b]) == (best[a] < best[b]) for a, b in pairs if best[a] != best[b]]
        shares[name] = sum(agreeing) / len(agreeing)
    worst = min(shares, key=lambda name: shares[name])
    disagreeing = {name: f"{share:.2f}" for name, share in shares.items() if share < 1}
    evidence = f"pairs ranked equally, worst of {len(shares)} environments: {shares[worst]:.2f} ({worst})"
    return finding(not disagreeing, evidence, disagreeing, as_audited=set(disagreeing) == {"identical clients"})
