"""A rate after a number of rounds: proved in fractions, never below an exact worst case or exact moments."""

import copy
import json
from fractions import Fraction

import pytest

import fedbounds
from bounds.errors import BoundsError
from empirics.algorithms import algorithm
from empirics.training.setting import Setting
from paper_checks.rates.rounds import after, Begun, quadratics
from paper_checks.rates.search import above, Case, certified, Statement
from paper_checks.worst_cases import worst_case
from paper_checks.worst_cases.certificates import verify

L, MU, SIZE = 1.4, 0.3, 0.17
BEGUN = Begun(3, 2.1, 0.6, 0.45)
CASES = {
    "quiet": Case(algorithm("fedprox(mu=0.2)"), 2, SIZE, L, MU),
    "noisy": Case(algorithm("scaffold()"), 2, SIZE, L, MU, clients=4, noisy=True),
    "drawn": Case(algorithm("fedavg()"), 1, SIZE, L, MU, clients=3, cohort=2),
}


@pytest.fixture(scope="module")
def found():
    quiet = Begun(BEGUN.rounds, BEGUN.distance, BEGUN.dissimilarity)
    return {name: after(certified(c), BEGUN if c.noisy else quiet) for name, c in CASES.items()}


def test_the_bound_is_above_the_exact_worst_case_and_what_quadratics_reach(found):
    for name, said in found.items():
        assert said.proved
        assert said.instance < said.bound
        assert said.worst_case < said.bound < 1.2 * said.worst_case, name
    noisy = found["noisy"]
    quiet = quadratics(CASES["noisy"], Begun(BEGUN.rounds, BEGUN.distance, BEGUN.dissimilarity))
    assert noisy.worst_case < noisy.instance  # the noise of these quadratics already exceeds a worst case without any
    assert quiet < noisy.worst_case


def test_what_stands_beside_is_the_worst_case_of_the_same_question(found):
    given = {"smoothness": L, "strong_convexity": MU, "initial_distance_sq": 2.1, "optimum_dissimilarity": 0.6}
    plan = Setting(rounds=3, cohort=2, local_steps=1, step_size=SIZE)
    assert found["drawn"].worst_case == worst_case("fedavg()", plan, given, "distance_sq", clients=3).value
    everyone = worst_case("fedavg()", plan, given, "distance_sq").value
    assert everyone < 0.995 * found["drawn"].worst_case


def test_the_file_says_the_number_and_a_smaller_one_is_refused(found):
    for said in found.values():
        proof = json.loads(json.dumps(said.statement.proof))
        verify.check(proof)
        assert f"at most {said.bound:.6g} after 3 rounds" in verify.said(proof)
        for word, changed in (("bound", "9999/10000"), ("initial_distance_sq", "11/10"), ("optimum_dissimilarity", 2)):
            other = copy.deepcopy(proof)
            other["after"][word] = str(Fraction(other["after"][word]) * Fraction(changed))
            other["statement"] = verify.said(other)
            with pytest.raises(verify.Refused, match="after these rounds more is left"):
                verify.check(other)
        other = copy.deepcopy(proof)
        other["after"]["rounds"] = 2
        with pytest.raises(verify.Refused):
            verify.check(other | {"statement": verify.said(other)})


def test_noise_that_is_not_spoken_of_is_refused(found):
    other = copy.deepcopy(found["quiet"].statement.proof)
    other["after"] |= {"gradient_variance": "1/50", "bound": "40"}
    with pytest.raises(verify.Refused, match="nothing is proved of noise"):
        verify.check(other | {"statement": verify.said(other)})


def test_rounds_by_hand():
    claim = dict(contraction="3/4", start_distance="2", start_dissimilarity="1/5", floor="3/10", noise_floor="7/10")
    begun = dict(rounds=3, initial_distance_sq="5/3", optimum_dissimilarity="1/2", gradient_variance="1/4")
    state, kept = Fraction(2) * Fraction(5, 3) + Fraction(1, 10), Fraction(3, 4)
    for _ in range(3):
        state = kept * state + (1 - kept) * (Fraction(3, 20) + Fraction(7, 40))
    assert verify.remaining(claim, begun) == state
    assert verify.remaining(claim, begun | {"rounds": 10**7}) >= Fraction(3, 20) + Fraction(7, 40)


def test_statements_in_floats_say_a_number_too(monkeypatch):
    """Nothing is proved of a method without a listing; the number is said, not as proved."""
    case = Case(algorithm("relaxed(scaffold(), beta=0.05)"), 2, SIZE, L, MU)
    rate = certified(case)
    told = after(rate, Begun(4, 2.1, 0.6))
    assert isinstance(told.statement, Statement)
    assert not told.proved
    assert told.worst_case < told.bound


def test_a_bound_that_forgets_the_floor_would_be_seen(found):
    """Planted: what is left of the start alone is below what quadratics reach."""
    said = found["drawn"].statement
    later = Begun(40, BEGUN.distance, BEGUN.dissimilarity)
    alone = said.contraction**40 * said.start_distance * BEGUN.distance
    assert alone < quadratics(CASES["drawn"], later) < alone + said.floor * BEGUN.dissimilarity


def test_a_single_client_has_nothing_that_is_drawn_or_unlike():
    case = Case(algorithm("fedavg()"), 2, SIZE, L, MU, clients=1, noisy=True)
    alone = quadratics(case, Begun(2, 2.1, 0.0, 0.45))
    rate, steps = 1 - SIZE * MU, range(4)  # a line of curvature mu is the slowest
    assert alone == pytest.approx(rate**8 * 2.1 + SIZE**2 * 0.45 * sum(rate ** (2 * j) for j in steps), rel=1e-9)


def test_what_rounds_need_is_asked_for():
    words = dict(local_steps=2, step_size=SIZE, smoothness=L, strong_convexity=MU, rounds=3)
    lines = list(fedbounds.rate("fedavg()", **words, initial_distance_sq=1.2).lines())
    assert "after 3 rounds: give optimum_dissimilarity=... too" in lines
    with pytest.raises(BoundsError, match="cohort=2 needs clients"):
        fedbounds.rate("fedavg()", **words, cohort=2)


def test_after_no_round_nothing_has_changed(found):
    said = after(certified(CASES["quiet"]), Begun(0, 2.1, 0.6))
    assert said.instance == 2.1
    assert 2.1 <= said.bound < 2.2


def test_tiny_numbers_are_shown_as_more_than_nothing():
    assert above(Fraction(1, 10**400)) > 0
