"""FedALS Theorem 4.1 on real data: one averaging round of exact local minimisers, measured gap against bound (6).

Population risk, gaps and non-iidness are exact for each draw of the samples (the pool is the population), the loss's L
and mu are exact, and every client's minimiser is checked; only the expectation over draws is estimated, over seeds. The
bound is a function of estimated expectations, so its error is a jackknife's. The plug-in value errs low, if at all: the
root in (6) is concave in the two expectations; that makes a verdict of "violated" too likely, not one of "holds here".
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from bounds.catalog import get
from bounds.core import Bound
from bounds.showing.numbers import real_word, whole_word
from empirics.data.catalogue import digits
from empirics.errors import EmpiricsError
from empirics.federation.partitions import DirichletReplaced, Iid
from empirics.measuring.estimates import Estimate, jackknife
from empirics.measuring.one_round import AverageOfMinimisers, Draw, OneRound
from empirics.numbers import check_options
from empirics.problems.pool import Pool
from empirics.problems.tasks import task
from empirics.progress import Progress
from empirics.sizes import NUMBER, refuse_beyond_memory
from empirics.training.seeds import over_seeds

from .core import Comparison, judge, Result, standing, Validation, Verdict
from .slopes import answer, BoundOfMeans, claim_sentences, claimed_rows, slope_rows, Slopes, slopes

NAME = "fedals.one_round"
CLAIMED = "fedals.one_round_iid_claimed"  # how the paper's discussion reads (6) for identical clients
TARGET = "generalization_gap"
SEEDS = {"ridge": 120, "softmax": 60}


@dataclass(frozen=True)
class Plan:
    """The settings of the run; ``seeds`` None means the default of each model."""

    clients: tuple[int, ...]
    seeds: int | None
    samples: int
    regularisation: float
    concentration: float
    workers: int

    def __post_init__(self) -> None:
        check_options({name: value for name, value in vars(self).items() if name != "clients" and value is not None})
        if self.seeds is not None and self.seeds < 3:
            raise EmpiricsError(f"seeds must be at least 3; got {self.seeds}")
        for count in self.clients:
            check_options({"clients": count})
        self._refuse_sizes()

    def _refuse_sizes(self) -> None:
        most, seeds = max(self.clients), max(SEEDS.values()) if self.seeds is None else self.seeds
        samples = f"drawing {self.samples} samples for each of {most} clients"
        refuse_beyond_memory(NUMBER * self.samples * most, samples, "take fewer --samples or --clients")
        weights = f"{most} clients' weights of all points"
        refuse_beyond_memory(NUMBER * most * len(digits()), weights, "take fewer --clients")
        draws = f"{seeds} draws for up to {most} clients"
        refuse_beyond_memory(2 * NUMBER * seeds * most, draws, "take fewer --seeds or --clients")

    def seeds_of(self, problem: Pool) -> range:
        return range(SEEDS[str(problem.task).partition("(")[0]] if self.seeds is None else self.seeds)

    def problems(self) -> tuple[Pool, ...]:
        """Ridge and softmax regression, each iid and label-skewed; as many clients as the largest number needs."""
        return tuple(
            problem.pool(partition, max(self.clients), self.samples)
            for problem in (task(f"{model}(digits, regularisation={self.regularisation!r})") for model in SEEDS)
            for partition in (Iid(), DirichletReplaced(self.concentration))
        )


class FullParticipation(NamedTuple):
    """The setting the predicates of the assumptions read."""

    clients: int
    cohort: int


def run(options: argparse.Namespace, progress: Progress) -> Result:
    """Measure everything the options ask for."""
    chosen = {field: getattr(options, field) for field in Plan.__dataclass_fields__}
    return measure(Plan(**chosen), get(NAME), progress)


def measure(plan: Plan, bound: Bound, progress: Progress) -> Result:
    """Draw, train, average and compare for all four problems; ``bound`` takes the keywords of Theorem 4.1."""
    problems = plan.problems()
    progress.start(sum(len(plan.seeds_of(p)) for p in problems))
    comparisons: list[Comparison] = []
    claimed: list[Comparison] = []
    fits: list[Slopes] = []
    rows = len(problems) * len(plan.clients)
    for problem in problems:
        progress.doing(f"{problem.task}, {problem.partition}")
        measurement = OneRound(problem, plan.clients).prepare()
        draws = over_seeds(measurement, plan.seeds_of(problem), plan.workers, progress.step)
        stacked = {key: np.stack([draw[key] for draw in draws]) for key in draws[0]}
        comparisons += compare(problem, plan.clients, stacked, bound, rows)
        if problem.partition.identical:
            claimed += compare(problem, plan.clients, stacked, get(CLAIMED), rows)
        fits += slopes(problem, controlled_gap(stacked), bounds_at(problem, plan.clients, stacked, bound), comparisons)
    everyone = FullParticipation(problems[0].clients, problems[0].clients)
    return Result(
        bound=bound,
        target=TARGET,
        comparisons=tuple(comparisons),
        numbers=(*(row for fit in fits for row in slope_rows(fit)), *claimed_rows(claimed)),
        findings=(*answer(fits, comparisons), *claim_sentences(claimed)),
        assumptions=standing(bound, problems[0], AverageOfMinimisers(), everyone),
        card=card(plan, problems),
    )


def controlled_gap(draws: Mapping[str, np.ndarray]) -> np.ndarray:
    """Gap of every draw minus its control variate of mean zero: (seeds, numbers of clients)."""
    return draws["generalization_gap"] - draws["generalization_gap_control"]


def compare(problem: Pool, counts: Sequence[int], draws: Draw, bound: Bound, rows: int) -> list[Comparison]:
    """Measured gap against the bound at every number of clients; ``draws`` are stacked over seeds on the first axis."""
    gaps = controlled_gap(draws)
    local = draws["local_gap"] - draws["local_gap_control"]
    found = []
    for i, count in enumerate(counts):
        excess = draws["non_iidness"][:, i, :count]
        estimate = estimates(problem, bound, gaps[:, i], local[:, :count], excess)
        seeds = len(gaps)
        plain = jackknife(lambda x: x, draws["generalization_gap"][:, i])
        found.append(
            Comparison(
                problem=str(problem.task),
                partition=str(problem.partition),
                clients=count,
                seeds=seeds,
                measured=estimate.pop("measured"),
                bound=estimate.pop("bound"),
                ratio=estimate.pop("ratio"),
                verdict=judge(estimate.pop("excess"), seeds, rows),
                parts={name: estimate.pop(name) for name in bound.terms},
                extras={
                    "local_gap (mean over clients)": jackknife(lambda x: x, local[:, :count].mean(1)),
                    "non_iidness (mean over clients)": jackknife(lambda x: x, excess.mean(1)),
                    "generalization_gap without control variate": plain,
                },
            )
        )
    return found


def estimates(
    problem: Pool, bound: Bound, gap: np.ndarray, local: np.ndarray, excess: np.ndarray
) -> dict[str, Estimate]:
    """Everything one row shows, with standard errors over seeds; local gap and non-iidness are (seeds, clients).

    The expectations go into the bound per client, then the bound is evaluated: for the value once, for the errors once
    per deleted seed. Gap and bound come from the same draws, and the error of their difference and ratio knows it.
    """

    def numbers(gap: np.ndarray, local: np.ndarray, excess: np.ndarray) -> np.ndarray:
        values = keywords(problem, bound, local, excess)
        total, parts = bound(**values), bound.parts(**values).values()
        return np.stack([gap, total, total / gap, gap - total, *parts], axis=-1)

    found = jackknife(numbers, gap, local, excess)
    names = ("measured", "bound", "ratio", "excess", *bound.terms)
    return {name: Estimate(v, e) for name, v, e in zip(names, found.value, found.error, strict=True)}


def keywords(problem: Pool, bound: Bound, local: np.ndarray, excess: np.ndarray) -> dict[str, Any]:
    """What the bound takes, of all that is known here: exact constants, equal weights, clients on the last axis."""
    count = local.shape[-1]
    known = {
        "smoothness": problem.smoothness,
        "strong_convexity": problem.strong_convexity,
        "client_weight": np.full(count, 1 / count),
        "local_gap": local,
        "non_iidness": excess,
    }
    needed = {q.name for q in bound.quantities}
    return {name: value for name, value in known.items() if name in needed}


def bounds_at(problem: Pool, counts: Sequence[int], draws: Draw, bound: Bound) -> BoundOfMeans:
    """The bound at every number of clients as a function of means over draws, with the draws' samples of them."""

    def values(local: np.ndarray, excess: np.ndarray) -> np.ndarray:
        rows = [keywords(problem, bound, local[:, :k], excess[:, i, :k]) for i, k in enumerate(counts)]
        return np.stack([bound(**row) for row in rows], axis=-1)

    return BoundOfMeans(values, (draws["local_gap"] - draws["local_gap_control"], draws["non_iidness"]))


def card(plan: Plan, problems: Sequence[Pool]) -> dict[str, object]:
    """What is needed to repeat the run, and the exact constants."""
    data = problems[0].task.data
    return {
        "plan": asdict(plan),
        "data": {"name": str(data), "points": len(data), "classes": data.classes},
        "targets": "one-hot classes, for ridge too; the bias is a constant feature, penalised like the others",
        "problems": [
            {
                "problem": str(p.task),
                "partition": str(p.partition),
                "federation_seed": p.federation_seed,
                "seeds": [plan.seeds_of(p).start, plan.seeds_of(p).stop - 1],
                "samples_per_client": p.samples,
                "smoothness": p.smoothness,
                "strong_convexity": p.strong_convexity,
            }
            for p in problems
        ],
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this validation."""
    parser.add_argument(
        "--clients",
        type=_counts,
        default=(1, 2, 5, 10, 20, 50),
        metavar="K,K,...",
        help="numbers of clients to compare",
    )
    parser.add_argument("--seeds", type=whole_word, help="independent draws (default: 120 for ridge, 60 for softmax)")
    parser.add_argument("--samples", type=whole_word, default=20, help="samples of each client (default 20)")
    parser.add_argument("--regularisation", type=real_word, default=0.5, help="L2 penalty, which is mu (default 0.5)")
    parser.add_argument(
        "--concentration", type=real_word, default=0.3, help="of the Dirichlet class priors of the label-skewed clients"
    )
    parser.add_argument(
        "--workers", type=whole_word, default=2, help="threads; the numbers do not depend on it (default 2)"
    )


def _counts(text: str) -> tuple[int, ...]:
    """Numbers of clients from a list such as ``1,2,5``, in increasing order."""
    try:
        return tuple(sorted({whole_word(part.strip()) for part in text.split(",")}))
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"must be whole numbers separated by commas; got {text!r}") from None


VALIDATION = Validation(
    name=NAME,
    words="handwritten digits, ridge and softmax regression, iid and label-skewed clients, one exact averaging round",
    add_options=add_options,
    run=run,
)

__all__ = ["VALIDATION", "Plan", "Verdict", "compare", "measure"]
