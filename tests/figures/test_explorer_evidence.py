"""Exact numbers beside the rows of the page of one federation: those of ``compare``, and none elsewhere."""

import time
from random import Random
from statistics import fmean, stdev

import pytest
from explorer_browser import settled

from bounds.catalog import BOUNDS
from bounds.scenario import Scenario
from figures.explorer import federations, worst
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
    assert whole.text("#ladder").count("the bound is ") == 3
    assert "exact worst case: best of the plans" in whole.text("#run-table")


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
        (lambda text: runs(rounds=6, start=runs.start)[0], "its runs have 6 rounds, your plan has 7"),
        (lambda text: runs(start=2 * runs.start)[0], "they are of another one"),
    ],
)
def test_runs_that_do_not_fit_are_refused_whole_with_one_line(change, why, whole):
    _, runs.start = told(whole, 7)
    whole.js("explorer.takeRuns('wrong.csv', arguments[0])", change(runs(start=runs.start)[0]))
    assert why in whole.text("#notice")
    assert whole.text("#notice").startswith("wrong.csv was not taken: ")
    assert whole.text("#runs-told") == ""
    assert whole.text("#notice").count("\n") == 0
