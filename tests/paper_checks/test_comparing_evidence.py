"""Evidence beside the rows: it is of the row's class, no sound bound is below it, and a false one is caught."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fedbounds
from bounds import Bound, BOUNDS, Condition, Source
from bounds.anyway import trivial
from bounds.assumptions import CONVEX, EXACT_GRADIENTS, FULL_PARTICIPATION, LOCAL_SGD, SMOOTH
from bounds.classes import ClassOf
from bounds.core import About, Statistic
from bounds.errors import BoundsError
from bounds.places import SERVER, VIRTUAL
from bounds.scenario import Scenario
from bounds.vocabulary import (
    grad_norm_sq,
    gradient_variance,
    initial_distance_sq,
    initial_gap,
    iterations,
    local_steps,
    mean_gap,
    optimum_dissimilarity,
    rounds,
    server_step_size,
    smoothness,
    step_size,
    strong_convexity,
)
from empirics.algorithms import algorithm
from empirics.exact import ExactRun
from empirics.problems.tasks import task
from empirics.progress import Silent
from empirics.training.setting import Setting
from paper_checks.comparing import compare
from paper_checks.comparing.compare_rows import EXACT, MEASURED, RANKED, TWIN, WORST
from paper_checks.comparing.evidence import estimated
from paper_checks.comparing.exact_evidence import _instances, speaks_of
from paper_checks.comparing.price import price
from paper_checks.comparing.run_evidence import measured
from paper_checks.comparing.twin import twin
from paper_checks.worst_cases.tables import committed

ROOT = Path(__file__).resolve().parents[2]
SITES = f"@{ROOT / 'examples' / 'sites.json'}"
SMALL = {
    "clients": 5, "cohort": 3, "local_steps": 4, "rounds": 7, "step_size": 0.05, "smoothness": 2.3,
    "strong_convexity": 0.07, "initial_loss": 0.9, "optimal_loss": 0.3, "client_gradient_variance": [0.4] * 5,
    "heterogeneity": 0.11, "optimum_dissimilarity": 0.09, "grad_cap_sq": 9.5, "client_weight": [0.2] * 5,
}  # fmt: skip
SERVER_LEAST = ClassOf("grad_norm_sq", "min", "rounds", SERVER, "fedavg", "intended")


def own(name, expression, *conditions, kind="min", over="rounds", at=SERVER):
    return Bound(name=f"own.{name}", target=grad_norm_sq, terms={"a": expression}, about=About("fedavg"),
                 source=Source("notes", "1"), conditions=conditions, statistic=Statistic(kind, over, at))  # fmt: skip


def mean_gap_of(expression, *more):
    conditions = tuple(Condition.assume(a) for a in (LOCAL_SGD, CONVEX, SMOOTH, EXACT_GRADIENTS, *more))
    return Bound(name="own.after", target=mean_gap, terms={"a": expression}, about=About("fedavg"),
                 source=Source("notes", "1"), conditions=conditions,
                 statistic=Statistic("mean", "iterations", VIRTUAL))  # fmt: skip


def row_of(table, name, kind=SERVER_LEAST):
    return next(row for row in table.rows if row.bound == name and row.kind == kind)


# ---- exact ----


@pytest.mark.parametrize("more", [{}, {"cohort": 5, "step_size": 1e-3, "rounds": 60}])
def test_no_sound_bound_is_below_an_exact_number_of_its_class(more):
    s = Scenario.of(**{**SMALL, **more})
    looked = 0
    for target in ("grad_norm_sq", "optimality_gap"):
        table = compare(s, target, exact=True)
        for row in table.rows:
            if EXACT in row.evidence:
                assert row.evidence[EXACT].value <= row.high
                assert row.over(EXACT) == pytest.approx(row.high / row.evidence[EXACT].value)
                looked += 1
        assert not [row for row in table.exceeded if not row.printed]
    assert looked >= 3


def test_the_exact_number_is_that_of_an_instance_that_meets_the_premises():
    """Every instance has constants within those stated, and its number is that of the other engine."""
    s = Scenario.of(**SMALL)
    table = compare(s, "grad_norm_sq", exact=True)
    row = next(row for row in table.rows if EXACT in row.evidence)
    found = []
    for one in list(_instances(s))[::9]:
        p = one.problem
        assert 0.07 * (1 - 1e-12) <= p.strong_convexity <= p.smoothness <= 2.3 * (1 + 1e-12)
        assert float(p.loss(p.start)) - p.optimal_loss == pytest.approx(0.6)
        assert p.gradient_variance <= 0.4 + 1e-12
        assert p.heterogeneity <= 0.11 * (1 + 1e-9)
        assert p.optimum_dissimilarity <= 0.09 * (1 + 1e-9)
        run = ExactRun(p, algorithm("fedavg()"), Setting(7, 3, local_steps=4, step_size=0.05)).run()
        series = run.iterations("grad_norm_sq")
        value = {"min": series.min(), "mean": series[:-1].mean()}[row.kind.statistic]
        if speaks_of(row, BOUNDS[row.bound], one, s):
            found.append(value)
    assert found
    assert max(found) <= row.evidence[EXACT].value * (1 + 1e-9)


def test_theorems_on_one_machine_stand_beside_exact_runs_of_the_federation_that_is_one():
    """Lists over one client and over all of them do not meet; each row's mark leads to its own instance."""
    plan = {"cohort": 5, "local_steps": 1, "rounds": 70, "step_size": 0.02}
    s = Scenario.of({**SMALL, **plan, "client_gradient_variance": [0.4, 0.1, 0.3, 0.2, 0.6]})
    table = compare(s, "grad_norm_sq", exact=True, of="classics")
    rows = [row for row in table.rows if EXACT in row.evidence and "C15" in row.conversions]
    assert {"classics.bottou_4_6", "classics.bottou_4_8"} <= {row.bound for row in rows}
    assert all(row.over(EXACT) >= 1 for row in rows)
    noise = rows[0].values["gradient_variance"]
    assert noise == pytest.approx((0.4 + 0.1 + 0.3 + 0.2 + 0.6) / 25)
    one = next(one for one in _instances(s) if one.problem.gradient_variance)
    assert one.machine.problem.gradient_variance == pytest.approx(noise)
    lines = str(table).splitlines()
    told = [line for line in lines if line.startswith("x exact")]
    assert len(told) == len({row.evidence[EXACT].what for row in rows}) > 1
    assert not [line for line in told if "initial_distance_sq" in line]  # it is known to be at most something
    stated = str(compare(s.at(initial_distance_sq=5.0), "grad_norm_sq", exact=True, of=("classics", "fedinit")))
    assert "not matched: " in stated
    assert " for 5" in stated
    for row in rows:
        mark = next(line.split()[2][:-1] for line in told if line.endswith(row.evidence[EXACT].what))
        assert any(line.strip().startswith(row.bound) and f" {mark}  " in line for line in lines)


def test_an_instance_outside_of_the_premises_is_no_evidence():
    s = Scenario.of(**SMALL)
    row = next(r for r in compare(s, "grad_norm_sq").rows if r.bound == "decaying_k.theorem_1_repaired")
    bound = BOUNDS[row.bound]
    one = next(i for i in _instances(s) if speaks_of(row, bound, i, s) and i.problem.gradient_variance)
    for word, value in (("smoothness", 0.9 * one.problem.smoothness), ("grad_cap_sq", 0.9 * one.values["grad_cap_sq"]),
                        ("strong_convexity", 1.1 * one.problem.strong_convexity)):  # fmt: skip
        if word in row.values:
            assert not speaks_of(replace(row, values={**row.values, word: value}), bound, one, s)
    assert not speaks_of(replace(row, high=row.high / 50), bound, one, s)  # with the gap that it starts with
    assert {"smoothness", "grad_cap_sq"} <= row.values.keys()


def test_a_false_bound_is_exceeded_and_one_a_little_above_is_not():
    s = Scenario.of(**SMALL)
    large = own("large", 10 * smoothness * initial_gap)
    value = row_of(compare(s, "grad_norm_sq", [large], exact=True), "own.large").evidence[EXACT].value
    assert 0.01 < value < 2 * 2.3 * 0.6
    for factor, caught in ((1.001, False), (0.999, True)):
        one = own("near", factor * value / (2.3 * 0.6) * smoothness * initial_gap)
        table = compare(s, "grad_norm_sq", [one], exact=True)
        assert bool([row for row in table.exceeded if row.bound == "own.near"]) is caught
        assert ("EXCEEDED: own.near" in str(table)) is caught
        assert not (caught and "own.near" in {row.bound for row in table.best()}), "wrong in one class, wrong in all"


def test_a_mean_after_steps_of_1_over_L_is_set_beside_that_mean_alone():
    """Of alike parabolas it is at most L |x - x*|^2/(4 T), and 0 for the steepest; before the steps, twice that."""
    s = Scenario.of(clients=3, cohort=3, local_steps=2, rounds=6, step_size=1 / 2.3, smoothness=2.3,
                    initial_distance_sq=1.7, optimum_dissimilarity=0)  # fmt: skip
    one = mean_gap_of(smoothness * initial_distance_sq / (4 * iterations))
    table = compare(s, "optimality_gap", [one], exact=True)
    row = row_of(table, one.name, ClassOf.of(one))
    steepest = next(i for i in _instances(s) if np.ptp([*i.problem.curvatures.flat, 2.3]) == 0)
    gaps = steepest.run.iterations("optimality_gap")
    assert gaps[0] == pytest.approx(2.3 * 1.7 / 2)
    assert row.evidence[EXACT].value == pytest.approx(gaps[1:].mean(), abs=1e-12)
    assert gaps[:-1].mean() == pytest.approx(2 * row.high)
    assert not table.exceeded
    assert "mean over iterations, after their steps" in str(table)


def test_runs_in_which_some_take_part_have_no_reading_of_a_mean_after_the_steps():
    s = Scenario.of(clients=3, cohort=2, local_steps=2, rounds=6, step_size=0.3, smoothness=2.3, initial_gap=1.7)
    one = mean_gap_of(5 * initial_gap)
    assert not row_of(compare(s, "optimality_gap", [one], exact=True), one.name, ClassOf.of(one)).evidence
    assert row_of(compare(s.at(cohort=3), "optimality_gap", [one], exact=True), one.name, ClassOf.of(one)).evidence


def test_a_bound_that_is_the_mean_after_the_steps_is_not_exceeded_and_a_little_less_is():
    q = (1 - step_size * smoothness) ** 2
    mean = smoothness / 2 * initial_distance_sq * q * (1 - q**iterations) / (1 - q) / iterations
    s = Scenario.of(clients=3, cohort=3, local_steps=2, rounds=6, step_size=0.6 / 2.3, smoothness=2.3,
                    strong_convexity=2.3, initial_distance_sq=1.7, optimum_dissimilarity=0.4)  # fmt: skip
    for factor, caught in ((1, False), (0.999, True)):
        one = mean_gap_of(factor * mean)
        table = compare(s, "optimality_gap", [one], exact=True)
        assert row_of(table, one.name, ClassOf.of(one)).over(EXACT) == pytest.approx(factor, rel=1e-7)
        assert any(row.bound == one.name for row in table.exceeded) is caught


def test_a_worst_mean_of_gaps_is_measured_in_gaps():
    found = []
    for L, D in ((2.3, 0.7), (0.6, 1.9)):
        s = Scenario.of(clients=1, cohort=1, local_steps=1, rounds=2, step_size=0.4 / L, smoothness=L, initial_gap=D,
                        strong_convexity=L / 7)  # fmt: skip
        level = (5 + strong_convexity * step_size) * initial_gap * (1 + step_size * smoothness)
        one = mean_gap_of(level, FULL_PARTICIPATION)
        found.append(row_of(compare(s, "optimality_gap", [one], worst_case=60), one.name, ClassOf.of(one)))
    first, second = (row.evidence[WORST].value for row in found)
    assert first / second == pytest.approx(0.7 / 1.9, rel=1e-4)


def test_what_the_audit_refuted_may_be_exceeded_and_says_so():
    table = compare(Scenario.of(**SMALL), "grad_norm_sq", exact=True)
    row = next(row for row in table.rows if row.printed and EXACT in row.evidence)
    low = replace(table, rows=(replace(row, high=row.evidence[EXACT].value / 2),))
    assert low.exceeded
    assert "the audit has refuted it as printed" in str(low)
    assert not replace(low, rows=(replace(low.rows[0], conclusive=False),)).exceeded


def test_relaxed_starts_are_followed_too():
    s = Scenario.of(**{**SMALL, "cohort": 5, "step_size": 2e-4, "rounds": 3, "relaxation": 0.02})
    rows = [row for row in compare(s, "grad_norm_sq", exact=True).rows if row.state in RANKED]
    followed = [row for row in rows if EXACT in row.evidence]
    assert {row.bound for row in followed} == {row.bound for row in rows}  # the last model included, none is computed
    assert all(row.evidence[EXACT].value <= row.high for row in followed)


def test_out_of_reach_is_said():
    s = Scenario.of(**{**SMALL, "rounds": 10**9})
    assert "exact: none, 5 clients, 1000000000 rounds" in str(compare(s, "grad_norm_sq", exact=True))
    other = Scenario.of(**{**SMALL, "client_weight": [0.3, 0.175, 0.175, 0.175, 0.175]})
    assert "exact: none, the clients weigh differently" in str(compare(other, "grad_norm_sq", exact=True))


# ---- the federation itself ----


@pytest.fixture(scope="module")
def problem():
    return task("logistic(breast_cancer, regularisation=0.07)").deal("dirichlet(0.6)", 4, 3)


PLAN = {"cohort": 3, "local_steps": 2, "rounds": 5, "step_size": 0.04}


def test_the_twin_and_training_stand_beside_the_rows(problem):
    table = compare(Scenario.of(**PLAN), "grad_norm_sq", problem=problem, batch=7, measure=3)
    assert table.kinds == (TWIN, MEASURED)
    assert table.scenario["smoothness"].value == pytest.approx(problem.smoothness)
    quadratics = twin(problem)
    least = min(r.evidence[TWIN].value for r in table.rows if TWIN in r.evidence and r.kind.at == VIRTUAL)
    assert 0 < least < float((quadratics.gradient(quadratics.start) ** 2).sum())
    rows = [row for row in table.rows if MEASURED in row.evidence]
    assert {row.kind.statistic for row in rows if row.kind.at == VIRTUAL} == {"min"}
    assert all(row.evidence[MEASURED].above == (row.kind.at == VIRTUAL) for row in rows)
    assert [one.label for one in table.beside] == ["quadratic twin, exact", "measured, 3 seeds"]
    measured_line = table.beside[1]
    assert 0 < measured_line.least[0] <= measured_line.mean[0] < table.trivial[1]
    assert measured_line.gap[0] > 0
    found = json.loads(table.to_json())
    assert found["beside"][1]["last"] == list(measured_line.last)


def test_a_measured_excess_is_judged_by_its_error(problem):
    s = compare(Scenario.of(**PLAN), "grad_norm_sq", problem=problem, batch=7).scenario
    found = measured(s, "grad_norm_sq", problem, 7, 4, Silent())
    value, error = found.beside.least
    for factor, caught in ((value - 20 * error, True), (value - error / 4, False), (value + error, False)):
        one = own("level", factor / (problem.smoothness * float(s["initial_gap"].value)) * smoothness * initial_gap)
        table = compare(s, "grad_norm_sq", [one], problem=problem, batch=7, measure=4)
        assert bool([row for row in table.exceeded if row.bound == "own.level"]) is caught


def test_the_least_over_rounds_is_not_the_mean_of_the_seeds_own():
    values = np.array([[5.0, 1.2, 4.0, 9.0], [5.0, 3.8, 1.6, 9.0]])
    assert estimated(values, "min", "state") == pytest.approx((2.5, 1.3))
    assert estimated(values, "mean", "state")[0] == pytest.approx((10.2 + 10.4) / 6)
    assert estimated(values, "last", "state") == (9.0, 0.0)


def test_another_federation_and_one_seed_are_refused(problem):
    with pytest.raises(BoundsError, match="they are two federations"):
        compare(Scenario.of(**SMALL), "grad_norm_sq", problem=problem)
    with pytest.raises(BoundsError, match="at least 2 seeds"):
        compare(Scenario.of(**PLAN), "grad_norm_sq", problem=problem, measure=1)


# ---- worst cases ----


def test_a_committed_worst_case_is_found_in_the_scenarios_units():
    kept = next(r for r in committed("decaying_k.theorem_1_sharp") if r["rounds"] == r["local_steps"] == 2)
    L, D = 2.3, 0.6
    s = Scenario.of(clients=6, cohort=6, local_steps=2, rounds=2, step_size=kept["step_size"] / L, smoothness=L,
                    initial_loss=0.2 + D, optimal_loss=0.2, client_gradient_variance=[0.3] * 6,
                    grad_cap_sq=kept["grad_cap_sq"] * L * D,
                    client_weight=[1 / 6] * 6)  # fmt: skip
    table = compare(s, "grad_norm_sq", worst_case=0)
    row = next(r for r in table.rows if r.bound == "decaying_k.theorem_1_sharp" and not r.conversions)
    assert row.evidence[WORST].value == pytest.approx(kept["worst_case"] * L * D, rel=1e-6)
    assert row.evidence[WORST].above is not kept["exact"]
    away = compare(s.at(rounds=200), "grad_norm_sq", worst_case=0)
    assert "exact worst case: out of reach, 400 gradients a client" in str(away)
    unplanned = compare(Scenario.of(clients=6, cohort=6, smoothness=L, step_size=0.03), "grad_norm_sq", worst_case=0)
    assert "exact worst case: none, it needs rounds, local_steps" in str(unplanned)


def test_a_worst_case_is_over_clients_as_unlike_as_the_theorem_says():
    said = (5 + step_size * smoothness) * smoothness * initial_gap + optimum_dissimilarity
    premises = map(Condition.assume, (CONVEX, SMOOTH, EXACT_GRADIENTS, FULL_PARTICIPATION))
    one = own("unlike", said, *premises, kind="last")
    plan = {"clients": 2, "cohort": 2, "local_steps": 2, "rounds": 1, "step_size": 0.3, "smoothness": 2.3}

    def worst_case(**more):
        s = Scenario.of(initial_gap=0.6, strong_convexity=0.07, **plan, **more)
        return row_of(
            compare(s, "grad_norm_sq", [one], worst_case=60, of=one.name), one.name, ClassOf.of(one)
        ).evidence[WORST]

    alike, apart = (worst_case(optimum_dissimilarity=square) for square in (0.0, 0.5))
    assert alike.value < 0.99 * apart.value
    assert "2 of a kind" in apart.what
    assert "all alike" in worst_case(optimum_dissimilarity=0.5, client_weight=[0.9, 0.1]).what


def test_a_server_that_goes_further_than_to_the_average_is_another_run(problem):
    one = own("further", smoothness * initial_gap / (server_step_size * step_size * smoothness))
    s = Scenario.of(**{**SMALL, "cohort": 5, "local_steps": 1, "server_step_size": 1.7})
    table = compare(s, "grad_norm_sq", [one], exact=True, worst_case=0)
    assert {row.bound for row in table.rows if row.state in RANKED} == {one.name}
    assert "its server takes the average" in str(table)
    for kind in ("exact", "exact worst case"):
        assert f"{kind}: none, the server of such runs takes the average, and here goes 1.7 times as far" in str(table)
    with pytest.raises(BoundsError, match="goes 2 times as far"):
        compare(Scenario.of(**PLAN, server_step_size=2), "grad_norm_sq", problem=problem, measure=2)


# ---- price ----


def test_the_price_is_where_the_bound_begins_to_speak():
    """Least over step sizes of 2 D/(e K R) + L e s K is 2 sqrt(2 L s D/R): below g from R = 8 L s D/g^2 on."""
    one = own("sum", 2 * initial_gap / (step_size * local_steps * rounds)
              + smoothness * step_size * gradient_variance * local_steps,
              Condition("short steps", step_size * local_steps * smoothness <= 0.8))  # fmt: skip
    s = Scenario.of(**{**SMALL, "heterogeneity": 0.0, "optimum_dissimilarity": 0.0}, initial_grad_norm_sq=0.0123)
    found = price(one, s, "grad_norm_sq")
    assert found.rounds == pytest.approx(8 * 2.3 * 0.4 * 0.6 / 0.0123**2, rel=0.06)
    assert found.cohort == 3
    there = s.at(local_steps=found.local_steps, step_size=found.step_size, rounds=found.rounds)
    assert row_of(compare(there, "grad_norm_sq", [one]), "own.sum").state == "speaks"
    assert row_of(compare(there.at(rounds=found.rounds // 2), "grad_norm_sq", [one]), "own.sum").state != "speaks"


def test_a_theorem_for_all_clients_has_a_price_with_all():
    s = Scenario.of(SITES, cohort=10, local_steps=16, step_size=0.028, runtime=20)
    found = price(BOUNDS["fedcog.corollary"], s, "grad_norm_sq")
    assert found.cohort == 40
    assert math.isfinite(found.rounds)
    assert trivial("grad_norm_sq", s)[1] == pytest.approx(0.0874553, rel=1e-5)


# ---- looks, and the verb ----


def test_every_form_carries_the_columns():
    s = Scenario.of(**SMALL, initial_grad_norm_sq=0.53)
    table = compare(s, "grad_norm_sq", exact=True, of="decaying_k.theorem_1_sharp")
    row = table.rows[0]
    assert row.price is not None
    for text in (str(table), table.to_latex(), table._repr_html_()):
        assert "x exact" in text
        assert "price" in text
    assert table.to_latex().startswith(r"\begin{tabular}")
    found = json.loads(table.to_json())["rows"][0]
    assert found["over_exact"] == pytest.approx(row.over(EXACT))
    assert found["over_twin"] is None
    assert found["price"]["rounds"] == row.price.rounds
    assert found["evidence"]["exact"]["value"] == row.evidence[EXACT].value
    assert "speaks from R" in str(table)
    assert "met: " in str(table)
    assert {r.bound for r in table.rows} == {"decaying_k.theorem_1_sharp"}
    assert {"decaying_k.k_star_rounds", "decaying_k.k_star_rounds_printed"} <= {r.formula for r in table.recommended}
    pytest.importorskip("pandas")
    assert table.to_pandas()["over_exact"][0] == found["over_exact"]


def test_the_formulas_of_the_papers_stand_below_printed_and_derived():
    s = Scenario.of(SITES, cohort=10, local_steps=16, step_size=0.028, runtime=20)
    table = compare(s, "grad_norm_sq", of="decaying_k.lemma_2_repaired")
    told = {one.formula: one for one in table.recommended}
    assert told["decaying_k.k_star_printed"].printed
    assert not told["decaying_k.k_star"].printed
    assert told["decaying_k.k_star_printed"].value == pytest.approx(
        BOUNDS["decaying_k.k_star_printed"](**s.values(BOUNDS["decaying_k.k_star_printed"])), rel=1e-9
    )
    assert told["decaying_k.k_star"].low < told["decaying_k.k_star"].high


@pytest.fixture
def run(capsys):
    def typed(*words):
        status = fedbounds.main(["compare", "grad_norm_sq", *words])
        found = capsys.readouterr()
        return status, found.out, found.err

    return typed


WORDS = [f"{word}={value}" for word, value in SMALL.items() if not isinstance(value, list)]


@pytest.mark.parametrize(("factor", "status"), [(2.4, 0), (1e-4, 1)])
def test_the_verb_ends_with_one_where_a_bound_of_ones_own_is_false(run, tmp_path, factor, status):
    """The squared gradient at the start is at most 2 L D, whatever the run; a ten-thousandth of it is no bound."""
    file = tmp_path / "own.py"
    file.write_text(
        "from bounds import About, Bound, Source, Statistic\n"
        "from bounds.vocabulary import grad_norm_sq, initial_gap as D, smoothness as L\n"
        f"own = Bound(name='own.level', target=grad_norm_sq, terms={{'a': {factor} * L * D}},\n"
        "            source=Source('notes', '1'), about=About('fedavg'),\n"
        "            statistic=Statistic('min', 'rounds', 'server model'))\n"
    )
    found = run(*WORDS, "--exact", "--own", f"{file}:own")
    assert found[0] == status
    assert ("EXCEEDED: own.level says at most" in found[1]) == bool(status)


def test_the_verb_refuses_what_means_nothing(run):
    for words, said in (
        (["--measure", "5"], "without --problem nothing is trained"),
        (["--problem", "ridge(iris)", "--measure", "1"], "must be 2 seeds or more, for a standard error; got 1"),
        (["--of", "fedavg"], "unknown paper or bound 'fedavg'"),
        (["--worst-case", "-3"], "--worst-case: must be seconds"),
        (["--worst-case", "nan"], "--worst-case: must be seconds"),
    ):
        status, _, err = run(*WORDS, *words)
        assert status == 2
        assert said in err
