"""Exact worst cases: closed forms, finite differences, other units, random federations, step sizes, refusals."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from loops import cases

from bounds.core import Statistic
from bounds.errors import BoundsError
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import renamed
from empirics.training.setting import Setting
from paper_checks.worst_case import program as programs, symmetry as orbits
from paper_checks.worst_case.certificate import certify
from paper_checks.worst_case.formulation import formulate, program_of
from paper_checks.worst_case.interior_point import optimum
from paper_checks.worst_case.linear_run import record_tree
from paper_checks.worst_case.problem import WorstCaseProblem
from paper_checks.worst_case.program import WorstCaseError
from paper_checks.worst_case.replay import attaining_instance, replay
from paper_checks.worst_case.solve import worst_case

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


def test_convex_losses_whose_start_only_a_gap_bounds():
    """However far away the start is: the dual has no inside. The value is that of another solver."""
    given = {"smoothness": 2.3, "strong_convexity": 0.0, "initial_gap": 0.6, "optimum_dissimilarity": 0.0}
    assert worst_case("fedavg()", plan(1, 2, size=0.3), given, "grad_norm_sq").value == near(0.7340425530, 1e-7)


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


def test_steps_far_too_short_are_neither_infinite_nor_nothing():
    """Two local steps: the second model is a step away, and the gradient there at most L times as much."""
    for rounds, size in ((1, 1e-4), (2, 1e-5), (1, 1e-8)):
        given = {"smoothness": L, "grad_norm_sq": 1.3, "dissimilarity_offset": 0.7, "dissimilarity_factor": 2.0}
        given |= {"divergence": 0.1} if rounds > 1 else {}
        drift = worst_case("fedavg()", plan(rounds, 2, size=size), given, "local_drift")
        assert drift.value == near(size**2 * (0.7 + 2 * 1.3), 1e-4)
        if rounds > 1:
            found = worst_case("fedavg()", plan(rounds, 2, size=size), given, "mean_gradient_drift")
            assert found.value == near((L * size / 2) ** 2 * (0.7 + 2 * 1.3), 1e-4)


# ---- a number of clients ----


def test_any_number_of_clients_is_as_bad_as_two_and_one_is_better():
    for name, (given, metric) in product(KNOWN, ((STRONG, "distance_sq"), (SMOOTH, "grad_norm_sq"))):
        two, four = (worst_case(KNOWN[name], plan(clients=n), given, metric).value for n in (2, 4))
        apart = worst_case(KNOWN[name], plan(clients=3), given, metric, symmetric=False).value
        assert [four, apart] == [near(two)] * 2
    one, two = (worst_case("fedavg()", plan(clients=n), STRONG, "distance_sq").value for n in (1, 2))
    assert one == near((1 - 0.13 * MU) ** 8 * 2.3, 1e-6)
    assert one < 0.999 * two


def test_clients_that_need_not_be_alike_are_told_apart():
    # A method that treats the first client in its own way has no symmetric coordinates.
    odd = renamed(algorithm("fedavg()"), "odd", direction=FirstIsSlow())
    with pytest.raises(BoundsError, match="clients of this method"):
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


def test_multipliers_are_derivatives_and_add_up():
    for name, given, metric, words in NUMBERS:
        found = worst_case(name, plan(), given, metric)
        for word in words:
            up, down = (
                worst_case(name, plan(), {**given, word: given[word] * s}, metric).value for s in (1.001, 0.999)
            )
            assert found.multipliers[word] == near((up - down) / (0.002 * given[word]), 2e-3, 1e-5)
        assert sum(found.contributions.values()) == near(found.value)


def test_units_change_nothing():
    # Longer vectors, steeper losses: every limit and the worst case grow by the same factor.
    plain = worst_case("fedavg()", plan(), STRONG, "distance_sq").value
    for factor in (1e-6, 1e6):
        longer = {word: STRONG[word] * factor for word in ("initial_distance_sq", "optimum_dissimilarity")}
        assert worst_case("fedavg()", plan(), STRONG | longer, "distance_sq").value == near(plain * factor, 1e-6)
    for factor in (1e-3, 1e3):
        steeper = {"smoothness": L * factor, "strong_convexity": MU * factor, "optimum_dissimilarity": 0.7 * factor**2}
        found = worst_case("fedavg()", plan(size=0.13 / factor), STRONG | steeper, "distance_sq")
        assert found.value == near(plain, 1e-6)


def test_a_long_run_is_as_sure_in_few_steps():
    given = {"smoothness": 1.0, "strong_convexity": 0.1, "initial_distance_sq": 1.0, "optimum_dissimilarity": 1.0}
    long = worst_case("fedavg()", plan(2, 10, size=0.1), given, "optimality_gap")
    assert long.value == near(0.128212781, 1e-7)
    assert long.solution.doubt < 1e-7
    assert long.solution.iterations < 35  # 44 where no step is corrected twice


# ---- steps with sizes of their own ----

SIZES = (0.5, 0.2, 0.35, 0.6)
FALLING = {"smoothness": 1.4, "strong_convexity": 0.2, "initial_distance_sq": 0.9, "optimum_dissimilarity": 0.3}


def test_steps_up_to_two_over_the_curvatures_contract_by_the_flattest_quadratic():
    """Up to 2/(L + mu) = 1.25 each step multiplies the distance by 1 - size mu at most; so do all of them together."""
    found = worst_case("fedavg()", plan(4, 1), FALLING, "distance_sq", step_sizes=SIZES)
    shrunk = 0.9 * np.prod([(1 - 0.2 * size) ** 2 for size in SIZES])
    assert found.value == near(shrunk, 1e-6)
    proof = certify(found.problem, found.value)
    assert float(proof.attained) <= shrunk <= float(proof.bound)
    assert proof.width < 1e-5


def test_listed_sizes_of_a_rule_are_that_rule_and_those_of_rounds_those_of_their_steps():
    falling = [0.3 * 7 / (7 + t) for t in range(4)]
    listed = worst_case("fedavg()", plan(), FALLING, "optimality_gap", step_sizes=falling)
    ruled = worst_case("fedavg()", plan(size=0.3, step_offset=7), FALLING, "optimality_gap")
    assert listed.value == near(ruled.value, 1e-7)
    assert listed.value != near(worst_case("fedavg()", plan(size=0.3), FALLING, "optimality_gap").value, 1e-3)
    assert replay(attaining_instance(listed)).agrees
    by_round = worst_case("fedavg()", plan(), FALLING, "distance_sq", steps=(3, 1), step_sizes=(0.4, 0.25))
    each = worst_case("fedavg()", plan(), FALLING, "distance_sq", steps=(3, 1), step_sizes=(0.4, 0.4, 0.4, 0.25))
    assert by_round.value == each.value


# ---- what is refused ----


@dataclass(frozen=True)
class AsksElsewhere:
    """Uses gradients linearly, but asks for them where a nonlinear function of the model leads."""

    def __call__(self, work, w, gradient, gradient_at):
        return gradient_at(w + 1e-3 * gradient / (1 + gradient.norm(dim=-1, keepdim=True)))


SINGLE = {"local_steps": 1}
BAD = [  # the assumptions, the setting and the question, and what the message must name
    ({"smoothness": float("nan")}, {}, {}, "smoothness", "got nan"),
    ({"strong_convexity": 2.0}, {}, {}, "strong_convexity", "1.7; got 2"),
    ({"initial_distance": 2.0}, {}, {}, "'initial_distance'", "'initial_distance_sq'"),
    ({"dissimilarity_factor": 2.0}, {}, {}, "dissimilarity_factor", "dissimilarity_offset"),
    ({"strong_convexity": None}, {}, {}, "minimiser", "strong_convexity"),
    ({"initial_distance_sq": None, "optimum_dissimilarity": None}, {}, {}, "infinite"),
    ({}, {"sampling": "bernoulli"}, {}, "all clients"),
    ({}, {"client_weight": "samples"}, {}, "equal weights"),
    ({}, {"optimizer": "adamw"}, {}, "'adamw'"),
    ({}, {"clip": 1.0}, {}, "clip 1.0"),
    ({}, {"local_steps": None, "local_epochs": 2}, {}, "local_epochs"),
    ({}, {"weight_decay": 0.1}, {}, "weight decay"),
    ({}, {}, {"metric": "accuracy"}, "'accuracy'"),
    ({}, {"step_size": 0.1}, {"steps": (1.5, 1)}, "integers"),
    ({}, {"step_size": 0.1}, {"steps": (3, 1, 1)}, "2 rounds; got 3"),
    ({}, {}, {"step_sizes": (0.1, 0.2, 0.3)}, "4 local steps", "2 rounds; got 3"),
    ({}, {"step_offset": 3.0}, {"step_sizes": (0.1, 0.2)}, "step_offset"),
    *(({}, {}, {"algorithm": algorithm(name)}, name.partition("(")[0])
      for name in ("fedadam()", "fedexp()", "fedsam(rho=0.05)")),
    ({}, {}, {"algorithm": renamed(algorithm("fedavg()"), "elsewhere", direction=AsksElsewhere())}, "elsewhere"),
    # where clients are drawn
    ({}, SINGLE, {"clients": 1}, "clients", "cohort 2; got 1"),
    ({}, SINGLE | {"rounds": 3}, {"clients": 9}, "9 clients with 37", "180"),
    ({}, SINGLE | {"cohort": 10**5}, {"clients": 10**6}, "1000000 clients", "180"),
    ({}, SINGLE | {"rounds": 5}, {"clients": 3}, "3 clients with 121", "180"),
    ({"divergence": 0.3}, SINGLE, {"clients": 3}, "divergence"),
    ({}, SINGLE | {"sampling": "with_replacement"}, {"clients": 3}, "all clients"),
    ({}, SINGLE | {"rounds": 1, "cohort": 1}, {"clients": 60}, "1 gradients per client"),
    ({}, SINGLE, {"clients": 3, "patience": 1e-9}, "patience"),
    ({}, SINGLE, {"clients": 3, "metric": "local_drift"}, "metric", "distance_sq, optimality_gap"),
]  # fmt: skip


def test_what_is_refused_is_said_in_one_line():
    for wrong, setting, more, *named in BAD:
        given = {word: number for word, number in {**STRONG, **wrong}.items() if number is not None}
        asked = {"algorithm": "fedavg()", "metric": "distance_sq", **more}
        with pytest.raises(BoundsError) as error:
            worst_case(asked.pop("algorithm"), replace(plan(), **setting), given, **asked)
        assert "\n" not in str(error.value)
        assert [name for name in named if name not in str(error.value)] == [], error.value


def test_contradictory_assumptions_are_said():
    # No assumption of the vocabulary contradicts another one by itself; a planted start outside its own limit does.
    program = program_of(WorstCaseProblem(algorithm("fedavg()"), plan(), STRONG, "distance_sq"))
    row = next(c.row for c in program.constraints if c.kind == "initial_distance_sq")
    impossible = replace(program, constraints=(*program.constraints, programs.Constraint("planted", -row, -5.0)))
    with pytest.raises(WorstCaseError, match="no federation"):
        optimum(impossible)


# ---- where clients are drawn ----

SIZE = 0.19


def drawing(cohort, rounds=2, steps=1, size=SIZE, **more):
    return Setting(rounds=rounds, cohort=cohort, local_steps=steps, step_size=size, **more)


RENAMED = {
    "fedavg": ("fedavg()", 2, 1, 2, "distance_sq", STRONG),
    "fedprox": ("fedprox(mu=0.3)", 3, 2, 1, "distance_sq", STRONG | {"strong_convexity": 0.0}),
    "scaffold": ("scaffold()", 2, 1, 2, "distance_sq", STRONG),
    "fedinit": ("fedinit(beta=0.2)", 2, 1, 2, "distance_sq", STRONG),
    "smooth": ("fedavg()", 2, 1, 1, "grad_norm_sq", SMOOTH),
    "fedavgm": ("fedavgm(momentum=0.3)", 2, 1, 1, "optimality_gap", STRONG | {"heterogeneity": 0.4}),
}


@cases("case", RENAMED.values())
def test_renaming_the_clients_loses_nothing(case):
    method, clients, cohort, steps, metric, given = case
    small = worst_case(method, drawing(cohort, steps=steps), given, metric, clients=clients)
    whole = worst_case(method, drawing(cohort, steps=steps), given, metric, clients=clients, symmetric=False)
    assert small.value == near(whole.value)
    assert small.program.blocks == whole.program.blocks  # what is found is lifted to the whole program
    assert small.solution.doubt < 1e-4 * small.value
    x, rows = small.solution.x, np.array([c.row for c in small.program.constraints])
    assert (rows @ x - [c.limit for c in small.program.constraints]).max() < 1e-5


def test_a_renaming_that_is_none_is_seen():
    """Planted: the gradients of one client are taken for one another."""
    question = WorstCaseProblem(algorithm("fedavg()"), drawing(1), STRONG, "distance_sq", clients=2)
    formulation, whole = formulate(question)
    numbers = formulation.run.numbers
    first, second = (key for key in numbers if key[0] in (((0,),), ((1,),)) and key[2] == 1)
    numbers[first], numbers[second] = numbers[second], numbers[first]
    with pytest.raises(BoundsError, match="not identical"):
        orbits.reduced(formulation, whole, np.ones(whole.blocks[0], bool), np.ones(whole.value_count, bool))


def test_with_all_clients_in_the_cohort_it_is_the_worst_case_of_all(monkeypatch):
    usual = worst_case("fedavg()", drawing(2, steps=2), STRONG, "optimality_gap")
    assert worst_case("fedavg()", drawing(2, steps=2), STRONG, "optimality_gap", clients=2).value == usual.value
    many = worst_case("fedavg()", drawing(40, steps=2), STRONG, "optimality_gap", clients=40)
    assert many.value == near(usual.value)
    monkeypatch.setattr(WorstCaseProblem, "draws_cohort", property(lambda self: self.clients is not None))
    tree = worst_case("fedavg()", drawing(2, steps=2), STRONG, "optimality_gap", clients=2)
    assert tree.value == near(usual.value)
    assert len(tree.problem.run.histories) == 3


def test_one_round_of_gradients_in_closed_form():
    """From the minimiser itself: the mean of a cohort's gradients there, whose mean over all clients is 0."""
    for clients, cohort in ((2, 1), (3, 2), (5, 2)):
        given = STRONG | {"initial_distance_sq": 0.0}
        found = worst_case("fedavg()", drawing(cohort, rounds=1), given, "distance_sq", clients=clients)
        assert found.value == near(SIZE**2 * 0.7 * (clients - cohort) / (cohort * (clients - 1)), 5e-5)


def test_the_federation_that_attains_it_is_run_with_every_cohort():
    for method in ("fedavg()", "scaffold()"):
        found = worst_case(method, drawing(1, steps=2), STRONG, "distance_sq", clients=2)
        said = replay(attaining_instance(found))
        assert said.agrees, (said.error, said.broken)


def test_the_least_over_rounds_is_of_means():
    """Over the models that rounds begin with; at the first the gap is at most L/2 of the squared distance."""
    least, mean = (
        worst_case("fedavg()", drawing(1), STRONG, "optimality_gap", Statistic(kind, "rounds"), clients=2).value
        for kind in ("min", "mean")
    )
    assert least < mean < L / 2 * 2.3


def test_a_small_step_is_as_sure_as_a_large_one():
    found = worst_case("fedavg()", drawing(1, steps=2, size=2e-4), STRONG, "distance_sq", clients=2)
    assert found.solution.doubt < 1e-5 * found.value
    assert found.value == near(2.3 * (1 - 2e-4 * MU) ** 8 + 2 * (2 * 2e-4) ** 2 * 0.7, 1e-6)
    tree = record_tree(algorithm("fedavg()"), drawing(2, 2, 3), 3)
    assert tree.gradients == (1 + 3) * 3
    assert len(tree.histories) == 1 + 3 + 9
    assert [len(models) for models in tree.models_by_round] == [1, 3, 9]


def test_trees_with_more_models_than_gradients_are_solved_and_what_takes_too_long_says_so():
    found = worst_case("fedavg()", drawing(1), STRONG, "grad_norm_sq", clients=4)
    assert found.solution.doubt < 1e-4 * found.value
    assert found.value > worst_case("fedavg()", drawing(4), STRONG, "grad_norm_sq").value
    late = replace(worst_case("fedavg()", drawing(2), STRONG, "grad_norm_sq").program, deadline=0.0)
    with pytest.raises(programs.TooLongError, match="patience"):
        optimum(late)
