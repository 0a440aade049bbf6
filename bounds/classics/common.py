"""What the classic theorems share: the method, the statistics they are on, and conditions that several of them make.

All are about FedAvg, called local SGD there: K local steps from the server model, then the mean. SGD on one machine is
that of one client.
"""

from __future__ import annotations

from ..assumptions import FIXED_LOCAL_STEPS, FIXED_STEP_SIZE, FULL_PARTICIPATION, LOCAL_SGD
from ..core import About, Condition, Statistic
from ..places import AVERAGE, VIRTUAL

FEDAVG = About("fedavg")
AVERAGED = Statistic("expectation", "iterations", AVERAGE)
LAST_VIRTUAL = Statistic("last", "iterations", VIRTUAL)
EVERY_VIRTUAL = Statistic("every", "iterations", VIRTUAL)
MEAN_VIRTUAL = Statistic("mean", "iterations", VIRTUAL)

EQUAL_WEIGHTS = Condition("all clients weigh the same, 1/C")
ENDS_WITH_A_ROUND = Condition("the run ends with a round: its iterations are a multiple of the local steps")
EVERYONE = tuple(Condition.assume(a) for a in (LOCAL_SGD, FULL_PARTICIPATION))
FIXED = tuple(Condition.assume(a) for a in (FIXED_STEP_SIZE, FIXED_LOCAL_STEPS))
