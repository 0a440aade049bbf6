"""What a run of ``Moments`` says in the vocabulary's words, as exact expectations; a word over clients has kinds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bounds.weights import Weights

from .moments import ENDS, Moments

Array = np.ndarray[Any, Any]


def metric_of(curvature: Array, name: str) -> Array:
    """The symmetric matrix M for which a word is the expected ``|M (w - w*)|^2``: squared gradient or distance, gap."""
    if name == "optimality_gap":
        values, axes = np.linalg.eigh(curvature)
        root: Array = axes * np.sqrt(values / 2) @ axes.T
        return root
    return {"grad_norm_sq": curvature, "distance_sq": np.eye(len(curvature))}[name]


@dataclass(frozen=True, eq=False)
class MomentReadings:
    """The readings of a run: per server model, per round, per local iteration; of ``wanted`` words where told."""

    run: Moments
    wanted: frozenset[str] | None = None

    def _asked(self, *names: str) -> bool:
        return self.wanted is None or not self.wanted.isdisjoint(names)

    @cached_property
    def server(self) -> dict[str, Array]:
        """Before the first round and after every one."""
        run, p = self.run, self.run.problem
        model = run._model
        root = np.linalg.cholesky(p.curvature).T
        found = {
            "grad_norm_sq": run.square(p.curvature @ model),
            "optimality_gap": run.square(root @ model) / 2,
        }
        if self._asked("distance_sq"):
            found["distance_sq"] = run.square(model)
        if self._asked("client_grad_norm_sq", "mean_client_grad_sq"):
            clients = run.square(np.einsum("kde,ken->kdn", p.curvatures, model - run._minima))
            found |= {"client_grad_norm_sq": clients, "mean_client_grad_sq": clients @ p.weights}
        if run.memory and run.lasting:
            apart = np.tile(np.eye(p.dim), (run.kinds, 1, 1))
            found["divergence"] = run.square(run._lasts - model, dev=apart) @ run.counted
        return found

    @cached_property
    def rounds(self) -> dict[str, Array]:
        """One entry per round."""
        gap = self.server["optimality_gap"]
        known = {
            "local_steps": np.full(len(self._before), self.run.local_steps),
            "loss_change": np.diff(gap),
            "loss_decrease": -np.diff(gap),
        }
        if self._asked("local_drift"):
            known["local_drift"] = self._local_drift()
        if self._asked("grad_cap_sq"):
            known["grad_cap_sq"] = self._grad_cap()
        if self._asked("summed_grad_norm_sq", "mean_path_gradient_sq", "gradient_drift", "mean_gradient_drift"):
            known |= self._gradients()
        if self._asked("global_step", "step_alignment", "mean_update_sq", "active_divergence"):
            known |= self._moved()
        return known

    @cached_property
    def _before(self) -> Array:
        return self.run.states[:-1]

    def _local_drift(self) -> Array:
        run = self.run
        forms = run.form(run.path[:, :-1] - run._model, run.dev[:, :-1]).sum(1)
        return run.read(forms, run.noise[:, :-1].sum((1, 2)), self._before) @ run.counted

    def _grad_cap(self) -> Array:
        """The largest expected squared stochastic gradient of a round, over clients and steps."""
        run, p = self.run, self.run.problem
        maps = np.einsum("kde,kjen->kjdn", p.curvatures, run.path[:, :-1] - run._minima[:, None])
        dev = np.einsum("kde,kjen->kjdn", p.curvatures, run.dev[:, :-1])
        spread = (run.noise[:, :-1] * run._axes[0][:, None] ** 2).sum(-1)
        forms, known = run.form(maps, dev), self._before
        if run.looked == ENDS:  # between its ends, every number of the state adds at most what it adds at one of them
            forms, known = np.abs(forms), np.tile(np.abs(known).max(0), (len(known), 1))
        norms = run.read(forms, spread, known) + p.client_gradient_variance[:, None]
        return np.asarray(norms.max(axis=(1, 2)))

    def _gradients(self) -> dict[str, Array]:
        """Gradients summed or averaged along the paths; the noise of a step is in all later gradients of its client."""
        run, p, steps = self.run, self.run.problem, self.run.local_steps
        walked = np.einsum("kde,kjen->kdn", p.curvatures, run.path[:, :-1] - run._minima[:, None])
        dev = np.einsum("kde,kjen->kdn", p.curvatures, run.dev[:, :-1])
        later = np.cumsum(run._shrinks[:, :-1], axis=1)[:, : steps - 1]  # what the noise of a step adds up to
        spread = run._unit_noise * ((later**2).sum(1) * run._axes[0] ** 2).sum(-1)
        at_start = np.einsum("kde,ken->kdn", p.curvatures, run._model - run._minima)
        drift = run.square(at_start - walked / steps, spread / steps**2, self._before, dev / steps)
        whole, mean = np.einsum("k,kdn->dn", run.sizes, walked), np.einsum("k,kdn->dn", p.weights, walked) / steps
        return {
            "summed_grad_norm_sq": run.square(whole, run.sizes @ spread, self._before),
            "mean_path_gradient_sq": run.square(mean, (p.weights**2 / run.sizes) @ spread / steps**2, self._before),
            "gradient_drift": drift,
            "mean_gradient_drift": drift @ p.weights,
        }

    def _moved(self) -> dict[str, Array]:
        """What depends on who was drawn: the server's step, and the drawn clients' distance to its end."""
        run, p, d = self.run, self.run.problem, self.run.problem.dim
        played, known = run.round, self._before
        s, v = played.blocks(known)
        drawn = played.chance(s, v) + played.added
        move = played.sent[:d] - run._model
        step = run.square(move, 0.0, known) + np.trace(drawn[:, :d, :d], axis1=1, axis2=2)
        # With all clients, and no relaxed start, the server's step is the mean gradient times step size and steps.
        everybody = not run.draw.own.any()
        mean = (
            step / (run.step_size * run.local_steps) ** 2 if run.beta == 0 and everybody else np.full_like(step, np.nan)
        )
        found = {
            "global_step": step,
            "step_alignment": run.product(p.curvature @ run._model, move, known),
            "mean_update_sq": mean,
        }
        if not run.memory:
            return found
        # Around the old model, sum a |end - new|^2 = sum a |end - old|^2 - 2 <sum a (end - old), step> + |step|^2.
        ends = run.square(run.path[:, -1] - run._model, run.noise[:, -1].sum(-1), known, run.dev[:, -1])
        share = run.counted if everybody else run.sizes * run.draw.mean[:, 0]
        across = self._across(move, drawn, share if everybody else None)
        return {**found, "active_divergence": np.maximum(ends @ share - 2 * across + step, 0.0)}

    def _across(self, move: Array, drawn: Array, share: Array | None) -> Array:
        """The expected product of the server's step and the (evenly or by draw) averaged step of the clients."""
        run, d = self.run, self.run.problem.dim
        sent = run.round.sent
        if share is None:
            own = sent[d:] - run._model if len(sent) > d else move
            block = drawn[:, :d, d : 2 * d] if len(sent) > d else drawn[:, :d, :d]
            return run.product(move, own, self._before) + np.trace(block, axis1=1, axis2=2)
        own = np.einsum("k,kdn->dn", share, run.path[:, -1] - run._model)
        spread = run.counted * run.draw.mean[:, 0] @ run.noise[:, -1].sum(-1)
        return run.product(move, own, self._before) + spread

    @cached_property
    def _average(self) -> tuple[Array, Array]:
        """The virtual average of all clients after 0..K-1 steps: maps ``(K, d, n)``, covariances ``(K, d, d)``."""
        run, p = self.run, self.run.problem
        maps = np.einsum("k,kjdn->jdn", p.weights, run.path[:, :-1])
        vectors = run._axes[1]
        shares = p.weights**2 / run.sizes
        spread = np.einsum("k,kde,kje,kfe->jdf", shares, vectors, run.noise[:, :-1], vectors)
        return maps, spread

    def iterations(self, name: str) -> Array:
        """A reading at the virtual average over all local iterations; the last entry is the last server model's."""
        run, p = self.run, self.run.problem
        metric = metric_of(p.curvature, name)
        maps, spread = self._average
        added = np.einsum("de,jef,df->j", metric, spread, metric)
        along = run.square(np.einsum("de,jen->jdn", metric, maps), added, self._before).ravel()
        return np.append(along, run.square(metric @ run._model, 0.0, run.states[-1:]))

    def average_gap(self, weights: Weights | None = None) -> Any:
        """The loss gap at the mean of the virtual averages before every local step."""
        run = self.run
        iterations = run.local_steps * run.number_of_rounds
        if weights is not None:  # every round has its own
            sizes = np.full((run.number_of_rounds, run.local_steps), run.step_size)
            return FallingReadings(run, sizes, self.wanted).average_gap(weights)
        return self.summed_gap / iterations**2

    @property
    def summed_gap(self) -> Any:
        """The loss gap at the minimiser plus the sum of the averages' ways from it."""
        root = np.linalg.cholesky(self.run.problem.curvature).T
        return self.run.square(root @ self.run.sum, 0.0, self.run.states[-1:])[0] / 2


@dataclass(frozen=True, eq=False)
class FallingReadings:
    """The readings of a run whose step size falls: of its rounds one after another, each of which has a map of its own.

    ``base`` has the plan; ``sizes`` are the step sizes of all rounds ``(R, K)``.
    """

    base: Moments
    sizes: Array
    wanted: frozenset[str] | None = None
    shares: Array | None = None
    """How often the local steps of all rounds are counted in the sum of averages ``(R, K)``, once without it."""

    @cached_property
    def parts(self) -> list[MomentReadings]:
        """The readings of every round alone, from the state that the one before it left."""
        found: list[MomentReadings] = []
        state = None
        for i, sizes in enumerate(self.sizes):
            shares = None if self.shares is None else self.shares[i]
            first = float(sizes[0])
            one = replace(self.base, falling=sizes, step_size=first, number_of_rounds=1, begun=state, shares=shares)
            state = one.states[-1]
            found.append(MomentReadings(one, self.wanted))
        return found

    @property
    def finite(self) -> bool:
        """Whether all moments stayed finite."""
        return all(bool(np.isfinite(part.run.states).all()) for part in self.parts)

    @cached_property
    def server(self) -> dict[str, Array]:
        """Before the first round and after every one."""
        first = self.parts[0].server
        return {name: np.concatenate([*(p.server[name][:1] for p in self.parts), self.parts[-1].server[name][1:]])
                for name in first}  # fmt: skip

    @cached_property
    def rounds(self) -> dict[str, Array]:
        """One entry per round."""
        return {name: np.concatenate([p.rounds[name] for p in self.parts]) for name in self.parts[0].rounds}

    def iterations(self, name: str) -> Array:
        """At the virtual average over all local iterations, and at the last server model."""
        along = [part.iterations(name) for part in self.parts]
        return np.concatenate([*(each[:-1] for each in along), along[-1][-1:]])

    def average_gap(self, weights: Weights | None = None) -> Any:
        """As that of a run of fixed step sizes: the sum is carried on from round to round."""
        shares = np.reshape((weights or Weights()).shares(self.sizes.size), self.sizes.shape)
        return replace(self, shares=shares).parts[-1].summed_gap
