"""A.6.2, (18) to (57): from smoothness to the descent of one round, each step derived from the one before."""

from __future__ import annotations

import sympy as sp

from bounds.domains import NONNEGATIVE, POSITIVE, REAL
from bounds.fedcog.letters import g_k
from bounds.operators import ClientMean
from bounds.quantities import quantity
from bounds.vocabulary import GRADIENT

from ..checkers import Broken
from ..claim import Book

T_1 = quantity("gradient_alignment", "T_1", "inner product of global and mean stochastic gradient", GRADIENT**2, REAL)
T_2 = quantity("squared_mean_gradient", "T_2", "squared mean stochastic gradient", GRADIENT**2, NONNEGATIVE)
r = sp.Symbol("r", integer=True, nonnegative=True)
PATH = quantity("path_gradients", r"\sum_s T_5", "squared gradients summed over a local path", GRADIENT**2, NONNEGATIVE)
S = quantity("path_distance", "S", "L^2 times the mean squared distance along a local path", GRADIENT**2, NONNEGATIVE)
one = quantity("first_vector", "a", "a component of one vector", GRADIENT, REAL)
other = quantity("second_vector", "b", "the same component of another vector", GRADIENT, REAL)
u = quantity("first_share", "u", "weight of the one vector", domain=POSITIVE)
v = quantity("second_share", "v", "weight of the other vector", domain=POSITIVE)


def averaged(book: Book) -> sp.Expr:
    """Return (51) averaged over the clients, with Assumption 5.4."""
    mean = ClientMean(sp.expand(book["fedcog.gradient_drift"].expr))
    return mean.subs(ClientMean(g_k), book["fedcog.dissimilarity"].expr)


broken_19 = Broken("fedcog.smoothness_step_printed", "fedcog_eq_19.json", ratio=-1.0)
