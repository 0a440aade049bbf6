"""What a problem tells of itself: losses, gradients, minimisers and the constants that theorems ask for."""

from __future__ import annotations

from typing import Protocol, TypeVar

V = TypeVar("V")


class Problem(Protocol[V]):
    """The global loss ``F = sum_k p_k F_k`` of clients whose losses are known; ``V`` is the kind of its arrays.

    Models are flat ``(dim,)``. What nobody knows is None, what has no bound is infinite; every other constant holds at
    every model. These are the attributes that the assumptions of ``bounds.assumptions`` read, and a bound's words.
    """

    @property
    def clients(self) -> int: ...

    @property
    def weights(self) -> V:
        """p ``(clients,)``, summing to 1."""
        ...

    def client_losses(self, w: V) -> V:
        """``F_k(w)`` ``(clients,)``."""
        ...

    def client_gradients(self, w: V) -> V:
        """``grad F_k(w)`` ``(clients, dim)``."""
        ...

    @property
    def minimiser(self) -> V:
        """The minimiser of F ``(dim,)``."""
        ...

    @property
    def local_minimisers(self) -> V:
        """A minimiser of every ``F_k`` ``(clients, dim)``."""
        ...

    @property
    def optimal_loss(self) -> float: ...

    @property
    def local_optimal_losses(self) -> V:
        """The smallest ``F_k`` ``(clients,)``."""
        ...

    @property
    def smoothness(self) -> float | None:
        """L of every client's loss: gradients change by at most L times the distance."""
        ...

    @property
    def sample_smoothness(self) -> float | None:
        """L of the loss of every single sample, never below ``smoothness``."""
        ...

    @property
    def strong_convexity(self) -> float | None:
        """mu of every client's loss."""
        ...

    @property
    def pl_constant(self) -> float | None:
        """mu with ``2 mu (F - F*) <= ||grad F||^2``."""
        ...

    @property
    def heterogeneity(self) -> float | None:
        """``Gamma = F* - sum_k p_k min F_k``."""
        ...

    @property
    def gradient_variance(self) -> float | None:
        """A bound on the variance of a client's stochastic gradient."""
        ...

    @property
    def optimum_dissimilarity(self) -> float | None:
        """``sum_k p_k ||grad F_k(w*)||^2`` at the minimiser of F."""
        ...

    @property
    def dissimilarity_offset(self) -> float | None:
        """G^2 of ``sum_k p_k ||grad F_k||^2 <= G^2 + B^2 ||grad F||^2``."""
        ...

    @property
    def dissimilarity_factor(self) -> float | None:
        """B^2 of the same."""
        ...

    @property
    def convex(self) -> bool: ...

    @property
    def nonnegative_loss(self) -> bool: ...

    @property
    def independent_samples(self) -> bool | None:
        """Whether every client's samples are independent draws from a distribution of its own."""
        ...
