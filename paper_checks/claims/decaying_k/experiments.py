"""Section 4: the numbers of Tables 1, 2 and 4, and the experiments against the conditions of Theorem 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, count, islice

import numpy as np
import sympy as sp

from bounds.decaying_k.letters import eta, G2, L, mu, N, ratio

from ...reported import table
from ..checkers import exact, Ordered, Prints, rational, Satisfies, term
from ..checkers.tables import half_unit
from ..claim import Book, Finding, Grade, holds, judged, Status
from ..parabolas import Scalars
from ..softmax import bias_curvature, hidden_curvature

ONE, TIMES, FOUR = (table("decaying_k", f"Table {number}") for number in (1, 2, 4))
DATA, RATES, RESULTS = (table("decaying_k", f"Text {section}") for section in ("4.1", "4.2", "4.4"))
ROUNDS = int(table("decaying_k", "Text 3.5")["all", "rounds R"].value)
DOWN, UP = (exact(RATES["all", way].value) for way in ("download bandwidth D", "upload bandwidth U"))
"""Megabits per second."""


@dataclass(frozen=True)
class MeasuredTask:
    """One row of Table 1 with its time per SGD step (s); the model's size in megabits."""

    size: Fraction
    clients: int
    cohort: int
    first_steps: int
    first_step_size: Fraction
    step_time: Fraction

    @property
    def communication(self) -> Fraction:
        """Seconds of communication in a round."""
        return self.size / DOWN + self.size / UP

    def computation(self, steps: int) -> Fraction:
        """Seconds of these SGD steps."""
        return self.step_time * steps


def _task(name: str) -> MeasuredTask:
    size, step_size = (exact(ONE[name, column].value) for column in ("Model size", "eta_0"))
    clients, cohort, steps = (int(ONE[name, column].value) for column in ("Total clients", "Clients per round", "K_0"))
    return MeasuredTask(size, clients, cohort, steps, step_size, exact(TIMES[name, "beta"].value))


NETWORKS = {
    "Sent140": "sent140_linear",
    "FEMNIST": "femnist_dnn",
    "CIFAR100": "decaying_k_cnn",
    "Shakespeare": "shakespeare_gru",
}
TASKS = {name: _task(name) for name in NETWORKS}


def _column(column: str) -> dict[str, str]:
    return {name: ONE[name, column].value for name in TASKS}


# ---- Table 1 ----


def _megabits() -> Mapping[str, Fraction]:
    """Parameters of the networks as built, 32 bits each."""
    import torch

    from empirics.models.networks import network

    with torch.device("meta"):
        modules = {name: network(text).build() for name, text in NETWORKS.items()}
    return {name: Fraction(32 * sum(p.numel() for p in m.parameters()), 10**6) for name, m in modules.items()}


sizes = Prints({name: size for name, size in _column("Model size").items() if name != "CIFAR100"}, _megabits)


def _cnn(side: int, channels: tuple[int, int], padded: bool) -> int:
    """Parameters of two 3x3 convolutions with 2x2 pooling, dense 512 and 100 classes."""
    for _ in range(2):
        side = (side if padded else side - 2) // 2
    first, second = channels
    convolutions = (27 * first + first) + (9 * first * second + second)
    return convolutions + (second * side**2 * 512 + 512) + (512 * 100 + 100)


def _fitting(side: int) -> list[str]:
    """The usual channel counts and paddings that have the printed size on images of this side."""
    printed = ONE["CIFAR100", "Model size"].value
    return [
        f"{a} and {b}{', padded' if padded else ''}"
        for a in (16, 32, 64, 128)
        for b in (16, 32, 64, 128)
        for padded in (False, True)
        if abs(Fraction(32 * _cnn(side, (a, b), padded), 10**6) - exact(printed)) <= half_unit(printed)
    ]


def crop(book: Book) -> Finding:
    """Undecided while channels are not published; said with what usual counts give."""
    found = {side: _fitting(side) for side in (28, 32)}
    said = "; ".join(f"channels that fit on {s} x {s}: {', '.join(f) or 'none'}" for s, f in found.items())
    audited = found == {28: [], 32: ["32 and 64"]}
    return Finding(Status.OPEN, Grade.EXACT, f"channels and padding are not published; {said}", as_audited=audited)


samples = Prints(
    {**_column("Samples per client"), "FEMNIST": "17e1"},  # 170, taken as rounded to tens, unlike the others
    {name: exact(DATA[name, "training samples"].value) / t.clients for name, t in TASKS.items()},
    slack={  # how far the rounding of the totals (336k, 501k, 3.7M) can move the means
        name: Fraction(unit, 2 * TASKS[name].clients)
        for name, unit in (("Sent140", 1000), ("FEMNIST", 1000), ("CIFAR100", 0), ("Shakespeare", 100_000))
    },
)
participation = Prints(
    {name: DATA[name, "participation"].value for name in TASKS},
    {name: Fraction(100 * t.cohort, t.clients) for name, t in TASKS.items()},
)
clients = Prints(
    {"Sent140": "22", "FEMNIST": "3", "CIFAR100": "0.500", "Shakespeare": "0.660"},
    {name: Fraction(t.clients, 1000) for name, t in TASKS.items()},
)


# ---- Tables 2 and 4 ----


def _products() -> dict[str, int]:
    """Multiplications of one forward pass of one minibatch; batches of 32 (8 for Sent140), sequences of 80."""
    gru = sum(3 * 128 * (inputs + 128) for inputs in (8, 128)) + 128 * 79
    convolutions = 30**2 * 27 * 32 + 13**2 * 9 * 32 * 64
    return {
        "Sent140": 8 * 5000 * 2,
        "FEMNIST": 32 * (784 * 200 + 200 * 200 + 200 * 62),
        "CIFAR100": 32 * (convolutions + 2304 * 512 + 512 * 100),
        "Shakespeare": 32 * 80 * gru,
    }


NUMBERS = {
    "times": {f"{task}, time": TIMES[task, "beta"] for task in TASKS},
    "multiplications": _products(),
    "experiments": {f"{task} {schedule}": FOUR[task, schedule].value for task, schedule in FOUR} | {"K-eta-fixed": "1"},
}


def _steps(first: int) -> Iterator[int]:
    """ceil(r^(-1/3) K_0) for r = 1, 2, .. in integers: the smallest k with k^3 r >= K_0^3."""
    k = first
    for r in count(1):
        while k > 1 and (k - 1) ** 3 * r >= first**3:
            k -= 1
        yield k


def steps_of_k_rounds(first: int) -> list[int]:
    """The local steps of K_r-rounds over the paper's number of rounds."""
    return list(islice(_steps(first), ROUNDS))


def printed_share(name: str) -> Fraction:
    return exact(FOUR[name, "K_r-rounds"].value)


def over_rounds(name: str) -> Fraction:
    """Steps of K_r-rounds over those of K-eta-fixed, both for the same number of rounds."""
    first = TASKS[name].first_steps
    return Fraction(sum(steps_of_k_rounds(first)), ROUNDS * first)


def over_time(name: str) -> Fraction:
    """The same, both for as long as K-eta-fixed takes for its rounds, by (5)."""
    task = TASKS[name]
    unit = task.communication.denominator * task.step_time.denominator
    sending, step = int(task.communication * unit), int(task.step_time * unit)
    left, total = ROUNDS * (sending + step * task.first_steps), 0
    for k in _steps(task.first_steps):
        left -= sending + step * k
        if left < 0 or k == 1:
            break
        total += k
    if left >= 0:  # one step per round from here on, this round included
        total += 1 + left // (sending + step)
    return Fraction(total, ROUNDS * task.first_steps)


Share = Callable[[str], Fraction]
"""Of the steps of K-eta-fixed, by task."""


def k_rounds(book: Book, share: Share, *wrong: str, **mended: str) -> Finding:
    """Table 4's shares, or ``mended`` ones, against those that are counted; ``wrong`` are audited as wrong."""
    printed = {name: mended.get(name, FOUR[name, "K_r-rounds"].value) for name in TASKS}
    return Prints(printed, {name: share(name) for name in TASKS}, wrong=wrong)(book)


def below_a_tenth(book: Book, share: Share, *names: str) -> Finding:
    """The share of a task, or the least of all."""
    stated = exact(RESULTS["CIFAR100", "K_r-rounds share of SGD steps"].value) / 100
    least = min(share(name) for name in names or TASKS)
    return Ordered({"share": least, "a tenth": stated}, ("share < a tenth",))(book)


def k_step(book: Book, task: str) -> Finding:
    """K_r-step's share in Table 4, per cent."""
    return Prints({task: "68"}, {task: 100 * exact(FOUR[task, "K_r-step"].value)})(book)


def step_share(task: MeasuredTask, switch: int) -> Fraction:
    """Steps of K_r-step with ``switch`` rounds of K_0 steps, then K_0 / 10, over K-eta-fixed's in the same time."""
    late = Fraction(task.first_steps, 10)
    long_, short_ = (task.communication + task.step_time * k for k in (Fraction(task.first_steps), late))
    rounds = (ROUNDS * long_ - switch * long_) // short_
    return (switch * task.first_steps + rounds * late) / (ROUNDS * task.first_steps)


def _switched() -> Prints:
    task, minutes = TASKS["CIFAR100"], exact(RESULTS["CIFAR100", "K_r-step switch visible at"].value)
    switch = int(60 * minutes / (task.communication + task.computation(task.first_steps)))
    found, later = (step_share(task, rounds) for rounds in (switch, switch + switch // 20))
    slack = abs(later - found)  # 1000 minutes are read off a figure: 5 % either way
    return Prints({"CIFAR100": FOUR["CIFAR100", "K_r-step"].value}, {"CIFAR100": found}, slack)


switched = _switched()


# ---- the conditions of Theorem 1, and what (6) says there ----

SIX = "decaying_k.theorem_1"
LEAST_SMOOTHNESS = Fraction(1, 2)
"""No softmax cross-entropy with output biases has a smaller L, whatever the data."""


def strongly_convex(book: Book) -> Finding:
    """The curvature along equal output biases of two classes: those of the cross-entropy at the outputs 1/2, 1/2."""
    a, b = sp.symbols("a b", real=True)
    along = sp.Matrix([1, 1])
    bends = sp.hessian(sp.log(sp.exp(a) + sp.exp(b)) - a, (a, b))
    flat = sp.simplify((along.T * bends * along)[0])
    if flat != 0:
        return holds(f"curvature {flat} along equal biases")
    return Finding(Status.FAILS, Grade.PROVED, "adding one number to all output biases changes no loss", {"mu": "0"})


def smoothness(book: Book) -> Finding:
    """The curvature in the output biases of two classes that share all probability."""
    largest = bias_curvature((1, 1))
    true = largest == LEAST_SMOOTHNESS
    return judged(true, f"curvature {largest} along opposite biases of two classes", as_audited=true)


limit = Satisfies(
    SIX,
    {"Sent140": {"step_size": str(float(TASKS["Sent140"].first_step_size)), "smoothness": "0.5"}},
    breaks=("the step size is at most 1/(4L)",),
)


def networks_step(book: Book) -> Finding:
    """How curved a network of one hidden unit is in its output weight, and the largest step size of Theorem 1."""
    found = {unit: hidden_curvature(unit) for unit in (1, 4, 100)}
    said = ", ".join(f"L >= {bends} at h = {unit}, 1/(4L) <= {1 / (4 * bends)}" for unit, bends in found.items())
    allowed, names = 1 / (4 * max(found.values())), [name for name in TASKS if name != "Sent140"]
    over = [name for name in names if TASKS[name].first_step_size > allowed]
    witness = {"loss": "log(1 + exp(-u max(h, 0)))", "u": "0"}
    return judged(not over, f"{said}; beyond it {', '.join(over)}", witness, over == names)


def drift_goes_with(book: Book, by: sp.Symbol, power: int) -> Finding:
    drift = term(SIX, "drift")(book)
    true = bool(sp.simplify(by * drift.diff(by) / drift) == power)
    return judged(true, f"power {power} of {by.name}", as_audited=true)


def informative(book: Book, rounds: bool) -> Finding:
    """The drift of (6) in units of G^2, for L = mu = 1/2, which makes it smallest."""
    shares = {}
    for name, task in TASKS.items():
        steps = steps_of_k_rounds(task.first_steps) if rounds else [task.first_steps]
        values = {L: LEAST_SMOOTHNESS, mu: LEAST_SMOOTHNESS, G2: 1, eta: task.first_step_size, N: task.cohort}
        values[ratio] = Fraction(sum(k**3 for k in steps), sum(steps))
        drift = term(SIX, "drift")(book)
        shares[name] = rational(drift.subs({quantity: sp.Rational(v) for quantity, v in values.items()}))
    said = "; ".join(f"{name}: {float(s):.4g}" for name, s in shares.items())
    said = f"the drift of (6) in units of G^2 is at least, {said}"
    quiet = {name: f"{float(s):.4g} G^2" for name, s in shares.items() if s >= 1}
    return judged(not quiet, said, quiet, len(quiet) == len(TASKS))


# ---- the best K of exact runs ----

COSTS = {"slow network": (4.0, 0.2), "even": (1.0, 0.5), "slow clients": (0.3, 1.0)}
"""Seconds of communication and of a local step."""
HORIZONS = (30.0, 120.0, 480.0, 1920.0)


def _best_steps(runtime: float, sending: float, step: float) -> int:
    """The K with the smallest gradient when the time is over: three clients take part, eta = 1/40."""
    problem, rate = Scalars.of((0, 1, -2), (1, 3, 2)), 1 / 40
    bends, minima = (np.array(v, dtype=float) for v in (problem.curvatures, problem.minima))
    found = {}
    for k in range(1, 41):
        rounds = int(runtime / (sending + step * k))
        kept = (1 - rate * bends) ** k
        factor, rest = kept.mean(), ((1 - kept) * minima).mean() / (1 - kept.mean())
        model = rest + factor**rounds * (-30.0 - rest)  # the start lies beyond the rest: nothing cancels
        found[k] = abs(model - float(problem.minimiser))
    return min(found, key=lambda k: found[k])


def _best_of_alike(runtime: float, sending: float, step: float) -> int:
    """The same for clients with one loss: rounds cost time and no accuracy, so that the most local steps win."""
    return max(range(1, int((runtime - sending) / step) + 1), key=lambda k: k * int(runtime / (sending + step * k)))


RUNS = {
    **{name: (*costs, _best_steps) for name, costs in COSTS.items()},
    "identical clients": (*COSTS["even"], _best_of_alike),
}


def trend(book: Book) -> Finding:
    """K* of (8) for four runtimes, all else fixed, and the best K of exact runs: the pairs both rank equally."""
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
        alike = [(bounds[a] < bounds[b]) == (best[a] < best[b]) for a, b in pairs if best[a] != best[b]]
        shares[name] = sum(alike) / len(alike)
    worst = min(shares, key=lambda name: shares[name])
    against = {name: f"{share:.2f}" for name, share in shares.items() if share < 1}
    said = f"pairs ranked equally, worst of {len(shares)} environments: {shares[worst]:.2f} ({worst})"
    return judged(not against, said, against, set(against) == {"identical clients"})
