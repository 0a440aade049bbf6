"""A bound that is false, to see it caught: gradients do not fall as fast as 1/R^2. Try

fedbounds falsify examples/false_bound.py:claim
fedbounds validate examples/false_bound.py:claim
fedbounds tightness examples/false_bound.py:claim local_steps=2 rounds=3,4
fedbounds compare grad_norm_sq clients=5 cohort=3 local_steps=4 rounds=7 step_size=0.05 smoothness=2.3 \\
    strong_convexity=0.07 initial_gap=0.6 --exact --own examples/false_bound.py:claim
"""

from bounds import About, Bound, Condition, Source, Statistic
from bounds.vocabulary import (
    grad_norm_sq,
    initial_gap as D,
    local_steps as K,
    rounds as R,
    smoothness as L,
    step_size as eta,
)

claim = Bound(
    name="false.claim",
    target=grad_norm_sq,
    terms={"optimisation": 2 * D / (eta * K * R**2)},
    conditions=(Condition("the step size is at most 1/L", L * eta <= 1), Condition.assume("convex")),
    source=Source("nobody", "Conjecture 1"),
    about=About("fedavg"),
    statistic=Statistic("min", "rounds", "server model"),
)
