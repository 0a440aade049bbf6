"""Plans and budgets, which all figures share."""

import pytest
from loops import cases

from empirics.experiments import Cell
from figures.catalogue import BY_PAPER
from figures.scale import Budget, Plan, plans_of, SCALES

BUDGET = Budget(
    step={"": 0.003, "(mnist": 0.005}, start=1.5, measurement=0.07, image=0.02, per_run={"step_times": 42.0},
    factor={"moon": 2.5, "fedsam": 2.0},
)  # fmt: skip
SETTING = {"problem": "softmax(digits)", "rounds": 12, "local_steps": 7, "clients": 9, "cohort": 4, "every": 3}


def test_every_paper_has_one_plan_of_one_kind_for_every_scale_and_a_cell_for_every_seed():
    for paper in BY_PAPER:
        plans = plans_of(paper)
        assert set(plans) == set(SCALES), paper
        assert {type(plan) for plan in plans.values()} == {Plan}, paper
    cells = Plan(seeds=3, budget=BUDGET).cells("train", algorithm="fedavg()", **SETTING)
    assert [cell.arguments["seed"] for cell in cells] == [0, 1, 2]
    assert len({cell.key for cell in cells}) == 3


STEP, ENDS = 4 * 7, 4 * 0.07 + 1.5
"""Local steps of a round; seconds of a run beside its rounds."""


@cases(
    "job given seconds",
    [
        ("train", {"algorithm": "fedavg()"}, 12 * STEP * 0.003 + ENDS),
        ("train", {"algorithm": "fedavg()", "problem": "softmax(mnist)"}, 12 * STEP * 0.005 + ENDS),
        ("train", {"algorithm": "moon(mu=0.01)"}, 2.5 * 12 * STEP * 0.003 + ENDS),
        ("step_times", {"networks": []}, 42.0),
        (  # five of the rounds are another method's, of which a quarter counts; images in the seven that follow
            "continued",
            {"first": "fedavg()", "after": 5, "algorithm": "fedcog(samples=16, steps=6)"},
            (12 - 5 * 0.75) * STEP * 0.003 + 7 * 4 * (6 * 0.02 + 7 * 0.003) + ENDS,
        ),
        (  # two methods and one round to warm up
            "round_times",
            {"algorithms": ["fedavg()", "scaffold()"], "laps": 2, "seed": 5},
            (3 * 2 + 1) * STEP * 0.003 * 3 + 1.5,
        ),
    ],
)
def test_a_budget_by_plain_arithmetic(job, given, seconds):
    assert BUDGET.minutes(Cell(job, SETTING | given)) == pytest.approx(seconds / 60)
