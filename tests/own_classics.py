"""Three classic theorems as somebody would declare them, and one of each with a constant that is too small."""

from dataclasses import replace

import sympy as sp

from bounds.assumptions import (
    BOUNDED_GRADIENT,
    BOUNDED_VARIANCE,
    CONVEX,
    EXACT_GRADIENTS,
    FIXED_LOCAL_STEPS,
    FIXED_STEP_SIZE,
    FULL_PARTICIPATION,
    GLOBALLY_STRONGLY_CONVEX,
    HARMONIC_STEP_SIZE,
    LOCAL_SGD,
    ONE_CLIENT,
    SMOOTH,
    STRONGLY_CONVEX,
)
from bounds.core import About, Bound, Condition, Source, Statistic
from bounds.operators import ClientSum
from bounds.vocabulary import (
    average_gap,
    client_gradient_variance,
    client_weight,
    grad_cap_sq,
    gradient_variance,
    heterogeneity,
    initial_distance_sq,
    initial_gap,
    iterations,
    local_steps,
    optimality_gap,
    optimum_dissimilarity,
    smoothness,
    step_offset,
    step_size,
    step_size_scale,
    strong_convexity,
)


def assumed(*assumptions):
    return tuple(Condition.assume(a) for a in assumptions)


FLOOR = step_size * smoothness * gradient_variance / (2 * strong_convexity)
sgd = Bound(
    name="own.sgd",
    target=optimality_gap,
    terms={"noise": FLOOR, "start": (1 - step_size * strong_convexity) ** iterations * (initial_gap - FLOOR)},
    conditions=(
        *assumed(ONE_CLIENT, LOCAL_SGD, SMOOTH, BOUNDED_VARIANCE, GLOBALLY_STRONGLY_CONVEX, FIXED_STEP_SIZE),
        Condition("the step size is at most 1/L", step_size <= 1 / smoothness),
    ),
    source=Source("own notes", "after Bottou et al. 2018, Theorem 4.6"),
    about=About("fedavg"),
    statistic=Statistic("last", "iterations", "server model"),
    signed=("start",),
)

KAPPA = smoothness / strong_convexity
NOISE = (
    ClientSum(client_weight**2 * client_gradient_variance)
    + 6 * smoothness * heterogeneity
    + 8 * (local_steps - 1) ** 2 * grad_cap_sq
)
falling = Bound(
    name="own.falling",
    target=optimality_gap,
    terms={
        "noise": KAPPA / (step_offset + iterations - 1) * step_size_scale * NOISE,
        "start": KAPPA / (step_offset + iterations - 1) * step_offset / step_size_scale * initial_distance_sq,
    },
    conditions=(
        *assumed(SMOOTH, STRONGLY_CONVEX, BOUNDED_VARIANCE, BOUNDED_GRADIENT, LOCAL_SGD, FULL_PARTICIPATION),
        *assumed(FIXED_LOCAL_STEPS, HARMONIC_STEP_SIZE),
        Condition("the scale is 2/mu", sp.Eq(step_size_scale, 2 / strong_convexity)),
        Condition("the offset is max(8 L/mu, E)", sp.Eq(step_offset, sp.Max(8 * KAPPA, local_steps))),
    ),
    source=Source("own notes", "after Li et al. 2020, Theorem 1"),
    about=About("fedavg"),
    statistic=Statistic("last", "rounds", "server model"),
)

averaged = Bound(
    name="own.averaged",
    target=average_gap,
    terms={
        "start": 2 * initial_distance_sq / (step_size * iterations),
        "heterogeneity": 24 * step_size**2 * optimum_dissimilarity * local_steps**2 * smoothness,
    },
    conditions=(
        *assumed(CONVEX, SMOOTH, EXACT_GRADIENTS, LOCAL_SGD, FULL_PARTICIPATION, FIXED_STEP_SIZE, FIXED_LOCAL_STEPS),
        Condition("the step size is at most 1/(4LH)", step_size <= 1 / (4 * smoothness * local_steps)),
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
