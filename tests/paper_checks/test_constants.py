"""The best constants of theorems at the places of tables, beside plain arithmetic on the written numbers."""

import csv
import json
import re
from decimal import Decimal
from math import isnan
from pathlib import Path

import pytest

import fedbounds
from bounds.catalog import BOUNDS
from paper_checks.worst_cases import WorstCaseError
from paper_checks.worst_cases.constants import constants, SLACK, WHOLE
from paper_checks.worst_cases.places import Place
from paper_checks.worst_cases.tables import committed, FOLDER

LEMMA = BOUNDS["decaying_k.lemma_1"]
PAGE = Path(fedbounds.__file__).parent / "docs/how-to/worst-cases.md"


def row(steps, attained, proved, contraction, drift, **more):
    parts = {"term: contraction": contraction, "term: drift": drift}
    worst = {"worst_case": proved, "proved": proved, "attained": attained}
    others = {f"term: {name}": 0.0 for name in LEMMA.terms if f"term: {name}" not in parts}
    place = Place(local_steps=steps).as_row()
    return {**place, "bound": contraction + drift, **worst, **parts, **others, "inside": True, "exact": True, **more}


def test_the_constants_of_two_places_are_those_of_plain_arithmetic():
    rows = [row(2, 2.4, 2.5, 1.5, 3.5), row(3, 5.3, 5.4, 4.0, 2.0), row(4, 9.0, 9.5, 1.0, 1.0, inside=False)]
    whole, contraction, drift = constants(LEMMA, rows)
    assert (whole.term, whole.proved, whole.places, whole.where) == (WHOLE, 2, 2, {"local_steps": 3})
    assert whole.not_below == pytest.approx(5.3 / 6, rel=1e-5)
    assert whole.suffices == pytest.approx(5.4 / 6, rel=1e-5)
    assert contraction.not_below == pytest.approx((5.3 - 2.0) / 4.0, rel=1e-5)
    assert contraction.suffices == pytest.approx((5.4 - 2.0) / 4.0, rel=1e-5)
    assert drift.not_below == pytest.approx((5.3 - 4.0) / 2.0, rel=1e-5)
    assert drift.suffices == pytest.approx((5.4 - 4.0) / 2.0, rel=1e-5)
    assert (contraction.printed, drift.printed) == (1, 8)
    for one, exact in ((whole, 5.3 / 6), (drift, 0.65)):
        assert one.not_below <= exact  # rounded to the safe side


def test_what_is_not_proved_decides_nothing():
    nothing = {"proved": float("nan"), "attained": float("nan")}
    rows = [row(2, 2.4, 2.5, 1.5, 3.5), row(3, 5.3, 5.4, 4.0, 2.0) | nothing]
    (whole, *_) = constants(LEMMA, rows)
    assert (whole.proved, whole.places) == (1, 2)
    assert whole.suffices == pytest.approx(0.5, rel=1e-5)
    (estimated, *_) = constants(LEMMA, [row(2, 2.4, 2.5, 1.5, 3.5, exact=False)])
    assert isnan(estimated.not_below)  # its federation meets the assumptions at the visited models alone
    assert estimated.suffices == pytest.approx(0.5, rel=1e-5)
    with pytest.raises(WorstCaseError, match="--certify proves the places"):
        constants(LEMMA, [{k: v for k, v in row(2, 2.4, 2.5, 1.5, 3.5).items() if k != "proved"}])


def test_a_bound_that_a_federation_exceeds_needs_a_larger_constant():
    whole, *_ = constants(LEMMA, [row(2, 5.5, 5.6, 1.5, 3.5)])
    assert whole.not_below == pytest.approx(1.1, rel=1e-5)
    assert whole.not_below > 1


@pytest.mark.parametrize("name", ["decaying_k.lemma_1", "decaying_k.theorem_1_repaired", "fedcog.theorem_sharp"])
def test_the_constants_of_a_committed_table_are_in_its_text(name):
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["inside"] == "True"]
    found = {one.term: one for one in constants(BOUNDS[name], committed(name))}
    for term, one in found.items():
        column = "bound" if term == WHOLE else f"term: {term}"
        ends = {}
        for end in ("attained", "proved"):
            told = [r for r in rows if r[end] and Decimal(r[column]) > 0 and (r["exact"] == "True" or end == "proved")]
            needed = [1 - (Decimal(r["bound"]) - Decimal(r[end])) / Decimal(r[column]) for r in told]
            ends[end] = float(max(max(needed), Decimal(0))) if needed else None
        slack = 1e-5 + 4 * SLACK * max(float(r["bound"]) / float(r[column]) for r in rows if Decimal(r[column]) > 0)
        assert ends["proved"] <= one.suffices <= ends["proved"] * (1 + 1e-5) + slack
        if ends["attained"] is None:
            assert isnan(one.not_below)
        else:
            assert ends["attained"] >= one.not_below >= ends["attained"] * (1 - 1e-5) - slack


def test_the_command_prints_them(capsys, monkeypatch):
    monkeypatch.setattr("paper_checks.worst_cases.program.solver", lambda: pytest.fail("solved"))
    assert fedbounds.main(["tightness", "decaying_k.lemma_1", "--committed", "--constants"]) == 0
    out = capsys.readouterr().out
    assert "whole bound     -         0.989462    0.989463   72 of 72" in out
    assert "no smaller factor is true, as a federation in fractions attains more" in out
    assert fedbounds.main(["tightness", "decaying_k.lemma_1", "--committed", "--constants", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["constants"][0]
    assert (first["term"], first["printed"], first["not_below"]) == (WHOLE, None, 0.989462)
    assert fedbounds.main(["tightness", "decaying_k.lemma_1", "rounds=1", "--constants"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "constants are proved: add --certify, or give no quantity=value" in err
    assert fedbounds.main(["tightness", "fedals.one_round", "--constants"]) == 2
    assert capsys.readouterr().err.endswith("constants are proved: add --certify\n")


def test_the_page_shows_the_constants_of_every_table():
    lines = re.findall(r"^\| `([a-z0-9_.]+)` \| (\S+) \| (\S+) \| (\d+ of \d+) \|$", PAGE.read_text("utf-8"), re.M)
    told = {name: rest for name, *rest in lines}
    assert set(told) == {path.stem for path in FOLDER.glob("*.csv")}
    for name, shown in told.items():
        (whole, *_) = constants(BOUNDS[name], committed(name))
        least = "-" if isnan(whole.not_below) else f"{whole.not_below:.6g}"
        assert shown == [least, f"{whole.suffices:.6g}", f"{whole.proved} of {whole.places}"], name
