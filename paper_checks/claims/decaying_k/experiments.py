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
from ..checkers import exact, Ordered, Prints, rational, Readings, Satisfies, term
from ..checkers.tables import half_unit
from ..claim import Book, Claim, claimed, Defect, Finding, Grade, holds, judged, Kind, Repair, Status
from ..parabolas import Scalars
from ..rows import rows
from ..softmax import bias_curvature, hidden_curvature

ONE, TIMES, FOUR = (table("decaying_k", f"Table {number}") for number in (1, 2, 4))
DATA, RATES, RESULTS = (table("decaying_k", f"Text {section}") for section in ("4.1", "4.2", "4.4"))
ROUNDS = int(table("decaying_k", "Text 3.5")["all", "rounds R"].value)
DOWN, UP = (exact(RATES["all", way].value) for way in ("download bandwidth D", "upload bandwidth U"))
"""Megabits per second."""
NAMES = ("Sent140", "FEMNIST", "CIFAR100", "Shakespeare")


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


TASKS = {name: _task(name) for name in NAMES}

NETWORKS = {
    "Sent140": "sent140_linear",
    "FEMNIST": "femnist_dnn",
    "CIFAR100": "decaying_k_cnn",
    "Shakespeare": "shakespeare_gru",
}


def _column(column: str) -> dict[str, str]:
    return {name: ONE[name, column].value for name in NAMES}


# ---- Table 1 ----


def _megabits() -> Mapping[str, Fraction]:
    """Parameters of the networks as built, 32 bits each."""
    import torch

    from empirics.models.networks import network

    with torch.device("meta"):
        modules = {name: network(text).build() for name, text in NETWORKS.items()}
    return {name: Fraction(32 * sum(p.numel() for p in m.parameters()), 10**6) for name, m in modules.items()}


SIZES = Claim(
    "decaying_k.table_1_sizes",
    "The sizes of the models for Sent140, FEMNIST and Shakespeare are those of the models described, in megabits with "
    "32 bits a parameter.",
    Kind.TABLE.at("Table 1, model size"),
    Prints({name: size for name, size in _column("Model size").items() if name != "CIFAR100"}, _megabits),
    note="Sent140's with two outputs; with one it would be 0.16 Mb. The text does not fix CIFAR100's channels and "
    "padding: of 16, 32, 64 and 128 channels, 32 and 64 without padding on images of 32 x 32 alone have 40.0 Mb "
    "(decaying_k.table_1_cifar_crop).",
)


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


@claimed(
    "decaying_k.table_1_cifar_crop",
    "The CIFAR100 network of Table 1 sees the 28 x 28 crops that the text describes.",
    Kind.TABLE.at("Table 1, CIFAR100, with Section 4.1"),
    known=Status.OPEN,
    note="No network of that shape with 16, 32, 64 or 128 channels has 40.0 Mb on 28 x 28 images; one has on 32 x 32. "
    "Crops may have been put back to 32 x 32 by padding, which the text does not say.",
)
def crop(book: Book) -> Finding:
    """Undecided while channels are not published; said with what usual counts give."""
    found = {side: _fitting(side) for side in (28, 32)}
    said = "; ".join(f"channels that fit on {s} x {s}: {', '.join(f) or 'none'}" for s, f in found.items())
    audited = found == {28: [], 32: ["32 and 64"]}
    return Finding(Status.OPEN, Grade.EXACT, f"channels and padding are not published; {said}", as_audited=audited)


SAMPLE_SLACK = {
    name: Fraction(unit, 2 * TASKS[name].clients)
    for name, unit in (("Sent140", 1000), ("FEMNIST", 1000), ("CIFAR100", 0), ("Shakespeare", 100_000))
}
"""How far the rounding of the sample totals (336k, 501k, 3.7M) can move the means."""

SAMPLES = Claim(
    "decaying_k.table_1_samples",
    "Table 1 and the text agree: samples per client are the training samples over the clients; the cohorts are 0.2, "
    "2, 5 and 1.5 % of the clients; the clients 22k, 3k, 500 and 660.",
    Kind.TABLE.at("Table 1 with Section 4.1"),
    {
        "samples": Prints(
            {**_column("Samples per client"), "FEMNIST": "17e1"},  # 170, taken as rounded to tens, unlike the others
            {name: exact(DATA[name, "training samples"].value) / t.clients for name, t in TASKS.items()},
            slack=SAMPLE_SLACK,
        ),
        "participation": Prints(
            {name: DATA[name, "participation"].value for name in NAMES},
            {name: Fraction(100 * t.cohort, t.clients) for name, t in TASKS.items()},
        ),
        "clients": Prints(
            {"Sent140": "22", "FEMNIST": "3", "CIFAR100": "0.500", "Shakespeare": "0.660"},
            {name: Fraction(t.clients, 1000) for name, t in TASKS.items()},
        ),
    },
    note="With FEMNIST's 170 taken as rounded to tens: 501k over 3000 clients are 167. The mean user of Sent140 has "
    "19.7 samples, which fits the least of 10.",
)


# ---- Table 2 ----


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


# ---- Table 4 ----


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


def over_rounds(task: MeasuredTask) -> Fraction:
    """Steps of K_r-rounds over those of K-eta-fixed, both for the same number of rounds."""
    return Fraction(sum(steps_of_k_rounds(task.first_steps)), ROUNDS * task.first_steps)


def over_time(task: MeasuredTask) -> Fraction:
    """The same, both for as long as K-eta-fixed takes for its rounds, by (5)."""
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


def _relative(share: Callable[[MeasuredTask], Fraction], names: tuple[str, ...], wrong: tuple[str, ...] = ()) -> Prints:
    printed = {name: FOUR[name, "K_r-rounds"].value for name in names}
    return Prints(printed, lambda: {name: share(TASKS[name]) for name in names}, wrong=wrong)


K_ROUNDS = Claim(
    "decaying_k.table_4_k_rounds",
    "Beside K-eta-fixed over 10,000 rounds, K_r-rounds takes 0.21, 0.11, 0.090 and 0.74 of the steps.",
    Kind.TABLE.at("Table 4, K_r-rounds; Section 4.4"),
    Readings(
        {
            "10,000 rounds of each": _relative(over_rounds, NAMES, wrong=NAMES),
            "in the time that these rounds take": _relative(over_time, NAMES, wrong=("CIFAR100",)),
        }
    ),
    note="In 10,000 rounds ceil(r^(-1/3) K_0) makes 0.076 to 0.079 in every task; the printed shares would need some "
    "400, 3000, 6400 and 5 rounds. In the same runtime, where shorter rounds leave time for more of them, Sent140, "
    "FEMNIST and Shakespeare come out to the last digit, so that this is what the table counts; CIFAR100 does not, "
    "and 'less than 10 % of the steps' and 'more than 10 times less computation' rest on it.",
    repair=Repair(
        "in the same runtime, with 0.144 for CIFAR100",
        Prints(
            {**{name: FOUR[name, "K_r-rounds"].value for name in NAMES}, "CIFAR100": "0.144"},
            lambda: {name: over_time(TASKS[name]) for name in NAMES},
        ),
    ),
    defect=Defect.READING,
)


def step_share(task: MeasuredTask, switch: int, by_time: bool) -> Fraction:
    """Steps of K_r-step with ``switch`` rounds of K_0 steps, then K_0 / 10, over those of K-eta-fixed."""
    late = Fraction(task.first_steps, 10)
    long_, short_ = (task.communication + task.step_time * k for k in (Fraction(task.first_steps), late))
    rounds = (ROUNDS * long_ - switch * long_) // short_ if by_time else ROUNDS - switch
    return (switch * task.first_steps + rounds * late) / (ROUNDS * task.first_steps)


def _switched(by_time: bool) -> Prints:
    task, minutes = TASKS["CIFAR100"], exact(RESULTS["CIFAR100", "K_r-step switch visible at"].value)
    switch = int(60 * minutes / (task.communication + task.computation(task.first_steps)))
    # 1000 minutes are read off a figure: 5 % either way.
    slack = abs(step_share(task, switch + switch // 20, by_time) - step_share(task, switch, by_time))
    return Prints(
        {"CIFAR100": FOUR["CIFAR100", "K_r-step"].value}, {"CIFAR100": step_share(task, switch, by_time)}, slack
    )


CIFAR_STEP = Claim(
    "decaying_k.table_4_cifar_step",
    "Decayed at 1000 minutes on CIFAR100, K_r-step takes 0.40 of the steps.",
    Kind.TABLE.at("Table 4, CIFAR100, K_r-step; Section 4.4"),
    _switched(by_time=True),
    note="By Tables 1 and 2 round 2352 ends at 1000 minutes: 0.40 in the runtime of 10,000 rounds of K-eta-fixed, and "
    "0.31 in 10,000 rounds. Again the table counts by time.",
)


def _below_a_tenth(share: str | Fraction) -> Ordered:
    stated = exact(RESULTS["CIFAR100", "K_r-rounds share of SGD steps"].value) / 100
    return Ordered({"share": share, "a tenth": stated}, ("share < a tenth",))


TENTH = Claim(
    "decaying_k.results_tenth",
    "On CIFAR100 K_r-rounds takes less than 10 % of the steps.",
    Kind.TABLE.at("Section 4.4"),
    {
        "printed in Table 4": _below_a_tenth(FOUR["CIFAR100", "K_r-rounds"].value),
        "in 10,000 rounds of each": _below_a_tenth(over_rounds(TASKS["CIFAR100"])),
        "in the same time": _below_a_tenth(over_time(TASKS["CIFAR100"])),
    },
    wrong=("in the same time",),
    note="The sentence before says 'a given runtime', which the rows of the other tasks count by: there it is 14 "
    "%. 50,000 steps, a tenth, would take 15,500 of the 255,000 seconds and leave time for 23,000 rounds and more, "
    "whose two or more steps (three up to round 15,624) make over 60,000. In 10,000 rounds of each it is 8 %; the "
    "printed 0.090 is neither.",
    defect=Defect.READING,
)

TENFOLD = Claim(
    "decaying_k.conclusion_tenfold",
    "Within a given time there is, in some cases, over 10 times less computation.",
    Kind.TABLE.at("Section 5"),
    {
        "in 10,000 rounds of each": _below_a_tenth(min(map(over_rounds, TASKS.values()))),
        "in the same time": _below_a_tenth(min(map(over_time, TASKS.values()))),
    },
    wrong=("in the same time",),
    note="In the same time the least share of K_r-rounds is 0.11 (FEMNIST), 9 times less; CIFAR100, whose printed "
    "0.090 the sentence rests on, has 0.14. In 10,000 rounds of each, 13 times less in every task.",
    defect=Defect.READING,
)

SHARE_68 = Claim(
    "decaying_k.results_68",
    "Similarly, K_r-step takes 68 % of the steps.",
    Kind.TABLE.at("Section 4.4"),
    {task: Prints({task: "68"}, {task: 100 * exact(FOUR[task, "K_r-step"].value)}) for task in ("Sent140", "CIFAR100")},
    wrong=("CIFAR100",),
    note="No task is named. It is so of Sent140; the sentence before is about CIFAR100, for which Table 4 has 40 %.",
    defect=Defect.READING,
)

ROWS = rows(
    "decaying_k",
    "tables",
    {
        **{f"{task}, time": TIMES[task, "beta"] for task in NAMES},
        **_products(),
        **{f"{task} {schedule}": FOUR[task, schedule].value for task, schedule in FOUR},
        "K-eta-fixed": "1",
    },
)

# ---- the conditions of Theorem 1, and what (6) says there ----

SIX = "decaying_k.theorem_1"
LEAST_SMOOTHNESS = Fraction(1, 2)
"""No softmax cross-entropy with output biases has a smaller L, whatever the data."""
STEP_SIZES = {name: {"step_size": str(float(t.first_step_size))} for name, t in TASKS.items()}


@claimed(
    "decaying_k.setting_strongly_convex",
    "Sent140 with its linear classifier, called convex, meets Assumption 2 too.",
    Kind.SETTING.at("Section 3.3, after Assumption 3; Section 4.1"),
    note="The text says convex only. It is not strongly so: mu = 0 for a softmax of two outputs, no regulariser "
    "being mentioned. The other three tasks are not convex. Theorem 1 covers none of the experiments.",
    defect=Defect.SETTINGS,
    ours=True,
)
def strongly_convex(book: Book) -> Finding:
    """The curvature along equal output biases of two classes: those of the cross-entropy at the outputs 1/2, 1/2."""
    a, b = sp.symbols("a b", real=True)
    along = sp.Matrix([1, 1])
    bends = sp.hessian(sp.log(sp.exp(a) + sp.exp(b)) - a, (a, b))
    flat = sp.simplify((along.T * bends * along)[0])
    if flat != 0:
        return holds(f"curvature {flat} along equal biases")
    return Finding(Status.FAILS, Grade.PROVED, "adding one number to all output biases changes no loss", {"mu": "0"})


def _smoothness(book: Book) -> Finding:
    """The curvature in the output biases of two classes that share all probability."""
    largest = bias_curvature((1, 1))
    true = largest == LEAST_SMOOTHNESS
    return judged(true, f"curvature {largest} along opposite biases of two classes", as_audited=true)


ALLOWED = Claim(
    "decaying_k.setting_sent140_step_size",
    "Sent140's eta_0 = 3.0 keeps to Theorem 1's limit, its classifier having output biases.",
    Kind.SETTING.at("Table 1 with Theorem 1"),
    {
        "L >= 1/2": _smoothness,
        "limit": Satisfies(
            SIX,
            {"Sent140": {**STEP_SIZES["Sent140"], "smoothness": str(float(LEAST_SMOOTHNESS))}},
            breaks=("the step size is at most 1/(4L)",),
        ),
    },
    wrong=("limit",),
    note="For a classifier with output biases, as layers have them by default; the paper does not "
    "say. In the biases of two classes that share all probability every softmax cross-entropy has curvature 1/2, so "
    "that L >= 1/2 and 1/(4L) is at most 1/2. The step size is at least six times too large.",
    defect=Defect.SETTINGS,
    ours=True,
)


@claimed(
    "decaying_k.setting_step_sizes",
    "The eta_0 of FEMNIST, CIFAR100 and Shakespeare keep to Theorem 1's limit.",
    Kind.SETTING.at("Table 1 with Theorem 1"),
    note="No step size does: the loss of a network with a hidden layer has no L on the whole space. A bias sets a ReLU "
    "unit to any h for all samples, and the curvature in its output weight is h^2/4; where units are bounded, as in a "
    "GRU, that in the bias grows with the square of the output weight. On a bounded set they would need L of at most "
    "0.83, 25 and 2.5. The losses are not convex either, as the text says.",
    defect=Defect.SETTINGS,
    ours=True,
)
def networks_step(book: Book) -> Finding:
    """How curved a network of one hidden unit is in its output weight, and the largest step size of Theorem 1."""
    found = {unit: hidden_curvature(unit) for unit in (1, 4, 100)}
    said = ", ".join(f"L >= {bends} at h = {unit}, 1/(4L) <= {1 / (4 * bends)}" for unit, bends in found.items())
    allowed = 1 / (4 * max(found.values()))
    over = [name for name in NAMES[1:] if TASKS[name].first_step_size > allowed]
    witness = {"loss": "log(1 + exp(-u max(h, 0)))", "u": "0"}
    return judged(not over, f"{said}; beyond it {', '.join(over)}", witness, over == list(NAMES[1:]))


def _slope_is(book: Book, by: sp.Symbol, power: int) -> Finding:
    drift = term(SIX, "drift")(book)
    true = bool(sp.simplify(by * drift.diff(by) / drift) == power)
    return judged(true, f"power {power} of {by.name}", as_audited=true)


def _informative(book: Book, rounds: bool) -> Finding:
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


VACUOUS = Claim(
    "decaying_k.setting_informative",
    "At the values of Table 1, (6) says more than that gradients stay below G, with K_0 or with K_r-rounds.",
    Kind.SETTING.at("Theorem 1 with Tables 1 and 3"),
    {
        "grows with L": lambda book: _slope_is(book, L, 2),
        "falls with mu": lambda book: _slope_is(book, mu, -1),
        "L >= 1/2": _smoothness,
        "K_0": lambda book: _informative(book, rounds=False),
        "K_r-rounds": lambda book: _informative(book, rounds=True),
    },
    wrong=("K_0", "K_r-rounds"),
    note="As if the theorem applied. L >= 1/2 (with output biases) and kappa >= 1 alone make the drift 100 to 40,000 "
    "times G^2, however long one trains; K_r-rounds over 10,000 rounds lowers it by a factor of 70 or so, and not "
    "enough. Compared with G^2, which the gradients are taken not to exceed.",
    defect=Defect.SETTINGS,
    ours=True,
)


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


@claimed(
    "decaying_k.theorem_2_trend",
    "The longer the run, the smaller the best K: on exact runs as by Theorem 2.",
    Kind.REMARK.at("Theorem 2"),
    note="It holds on three different quadratics at three costs, K chosen once for a run of known length, and fails "
    "where "
    "clients are identical: (9) falls like W^(-1/3) whatever the clients, since G bounds gradients and not "
    "differences, "
    "while without drift one round of as many steps as there is time for is best: 58, 238, 958 and 3838 where sending "
    "takes a second and a step half of one.",
    defect=Defect.READING,
    ours=True,
)
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


UNDECIDED = rows("decaying_k", "settings")
