"""The families of instances that ``fedbounds falsify`` searches, and its usual budget."""

EVALUATIONS = 4000
"""The usual budget of a search."""
FAMILIES = {
    "quadratics": "local SGD on quadratic clients in 1 or 2 dimensions, expectations over noise and cohorts exact",
    "curves": "gradient steps on smooth functions of one variable, convex or not, all cohorts followed",
    "atoms": "quadratic losses of few samples from two-point distributions, expectations over all data sets exact",
}
"""The families of instances, in words."""
