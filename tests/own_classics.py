"""Three classic theorems as somebody would declare them, and one of each with a constant that is too small."""

from dataclasses import replace

import sympy as sp

from bounds import assumptions as a, vocabulary as q
from bounds.core import About, Bound, Condition, Statistic
from bounds.operators import ClientSum
from bounds.papers import Source


def assumed(*assumptions):
    return tuple(Condition.assume(one) for one in assumptions)


FLOOR = q.step_size * q.smoothness * q.gradient_variance / (2 * q.strong_convexity)
sgd = Bound(
    name="own.sgd",
    target=q.optimality_gap,
    terms={"noise": FLOOR, "start": (1 - q.step_size * q.strong_convexity) ** q.iterations * (q.initial_gap - FLOOR)},
    conditions=(
        *assumed(
            a.ONE_CLIENT, a.LOCAL_SGD, a.SMOOTH, a.BOUNDED_VARIANCE, a.GLOBALLY_STRONGLY_CONVEX, a.FIXED_STEP_SIZE
        ),
        Condition("the step size is at most 1/L", q.step_size <= 1 / q.smoothness),
    ),
    source=Source("own notes", "after Bottou et al. 2018, Theorem 4.6"),
    about=About("fedavg"),
    statistic=Statistic("last", "iterations", "server model"),
    signed=("start",),
)

KAPPA = q.smoothness / q.strong_convexity
NOISE = (
    ClientSum(q.client_weight**2 * q.client_gradient_variance)
    + 6 * q.smoothness * q.heterogeneity
    + 8 * (q.local_steps - 1) ** 2 * q.grad_cap_sq
)
falling = Bound(
    name="own.falling",
    target=q.optimality_gap,
    terms={
        "noise": KAPPA / (q.step_offset + q.iterations - 1) * q.step_size_scale * NOISE,
        "start": KAPPA / (q.step_offset + q.iterations - 1) * q.step_offset / q.step_size_scale * q.initial_distance_sq,
    },
    conditions=(
        *assumed(
            a.SMOOTH, a.STRONGLY_CONVEX, a.BOUNDED_VARIANCE, a.BOUNDED_GRADIENT, a.LOCAL_SGD, a.FULL_PARTICIPATION
        ),
        *assumed(a.FIXED_LOCAL_STEPS, a.HARMONIC_STEP_SIZE),
        Condition("the scale is 2/mu", sp.Eq(q.step_size_scale, 2 / q.strong_convexity)),
        Condition("the offset is max(8 L/mu, E)", sp.Eq(q.step_offset, sp.Max(8 * KAPPA, q.local_steps))),
    ),
    source=Source("own notes", "after Li et al. 2020, Theorem 1"),
    about=About("fedavg"),
    statistic=Statistic("last", "rounds", "server model"),
)

averaged = Bound(
    name="own.averaged",
    target=q.average_gap,
    terms={
        "start": 2 * q.initial_distance_sq / (q.step_size * q.iterations),
        "heterogeneity": 24 * q.step_size**2 * q.optimum_dissimilarity * q.local_steps**2 * q.smoothness,
    },
    conditions=(
        *assumed(
            a.CONVEX,
            a.SMOOTH,
            a.EXACT_GRADIENTS,
            a.LOCAL_SGD,
            a.FULL_PARTICIPATION,
            a.FIXED_STEP_SIZE,
            a.FIXED_LOCAL_STEPS,
        ),
        Condition("the step size is at most 1/(4LH)", q.step_size <= 1 / (4 * q.smoothness * q.local_steps)),
    ),
    source=Source("own notes", "after Khaled et al. 2019, Theorem 1"),
    about=About("fedavg"),
    statistic=Statistic("expectation", "iterations", "average of the iterates"),
)


def smaller(bound, share):
    """The bound with all its terms multiplied by a share."""
    return replace(bound, name=f"{bound.name}_planted", terms={n: share * t for n, t in bound.terms.items()})


sgd_planted = smaller(sgd, sp.Rational(9, 10))
falling_planted = smaller(falling, sp.Rational(1, 100))
averaged_planted = smaller(averaged, sp.Rational(1, 20))
