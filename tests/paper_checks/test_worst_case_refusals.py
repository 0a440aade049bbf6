"""Exact worst cases: what is refused, and how it is said."""

import builtins
from dataclasses import dataclass, replace

import pytest

from bounds.errors import BoundsError
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import renamed
from empirics.training.setting import Setting
from paper_checks.worst_cases import program as programs, worst_case, WorstCaseError
from paper_checks.worst_cases.refining import refined
from paper_checks.worst_cases.worst import Question

L, MU = 1.7, 0.23
STRONG = {"smoothness": L, "strong_convexity": MU, "initial_distance_sq": 2.3, "optimum_dissimilarity": 0.7}
SMOOTH = {"smoothness": L, "initial_gap": 1.3, "dissimilarity_offset": 0.4, "dissimilarity_factor": 1.6}


def plan(**more):
    return replace(Setting(rounds=2, cohort=2, local_steps=2, step_size=0.13), **more)


# ---- what is no fixed-step method ----


@dataclass(frozen=True)
class AsksElsewhere:
    """Uses gradients linearly, but asks for them where a nonlinear function of the model leads."""

    def __call__(self, work, w, gradient, gradient_at):
        return gradient_at(w + 1e-3 * gradient / (1 + gradient.norm(dim=-1, keepdim=True)))


@pytest.mark.parametrize(
    "method",
    [
        algorithm("fedadam()"),
        algorithm("fedexp()"),
        algorithm("fedsam(rho=0.05)"),
        renamed(algorithm("fedavg()"), "elsewhere", direction=AsksElsewhere()),
    ],
    ids=str,
)
def test_methods_that_are_not_linear_are_refused(method):
    with pytest.raises(BoundsError, match="does not add and scale its gradients only") as error:
        worst_case(method, plan(), STRONG, "distance_sq")
    assert "\n" not in str(error.value)


# ---- bad input: one line that says what, the rule, the value ----

BAD = [
    (STRONG, {}, {"smoothness": 0.0}, "smoothness must be given and > 0"),
    (STRONG, {}, {"smoothness": float("nan")}, "smoothness must be a finite number; got nan"),
    (STRONG, {}, {"smoothness": -1.0}, "smoothness must be >= 0; got -1"),
    (STRONG, {}, {"strong_convexity": 2.0}, r"strong_convexity must be >= 0 and < smoothness 1\.7; got 2"),
    (STRONG, {}, {"strong_convexity": -0.2}, r"strong_convexity must be >= 0 and < smoothness 1\.7; got -0\.2"),
    (STRONG, {}, {"initial_distance_sq": -2.0}, "initial_distance_sq must be >= 0; got -2"),
    (STRONG, {}, {"initial_distance_sq": float("inf")}, "initial_distance_sq must be a finite number; got inf"),
    (
        STRONG,
        {},
        {"initial_distance": 2.0},
        "unknown assumption 'initial_distance'; did you mean 'initial_distance_sq'",
    ),
    (SMOOTH, {}, {"optimum_dissimilarity": 1.0}, r"optimum_dissimilarity speaks of a minimiser: give strong_convexity"),
    ({"smoothness": L, "dissimilarity_factor": 2.0}, {}, {}, "dissimilarity_factor goes with dissimilarity_offset"),
    (STRONG, {"sampling": "bernoulli"}, {}, "needs all clients in every round"),
    (STRONG, {"sampling": "with_replacement"}, {}, "needs all clients in every round"),
    (STRONG, {"client_weight": "samples"}, {}, "equal weights"),
    (STRONG, {"optimizer": "adamw"}, {}, "linear in the gradients; got optimizer 'adamw'"),
    (STRONG, {"clip": 1.0}, {}, r"clip 1\.0"),
    (STRONG, {"local_steps": None, "local_epochs": 2}, {}, "give local_steps instead of local_epochs"),
    (STRONG, {"weight_decay": 0.1}, {}, "weight decay pulls to the origin"),
]


@pytest.mark.parametrize(("given", "more", "wrong", "message"), BAD)
def test_bad_input_is_said_in_one_line(given, more, wrong, message):
    with pytest.raises(BoundsError, match=message) as error:
        worst_case("fedavg()", plan(**more), {**given, **wrong}, "distance_sq")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "metric", "message"),
    [
        (STRONG, "accuracy", "the metric must be one of .*; got 'accuracy'"),
        (SMOOTH, "distance_sq", "distance_sq is measured from the minimiser"),
        ({"smoothness": L, "strong_convexity": MU}, "distance_sq", "the worst case is infinite.* bound the start"),
    ],
)
def test_what_is_not_bounded_or_known_is_said(given, metric, message):
    with pytest.raises(BoundsError, match=message):
        worst_case("fedavg()", plan(), given, metric)


def test_contradictory_assumptions_are_said():
    # No assumption of the vocabulary contradicts another one by itself; a planted start outside its own limit does.
    program = Question(algorithm("fedavg()"), plan(), STRONG, "distance_sq").program()
    row = next(c.row for c in program.constraints if c.name == "initial_distance_sq")
    impossible = replace(program, constraints=(*program.constraints, programs.Constraint("planted", -row, -5.0)))
    with pytest.raises(WorstCaseError, match="no federation meets these assumptions together"):
        refined(impossible)


def test_a_missing_solver_is_said(monkeypatch):
    usual = builtins.__import__

    def without(name, *arguments, **options):
        if name == "clarabel":
            raise ImportError(name)
        return usual(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(WorstCaseError, match=r"python -m pip install 'fedbounds\[exact\]'"):
        worst_case("fedavg()", plan(), STRONG, "distance_sq")


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((1.5, 1), "whole numbers >= 1"),
        ((3, 1, 1), "each of the 2 rounds; got 3"),
        ((2,), "each of the 2 rounds; got 1"),
    ],
)
def test_steps_are_whole_numbers_one_per_round(steps, said):
    with pytest.raises(BoundsError, match=said):
        worst_case("fedavg()", Setting(2, 2, step_size=0.1), STRONG, "optimality_gap", steps=steps)
