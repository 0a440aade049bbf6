"""Committed measurements and exact numbers of the page's federations.

``python -m figures.explorer.committed`` writes ``web/measured.json`` again; it needs the data set phishing, which the
page does not. Measured values are read from the committed figures. The constants are those of the federation that was
run: quadratics are made again from their seed, those of data come from ``fedbounds constants``. Exact numbers are those
of ``fedbounds compare --exact`` at the initial plan of a federation.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from bounds.bounded_quantity import BoundedQuantity
from bounds.catalog import get
from bounds.identities import evaluated
from bounds.scenario import Scenario
from bounds.vocabulary import uniform_dissimilarity
from empirics.verbs import constants
from paper_checks.comparing import compare
from paper_checks.comparing.rows import EvidenceKind, RANKED
from paper_checks.runs.origins import EXACT, RUNS
from paper_checks.validation.exact import compare_inside
from paper_checks.validation.options import Options
from paper_checks.validation.training_plan import plan_training

from ..making import committed_results
from ..ours import grid
from ..ours.settings import COMPARED
from . import federations
from .federations import Record

SCALE = "laptop"
HOME = Path(__file__).resolve().parents[1] / SCALE
FIGURES = ("decaying_k", "fedcog", "fedinit", "fedinit_data")
"""The figures ``ours.theorems_*`` that are read."""
READ = ("measured", "exact")
STEPS = {"quadratics": 3, "phishing": 5}
STARTED = "decaying_k.theorem_1"
"""The federations start at the plan of this bound's runs."""
SWEPT = 8
"""Rounds after which the measured number no longer falls for the best numbers of local steps."""
RELAXATION = 0.06
"""The relaxation of runs for bounds on relaxed starts, as in ``paper_checks.validation``."""
DIGITS = 10
GIVEN = (
    "clients", "client_weight", "smoothness", "sample_smoothness", "strong_convexity", "pl_constant",
    "optimum_dissimilarity", "heterogeneity", "gradient_variance", "client_gradient_variance", "optimal_loss",
    "initial_loss", "initial_distance_sq", "initial_grad_norm_sq", "parameters", "grad_cap_sq",
)  # fmt: skip


def read() -> Record:
    """Return the committed file: federations with their measurements, and exact numbers by federation and target."""
    content: Record = json.loads((files(__package__) / "web" / "measured.json").read_text(encoding="utf-8"))
    return content


def written(targets: Sequence[str]) -> Record:
    """Return the content of the file, computed again."""
    measured = [of_quadratics(), of_phishing()]
    own = [*federations.typed(), *measured]
    for one in measured:
        one["measured"] = [number for number in one["measured"] if _ranked(one, number)]
    return {"federations": measured, "exact": {one["name"]: exact(one, targets) for one in own}}


# ---- measurements ----


@cache
def rows(data: str) -> dict[str, dict[int, dict[str, tuple[float, float]]]]:
    """Return measured and exact values with standard errors, by bound and number of rounds."""
    values: dict[str, dict[int, dict[str, tuple[float, float]]]] = {}
    for figure in FIGURES:
        with (HOME / f"ours.theorems_{figure}.csv").open(newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                if row["data"] == data and row["curve"] in READ and row["outside"] == "False":
                    at = values.setdefault(row["bound"], {}).setdefault(int(row["x"]), {})
                    at[row["curve"]] = float(row["y"]), float(row["error"] or 0)
    return values


def of_quadratics() -> Record:
    """Return the federation of four quadratics of two parameters, the first instance of the committed figures."""
    from empirics.problems.quadratics import random_quadratics

    problem = random_quadratics(0, 4, 2, noise=grid.NOISE)
    options = {"clients": 4, "local_steps": STEPS["quadratics"], "relaxation": RELAXATION}
    given = federations.constants(problem, [word for word in GIVEN if hasattr(problem, word)])
    apart = float((problem.client_gradients(problem.minimiser) ** 2).sum(axis=1).max())
    expression, limits = federations.FOLLOWS["grad_cap_sq"]
    cap = {**given, uniform_dissimilarity.name: apart}
    given["grad_cap_sq"] = float(evaluated(expression, cap))
    settings = {
        name: compare_inside(get(name), problem, Options.of(EXACT, rounds=max(by_rounds), **options))[0]
        for name, by_rounds in rows("quadratics").items()
    }
    plans = {name: (setting.step_size, setting.cohort) for name, setting in settings.items()}
    runs = grid.PLANS[SCALE].counts["runs"]
    return {
        "name": "4 quadratics, measured",
        "words": "4 clients, quadratic losses of 2 parameters; every constant is exact, G² is proved. Of some plans "
        f"the mean of {runs} sampled runs is committed, and the exact expectation.",
        "given": given,
        "up_to": {"grad_cap_sq": {other: float(evaluated(limit, cap)) for other, limit in limits.items()}},
        "measured": of_runs("quadratics", plans, f"quadratics, {runs} sampled runs"),
        **_start(plans[STARTED], "quadratics"),
    }


def of_phishing() -> Record:
    """Return the federation of softmax regression on phishing, as the committed figures train it."""
    cells = {name: grid.training_cell(SCALE, name).arguments for names in COMPARED.values() for name in names}
    trained = {}
    for name, by_rounds in rows("phishing").items():
        options = {word: value for word, value in cells[name].items() if word not in ("bound", "ends")}
        trained[name] = plan_training(get(name), Options.of(RUNS, **options, rounds=max(by_rounds)), {})
    plans = {name: (one.setting.step_size, one.setting.cohort) for name, one in trained.items()}
    first, arguments = next(iter(trained.values())).setting, next(iter(cells.values()))
    known = constants(arguments["problem"], clients=grid.CLIENTS, partition=arguments["partition"], batch=first.batch)
    scenario = Scenario.of(known)
    seeds = grid.PLANS[SCALE].seeds
    return {
        "name": "phishing, measured",
        "words": f"10 clients, softmax regression on phishing with penalty 0.5, split by Dirichlet 1, batches of 32: "
        f"constants as fedbounds constants has them. Of some plans the mean over {seeds} seeds is committed.",
        "given": {word: scenario[word].safe for word in GIVEN},
        "up_to": known["_up_to"],
        "measured": [
            *of_runs("phishing", plans, f"phishing, softmax regression, {seeds} seeds"),
            *by_steps(plans[STARTED], f"phishing, softmax regression, {seeds} seeds"),
        ],
        **_start(plans[STARTED], "phishing"),
    }


def _start(plan: tuple[float, int], data: str) -> Record:
    step_size, cohort = plan
    at = {"local_steps": STEPS[data], "step_size": step_size, "cohort": cohort, "rounds": 40}
    return {"target": "grad_norm_sq", "plan": at}


def of_runs(data: str, plans: Mapping[str, tuple[float, int]], info: str) -> list[Record]:
    """Return a record per bounded quantity, plan and number of rounds.

    FedAvg's numbers serve every theorem on the quantity, those of relaxed starts only the theorem they were made for.
    """
    records: dict[tuple[Any, ...], Record] = {}
    for name, by_rounds in rows(data).items():
        kind, (step_size, cohort) = BoundedQuantity.of(get(name)), plans[name]
        if kind.statistic == "every":
            continue
        relaxed = RELAXATION if name.startswith("fedinit") else 0.0
        for rounds, numbers in by_rounds.items():
            plan = {"local_steps": STEPS[data], "step_size": step_size, "cohort": cohort, "rounds": rounds,
                    "relaxation": relaxed}  # fmt: skip
            value, error = numbers["measured"]
            key = kind, *plan.values(), value
            one = records.setdefault(key, {"target": kind.target, "kind": str(kind), "plan": plan, "value": value,
                                         "error": error, "what": info, "of": []})  # fmt: skip
            if "exact" in numbers:
                one["exact"] = numbers["exact"][0]
            if relaxed:
                one["of"].append(name)
    return list(records.values())


def by_steps(plan: tuple[float, int], info: str) -> list[Record]:
    """Return FedAvg after ``SWEPT`` rounds for each number of local steps of the committed ``ours.local_steps``."""
    step_size, cohort = plan
    records = []
    for result in committed_results(SCALE, "ours.local_steps"):
        given, columns = result.card["arguments"], result.columns()
        if given.get("problem") != grid.problem(SCALE) or given["local_steps"] == STEPS["phishing"]:
            continue
        at = [int(rounds) for rounds in columns["rounds"]].index(SWEPT)
        kind = BoundedQuantity.of(get(given["bound"]))
        at_plan = {"local_steps": given["local_steps"], "step_size": step_size, "cohort": cohort, "rounds": SWEPT,
                   "relaxation": 0.0}  # fmt: skip
        records.append({"target": kind.target, "kind": str(kind), "plan": at_plan, "value": columns["measured"][at],
                        "error": columns["error"][at], "what": info, "of": []})  # fmt: skip
    return sorted(records, key=lambda one: one["plan"]["local_steps"])


def _ranked(one: Record, number: Record) -> bool:
    """Return whether any theorem ranks for such a number in that federation."""
    scenario = Scenario.of({**one["given"], **number["plan"], "_up_to": one["up_to"]})
    rows = compare(number["target"], scenario).rows
    return any(row.state in RANKED and str(row.quantity) == number["kind"] for row in rows)


# ---- exact numbers ----


def exact(one: Record, targets: Iterable[str]) -> Record:
    """Return by target the rows of ``compare --exact`` at the initial plan: bound, bounded quantity, number, source."""
    scenario = Scenario.of({**one["given"], **one["plan"], "_up_to": one["up_to"]})
    by_target = {}
    for target in targets:
        each = [(row, row.evidence.get(EvidenceKind.EXACT)) for row in compare(target, scenario, exact=True).rows]
        known = [[r.bound, str(r.quantity), _short(e.value), e.what] for r, e in each if e and math.isfinite(e.value)]
        if known:
            by_target[target] = known
    return by_target


def _short(value: Any) -> Any:
    """Return numbers rounded to the digits of the file."""
    return [_short(x) for x in value] if np.ndim(value) else float(f"{float(value):.{DIGITS}g}")


if __name__ == "__main__":
    from .atlas import TARGETS

    text = json.dumps(written(TARGETS), ensure_ascii=False, indent=1)
    (Path(__file__).parent / "web" / "measured.json").write_text(f"{text}\n", encoding="utf-8")
