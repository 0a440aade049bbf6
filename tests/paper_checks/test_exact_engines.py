"""Every exact engine keeps the same promises, in floats and in rational numbers, and all of them say the same.

An engine is told a table of generic numbers: a problem, a method of two readings and more, a setting. Those in floats
are ``empirics.exact.ExactEngine``s; the rational player gets the same table as fractions and gives arrays of fractions.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from falsifier_tables import TABLE
from loops import cases

from empirics.algorithms import algorithm
from empirics.exact import exact_run
from paper_checks.falsifier.kinds import counts
from paper_checks.falsifier.runs import instance as tables
from paper_checks.falsifier.runs.moments import ALL as ALL_ROUNDS, LAST, MEAN, Moments
from paper_checks.falsifier.runs.plain import Table
from paper_checks.falsifier.runs.readings import MomentReadings
from paper_checks.falsifier.runs.twin import PlainRun


def method_of(table, reading):
    return algorithm(f"fedinit(beta={table['relaxation']!r}, reading={reading!r})")


def by_hooks(table, reading):
    return exact_run(tables.problem(table), method_of(table, reading), tables.setting(table))


def in_closed_form(table, reading):
    problem, sizes = tables.problem(table), np.array(counts(table), dtype=float)
    plan = (table["local_steps"], table["step_size"], table["rounds"])
    return MomentReadings(Moments(problem, sizes, tables.drawn(table, problem), *plan, table["relaxation"], reading))


def in_fractions(table, reading):
    exact = {name: value if isinstance(value, int) else Fraction(str(value)) for name, value in table.items()}
    told = Table(exact, Fraction)
    return PlainRun(told, told.beta, reading)


ENGINE = {
    "moments": by_hooks,
    "closed form": in_closed_form,
    "fractions": in_fractions,
}
TABLES = dict.fromkeys(ENGINE, TABLE)
READINGS = ("intended", "proof", "code")


@cases("engine reading", product(ENGINE, READINGS))
def test_readings_have_an_entry_per_model_round_and_step(engine, reading):
    table = TABLES[engine]
    run = ENGINE[engine](table, reading)
    assert {"grad_norm_sq", "optimality_gap", "divergence"} <= set(run.server)
    assert "local_drift" in run.rounds
    assert {name: len(values) for name, values in run.server.items()} == dict.fromkeys(run.server, table["rounds"] + 1)
    assert {name: len(values) for name, values in run.rounds.items()} == dict.fromkeys(run.rounds, table["rounds"])
    assert len(run.iterations("grad_norm_sq")) == table["rounds"] * table["local_steps"] + 1


@cases("engine", ENGINE)
def test_a_run_begins_at_the_problems_start_and_ends_where_its_iterations_do(engine):
    problem, run = tables.problem(TABLES[engine]), ENGINE[engine](TABLES[engine], "intended")
    away = problem.gradient(problem.start)
    assert float(run.server["grad_norm_sq"][0]) == pytest.approx(float(away @ away), rel=1e-12)
    gap = float(problem.loss(problem.start)) - problem.optimal_loss
    assert float(run.server["optimality_gap"][0]) == pytest.approx(gap, rel=1e-12)
    assert float(run.server["divergence"][0]) == 0
    along = run.iterations("grad_norm_sq")
    assert float(along[-1]) == pytest.approx(float(run.server["grad_norm_sq"][-1]), rel=1e-12)


@cases("engine reading", product(ENGINE, READINGS))
def test_all_engines_say_the_same_in_every_word_they_share(engine, reading):
    table = TABLES[engine]
    run = ENGINE[engine](table, reading)
    other = ENGINE["closed form" if engine == "moments" else "moments"](table, reading)
    shared = {"local_drift", "grad_cap_sq", "gradient_drift", "global_step", "active_divergence"}
    assert shared <= set(run.rounds) & set(other.rounds)
    for kind in ("server", "rounds"):
        one, two = getattr(run, kind), getattr(other, kind)
        for word in (set(one) & set(two)) - {"mean_update_sq"}:
            found, wanted = (np.asarray(x[word], dtype=float) for x in (one, two))
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-14, err_msg=word)
    for word in ("grad_norm_sq",) if engine == "fractions" else ("grad_norm_sq", "distance_sq"):
        along = (np.asarray(x.iterations(word), dtype=float) for x in (run, other))
        np.testing.assert_allclose(*along, rtol=1e-9, err_msg=word)


PLAYED = [*product(READINGS, (True,), (3, 4)), ("intended", False, 4), ("code", False, 3)]


@cases("reading turned rounds", PLAYED)
def test_a_round_that_is_reached_by_squaring_has_the_readings_of_one_that_is_played(reading, turned, rounds):
    """Three kinds, last models remembered; to the last digit of fractions where axes do not meet."""
    kind, near = (float, {"rel": 1e-10}) if turned else (Fraction, {"rel": 0, "abs": 0})
    exact = {name: value if isinstance(value, int) else Fraction(str(value)) for name, value in TABLE.items()}
    straight = {} if turned else {f"turn_{k}": 0 for k in range(3)}
    told = Table({**exact, **straight, "rounds": rounds}, kind)
    assert told.straight != turned
    played, reached = (PlainRun(told, told.beta, reading, looked) for looked in (ALL_ROUNDS, LAST))
    mean = PlainRun(told, told.beta, reading, MEAN)
    for name, values in reached._rounds.items():
        assert values[-1] == pytest.approx(played._rounds[name][-1], **near), name
    for name in ("local_drift", "mean_update_sq", "global_step"):
        assert mean._rounds[name][0] == pytest.approx(sum(played._rounds[name]) / rounds, **near), name
