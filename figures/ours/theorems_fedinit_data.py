"""FedInit's lemmas and theorems on real data: bound and measurement on one axis."""

from .theorems import DATA, of_paper
from .theorems_fedinit import MORE

ARTEFACT = of_paper("fedinit", MORE, (DATA,), "_data")
