"""The runs behind these figures: one grid of comparisons, whose cells several figures read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bounds.assumptions import FULL_PARTICIPATION
from bounds.catalog import get
from empirics.experiments import Cell
from paper_checks.runs.methods import method, takes
from paper_checks.validation.options import Options, RUNS

from ..run_description import of, Ran
from ..scale import Budget, Plan
from ..substitutes import found
from .settings import BETAS, RELAXED, ROUNDS

CLIENTS = Options.of(RUNS).clients
"""Of training on data."""
QUADRATICS: dict[str, Any] = {"clients": 4, "dim": 2}
NOISE = 0.3
MOST_REPEATS = 30
SCALES_OF_LOSS = (0.1, 1.0, 10.0)
REAL = ""
"""Stands for what is trained on, which is loaded when it is needed: figures are drawn without data too."""


@dataclass(frozen=True)
class Draws:
    """One federation of Theorem 4.1: model and data, how many draws, how regular, how skewed (None: IID)."""

    model: str
    named: str
    seeds: int
    regularisation: float
    concentration: float | None = None

    @property
    def data(self) -> str:
        return self.named or trained_on()

    @property
    def words(self) -> str:
        """For a panel's title."""
        return f"{self.model} on {self.data}, {'iid' if self.concentration is None else 'skewed'}"


def _federations(seeds: int) -> tuple[Draws, ...]:
    """Pictures come IID and skewed."""
    pictures = [Draws(f, "digits", seeds, 0.5, c) for f in ("ridge", "softmax") for c in (None, 0.3)]
    return (*pictures, Draws("logistic", REAL, seeds, 0.1))


def _budget(**minutes: float) -> Budget:
    """Minutes by job; ``fresh`` are the runs whose rounds have samples of their own, which come first."""
    fresh = 60 * minutes.pop("fresh")
    jobs = {f"validate_{name}": 60 * each for name, each in minutes.items() if name != "train"}
    return Budget(whole={**dict.fromkeys(ROUNDS, fresh), **jobs, "train": 60 * minutes["train"]})


COUNTS, STEPS = (1, 2, 5, 10, 20, 50), (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
ENDS, LENGTHS = (1, 2, 5, 10, 20, 40), (1, 2, 4, 8, 16, 32, 64)
PLANS = {
    "smoke": Plan(
        seeds=2, rounds={"relaxed": 4}, setting={"step_size": 0.0005},
        counts={"runs": 3, "instances": 2, "compared": 1},
        axes={"ends": (1, 2, 4), "counts": (1, 2, 5), "steps": (1, 2, 4), "lengths": (1, 4), "betas": (0.0, 0.06, 0.12),
              "draws": (Draws("ridge", "digits", 6, 0.5), Draws("ridge", "digits", 6, 0.5, 0.3))},
        budget=_budget(trained=0.1, exact=0.03, relaxed=0.04, best_steps=0.03, one_round=0.03, gaussian_mean=0.01,
                       train=0.01, fresh=0.05),
    ),
    "laptop": Plan(
        seeds=10, rounds={"relaxed": 20}, counts={"runs": 100, "instances": 3, "compared": 3},
        axes={"ends": ENDS, "counts": COUNTS, "steps": STEPS, "lengths": LENGTHS, "betas": BETAS,
              "draws": _federations(60)},
        budget=_budget(trained=0.12, exact=0.1, relaxed=0.15, best_steps=0.12, one_round=0.1, gaussian_mean=0.03,
                       train=0.025, fresh=0.25),
    ),
    "overnight": Plan(
        seeds=30, rounds={"relaxed": 20}, counts={"runs": 500, "instances": 10, "compared": 10},
        axes={"ends": (*ENDS, 80), "counts": (*COUNTS, 100), "steps": (*STEPS, 48, 64), "lengths": (*LENGTHS, 128),
              "betas": BETAS, "draws": _federations(300)},
        budget=_budget(trained=0.96, exact=0.6, relaxed=0.15, best_steps=0.48, one_round=1, gaussian_mean=0.12,
                       train=0.025, fresh=2),
    ),
    "paper": Plan(
        seeds=100, rounds={"relaxed": 20}, counts={"runs": 2000, "instances": 30, "compared": 10},
        axes={"ends": (*ENDS, 80, 160), "counts": (*COUNTS, 100, 200), "steps": (*STEPS, 48, 64),
              "lengths": (*LENGTHS, 128), "betas": BETAS, "draws": _federations(1000)},
        budget=_budget(trained=6, exact=2.5, relaxed=0.15, best_steps=0.48, one_round=7, gaussian_mean=0.75,
                       train=0.025, fresh=12.5),
    ),
}  # fmt: skip
"""``ends`` are the numbers of rounds at which bounds are compared with runs; ``steps`` and ``lengths`` the local steps
and rounds among which the best is looked for. Quadratics come in ``instances``, ``runs`` of each sampled; ``compared``
of them are compared with every bound. Where no step size is set, the theorems' conditions choose it."""


def data(scale: str) -> str:
    """The set that is trained on."""
    return "digits" if scale == "smoke" else trained_on()


def trained_on() -> str:
    """The set that is here, or whose runs are kept; else one inside scikit-learn."""
    return found("phishing") or "breast_cancer"


def problem(scale: str, fresh: bool = False) -> str:
    """What is trained; ``fresh``: where every round has samples of its own."""
    return f"softmax({data(scale)}, regularisation={0.01 if fresh else 0.5})"


# ---- bounds beside runs ----


def exact(scale: str, bound: str, instance: int) -> Cell:
    """A bound beside its exact value on quadratics; the first instance is sampled too."""
    plan = PLANS[scale]
    return plan.cell(
        "validate_exact",
        bound=bound,
        instance=instance,
        ends=plan.axes["ends"],
        noise=NOISE,
        step_size=plan.setting.get("step_size"),
        runs=plan.counts["runs"] if instance == 0 else 0,
        **QUADRATICS,
    )


def trained(scale: str, bound: str) -> Cell:
    """A bound beside training on data."""
    plan, about = PLANS[scale], get(bound).about
    options: dict[str, Any] = {"problem": problem(scale)}
    if bound in ROUNDS:  # its conditions want gaps that the noise of a mean does not turn negative
        options = {"problem": problem(scale, fresh=True), "batch": 8}
    elif takes(about, "relaxation"):
        options["algorithm"] = str(method(about, relaxation=0.06))
    return plan.cell(
        "validate_trained", bound=bound, seeds=plan.seeds, ends=plan.axes["ends"], partition="dirichlet(1)", **options
    )


def draws(scale: str, federation: Draws) -> Cell:
    """One averaging round at every number of clients."""
    return PLANS[scale].cell(
        "validate_one_round",
        problem=f"{federation.model}({federation.data}, regularisation={federation.regularisation:g})",
        counts=PLANS[scale].axes["counts"],
        seeds=federation.seeds,
        samples=20,
        partition="iid" if federation.concentration is None else f"dirichlet_replaced({federation.concentration:g})",
    )


def mean(scale: str) -> Cell:
    """One averaging round of sample means."""
    plan = PLANS[scale]
    return plan.cell(
        "validate_gaussian_mean", counts=plan.axes["counts"], seeds=20 * plan.seeds, samples=20, dim=2, variance=1.0
    )


# ---- local steps and relaxation ----


def best_steps(scale: str, instance: int, factor: float = 1.0) -> Cell:
    """The exact squared gradient for every number of local steps."""
    axes = PLANS[scale].axes
    lengths = axes["lengths"] if factor == 1 else axes["lengths"][-2:-1]
    options = {"steps": axes["steps"], "ends": lengths, "scale": factor, "noise": NOISE}
    return PLANS[scale].cell("validate_best_steps", instance=instance, **options, **QUADRATICS)


def steps_on_data(scale: str, steps: int) -> Cell:
    """The measured squared gradient by number of local steps, each at the same step size 1/(4L)."""
    plan = PLANS[scale]
    options = {"ends": plan.axes["lengths"], "local_steps": steps, "partition": "dirichlet(1)"}
    return plan.cell(
        "validate_trained", bound="decaying_k.per_rounds", problem=problem(scale), seeds=plan.seeds, **options
    )


def relaxed(scale: str, instance: int) -> Cell:
    """Exact divergences for every relaxation, and the bounds at the first instance."""
    plan = PLANS[scale]
    bounds = RELAXED if instance == 0 else ()
    options = {"betas": plan.axes["betas"], "bounds": bounds, "rounds": plan.rounds["relaxed"], "step": 0.005}
    return plan.cell("validate_relaxed", instance=instance, **options, **QUADRATICS)


def divergence(scale: str, beta: float) -> list[Cell]:
    """Training with a relaxation at a step size of practice, with the first thirty seeds."""
    plan = PLANS[scale]
    return plan.cells(
        "train",
        problem=f"softmax({'digits' if scale == 'smoke' else found('mnist') or 'digits'})",
        algorithm=f"fedinit(beta={beta!r}, reading='proof')" if beta else "fedavg()",
        rounds=plan.rounds["relaxed"],
        measure=["divergence", "train_loss"],
        partition="dirichlet_replaced(0.1)",
        clients=10,
        cohort=5,
        batch=20,
        local_steps=5,
        step_size=0.1,
    )[:MOST_REPEATS]


def what_ran(*cells: Cell) -> Ran | None:
    """What these cells run; half of the clients take part, or all where the theorem asks for it."""
    return of(map(_spelled, cells))


def _spelled(cell: Cell) -> Cell:
    """The cell with the clients that ``validate`` takes by itself."""
    given = cell.arguments
    if not {"ends", "betas"} & set(given):
        return cell
    clients = given.get("clients", CLIENTS)
    known = get(given["bound"]).conditions if "bound" in given else ()
    everyone = FULL_PARTICIPATION in {condition.assumption for condition in known}
    cohort = clients if everyone else max(1, clients // 2)
    return Cell(cell.job, {**given, "clients": clients, "cohort": cohort})
