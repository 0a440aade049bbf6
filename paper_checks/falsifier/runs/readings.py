"""What a run of ``Moments`` says in the vocabulary's words, as exact expectations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .moments import Moments

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class MomentReadings:
    """The readings of a run: per server model, per round, per local iteration."""

    run: Moments

    @cached_property
    def server(self) -> dict[str, Array]:
        """Before the first round and after every one."""
        run, p = self.run, self.run.problem
        model = run._model
        root = np.linalg.cholesky(p.curvature).T
        clients = run.square(np.einsum("kde,ken->kdn", p.curvatures, model - run._minima))
        found = {
            "grad_norm_sq": run.square(p.curvature @ model),
            "optimality_gap": run.square(root @ model) / 2,
            "client_grad_norm_sq": clients,
            "mean_client_grad_sq": clients @ p.weights,
        }
        if run.memory:
            found["divergence"] = run.square(run._lasts - model).mean(axis=1)
        return found

    @cached_property
    def rounds(self) -> dict[str, Array]:
        """One entry per round."""
        gap = self.server["optimality_gap"]
        count = self.run.number_of_rounds
        return {
            "local_steps": np.full(count, self.run.local_steps),
            "loss_change": np.diff(gap),
            "loss_decrease": -np.diff(gap),
            "local_drift": self._local_drift(),
            "grad_cap_sq": self._grad_cap(),
            **self._gradients(),
            **self._moved(),
        }

    @cached_property
    def _before(self) -> Array:
        return self.run.states[:-1]

    def _local_drift(self) -> Array:
        run = self.run
        steps = run.square(run.path[:, :-1] - run._model, run.noise[:, :-1].sum(-1), self._before)
        return np.asarray(steps.sum(2).mean(1))

    def _grad_cap(self) -> Array:
        """The largest expected squared stochastic gradient of a round, over clients and steps."""
        run, p = self.run, self.run.problem
        maps = np.einsum("kde,kjen->kjdn", p.curvatures, run.path[:, :-1] - run._minima[:, None])
        spread = (run.noise[:, :-1] * run._axes[0][:, None] ** 2).sum(-1)
        norms = run.square(maps, spread, self._before) + p.client_gradient_variance[:, None]
        return np.asarray(norms.max(axis=(1, 2)))

    def _gradients(self) -> dict[str, Array]:
        """Gradients summed or averaged along the paths; the noise of a step is in all later gradients of its client."""
        run, p, steps = self.run, self.run.problem, self.run.local_steps
        walked = np.einsum("kde,kjen->kdn", p.curvatures, run.path[:, :-1] - run._minima[:, None])
        later = np.cumsum(run._shrinks[:, :-1], axis=1)[:, : steps - 1]  # what the noise of a step adds up to
        spread = run._unit_noise * ((later**2).sum(1) * run._axes[0] ** 2).sum(-1)
        at_start = np.einsum("kde,ken->kdn", p.curvatures, run._model - run._minima)
        drift = run.square(at_start - walked / steps, spread / steps**2, self._before)
        return {
            "summed_grad_norm_sq": run.square(walked.sum(0), spread.sum(), self._before),
            "mean_path_gradient_sq": run.square(
                np.einsum("k,kdn->dn", p.weights, walked) / steps, p.weights**2 @ spread / steps**2, self._before
            ),
            "gradient_drift": drift,
            "mean_gradient_drift": drift @ p.weights,
        }

    def _moved(self) -> dict[str, Array]:
        """What depends on who was drawn: the server's step, and the drawn clients' distance to its end."""
        run, p, d = self.run, self.run.problem, self.run.problem.dim
        step, aligned, apart = np.zeros(()), np.zeros(()), np.zeros(())
        for chance, weights, linear, covariance in run._rounds:
            move = linear[1 : 1 + d] - run._model
            spread = np.trace(covariance[1 : 1 + d, 1 : 1 + d])
            step = step + chance * run.square(move, spread, self._before)
            aligned = aligned + chance * run.product(p.curvature @ run._model, move, self._before)
            if run.memory:
                after = run.square(run._lasts - run._model, 0.0, self._after(linear, covariance))
                everybody = len(run.cohorts) == 1  # whose divergence is a plain mean, whatever the weights
                apart = apart + chance * (after.mean(1) if everybody else after @ weights)
        # With all clients, and no relaxed start, the server's step is the mean gradient times step size and steps.
        alone = run.beta == 0 and len(run.cohorts) == 1
        mean = step / (run.step_size * run.local_steps) ** 2 if alone else np.full_like(step, np.nan)
        found = {"global_step": step, "step_alignment": aligned, "mean_update_sq": mean}
        return {**found, **({"active_divergence": apart} if run.memory else {})}

    def _after(self, linear: Array, covariance: Array) -> Array:
        """The states after a round with a certain cohort, flat."""
        n = len(linear)
        before = self._before.reshape(-1, n, n)
        return (linear @ before @ linear.T + covariance).reshape(len(before), -1)

    @cached_property
    def _average(self) -> tuple[Array, Array]:
        """The virtual average of all clients after 0..K-1 steps: maps ``(K, d, n)``, covariances ``(K, d, d)``."""
        run, p = self.run, self.run.problem
        maps = np.einsum("k,kjdn->jdn", p.weights, run.path[:, :-1])
        vectors = run._axes[1]
        spread = np.einsum("k,kde,kje,kfe->jdf", p.weights**2, vectors, run.noise[:, :-1], vectors)
        return maps, spread

    def iterations(self, name: str) -> Array:
        """A reading at the virtual average over all local iterations; the last entry is the last server model's."""
        run, p = self.run, self.run.problem
        metric = {"grad_norm_sq": p.curvature, "distance_sq": np.eye(p.dim)}[name]
        maps, spread = self._average
        added = np.einsum("de,jef,df->j", metric, spread, metric)
        along = run.square(np.einsum("de,jen->jdn", metric, maps), added, self._before).ravel()
        return np.append(along, run.square(metric @ run._model, 0.0, run.states[-1:]))
