"""Plans of FedALS: the printed settings (Tables 4 and 5) and the runs behind its figures and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from empirics.experiments import Cell
from empirics.experiments.machine import GPU
from paper_checks.reported import table

from ..guards import known_mean
from ..run_description import data_set, SettingText
from ..scale import Budget, Plan
from ..substitutes import available

TABLE_4, TABLE_5 = (table("fedals", name, version="v2") for name in ("Table 4", "Table 5"))
TEXT = "MultiNLI"
SETS = {"CIFAR-10": "cifar10", "CIFAR-100": "cifar100", "MNIST": "mnist", "SVHN": "svhn", TEXT: "multinli"}
"""The data sets of Table 1 by their printed names."""

ARGUMENTS = {
    "number of clients": "clients",
    "local steps tau": "local_steps",
    "batch size per client": "batch",
    "momentum": "momentum",
    "Adam beta1": "beta1",
    "Adam beta2": "beta2",
    "Adam epsilon": "epsilon",
    "weight decay": "weight_decay",
}
"""Rows of Tables 4 and 5 that are arguments of a training run."""


def printed_number(row: str, text: bool = False) -> Fraction:
    """Return one number of Table 4, or of Table 5 for the language model (``text``)."""
    place, column = (TABLE_5, "LLM fine-tuning default") if text else (TABLE_4, "image classification default")
    return Fraction(place[row, column].value)


def printed_arguments(text: bool = False) -> dict[str, Any]:
    """Return the arguments that a run takes from Table 4 (with Nesterov momentum) or Table 5 (with AdamW and decay)."""
    rows = {row for row, _ in (TABLE_5 if text else TABLE_4)}
    numbers = {argument: printed_number(row, text) for row, argument in ARGUMENTS.items() if row in rows}
    plain = {name: int(x) if x.denominator == 1 else float(x) for name, x in numbers.items()}
    return plain | ({"optimizer": "adamw", "step_size_rule": "harmonic"} if text else {"nesterov": True})


def rounds(split: str, text: bool = False) -> int:
    """Return the rounds of a run: the printed iterations divided by the local steps."""
    return int(printed_number(f"iterations {split}", text) / printed_number("local steps tau", text))


ALPHA = int(printed_number("adaptation coefficient alpha"))
CLIENTS, LOCAL_STEPS = int(printed_number("number of clients")), int(printed_number("local steps tau"))
REPETITIONS, WINDOW = int(printed_number("repetitions")), int(printed_number("rounds averaged for reported metric"))
IID_SHARE = printed_number("iterations iid") / printed_number("iterations non-iid")
"""Length of iid runs relative to non-iid ones, at every scale."""

METHODS = {
    "FedAvg": "fedavg()",
    "FedALS": f"fedals(alpha={ALPHA})",
    "SCAFFOLD": "scaffold()",
    "FedALS+SCAFFOLD": f"layerwise(scaffold(), alpha={ALPHA})",
}


def algorithm(method: str) -> str:
    """Return the algorithm of a method of Table 1, or of a row of Table 2 such as ``alpha=25``; alpha = 1 is FedAvg."""
    if method in METHODS:
        return METHODS[method]
    alpha = int(method.removeprefix("alpha="))
    return f"fedals(alpha={alpha})" if alpha > 1 else METHODS["FedAvg"]


def paper_setting(column: str, split: str = "non-iid") -> SettingText:
    """Return the paper's setting of a column."""
    text, clients, count = column == TEXT, str(CLIENTS), rounds(split, column == TEXT)
    network, work = ("OPT-125M" if text else "ResNet-20"), count * int(printed_number("local steps tau", text))
    return SettingText(column, network, clients, clients, str(count), work)


# ---- the grid ----

MEASURED = ("test_loss", "test_accuracy", "exchanged_parameters")
LAYERS = "Figure 1"
"""The key of Figure 1's network, rounds and setting in a plan."""
STEPS = 50
"""Local steps of a round in Figure 1."""
IMAGES = tuple(name for name in SETS if name != TEXT)
SMALL = {"batch": 16, "weight_decay": float(printed_number("weight decay"))}
MOVING = {**SMALL, "momentum": 0.9, "nesterov": True}
"""Table 4's optimiser with a smaller batch. Without momentum there is no client drift within these rounds."""
FIVE = ((20, 5), (16, 4), (12, 3), (8, 2), (4, 1))
"""Printed number of layers L and its share of five layers; L = 1 would be the same first layer as L = 4."""
STEP_SIZES = {
    "cifar10": 0.02,
    "mnist": 0.05,
    "cifar10 scaffold()": 0.01,
    "mnist scaffold()": 0.04,
    f"cifar10 {METHODS['FedALS+SCAFFOLD']}": 0.01,
    f"mnist {METHODS['FedALS+SCAFFOLD']}": 0.02,
}
"""Step sizes at the laptop scale, found by trials with seed 1000, which no run has. FedAvg: the size at which it loses
accuracy to non-iid clients and still learns (of 0.01, 0.02, 0.03; MNIST: 0.005 to 0.1). SCAFFOLD, without momentum: the
best of 0.005, 0.01, 0.02 (MNIST: 0.01 to 0.08). Both together: the better of 0.005 and 0.01; MNIST: 0.02 (85.7 %)
although 0.08 was best (89.4 %), since with 0.08 one of four other seeds diverged and one stayed at 11 %."""
PLAIN = {**SMALL, "momentum": 0.0, "nesterov": False}
OWN = {place: {**(PLAIN if "scaffold" in place else MOVING), "step_size": size} for place, size in STEP_SIZES.items()}
CNN = {"": "fedcog_cnn({data}{border})", LAYERS: "resnet20({data})"}
SECONDS = {"": 0.0022, "(mnist": 0.0014}
LEARNT = tuple(name for name in IMAGES if name != "CIFAR-100")
"""Data sets that the small network learns in these rounds."""
OPEN = tuple(name for name in LEARNT if name != "MNIST")
"""The same without MNIST, which is easier for it than the paper's task for ResNet-20, so that no gain can be judged."""
LARGE = {"batch": int(printed_number("batch size per client"))}
"""The paper's batch."""
SEED, START, SOONER = 1000, 0.01, 4
"""Seed of the searches for step sizes, which no other run has; their first step size (Appendix E.3), and its multiple
for methods without momentum."""
Place = tuple[str, str, str]
"""Data, algorithm and partition: what a step size is searched for."""
SEARCHES = [(m, split) for m in METHODS for split in ("iid", "non-iid") if split == "non-iid" or "SCAFFOLD" not in m]
"""The methods and splits of Table 1 for which step sizes are searched."""
MORE: dict[str, Any] = {"start": 1.0, "factor": {"scaffold": 1.25}}
"""Part of all budgets: SCAFFOLD's control variables make a run a quarter longer."""

PLANS = {
    "smoke": Plan(
        networks={"": "femnist_dnn({data}{border})", LAYERS: "femnist_dnn(held_out(digits))"},
        rounds={"": 4, LAYERS: 3}, setting={**SMALL, "step_size": 0.1}, own={LAYERS: {"batch": 4, "step_size": 0.05}},
        seeds=2, counts={"layers": 3, "points": 4}, budget=Budget(step={"": 0.006}, **MORE),
        axes={"columns": tuple(SETS), "splits": IMAGES, "borders": ((20, 3), (16, 2), (4, 1))},
    ),
    "laptop": Plan(
        networks=CNN, rounds={"": 300, "mnist": 150, LAYERS: 4}, window=3, tests=2000, engine="compiled-2",
        setting={**MOVING, "step_size": 0.02}, own={**OWN, LAYERS: {"batch": 8, "step_size": 0.05}},
        seeds=4, counts={"layers": 5, "points": 10}, budget=Budget(step={**SECONDS, "resnet20": 0.05}, **MORE),
        axes={"columns": LEARNT, "splits": ("CIFAR-10", "SVHN"), "borders": FIVE},
    ),
    "overnight": Plan(
        networks=CNN, rounds={"": rounds("non-iid"), LAYERS: 40}, window=WINDOW, engine="compiled-2",
        setting={**MOVING, **LARGE, "step_size": START},
        own={"scaffold": {**PLAIN, **LARGE, "step_size": START}, LAYERS: {**MOVING, **LARGE, "step_size": START}},
        seeds=3, counts={"layers": 5, "points": 100, "search": 2},
        budget=Budget(step={"": 0.0045, "(mnist": 0.0027, "resnet20": 0.2}, measurement=0.5, **MORE),
        axes={"columns": OPEN, "splits": OPEN, "borders": FIVE},
    ),
    "paper": Plan(
        engine=GPU,
        networks={"": "resnet20({data}{border})", LAYERS: "resnet20({data})"}, window=WINDOW, seeds=REPETITIONS,
        rounds={"": rounds("non-iid"), LAYERS: rounds("non-iid") * LOCAL_STEPS // STEPS},
        setting=printed_arguments() | {"step_size": 0.01},
        own={"scaffold": {"momentum": 0.0, "nesterov": False}, LAYERS: printed_arguments() | {"step_size": 0.01}},
        counts={"layers": 20, "points": 200}, budget=Budget(step={"": 0.02}, **MORE),
        axes={"columns": tuple(SETS), "splits": IMAGES, "borders": tuple((n, n) for n in (20, 16, 12, 8, 4, 1))},
    ),
}  # fmt: skip


def data_set_for(scale: str, column: str) -> str:
    """Return the data set that is run for a column; empty if none is."""
    if scale == "smoke":
        return "digits"
    return available(SETS[column]) if column in PLANS[scale].axes["columns"] else ""


def arguments(scale: str, column: str, method: str, split: str, layers: int | None = None) -> dict[str, Any]:
    """Return the arguments of a training run with an extractor of ``layers`` layers (None: all but the last).

    With all layers in the extractor there is no head, which is FedAvg with alpha times the local steps.
    """
    plan, text = PLANS[scale], column == TEXT and scale != "smoke"
    name, call = data_set_for(scale, column), algorithm(method)
    where = "iid" if split == "iid" else f"sorted({'group' if text else 'label'!r})"
    searched = best_step_size(scale, (name, call.partition("alpha")[0], where))
    places = (f"{name} {split}", f"{name} {call}", name, "scaffold" if "scaffold" in call else "")
    own = next((plan.own[place] for place in places if place in plan.own), {})
    language = {**printed_arguments(text=True), "step_size": plan.setting["step_size"]}
    count = plan.rounds.get(name, plan.rounds[""])
    count = int(count * IID_SHARE) if split == "iid" else count
    steps = LOCAL_STEPS
    if layers == plan.counts["layers"]:
        call, count, steps, layers = METHODS["FedAvg"], max(count // ALPHA, 1), steps * ALPHA, None
    border = "" if layers in (None, plan.counts["layers"] - 1) else f", extractor={layers}"
    network = "opt({data}{border})" if text else plan.networks[""]
    data = f"held_out({name})" if name in ("digits", "omniglot") else f"{name}(task='next')" if text else name
    if plan.tests is not None and name != "omniglot":
        data = f"fewer({data}, test={plan.tests})"
    return {
        **(language if text else {**plan.setting, **own, **({"step_size": searched} if searched else {})}),
        "problem": network.format(data=data, border=border),
        "partition": where,
        "clients": CLIENTS,
        "algorithm": call,
        "rounds": count,
        "local_steps": steps,
        "every": max(count // plan.counts["points"], 1),
        "measure": MEASURED,
        **plan.engine_argument,
    }


def step_size_searches(scale: str) -> dict[tuple[str, str, str], list[Cell]]:
    """Return the runs that search each step size, by column, method and split; none if the plan does not search.

    They have half of the rounds. As in Appendix E.3, a first step size is doubled and halved until the best one lies
    between two others, as far as ``search_results`` has their accuracies.
    """
    plan = PLANS[scale]
    parts = plan.counts.get("search")
    columns = [column for column in plan.axes["columns"] if parts and data_set_for(scale, column)]
    searches: dict[tuple[str, str, str], list[Cell]] = {}
    for column, (method, split) in product(columns, SEARCHES):
        given = arguments(scale, column, method, split)
        short = {**given, "rounds": given["rounds"] // (parts or 1)}
        searches[column, method, split] = [
            plan.cell("train", **{**short, "step_size": size}, seed=SEED)
            for size in _sizes_to_try(scale, search_key(given))
        ]
    return searches


def search_key(given: Mapping[str, Any]) -> Place:
    """Return what the step size of a run is searched for; FedALS has one step size for all alpha."""
    return data_set(given["problem"]), given["algorithm"].partition("alpha")[0], given["partition"]


def _sizes_to_try(scale: str, at: Place) -> list[float]:
    accuracies, first = search_results(scale).get(at, {}), START * (SOONER if "scaffold" in at[1] else 1)
    sizes = [first / 2, first, first * 2]
    while set(sizes) <= set(accuracies) and (best := max(sizes, key=accuracies.__getitem__)) in (sizes[0], sizes[-1]):
        sizes = [best / 2, *sizes] if best == sizes[0] else [*sizes, best * 2]
    return sizes


def best_step_size(scale: str, at: Place) -> float | None:
    """Return the step size that the search found, or None before its end and without a search."""
    accuracies, sizes = search_results(scale).get(at, {}), _sizes_to_try(scale, at)
    return max(sizes, key=accuracies.__getitem__) if set(sizes) <= set(accuracies) else None


@cache
def search_results(scale: str) -> Mapping[Place, Mapping[float, float]]:
    """Return the final accuracies in percent of the committed searches (Table 4's runs), by step size."""
    from ..making import committed_results

    results: dict[Place, dict[float, float]] = {}
    for result in committed_results(scale, "fedals.table_4") if "search" in PLANS[scale].counts else ():
        given = result.card["arguments"]
        last = [100 * value for quantity, _, _, value in result.readings() if quantity == "test_accuracy"]
        accuracy = known_mean(last[-PLANS[scale].window :]) if result.status == "done" else 0.0
        results.setdefault(search_key(given), {})[given["step_size"]] = accuracy
    return results


def cells_of(scale: str, column: str, method: str, split: str, layers: int | None = None) -> list[Cell]:
    """Return the run with every seed; none without data."""
    there = data_set_for(scale, column)
    return PLANS[scale].cells("train", **arguments(scale, column, method, split, layers)) if there else []


def figure_1_cells(scale: str) -> list[Cell]:
    """Return Figure 1's runs with every seed: FedAvg on pictures of two classes per client."""
    plan, name = PLANS[scale], data_set_for(scale, "CIFAR-10")
    if not name:
        return []
    given = {
        **(plan.engine_argument if plan.engine == GPU else {}),  # the committed runs are torch's
        **plan.own[LAYERS],
        "problem": plan.networks[LAYERS].format(data=f"fewer({name}, test=200)"),
        "partition": "classes_per_client(2)",
        "clients": CLIENTS,
        "algorithm": METHODS["FedAvg"],
        "rounds": plan.rounds[LAYERS],
        "local_steps": STEPS,
        "every": 10 if scale == "paper" else 1,
        "measure": ("consensus_distance", "test_accuracy"),
    }
    return replace(plan, seeds=min(plan.seeds, REPETITIONS)).cells("train", **given)
