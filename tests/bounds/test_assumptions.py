"""Every assumption's predicate on stand-ins: True, False, None where nothing is known, before and after pickling."""

import pickle
from itertools import product
from types import SimpleNamespace as Facts

import numpy as np
from loops import cases

from bounds import vocabulary
from bounds.assumptions import ASSUMPTIONS, follows, IMPLIES
from bounds.catalog import BOUNDS
from bounds.core import Bound, Condition
from bounds.papers import Source
from empirics.algorithms import algorithm
from empirics.problems.quadratics import random_quadratics

PROBLEM, ALGORITHM, SETTING = 0, 1, 2
INF = float("inf")
FEDAVG = algorithm("fedavg()")

# assumption: whose attributes it reads, attributes where it is met, attributes where it is not
CASES = {
    "smooth": (PROBLEM, {"smoothness": 2.7}, {"smoothness": INF}),
    "samples_smooth": (PROBLEM, {"sample_smoothness": 5.9}, {"sample_smoothness": INF}),
    "replaced_smooth": (PROBLEM, {"sample_smoothness": 4.3}, {"sample_smoothness": INF}),
    "strongly_convex": (PROBLEM, {"strong_convexity": 0.6}, {"strong_convexity": 0.0}),
    "convex": (PROBLEM, {"convex": True}, {"convex": False}),
    "polyak_lojasiewicz": (PROBLEM, {"pl_constant": 0.3}, {"pl_constant": 0.0}),
    "lipschitz": (PROBLEM, {"lipschitz": 1.9}, {"lipschitz": INF}),
    "bounded_variance": (PROBLEM, {"gradient_variance": 0.83}, {"gradient_variance": INF}),
    "samples_noise": (PROBLEM, {"gradient_variance": 0.47}, {"gradient_variance": INF}),
    "bounded_gradient": (PROBLEM, {"grad_cap_sq": 5.3}, {"grad_cap_sq": INF}),
    "dissimilarity": (PROBLEM, {"dissimilarity_offset": 0.4}, {"dissimilarity_offset": INF}),
    "uniform_dissimilarity": (PROBLEM, {"uniform_dissimilarity": 0.7}, {"uniform_dissimilarity": INF}),
    "exact_gradients": (PROBLEM, {"gradient_variance": 0.0}, {"gradient_variance": 0.2}),
    "independent_noise": (PROBLEM, {"independent_noise": True}, {"independent_noise": False}),
    "gradient_moments": (PROBLEM, {"gradient_variance": 0.61}, {"gradient_variance": INF}),
    "globally_strongly_convex": (PROBLEM, {"strong_convexity": 0.4}, {"strong_convexity": 0.0}),
    "identical_clients": (PROBLEM, {"identical_clients": True}, {"identical_clients": False}),
    "lower_bounded": (PROBLEM, {"lower_bound": -3.7}, {"lower_bound": -INF}),
    "nonnegative_loss": (PROBLEM, {"nonnegative_loss": True}, {"nonnegative_loss": False}),
    "bounded_loss": (PROBLEM, {"loss_cap": 2.3}, {"loss_cap": INF}),
    "independent_samples": (PROBLEM, {"independent_samples": True}, {"independent_samples": False}),
    "equal_sizes": (PROBLEM, {"client_sizes": (12, 12, 12)}, {"client_sizes": (12, 13, 12)}),
    "exact_local_solver": (ALGORITHM, {"exact_local_solver": True}, {"exact_local_solver": False}),
    "local_sgd": (ALGORITHM, {"local_sgd": True}, {"local_sgd": False}),
    "relaxed_start": (ALGORITHM, {"relaxed_start": True}, {"relaxed_start": False}),
    "shared_generated_data": (ALGORITHM, {"shared_generated_data": True}, {"shared_generated_data": False}),
    "full_participation": (SETTING, {"cohort": 7, "clients": 7}, {"cohort": 6, "clients": 7}),
    "one_client": (SETTING, {"clients": 1}, {"clients": 3}),
    "one_participant": (SETTING, {"cohort": 1}, {"cohort": 2}),
    "one_local_step": (SETTING, {"local_steps": (1, 1, 1)}, {"local_steps": (1, 2, 1)}),
    "sampled_with_replacement": (SETTING, {"sampling": "with_replacement"}, {"sampling": "without_replacement"}),
    "sampled_without_replacement": (SETTING, {"sampling": "without_replacement"}, {"sampling": "with_replacement"}),
    "fresh_samples": (SETTING, {"fresh_samples": True}, {"fresh_samples": False}),
    "steps_never_increase": (SETTING, {"local_steps": (9, 5, 5, 2)}, {"local_steps": (9, 5, 6, 2)}),
    "fixed_step_size": (SETTING, {"step_sizes": (0.03, 0.03, 0.03)}, {"step_sizes": (0.03, 0.03, 0.02)}),
    "harmonic_step_size": (
        SETTING,
        {"iteration_step_sizes": (2 / 7.3, 2 / 8.3, 2 / 9.3)},
        {"iteration_step_sizes": (2 / 7.3, 2 / 8.3, 2 / 9.4)},
    ),
    "fixed_local_steps": (SETTING, {"local_steps": (5, 5, 5)}, {"local_steps": (5, 5, 4)}),
}

every_assumption = cases("name", ASSUMPTIONS)


def facts(owner, attributes):
    """Problem, algorithm and setting, of which one has ``attributes`` and the others nothing."""
    return [Facts(**attributes) if i == owner else Facts() for i in (PROBLEM, ALGORITHM, SETTING)]


def test_every_assumption_has_a_case():
    assert list(ASSUMPTIONS) == [a.name for a in ASSUMPTIONS.values()]
    assert set(CASES) == set(ASSUMPTIONS)


@every_assumption
def test_a_predicate_answers_yes_no_and_cannot_tell_from_its_owner_alone_also_after_pickling(name):
    owner, met, broken = CASES[name]
    again = pickle.loads(pickle.dumps(ASSUMPTIONS[name]))
    for assumption in (ASSUMPTIONS[name], again):
        assert assumption.holds(*facts(owner, met)) is True
        assert assumption.holds(*facts(owner, broken)) is False
        assert assumption.holds(*facts(owner, {})) is None
        assert assumption.holds(*facts(owner, dict.fromkeys(met))) is None
    for other in {PROBLEM, ALGORITHM, SETTING} - {owner}:
        assert ASSUMPTIONS[name].holds(*facts(other, met)) is None
    assert (again, hash(again), str(again)) == (ASSUMPTIONS[name], hash(ASSUMPTIONS[name]), ASSUMPTIONS[name].words)


def test_a_bound_on_single_samples_takes_their_smoothness_and_others_that_of_the_clients():
    assert {b.word_of("strong_convexity") for b in BOUNDS.values()} == {"strong_convexity"}
    takes = {
        name: b.word_of("smoothness")
        for name, b in BOUNDS.items()
        if "smoothness" in {q.name for q in b.all_quantities}
    }
    of_samples = {name for name, word in takes.items() if word == "sample_smoothness"}
    assert {name for name in takes if name.startswith("fedals.")} <= of_samples
    assert not {name for name in of_samples if name.startswith(("decaying_k.", "fedcog."))}
    stability = {name for name in takes if name.startswith("fedinit.")} & of_samples
    assert stability == {
        f"fedinit.{name}"
        for name in ("divergence_weight", "lemma_6", "stability_step", "stability_step_clients", "stability_separation",
                     "stability_before_t_0", "t_0", "theorem_3", "theorem_3_printed", "theorem_3_order", "theorem_6")
    }  # fmt: skip
    takes = {n: b.word_of("client_gradient_variance") for n, b in BOUNDS.items()}
    assert {n for n, word in takes.items() if word == "sample_gradient_variance"} == {
        f"fedals.{name}_sharp"
        for name in ("one_round_noise", "one_round_constants", "rounds_noise", "participation_case1_noise")
    }


def test_a_bound_of_ones_own_says_so_by_its_assumption():
    x, L = vocabulary.grad_norm_sq, vocabulary.smoothness
    own = Bound("own.one", x, {"a": 3 * L}, Source("own", "1"), (Condition.assume(ASSUMPTIONS["samples_smooth"]),))
    plain = Bound("own.two", x, {"a": 3 * L}, Source("own", "2"), (Condition.assume(ASSUMPTIONS["smooth"]),))
    assert (own.word_of("smoothness"), plain.word_of("smoothness")) == ("sample_smoothness", "smoothness")


def test_numbers_over_the_rounds_are_read_as_one_number_a_tuple_or_an_array():
    for kind in (int, float, np.int64, np.float64):
        setting = Facts(local_steps=kind(5), step_sizes=kind(3))
        for name in ("steps_never_increase", "fixed_local_steps", "fixed_step_size"):
            assert ASSUMPTIONS[name].holds(None, None, setting) is True
    falling, fixed = Facts(local_steps=np.array([9, 5, 2])), Facts(local_steps=np.array([5, 5, 5]))
    holds = [
        [bool(ASSUMPTIONS[n].holds(None, None, s)) for s in (falling, fixed)]
        for n in ("steps_never_increase", "fixed_local_steps")
    ]
    assert holds == [[True, True], [False, True]]


def test_a_constant_that_is_not_a_number_meets_no_assumption():
    for name in ("smooth", "strongly_convex", "lower_bounded"):
        (attribute,) = CASES[name][1]
        assert ASSUMPTIONS[name].holds(*facts(PROBLEM, {attribute: float("nan")})) is False


def situations():
    """Federations of quadratics with all plans that tell the assumptions on plans apart."""
    for seed, (clients, noise, alike) in enumerate(product((1, 4), (0.0, 0.3), (True, False))):
        problem = random_quadratics(seed, clients, 3, noise=noise, same_curvature=alike)
        plans = product((1, clients), ("with_replacement", "without_replacement"), (1, 3, (4, 2, 2), (2, 3, 2)))
        for cohort, sampling, steps in plans:
            yield problem, FEDAVG, Facts(clients=clients, cohort=cohort, sampling=sampling, local_steps=steps)


def test_what_an_assumption_implies_holds_wherever_it_does_and_a_wrong_implication_is_seen():
    everywhere = list(situations())

    def answers(name, other):
        return {(ASSUMPTIONS[name].holds(*facts), ASSUMPTIONS[other].holds(*facts)) for facts in everywhere}

    for name, more in IMPLIES.items():
        for other in more:
            found = answers(name, other)
            assert (True, True) in found, (name, other)
            assert all(implied for assumed, implied in found if assumed), (name, other)
    assert (True, False) in answers("fixed_local_steps", "one_local_step")
    assert "polyak_lojasiewicz" in follows("strongly_convex")
    assert "strongly_convex" not in follows("convex")
