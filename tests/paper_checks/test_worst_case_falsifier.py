"""The falsifier's best instances from below: a worst case over a federation's class is above what it measures."""

import pytest

from bounds.catalog import BOUNDS
from empirics.training.setting import Setting
from paper_checks.falsifier import falsify
from paper_checks.falsifier.families import FAMILIES
from paper_checks.falsifier.runs import instance as tables
from paper_checks.worst_cases import answer, Question
from paper_checks.worst_cases.places import Place, question

CALM = {f"noise_{k}": 0.0 for k in range(4)} | {"noise": 0.0, "cohort_share": 1.0}
CALM |= {"spread": 0.6, "start": 0.9, "smoothness": 1.0, "start_at": 0, "start_0": 1.0, "step_share": 0.8}
CASES = (
    "fedcog.theorem",
    "decaying_k.theorem_1_repaired",
    "fedinit.theorem_1",
    "fedinit.theorem_2",
)


def _own(problem, table, words, cap):
    """These assumptions with the numbers of this very federation."""
    gap = float(problem.loss(problem.start)) - problem.optimal_loss
    known = {
        "smoothness": problem.smoothness,
        "strong_convexity": problem.strong_convexity * (1 - 1e-9),
        "pl_constant": problem.pl_constant,
        "initial_gap": gap,
        "heterogeneity": problem.heterogeneity,
        "dissimilarity_factor": float(table.get("dissimilarity_factor", problem.dissimilarity_factor)),
    }
    known["dissimilarity_offset"] = problem.dissimilarity_offset_for(known["dissimilarity_factor"])
    known["grad_cap_sq"] = cap
    return {word: known[word] for word in words}


def _cap(problem, table):
    """The largest squared gradient of a client along the run, by plain loops."""
    most, model = 0.0, problem.start
    for _ in range(table["rounds"]):
        ends = []
        for k in range(problem.clients):
            w = model.copy()
            for _ in range(table["local_steps"]):
                g = problem.curvatures[k] @ (w - problem.minima[k])
                most = max(most, float(g @ g))
                w = w - float(table["step_size"]) * g
            ends.append(w)
        model = sum(ends) / len(ends)
    return most


@pytest.mark.parametrize("name", CASES)
def test_the_worst_case_is_above_the_best_instance_found(name):
    bound = BOUNDS[name]
    box = FAMILIES["quadratics"].box(bound)
    known = {p.name for p in (*box.parameters, *box.words)}
    pins = {"clients": 2, "local_steps": 2, "rounds": 2, **CALM}
    found = falsify(bound, 60, 2, "quadratics", pins={n: v for n, v in pins.items() if n in known})
    table = dict(found.instance)
    assert (table["local_steps"], table["rounds"]) == (2, 2)
    problem = tables.problem(table)
    place = Place(clients=table["clients"], rounds=2, local_steps=2, relaxation=float(table.get("relaxation", 0.0)))
    asked = question(bound, place)
    setting = Setting(2, table["clients"], local_steps=2, step_size=float(table["step_size"]))
    own = _own(problem, table, asked.assumptions, _cap(problem, table))
    worst = answer(Question(asked.algorithm, setting, own, asked.metric, asked.statistic))
    measured = FAMILIES["quadratics"].evaluate(bound, table).measured
    assert measured > 0
    assert measured <= worst.value * (1 + 1e-4)
    assert worst.value <= 1e4 * measured  # the comparison says something
