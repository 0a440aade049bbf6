"""What the papers' own formulas recommend at a scenario: K* and eta*, printed and derived, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bounds.errors import BoundsError
from bounds.scenario import Scenario

from .bound_advice import by_formula, formulas, other_ends
from .compare_rows import Recommended
from .goals import Goal, OVER, TARGETS

DERIVED = "derived"
"""What the source of a formula says that does not stand so in its paper."""


def recommended(scenario: Scenario, target: str, of: Sequence[str] = ()) -> tuple[Recommended, ...]:
    """Every formula of the papers, or of those that are meant, that the scenario has the words of."""
    if not {*OVER, "rounds"} <= scenario.keys():
        return ()
    try:
        goal = Goal.of(scenario, target if target in TARGETS else TARGETS[0], None, 1)
    except BoundsError:  # how long the run is follows from something else
        return ()
    return tuple(_all(goal, {name.partition(".")[0] for name in of}))


def _all(goal: Goal, papers: set[str]) -> Iterator[Recommended]:
    plan = int(goal.scenario["local_steps"].value), float(goal.scenario["step_size"].value)
    ends = [goal.within(end) for end in other_ends(goal.scenario)]
    for bound in formulas(goal, OVER):
        if papers and bound.name.partition(".")[0] not in papers:
            continue
        at = (1, plan[1]) if bound.target.name == "local_steps" else plan
        made = by_formula(bound, goal, *at)
        if made is None:
            continue
        others = [one[1] for end in ends if (one := by_formula(bound, end, *at)) is not None]
        values = [made[1], *(value for value in others if math.isfinite(value))]
        printed = DERIVED not in str(bound.source)
        yield Recommended(bound.name, bound.target.name, made[1], min(values), max(values), printed, str(bound.source))
