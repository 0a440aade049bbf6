"""Exact numbers beside the rows of the page of one federation: those of ``compare``, and none elsewhere."""

import csv
import time
from random import Random
from statistics import fmean, stdev

import numpy as np
import pytest
from explorer_browser import settled

from bounds.catalog import BOUNDS
from bounds.scenario import Scenario
from empirics.algorithms import algorithm
from empirics.exact import ExactRun
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting
from figures.explorer import committed as kept, federations, worst
from paper_checks.comparing.compare import compare
from paper_checks.comparing.compare_rows import WORST
from paper_checks.worst_cases.tables import committed

CLOSE = 1e-12


def step(name, rounds, steps, share=0.9):
    """The step size of a committed place, in units of 1/L."""
    found = (r for r in committed(name) if (r["rounds"], r["local_steps"], r["step_share"]) == (rounds, steps, share))
    return next(r["step_size"] for r in found)


def test_a_table_on_the_page_has_the_committed_places_and_the_numbers_that_count():
    told = worst.data([BOUNDS["fedinit.theorem_2"], BOUNDS["fedals.one_round"]])["tables"]
    assert list(told) == ["fedinit.theorem_2"], "of the other there is no table"
    table = told["fedinit.theorem_2"]
    assert table["names"] == ["condition_number", "heterogeneity", "dissimilarity_factor", "relaxation"]
    inside = [row for row in committed("fedinit.theorem_2") if row["inside"]]
    assert len(table["rows"]) == len(inside)
    shown, kept = table["rows"][5], inside[5]
    assert shown[3:6] == [kept["step_size"], kept["worst_case"], int(kept["exact"])]
    assert shown[8:] == [kept[name] for name in table["names"]]


def test_the_federation_of_worst_cases_starts_where_one_is_known():
    start = federations.of_worst_cases()
    found = compare(Scenario.of({**start["given"], **start["plan"]}), start["target"], worst_case=0)
    assert (
        WORST in next(row for row in found.rows if row.bound == federations.SHOWN and row.state == "vacuous").evidence
    )


@pytest.fixture
def whole(shared, file):
    """The page of one federation, just opened."""
    shared.open(file)
    yield shared
    assert not shared.complaints()


SHARP = step(federations.SHOWN, 2, 4)
STRETCHED = {"smoothness": 2.6, "sample_smoothness": 2.6, "strong_convexity": 0.26, "pl_constant": 0.26,
             "initial_loss": 0.9, "optimal_loss": 0.2, "heterogeneity": 0.07, "dissimilarity_offset": 0.182,
             "grad_cap_sq": 7.28}  # fmt: skip
"""L is 2.6 and the gap 0.7: everything else in its unit."""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("target", "changed", "known"),
    [
        ("grad_norm_sq", {}, 3),
        ("grad_norm_sq", {"clients": 6, "cohort": 6, "client_weight": [1 / 6] * 6,
                          "client_gradient_variance": [0.0] * 6}, 3),
        ("grad_norm_sq", {**STRETCHED, "step_size": SHARP / 2.6}, 3),
        ("grad_norm_sq", {"relaxation": 0.05,
                          "step_size": step("fedinit.theorem_1", 2, 4)}, 1),
        ("optimality_gap", {"rounds": 2, "local_steps": 2, "relaxation": 0.05,
                            "step_size": step("fedinit.theorem_2", 2, 2)}, 1),
        ("divergence", {**STRETCHED, "rounds": 2, "local_steps": 2, "relaxation": 0.05,
                        "step_size": step("fedinit.theorem_4", 2, 2) / 2.6}, 1),
        ("grad_norm_sq", {"step_size": 1.0001 * SHARP}, 0),
        ("grad_norm_sq", {"grad_cap_sq": 4.1}, 0),
    ],
)  # fmt: skip
def test_worst_cases_on_the_page_are_those_of_compare(target, changed, known, whole):
    start = federations.of_worst_cases()
    given = {**start["given"], **start["plan"], **changed}
    rows = compare(Scenario.of(given), target, worst_case=0).rows
    theirs = {(r.bound, str(r.kind)): r.evidence[WORST] for r in rows if WORST in r.evidence}
    found = whole.js("return explorer.rows(...arguments)", target, given, {})
    ours = {(r["bound"], r["kind"]): one for r in found for one in r["evidence"] if one["kind"] == "worst"}
    assert ours.keys() == theirs.keys()
    assert len(ours) >= known
    assert known or not ours
    for key, one in ours.items():
        assert float(one["value"]) == pytest.approx(theirs[key].value, rel=CLOSE, abs=0)
        assert one["above"] is theirs[key].above


@pytest.mark.slow
@pytest.mark.browser
def test_the_ladder_and_the_plane_show_worst_cases_where_there_are_any(whole):
    assert whole.js("return document.querySelectorAll('.worst').length") == 0
    whole.choose("federations", "1")
    for _ in range(200):
        if whole.js("return explorer.drawn() && !explorer.drawn().stale && explorer.drawn().target === 'grad_norm_sq'"):
            break
        time.sleep(0.02)
    whole.choose("theorem", federations.SHOWN)
    places = whole.js("return [...document.querySelectorAll('#plane g title')].map((t) => t.textContent)")
    assert sum("exact worst case" in title for title in places) == 6
    assert sum(title.startswith("the least of these") for title in places) == 1
    assert whole.text("#ladder").count("◆ ") == 3
    assert "exact worst case: best of the plans" in whole.text("#run-table")


# ---- what is committed of the page's own federations ----

KEPT = kept.read()
BY_NAME = {one["name"]: one for one in KEPT["federations"]}
QUADRATIC, TRAINED = BY_NAME["4 quadratics, measured"], BY_NAME["phishing, measured"]


@pytest.mark.parametrize(("one", "data"), [(QUADRATIC, "quadratics"), (TRAINED, "phishing")])
def test_what_is_measured_stands_in_the_committed_figures(one, data):
    read = [
        row
        for paper in ("decaying_k", "fedcog", "fedinit", "fedinit_data")
        for row in csv.DictReader((kept.HOME / f"ours.theorems_{paper}.csv").read_text().splitlines())
        if row["data"] == data and row["curve"] == "measured"
    ]
    numbers = {(int(row["x"]), float(row["y"]), float(row["error"]), int(row["cohort"])) for row in read}
    assert len(one["measured"]) > 20
    for number in one["measured"]:
        plan = number["plan"]
        assert (plan["rounds"], number["value"], number["error"], plan["cohort"]) in numbers


def test_the_constants_beside_a_measurement_are_those_of_what_ran():
    """The exact expectation of the committed figures comes out of the problem that the constants are of."""
    problem = random_quadratics(0, 4, 2, noise=0.3)
    for word in ("smoothness", "client_gradient_variance"):  # their last digits are the processor's
        assert np.allclose(getattr(problem, word), QUADRATIC["given"][word], rtol=1e-13, atol=0), word
    number = next(
        m for m in QUADRATIC["measured"] if m["plan"]["rounds"] == 20 and m["kind"].startswith("min over rounds")
    )
    told = {word: x for word, x in number["plan"].items() if word != "relaxation"}
    run = ExactRun(problem, algorithm("fedavg()"), Setting(told.pop("rounds"), told.pop("cohort"), **told)).run()
    assert min(run.server["grad_norm_sq"][:20]) == pytest.approx(number["exact"], rel=1e-9)
    largest = run.rounds["grad_cap_sq"].max()
    assert 0.2 * QUADRATIC["given"]["grad_cap_sq"] < largest < QUADRATIC["given"]["grad_cap_sq"]
    assert abs(number["value"] - number["exact"]) < 4 * number["error"]


def test_exact_numbers_of_the_page_are_those_of_compare():
    one = federations.of_quadratics()
    assert kept.exact(one, ["distance_sq"])["distance_sq"] == KEPT["exact"][one["name"]]["distance_sq"]


@pytest.mark.slow
@pytest.mark.data("phishing")
def test_the_constants_of_the_data_are_those_of_fedbounds_constants():
    made = kept.of_phishing()
    for word, value in TRAINED["given"].items():
        assert np.allclose(made["given"][word], value, rtol=1e-6), word
    assert made["plan"] == pytest.approx(TRAINED["plan"], rel=1e-6)


BESIDE = """
return [...document.querySelectorAll("#ladder li.row")].map((row) => [row.querySelector("button").textContent,
  row.closest("section").querySelector("h4").textContent,
  [...row.querySelectorAll(".beside")].map((e) => e.textContent)]);
"""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(("place", "one"), [("4", QUADRATIC), ("5", TRAINED)])
def test_committed_numbers_stand_beside_their_class_alone(place, one, whole):
    whole.choose("federations", place)
    settled(whole)
    number = next(m for m in one["measured"] if m["plan"] == {**one["plan"], "relaxation": 0})
    exact = {(name, kind): value for name, kind, value, _ in KEPT["exact"][one["name"]][one["target"]]}
    seen = 0
    for name, kind, besides in whole.js(BESIDE):
        assert any(b.startswith("● measured") for b in besides) is (kind == number["kind"]), name
        assert any(b.startswith("■ exact") for b in besides) is ((name, kind) in exact), name
        seen += len(besides)
    assert seen > 8
    titles = whole.js("return [...document.querySelectorAll('.bars')].map((e) => e.title).join()")
    assert number["what"] in titles
    last = whole.js("return document.querySelectorAll('#measured-plans button').length") - 1
    whole.js("document.querySelectorAll('#measured-plans button')[arguments[0]].click()", last)
    settled(whole)
    assert "● measured" in whole.text("#ladder")
    assert "■ exact" not in whole.text("#ladder"), "exact numbers are of the plan it starts from"
    whole.choose("f-smoothness", str(1.1 * one["given"]["smoothness"]), "input")
    settled(whole)
    assert "● measured" not in whole.text("#ladder"), "no federation with another L was run"
    whole.choose("federations", "0")
    assert whole.text("#runs-told").startswith("No committed measurement")


# ---- runs of one's own ----

HEADER = "algorithm,cohort,local_steps,step_size,seed,round,quantity,value\n"


def runs(rounds=7, plans=((8, 0.01), (3, 0.02)), start=None):
    """A log of two seeds as ``fedbounds results`` writes it, and its gaps by plan and seed."""
    draws, lines, gaps = Random(5), [HEADER], {}
    for steps, size in plans:
        for seed in (3, 11):
            gaps[steps, size, seed] = [start, *(draws.uniform(0.1, 0.4) for _ in range(rounds))]
            lines += [
                f"fedavg(),10,{steps},{size},{seed},{r},optimality_gap,{x!r}\n"
                for r, x in enumerate(gaps[steps, size, seed])
            ]
    return "".join(lines), gaps


def told(whole, rounds):
    whole.choose("f-rounds", str(rounds), "input")
    given = whole.js("return explorer.told().given")
    return given, given["initial_loss"] - given["optimal_loss"]


@pytest.mark.slow
@pytest.mark.browser
def test_runs_stand_beside_the_rows_of_their_plan_with_their_standard_error(whole):
    given, start = told(whole, 7)
    text, gaps = runs(start=start)
    whole.js("explorer.takeRuns('mine.csv', arguments[0])", text)
    settled(whole)
    assert whole.find("#notice").get_property("hidden")
    assert whole.text("#runs-told") == "mine.csv: 2 plans of 7 rounds, optimality gap."
    pair = [gaps[8, 0.01, 3], gaps[8, 0.01, 11]]
    least = min(range(7), key=lambda r: pair[0][r] + pair[1][r])
    entries = {
        "last over rounds, server model": [x[-1] for x in pair],
        "mean over rounds, server model": [fmean(x[:-1]) for x in pair],
        "min over rounds, server model": [x[least] for x in pair],
    }
    entries["min over iterations, virtual average of all clients"] = entries["min over rounds, server model"]
    seen = set()
    for row in whole.js("return explorer.rows('optimality_gap', arguments[0], {})", given):
        found = [one for one in row["evidence"] if one["kind"] == "measured"]
        assert bool(found) == (row["kind"] in entries and row["state"] != "silent"), row["kind"]
        for one in found:
            seen.add(row["kind"])
            assert one["above"] is ("iterations" in row["kind"]), "the server's models are among more of them"
            assert float(one["value"]) == pytest.approx(fmean(entries[row["kind"]]), rel=CLOSE)
            assert one["error"] == pytest.approx(stdev(entries[row["kind"]]) / 2**0.5, rel=1e-9)
    assert len(seen) >= 2
    away = whole.js("return explorer.rows('optimality_gap', {...arguments[0], local_steps: 9}, {})", given)
    assert not any(one["kind"] == "measured" for row in away for one in row["evidence"])
    titles = whole.js("return [...document.querySelectorAll('#plane g title')].map((t) => t.textContent)")
    assert sum("measured" in title for title in titles) == 2


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text.replace(",0.01,3,2,", ",0.01,3,1,", 1), "seed 3 has round 1 of optimality_gap twice"),
        (lambda text: text.replace("fedavg()", "scaffold()"), "it holds runs of scaffold()"),
        (lambda text: text.replace(",8,0.01,", ",8.5,0.01,"), "local_steps must be a whole number from 1; it is 8.5"),
        (lambda text: text.replace("optimality_gap", "train_loss"), "it measures none of optimality_gap"),
        (lambda text: text.replace("seed", "run"), "it has no column seed"),
        (lambda text: "".join(x for x in text.splitlines(True) if ",11," not in x), "a standard error needs at least"),
        (lambda text: text + "fedavg(),10,8,0.01\n", "has 4 fields, the first line 8"),
        (lambda text: text.replace("gap,0.", "gap,zero ", 3), "optimality_gap must be a number; it is zero"),
        (lambda text: text.replace("gap,0.", 'gap,0"', 1), "line 3 has a quotation mark within a field"),
        (lambda text: runs(rounds=6, start=runs.start)[0], "its runs have 6 rounds, your plan has 7"),
        (lambda text: runs(start=2 * runs.start)[0], "they are of another one"),
    ],
)
def test_runs_that_do_not_fit_are_refused_whole_with_one_line(change, why, whole):
    _, runs.start = told(whole, 7)
    whole.js("explorer.takeRuns('wrong.csv', arguments[0])", change(runs(start=runs.start)[0]))
    assert why in whole.text("#notice")
    assert whole.text("#notice").startswith("wrong.csv was not taken: ")
    assert whole.text("#runs-told").startswith("No committed measurement")
    assert whole.text("#notice").count("\n") == 0


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: f"\ufeff{text}\n\n",
        lambda text: text.replace("fedavg()", '"fedavg()"'),
    ],
)
def test_runs_are_taken_however_their_lines_end(change, whole):
    _, start = told(whole, 7)
    whole.js("explorer.takeRuns('mine.csv', arguments[0])", change(runs(start=start)[0]))
    assert whole.find("#notice").get_property("hidden"), whole.text("#notice")
    assert whole.text("#runs-told") == "mine.csv: 2 plans of 7 rounds, optimality gap."
