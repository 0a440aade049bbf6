"""Our worst cases against the same ones stated by hand in PEPit."""

import pytest
from tools.pepit_reference import by_pepit

from bounds.core import Statistic
from bounds.errors import BoundsError
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import renamed
from empirics.training.setting import Setting
from paper_checks.worst_cases.worst import answer, Question

STRONG = {"smoothness": 1.7, "strong_convexity": 0.23, "initial_distance_sq": 2.3, "optimum_dissimilarity": 0.7}
CLASSES = {
    "strong": STRONG,
    "convex": {**STRONG, "strong_convexity": 0.0},
    "smooth": {"smoothness": 1.7, "initial_gap": 1.3, "dissimilarity_offset": 0.4, "dissimilarity_factor": 1.6},
}
METHODS = (
    "fedavg()",
    "fedprox(mu=0.3)",
    "scaffold()",
    "fedinit(beta=0.2)",
    "fedinit(beta=0.2, reading='code')",
)
METRICS = (
    ("distance_sq", "last", "rounds"),
    ("distance_sq", "mean", "iterations"),
    ("optimality_gap", "min", "rounds"),
    ("optimality_gap", "last", "iterations"),
    ("grad_norm_sq", "mean", "rounds"),
    ("grad_norm_sq", "min", "iterations"),
    ("divergence", "last", "rounds"),
    ("mean_divergence", "mean", "rounds"),
    ("local_drift", "mean", "rounds"),
    ("global_step", "last", "rounds"),
    ("mean_gradient_drift", "last", "rounds"),
    ("weighted_grad_norm_sq", "last", "rounds"),
    ("consensus_distance", "mean", "iterations"),
)
OTHERS = {
    "heterogeneity": {"smoothness": 1.7, "strong_convexity": 0.23, "initial_distance_sq": 2.3, "heterogeneity": 0.4},
    "caps": {"smoothness": 1.7, "strong_convexity": 0.0, "initial_distance_sq": 2.3, "grad_cap_sq": 3.1},
    "gap": {"smoothness": 1.7, "strong_convexity": 0.23, "initial_gap": 1.1, "optimum_dissimilarity": 0.7},
    "dissimilar": {**STRONG, "dissimilarity_offset": 0.9, "dissimilarity_factor": 1.4},
    "before": {"smoothness": 1.7, "strong_convexity": 0.23, "distance_sq": 2.3, "heterogeneity": 0.4},
    "polyak": {**CLASSES["smooth"], "pl_constant": 0.3},
    "round": {"smoothness": 1.7, "dissimilarity_offset": 0.4, "grad_norm_sq": 1.9, "divergence": 0.6},
}


def question(name, given, metric, kind="last", over="rounds", clients=2, steps=None, **more):
    plan = {"rounds": 2, "local_steps": 2, "step_size": 0.13, **more}
    return Question(algorithm(name), Setting(cohort=clients, **plan), given, metric, Statistic(kind, over), steps)


def agree(asked):
    assert answer(asked).value == pytest.approx(by_pepit(asked), rel=1e-5)


QUICK = [(m, c, METRICS[(3 * i + 5 * j) % 13], 2) for i, m in enumerate(METHODS) for j, c in enumerate(CLASSES)]
EVERY = [
    (method, kind, metric, 3 if (method, kind, metric, 2) in QUICK else 2 + (i + j + k) % 2)
    for i, method in enumerate(METHODS)
    for j, kind in enumerate(CLASSES)
    for k, metric in enumerate(METRICS)
]
"""Every method with every class and every metric, once: two clients and three take turns along each of them."""


def possible(cases):
    return [case for case in cases if not (case[1] == "smooth" and case[2][0] == "distance_sq")]


@pytest.mark.parametrize(("name", "kind", "metric", "clients"), possible(QUICK))
def test_both_statements_agree(name, kind, metric, clients):
    agree(question(name, CLASSES[kind], *metric, clients=clients))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind", "metric", "clients"), possible(EVERY))
def test_both_statements_agree_everywhere(name, kind, metric, clients):
    agree(question(name, CLASSES[kind], *metric, clients=clients))


@pytest.mark.parametrize("word", OTHERS)
def test_both_statements_agree_on_every_assumption(word):
    over = "iterations" if word == "before" else "rounds"
    metric = {"polyak": "optimality_gap", "round": "divergence"}.get(word, "distance_sq")
    agree(question("fedavg()", OTHERS[word], metric, "last", over))
    if "strong_convexity" in OTHERS[word]:
        agree(question("scaffold()", OTHERS[word], "optimality_gap", clients=3))


@pytest.mark.parametrize("more", [{"momentum": 0.4}, {"step_size_decay": 0.6}, {"steps": (3, 1)}], ids=str)
def test_both_statements_agree_on_settings(more):
    agree(question("fedprox(mu=0.3)", STRONG, "distance_sq", clients=3, **more))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (question("fedcm(alpha=0.1)", STRONG, "distance_sq"), r"the method fedcm\(alpha=0.1\)"),
        (question("fedavg()", STRONG, "distance_sq", "every"), "the statistic 'every'"),
        (question("fedavg()", STRONG, "accuracy"), "the metric 'accuracy' over rounds"),
        (question("fedavg()", STRONG, "accuracy", over="iterations"), "the metric 'accuracy' over iterations"),
        (question("fedavg()", STRONG, "distance_sq", weight_decay=0.1), "more of a setting than"),
    ],
)
def test_what_is_not_stated_is_refused(asked, message):
    with pytest.raises(BoundsError, match=message):
        by_pepit(asked)


def test_another_method_of_the_same_name_is_refused():
    other = renamed(algorithm("fedprox(mu=0.3)"), "fedavg()")
    asked = Question(other, Setting(2, 2, local_steps=2), STRONG, "distance_sq")
    with pytest.raises(BoundsError, match="that is another"):
        by_pepit(asked)
