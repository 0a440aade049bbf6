"""The comparison can say no, its error rate is what it says, and the command writes what it prints."""

import csv
import json
import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp

import fedbounds
from bounds import BOUNDS
from bounds.assumptions import EXACT_LOCAL_SOLVER, FULL_PARTICIPATION, SAMPLES_SMOOTH, STRONGLY_CONVEX
from bounds.catalog import get
from bounds.errors import BoundsError
from bounds.vocabulary import clients, gradient_variance, samples
from empirics.measuring.estimates import Estimate, jackknife
from empirics.problems.tasks import task
from paper_checks.runs.can import can
from paper_checks.validation import (
    Comparison,
    every,
    Options,
    planned,
    validate,
    VALIDATIONS,
    Verdict,
)
from paper_checks.validation.comparison import judge, Line, standing
from paper_checks.validation.gaussian_mean import exact_mean
from paper_checks.validation.one_round import _seeds
from paper_checks.validation.options import DRAWS, EXACT, RUNS

NAME = "fedals.one_round"
SMALL = Options.of(DRAWS, clients=(1, 3, 6), seeds=10, samples=8, regularisation=6.0, concentration=0.4, workers=1)
ARGUMENTS = ["--clients", "6,1,3", "--seeds", "10", "--samples", "8", "--regularisation", "6", "--concentration", "0.4"]


def cut(factor: float, name=NAME):
    """A bound with a planted error: all terms too small."""
    bound = get(name)
    return replace(bound, terms={term: value * factor for term, value in bound.terms.items()})


@pytest.fixture(scope="module")
def result():
    return validate(get(NAME), DRAWS, SMALL)


def test_the_theorem_holds_here(result):
    assert {c.verdict for c in result.rows} == {Verdict.HOLDS_HERE}
    assert result.violations == ()
    assert [c.place[2] for c in result.rows] == [1, 3, 6] * 4
    assert "10 draws" in result.basis
    assert [settings["seeds"] for settings in result.card["problems"]] == [[0, 9]] * 4
    assert list(_seeds(replace(SMALL, seeds=None), task("ridge(digits)").pool("iid", 2, 8))) == list(range(120))
    decided = [condition for condition in get(NAME).conditions if condition.assumption]
    assert [line for line in result.standing if line.startswith("met: ")] == [f"met: {c.words}" for c in decided]


def test_a_bound_cut_to_a_tenth_is_violated():
    found = validate(cut(0.1), DRAWS, SMALL)
    assert found.violations
    for c in found.violations:
        assert float(c.measured.value) > c.bound


def test_rows_agree_with_the_theorem_written_out(result):
    """Bound and terms from the printed local gaps: with one client they are L/mu Delta and zero."""
    lone = [c for c in result.rows if c.place[2] == 1]
    for c, settings in zip(lone, result.card["problems"], strict=True):
        kappa = settings["smoothness"] / settings["strong_convexity"]
        gap = float(c.extras["local_gap (mean over clients)"].value)
        assert float(c.measured.value) == pytest.approx(gap, rel=1e-10)
        assert c.bound == pytest.approx(kappa * gap, rel=1e-10)
        assert float(c.parts["non-iidness"].value) == 0
        assert c.ratio == pytest.approx(kappa, rel=1e-10)
    for c in result.rows:
        assert c.bound == pytest.approx(sum(float(p.value) for p in c.parts.values()))
        assert float(c.extras["bound / measured"].value) == pytest.approx(c.bound / float(c.measured.value))


def test_three_verdicts():
    for excess, error, verdict in (
        (0.31, 0.02, "violated"), (-0.31, 0.02, "holds here"), (0.31, 0.2, "undecided"), (np.nan, 0.2, "undecided"),
    ):  # fmt: skip
        assert judge(Estimate(np.asarray(excess), np.asarray(error)), seeds=30, rows=24) == verdict


def test_error_rate_over_all_rows():
    """A family of true equalities (the hardest case) is called violated in about ``error_rate`` of the runs."""
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(600):
        rows = rng.normal(size=(20, 4))
        verdicts = [judge(jackknife(lambda m: m, row), 20, 4, error_rate=0.2) for row in rows.T]
        wrong += Verdict.VIOLATED in verdicts
    assert wrong / 600 == pytest.approx(1 - (1 - 0.2 / 4) ** 4, abs=0.05)


def test_assumptions_are_checked_not_believed():
    bound = get("fedals.one_round")
    problem = SimpleNamespace(sample_smoothness=2.3, strong_convexity=0.0)
    lines = standing(bound, problem, SimpleNamespace(exact_local_solver=False), SimpleNamespace(clients=7, cohort=7))
    said = {line.split(": ", 1)[1]: line.split(": ", 1)[0] for line in lines}
    assert said[SAMPLES_SMOOTH.words] == said[FULL_PARTICIPATION.words] == "met"
    assert said[STRONGLY_CONVEX.words] == said[EXACT_LOCAL_SOLVER.words] == "NOT met"
    assert standing(bound, None, None, None)[0].startswith("not decided here")


def test_the_command_prints_and_writes(tmp_path, capsys, result):
    folder = tmp_path / "new" / "deep"
    assert fedbounds.main(["validate", NAME, *ARGUMENTS, "-o", str(folder)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "12 x holds here" in " ".join(said.out.split())
    assert str(folder / "fedals.one_round.svg") in said.out
    rows = list(csv.DictReader((folder / "fedals.one_round.csv").read_text().splitlines()))
    assert [float(r["value"]) for r in rows] == [row.value for row in result.numbers()]
    about = json.loads((folder / "fedals.one_round.json").read_text())
    assert about["command"].startswith("fedbounds validate fedals.one_round --clients 6,1,3")
    assert about["plan"]["samples"] == 8
    assert about["problems"][0]["strong_convexity"] == 6.0
    assert about["plan"]["clients"] == [1, 3, 6]


def test_nonsense_is_refused_in_one_line(tmp_path, refused):
    trained = ["--problem", "ridge(iris)"]
    for name, *arguments, named in (
        (NAME, "--seeds", "2", "seeds must be at least 3; got 2"),
        (NAME, "--clients", "0,3", "clients must be a whole number >= 1; got 0"),
        (NAME, "--regularisation", "-1", "regularisation must be > 0; got -1"),
        (NAME, "--clients", "two", "--clients"),
        (NAME, "--nothing", "nothing"),
        ("decaying_k.per_rounds", "--relaxation", "9", "relaxation"),  # which changes nothing
        ("fedinit.lemma_2", *trained, "--samples", "9", "samples"),
        ("fedals.rounds_inexact", *trained, "--samples", "9", "samples"),
    ):
        assert named in refused("validate", name, *arguments, "-o", tmp_path)
        assert list(tmp_path.iterdir()) == []


def test_a_plan_that_cannot_be_kept_is_refused_before_any_data_are_read(monkeypatch):
    monkeypatch.setattr(planned, "task", lambda text: pytest.fail("it reads the data first"))
    for given, named in (({"cohort": 99}, "99 > 10"), ({"sampling": "sometimes"}, "sampling"),
                         ({"algorithm": "fedavgg"}, "'fedavg'")):  # fmt: skip
        with pytest.raises(BoundsError, match=named):
            fedbounds.validate("fedinit.lemma_2", problem="softmax(digits)", **given)


CUT = """
from dataclasses import replace
from bounds import BOUNDS
true = BOUNDS["fedinit.lemma_2"]
cut = replace(true, name="mine.cut", terms={n: t / 1e6 for n, t in true.terms.items()})
"""


def test_an_exact_violation_is_exit_status_one(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(CUT)
    small = ["--instances", "1", "--rounds", "2", "--clients", "3", "-o", str(tmp_path)]
    assert [fedbounds.main(["validate", f"{path}:{name}", *small]) for name in ("true", "cut")] == [0, 1]
    assert "2 x violated" in capsys.readouterr().out


def test_a_bound_that_does_not_apply_says_what_could_change_that(tmp_path, refused):
    path = tmp_path / "mine.py"
    asked = ["--problem", "ridge(iris)", "--clients", "5", "--cohort", "2", "--rounds", "2", "-o", str(tmp_path)]
    path.write_text(
        f"{CUT}import sympy as sp\nfrom bounds import Condition\nfrom bounds.vocabulary import *\n"
        "def silent(more):\n    return replace(true, name='mine.silent', conditions=(*true.conditions, "
        "Condition('more', more)))\nall = silent(sp.Eq(cohort, clients))\nlong = silent(step_size >= 1e9)\n"
    )
    for name, option in (("all", "--cohort"), ("long", "--step-size")):
        assert option in refused("validate", f"{path}:{name}", *asked)


HOLDS, OPEN, BROKEN = Verdict.HOLDS_HERE, Verdict.UNDECIDED, Verdict.VIOLATED


def line(measured, bound, verdict, why="", outside=False):
    estimate = Estimate(np.asarray(measured), np.asarray(0.07))
    return Line((len(why),), estimate, bound, bound, bound, outside, verdict, why)


def test_a_row_is_the_line_nearest_to_the_bound_and_no_better_than_the_worst():
    for name, lines, chosen, verdict, why in (
        ("lemma_2", [line(0.3, 4.1, HOLDS), line(0.7, 2.3, HOLDS), line(-1.9, 0.6, HOLDS)], 1, HOLDS, ""),
        ("lemma_2", [line(0.9, 0.8, HOLDS), line(2.7, 2.2, BROKEN), line(3.7, 1.2, BROKEN)], 2, BROKEN, "2 of"),
        ("lemma_2", [line(0.3, 4.1, HOLDS), line(0.2, 7.3, OPEN, "one seed")], 1, OPEN, "1 of 2 lines, one seed"),
        ("lemma_2", [line(0.2, 7.3, OPEN, outside=True)], 0, OPEN, "outside"),
        ("lemma_2", [line(0.2, math.inf, HOLDS), line(0.1, 7.3, HOLDS)], 1, HOLDS, ""),
        ("excess_risk_split", [line(2.1, 2.2, OPEN), line(2.1, 1.7, OPEN)], 1, OPEN, ""),
    ):
        found = every.summed_up(Comparison(BOUNDS[f"fedinit.{name}"], tuple(lines), ""))
        assert (found[0], found[1]) == (lines[chosen], verdict)
        assert found[2].startswith(why)
        assert bool(found[2]) == bool(why)


def test_rows_are_what_each_name_finds_alone_whatever_the_workers():
    pattern = "classics.local_gd_*"
    found = every.survey(pattern, workers=1)
    assert [row.bound for row in found.rows] == [name for name in VALIDATIONS if name.startswith(pattern[:-1])]
    for row in found.rows:
        alone = validate(BOUNDS[row.bound], EXACT, Options.of(EXACT))
        least = min(alone.rows, key=lambda each: each.ratio if each.ratio > 0 else math.inf)
        assert (row.measured, row.value) == (float(least.measured.value), least.bound)
        assert {row.verdict} == {str(each.verdict) for each in alone.rows}
    again = every.survey(pattern, workers=2)
    assert [row._replace(seconds=0.0) for row in again.rows] == [row._replace(seconds=0.0) for row in found.rows]
    named = sum(name.startswith(pattern[:-1]) for name in BOUNDS)
    assert (found.asked, found.cannot) == (len(found.rows), named - len(found.rows))


def test_what_needs_data_that_are_not_here_is_listed_and_the_rest_is_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("FEDBOUNDS_DATA", str(tmp_path))
    rows = {row.bound: row for row in every.survey("decaying_k.*", "softmax(mnist)", workers=1).rows}
    trained = {name for name in rows if not can(BOUNDS[name], RUNS)}
    assert {row.bound for row in rows.values() if row.verdict == every.NOT_MEASURED} == trained != set()
    assert all("mnist" in rows[name].why and math.isnan(rows[name].value) for name in trained)
    assert all(row.verdict == HOLDS for name, row in rows.items() if name not in trained)


@pytest.fixture
def quick(monkeypatch):
    """Every bound is measured at once, its number the place in the table; the fourth is violated."""
    seen = []

    def measured(name, problem=""):
        seen.append((name, problem))
        place = len(seen)
        verdict, doubt = (BROKEN, "unless it rains") if place == 4 else (HOLDS, "")
        return every.Row(name, EXACT, "<=", place * 1.1, 0.0, place * 2.3, 23 / 11, str(verdict), "", 0.3, doubt)

    monkeypatch.setattr(every, "measured", measured)
    return seen


def test_all_are_all_that_can_be_measured(quick, run, tmp_path):
    table = tmp_path / "validation.csv"
    status, out, _ = run("validate", "all", "--workers", "1", "--json", "-o", tmp_path)
    told = json.loads(out)
    names = [name for name, bound in BOUNDS.items() if name in VALIDATIONS or not can(bound, RUNS)]
    assert (status, [row["bound"] for row in told["bounds"]]) == (1, names)
    assert (told["asked"], told["cannot"], told["violated"]) == (len(names), len(BOUNDS) - len(names), 1)
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in told["bounds"]]
    found = fedbounds.validate("fedinit.*", problem="ridge(iris)", workers=1)
    assert [(row["bound"], "ridge(iris)") for row in found.records()] == quick[len(names) :]


def test_an_interrupt_ends_with_what_is_finished(quick, monkeypatch, run, tmp_path):
    whole = every.measured
    monkeypatch.setattr(every, "measured", lambda name, problem="": whole(name) if len(quick) < 2 else interrupted())
    table = tmp_path / "validation.csv"
    status, out, err = run("validate", "classics.*", "--workers", "1", "-o", tmp_path)
    assert (status, "2 of " in err, table.exists()) == (130, True, False)
    assert [line.split()[0] for line in out.splitlines()[1:3]] == [name for name, _ in quick]


def interrupted():
    raise KeyboardInterrupt


POINTS = np.array([[0.3, -1.2], [1.9, 0.4], [-0.7, 0.8]])
CHANCES = np.array([0.2, 0.5, 0.3])


def loss(model, point):
    return ((model - point) ** 2).sum() / 2


def enumerated(k: int, n: int) -> dict[str, float]:
    """Expected gap, local gap and non-iidness over all draws of k clients with n samples each."""
    total = {"gap": 0.0, "local_gap": 0.0, "non_iidness": 0.0}
    for flat in product(range(3), repeat=k * n):
        rows = np.array(flat).reshape(k, n)
        chance = CHANCES[rows].prod()
        own = [POINTS[r].mean(0) for r in rows]
        average = np.mean(own, axis=0)

        def population(model):
            return sum(c * loss(model, p) for c, p in zip(CHANCES, POINTS, strict=True))

        def trained(model, client, rows=rows):
            return np.mean([loss(model, POINTS[j]) for j in rows[client]])

        total["gap"] += chance * np.mean([population(average) - trained(average, c) for c in range(k)])
        total["local_gap"] += chance * (population(own[0]) - trained(own[0], 0))
        total["non_iidness"] += chance * (trained(average, 0) - trained(own[0], 0))
    return total


def test_closed_forms_equal_enumeration():
    mean = CHANCES @ POINTS
    variance = float(CHANCES @ ((POINTS - mean) ** 2).sum(1))
    for k, n in ((2, 2), (3, 2), (2, 3)):
        at = {clients: k, samples: n, gradient_variance: variance}
        found = enumerated(k, n)
        for name, value in found.items():
            assert value == pytest.approx(float(getattr(exact_mean(), name).subs(at)), rel=1e-10), name
        bound = get("fedals.one_round")(
            smoothness=1.0, strong_convexity=1.0, client_weight=np.full(k, 1 / k),
            local_gap=np.full(k, found["local_gap"]), non_iidness=np.full(k, found["non_iidness"]),
        )  # fmt: skip
        assert float(bound) == pytest.approx(float(exact_mean().bound.subs(at)), rel=1e-10)
        assert found["gap"] < bound


def test_the_gap_falls_like_one_over_the_number_of_clients():
    exact = exact_mean()
    assert sp.limit(exact.gap * clients, clients, sp.oo) == gradient_variance / samples
    assert sp.limit(exact.bound / exact.gap, clients, sp.oo) == sp.sqrt(2)
    assert sp.limit(exact.non_iidness, clients, sp.oo) == gradient_variance / (2 * samples)
