"""Exact numbers beside the rows of the page of one federation: those of ``compare``, and none elsewhere."""

import time

import pytest

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
    assert "exact worst case, best of the plans" in whole.text("#run-table")
