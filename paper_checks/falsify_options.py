"""The families of instances that ``fedbounds falsify`` searches, and its default budget."""

EVALUATIONS = 4000
"""Evaluations of a search by default."""
FAMILIES = {
    "quadratics": "local SGD on quadratic clients in 1 or 2 dimensions, exact expectations over noise and cohorts",
    "curves": "gradient steps on smooth functions of one variable, convex or not, without noise, all cohorts followed",
    "atoms": "quadratic losses of few samples from two-point distributions, exact expectations over all data sets",
}
"""Descriptions of the families of instances, by name."""
