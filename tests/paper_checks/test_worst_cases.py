"""Exact worst cases against closed forms, hand-written runs, finite differences, other units and random federations."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from bounds.core import Statistic
from bounds.errors import BoundsError
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import renamed
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting
from paper_checks.worst_cases import refining, worst_case, WorstCaseError
from paper_checks.worst_cases.formulation import Formulation
from paper_checks.worst_cases.worst import answer, moved, Question

L, MU = 1.7, 0.23
STRONG = {"smoothness": L, "strong_convexity": MU, "initial_distance_sq": 2.3, "optimum_dissimilarity": 0.7}
CONVEX = {**STRONG, "strong_convexity": 0.0}
SMOOTH = {"smoothness": L, "initial_gap": 1.3, "dissimilarity_offset": 0.4, "dissimilarity_factor": 1.6}
POLYAK = {**SMOOTH, "pl_constant": 0.3}
GAMMA = {"smoothness": L, "strong_convexity": MU, "initial_distance_sq": 2.3, "heterogeneity": 0.4}
KNOWN = {"fedavg": "fedavg()", "fedprox": "fedprox(mu=0.3)", "scaffold": "scaffold()", "fedinit": "fedinit(beta=0.2)"}


def plan(rounds=2, steps=2, clients=2, size=0.13, **more):
    return Setting(rounds=rounds, cohort=clients, local_steps=steps, step_size=size, **more)


def near(number, rel=1e-5, floor=0.0):
    return pytest.approx(number, rel=rel, abs=floor)


# ---- closed forms ----


@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("clients", [1, 2, 7])
def test_gradient_descent_on_convex_losses(rounds, clients):
    # Drori and Teboulle 2014, Theorem 3.1: steps of 1/L end at most L D^2 / (4 R + 2) above the minimum. One local
    # step of any number of clients is a step on their mean, which may be any function of the class.
    found = worst_case("fedavg()", plan(rounds, 1, clients, 1 / L), CONVEX, "optimality_gap")
    assert found.value == near(L * 2.3 / (4 * rounds + 2), 1e-6)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_gradient_descent_with_short_steps(share):
    # Drori and Teboulle 2014: with steps h/L, h <= 1, it is L D^2 / (4 R h + 2).
    found = worst_case("fedavg()", plan(3, 1, 2, share / L), CONVEX, "optimality_gap")
    assert found.value == near(L * 2.3 / (4 * 3 * share + 2), 1e-6)


@pytest.mark.parametrize("share", [0.2, 1.0, 1.6])
def test_gradient_descent_on_strongly_convex_losses(share):
    # Nesterov 2004, Theorem 2.1.15; attained by the quadratics of curvature mu and L.
    eta = share / L
    rate = max((1 - eta * MU) ** 2, (1 - eta * L) ** 2)
    found = worst_case("fedavg()", plan(3, 1, 3, eta), STRONG, "distance_sq")
    assert found.value == near(rate**3 * 2.3, 1e-6)


def test_gradient_norms_of_gradient_descent_on_smooth_losses():
    # Taylor, Hendrickx and Glineur 2018 / Abbaszadehpeivasti, de Klerk and Zamani 2022, Theorem 2: steps h/L with
    # h <= 1 leave min over R + 1 models of |grad F|^2 at most 4 L D / (h (4 - h) R + 2) where D = F(x_0) - F(x_R);
    # with inf F in place of F(x_R) one more step of 1/L is won: 2 L D / (1 + h (4 - h) R / 2).
    h, rounds, gap = 0.7, 2, 1.3
    given = {"smoothness": L, "initial_gap": gap}
    found = worst_case("fedavg()", plan(rounds, 1, 2, h / L), given, "grad_norm_sq", Statistic("min", "iterations"))
    assert found.value == near(2 * L * gap / (1 + h * (4 - h) * rounds / 2), 1e-6)


@pytest.mark.parametrize("steps", [2, 5])
def test_local_steps_of_a_single_client_are_gradient_descent(steps):
    found = worst_case("fedavg()", plan(1, steps, 1, 1 / L), CONVEX, "optimality_gap")
    assert found.value == near(L * 2.3 / (4 * steps + 2), 1e-6)


def test_drift_of_two_linear_steps():
    # At the optimum with mean |g_i|^2 <= z, one local step moves the clients apart by exactly eta^2 z.
    given = {**STRONG, "initial_distance_sq": 0.0}
    found = worst_case("fedavg()", plan(1, 1), given, "divergence")
    assert found.value == near(0.13**2 * 0.7, 1e-6)


def test_clients_with_one_minimiser_contract_whatever_they_are():
    # Without gradients at the optimum every local step contracts towards it: K R steps of gradient descent at worst.
    given = {**STRONG, "optimum_dissimilarity": 0.0}
    found = worst_case("fedavg()", plan(2, 3), given, "distance_sq")
    assert found.value == near((1 - 0.13 * MU) ** 12 * 2.3, 1e-6)


def test_momentum_by_hand():
    # One client on mu/2 |x|^2 (the slowest): velocity v = 0.4 v + mu x, two steps in one round.
    x, v = 1.0, 0.0
    for _ in range(2):
        v = 0.4 * v + MU * x
        x -= 0.13 * v
    given = {**STRONG, "optimum_dissimilarity": 0.0}
    found = worst_case("fedavg()", plan(1, 2, 1, momentum=0.4), given, "distance_sq")
    assert found.value == near(x * x * 2.3, 1e-6)


@dataclass(frozen=True)
class AsksTwice:
    """The extragradient step: linear, two questions a step."""

    def __call__(self, work, w, gradient, gradient_at):
        return gradient_at(w - work.step_size * gradient)


def test_two_questions_a_step_by_hand():
    # x <- x - eta f'(x - eta f'(x)); the slowest quadratic: factor 1 - eta mu (1 - eta mu).
    method = renamed(algorithm("fedavg()"), "extragradient", direction=AsksTwice())
    given = {**STRONG, "optimum_dissimilarity": 0.0}
    found = worst_case(method, plan(2, 1, 1), given, "distance_sq")
    rate = 1 - 0.13 * MU * (1 - 0.13 * MU)
    assert found.value >= rate**4 * 2.3 * (1 - 1e-6)
    assert found.value == near(rate**4 * 2.3, 1e-3)


def test_batches_and_seeds_do_not_matter():
    few, many = (worst_case("fedavg()", plan(batch=b), STRONG, "distance_sq").value for b in (1, 64))
    assert few == many


def test_steps_far_too_long_are_long_not_infinite():
    # A fixed number of steps on smooth losses is bounded whatever their length: (1 - 5)^2 on curvature L.
    assert worst_case("fedavg()", plan(1, 1, size=5 / L), STRONG, "distance_sq").value == near(16 * 2.3, 1e-6)


@pytest.mark.parametrize(("rounds", "size"), [(1, 1e-4), (2, 1e-5), (1, 1e-8)])
def test_steps_far_too_short_are_neither_infinite_nor_nothing(rounds, size):
    """Two local steps: the second model is a step away, and the gradient there at most L times as much."""
    given = {"smoothness": L, "grad_norm_sq": 1.3, "dissimilarity_offset": 0.7, "dissimilarity_factor": 2.0}
    given |= {"divergence": 0.1} if rounds > 1 else {}
    drift = worst_case("fedavg()", plan(rounds, 2, size=size), given, "local_drift")
    assert drift.value == near(size**2 * (0.7 + 2 * 1.3), 1e-4)
    if rounds > 1:
        found = worst_case("fedavg()", plan(rounds, 2, size=size), given, "mean_gradient_drift")
        assert found.value == near((L * size / 2) ** 2 * (0.7 + 2 * 1.3), 1e-4)


# ---- a number of clients ----


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("given", [STRONG, SMOOTH], ids=["strong", "smooth"])
def test_any_number_of_clients_is_as_bad_as_two(name, given):
    metric = "distance_sq" if "strong_convexity" in given else "grad_norm_sq"
    two, four = (worst_case(KNOWN[name], plan(clients=n), given, metric).value for n in (2, 4))
    apart = [worst_case(KNOWN[name], plan(clients=n), given, metric, symmetric=False).value for n in (2, 3)]
    assert [four, *apart] == [near(two)] * 3


def test_a_single_client_is_better_than_two():
    one, two = (worst_case("fedavg()", plan(clients=n), STRONG, "distance_sq").value for n in (1, 2))
    assert one < 0.999 * two
    assert one == near((1 - 0.13 * MU) ** 8 * 2.3, 1e-6)


def test_clients_that_need_not_be_alike_are_told_apart():
    # A method that treats the first client in its own way has no symmetric coordinates.
    odd = renamed(algorithm("fedavg()"), "odd", direction=FirstIsSlow())
    with pytest.raises(BoundsError, match="clients of this method are not alike"):
        worst_case(odd, plan(), STRONG, "distance_sq")
    assert worst_case(odd, plan(), STRONG, "distance_sq", symmetric=False).value > 0


@dataclass(frozen=True)
class FirstIsSlow:
    def __call__(self, work, w, gradient, gradient_at):
        slow = gradient.clone()
        slow[work.clients == 0] *= 0.5
        return slow


# ---- what the numbers say about each other ----

NUMBERS = [
    ("fedavg()", STRONG, "distance_sq", ("initial_distance_sq", "optimum_dissimilarity")),
    ("scaffold()", CONVEX, "optimality_gap", ("initial_distance_sq", "optimum_dissimilarity")),
    ("fedavg()", GAMMA, "distance_sq", ("initial_distance_sq", "heterogeneity")),
    ("fedprox(mu=0.3)", SMOOTH, "grad_norm_sq", ("initial_gap", "dissimilarity_offset")),
    ("fedavg()", POLYAK, "optimality_gap", ("initial_gap", "dissimilarity_offset")),
]


@pytest.mark.parametrize(("name", "given", "metric", "words"), NUMBERS)
def test_multipliers_are_derivatives_and_add_up(name, given, metric, words):
    found = worst_case(name, plan(), given, metric)
    for word in words:
        up, down = (worst_case(name, plan(), {**given, word: given[word] * s}, metric).value for s in (1.001, 0.999))
        assert found.multipliers[word] == near((up - down) / (0.002 * given[word]), 2e-3, 1e-5)
    assert sum(found.contributions.values()) == near(found.value)


@pytest.mark.parametrize(
    ("given", "metric", "words"),
    [
        (STRONG, "distance_sq", ("smoothness", "strong_convexity", "step_size")),
        (SMOOTH, "grad_norm_sq", ("smoothness", "dissimilarity_factor", "step_size")),
        (POLYAK, "optimality_gap", ("pl_constant",)),
    ],
    ids=["strong", "smooth", "polyak"],
)
def test_sensitivities_are_derivatives(given, metric, words):
    found = worst_case("fedavg()", plan(), given, metric)
    for word in words:
        at = 0.13 if word == "step_size" else given[word]
        up, down = (answer(moved(found.question, word, at * s)).value for s in (1.001, 0.999))
        assert found.sensitivity(word) == near((up - down) / (0.002 * at), 2e-3, 1e-4)


def test_a_sensitivity_at_the_edge_of_a_domain_looks_inside():
    given = {**STRONG, "strong_convexity": 0.0}
    found = worst_case("fedavg()", plan(), given, "optimality_gap")
    up = answer(moved(found.question, "strong_convexity", 1e-3)).value
    assert found.sensitivity("strong_convexity") == near((up - found.value) / 1e-3, 2e-2)
    assert found.sensitivity("strong_convexity") < 0


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_change_nothing(factor):
    # Longer vectors, steeper losses: every limit and the worst case grow by the same factor.
    large = {
        word: value * (1 if word in ("smoothness", "strong_convexity") else factor) for word, value in STRONG.items()
    }
    plain, scaled = (worst_case("fedavg()", plan(), given, "distance_sq").value for given in (STRONG, large))
    assert scaled == near(plain * factor, 1e-6)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_steepness_is_a_unit_too(factor):
    large = {
        **STRONG,
        "smoothness": L * factor,
        "strong_convexity": MU * factor,
        "optimum_dissimilarity": 0.7 * factor**2,
    }
    plain = worst_case("fedavg()", plan(), STRONG, "distance_sq").value
    assert worst_case("fedavg()", plan(size=0.13 / factor), large, "distance_sq").value == near(plain, 1e-6)


@pytest.mark.parametrize("method", ["fedavg()", "fedinit(beta=0.1)"])
@pytest.mark.parametrize(("given", "metric"), [(STRONG, "optimality_gap"), (SMOOTH, "grad_norm_sq")])
def test_the_central_path_gives_the_same_as_the_solver(monkeypatch, method, given, metric):
    question = Question(algorithm(method), plan(2, 3), given, metric, Statistic("mean", "rounds"))
    solved = answer(question)
    monkeypatch.setattr(refining, "SMALL", 0)
    monkeypatch.setattr(refining, "attempted", None)  # nothing is asked of the solver
    followed = answer(question)
    assert followed.value == near(solved.value, 1e-6)
    assert followed.multipliers == {word: near(m, 1e-3) for word, m in solved.multipliers.items()}


def test_twenty_gradients_take_one_short_path(monkeypatch):
    monkeypatch.setattr(refining, "attempted", None)
    given = {"smoothness": 1.0, "strong_convexity": 0.1, "initial_distance_sq": 1.0, "optimum_dissimilarity": 1.0}
    setting = Setting(rounds=2, cohort=2, local_steps=10, step_size=0.1)
    found = worst_case("fedavg()", setting, given, "optimality_gap")
    assert found.value == near(0.128212781, 1e-7)
    assert found.doubt < 1e-7
    assert found.solved.iterations < 35  # 44 where no step is corrected twice


# ---- from below: no federation does worse ----


def walked(problem, start, plan, name):
    """The server models of FedAvg or SCAFFOLD on quadratics, in plain loops."""
    models, clients = [start], problem.clients
    controls = np.zeros((clients, problem.dim))
    for _ in range(plan.rounds):
        ends = np.tile(models[-1], (clients, 1))
        for _ in range(plan.local_steps):
            gradients = np.array([problem.curvatures[i] @ (ends[i] - problem.minima[i]) for i in range(clients)])
            if name == "scaffold":
                gradients += controls.mean(0) - controls
            ends = ends - plan.step_size * gradients
        controls = controls - controls.mean(0) + (models[-1] - ends) / (plan.local_steps * plan.step_size)
        models.append(ends.mean(0))
    return models


def scaled(problem, limit):
    """The same curvatures, the minima pulled together until the clients' gradients at the minimiser meet the limit."""
    centre = problem.minimiser
    unlike = (problem.client_gradients(centre) ** 2).sum(-1).mean()
    return replace(problem, minima=centre + (problem.minima - centre) * np.sqrt(limit / unlike))


def reached(seed, plan, name, given):
    """The distance and the gap that a random federation of the class ends at."""
    lowest = max(given["strong_convexity"], 1e-3)
    problem = scaled(random_quadratics(seed, plan.cohort, 2, (lowest, L)), given["optimum_dissimilarity"])
    away = np.random.default_rng(seed).standard_normal(2)
    start = problem.minimiser + away * np.sqrt(given["initial_distance_sq"]) / np.linalg.norm(away)
    last = walked(problem, start, plan, name)[-1]
    return ((last - problem.minimiser) ** 2).sum(), problem.loss(last) - problem.optimal_loss


@pytest.mark.parametrize("name", ["fedavg", "scaffold"])
@pytest.mark.parametrize("given", [STRONG, CONVEX], ids=["strong", "convex"])
def test_no_quadratic_federation_does_worse(name, given):
    worst = [worst_case(KNOWN[name], plan(3, 3), given, metric).value for metric in ("distance_sq", "optimality_gap")]
    found = np.array([reached(seed, plan(3, 3, 2 + seed % 2), name, given) for seed in range(300)])
    assert (found <= np.array(worst) * (1 + 1e-9)).all()


def test_a_short_search_comes_near():
    # The slowest quadratic attains it with one local step; four hundred drawn ones come within a tenth.
    worst = worst_case("fedavg()", plan(3, 1), STRONG, "distance_sq").value
    assert max(reached(seed, plan(3, 1), "fedavg", STRONG)[0] for seed in range(400)) > 0.9 * worst


# ---- errors planted in the statement are seen ----


def test_a_wrong_sign_in_the_class_is_seen(monkeypatch):
    usual = Formulation._pair

    def wrong(self, one, other):
        (x, g, f), (y, h, e) = one, other
        return usual(self, (x, -g, f), (y, -h, e))

    monkeypatch.setattr(Formulation, "_pair", wrong)
    with pytest.raises((WorstCaseError, AssertionError)):
        test_gradient_descent_on_convex_losses(2, 2)


def test_a_dropped_inequality_is_seen(monkeypatch):
    # Every other one: the class is larger, the worst case too.
    usual = Formulation.interpolation
    monkeypatch.setattr(Formulation, "interpolation", lambda self: usual(self)[::2])
    with pytest.raises((WorstCaseError, AssertionError)):
        test_gradient_descent_on_convex_losses(2, 2)
