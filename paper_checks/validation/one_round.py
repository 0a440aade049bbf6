"""FedALS Theorem 4.1 on real data: the measured gap of one averaging round of local minimisers against bound (6).

Population risk, gaps and non-iidness are exact for each draw of the samples (the pool is the population), so are the
loss's L and mu, and every client's minimiser is checked; only the expectation over draws is estimated. The bound is a
function of estimated expectations, so its standard error is computed by a jackknife. Because the root in (6) is concave
in the two expectations, the estimated bound may be too low; that makes "violated" too likely, not "holds here".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bounds.core import Bound
from empirics.data.catalogue import digits
from empirics.errors import EmpiricsError
from empirics.federation.partitions import DirichletReplaced, Iid
from empirics.measuring.estimates import Estimate, jackknife
from empirics.measuring.one_round import AverageOfMinimisers, DrawValues, OneRound
from empirics.problems.pool import Pool
from empirics.problems.tasks import task
from empirics.progress import Progress
from empirics.sizes import NUMBER, refuse_beyond_memory
from empirics.training.threads import over_seeds

from ..runs.readings import PlanFacts
from .comparison import Comparison, condition_status, Line, TESTS
from .options import DRAWS, OPTION_NAMES, Options
from .verdicts import t_test_verdict

Array = np.ndarray[Any, Any]
NAME = "fedals.one_round"
CLAIMED = "fedals.one_round_iid_claimed"  # what the paper's discussion says of (6) for identical clients
POWERS = "fedbounds figure ours.gap_slopes shows whether the gap falls like 1/K or 1/K^2."
SEEDS = {"ridge": 120, "softmax": 60}
"""Independent draws by default."""


def make_comparison(bound: Bound, plan: Options, bar: Progress) -> Comparison:
    """Draw samples, train, average, and compare with a bound that has the quantities of Theorem 4.1.

    There are four problems: ridge and softmax regression, each iid and label-skewed.
    """
    if plan.seeds is not None and plan.seeds < 3:
        raise EmpiricsError(f"seeds must be at least 3; got {plan.seeds}")
    most, draws = max(plan.clients), plan.seeds or max(SEEDS.values())
    for size, work, option in (
        (plan.samples * most, f"drawing {plan.samples} samples for each of {most} clients", "--samples or --clients"),
        (most * len(digits()), f"{most} clients' weights of all points", "--clients"),
        (2 * draws * most, f"{draws} draws for up to {most} clients", "--seeds or --clients"),
    ):
        refuse_beyond_memory(NUMBER * size, work, f"take fewer {option}")
    seeds: dict[Pool, range] = {}
    for model, default in SEEDS.items():
        data = task(f"{model}(digits, regularisation={plan.regularisation!r})")
        for partition in (Iid(), DirichletReplaced(plan.concentration)):
            seeds[data.pool(partition, most, plan.samples)] = range(plan.seeds or default)
    bar.start(sum(map(len, seeds.values())))
    lines: list[Line] = []
    for problem, numbers in seeds.items():
        bar.doing(f"{problem.task}, {problem.partition}")
        stacked = drawn(problem, plan.clients, numbers, plan.workers, bar.step)
        lines += compare(problem, plan.clients, stacked, bound, len(seeds) * len(plan.clients))
    first = next(iter(seeds))
    counts = " and ".join(str(n) for n in sorted(set(map(len, seeds.values()))))
    return Comparison(
        bound,
        tuple(lines),
        f" ({counts} draws; {TESTS} these settings only). ±: one standard error over draws (bound: jackknife).",
        about=("handwritten digits, ridge and softmax regression, iid and label-skewed clients, one exact averaging "
               "round",),
        conditions=condition_status(bound, first, AverageOfMinimisers(), PlanFacts(first.clients, first.clients)),
        findings=(POWERS,),
        card={
            "plan": {name: getattr(plan, name) for name in OPTION_NAMES[DRAWS]},
            "data": {"name": str(first.task.data), "points": len(first.task.data), "classes": first.task.data.classes},
            "targets": "one-hot classes, for ridge too; the bias is a constant feature, penalised like the others",
            "problems": [
                {
                    "problem": str(p.task),
                    "partition": str(p.partition),
                    "federation_seed": p.federation_seed,
                    "seeds": [numbers.start, numbers.stop - 1],
                    "samples_per_client": p.samples,
                    "smoothness": p.sample_smoothness,
                    "strong_convexity": p.strong_convexity,
                }
                for p, numbers in seeds.items()
            ],
        },
        places=("problem", "partition", "clients"),
    )  # fmt: skip


def drawn(
    problem: Pool,
    counts: Sequence[int],
    seeds: Sequence[int],
    workers: int,
    step: Callable[[], None] | None = None,
) -> DrawValues:
    """The draws of one federation at every number of clients, stacked over seeds on the first axis."""
    draws = over_seeds(OneRound(problem, tuple(counts)).prepare(), seeds, workers, *([step] if step else []))
    return {key: np.stack([draw[key] for draw in draws]) for key in draws[0]}


def controlled_gap(draws: Mapping[str, Array]) -> Array:
    """The gap of every draw minus a control variate of mean zero: (seeds, numbers of clients)."""
    return draws["generalization_gap"] - draws["generalization_gap_control"]


def compare(problem: Pool, counts: Sequence[int], draws: DrawValues, bound: Bound, rows: int) -> list[Line]:
    """Measured gap against the bound at every number of clients; ``draws`` are stacked over seeds on the first axis.

    The bound is evaluated at the means over draws: of all seeds for the value, without each seed in turn for the
    errors. Gap and bound come from the same draws, so the errors of difference and ratio account for their correlation.
    """
    gaps = controlled_gap(draws)
    controlled = draws["local_gap"] - draws["local_gap_control"]
    needed = {q.name for q in bound.quantities}
    lines = []
    for i, count in enumerate(counts):
        known = {
            "smoothness": problem.sample_smoothness,
            "strong_convexity": problem.strong_convexity,
            "client_weight": np.full(count, 1 / count),
        }

        def numbers(gap: Array, local: Array, excess: Array, known: Mapping[str, Any] = known) -> Array:
            values = {**known, "local_gap": local, "non_iidness": excess}
            values = {name: value for name, value in values.items() if name in needed}
            total, parts = bound(**values), bound.parts(**values).values()
            return np.stack([gap, total, total / gap, gap - total, *parts], axis=-1)

        local, excess = controlled[:, :count], draws["non_iidness"][:, i, :count]
        estimates = jackknife(numbers, gaps[:, i], local, excess)
        measured, total, ratio, above, *parts = map(Estimate, estimates.value, estimates.error)
        value = float(total.value)
        lines.append(
            Line(
                place=(str(problem.task), str(problem.partition), count),
                measured=measured,
                bound=value,
                low=value,
                high=value,
                outside=False,
                verdict=t_test_verdict(above, len(gaps), rows),
                error=float(total.error),
                parts=dict(zip(bound.terms, parts, strict=True)),
                extras={
                    "bound / measured": ratio,
                    "local_gap (mean over clients)": jackknife(lambda x: x, local.mean(1)),
                    "non_iidness (mean over clients)": jackknife(lambda x: x, excess.mean(1)),
                },
            )
        )
    return lines
