"""Worst cases where clients are drawn: all kept apart, closed forms, rates, federations below, runs, refusals."""

from itertools import combinations, product
from math import inf

import numpy as np
import pytest

from bounds.core import Statistic
from bounds.errors import BoundsError
from empirics.algorithms import algorithm
from empirics.training.setting import Setting
from paper_checks.rates.search import Case, certified
from paper_checks.worst_cases import orbits, worst_case
from paper_checks.worst_cases.drawing import draw
from paper_checks.worst_cases.instances import Instance
from paper_checks.worst_cases.replaying import replay
from paper_checks.worst_cases.worst import Question

L, MU, SIZE = 1.7, 0.23, 0.19
STRONG = {"smoothness": L, "strong_convexity": MU, "initial_distance_sq": 2.3, "optimum_dissimilarity": 0.7}
SMOOTH = {"smoothness": L, "initial_gap": 1.3, "dissimilarity_offset": 0.4, "dissimilarity_factor": 1.6}


def plan(cohort, rounds=2, steps=1, size=SIZE, **more):
    return Setting(rounds=rounds, cohort=cohort, local_steps=steps, step_size=size, **more)


def near(number, rel=1e-5):
    return pytest.approx(number, rel=rel)


@pytest.mark.parametrize(
    ("method", "clients", "cohort", "steps", "metric", "given"),
    [
        ("fedavg()", 2, 1, 2, "distance_sq", STRONG),
        ("fedprox(mu=0.3)", 3, 2, 1, "distance_sq", STRONG | {"strong_convexity": 0.0}),
        ("scaffold()", 2, 1, 2, "distance_sq", STRONG),
        ("fedinit(beta=0.2)", 2, 1, 2, "distance_sq", STRONG),
        ("fedavg()", 2, 1, 1, "grad_norm_sq", SMOOTH),
        ("fedavgm(momentum=0.3)", 2, 1, 1, "optimality_gap", STRONG | {"heterogeneity": 0.4}),
    ],
)
def test_renaming_the_clients_loses_nothing(method, clients, cohort, steps, metric, given):
    small = worst_case(method, plan(cohort, steps=steps), given, metric, clients=clients)
    whole = worst_case(method, plan(cohort, steps=steps), given, metric, clients=clients, symmetric=False)
    assert small.value == near(whole.value)
    assert small.program.blocks == whole.program.blocks  # what is found is lifted to the whole program
    assert small.doubt < 1e-4 * small.value
    x, rows = small.solved.x, np.array([c.row for c in small.program.constraints])
    assert (rows @ x - [c.limit for c in small.program.constraints]).max() < 1e-5


def test_three_clients_make_parts_of_which_one_is_there_twice(monkeypatch):
    question = Question(algorithm("fedavg()"), plan(1), STRONG, "distance_sq", clients=3)
    formulation, whole = question.stated()
    everything = np.ones(whole.blocks[0], dtype=bool), np.ones(whole.values, dtype=bool)
    found = orbits.smaller(formulation, whole, *everything)
    assert sorted(len(part) for part in found.parts) == [1, 1, 2]  # the irreducible parts of three letters
    assert sum(len(part) * part.shape[2] for part in found.parts) == whole.blocks[0] - 1  # gradients of sum 0
    assert len(found.program.constraints) < len(whole.constraints) / 4


def test_a_renaming_that_is_none_is_seen(monkeypatch):
    """Planted: the gradients of one client are taken for one another."""
    question = Question(algorithm("fedavg()"), plan(1), STRONG, "distance_sq", clients=2)
    formulation, whole = question.stated()
    numbers = formulation.recorded.numbers
    first, second = (
        key for key in numbers if (key[0] == ((0,),) and key[2] == 1) or (key[0] == ((1,),) and key[2] == 1)
    )
    numbers[first], numbers[second] = numbers[second], numbers[first]
    with pytest.raises(BoundsError, match="not alike"):
        orbits.smaller(formulation, whole, np.ones(whole.blocks[0], bool), np.ones(whole.values, bool))


def test_with_all_clients_in_the_cohort_it_is_the_worst_case_of_all(monkeypatch):
    usual = worst_case("fedavg()", plan(2, steps=2), STRONG, "optimality_gap")
    assert worst_case("fedavg()", plan(2, steps=2), STRONG, "optimality_gap", clients=2).value == usual.value
    monkeypatch.setattr(Question, "drawn", property(lambda self: self.clients is not None))
    tree = worst_case("fedavg()", plan(2, steps=2), STRONG, "optimality_gap", clients=2)
    assert tree.value == near(usual.value)
    assert len(tree.question.recorded.histories) == 3


def test_any_number_of_clients_that_all_take_part_are_two():
    usual = worst_case("fedavg()", plan(2), STRONG, "distance_sq")
    assert worst_case("fedavg()", plan(40), STRONG, "distance_sq", clients=40).value == near(usual.value)


@pytest.mark.parametrize(("clients", "cohort"), [(2, 1), (3, 2), (5, 2)])
def test_one_round_of_gradients_in_closed_form(clients, cohort):
    """From the minimiser itself: the mean of a cohort's gradients there, whose mean over all clients is 0."""
    given = STRONG | {"initial_distance_sq": 0.0}
    found = worst_case("fedavg()", plan(cohort, rounds=1), given, "distance_sq", clients=clients)
    assert found.value == near(SIZE**2 * 0.7 * (clients - cohort) / (cohort * (clients - 1)), 5e-5)


@pytest.mark.parametrize(("clients", "cohort", "steps"), [(2, 1, 1), (3, 2, 2), (4, 1, 2)])
def test_one_round_is_what_its_rate_proves(clients, cohort, steps):
    rate = certified(Case(algorithm("fedprox(mu=0.3)"), steps, SIZE, L, MU, clients, cohort))
    found = worst_case("fedprox(mu=0.3)", plan(cohort, 1, steps), STRONG, "distance_sq", clients=clients)
    assert found.value <= rate.after(1, 2.3, 0.7) <= 1.0002 * found.value


def on_a_line(curvature, shift, start, cohort, rounds, steps):
    """E w_T^2 of FedAvg on q_i/2 w^2 - b_i w, the sum of b_i being 0: every draw of cohorts in turn."""
    clients, total, count = len(curvature), 0.0, 0
    for drawn in product(combinations(range(clients), cohort), repeat=rounds):
        w = start
        for chosen in drawn:
            ends = []
            for i in chosen:
                x = w
                for _ in range(steps):
                    x -= SIZE * (curvature[i] * x - shift[i])
                ends.append(x)
            w = sum(ends) / cohort
        total, count = total + w * w, count + 1
    return total / count


@pytest.mark.parametrize(("clients", "cohort", "steps"), [(2, 1, 2), (3, 2, 1)])
def test_no_federation_on_a_line_is_above_and_one_comes_near(clients, cohort, steps):
    found = worst_case("fedavg()", plan(cohort, 2, steps), STRONG, "distance_sq", clients=clients).value
    alone = worst_case("fedavg()", plan(cohort, 2, steps), STRONG, "distance_sq").value  # all take part: too small
    draws, most = np.random.default_rng(12), -inf
    for _ in range(200):
        curvature = draws.choice([MU, 0.9, L], clients)
        shift = draws.standard_normal(clients)
        shift -= shift.mean()
        shift *= (0.7 / (shift**2).mean()) ** 0.5
        reached = on_a_line(curvature, shift, 2.3**0.5, cohort, 2, steps)
        assert reached <= found * (1 + 1e-7)
        most = max(most, reached)
    assert alone < most
    assert most > 0.97 * found


@pytest.mark.parametrize("method", ["fedavg()", "scaffold()"])
def test_the_federation_that_attains_it_is_run_with_every_cohort(method, tmp_path):
    found = worst_case(method, plan(1, steps=2), STRONG, "distance_sq", clients=2)
    said = found.replay()
    assert said.agrees, (said.error, said.broken)
    found.instance().save(tmp_path / "own.json")
    assert replay(Instance.load(tmp_path / "own.json")).measured == near(said.measured, 1e-12)


def test_the_least_over_rounds_is_of_means():
    """Over the models that rounds begin with; at the first the gap is at most L/2 of the squared distance."""
    least, mean = (
        worst_case("fedavg()", plan(1), STRONG, "optimality_gap", Statistic(kind, "rounds"), clients=2).value
        for kind in ("min", "mean")
    )
    assert least < mean < L / 2 * 2.3


def test_a_small_step_is_as_sure_as_a_large_one():
    found = worst_case("fedavg()", plan(1, steps=2, size=2e-4), STRONG, "distance_sq", clients=2)
    assert found.doubt < 1e-5 * found.value
    assert found.value == near(2.3 * (1 - 2e-4 * MU) ** 8 + 2 * (2 * 2e-4) ** 2 * 0.7, 1e-6)


def test_who_is_asked_twice_answers_once():
    tree = draw(algorithm("fedavg()"), plan(2, 2, 3), 3)
    assert tree.gradients == (1 + 3) * 3
    assert len(tree.histories) == 1 + 3 + 9
    assert [len(models) for models in tree.after] == [1, 3, 9]


REFUSED = [
    ({"clients": 1}, {}, {}, "clients must be a whole number >= the setting's cohort 2; got 1"),
    ({"clients": 2.5}, {}, {}, "clients must be a whole number >= the setting's cohort 2; got 2.5"),
    ({"clients": True}, {}, {}, "whole number >= the setting's cohort"),
    ({"clients": 9}, {"rounds": 3}, {}, "have more server models than the 444 for which there is room"),
    ({"clients": 10}, {"rounds": 10**6, "cohort": 5}, {}, "more server models than the 400 for which there is room"),
    ({"clients": 10**6}, {"cohort": 10**5}, {}, "more server models than the 0 for which there is room"),
    ({"clients": 3}, {"rounds": 5}, {}, "121 gradients of each of 3 clients need 23 GB of inequalities"),
    ({"clients": 3}, {}, {"divergence": 0.3}, "where clients are drawn divergence is not assumed"),
    ({"clients": 3}, {"sampling": "with_replacement"}, {}, "needs all clients in every round"),
    ({"clients": 60}, {"rounds": 1, "cohort": 1}, {}, "1 gradients per client would take about"),
    ({"clients": 3, "patience": 1e-9}, {}, {}, "raise the patience"),
    ({"clients": 3, "metric": "local_drift"}, {}, {}, "the metric must be one of distance_sq, optimality_gap"),
    ({"clients": 3, "statistic": Statistic("min", "iterations")}, {}, {}, "where clients are drawn the metric"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "setting", "given", "said"), REFUSED)
def test_what_is_refused_is_said_in_one_line(words, setting, given, said):
    words = {"metric": "distance_sq"} | words
    with pytest.raises(BoundsError, match=said) as error:
        worst_case("fedavg()", plan(**({"rounds": 2, "cohort": 2} | setting)), STRONG | given, **words)
    assert "\n" not in str(error.value)
