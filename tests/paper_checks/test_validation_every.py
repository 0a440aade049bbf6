"""Many bounds in one table: each row is what ``validate NAME`` finds, and none is left out without a word."""

import csv
import json
import math

import numpy as np
import pytest

import fedbounds
from bounds import BOUNDS
from bounds.errors import BoundsError
from empirics.measuring.estimates import Estimate
from paper_checks.runs.can import can
from paper_checks.validation import every, validate, VALIDATIONS
from paper_checks.validation.comparison import Comparison, Line, Verdict
from paper_checks.validation.options import EXACT, Options, RUNS

HOLDS, OPEN, BROKEN = Verdict.HOLDS_HERE, Verdict.UNDECIDED, Verdict.VIOLATED


def line(measured, bound, verdict, why="", outside=False):
    estimate = Estimate(np.asarray(measured), np.asarray(0.07))
    return Line((len(why),), estimate, bound, bound, bound, outside, verdict, why)


@pytest.mark.parametrize(
    ("name", "lines", "chosen", "verdict", "why"),
    [
        ("fedinit.lemma_2", [line(0.3, 4.1, HOLDS), line(0.7, 2.3, HOLDS), line(-1.9, 0.6, HOLDS)], 1, HOLDS, ""),
        ("fedinit.lemma_2", [line(0.9, 0.8, HOLDS), line(2.7, 2.2, BROKEN), line(3.7, 1.2, BROKEN)], 2, BROKEN, "2 of"),
        (
            "fedinit.lemma_2",
            [line(0.3, 4.1, HOLDS), line(0.2, 7.3, OPEN, "one seed")],
            1,
            OPEN,
            "1 of 2 lines, one seed",
        ),
        ("fedinit.lemma_2", [line(0.2, 7.3, OPEN, outside=True)], 0, OPEN, "outside the conditions"),
        ("fedinit.lemma_2", [line(0.2, math.inf, HOLDS), line(0.1, 7.3, HOLDS)], 1, HOLDS, ""),
        ("fedinit.excess_risk_split", [line(2.1, 2.2, OPEN), line(2.1, 1.7, OPEN)], 1, OPEN, ""),
    ],
)
def test_a_row_is_the_line_nearest_to_the_bound_and_no_better_than_the_worst(name, lines, chosen, verdict, why):
    found = every.summed_up(Comparison(BOUNDS[name], tuple(lines), ""))
    assert found[0] is lines[chosen]
    assert found[1] == verdict
    assert found[2].startswith(why)
    assert bool(found[2]) == bool(why)


def test_rows_are_what_each_name_finds_alone_whatever_the_workers():
    pattern = "classics.local_gd_*"
    found = every.survey(pattern, workers=1)
    assert [row.bound for row in found.rows] == [name for name in VALIDATIONS if name.startswith(pattern[:-1])]
    for row in found.rows:
        alone = validate(BOUNDS[row.bound], EXACT, Options.of(EXACT))
        least = min(alone.lines, key=lambda each: each.ratio if each.ratio > 0 else math.inf)
        assert (row.measured, row.value) == (float(least.measured.value), least.bound)
        assert {row.verdict} == {str(each.verdict) for each in alone.lines}
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


def test_all_are_all_that_can_be_measured(quick, capsys, tmp_path):
    table = tmp_path / "all.csv"
    assert fedbounds.main(["validate", "all", "--workers", "1", "--json", "-o", str(table)]) == 1
    told = json.loads(capsys.readouterr().out)
    names = [name for name, bound in BOUNDS.items() if name in VALIDATIONS or not can(bound, RUNS)]
    assert [row["bound"] for row in told["bounds"]] == names
    assert (told["asked"], told["cannot"], told["violated"]) == (len(names), len(BOUNDS) - len(names), 1)
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in told["bounds"]]
    found = fedbounds.validate("fedinit.*", problem="ridge(iris)", workers=1)
    assert [(row["bound"], "ridge(iris)") for row in found.records()] == quick[len(names) :]


def test_an_interrupt_ends_with_what_is_finished(quick, monkeypatch, capsys, tmp_path):
    whole = every.measured

    def stopped(name, problem=""):
        if len(quick) == 2:
            raise KeyboardInterrupt
        return whole(name, problem)

    monkeypatch.setattr(every, "measured", stopped)
    table = tmp_path / "some.csv"
    assert fedbounds.main(["validate", "classics.*", "--workers", "1", "-o", str(table)]) == 130
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()[1:3]] == [name for name, _ in quick]
    assert "2 of " in err
    assert not table.exists()
    quick.clear()
    assert [row.bound for row in fedbounds.validate("classics.*", workers=1).rows] == [name for name, _ in quick]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fedcog.z*"], "names no bound that can be measured"),
        (["all", "--rounds", "3"], "unrecognized arguments: --rounds"),
        (["all", "--workers", "0"], "must be a whole number from 1"),
    ],
)
def test_mistakes_are_named(words, said, capsys):
    assert fedbounds.main(["validate", *words]) == 2
    assert said in capsys.readouterr().err
    with pytest.raises(BoundsError, match="unknown option of a validation of all 'rounds'"):
        fedbounds.validate("all", rounds=3)
