"""Runs of linear federated methods on quadratics: exact expectations over noise and cohorts.

A run follows mean and second moments of the server's vectors and the clients' memories from round to round (``rounds``)
and computes the quantities of the vocabulary from them, in floats, fractions or digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, groupby
from typing import Any

import numpy as np

from bounds.weights import Weights

from ..algorithms.algorithm import Algorithm
from ..errors import EmpiricsError
from ..sizes import NUMBER, refuse_beyond_memory
from ..training.setting import Setting
from .coefficients import Coefficients, Forms
from .draws import Draw
from .numbers import Array, Kind
from .paths import ClientRound, Clients, Frame
from .rounds import all_states, MomentMap, State, state_after

ALL, MEAN, ENDS, LAST_ROUND = "all", "mean", "ends", "last"
"""The states at which a run is evaluated: all; their mean and the last; the first and the last two; the last two."""
ROUNDING, CLOSE = 1e-12, 1e-40
"""Rounding error of a matrix entry relative to the largest, in floats and in digits."""


class LazyReadings(Mapping[str, Array]):
    """Quantities by name, each computed at its first use."""

    def __init__(self, kind: Kind, makers: Mapping[str, Callable[[], Any]]) -> None:
        self._kind, self._makers, self._values = kind, makers, dict[str, Array]()

    def __getitem__(self, name: str) -> Array:
        if name not in self._values:
            self._values[name] = self._kind.results(np.asarray(self._makers[name]()))
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True, eq=False)
class Run:
    """The expected quantities of a method on quadratic clients under a setting.

    ``server``, ``rounds`` and ``iterations`` are those of the protocol ``Moments``.

    ``shares (G,)`` are the weights of clients' models if all take part (None: equal). ``selection`` evaluates a long
    run at few states; it uses raw moments, which lose digits where a quantity is small relative to them.
    ``follow_last``: include the clients' last local models even if the method does not remember them. ``trusted``: the
    method is known to be linear. ``fixed_round``: the coefficients of every round, if they do not depend on step sizes
    and number of clients. ``names``: the quantities that are needed (None: all). ``group_of`` has the index of every
    client's group, for quantities of single clients.
    """

    clients: Clients
    algorithm: Algorithm
    setting: Setting
    draw: Draw
    shares: Sequence[Any] | None = None
    selection: str = ""
    follow_last: bool = True
    trusted: bool = False
    fixed_round: tuple[Forms, Coefficients] | None = None
    names: frozenset[str] | None = None
    group_of: Array | None = None
    layers: Mapping[str, slice] | None = None

    # ---- rounds ----

    @property
    def kind(self) -> Kind:
        return self.clients.kind

    @cached_property
    def _forms(self) -> list[list[Forms]]:
        """For every group (a single one if all shares are equal) the forms of every layer."""
        if self.fixed_round is not None:
            return [[self.fixed_round[0]]]
        names = list(self.layers or {"model": slice(None)})
        return [
            [
                Forms(self.algorithm, self.setting, self.kind, names, name, self.follow_last, self.trusted)
                for name in names
            ]
            for _ in self._shares
        ]

    @property
    def _shares(self) -> Sequence[Any]:
        return [None] if self.shares is None else self.shares

    def _next(self, round_: int = 0, before: ClientRound | None = None) -> ClientRound:
        """The next round, which shares the parts that are equal with the round before."""
        s = self.setting
        if self.fixed_round is not None:
            coefficients = [[self.fixed_round[1]]]
            sizes = self.kind.array(s.sizes(round_, s.step_size, s.steps))
        else:
            sizes = self._forms[0][0].plan()[1]
            total = sum(int(size) for size in self.clients.sizes)
            coefficients = [
                [form.next(total, share) for form in group]
                for group, share in zip(self._forms, self._shares, strict=True)
            ]
        if before is not None and _same(coefficients, before.frame.coefficients):
            same = len(sizes) == len(before.sizes) and bool((sizes == before.sizes).all())
            return before if same else replace(before, sizes=sizes)
        draw = self.draw.everyone() if self.algorithm.everyone else self.draw
        frame = Frame(self.clients, coefficients, draw, self._forms[0][0].memory)
        return ClientRound(frame, sizes, s.momentum, s.nesterov, s.weight_decay)

    @cached_property
    def client_rounds(self) -> list[ClientRound]:
        """The rounds that are evaluated; equal rounds are one object."""
        s, form = self.setting, self._forms[0][0]
        steady = s.step_size_decay == 1 and s.step_offset is None and s.step_size_rule == "constant"
        if self.selection or (steady and self.trusted and form.initial_server == len(form.server)):
            count = {"": s.rounds, ALL: s.rounds, ENDS: 2}.get(self.selection, 1)
            return [self.opening] * count
        rounds: list[ClientRound] = []
        for round_ in range(s.rounds):
            rounds.append(self._next(round_, rounds[-1] if rounds else None))
        return rounds

    @cached_property
    def opening(self) -> ClientRound:
        """The first round."""
        return self._next()

    @cached_property
    def initial(self) -> State:
        """The state before the first round."""
        start, groups = self.clients.start, len(self.clients.sizes)
        by_layer = [np.outer(form.initial, start) for form in self._forms[0]]  # (P + Q, d)
        layers = self.clients.layers or [0] * self.clients.dim
        values = np.stack([by_layer[layer][:, i] for i, layer in enumerate(layers)], axis=1)
        server = len(self._forms[0][0].server)
        one = self.kind.eye(1)[0]
        mean = np.concatenate([one, values[:server].ravel(), *[values[server:].ravel()] * groups])
        q = values[server:].size
        return State(mean, self.kind.zeros(len(mean), len(mean)), self.kind.zeros(groups, q, q))

    @cached_property
    def states(self) -> State:
        """The states that are evaluated, stacked in order; the last is that after the last round."""
        size, rounds = len(self.initial.mean), self.setting.rounds
        if self.selection:
            return self._by_powers(self.opening.moment_map, rounds)
        what = f"the covariance of {size} numbers that clients and server remember"
        refuse_beyond_memory(NUMBER * size**2 * (rounds + 1), what, "take fewer clients, parameters or rounds")
        states = [self.initial]
        with np.errstate(over="ignore", invalid="ignore"):
            for round_ in self.client_rounds:
                states.append(round_.moment_map.after(states[-1]))
        if not self.kind.exact and not np.isfinite(states[-1].covariance).all():
            raise EmpiricsError("the moments left the finite numbers: the step size is too large for these losses")
        return State(*(np.stack(parts) for parts in zip(*states, strict=True)))

    def _by_powers(self, moment_map: MomentMap, rounds: int) -> State:
        """The states that are evaluated, as raw moments, by powers of a round's map."""
        matrix, constant = moment_map.affine
        first = moment_map.flatten(self.initial)
        with np.errstate(all="ignore"):
            if self.selection == ALL:
                states = all_states(matrix, constant, first, rounds)
            elif self.selection == MEAN:
                last, total = state_after(matrix, constant, first, rounds)
                states = np.stack([total / rounds, last])
            else:
                before, _ = state_after(matrix, constant, first, rounds - 1)
                last = matrix @ before + constant
                states = np.stack([first, before, last] if self.selection == ENDS else [before, last])
        return moment_map.unflatten(states)

    @cached_property
    def finite(self) -> bool:
        """Whether all evaluated moments are finite, and for ``ENDS`` also bound the moments between them."""
        finite = self.kind.exact or bool(np.isfinite(self.states.covariance).all())
        return finite and (self.selection != ENDS or self.is_monotone)

    @cached_property
    def is_monotone(self) -> bool:
        """Whether all raw moments are monotone over rounds, squares in one direction, so that the ends are extremes."""
        linear = np.asarray(self.opening.moment_map.affine[0][1:, 1:], dtype=float)  # the constant's square stays 1
        diagonal = np.diag(linear)
        tolerance = (CLOSE if self.kind.exact else ROUNDING) * max(1.0, float(np.abs(diagonal).max()))
        if (np.abs(linear - np.diag(diagonal)) > tolerance).any() or (diagonal < 0).any():
            return False
        change = np.asarray(np.diag(self.states.covariance[-1] - self.states.covariance[0])[1:], dtype=float)
        tolerance = CLOSE * float(np.abs(change).max()) if self.kind.exact else 0.0
        return bool((change >= -tolerance).all() or (change <= tolerance).all())

    def stationary(self) -> float:
        """The squared distance from the minimiser to which rounds converge in expectation (without last models).

        A run started there stays there, where bounds that fall with the number of rounds are most easily exceeded.
        """
        moment_map = self.opening.moment_map
        matrix, constant = moment_map.affine
        size = len(constant)
        unit = np.eye(size)[0]  # the constant's square stays 1
        limit, *_ = np.linalg.lstsq(np.vstack([np.eye(size) - matrix, unit]), np.append(constant, 1.0), rcond=None)
        return float(np.trace(moment_map.unflatten(limit).covariance[1:, 1:]))

    @cached_property
    def radius(self) -> float:
        """The spectral radius of a round's map of moments: above 1 they grow without limit."""
        matrix, _ = self.opening.moment_map.affine
        return float(np.abs(np.linalg.eigvals(matrix[1:, 1:])).max()) if np.isfinite(matrix).all() else np.inf

    # ---- expected products of maps of u ``(..., d, n)``, and of clients' views ``(G, ..., d, m)`` ----

    def _moments_of_clients(self, state: State) -> tuple[Array, Array]:
        """Means ``(G, R, m)`` and covariances ``(G, R, m, m)`` of the view of a client of every group."""
        groups, server, memory, n = self.client_rounds[0].moment_map.shape
        own = np.arange(server, n).reshape(groups, memory)
        columns = np.concatenate([np.broadcast_to(np.arange(server), (groups, server)), own], axis=1)
        covariance = state.covariance[:, columns[:, :, None], columns[:, None, :]]
        covariance[..., server:, server:] += state.spread
        return np.moveaxis(state.mean[:, columns], 1, 0), np.moveaxis(covariance, 1, 0)

    @cached_property
    def _client_moments(self) -> tuple[Array, Array]:
        return self._moments_of_clients(self.states)

    def inner(self, left: Array, right: Array | None = None, at: slice = slice(None)) -> Array:
        """``E <left u, right u>`` at the states ``at``, ``(R, ...)``; ``right`` defaults to ``left``."""
        mean, covariance, _ = (x[at] for x in self.states)
        pair = [x.reshape(-1, *x.shape[-2:]) for x in (left, left if right is None else right)]
        products = _products(mean, covariance, *pair).reshape(len(mean), *left.shape[:-2])
        return products if right is not None else self._nonnegative(products)

    def each(self, maps: Array, at: slice = slice(None)) -> Array:
        """``E ||map (1, x, y)||^2`` for a client of every group at the states ``at``, ``(R, G, ...)``."""
        mean, covariance = (x[:, at] for x in self._client_moments)
        flat = maps.reshape(len(maps), -1, *maps.shape[-2:])
        squares = np.moveaxis(_products(mean, covariance, flat, flat), 0, 1)
        return self._nonnegative(squares.reshape(len(squares), *maps.shape[:-2]))

    def _nonnegative(self, squares: Array) -> Array:
        """Squares without the negative values that rounding may cause."""
        return squares if self.kind.exact else np.maximum(squares, 0.0)

    def _mean_client(self, weights: Array, maps: Array) -> Array:
        """The weighted sum over groups of maps of the mean client's view, as a map of u ``(..., n)``."""
        server = len(self.client_rounds[0].moment_map.server_map)
        weighted = weights.reshape(-1, *[1] * (maps.ndim - 1)) * maps
        return np.concatenate([weighted[..., :server].sum(0), *weighted[..., server:]], axis=-1)

    def _model(self, source: Array) -> Array:
        """The map from u, or from a client's view, to the server model ``(d, source's last axis)``."""
        return self.kind.eye(self.clients.dim, source.shape[-1], 1)

    @cached_property
    def _distance(self) -> Array:
        """The server model less the minimiser, as a map of u."""
        return self._from_minimiser(self._model(self.initial.mean))

    def _from_minimiser(self, maps: Array) -> Array:
        shifted = maps.copy()
        shifted[..., 0] -= self.clients.minimiser
        return shifted

    def _gradients(self, maps: Array) -> Array:
        """The clients' gradients at models that are maps of their views ``(G, k, d, m)``."""
        shifted = maps.copy()
        shifted[..., 0] -= self.clients.minima[:, None]
        return self.clients.curvature[:, None] @ shifted

    @cached_property
    def _gradient_at_model(self) -> Array:
        """The clients' gradients at the server model ``(G, 1, d, m)``."""
        path = self.client_rounds[0].path
        return self._gradients(np.broadcast_to(self._model(path), path[:, :1].shape))

    def metric(self, name: str) -> Array:
        """The matrix M for which a quantity is ``E <x, M x>``, with x the model less the minimiser."""
        hessian = self.clients.hessian
        return {
            "optimality_gap": hessian / 2,
            "grad_norm_sq": hessian @ hessian,
            "distance_sq": self.kind.eye(len(hessian)),
        }[name]

    def _at_model(self, name: str) -> Array:
        return self._nonnegative(self.inner(self._distance, self.metric(name) @ self._distance))

    # ---- the server ----

    def _select(self, makers: dict[str, Callable[[], Any]], always: tuple[str, ...] = ()) -> LazyReadings:
        selected = {n: m for n, m in makers.items() if self.names is None or n in self.names or n in always}
        return LazyReadings(self.kind, selected)

    @cached_property
    def server(self) -> Mapping[str, Array]:
        """Quantities of the server model before the first round and after every round ``(R + 1, ...)``."""
        makers: dict[str, Callable[[], Any]] = {
            name: partial(self._at_model, name) for name in ("grad_norm_sq", "optimality_gap", "distance_sq")
        }
        makers["client_grad_norm_sq"] = lambda: self._by_client(self._client_gradients)
        makers["mean_client_grad_sq"] = lambda: self._client_gradients @ self.clients.weights
        if self.client_rounds[0].last_model is not None:
            makers["divergence"] = self._divergence
        return self._select(makers, ("grad_norm_sq", "optimality_gap"))

    @cached_property
    def _client_gradients(self) -> Array:
        return self.each(self._gradient_at_model[:, 0])

    def _by_client(self, by_group: Array) -> Array:
        return by_group if self.group_of is None else by_group[..., self.group_of]

    def _divergence(self) -> Array:
        last = self.client_rounds[0].last_model
        assert last is not None
        away = np.broadcast_to(last - self._model(last), self.client_rounds[0].path[:, 0].shape)
        return self.each(away) @ self.clients.fractions

    # ---- the rounds ----

    def _rows(self, reading: Callable[[ClientRound, slice], Any]) -> list[Any]:
        """A quantity of every round, computed together for equal rounds that follow each other."""
        rows: list[Any] = []
        for _, group in groupby(self.client_rounds, key=id):
            equal = list(group)
            rows += list(reading(equal[0], slice(len(rows), len(rows) + len(equal))))
        return rows

    def _over_rounds(self, reading: Callable[[ClientRound, slice], Any]) -> Array:
        """A quantity with one number, or one per client, in every round."""
        return np.array(self._rows(reading))

    @cached_property
    def rounds(self) -> Mapping[str, Array]:
        """Quantities of every round ``(R, ...)``, as if all clients worked, except for ``active_divergence``."""
        gap = partial(self._at_model, "optimality_gap")
        by_round: dict[str, Callable[[ClientRound, slice], Any]] = {
            "local_drift": self._local_drift,
            "grad_cap_sq": self._grad_cap,
            "summed_grad_norm_sq": self._summed_gradients,
            "mean_path_gradient_sq": self._mean_path,
            "summed_consensus": lambda p, at: self._consensus(p, at)[:, :-1].sum(1),
            "summed_gap": lambda p, at: self._average(p, at, "optimality_gap")[:, :-1].sum(1),
            "round_gap": lambda p, at: self._average(p, at, "optimality_gap")[:, 1:].sum(1) / p.steps,
            "round_end_distance_sq": lambda p, at: self._average(p, at, "distance_sq")[:, -1],
            "global_step": self._global_step,
            "step_alignment": self._step_alignment,
            "mean_update_sq": self._mean_update,
            "active_divergence": self._active_divergence,
        }
        weighted = self.shares is not None and self.setting.sampling != "with_replacement" and not self.draw.certain
        if self.client_rounds[0].last_model is None or weighted or self.setting.average == "unbiased":
            by_round.pop("active_divergence")  # its formula needs the average that weights participants equally
        makers: dict[str, Callable[[], Any]] = {
            "local_steps": lambda: [p.steps for p in self.client_rounds],
            **{name: partial(self._over_rounds, reading) for name, reading in by_round.items()},
            "client_grad_cap_sq": lambda: self._by_client(self._over_rounds(self._client_grad_cap)),
            "gradient_drift": lambda: self._by_client(self._gradient_drifts),
            "mean_gradient_drift": lambda: self._gradient_drifts @ self.clients.weights,
            "loss_change": lambda: gap()[1:] - gap()[:-1],
            "loss_decrease": lambda: gap()[:-1] - gap()[1:],
        }
        return self._select(makers, ("local_steps", "loss_change", "loss_decrease"))

    def _local_drift(self, round_: ClientRound, at: slice) -> Array:
        apart = self.each(round_.path[:, :-1] - self._model(round_.path), at)
        return (apart + _traces(round_.path_noise[:, :-1])).sum(-1) @ self.clients.fractions

    def _stochastic_gradients(self, round_: ClientRound) -> tuple[Array, Array]:
        """Stochastic gradients by group and step: maps of clients' views, and what noise adds to their squares."""
        steep = self.clients.curvature[:, None]
        noise = _traces(steep @ round_.path_noise[:, :-1] @ steep) + self.clients.variance[:, None]
        return self._gradients(round_.path[:, :-1]), noise

    def _client_grad_cap(self, round_: ClientRound, at: slice) -> Array:
        """The largest expected squared stochastic gradient over a round's steps, for every group."""
        maps, noise = self._stochastic_gradients(round_)
        return (self.each(maps, at) + noise).max(axis=2)

    def _grad_cap(self, round_: ClientRound, at: slice) -> Array:
        """The largest expected squared stochastic gradient over a round's steps and clients."""
        if self.selection != ENDS:
            return self._client_grad_cap(round_, at).max(axis=1)
        # Monotone raw moments are at most the larger of their ends, which bounds the gradients in between.
        maps, noise = self._stochastic_gradients(round_)
        ends = self.states
        extreme = State(ends.mean[:1], *(np.abs(x).max(0)[None] for x in (ends.covariance, ends.spread)))
        sizes = np.abs(maps)
        norms = ((sizes @ self._moments_of_clients(extreme)[1]) * sizes).sum((-2, -1))
        return np.array([(norms + noise).max()] * len(self.client_rounds))

    def _gradient_sum(self, round_: ClientRound) -> tuple[Array, Array]:
        """The sum of a client's gradients over a round, as maps of its view ``(G, d, m)``; the variance by noise."""
        steep = self.clients.curvature
        return self._gradients(round_.path[:, :-1]).sum(1), _traces(steep @ round_.sum_noise[1] @ steep)

    def _summed_gradients(self, round_: ClientRound, at: slice) -> Array:
        total, noise = self._gradient_sum(round_)
        counts = self.clients.counts
        return self.inner(self._mean_client(counts, total), at=at) + counts @ noise

    def _mean_path(self, round_: ClientRound, at: slice) -> Array:
        total, noise = self._gradient_sum(round_)
        c = self.clients
        mean = self.inner(self._mean_client(c.weights, total), at=at)
        return (mean + (c.weights**2 / c.counts) @ noise) / self.kind.make(round_.steps) ** 2

    @cached_property
    def _gradient_drifts(self) -> Array:
        return self._over_rounds(self._gradient_drift)

    def _gradient_drift(self, round_: ClientRound, at: slice) -> Array:
        total, noise = self._gradient_sum(round_)
        steps = self.kind.make(round_.steps)
        return self.each(self._gradient_at_model[:, 0] - total / steps, at) + noise / steps**2

    # ---- the server's step ----

    def _expected_step(self, round_: ClientRound) -> Array:
        """The server's step in expectation over the draw, as a map of u ``(d, n)``."""
        return round_.moment_map.mean_map[1 : 1 + self.clients.dim] - self._model(self.initial.mean)

    def _sent_covariance(self, moment_map: MomentMap, at: slice) -> Array:
        """The covariance of the sum that the server receives, by draw and noise ``(R, r, r)``."""
        sent, states = len(moment_map.multipliers), State(*(x[at] for x in self.states))
        noise = moment_map.group_noise[:, :sent, :sent].sum(0)
        if moment_map.draw.certain:
            return np.broadcast_to(noise, (len(states.mean), *noise.shape))
        return moment_map.draw_covariance(*states)[..., :, :sent, :, :sent].sum((-4, -2)) + noise

    def _global_step(self, round_: ClientRound, at: slice) -> Array:
        received = round_.moment_map.receive_map[1 : 1 + self.clients.dim]
        covariance = received @ self._sent_covariance(round_.moment_map, at) @ received.T
        return self.inner(self._expected_step(round_), at=at) + _traces(covariance)

    def _step_alignment(self, round_: ClientRound, at: slice) -> Array:
        """``E <gradient of F, step>`` at the server model."""
        return self.inner(self.clients.hessian @ self._distance, self._expected_step(round_), at)

    def _mean_update(self, round_: ClientRound, at: slice) -> Array:
        """The squared mean gradient of a round: the server's step over step size and steps, if that is its average.

        It is if all clients take part and start at the server model; otherwise the result is NaN.
        """
        step = self._global_step(round_, at)
        if self.draw.certain and (round_.path[:, 0] == self._model(round_.path)).all():
            return step / (round_.sizes[0] * round_.steps) ** 2
        return np.full(step.shape, np.nan)

    def _active_divergence(self, round_: ClientRound, at: slice) -> Array:
        """The participants' mean squared distance from the new server model.

        sum a |end - new|^2 = sum a |end - old|^2 - 2 <sum a (end - old), step> + |step|^2.
        """
        (with_ends, first_end), c = round_.with_ends, self.clients
        ends = self.each(round_.path[:, -1] - self._model(round_.path), at) + _traces(round_.path_noise[:, -1])
        weights = c.fractions if self.draw.certain else c.counts * self.draw.mean[:, 0]
        mean_move = with_ends.sent_mean[first_end:] - self._model(self.initial.mean)
        covariance = with_ends.receive_map[1 : 1 + c.dim] @ self._sent_covariance(with_ends, at)[:, :, first_end:]
        product = self.inner(self._expected_step(round_), mean_move, at) + _traces(covariance)
        return self._nonnegative(ends @ weights - 2 * product + self._global_step(round_, at))

    # ---- local iterations ----

    def _average(self, round_: ClientRound, at: slice, name: str) -> Array:
        """A quantity at the average of all clients after 0 to K local steps ``(R, K + 1)``."""
        c, metric = self.clients, self.metric(name)
        spread = ((c.weights**2 / c.counts)[:, None, None, None] * round_.path_noise).sum(0)
        maps = self._from_minimiser(self._mean_client(c.weights, round_.path))
        return self._nonnegative(self.inner(maps, metric @ maps, at) + (metric * spread).sum((-2, -1)))

    def _consensus(self, round_: ClientRound, at: slice) -> Array:
        """The mean squared distance of the clients' models from their average after 0 to K steps ``(R, K + 1)``."""
        c, path = self.clients, round_.path
        dev = path[..., len(round_.moment_map.server_map) :]
        spread = _traces(dev @ self.states.spread[at, :, None] @ np.swapaxes(dev, -1, -2))
        noise = _traces(round_.path_noise) * (1 - (c.weights / c.counts)[:, None])  # the client is part of the average
        apart = self.inner(round_.moment_map.on_u(path) - self._mean_client(c.weights, path), at=at)
        return np.asarray(((apart + spread + noise) * c.weights[:, None]).sum(1))

    def iterations(self, name: str) -> Array:
        """A quantity at the average of all clients before every local step, and at the last server model ``(T + 1,)``.

        ``consensus_distance`` is the clients' mean squared distance from that average, with 0 as its last entry.
        """
        if name == "consensus_distance":
            last, rows = self.kind.zeros(1), self._rows(lambda p, at: self._consensus(p, at)[:, :-1])
        else:
            last, rows = self._at_model(name)[-1:], self._rows(lambda p, at: self._average(p, at, name)[:, :-1])
        return self.kind.results(np.concatenate([*rows, last]))

    def average_gap(self, weights: Weights | None = None) -> Any:
        """The loss gap at the mean, over all local steps, of the clients' average before the step.

        ``weights`` (numbers) weight the steps, equally by default. Raises unless all clients take part in every round.
        """
        c, kind, d, n = self.clients, self.kind, self.clients.dim, len(self.initial.mean)
        if not self.draw.certain:
            raise EmpiricsError(
                "the average of the iterates is that of all clients' models: "
                f"all {sum(map(int, c.sizes))} clients must take part in every round"
            )
        ends = np.cumsum([0, *(p.steps for p in self.client_rounds)])
        steps = int(ends[-1])
        shares = [kind.make(1) / steps] * steps if weights is None else list(map(kind.make, weights.shares(steps)))
        mean, covariance = np.concatenate([self.initial.mean, kind.zeros(d)]), kind.zeros(n + d, n + d)
        extended = kind.eye(n + d).copy()  # the map of u and of the weighted sum so far
        for round_, begin in zip(self.client_rounds, ends, strict=False):
            round_shares = shares[begin : begin + round_.steps]
            path = self._mean_client(c.weights, round_.path[:, :-1])
            extended[:n, :n] = round_.moment_map.mean_map
            extended[n:, :n] = sum(share * step for share, step in zip(round_shares, path, strict=True))
            mean, covariance = extended @ mean, extended @ covariance @ extended.T
            if weights is None:
                share = round_shares[0]
                with_end, own = share * round_.sum_noise[0], share**2 * round_.sum_noise[1]
            else:
                with_end, own = round_.weighted_sum_noise(round_shares)
            covariance[:n, :n] += round_.moment_map.noise_covariance
            covariance[n:, n:] += ((c.weights**2 / c.counts)[:, None, None] * own).sum(0)
            joint = ((c.weights / c.counts)[:, None, None] * (round_.moment_map.by_end_noise @ with_end)).sum(0)
            covariance[:n, n:] += joint
            covariance[n:, :n] += joint.T
        distance = mean[n:] - c.minimiser
        return kind.result((c.hessian * (covariance[n:, n:] + np.outer(distance, distance))).sum() / 2)


def _products(mean: Array, covariance: Array, left: Array, right: Array) -> Array:
    """``E <left s, right s>`` of maps ``(..., k, d, n)`` for R random vectors s with these moments: ``(..., R, k)``."""
    lead, (_, n) = left.shape[:-3], mean.shape[-2:]
    forms = (np.swapaxes(left, -1, -2) @ right).reshape(*lead, -1, n * n)
    of_covariance = covariance.reshape(*lead, -1, n * n) @ np.swapaxes(forms, -1, -2)
    of_left, of_right = (maps @ np.swapaxes(mean, -1, -2)[..., None, :, :] for maps in (left, right))  # (..., k, d, R)
    return of_covariance + np.swapaxes((of_left * of_right).sum(-2), -1, -2)


def _traces(matrices: Array) -> Array:
    return np.trace(matrices, axis1=-2, axis2=-1)


def _same(left: Sequence[Sequence[Coefficients]], right: Sequence[Sequence[Coefficients]]) -> bool:
    """Whether coefficients by group and layer are equal."""
    for x, y in zip(chain(*left), chain(*right), strict=True):
        if x is not y and not all(map(np.array_equal, x, y)):
            return False
    return True
