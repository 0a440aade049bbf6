"""FedInit's lemmas and theorems on quadratics: bound, exact value and sampled runs on one axis."""

from .theorems import of_paper, QUADRATICS

MORE = " Relaxation 0.06, half of the clients averaged, lambda the best that is allowed."

ARTEFACT = of_paper("fedinit", MORE, (QUADRATICS,))
