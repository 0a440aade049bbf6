"""The runs behind these figures: one grid of comparisons, whose cells several figures read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bounds.catalog import get
from empirics.experiments import Cell

from ..stand_ins import found
from .settings import BETAS, RELAXED, ROUNDS

QUADRATICS: dict[str, Any] = {"clients": 4, "dim": 2}
NOISE = 0.3
MOST_REPEATS = 30
SMOKE = {"trained": 0.1, "exact": 0.03, "relaxed": 0.04, "best_steps": 0.03, "one_round": 0.03, "gaussian_mean": 0.01,
         "train": 0.01, "fresh": 0.05}  # fmt: skip
LAPTOP = {"trained": 0.12, "exact": 0.1, "relaxed": 0.15, "best_steps": 0.12, "one_round": 0.1, "gaussian_mean": 0.03,
          "train": 0.025, "fresh": 0.25}  # fmt: skip
"""Minutes of one core by kind of run; ``fresh`` are those whose rounds have samples of their own."""
NIGHT = {"trained": 8, "exact": 6, "best_steps": 4, "one_round": 10, "gaussian_mean": 4, "fresh": 8}
LONGEST = {"trained": 50, "exact": 25, "best_steps": 4, "one_round": 70, "gaussian_mean": 25, "fresh": 50}
"""How many times as long as on a laptop a run takes."""
SCALES_OF_LOSS = (0.1, 1.0, 10.0)


@dataclass(frozen=True)
class Draws:
    """One federation of Theorem 4.1: model and data, how many draws, how regular, how skewed (None: alike)."""

    model: str
    data: str
    seeds: int
    regularisation: float
    concentration: float | None = None

    @property
    def words(self) -> str:
        """For a panel's title."""
        return f"{self.model} on {self.data}, {'iid' if self.concentration is None else 'skewed'}"


@dataclass(frozen=True)
class Plan:
    """One scale. ``problem`` is trained with ``seeds``; quadratics come in ``instances``, ``runs`` of each sampled.

    ``ends`` are the numbers of rounds at which bounds are held against runs; ``steps`` and ``lengths`` the local steps
    and rounds among which the best is looked for; ``step_size`` is None where the theorems' conditions choose it;
    ``compared`` of the instances are held against every bound.
    """

    problem: str
    data: str
    seeds: int
    ends: tuple[int, ...]
    runs: int
    instances: int
    counts: tuple[int, ...]
    draws: tuple[Draws, ...]
    steps: tuple[int, ...]
    lengths: tuple[int, ...]
    step_size: float | None
    compared: int
    relaxed_rounds: int
    betas: tuple[float, ...]
    budgets: Mapping[str, float]

    @property
    def fresh(self) -> str:
        """What is trained where every round has samples of its own."""
        return f"softmax({self.data}, regularisation=0.01)"

    @property
    def repeats(self) -> int:
        """Training runs of every relaxation."""
        return min(self.seeds, MOST_REPEATS)


def _plans() -> dict[str, Plan]:
    data = found("phishing") or "breast_cancer"
    draws = (("ridge", "digits", 0.5), ("softmax", "digits", 0.5), ("logistic", data, 0.1))

    def federations(seeds: int) -> tuple[Draws, ...]:
        return tuple(Draws(f, d, seeds, r, c) for f, d, r in draws for c in ((None, 0.3) if d == "digits" else (None,)))

    problem = f"softmax({data}, regularisation=0.5)"
    counts, steps = (1, 2, 5, 10, 20, 50), (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
    ends, lengths = (1, 2, 5, 10, 20, 40), (1, 2, 4, 8, 16, 32, 64)
    return {
        "smoke": Plan(
            "softmax(digits, regularisation=0.5)", "digits", 2, (1, 2, 4), 3, 2, (1, 2, 5),
            (Draws("ridge", "digits", 6, 0.5), Draws("ridge", "digits", 6, 0.5, 0.3)), (1, 2, 4), (1, 4), 0.0005, 1, 4,
            (0.0, 0.06, 0.12), SMOKE,
        ),
        "laptop": Plan(
            problem, data, 10, ends, 100, 3, counts, federations(60), steps, lengths, None, 3, 20, BETAS, LAPTOP,
        ),
        "overnight": Plan(
            problem, data, 30, (*ends, 80), 500, 10, (*counts, 100), federations(300), (*steps, 48, 64),
            (*lengths, 128), None, 10, 20, BETAS, _times(LAPTOP, NIGHT),
        ),
        "paper": Plan(
            problem, data, 100, (*ends, 80, 160), 2000, 30, (*counts, 100, 200), federations(1000), (*steps, 48, 64),
            (*lengths, 128), None, 10, 20, BETAS, _times(LAPTOP, LONGEST),
        ),
    }  # fmt: skip


def _times(budgets: Mapping[str, float], factors: Mapping[str, int]) -> dict[str, float]:
    return {name: minutes * factors.get(name, 1) for name, minutes in budgets.items()}


PLANS = _plans()


# ---- bounds beside runs ----


def exact(scale: str, bound: str, instance: int) -> Cell:
    """A bound beside its exact value on quadratics; the first instance is sampled too."""
    plan = PLANS[scale]
    return _cell(
        "exact",
        bound=bound,
        instance=instance,
        ends=plan.ends,
        noise=NOISE,
        step_size=plan.step_size,
        runs=plan.runs if instance == 0 else 0,
        **QUADRATICS,
    )


def trained(scale: str, bound: str) -> Cell:
    """A bound beside training on data."""
    plan, about = PLANS[scale], get(bound).about
    told: dict[str, Any] = {"problem": plan.problem}
    if bound in ROUNDS:  # its conditions want gaps that the noise of a mean does not turn negative
        told = {"problem": plan.fresh, "batch": 8}
    elif about is not None and about.algorithm == "fedinit":
        told["algorithm"] = f"fedinit(beta=0.06, reading={about.reading!r})"
    return _cell("trained", bound=bound, seeds=plan.seeds, ends=plan.ends, partition="dirichlet(1)", **told)


def draws(scale: str, federation: Draws) -> Cell:
    """One averaging round at every number of clients."""
    return _cell(
        "one_round",
        problem=f"{federation.model}({federation.data}, regularisation={federation.regularisation:g})",
        counts=PLANS[scale].counts,
        seeds=federation.seeds,
        samples=20,
        partition="iid" if federation.concentration is None else f"dirichlet_replaced({federation.concentration:g})",
    )


def mean(scale: str) -> Cell:
    """One averaging round of sample means."""
    plan = PLANS[scale]
    return _cell("gaussian_mean", counts=plan.counts, seeds=20 * plan.seeds, samples=20, dim=2, variance=1.0)


# ---- local steps and relaxation ----


def best_steps(scale: str, instance: int, factor: float = 1.0) -> Cell:
    """The exact squared gradient for every number of local steps."""
    plan = PLANS[scale]
    lengths = plan.lengths if factor == 1 else (plan.lengths[-2],)
    told = {"steps": plan.steps, "ends": lengths, "scale": factor, "noise": NOISE}
    return _cell("best_steps", instance=instance, **told, **QUADRATICS)


def steps_on_data(scale: str, steps: int) -> Cell:
    """The measured squared gradient with so many local steps, every number at the same step size 1/(4L)."""
    plan = PLANS[scale]
    told = {"ends": plan.lengths, "local_steps": steps, "partition": "dirichlet(1)"}
    return _cell("trained", bound="decaying_k.per_rounds", problem=plan.problem, seeds=plan.seeds, **told)


def relaxed(scale: str, instance: int) -> Cell:
    """Exact divergences for every relaxation, and the bounds at the first instance."""
    plan = PLANS[scale]
    bounds = RELAXED if instance == 0 else ()
    told = {"betas": plan.betas, "bounds": bounds, "rounds": plan.relaxed_rounds, "step": 0.005}
    return _cell("relaxed", instance=instance, **told, **QUADRATICS)


def divergence(scale: str, beta: float, seed: int) -> Cell:
    """Training with a relaxation at a step size of practice."""
    plan = PLANS[scale]
    return Cell(
        "train",
        {
            "problem": f"softmax({'digits' if scale == 'smoke' else found('mnist') or 'digits'})",
            "algorithm": f"fedinit(beta={beta!r}, reading='proof')" if beta else "fedavg()",
            "rounds": plan.relaxed_rounds,
            "seed": seed,
            "measure": ["divergence", "train_loss"],
            "partition": "dirichlet_replaced(0.1)",
            "clients": 10,
            "cohort": 5,
            "batch": 20,
            "local_steps": 5,
            "step_size": 0.1,
        },
    )


def _cell(name: str, **arguments: Any) -> Cell:
    return Cell(f"validate_{name}", arguments)


def budget(cell: Cell, scale: str) -> float:
    """Minutes of one core that a run may take."""
    kind = "fresh" if cell.arguments.get("bound") in ROUNDS else cell.job.removeprefix("validate_")
    return PLANS[scale].budgets[kind]
