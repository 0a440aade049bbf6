"""FedALS Theorem 4.1 on real data: one averaging round of exact local minimisers, measured gap against bound (6).

Population risk, gaps and non-iidness are exact for each draw of the samples (the pool is the population), the loss's L
and mu are exact, and every client's minimiser is checked; only the expectation over draws is estimated, over seeds. The
bound is a function of estimated expectations, so its error is a jackknife's. The plug-in value errs low, if at all: the
root in (6) is concave in the two expectations; that makes a verdict of "violated" too likely, not one of "holds here".
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
from empirics.measuring.one_round import AverageOfMinimisers, Draw, OneRound
from empirics.problems.pool import Pool
from empirics.problems.tasks import task
from empirics.progress import Progress
from empirics.sizes import NUMBER, refuse_beyond_memory
from empirics.training.threads import over_seeds

from ..runs.readings import Drawn
from .comparison import Comparison, judge, Line, standing, TESTS
from .options import ASKED, DRAWN, DRAWS, Options

NAME = "fedals.one_round"
CLAIMED = "fedals.one_round_iid_claimed"  # how the paper's discussion reads (6) for identical clients
POWERS = "fedbounds figure ours.gap_slopes shows whether the gap falls like 1/K or 1/K^2."
SEEDS = {"ridge": 120, "softmax": 60}


def found(bound: Bound, plan: Options, bar: Progress) -> Comparison:
    """Draw, train, average and compare for all four problems; ``bound`` takes the keywords of Theorem 4.1."""
    _refuse_sizes(plan)
    problems = _problems(plan)
    bar.start(sum(len(_seeds(plan, p)) for p in problems))
    lines: list[Line] = []
    rows = len(problems) * len(plan.clients)
    for problem in problems:
        bar.doing(f"{problem.task}, {problem.partition}")
        stacked = drawn(problem, plan.clients, _seeds(plan, problem), plan.workers, bar.step)
        lines += compare(problem, plan.clients, stacked, bound, rows)
    seeds = " and ".join(str(n) for n in sorted({len(_seeds(plan, p)) for p in problems}))
    everyone = Drawn(problems[0].clients, problems[0].clients)
    return Comparison(
        bound,
        tuple(lines),
        f" ({seeds} draws; {TESTS} these settings only). ±: one standard error over draws (bound: jackknife).",
        about=(DRAWN,),
        standing=standing(bound, problems[0], AverageOfMinimisers(), everyone),
        findings=(POWERS,),
        card=card(plan, problems),
        places=("problem", "partition", "clients"),
    )


def drawn(
    problem: Pool,
    counts: Sequence[int],
    seeds: Sequence[int],
    workers: int,
    step: Callable[[], None] | None = None,
) -> Draw:
    """The draws of one federation at every number of clients, stacked over seeds on the first axis."""
    made = over_seeds(OneRound(problem, tuple(counts)).prepare(), seeds, workers, *([step] if step else []))
    return {key: np.stack([draw[key] for draw in made]) for key in made[0]}


def _problems(plan: Options) -> tuple[Pool, ...]:
    """Ridge and softmax regression, each iid and label-skewed; as many clients as the largest number needs."""
    return tuple(
        problem.pool(partition, max(plan.clients), plan.samples)
        for problem in (task(f"{model}(digits, regularisation={plan.regularisation!r})") for model in SEEDS)
        for partition in (Iid(), DirichletReplaced(plan.concentration))
    )


def _seeds(plan: Options, problem: Pool) -> range:
    return range(SEEDS[str(problem.task).partition("(")[0]] if plan.seeds is None else plan.seeds)


def _refuse_sizes(plan: Options) -> None:
    if plan.seeds is not None and plan.seeds < 3:
        raise EmpiricsError(f"seeds must be at least 3; got {plan.seeds}")
    most, seeds = max(plan.clients), max(SEEDS.values()) if plan.seeds is None else plan.seeds
    samples = f"drawing {plan.samples} samples for each of {most} clients"
    refuse_beyond_memory(NUMBER * plan.samples * most, samples, "take fewer --samples or --clients")
    weights = f"{most} clients' weights of all points"
    refuse_beyond_memory(NUMBER * most * len(digits()), weights, "take fewer --clients")
    draws = f"{seeds} draws for up to {most} clients"
    refuse_beyond_memory(2 * NUMBER * seeds * most, draws, "take fewer --seeds or --clients")


def controlled_gap(draws: Mapping[str, np.ndarray]) -> np.ndarray:
    """Gap of every draw minus its control variate of mean zero: (seeds, numbers of clients)."""
    return draws["generalization_gap"] - draws["generalization_gap_control"]


def compare(problem: Pool, counts: Sequence[int], draws: Draw, bound: Bound, rows: int) -> list[Line]:
    """Measured gap against the bound at every number of clients; ``draws`` are stacked over seeds on the first axis."""
    gaps = controlled_gap(draws)
    local = draws["local_gap"] - draws["local_gap_control"]
    found = []
    for i, count in enumerate(counts):
        excess = draws["non_iidness"][:, i, :count]
        estimate = estimates(problem, bound, gaps[:, i], local[:, :count], excess)
        value = float(estimate["bound"].value)
        found.append(
            Line(
                place=(str(problem.task), str(problem.partition), count),
                measured=estimate["measured"],
                bound=value,
                low=value,
                high=value,
                outside=False,
                verdict=judge(estimate["excess"], len(gaps), rows),
                error=float(estimate["bound"].error),
                parts={name: estimate[name] for name in bound.terms},
                extras={
                    "bound / measured": estimate["ratio"],
                    "local_gap (mean over clients)": jackknife(lambda x: x, local[:, :count].mean(1)),
                    "non_iidness (mean over clients)": jackknife(lambda x: x, excess.mean(1)),
                },
            )
        )
    return found


def estimates(
    problem: Pool, bound: Bound, gap: np.ndarray, local: np.ndarray, excess: np.ndarray
) -> dict[str, Estimate]:
    """The numbers of a row with standard errors over seeds; local gap and non-iidness are (seeds, clients).

    The bound is evaluated at the expectations per client: once for the value, once per deleted seed for the errors. Gap
    and bound come from the same draws, which the errors of their difference and ratio take into account.
    """

    def numbers(gap: np.ndarray, local: np.ndarray, excess: np.ndarray) -> np.ndarray:
        values = keywords(problem, bound, local, excess)
        total, parts = bound(**values), bound.parts(**values).values()
        return np.stack([gap, total, total / gap, gap - total, *parts], axis=-1)

    found = jackknife(numbers, gap, local, excess)
    names = ("measured", "bound", "ratio", "excess", *bound.terms)
    return {name: Estimate(v, e) for name, v, e in zip(names, found.value, found.error, strict=True)}


def keywords(problem: Pool, bound: Bound, local: np.ndarray, excess: np.ndarray) -> dict[str, Any]:
    """The quantities of the bound: exact constants, equal weights, clients on the last axis."""
    count = local.shape[-1]
    known = {
        "smoothness": problem.sample_smoothness,
        "strong_convexity": problem.strong_convexity,
        "client_weight": np.full(count, 1 / count),
        "local_gap": local,
        "non_iidness": excess,
    }
    needed = {q.name for q in bound.quantities}
    return {name: value for name, value in known.items() if name in needed}


def card(plan: Options, problems: Sequence[Pool]) -> dict[str, object]:
    """The plan, the data and the exact constants, to repeat the run."""
    data = problems[0].task.data
    return {
        "plan": {name: getattr(plan, name) for name in ASKED[DRAWS]},
        "data": {"name": str(data), "points": len(data), "classes": data.classes},
        "targets": "one-hot classes, for ridge too; the bias is a constant feature, penalised like the others",
        "problems": [
            {
                "problem": str(p.task),
                "partition": str(p.partition),
                "federation_seed": p.federation_seed,
                "seeds": [_seeds(plan, p).start, _seeds(plan, p).stop - 1],
                "samples_per_client": p.samples,
                "smoothness": p.sample_smoothness,
                "strong_convexity": p.strong_convexity,
            }
            for p in problems
        ],
    }
