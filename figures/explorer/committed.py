"""What the page knows of its federations besides bounds: measurements that are committed, and exact numbers.

``python -m figures.explorer.committed`` writes ``web/measured.json`` again; it needs the data set phishing, which the
page does not. Measured values are those of the committed figures, never typed. The constants beside them are those of
the very federation that was run: quadratics are made again from their seed, those of the data are as ``fedbounds
constants`` has them. Exact numbers are those of ``fedbounds compare --exact`` at the plan that a federation starts
from.
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
from paper_checks.comparing.rows import EXACT as BESIDE, RANKED
from paper_checks.validation.exact import compare_inside
from paper_checks.validation.options import EXACT, Options, RUNS
from paper_checks.validation.training_plan import plan_training

from ..making import kept_with_code
from ..ours import grid
from ..ours.settings import COMPARED
from . import federations
from .federations import Record

SCALE = "laptop"
HOME = Path(__file__).resolve().parents[1] / SCALE
FIGURES = ("decaying_k", "fedcog", "fedinit", "fedinit_data")
"""Of the figures ``ours.theorems_*``."""
READ = ("measured", "exact")
STEPS = {"quadratics": 3, "phishing": 5}
STARTED = "decaying_k.theorem_1"
"""With the plan of whose runs a federation starts."""
SWEPT = 8
"""Rounds after which the measured number no longer falls for the best numbers of local steps."""
RELAXATION = 0.06
"""What ``paper_checks.validation`` trains with where a bound is about relaxed starts."""
DIGITS = 10
GIVEN = (
    "clients", "client_weight", "smoothness", "sample_smoothness", "strong_convexity", "pl_constant",
    "optimum_dissimilarity", "heterogeneity", "gradient_variance", "client_gradient_variance", "optimal_loss",
    "initial_loss", "initial_distance_sq", "initial_grad_norm_sq", "parameters", "grad_cap_sq",
)  # fmt: skip


def read() -> Record:
    """The committed file: federations with what was measured of them, and exact numbers by federation and target."""
    found: Record = json.loads((files(__package__) / "web" / "measured.json").read_text(encoding="utf-8"))
    return found


def written(targets: Sequence[str]) -> Record:
    """The file made anew."""
    measured = [of_quadratics(), of_phishing()]
    own = [*federations.typed(), *measured]
    for one in measured:
        one["measured"] = [number for number in one["measured"] if _ranked(one, number)]
    return {"federations": measured, "exact": {one["name"]: exact(one, targets) for one in own}}


# ---- what was measured ----


@cache
def rows(data: str) -> dict[str, dict[int, dict[str, tuple[float, float]]]]:
    """By bound and number of rounds what was measured, with its standard error, and what is exact."""
    found: dict[str, dict[int, dict[str, tuple[float, float]]]] = {}
    for figure in FIGURES:
        with (HOME / f"ours.theorems_{figure}.csv").open(newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                if row["data"] == data and row["curve"] in READ and row["outside"] == "False":
                    at = found.setdefault(row["bound"], {}).setdefault(int(row["x"]), {})
                    at[row["curve"]] = float(row["y"]), float(row["error"] or 0)
    return found


def of_quadratics() -> Record:
    """Four quadratics of two parameters, the first instance of the committed figures."""
    from empirics.problems.quadratics import random_quadratics

    problem = random_quadratics(0, 4, 2, noise=grid.NOISE)
    options = {"clients": 4, "local_steps": STEPS["quadratics"], "relaxation": RELAXATION}
    told = federations.constants(problem, [word for word in GIVEN if hasattr(problem, word)])
    apart = float((problem.client_gradients(problem.minimiser) ** 2).sum(axis=1).max())
    expression, limits = federations.FOLLOWS["grad_cap_sq"]
    cap = {**told, uniform_dissimilarity.name: apart}
    told["grad_cap_sq"] = float(evaluated(expression, cap))
    settings = {
        name: compare_inside(get(name), problem, Options.of(EXACT, rounds=max(found), **options))[0]
        for name, found in rows("quadratics").items()
    }
    plans = {name: (setting.step_size, setting.cohort) for name, setting in settings.items()}
    runs = grid.PLANS[SCALE].counts["runs"]
    return {
        "name": "4 quadratics, measured",
        "words": "4 clients, quadratic losses of 2 parameters; every constant is exact, G² is proved. Of some plans "
        f"the mean of {runs} sampled runs is committed, and the exact expectation.",
        "given": told,
        "up_to": {"grad_cap_sq": {other: float(evaluated(limit, cap)) for other, limit in limits.items()}},
        "measured": of_runs("quadratics", plans, f"quadratics, {runs} sampled runs"),
        **_start(plans[STARTED], "quadratics"),
    }


def of_phishing() -> Record:
    """Softmax regression on phishing, as the committed figures train it."""
    cells = {name: grid.trained(SCALE, name).arguments for names in COMPARED.values() for name in names}
    trained = {}
    for name, found in rows("phishing").items():
        options = {word: value for word, value in cells[name].items() if word not in ("bound", "ends")}
        trained[name] = plan_training(get(name), Options.of(RUNS, **options, rounds=max(found)), {})
    plans = {name: (one.setting.step_size, one.setting.cohort) for name, one in trained.items()}
    first, asked = next(iter(trained.values())).setting, next(iter(cells.values()))
    known = constants(asked["problem"], clients=grid.CLIENTS, partition=asked["partition"], batch=first.batch)
    told = Scenario.of(known)
    seeds = grid.PLANS[SCALE].seeds
    return {
        "name": "phishing, measured",
        "words": f"10 clients, softmax regression on phishing with penalty 0.5, split by Dirichlet 1, batches of 32: "
        f"constants as fedbounds constants has them. Of some plans the mean over {seeds} seeds is committed.",
        "given": {word: told[word].safe for word in GIVEN},
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


def of_runs(data: str, plans: Mapping[str, tuple[float, int]], ran: str) -> list[Record]:
    """A record per class, plan and number of rounds; FedAvg's numbers are every theorem's of its class, those of
    relaxed starts are of the reading of the theorem that they were trained for."""
    found: dict[tuple[Any, ...], Record] = {}
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
            one = found.setdefault(key, {"target": kind.target, "kind": str(kind), "plan": plan, "value": value,
                                         "error": error, "what": ran, "of": []})  # fmt: skip
            if "exact" in numbers:
                one["exact"] = numbers["exact"][0]
            if relaxed:
                one["of"].append(name)
    return list(found.values())


def by_steps(plan: tuple[float, int], ran: str) -> list[Record]:
    """FedAvg after ``SWEPT`` rounds for every number of local steps of the committed figure ``ours.local_steps``."""
    step_size, cohort = plan
    found = []
    for kept in kept_with_code(SCALE, "ours.local_steps"):
        asked, columns = kept.card["arguments"], kept.columns()
        if asked.get("problem") != grid.problem(SCALE) or asked["local_steps"] == STEPS["phishing"]:
            continue
        at = [int(rounds) for rounds in columns["rounds"]].index(SWEPT)
        kind = BoundedQuantity.of(get(asked["bound"]))
        found.append(
            {
                "target": kind.target,
                "kind": str(kind),
                "plan": {"local_steps": asked["local_steps"], "step_size": step_size, "cohort": cohort,
                         "rounds": SWEPT, "relaxation": 0.0},
                "value": columns["measured"][at],
                "error": columns["error"][at],
                "what": ran,
                "of": [],
            }
        )  # fmt: skip
    return sorted(found, key=lambda one: one["plan"]["local_steps"])


def _ranked(one: Record, number: Record) -> bool:
    """Whether any theorem says something of such a number there."""
    told = Scenario.of({**one["given"], **number["plan"], "_up_to": one["up_to"]})
    return any(r.state in RANKED and str(r.kind) == number["kind"] for r in compare(number["target"], told).rows)


# ---- exact numbers ----


def exact(one: Record, targets: Iterable[str]) -> Record:
    """By target the rows of ``compare --exact`` at the plan that the federation starts from: bound, class, number."""
    told = Scenario.of({**one["given"], **one["plan"], "_up_to": one["up_to"]})
    found = {}
    for target in targets:
        each = [(row, row.evidence.get(BESIDE)) for row in compare(target, told, exact=True).rows]
        known = [[r.bound, str(r.kind), _short(e.value), e.what] for r, e in each if e and math.isfinite(e.value)]
        if known:
            found[target] = known
    return found


def _short(value: Any) -> Any:
    """To the digits that a file keeps."""
    return [_short(x) for x in value] if np.ndim(value) else float(f"{float(value):.{DIGITS}g}")


if __name__ == "__main__":
    from .atlas import TARGETS

    text = json.dumps(written(TARGETS), ensure_ascii=False, indent=1)
    (Path(__file__).parent / "web" / "measured.json").write_text(f"{text}\n", encoding="utf-8")
