"""Exact moments of federated methods on quadratics: expectations over noise and cohorts, without a sample.

A run carries mean and second moments of all that the method remembers from round to round (``rounds``) and reads the
quantities of the vocabulary off them. It works in floats, fractions and digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
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
from .paths import Clients, Frame, Played
from .rounds import after, listed, Round, State

ALL, MEAN, ENDS, LAST_ROUND = "all", "mean", "ends", "last"
"""Which states of a run are evaluated: every one; their mean and the last; the first and the last two; the last two."""
ROUNDING, CLOSE = 1e-12, 1e-40
"""The share of a matrix's largest number that rounding makes of nothing, in floats and in digits."""


class Lazily(Mapping[str, Array]):
    """Readings by name, each computed when somebody looks it up."""

    def __init__(self, kind: Kind, makers: Mapping[str, Callable[[], Any]]) -> None:
        self._kind, self._makers, self._known = kind, makers, dict[str, Array]()

    def __getitem__(self, name: str) -> Array:
        if name not in self._known:
            self._known[name] = self._kind.given(np.asarray(self._makers[name]()))
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True, eq=False)
class Run:
    """A method on clients under a setting, to be followed exactly.

    ``shares (G,)`` are what a client's model weighs where all take part (None: all alike). ``looked`` keeps a long run
    short; the raw moments that takes lose digits where a reading is small beside them. ``last``: whether the clients'
    last local models are followed where the method does not remember them. ``trusted``: the method is known to be
    linear; ``known``: what every round of it does, whatever its step sizes and number of clients. ``of`` numbers the
    group of every client, for quantities that clients have one each of.
    """

    clients: Clients
    algorithm: Algorithm
    setting: Setting
    draw: Draw
    shares: Sequence[Any] | None = None
    looked: str = ""
    last: bool = True
    trusted: bool = False
    known: tuple[Forms, Coefficients] | None = None
    wanted: frozenset[str] | None = None
    of: Array | None = None
    layers: Mapping[str, slice] | None = None

    # ---- rounds ----

    @property
    def kind(self) -> Kind:
        return self.clients.kind

    @cached_property
    def _forms(self) -> list[list[Forms]]:
        """One per group whose shares differ, and in each one per layer."""
        if self.known is not None:
            return [[self.known[0]]]
        names = list(self.layers or {"model": slice(None)})
        return [
            [Forms(self.algorithm, self.setting, self.kind, names, name, self.last, self.trusted) for name in names]
            for _ in self._shares
        ]

    @property
    def _shares(self) -> Sequence[Any]:
        return [None] if self.shares is None else self.shares

    def _next(self, round_: int = 0, before: Played | None = None) -> Played:
        """The next round; what it has in common with the one before it shares."""
        s = self.setting
        if self.known is not None:
            coefficients = [[self.known[1]]]
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
        return Played(frame, sizes, s.momentum, s.nesterov, s.weight_decay)

    @cached_property
    def played(self) -> list[Played]:
        """What happens in every round that is evaluated; rounds that are the same share one object."""
        s, form = self.setting, self._forms[0][0]
        steady = s.step_size_decay == 1 and s.step_offset is None and s.step_size_rule == "constant"
        if self.looked or (steady and self.trusted and form.begun == len(form.server)):
            every = s.rounds if self.looked in ("", ALL) else 2 if self.looked == ENDS else 1
            return [self.opening] * every
        found: list[Played] = []
        for round_ in range(s.rounds):
            found.append(self._next(round_, found[-1] if found else None))
        return found

    @cached_property
    def opening(self) -> Played:
        """The first round."""
        return self._next()

    @cached_property
    def first(self) -> State:
        """Before the first round."""
        start, groups = self.clients.start, len(self.clients.sizes)
        begun = [np.outer(form.first, start) for form in self._forms[0]]  # (P + Q, d) by layer
        where = self.clients.layers or [0] * self.clients.dim
        values = np.stack([begun[layer][:, i] for i, layer in enumerate(where)], axis=1)
        server = len(self._forms[0][0].server)
        one = self.kind.eye(1)[0]
        mean = np.concatenate([one, values[:server].ravel(), *[values[server:].ravel()] * groups])
        q = values[server:].size
        return State(mean, self.kind.zeros(len(mean), len(mean)), self.kind.zeros(groups, q, q))

    @cached_property
    def states(self) -> State:
        """The states that are evaluated, stacked, in order: the last is that after the last round."""
        size, rounds = len(self.first.mean), self.setting.rounds
        if self.looked:
            return self._far(self.opening.round, rounds)
        what = f"the covariance of {size} numbers that clients and server remember"
        refuse_beyond_memory(NUMBER * size**2 * (rounds + 1), what, "take fewer clients, parameters or rounds")
        found = [self.first]
        with np.errstate(over="ignore", invalid="ignore"):
            for played in self.played:
                found.append(played.round.after(found[-1]))
        if not self.kind.exact and not np.isfinite(found[-1].covariance).all():
            raise EmpiricsError("the moments left the finite numbers: the step size is too large for these losses")
        return State(*(np.stack(parts) for parts in zip(*found, strict=True)))

    def _far(self, one: Round, rounds: int) -> State:
        """The states that are evaluated, of raw moments, by powers of the map of a round."""
        matrix, constant = one.affine
        first = one.flat(self.first)
        with np.errstate(all="ignore"):
            if self.looked == ALL:
                found = listed(matrix, constant, first, rounds)
            elif self.looked == MEAN:
                last, total = after(matrix, constant, first, rounds)
                found = np.stack([total / rounds, last])
            else:
                before, _ = after(matrix, constant, first, rounds - 1)
                last = matrix @ before + constant
                found = np.stack([first, before, last] if self.looked == ENDS else [before, last])
        return one.unflat(found)

    @cached_property
    def finite(self) -> bool:
        """Whether all moments that are evaluated are finite numbers, and between them no larger ones."""
        finite = self.kind.exact or bool(np.isfinite(self.states.covariance).all())
        return finite and (self.looked != ENDS or self.settles)

    @cached_property
    def settles(self) -> bool:
        """Whether every raw moment moves one way only, all squares the same: then the ends are extreme."""
        one = self.opening.round
        linear = np.asarray(one.affine[0][1:, 1:], dtype=float)  # the constant's own square stays one
        own = np.diag(linear)
        none = CLOSE if self.kind.exact else ROUNDING
        if (np.abs(linear - np.diag(own)) > none * max(1.0, float(np.abs(own).max()))).any() or (own < 0).any():
            return False
        moved = np.asarray(np.diag(self.states.covariance[-1] - self.states.covariance[0])[1:], dtype=float)
        none = CLOSE * float(np.abs(moved).max()) if self.kind.exact else 0.0
        return bool((moved >= -none).all() or (moved <= none).all())

    def stationary(self) -> float:
        """The squared distance from the minimiser that rounds converge to, in expectation (without last models).

        A run that starts there stays there, which is where bounds that fall with the number of rounds are hardest
        pressed.
        """
        one = self.opening.round
        matrix, constant = one.affine
        size = len(constant)
        unit = np.eye(size)[0]  # the constant's own square stays one
        settled, *_ = np.linalg.lstsq(np.vstack([np.eye(size) - matrix, unit]), np.append(constant, 1.0), rcond=None)
        return float(np.trace(one.unflat(settled).covariance[1:, 1:]))

    @cached_property
    def radius(self) -> float:
        """The factor a round puts on whatever of the moments grows fastest: above 1 they grow for ever."""
        matrix, _ = self.opening.round.affine
        return float(np.abs(np.linalg.eigvals(matrix[1:, 1:])).max()) if np.isfinite(matrix).all() else np.inf

    # ---- expected products of maps of u ``(..., d, n)``, and of what a client knows ``(G, ..., d, m)`` ----

    def _of_clients(self, state: State) -> tuple[Array, Array]:
        """Means ``(G, R, m)`` and covariances ``(G, R, m, m)`` of what a client of every group knows."""
        groups, server, memory, n = self.played[0].round.shape
        own = np.arange(server, n).reshape(groups, memory)
        place = np.concatenate([np.broadcast_to(np.arange(server), (groups, server)), own], axis=1)
        covariance = state.covariance[:, place[:, :, None], place[:, None, :]]
        covariance[..., server:, server:] += state.spread
        return np.moveaxis(state.mean[:, place], 1, 0), np.moveaxis(covariance, 1, 0)

    @cached_property
    def _known(self) -> tuple[Array, Array]:
        return self._of_clients(self.states)

    def inner(self, left: Array, right: Array | None = None, at: slice = slice(None)) -> Array:
        """``E <left u, right u>``, by default of the same maps twice, at the states ``at``: ``(R, ...)``."""
        mean, covariance, _ = (x[at] for x in self.states)
        pair = [x.reshape(-1, *x.shape[-2:]) for x in (left, left if right is None else right)]
        found = _products(mean, covariance, *pair).reshape(len(mean), *left.shape[:-2])
        return found if right is not None else self._least(found)

    def each(self, maps: Array, at: slice = slice(None)) -> Array:
        """``E ||map (1, x, y)||^2`` of a client of every group at the states ``at``: ``(R, G, ...)``."""
        mean, covariance = (x[:, at] for x in self._known)
        flat = maps.reshape(len(maps), -1, *maps.shape[-2:])
        found = np.moveaxis(_products(mean, covariance, flat, flat), 0, 1)
        return self._least(found.reshape(len(found), *maps.shape[:-2]))

    def _least(self, squares: Array) -> Array:
        """Squares of which rounding leaves none negative."""
        return squares if self.kind.exact else np.maximum(squares, 0.0)

    def _total(self, weights: Array, maps: Array) -> Array:
        """The weighted sum over groups of what a mean client makes of what it knows, as a map of u ``(..., n)``."""
        server = len(self.played[0].round.stays)
        weighed = weights.reshape(-1, *[1] * (maps.ndim - 1)) * maps
        return np.concatenate([weighed[..., :server].sum(0), *weighed[..., server:]], axis=-1)

    def _model(self, of: Array) -> Array:
        """Picks the server model out of u, or out of what a client knows, as maps of their length ``(d, .)``."""
        return self.kind.eye(self.clients.dim, of.shape[-1], 1)

    @cached_property
    def _away(self) -> Array:
        """The server model less the minimiser, as a map of u."""
        return self._from_best(self._model(self.first.mean))

    def _from_best(self, maps: Array) -> Array:
        moved = maps.copy()
        moved[..., 0] -= self.clients.best
        return moved

    def _slopes(self, maps: Array) -> Array:
        """The clients' gradients at maps of what they know ``(G, k, d, m)``."""
        moved = maps.copy()
        moved[..., 0] -= self.clients.minimum[:, None]
        return self.clients.curvature[:, None] @ moved

    @cached_property
    def _slope_at_model(self) -> Array:
        """The clients' gradients at the server model ``(G, 1, d, m)``."""
        path = self.played[0].path
        return self._slopes(np.broadcast_to(self._model(path), path[:, :1].shape))

    def metric(self, name: str) -> Array:
        """The matrix M for which a quantity is ``E <x, M x>`` of the distance x from the minimiser."""
        hessian = self.clients.hessian
        return {
            "optimality_gap": hessian / 2,
            "grad_norm_sq": hessian @ hessian,
            "distance_sq": self.kind.eye(len(hessian)),
        }[name]

    def _at_model(self, name: str) -> Array:
        return self._least(self.inner(self._away, self.metric(name) @ self._away))

    # ---- the server ----

    def _asked(self, makers: dict[str, Callable[[], Any]], always: tuple[str, ...] = ()) -> Lazily:
        kept = {n: m for n, m in makers.items() if self.wanted is None or n in self.wanted or n in always}
        return Lazily(self.kind, kept)

    @cached_property
    def server(self) -> Mapping[str, Array]:
        """Before the first round and after every one ``(R + 1, ...)``."""
        makers: dict[str, Callable[[], Any]] = {
            name: partial(self._at_model, name) for name in ("grad_norm_sq", "optimality_gap", "distance_sq")
        }
        makers["client_grad_norm_sq"] = lambda: self._by_client(self._client_gradients)
        makers["mean_client_grad_sq"] = lambda: self._client_gradients @ self.clients.weights
        if self.played[0].last is not None:
            makers["divergence"] = self._divergence
        return self._asked(makers, ("grad_norm_sq", "optimality_gap"))

    @cached_property
    def _client_gradients(self) -> Array:
        return self.each(self._slope_at_model[:, 0])

    def _by_client(self, of_groups: Array) -> Array:
        return of_groups if self.of is None else of_groups[..., self.of]

    def _divergence(self) -> Array:
        last = self.played[0].last
        assert last is not None
        away = np.broadcast_to(last - self._model(last), self.played[0].path[:, 0].shape)
        return self.each(away) @ self.clients.counted

    # ---- the rounds ----

    def _rows(self, reading: Callable[[Played, slice], Any]) -> list[Any]:
        """A reading of every round, computed at once for all that are the same."""
        found: list[Any] = []
        for _, same in groupby(self.played, key=id):
            members = list(same)
            found += list(reading(members[0], slice(len(found), len(found) + len(members))))
        return found

    def _over_rounds(self, reading: Callable[[Played, slice], Any]) -> Array:
        """A reading with one number, or one per client, in every round."""
        return np.array(self._rows(reading))

    @cached_property
    def rounds(self) -> Mapping[str, Array]:
        """One entry per round ``(R, ...)``; all clients work, as if drawn, unless a name says otherwise."""
        gap = partial(self._at_model, "optimality_gap")
        by_round: dict[str, Callable[[Played, slice], Any]] = {
            "local_drift": self._local_drift,
            "grad_cap_sq": self._grad_cap,
            "summed_grad_norm_sq": self._summed_gradients,
            "mean_path_gradient_sq": self._mean_path,
            "summed_consensus": lambda p, at: self._consensus(p, at)[:, :-1].sum(1),
            "summed_gap": lambda p, at: self._average(p, at, "optimality_gap")[:, :-1].sum(1),
            "round_gap": lambda p, at: self._average(p, at, "optimality_gap")[:, 1:].sum(1) / p.steps,
            "round_end_distance_sq": lambda p, at: self._average(p, at, "distance_sq")[:, -1],
            "global_step": self._global_step,
            "step_alignment": lambda p, at: self.inner(self.clients.hessian @ self._away, self._moves(p), at),
            "mean_update_sq": self._mean_update,
            "active_divergence": self._active_divergence,
        }
        unlike = self.shares is not None and self.setting.sampling != "with_replacement" and not self.draw.certain
        if self.played[0].last is None or unlike or self.setting.average == "unbiased":
            by_round.pop("active_divergence")  # participants count evenly there, and are averaged otherwise
        makers: dict[str, Callable[[], Any]] = {
            "local_steps": lambda: [p.steps for p in self.played],
            **{name: partial(self._over_rounds, reading) for name, reading in by_round.items()},
            "client_grad_cap_sq": lambda: self._by_client(self._over_rounds(self._client_grad_cap)),
            "gradient_drift": lambda: self._by_client(self._gradient_drifts),
            "mean_gradient_drift": lambda: self._gradient_drifts @ self.clients.weights,
            "loss_change": lambda: gap()[1:] - gap()[:-1],
            "loss_decrease": lambda: gap()[:-1] - gap()[1:],
        }
        return self._asked(makers, ("local_steps", "loss_change", "loss_decrease"))

    def _local_drift(self, played: Played, at: slice) -> Array:
        apart = self.each(played.path[:, :-1] - self._model(played.path), at)
        return (apart + _traces(played.path_noise[:, :-1])).sum(-1) @ self.clients.counted

    def _stochastic_gradients(self, played: Played) -> tuple[Array, Array]:
        """Of every group and step of a round: maps of what clients know, and what noise adds to their squares."""
        steep = self.clients.curvature[:, None]
        noise = _traces(steep @ played.path_noise[:, :-1] @ steep) + self.clients.variance[:, None]
        return self._slopes(played.path[:, :-1]), noise

    def _client_grad_cap(self, played: Played, at: slice) -> Array:
        """The largest expected squared stochastic gradient of a round over its steps, of every group."""
        maps, noise = self._stochastic_gradients(played)
        return (self.each(maps, at) + noise).max(axis=2)

    def _grad_cap(self, played: Played, at: slice) -> Array:
        """The same over clients too."""
        if self.looked != ENDS:
            return self._client_grad_cap(played, at).max(axis=1)
        # Between its ends every raw moment adds at most what it adds at one of them.
        maps, noise = self._stochastic_gradients(played)
        ends = self.states
        extreme = State(ends.mean[:1], *(np.abs(x).max(0)[None] for x in (ends.covariance, ends.spread)))
        flat = np.abs(maps)
        norms = ((flat @ self._of_clients(extreme)[1]) * flat).sum((-2, -1))
        return np.array([(norms + noise).max()] * len(self.played))

    def _walked(self, played: Played) -> tuple[Array, Array]:
        """The sum of a client's gradients along its path, as maps of what it knows ``(G, d, m)``, and by noise."""
        steep = self.clients.curvature
        return self._slopes(played.path[:, :-1]).sum(1), _traces(steep @ played.walked_noise[1] @ steep)

    def _summed_gradients(self, played: Played, at: slice) -> Array:
        walked, noise = self._walked(played)
        number = self.clients.number
        return self.inner(self._total(number, walked), at=at) + number @ noise

    def _mean_path(self, played: Played, at: slice) -> Array:
        walked, noise = self._walked(played)
        c = self.clients
        mean = self.inner(self._total(c.weights, walked), at=at)
        return (mean + (c.weights**2 / c.number) @ noise) / self.kind.make(played.steps) ** 2

    @cached_property
    def _gradient_drifts(self) -> Array:
        return self._over_rounds(self._gradient_drift)

    def _gradient_drift(self, played: Played, at: slice) -> Array:
        walked, noise = self._walked(played)
        steps = self.kind.make(played.steps)
        return self.each(self._slope_at_model[:, 0] - walked / steps, at) + noise / steps**2

    # ---- who moved, and how far ----

    def _moves(self, played: Played) -> Array:
        """The server's step in expectation over the draw, as a map of u ``(d, n)``."""
        return played.round.mean[1 : 1 + self.clients.dim] - self._model(self.first.mean)

    def _by_chance(self, one: Round, at: slice) -> Array:
        """The covariance of what is sent, summed over the groups, by draw and noise ``(R, r, r)``."""
        sent, states = len(one.which), State(*(x[at] for x in self.states))
        noise = one.noisy[:, :sent, :sent].sum(0)
        if one.draw.certain:
            return np.broadcast_to(noise, (len(states.mean), *noise.shape))
        return one.drawn(*states)[..., :, :sent, :, :sent].sum((-4, -2)) + noise

    def _global_step(self, played: Played, at: slice) -> Array:
        moves = played.round.moves[1 : 1 + self.clients.dim]
        return self.inner(self._moves(played), at=at) + _traces(moves @ self._by_chance(played.round, at) @ moves.T)

    def _mean_update(self, played: Played, at: slice) -> Array:
        """With all clients and no relaxed start the server's step is the mean gradient times step size and steps."""
        step = self._global_step(played, at)
        if self.draw.certain and (played.path[:, 0] == self._model(played.path)).all():
            return step / (played.sizes[0] * played.steps) ** 2
        return np.full(step.shape, np.nan)

    def _active_divergence(self, played: Played, at: slice) -> Array:
        """Around the old model, sum a |end - new|^2 = sum a |end - old|^2 - 2 <sum a (end - old), step> + |step|^2."""
        (one, where), c = played.with_ends, self.clients
        ends = self.each(played.path[:, -1] - self._model(played.path), at) + _traces(played.path_noise[:, -1])
        counted = c.counted if self.draw.certain else c.number * self.draw.mean[:, 0]
        drawn = one.moves[1 : 1 + c.dim] @ self._by_chance(one, at)[:, :, where:]
        across = self.inner(self._moves(played), one.sent_mean[where:] - self._model(self.first.mean), at)
        return self._least(ends @ counted - 2 * (across + _traces(drawn)) + self._global_step(played, at))

    # ---- local iterations ----

    def _average(self, played: Played, at: slice, name: str) -> Array:
        """A reading at the average of all clients after 0 to K local steps ``(R, K + 1)``."""
        c, metric = self.clients, self.metric(name)
        spread = ((c.weights**2 / c.number)[:, None, None, None] * played.path_noise).sum(0)
        maps = self._from_best(self._total(c.weights, played.path))
        return self._least(self.inner(maps, metric @ maps, at) + (metric * spread).sum((-2, -1)))

    def _consensus(self, played: Played, at: slice) -> Array:
        """The mean squared distance of the clients' models from their average after 0 to K steps ``(R, K + 1)``."""
        c, path = self.clients, played.path
        dev = path[..., len(played.round.stays) :]
        spread = _traces(dev @ self.states.spread[at, :, None] @ np.swapaxes(dev, -1, -2))
        # The distance of a client's noise leaves the others' shares out.
        noise = _traces(played.path_noise) * (1 - (c.weights / c.number)[:, None])
        apart = self.inner(played.round.whole(path) - self._total(c.weights, path), at=at)
        return np.asarray(((apart + spread + noise) * c.weights[:, None]).sum(1))

    def iterations(self, name: str) -> Array:
        """A reading at the average of all clients before every local step, and at the last server model.

        ``consensus_distance`` is the clients' mean squared distance from that average, 0 at the end.
        """
        if name == "consensus_distance":
            last, rows = self.kind.zeros(1), self._rows(lambda p, at: self._consensus(p, at)[:, :-1])
        else:
            last, rows = self._at_model(name)[-1:], self._rows(lambda p, at: self._average(p, at, name)[:, :-1])
        return self.kind.given(np.concatenate([*rows, last]))

    def average_gap(self, weights: Weights | None = None) -> Any:
        """The loss gap at the mean of the averages of all clients before every local step; all must take part.

        ``weights`` (numbers) say how much each of them counts; without them all count equally.
        """
        c, kind, d, n = self.clients, self.kind, self.clients.dim, len(self.first.mean)
        if not self.draw.certain:
            raise EmpiricsError(
                "the average of the iterates is that of all clients' models: "
                f"all {sum(map(int, c.sizes))} clients must take part in every round"
            )
        ends = np.cumsum([0, *(p.steps for p in self.played)])
        steps = int(ends[-1])
        shares = [kind.make(1) / steps] * steps if weights is None else list(map(kind.make, weights.shares(steps)))
        mean, covariance = np.concatenate([self.first.mean, kind.zeros(d)]), kind.zeros(n + d, n + d)
        whole = kind.eye(n + d).copy()  # of u, and of the sum so far
        for p, begin in zip(self.played, ends, strict=False):
            here = shares[begin : begin + p.steps]
            path = self._total(c.weights, p.path[:, :-1])
            whole[:n, :n], whole[n:, :n] = p.round.mean, sum(s * step for s, step in zip(here, path, strict=True))
            mean, covariance = whole @ mean, whole @ covariance @ whole.T
            if weights is None:
                across, own = here[0] * p.walked_noise[0], here[0] ** 2 * p.walked_noise[1]
            else:
                across, own = p.summed_noise(here)
            covariance[:n, :n] += p.round.added
            covariance[n:, n:] += ((c.weights**2 / c.number)[:, None, None] * own).sum(0)
            joint = ((c.weights / c.number)[:, None, None] * (p.round.by_noise @ across)).sum(0)
            covariance[:n, n:] += joint
            covariance[n:, :n] += joint.T
        away = mean[n:] - c.best
        return kind.give((c.hessian * (covariance[n:, n:] + np.outer(away, away))).sum() / 2)


def _products(mean: Array, covariance: Array, left: Array, right: Array) -> Array:
    """``E <left s, right s>`` of maps ``(..., k, d, n)`` of random vectors s at R times: ``(..., R, k)``."""
    lead, (_, n) = left.shape[:-3], mean.shape[-2:]
    forms = (np.swapaxes(left, -1, -2) @ right).reshape(*lead, -1, n * n)
    found = covariance.reshape(*lead, -1, n * n) @ np.swapaxes(forms, -1, -2)
    seen = [(maps @ np.swapaxes(mean, -1, -2)[..., None, :, :]) for maps in (left, right)]  # (..., k, d, R)
    return found + np.swapaxes((seen[0] * seen[1]).sum(-2), -1, -2)


def _traces(matrices: Array) -> Array:
    return np.trace(matrices, axis1=-2, axis2=-1)


def _same(one: Any, other: Any) -> bool:
    tables = zip((t for g in one for t in g), (t for g in other for t in g), strict=True)
    return all(
        x is y or all(a.shape == b.shape and bool((a == b).all()) for a, b in zip(x, y, strict=True)) for x, y in tables
    )
