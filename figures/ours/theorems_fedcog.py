"""FedCOG's convergence theorem: bound, exact value and measurement on one axis."""

from .theorems import of_paper

ARTEFACT = of_paper(
    "fedcog",
    " Before generation sets in, so that the objective is the task's alone; all clients take part.",
)
