"""Theorem 1 of Decaying-K, as printed and repaired: bound, exact value and measurement on one axis."""

from .theorems import of_paper

ARTEFACT = of_paper("decaying_k", " Least squared gradient over all local iterations, at the average of all clients.")
