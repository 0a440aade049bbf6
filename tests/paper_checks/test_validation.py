"""The checker can say no, its error rate is what it says, and the command writes what it prints."""

import csv
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import fedbounds
from bounds.assumptions import EXACT_LOCAL_SOLVER, FULL_PARTICIPATION, SAMPLES_SMOOTH, STRONGLY_CONVEX
from bounds.catalog import get
from empirics.measuring.estimates import Estimate, jackknife
from empirics.problems.tasks import task
from empirics.progress import SILENCE
from paper_checks import validation
from paper_checks.validation import Options, run, validate, Verdict
from paper_checks.validation.comparison import judge, plus_minus, standing
from paper_checks.validation.one_round import _refuse_sizes, _seeds
from paper_checks.validation.options import DRAWS

NAME = "fedals.one_round"
SMALL = Options.of(DRAWS, clients=(1, 3, 6), seeds=10, samples=8, regularisation=6.0, concentration=0.4, workers=1)
ARGUMENTS = ["--clients", "6,1,3", "--seeds", "10", "--samples", "8", "--regularisation", "6", "--concentration", "0.4"]


def cut(factor: float):
    """Theorem 4.1 with a planted error: all terms too small."""
    bound = get("fedals.one_round")
    return replace(bound, terms={name: term * factor for name, term in bound.terms.items()})


@pytest.fixture(scope="module")
def result():
    return validate(get(NAME), DRAWS, SMALL)


def test_the_theorem_holds_here(result):
    assert {c.verdict for c in result.lines} == {Verdict.HOLDS_HERE}
    assert result.violations == ()
    assert [c.place[2] for c in result.lines] == [1, 3, 6] * 4


def test_as_many_draws_are_made_as_are_asked_for(result):
    assert result.basis.startswith(" (10 draws; ")
    assert [settings["seeds"] for settings in result.card["problems"]] == [[0, 9]] * 4
    assert list(_seeds(replace(SMALL, seeds=None), task("ridge(digits)").pool("iid", 2, 8))) == list(range(120))


@pytest.mark.parametrize(("seeds", "drawn"), [(10, 10), (None, 120)])
def test_what_draws_must_hold_is_asked_for_before_the_work(monkeypatch, seeds, drawn):
    """Samples, weights of all points and draws, of the most clients; a number has 8 bytes."""
    asked = []
    monkeypatch.setattr("paper_checks.validation.one_round.refuse_beyond_memory", lambda size, *_: asked.append(size))
    _refuse_sizes(replace(SMALL, clients=(2, 7), seeds=seeds))
    assert asked == [8 * 8 * 7, 8 * 7 * 1797, 2 * 8 * drawn * 7]


def test_a_bound_cut_to_a_tenth_is_violated():
    found = validate(cut(0.1), DRAWS, SMALL)
    assert found.violations
    for c in found.violations:
        assert float(c.measured.value) > c.bound


def test_rows_agree_with_the_theorem_written_out(result):
    """Bound and terms from the printed local gaps: with one client they are L/mu Delta and zero."""
    lone = [c for c in result.lines if c.place[2] == 1]
    for c, settings in zip(lone, result.card["problems"], strict=True):
        kappa = settings["smoothness"] / settings["strong_convexity"]
        gap = float(c.extras["local_gap (mean over clients)"].value)
        assert float(c.measured.value) == pytest.approx(gap, rel=1e-10)
        assert c.bound == pytest.approx(kappa * gap, rel=1e-10)
        assert float(c.parts["non-iidness"].value) == 0
        assert c.ratio == pytest.approx(kappa, rel=1e-10)
    for c in result.lines:
        assert c.bound == pytest.approx(sum(float(p.value) for p in c.parts.values()))
        assert float(c.extras["bound / measured"].value) == pytest.approx(c.bound / float(c.measured.value))


def test_fitted_exponents_are_those_of_the_rows(result):
    found = {(r.problem, r.partition, r.quantity): r for r in result.numbers}
    for problem, partition in {c.place[:2] for c in result.lines}:
        rows = [c for c in result.lines if c.place[:2] == (problem, partition)]
        k = np.log([c.place[2] for c in rows])
        gap, bound = (np.log([float(getattr(c, word).value) for c in rows]) for word in ("measured", "estimate"))
        weights = [float(c.measured.value / c.measured.error) for c in rows]
        fits = {
            "exponent of the gap in clients": np.polyfit(k, gap, 1, w=weights)[0],
            "exponent of the bound in clients": np.polyfit(k, bound, 1)[0],
            "exponent of the bound between the two largest numbers of clients": np.diff(bound[1:])[0]
            / np.diff(k[1:])[0],
        }
        for name, slope in fits.items():
            row = found[problem, partition, name]
            assert row.value == pytest.approx(slope, rel=1e-9)
            assert 0 < row.standard_error < 0.3


def test_identical_clients_gain_one_over_k_not_its_square(result):
    """Both iid federations of the small run: -1 within four standard errors, -2 far outside."""
    rows = [r for r in result.numbers if r.quantity == "exponent of the gap in clients" and r.partition == "iid()"]
    assert len(rows) == 2
    for row in rows:
        assert abs(row.value + 1) < 4 * row.standard_error < 0.25 * abs(row.value + 2)


def test_the_answer_says_what_the_rows_say(result):
    """How far the exponent is from -1 and -2, the largest term at the most clients."""
    said = "\n".join(result.after)
    for problem in {row.place[0] for row in result.lines}:
        (fit,) = [
            r for r in result.numbers if r[:2] == (problem, "iid()") and r.quantity == "exponent of the gap in clients"
        ]
        value, error = fit.value, fit.standard_error
        assert f"{problem}, iid: the measured gap falls like K^({value:.3f}±{error:.3f}), so like 1/K (" in said
        assert f"({abs(value + 1) / error:.1f} s.e. from -1, {abs(value + 2) / error:.0f} s.e. from -2)" in said
        last = next(c for c in result.lines if c.place == (problem, "iid()", 6))
        name, part = max(last.parts.items(), key=lambda item: float(item[1].value))
        assert f"at K = 6 its term '{name}' is {float(part.value) / last.bound:.0%} of it" in said


def test_two_numbers_of_clients_are_too_few_for_a_fit():
    found = validate(get(NAME), DRAWS, replace(SMALL, clients=(2, 5)))
    assert not [row for row in found.numbers if "exponent" in row.quantity]
    assert "exactly like 1/K" in found.after[0]


def test_numbers_do_not_depend_on_the_number_of_workers(result):
    again = validate(get(NAME), DRAWS, replace(SMALL, workers=3))
    assert [row.value for row in again.rows()] == [row.value for row in result.rows()]
    assert [row.standard_error for row in again.rows()] == [row.standard_error for row in result.rows()]


@pytest.mark.parametrize(
    ("excess", "verdict"),
    [
        ((0.31, 0.02), "violated"),
        ((-0.31, 0.02), "holds here"),
        ((0.31, 0.2), "undecided"),
        ((np.nan, 0.2), "undecided"),
    ],
)
def test_three_verdicts(excess, verdict):
    assert judge(Estimate(*map(np.asarray, excess)), seeds=30, rows=24) == verdict


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


def test_every_assumption_is_met_in_the_run(result):
    decided = [condition for condition in get("fedals.one_round").conditions if condition.assumption]
    assert [line for line in result.standing if line.startswith("met: ")] == [f"met: {c.words}" for c in decided]


def test_the_command_prints_and_writes(tmp_path, capsys, result):
    drawn = []

    def draw(found, folder):
        drawn.append(found)
        return [folder / "picture"]

    folder = tmp_path / "new" / "deep"
    assert run(NAME, [*ARGUMENTS, "-o", str(folder)], draw) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "12 x holds here" in " ".join(said.out.split())
    assert str(folder / "picture") in said.out
    rows = list(csv.DictReader((folder / "fedals.one_round.csv").read_text().splitlines()))
    assert [float(r["value"]) for r in rows] == [row.value for row in result.rows()]
    about = json.loads((folder / "fedals.one_round.json").read_text())
    assert about["command"].startswith("fedbounds validate fedals.one_round --clients 6,1,3")
    assert about["plan"]["samples"] == 8
    assert about["problems"][0]["strong_convexity"] == 6.0
    assert drawn[0].card["plan"]["clients"] == (1, 3, 6)


def test_a_violation_is_exit_status_one(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(validation, "load", lambda name: cut(0.1))
    assert run(NAME, [*ARGUMENTS, "-o", str(tmp_path)]) == 1
    assert "12 x violated" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seeds", "2"], "seeds must be at least 3; got 2"),
        (["--clients", "0,3"], "clients must be a whole number >= 1; got 0"),
        (["--samples", "0"], "samples must be a whole number >= 1; got 0"),
        (["--regularisation", "-1"], "regularisation must be > 0; got -1"),
        (["--workers", "0"], "workers must be a whole number >= 1; got 0"),
    ],
)
def test_nonsense_is_refused_in_one_line(tmp_path, capsys, arguments, words):
    assert fedbounds.main(["validate", NAME, *arguments, "-o", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["--clients", "two"], ["--seed"], ["--nothing"]])
def test_wrong_options_are_refused_in_one_line(capsys, arguments):
    assert fedbounds.main(["validate", NAME, *arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert fedbounds.main(["validate", NAME, "-o", str(tmp_path / "file")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_ctrl_c_ends_with_one_line(tmp_path):
    words = ["validate", NAME, "--seeds", "100000", "-o", str(tmp_path)]
    run = subprocess.Popen(
        [sys.executable, "-m", "fedbounds", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={name: value for name, value in os.environ.items() if name != SILENCE},
    )  # fmt: skip
    try:
        said = next(line for line in run.stderr if not line.startswith("fedbounds: loading"))
        assert said.startswith("fedbounds: working")  # whether it has counted by then
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
    finally:
        run.kill()
        run.communicate()
    assert run.returncode == 130
    assert err.splitlines()[-1] == "fedbounds: interrupted"


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (0.0034647, 0.0000068, "0.003465±0.000007"),
        (8.2513, 0.1134, "8.25±0.11"),
        (123.4, 41.0, "123±41"),
        (0.7, 0.0, "0.7"),
        (0.7312, np.nan, "0.7312"),
    ],
)
def test_numbers_show_what_their_error_allows(value, error, shown):
    assert plus_minus(Estimate(np.asarray(value), np.asarray(error))) == shown
