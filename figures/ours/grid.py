"""Plans of our own figures: runs that compare bounds with exact values and measurements, shared by several figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bounds.assumptions import FULL_PARTICIPATION
from bounds.catalog import get
from empirics.experiments import Cell
from paper_checks.runs.methods import method, takes
from paper_checks.runs.origins import RUNS
from paper_checks.validation.options import Options

from ..run_description import describe, RunInfo
from ..scale import Budget, Plan
from ..substitutes import available
from .settings import BETAS, RELAXED, ROUNDS

CLIENTS = Options.of(RUNS).clients
"""Clients of training on data."""
QUADRATICS: dict[str, Any] = {"clients": 4, "dim": 2}
NOISE = 0.3
MOST_REPEATS = 30
SCALES_OF_LOSS = (0.1, 1.0, 10.0)
REAL = ""
"""Stands for the data set to train on, looked up only when needed: figures can be drawn without data."""


@dataclass(frozen=True)
class Federation:
    """A federation of FedALS Theorem 4.1: model and data, draws, penalty, Dirichlet coefficient (None: IID)."""

    model: str
    source: str
    seeds: int
    regularisation: float
    concentration: float | None = None

    @property
    def data(self) -> str:
        return self.source or real_data_set()

    @property
    def words(self) -> str:
        """The title of its panel."""
        return f"{self.model} on {self.data}, {'iid' if self.concentration is None else 'skewed'}"


def _federations(seeds: int) -> tuple[Federation, ...]:
    pictures = [Federation(f, "digits", seeds, 0.5, c) for f in ("ridge", "softmax") for c in (None, 0.3)]
    return (*pictures, Federation("logistic", REAL, seeds, 0.1))


def _budget(**minutes: float) -> Budget:
    """Return a budget from minutes by job; ``fresh`` are the runs with new samples in every round."""
    fresh = 60 * minutes.pop("fresh")
    jobs = {f"validate_{name}": 60 * each for name, each in minutes.items() if name != "train"}
    return Budget(per_run={**dict.fromkeys(ROUNDS, fresh), **jobs, "train": 60 * minutes["train"]})


COUNTS, STEPS = (1, 2, 5, 10, 20, 50), (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
ENDS, LENGTHS = (1, 2, 5, 10, 20, 40), (1, 2, 4, 8, 16, 32, 64)
PLANS = {
    "smoke": Plan(
        seeds=2, rounds={"relaxed": 4}, setting={"step_size": 0.0005},
        counts={"runs": 3, "instances": 2, "compared": 1},
        axes={"ends": (1, 2, 4), "counts": (1, 2, 5), "steps": (1, 2, 4), "lengths": (1, 4), "betas": (0.0, 0.06, 0.12),
              "draws": (Federation("ridge", "digits", 6, 0.5), Federation("ridge", "digits", 6, 0.5, 0.3))},
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
"""``ends`` are the numbers of rounds at which bounds are compared with runs, ``steps`` the numbers of local steps among
which the best is searched after each of the ``lengths`` in rounds. There are ``instances`` of quadratics with ``runs``
sampled runs each; the first ``compared`` ones are compared with every bound. A step size that is not set is the largest
that the conditions allow."""


def data_set(scale: str) -> str:
    """Return the data set to train on."""
    return "digits" if scale == "smoke" else real_data_set()


def real_data_set() -> str:
    """Return phishing if it is installed or has committed runs, else a data set of scikit-learn."""
    return available("phishing") or "breast_cancer"


def problem(scale: str, fresh: bool = False) -> str:
    """Return the problem to train; ``fresh``: with new samples in every round."""
    return f"softmax({data_set(scale)}, regularisation={0.01 if fresh else 0.5})"


# ---- bounds beside runs ----


def exact_cell(scale: str, bound: str, instance: int) -> Cell:
    """Return the cell that compares a bound with exact values on quadratics, at the first instance also with runs."""
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


def training_cell(scale: str, bound: str) -> Cell:
    """Return the cell that compares a bound with training on data."""
    plan, about = PLANS[scale], get(bound).about
    options: dict[str, Any] = {"problem": problem(scale)}
    if bound in ROUNDS:  # its conditions require gaps that sampling noise does not turn negative
        options = {"problem": problem(scale, fresh=True), "batch": 8}
    elif takes(about, "relaxation"):
        options["algorithm"] = str(method(about, relaxation=0.06))
    return plan.cell(
        "validate_trained", bound=bound, seeds=plan.seeds, ends=plan.axes["ends"], partition="dirichlet(1)", **options
    )


def one_round_cell(scale: str, federation: Federation) -> Cell:
    """Return the cell of one averaging round for each number of clients."""
    return PLANS[scale].cell(
        "validate_one_round",
        problem=f"{federation.model}({federation.data}, regularisation={federation.regularisation:g})",
        counts=PLANS[scale].axes["counts"],
        seeds=federation.seeds,
        samples=20,
        partition="iid" if federation.concentration is None else f"dirichlet_replaced({federation.concentration:g})",
    )


def mean_cell(scale: str) -> Cell:
    """Return the cell of one averaging round of sample means."""
    plan = PLANS[scale]
    return plan.cell(
        "validate_gaussian_mean", counts=plan.axes["counts"], seeds=20 * plan.seeds, samples=20, dim=2, variance=1.0
    )


# ---- local steps and relaxation ----


def best_steps_cell(scale: str, instance: int, factor: float = 1.0) -> Cell:
    """Return the cell with the exact squared gradient for each number of local steps, the loss times ``factor``."""
    axes = PLANS[scale].axes
    lengths = axes["lengths"] if factor == 1 else axes["lengths"][-2:-1]
    options = {"steps": axes["steps"], "ends": lengths, "scale": factor, "noise": NOISE}
    return PLANS[scale].cell("validate_best_steps", instance=instance, **options, **QUADRATICS)


def local_steps_cell(scale: str, steps: int) -> Cell:
    """Return the cell that measures the squared gradient with this number of local steps at step size 1/(4L)."""
    plan = PLANS[scale]
    options = {"ends": plan.axes["lengths"], "local_steps": steps, "partition": "dirichlet(1)"}
    return plan.cell(
        "validate_trained", bound="decaying_k.per_rounds", problem=problem(scale), seeds=plan.seeds, **options
    )


def relaxed_cell(scale: str, instance: int) -> Cell:
    """Return the cell with exact divergences for every relaxation, and at the first instance with the bounds."""
    plan = PLANS[scale]
    bounds = RELAXED if instance == 0 else ()
    options = {"betas": plan.axes["betas"], "bounds": bounds, "rounds": plan.rounds["relaxed"], "step": 0.005}
    return plan.cell("validate_relaxed", instance=instance, **options, **QUADRATICS)


def divergence_cells(scale: str, beta: float) -> list[Cell]:
    """Return the runs of training with a relaxation at a practical step size, for at most thirty seeds."""
    plan = PLANS[scale]
    return plan.cells(
        "train",
        problem=f"softmax({'digits' if scale == 'smoke' else available('mnist') or 'digits'})",
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


def info_of(*cells: Cell) -> RunInfo | None:
    """Return the description of these cells."""
    return describe(map(_with_client_counts, cells))


def _with_client_counts(cell: Cell) -> Cell:
    """Return the cell with ``validate``'s defaults: half of the clients take part, or all if required."""
    given = cell.arguments
    if not {"ends", "betas"} & set(given):
        return cell
    clients = given.get("clients", CLIENTS)
    known = get(given["bound"]).conditions if "bound" in given else ()
    everyone = FULL_PARTICIPATION in {condition.assumption for condition in known}
    cohort = clients if everyone else max(1, clients // 2)
    return Cell(cell.job, {**given, "clients": clients, "cohort": cohort})
