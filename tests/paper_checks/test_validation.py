"""The comparison can say no, its error rate is what it says, and the command writes what it prints."""

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import fedbounds
from bounds import BOUNDS
from bounds.catalog import get
from empirics.measuring.estimates import Estimate, jackknife
from paper_checks.runs.obstacles import obstacle
from paper_checks.runs.origins import EXACT, RUNS
from paper_checks.validation import Comparison, Options, survey, validate, VALIDATIONS, Verdict
from paper_checks.validation.comparison import Line
from paper_checks.validation.options import DRAWS
from paper_checks.validation.verdicts import t_test_verdict

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
    decided = [condition for condition in get(NAME).conditions if condition.assumption]
    assert [line for line in result.conditions if line.startswith("met: ")] == [f"met: {c.words}" for c in decided]


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
        assert t_test_verdict(Estimate(np.asarray(excess), np.asarray(error)), seeds=30, rows=24) == verdict


def test_error_rate_over_all_rows():
    """A family of true equalities (the hardest case) is called violated in about ``error_rate`` of the runs."""
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(600):
        rows = rng.normal(size=(20, 4))
        verdicts = [t_test_verdict(jackknife(lambda m: m, row), 20, 4, error_rate=0.2) for row in rows.T]
        wrong += Verdict.VIOLATED in verdicts
    assert wrong / 600 == pytest.approx(1 - (1 - 0.2 / 4) ** 4, abs=0.05)


def test_the_command_prints_and_writes(tmp_path, run, result):
    folder = tmp_path / "new" / "deep"
    status, out, err = run("validate", NAME, *ARGUMENTS, "-o", folder)
    assert (status, err, "12 x holds here" in " ".join(out.split())) == (0, "", True)
    assert str(folder / "fedals.one_round.svg") in out
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
        found = survey.deciding_line(Comparison(BOUNDS[f"fedinit.{name}"], tuple(lines), ""))
        assert (found[0], found[1]) == (lines[chosen], verdict)
        assert found[2].startswith(why)
        assert bool(found[2]) == bool(why)


def test_rows_are_what_each_name_finds_alone_whatever_the_workers():
    pattern = "classics.local_gd_*"
    found = survey.survey(pattern, workers=1)
    assert [row.bound for row in found.rows] == [name for name in VALIDATIONS if name.startswith(pattern[:-1])]
    for row in found.rows:
        alone = validate(BOUNDS[row.bound], EXACT, Options.of(EXACT))
        least = min(alone.rows, key=lambda each: each.ratio if each.ratio > 0 else math.inf)
        assert (row.measured, row.value) == (float(least.measured.value), least.bound)
        assert {row.verdict} == {str(each.verdict) for each in alone.rows}
    again = survey.survey(pattern, workers=2)
    assert [row._replace(seconds=0.0) for row in again.rows] == [row._replace(seconds=0.0) for row in found.rows]
    named = sum(name.startswith(pattern[:-1]) for name in BOUNDS)
    assert (found.asked, found.cannot) == (len(found.rows), named - len(found.rows))


@pytest.fixture
def quick(monkeypatch):
    """Every bound is measured at once, its number the place in the table; the fourth is violated."""
    seen = []

    def measured(name, problem=""):
        seen.append((name, problem))
        place = len(seen)
        verdict, doubt = (BROKEN, "unless it rains") if place == 4 else (HOLDS, "")
        return survey.Row(name, EXACT, "<=", place * 1.1, 0.0, place * 2.3, 23 / 11, str(verdict), "", 0.3, doubt)

    monkeypatch.setattr(survey, "measured", measured)
    return seen


def test_all_are_all_that_can_be_measured(quick, run, tmp_path):
    table = tmp_path / "validation.csv"
    status, out, _ = run("validate", "all", "--workers", "1", "--json", "-o", tmp_path)
    told = json.loads(out)
    names = [name for name, bound in BOUNDS.items() if name in VALIDATIONS or not obstacle(bound, RUNS)]
    assert (status, [row["bound"] for row in told["bounds"]]) == (1, names)
    assert (told["asked"], told["cannot"], told["violated"]) == (len(names), len(BOUNDS) - len(names), 1)
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in told["bounds"]]
    found = fedbounds.validate("fedinit.*", problem="ridge(iris)", workers=1)
    assert [(row["bound"], "ridge(iris)") for row in found.records()] == quick[len(names) :]
