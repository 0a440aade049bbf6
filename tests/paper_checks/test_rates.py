"""Rates for every number of rounds, or after some: their numbers, worst cases and simulations below them, refusals."""

import json
import sys
from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np
import pytest

import fedbounds
from bounds.errors import BoundsError
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg, renamed
from empirics.exact import exact_run, play
from empirics.problems.quadratics import Quadratics
from empirics.training.setting import Setting
from paper_checks.worst_case import verify
from paper_checks.worst_case.after_rounds import bound_after, Horizon, smallest_bound, value_on_quadratics
from paper_checks.worst_case.exact import round_up
from paper_checks.worst_case.lyapunov import NotCertified, run_solver
from paper_checks.worst_case.one_round import one_round
from paper_checks.worst_case.program import WorstCaseError
from paper_checks.worst_case.rate_problem import RateProblem
from paper_checks.worst_case.rate_search import certify_rate, quadratic_contraction, RateBound, round_map
from paper_checks.worst_case.solve import worst_case
from paper_checks.worst_case.theorem_rates import theorem_rates

L, MU, SIZE = 1.4, 0.3, 0.17
KNOWN = {  # (method, K): smallest contraction, least floor, found by an independent prototype at eta = 1/(2K), mu = 0.1
    ("scaffold()", 2): (0.903688, None),
    ("fedavg()", 2): (0.903688, 0.0602),
    ("fedprox(mu=0.5)", 2): (0.909639, 0.0651),
    ("fedinit(beta=0.1)", 2): (0.903688, 0.0870),
    ("scaffold()", 5): (0.904383, None),
    ("fedavg()", 5): (0.904383, 0.0983),
    ("fedprox(mu=0.5)", 5): (0.913269, 0.0947),
    ("fedinit(beta=0.1)", 5): (0.904383, 0.1349),
}
DRAWN = {(2, 2, 1): 0.9037, (2, 10, 5): 0.9037, (2, 10, 1): 0.9425, (2, 1000, 10): 0.9904, (5, 10, 1): 0.9350}
"""SCAFFOLD's contractions by local steps, clients and cohort, of the same prototype."""


def test_the_prototype_and_the_proofs_say_the_same():
    for (method, steps), (contraction, floor) in KNOWN.items():
        found = certify_rate(RateProblem(algorithm(method), steps, 0.5 / steps, 1.0, 0.1))
        assert found.contraction == pytest.approx(contraction, abs=3e-6)
        assert (found.least and found.least.floor) == (floor and pytest.approx(floor, abs=1.5e-4))
        assert all(said.proof for said in found.bounds)
    for (steps, clients, cohort), contraction in DRAWN.items():
        found = certify_rate(RateProblem(algorithm("scaffold()"), steps, 0.5 / steps, 1.0, 0.1, clients, cohort))
        assert found.contraction == pytest.approx(contraction, abs=6e-5)
        assert found.fastest.proof is not None
        assert (found.fastest.floor, found.least) == (0, None)


def test_units_change_nothing_but_units():
    for more in ({}, {"clients": 5, "noisy": True}, {"clients": 4, "cohort": 2}):
        one, *others = (
            certify_rate(RateProblem(algorithm("fedavgm(momentum=0.3)"), 2, 0.2 / unit, unit, 0.13 * unit, **more))
            for unit in (1.0, 0.003, 3000.0)
        )
        for other, unit in zip(others, (0.003, 3000.0), strict=True):
            assert other.contraction == pytest.approx(one.contraction, rel=1e-7)
            for said, same in zip(other.bounds, one.bounds, strict=True):
                assert said.proof is not None
                assert said.start_distance == pytest.approx(same.start_distance, rel=1e-3)
                assert said.floor * unit**2 == pytest.approx(same.floor, rel=1e-3)
                assert said.noise_floor * unit**2 == pytest.approx(same.noise_floor, rel=1e-3)


def test_a_start_that_is_relaxed_by_nothing_is_fedavg():
    """Last models that nothing depends on are no reason for a slower rate: they fade like 1 - 1/300 a round."""
    for more in ({}, {"clients": 900, "cohort": 3}):
        words = dict(local_steps=2, step_size=0.2, smoothness=1.0, strong_convexity=0.2) | more
        [none], [plain] = (fedbounds.rate(m, **words).records() for m in ("fedinit(beta=0)", "fedavg()"))
        assert none["proved"]
        for word in ("contraction", "quadratics", "floor", "least_floor"):
            assert none[word] == (plain[word] and pytest.approx(plain[word], rel=1e-9))


def test_what_is_printed_is_no_smaller_than_what_is_proved():
    """Rates next to 1 have more digits than are usually shown: cut off, they would be smaller."""
    found = fedbounds.rate("fedavg()", local_steps=1, step_size=1e-6, smoothness=1.0, strong_convexity=0.001)
    [shown] = [float(line.partition("<= ")[2].partition("^T")[0]) for line in found.lines() if "<=" in line]
    assert shown == found.records()[0]["stated"]
    assert [round_up(x, 3) for x in (0.0123412, 2.0, 417.01, 0.0)] == [0.0124, 2.0, 418.0, 0.0]
    assert round_up(Fraction(1, 10**400)) > 0


def test_exact_worst_cases_are_just_below():
    given = {"smoothness": 1.3, "strong_convexity": 0.2, "initial_distance_sq": 0.7, "optimum_dissimilarity": 0.4}
    for method, most in (("scaffold()", 1.002), ("fedavg()", 1.002), ("fedinit(beta=0.1)", 1.06)):
        found = certify_rate(RateProblem(algorithm(method), 2, 0.3, 1.3, 0.2))
        for rounds in (1, 3):
            plan = Setting(rounds=rounds, cohort=2, local_steps=2, step_size=0.3)
            exact = worst_case(method, plan, given, "distance_sq").value
            assert 1 - 1e-5 < smallest_bound(found, Horizon(rounds, 0.7, 0.4))[0] / exact < most


def test_a_parameter_that_the_verifier_does_not_know_is_certified_in_floats_alone():
    found = certify_rate(RateProblem(algorithm("fedinit(beta=-0.1)"), 2, 0.1, 1.0, 0.1)).fastest
    assert (found.proof, "-1/10" in found.why) == (None, True)


# ---- federations that are followed exactly ----


def left_of(curvature, pull, steps, cohort, rounds, variance=0.0):
    """E w_T^2 of FedAvg on q_i/2 w^2 - b_i w from 1.5, with the minimiser 0 and noise of this variance per gradient."""
    noise = np.full((len(curvature), 1, 1), variance)
    problem = Quadratics(curvature[:, None, None], (pull / curvature)[:, None], noise, start=np.array([1.5]))
    plan = Setting(rounds=rounds, cohort=cohort, local_steps=steps, step_size=0.25)
    return exact_run(problem, algorithm("fedavg()"), plan).server["distance_sq"]


def test_cohorts_of_any_size_stay_below_and_a_smaller_floor_would_not():
    draws, largest = np.random.default_rng(8), 0.0
    said = certify_rate(RateProblem(algorithm("fedavg()"), 3, 0.25, 1.0, 0.2, clients=5, cohort=2))
    for _ in range(60):
        curvature = draws.choice([0.2, 0.21, 0.9, 1.0], 5)
        shift = draws.standard_normal(5)
        shift -= shift.mean()
        zeta = (shift**2).mean()
        exact, f = left_of(curvature, shift, 3, 2, 90), said.fastest
        for rounds in (1, 4, 90):
            assert exact[rounds] <= f.contraction**rounds * f.start_distance * 1.5**2 + f.floor * zeta
        largest = max(largest, exact[-1] / zeta)
    whole = certify_rate(RateProblem(algorithm("fedavg()"), 3, 0.25, 1.0, 0.2))
    assert whole.fastest.floor < largest < said.fastest.floor  # without the spread of cohorts it is exceeded


class Counting:
    """A server that goes as far as its cohort is large."""

    def __call__(self, work, ends):
        share = float((work.counts > 0).sum()) / work.total
        return work.state.model + share * (work.mean(ends) - work.state.model), {}


def test_a_round_that_counts_who_takes_part_has_a_rate_where_all_do():
    counting = renamed(fedavg, "counting()", combine=Counting())
    whole, plain = (certify_rate(RateProblem(method, 2, 0.2, 1.0, 0.2)) for method in (counting, fedavg))
    assert whole.contraction == pytest.approx(plain.contraction, rel=1e-9)
    with pytest.raises(BoundsError, match="how many take part"):
        certify_rate(RateProblem(counting, 2, 0.2, 1.0, 0.2, clients=5, cohort=2))


def test_noise_stays_below_and_half_of_its_floor_would_not():
    said = certify_rate(RateProblem(algorithm("fedavg()"), 3, 0.25, 1.0, 0.2, clients=4, noisy=True)).fastest
    flat = left_of(np.full(4, 0.2), np.zeros(4), 3, 4, 200, variance=0.6)[-1]
    assert said.noise_floor * 0.6 / 2 < flat <= said.noise_floor * 0.6


def test_the_map_on_two_quadratics_is_the_method():
    """One-dimensional clients played by the hooks, step by step, against the certificate of the same federation."""
    slopes = [lambda w, curvature=curvature: curvature * w for curvature in (0.3, 1.1)]
    for method in ("scaffold()", "fedavgm(momentum=0.3)", "fedinit(beta=0.2)"):
        round_ = one_round(algorithm(method), 3, 0.4)
        runs = play(method, slopes, 1.7, [(0, 1)] * 4, local_steps=3, step_size=0.4, number=float)
        step = round_map(round_, np.array([0.7]), np.array([-0.4]))[0]
        vector = np.concatenate([1.7 * round_.start, np.zeros(len(round_.deviations))])
        for played in runs:
            assert vector[0] == pytest.approx(played.model[0], rel=1e-9)
            vector = step @ vector
        assert quadratic_contraction(round_, 1.1, 0.3) >= np.abs(np.linalg.eigvals(step)).max() ** 2 * (1 - 1e-3)


# ---- what is refused, and the verb ----


class PanicException(BaseException):
    """As the solver's extension raises it."""


def test_a_solver_that_breaks_down_or_is_not_there_gives_no_number(monkeypatch):
    class Broken:
        def solve(self):
            raise PanicException("Eigval error")

    with pytest.raises(WorstCaseError, match="broke down"):
        run_solver(Broken())
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(WorstCaseError, match=r"fedbounds\[exact\]"):
        fedbounds.rate("fedavg()", local_steps=2, step_size=0.25, smoothness=1, strong_convexity=0.1)


def test_what_has_no_rate_is_refused_in_one_line():
    words = dict(local_steps=2, step_size=0.2, smoothness=1.4, strong_convexity=0.3)
    for method, more, named in (
        ("fedsam()", {}, "add and scale"), ("fedavgm(momentum=0.3, reading='code')", {}, "first round"),
        ("ditto()", {}, "personal"), ("fedavg()", dict(strong_convexity=2.0), "strong_convexity"),
        ("fedavg()", dict(local_steps=2.5), "local_steps"),
        ("fedavg()", dict(local_steps=70), "local_steps"), ("fedavg()", dict(cohort=3), "cohort=3 needs clients"),
        ("fedavg()", dict(clients=4, cohort=5), "cohort"), ("fedavg()", dict(gradient_variance=0.5), "clients"),
        ("fedavg()", dict(smothness=2), "smothness"), ("fedavg()", dict(step_size=9e-7), "step_size.* 1e-06"),
    ):  # fmt: skip
        with pytest.raises(BoundsError, match=named) as error:
            fedbounds.rate(method, **(words | more))
        assert "\n" not in str(error.value)
    for method in ("relaxed(scaffold(), beta=0.1)", *(f"fedinit(beta=0.2, reading='{x}')" for x in ("code", "proof"))):
        with pytest.raises(NotCertified, match="clients"):  # which keep something else
            certify_rate(RateProblem(algorithm(method), 2, 0.2, 1.0, 0.2, clients=5, cohort=2))
    with pytest.raises(BoundsError, match="origin"):
        one_round(renamed(fedavg, "pulled()", direction=Pull()), 2, 0.3)


class Pull:
    """Weight decay."""

    def __call__(self, work, w, gradient, gradient_at):
        return gradient + 0.3 * w


def test_a_step_that_is_too_large_has_no_rate_and_says_why(run):
    words = ["fedavg()", "local_steps=3", "step_size=1.9", "smoothness=1.2", "strong_convexity=0.3"]
    status, out, _ = run("rate", *words)
    assert (status, "does not contract" in out) == (1, True)
    with pytest.raises(NotCertified):
        certify_rate(RateProblem(algorithm("feddyn(alpha=0.3)"), 2, 0.25, 1.0, 0.1))
    with pytest.raises(NotCertified, match="grows by inf"):  # the models overflow
        certify_rate(RateProblem(algorithm("scaffold()"), 40, 1e6, 1e6, 1.0))


def test_the_command_prints_what_python_returns(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    words = dict(local_steps=3, step_size=0.2, smoothness=1.4, strong_convexity=0.3)
    more = dict(rounds=6, initial_distance_sq=2.3, optimum_dissimilarity=0.7)
    table = fedbounds.rate("fedavg()", **words, **more)
    status, out, _ = run(
        "rate", "fedavg()", *(f"{k}={v}" for k, v in (words | more).items()), "--json", "-o", "own.json"
    )
    assert (status, json.loads(out)) == (0, table.as_json())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["own-least.json", "own-rounds.json", "own.json"]
    row = table.records()[0]
    assert row["proved"]
    assert row["least_floor"] < row["floor"]
    assert row["contraction"] < row["stated"]
    assert row["bound"] < row["stated"] ** 6 * row["start_distance"] * 2.3 + row["floor"] * 0.7
    sweep = fedbounds.rate("fedavg()", **(words | dict(step_size=np.array([0.1, 0.3]))))
    assert [r["contraction"] for r in sweep.records()] == pytest.approx([(1 - 0.03) ** 6, (1 - 0.09) ** 6], abs=2e-6)
    text = str(fedbounds.rate(renamed(algorithm("fedprox()"), "mine()"), **words, rounds=3, initial_distance_sq=1.2))
    assert all(part in text for part in ("give optimum_dissimilarity=... too", "fedprox", "named mine()"))
    alone = fedbounds.rate("fedavg()", **(words | {"local_steps": 1}), rounds=3)  # heterogeneity has no effect
    assert "give initial_distance_sq=... too" in str(alone)


def test_a_file_that_is_read_or_is_somebody_elses_is_not_replaced(tmp_path, monkeypatch, refused):
    """Before anything is computed: neither the input nor another's file loses a byte, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    read, foreign = tmp_path / "dd-least.json", tmp_path / "own-rounds.json"
    read.write_text('{"smoothness": 1.4, "strong_convexity": 0.3}')
    foreign.write_text('{"theirs": 1}')
    there = {path: path.read_bytes() for path in (read, foreign)}
    monkeypatch.setattr("paper_checks.worst_case.rate._rates", None)
    rest = ["local_steps=2", "step_size=0.2"]
    assert read.name in refused("rate", "fedavg()", *rest, f"@{read.name}", "-o", "dd.json")
    assert foreign.name in refused(
        "rate", "fedavg()", *rest, "smoothness=1.4", "strong_convexity=0.3", "-o", "own.json"
    )
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == there


# ---- after a number of rounds ----

BEGUN = Horizon(3, 2.1, 0.6, 0.45)
QUIET = replace(BEGUN, variance=0.0)
CASES = {
    "quiet": RateProblem(algorithm("fedprox(mu=0.2)"), 2, SIZE, L, MU),
    "noisy": RateProblem(algorithm("scaffold()"), 2, SIZE, L, MU, clients=4, noisy=True),
    "drawn": RateProblem(algorithm("fedavg()"), 1, SIZE, L, MU, clients=3, cohort=2),
    "drawn scaffold": RateProblem(algorithm("scaffold()"), 2, 0.21, 1.3, 0.2, clients=3, cohort=1),
    "drawn fedinit": RateProblem(algorithm("fedinit(beta=0.15)"), 2, 0.21, 1.3, 0.2, clients=3, cohort=1),
}
BEGINNINGS = {"noisy": BEGUN, **dict.fromkeys(("drawn scaffold", "drawn fedinit"), replace(QUIET, rounds=2))}


@pytest.fixture(scope="module")
def found():
    return {name: bound_after(certify_rate(c), BEGINNINGS.get(name, QUIET)) for name, c in CASES.items()}


def test_the_bound_is_above_the_exact_worst_case_and_what_quadratics_reach(found):
    for name, said in found.items():
        assert said.proved
        assert said.instance < said.bound
        assert said.worst_case < said.bound < 1.4 * said.worst_case, name
        assert "drawn" not in name or said.instance <= said.worst_case * (1 + 1e-6)
    # The noise of these quadratics already exceeds a worst case without any.
    assert value_on_quadratics(CASES["noisy"], QUIET) < found["noisy"].worst_case < found["noisy"].instance
    given = {"smoothness": L, "strong_convexity": MU, "initial_distance_sq": 2.1, "optimum_dissimilarity": 0.6}
    plan = Setting(rounds=3, cohort=2, local_steps=1, step_size=SIZE)
    assert found["drawn"].worst_case == worst_case("fedavg()", plan, given, "distance_sq", clients=3).value
    assert worst_case("fedavg()", plan, given, "distance_sq").value < 0.995 * found["drawn"].worst_case
    begun = bound_after(certify_rate(CASES["quiet"]), Horizon(0, 2.1, 0.6))
    assert (begun.instance, 2.1 <= begun.bound < 2.2) == (2.1, True)
    late = bound_after(certify_rate(CASES["drawn scaffold"]), Horizon(30, 1.9, 0.8))
    assert (late.worst_case, 0 < late.instance < late.bound) == (None, True)


def test_the_file_says_the_number_and_a_smaller_one_is_refused(found):
    for said in found.values():
        proof = json.loads(json.dumps(said.rate_bound.proof))
        verify.check(proof)
        assert f"after {proof['after']['rounds']} rounds <= {said.bound:.6g}" in verify.describe(proof)
        smaller = str(Fraction(proof["after"]["bound"]) * Fraction(9999, 10000))
        with pytest.raises(verify.Refused):
            verify.check(proof | {"after": proof["after"] | {"bound": smaller}})


def test_rounds_by_hand():
    claim = dict(contraction="3/4", start_distance="2", start_dissimilarity="1/5", floor="3/10", noise_floor="7/10")
    begun = dict(rounds=3, initial_distance_sq="5/3", optimum_dissimilarity="1/2", gradient_variance="1/4")
    state, kept = Fraction(2) * Fraction(5, 3) + Fraction(1, 10), Fraction(3, 4)
    for _ in range(3):
        state = kept * state + (1 - kept) * (Fraction(3, 20) + Fraction(7, 40))
    assert verify.remaining(claim, begun) == state
    assert verify.remaining(claim, begun | {"rounds": 10**7}) >= Fraction(3, 20) + Fraction(7, 40)
    alone = value_on_quadratics(
        RateProblem(algorithm("fedavg()"), 2, SIZE, L, MU, clients=1, noisy=True), Horizon(2, 2.1, 0.0, 0.45)
    )
    rate = 1 - SIZE * MU  # a line of curvature mu is the slowest
    assert alone == pytest.approx(rate**8 * 2.1 + SIZE**2 * 0.45 * sum(rate ** (2 * j) for j in range(4)), rel=1e-9)


def test_statements_in_floats_say_a_number_too():
    """Nothing is proved of a method without a listing; the number is said, not as proved."""
    rate = certify_rate(RateProblem(algorithm("relaxed(scaffold(), beta=0.05)"), 2, SIZE, L, MU))
    told = bound_after(rate, Horizon(4, 2.1, 0.6))
    assert isinstance(told.rate_bound, RateBound)
    assert not told.proved
    assert told.worst_case < told.bound


# ---- cohorts of clients that keep something ----


def test_drawing_everybody_is_what_all_do():
    for method in ("scaffold()", "fedinit(beta=0.15)"):
        everyone, drawn, nearly = (
            certify_rate(RateProblem(algorithm(method), 2, 0.21, 1.3, 0.2, **more)).contraction
            for more in ({}, {"clients": 4, "cohort": 4}, {"clients": 5000, "cohort": 4999})
        )
        assert (drawn, nearly) == (pytest.approx(everyone, rel=1e-7), pytest.approx(everyone, rel=3e-4))


class Late:
    """Half of the correction."""

    def __call__(self, work, w, gradient, gradient_at):
        return gradient - 0.5 * work.recall("control") + 0.5 * work.state.server["control"]


def test_a_method_that_does_something_else_is_not_taken_for_its_listing():
    scaffold = algorithm("scaffold()")
    twice = (*scaffold.remember, *algorithm("fedinit()").remember)
    for other in ({"direction": Late()}, {"remember": twice}):
        with pytest.raises(WorstCaseError):
            certify_rate(RateProblem(renamed(scaffold, "scaffold()", **other), 2, 0.21, 1.3, 0.2, clients=3, cohort=1))


# ---- rates that theorems state ----


def stated(text, steps, share):
    """The rates stated at a step size of so many 1/L."""
    found = theorem_rates(RateProblem(algorithm(text), steps, share / 2.6, 2.6, 0.23))
    assert [told.contraction for told in found] == sorted(told.contraction for told in found)
    return {told.bound: told.contraction for told in found}


def test_a_theorems_rate_is_what_it_prints_where_its_conditions_hold():
    for text, bound, share, left in (
        ("fedavg()", "classics.local_sgd_theorem_1", 0.21, lambda eta: (1 - eta * 0.23) ** 3),
        ("scaffold()", "classics.scaffold_strongly_convex", 0.004, lambda eta: 1 - 3 * eta * 0.23 / 2),
    ):
        assert stated(text, 3, share)[bound] == pytest.approx(left(share / 2.6), rel=1e-12)
        assert bound not in stated(text, 3, 0.26)  # neither allows 1/(4L) and more
    # FedInit's is exp(-lambda mu eta K) with lambda below 1, and of any reading where all take part.
    found = stated("fedinit(beta=0.03)", 5, 0.002)
    assert {name.partition(".")[0] for name in found} == {"fedinit"}
    assert "fedinit.theorem_5" not in found  # about the divergence
    assert all(exp(-0.002 / 2.6 * 0.23 * 5) < contraction < 1 for contraction in found.values())
    assert not stated("fedinit(beta=0.03)", 5, 0.02)
    assert "classics.bottou_4_6" in stated("fedavg()", 1, 0.09)  # of one machine
    assert "classics.bottou_4_6" not in stated("fedavg()", 2, 0.09)


def test_no_theorem_is_faster_than_two_quadratics():
    for text, share in (("fedavg()", 0.23), ("scaffold()", 0.003), ("fedinit(beta=0.03)", 0.002)):
        slow = certify_rate(RateProblem(algorithm(text), 4, share / 2.6, 2.6, 0.23)).quadratics
        assert all(contraction > slow for contraction in stated(text, 4, share).values())
