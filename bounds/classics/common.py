"""Shared parts of the classic theorems: the algorithm, statistics and conditions.

All are about FedAvg, there called local SGD: K local steps from the server model, then the mean. SGD on one machine is
FedAvg with one client.
"""

from __future__ import annotations

import sympy as sp

from .. import vocabulary as q
from ..core import About, assumed, Condition, Statistic
from ..operators import ClientMax
from ..places import AVERAGE, VIRTUAL

FEDAVG = About("fedavg")
AVERAGED = Statistic("expectation", "iterations", AVERAGE)
LAST_VIRTUAL = Statistic("last", "iterations", VIRTUAL)
EVERY_VIRTUAL = Statistic("every", "iterations", VIRTUAL)
MEAN_VIRTUAL = Statistic("mean", "iterations", VIRTUAL)

EQUAL_WEIGHTS = Condition("all clients weigh the same", sides=(ClientMax(q.client_weight), 1 / q.clients))
ENDS_WITH_A_ROUND = Condition(
    "the run ends with a round: its iterations are a multiple of the local steps",
    sides=(q.iterations, q.local_steps * q.rounds),
)
TUNED_STEP = Condition(
    "the step size is sqrt(M)/(4 L sqrt(T))",
    sides=(q.step_size, sp.sqrt(q.clients) / (4 * q.smoothness * sp.sqrt(q.iterations))),
)
EVERYONE = assumed("local_sgd", "full_participation")
FIXED = assumed("fixed_step_size", "fixed_local_steps")
