"""Exact moments of federated methods on quadratics: expectations over noise and cohorts, without a sample.

A run carries mean and second moments of all that the method remembers from round to round (``rounds``) and reads the
quantities of the vocabulary off them. It works in floats, fractions and digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bounds.weights import Weights

from ..algorithms.algorithm import Algorithm
from ..errors import EmpiricsError
from ..sizes import NUMBER, refuse_beyond_memory
from ..training.setting import Setting
from .coefficients import first_round, Forms
from .draws import Draw
from .numbers import Array, Kind
from .paths import Clients, Frame, Played
from .rounds import after, listed, Round, State

ALL, MEAN, ENDS, LAST_ROUND = "all", "mean", "ends", "last"
"""Which states of a run are evaluated: every one; their mean and the last; the first and the last two; the last two."""
ROUNDING, CLOSE = 1e-12, 1e-40
"""The share of a matrix's largest number that rounding makes of nothing, in floats and in digits."""
FLAT = 20
"""Numbers of u up to which a quadratic form is written out as a matrix."""


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
    linear; ``fixed``: what it does depends neither on the round nor on step sizes and numbers of clients. ``of``
    numbers the group of every client, for quantities that clients have one each of.
    """

    clients: Clients
    algorithm: Algorithm
    setting: Setting
    draw: Draw
    shares: Sequence[Any] | None = None
    looked: str = ""
    last: bool = True
    trusted: bool = False
    fixed: bool = False
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
        if self.fixed and not self.kind.exact:
            return [[first_round(self.algorithm, self.last)[0]]]
        names = list(self.layers or {"model": slice(None)})
        many = len(self.shares) if self.shares is not None else 1
        return [
            [Forms(self.algorithm, self.setting, self.kind, names, name, self.last, self.trusted) for name in names]
            for _ in range(many)
        ]

    def _next(self, round_: int = 0, before: Played | None = None) -> Played:
        """The next round; what it has in common with the one before it shares."""
        s, total = self.setting, sum(int(size) for size in self.clients.sizes)
        shares: Sequence[Any] = [None] if self.shares is None else self.shares
        if self.fixed and not self.kind.exact:
            coefficients = [[first_round(self.algorithm, self.last)[1]]]
            sizes = self.kind.array(s.sizes(round_, s.step_size, s.steps))
        else:
            sizes = self._forms[0][0].plan()[1]
            coefficients = [
                [f.next(total, share) for f in group] for group, share in zip(self._forms, shares, strict=True)
            ]
        if before is not None and _same(coefficients, before.frame.coefficients):
            same = len(sizes) == len(before.sizes) and bool((sizes == before.sizes).all())
            return before if same else replace(before, sizes=sizes)
        draw = self.draw.everyone() if self.algorithm.everyone else self.draw
        frame = Frame(self.clients, coefficients, draw, self._forms[0][0].memory)
        return Played(frame, sizes, s.momentum, s.nesterov, s.weight_decay)

    @cached_property
    def steady(self) -> bool:
        """Whether all rounds are the same, whatever number they have."""
        s, form = self.setting, self._forms[0][0]
        fixed = s.step_size_decay == 1 and s.step_offset is None and s.step_size_rule == "constant"
        return fixed and self.trusted and form.begun == len(form.server)

    @cached_property
    def played(self) -> list[Played]:
        """What happens in every round that is evaluated; rounds that are the same share one object."""
        if self.looked or self.steady:
            every = self.setting.rounds if self.looked in ("", ALL) else 2 if self.looked == ENDS else 1
            return [self.opening] * every
        found: list[Played] = []
        for round_ in range(self.setting.rounds):
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

    # ---- expected products ----

    @cached_property
    def _model(self) -> Array:
        """Picks the server model out of u ``(d, n)``."""
        return self.kind.eye(self.clients.dim, len(self.first.mean), 1)

    def _from_best(self, maps: Array) -> Array:
        """Maps of u ``(..., d, n)`` less the minimiser."""
        moved = maps.copy()
        moved[..., 0] -= self.clients.best
        return moved

    def inner(
        self, left: Array, right: Array | None = None, dev: tuple[Array, Array] | None = None, at: Any = slice(None)
    ) -> Array:
        """``E <left u, right u>`` of maps ``(..., d, n)`` at the states ``at``: ``(R, ...)``.

        ``dev (G, ..., d, q)`` twice: maps are those of the groups' clients, whose distance from the mean adds to it.
        """
        square = right is None
        right = left if right is None else right
        states = State(*(x[at] for x in self.states))
        found: Array
        one: Array = left.reshape(-1, left.shape[-1])
        two: Array = right.reshape(-1, right.shape[-1])
        n = one.shape[1]
        if n <= FLAT:
            forms = (one[:, :, None] * two[:, None, :]).reshape(-1, n * n)
            found = states.covariance.reshape(-1, n * n) @ forms.T
        else:
            found = ((one @ states.covariance) * two).sum(-1)
        found = found + (states.mean @ one.T) * (states.mean @ two.T)
        if dev is not None and dev[0].shape[-1]:
            groups, q = len(dev[0]), dev[0].shape[-1]
            one, two = (x.reshape(groups, -1, q) for x in dev)
            found = found + ((one @ states.spread) * two).sum(-1).reshape(found.shape)
        found = found.reshape(len(found), *left.shape[:-1]).sum(-1)
        return np.maximum(found, 0.0) if square and not self.kind.exact else found

    def square(self, maps: Array, dev: Array | None = None, at: Any = slice(None)) -> Array:
        """``E ||map u||^2``."""
        return self.inner(maps, None, None if dev is None else (dev, dev), at)

    def metric(self, name: str) -> Array:
        """The matrix M for which a quantity is ``E <x, M x>`` of the distance x from the minimiser."""
        hessian = self.clients.hessian
        return {
            "optimality_gap": hessian / 2,
            "grad_norm_sq": hessian @ hessian,
            "distance_sq": self.kind.eye(len(hessian)),
        }[name]

    def _at_model(self, name: str) -> Array:
        away = self._from_best(self._model)
        found = self.inner(away, self.metric(name) @ away)
        return found if self.kind.exact else np.maximum(found, 0.0)

    # ---- the server ----

    def _asked(self, makers: dict[str, Callable[[], Any]], always: tuple[str, ...] = ()) -> Lazily:
        kept = {n: m for n, m in makers.items() if self.wanted is None or n in self.wanted or n in always}
        return Lazily(self.kind, kept)

    @cached_property
    def server(self) -> Mapping[str, Array]:
        """Before the first round and after every one ``(R + 1, ...)``."""
        makers: dict[str, Callable[[], Any]] = {
            name: lambda name=name: self._at_model(name)  # type: ignore[misc]
            for name in ("grad_norm_sq", "optimality_gap", "distance_sq")
        }
        makers["client_grad_norm_sq"] = lambda: self._by_client(self._client_gradients)
        makers["mean_client_grad_sq"] = lambda: self._client_gradients @ self.clients.weights
        if self.played[0].last is not None:
            makers["divergence"] = lambda: self._apart @ self.clients.counted
        return self._asked(makers, ("grad_norm_sq", "optimality_gap"))

    def _by_client(self, of_groups: Array) -> Array:
        return of_groups if self.of is None else of_groups[..., self.of]

    @cached_property
    def _client_gradients(self) -> Array:
        c = self.clients
        return self.square(
            c.curvature @ self._from_minima(np.broadcast_to(self._model, (len(c.sizes), *self._model.shape)))
        )

    def _from_minima(self, maps: Array) -> Array:
        """Maps of u ``(G, ..., d, n)`` less the groups' minima."""
        moved = maps.copy()
        between = (1,) * (maps.ndim - 3)
        moved[..., 0] -= self.clients.minimum.reshape(len(maps), *between, -1)
        return moved

    @cached_property
    def _apart(self) -> Array:
        """The expected squared distance of every group's last local models from the server's."""
        played = self.played[0]
        last = played.last
        assert last is not None
        server = self._server(played)
        return self.square(played.round.whole(last) - self._model, last[..., server:])

    @staticmethod
    def _server(played: Played) -> int:
        return len(played.round.stays)

    # ---- the rounds ----

    def _over_rounds(self, reading: Callable[[Played, Any], Any]) -> Array:
        """A reading with one number, or one per client, in every round."""
        return np.array(self._rows(reading))

    def _rows(self, reading: Callable[[Played, Any], Array]) -> list[Array]:
        """A reading of every round, computed at once for all that are the same."""
        found: list[Any] = [None] * len(self.played)
        places: dict[int, list[int]] = {}
        for i, played in enumerate(self.played):
            places.setdefault(id(played), []).append(i)
        for where in places.values():
            at = slice(where[0], where[-1] + 1) if where[-1] - where[0] == len(where) - 1 else np.array(where)
            for i, value in zip(where, reading(self.played[where[0]], at), strict=True):
                found[i] = value
        return found

    @cached_property
    def rounds(self) -> Mapping[str, Array]:
        """One entry per round ``(R, ...)``; all clients work, as if drawn, unless a name says otherwise."""
        d, c = self.clients.dim, self.clients
        gap = lambda: np.asarray(self._at_model("optimality_gap"))  # noqa: E731
        makers: dict[str, Callable[[], Any]] = {
            "local_steps": lambda: [p.steps for p in self.played],
            "local_drift": lambda: self._over_rounds(self._local_drift),
            "grad_cap_sq": lambda: self._over_rounds(self._grad_cap),
            "client_grad_cap_sq": lambda: self._by_client(self._over_rounds(self._client_grad_cap)),
            "summed_grad_norm_sq": lambda: self._over_rounds(self._summed_gradients),
            "mean_path_gradient_sq": lambda: self._over_rounds(self._mean_path),
            "gradient_drift": lambda: self._by_client(self._gradient_drift),
            "mean_gradient_drift": lambda: self._gradient_drift @ c.weights,
            "summed_consensus": lambda: self._over_rounds(
                lambda p, at: self._consensus(p, at, slice(0, d))[:, :-1].sum(1)
            ),
            "summed_gap": lambda: self._over_rounds(
                lambda p, at: self._average(p, at, "optimality_gap")[:, :-1].sum(1)
            ),
            "round_gap": lambda: self._over_rounds(
                lambda p, at: self._average(p, at, "optimality_gap")[:, 1:].sum(1) / p.steps
            ),
            "round_end_distance_sq": lambda: self._over_rounds(
                lambda p, at: self._average(p, at, "distance_sq")[:, -1]
            ),
            "global_step": lambda: self._over_rounds(self._global_step),
            "step_alignment": lambda: self._over_rounds(self._alignment),
            "mean_update_sq": lambda: self._over_rounds(self._mean_update),
            "active_divergence": lambda: self._over_rounds(self._active_divergence),
            "loss_change": lambda: gap()[1:] - gap()[:-1],
            "loss_decrease": lambda: gap()[:-1] - gap()[1:],
        }
        if self.played[0].last is None:
            makers.pop("active_divergence")
        unlike = self.shares is not None and self.setting.sampling != "with_replacement" and not self.draw.certain
        if unlike or self.setting.average == "unbiased":
            makers.pop("active_divergence", None)  # participants count evenly there, and are averaged otherwise
        return self._asked(makers, ("local_steps", "loss_change", "loss_decrease"))

    def _paths(self, played: Played) -> tuple[Array, Array]:
        """Local models after 0 to K steps, as maps of u and of dev ``(G, K + 1, d, ...)``."""
        return played.of_u, played.path[..., self._server(played) :]

    def _local_drift(self, played: Played, at: Any) -> Array:
        path, dev = self._paths(played)
        apart = self.square(path[:, :-1] - self._model, dev[:, :-1], at)
        noise = np.trace(played.path_noise[:, :-1], axis1=2, axis2=3)
        return (apart + noise).sum(-1) @ self.clients.counted

    def _stochastic_gradients(self, played: Played) -> tuple[Array, Array, Array]:
        """Of every group and step of a round: maps of u and dev, and what noise adds to their squares."""
        path, dev = self._paths(played)
        steep = self.clients.curvature[:, None]
        noise = np.trace(steep @ played.path_noise[:, :-1] @ steep, axis1=2, axis2=3) + self.clients.variance[:, None]
        return steep @ self._from_minima(path)[:, :-1], steep @ dev[:, :-1], noise

    def _client_grad_cap(self, played: Played, at: Any) -> Array:
        """The largest expected squared stochastic gradient of a round over its steps, of every group."""
        maps, devs, noise = self._stochastic_gradients(played)
        return (self.square(maps, devs, at) + noise).max(axis=2)

    def _grad_cap(self, played: Played, at: Any) -> Array:
        """The largest expected squared stochastic gradient of a round, over clients and steps."""
        maps, devs, noise = self._stochastic_gradients(played)
        if self.looked == ENDS:  # between its ends every raw moment adds at most what it adds at one of them
            largest = np.abs(self.states.covariance).max(0), np.abs(self.states.spread).max(0)
            flat = np.abs(maps.reshape(-1, maps.shape[-1]))
            norms = ((flat @ largest[0]) * flat).sum(-1).reshape(maps.shape[:-1]).sum(-1)
            if devs.shape[-1]:
                flat = np.abs(devs.reshape(len(devs), -1, devs.shape[-1]))
                norms = norms + ((flat @ largest[1]) * flat).sum(-1).reshape(devs.shape[:-1]).sum(-1)
            return np.array([(norms + noise).max()] * len(self.played))
        return (self.square(maps, devs, at) + noise).max(axis=(1, 2))

    def _walked(self, played: Played) -> tuple[Array, Array, Array]:
        """The sum of a client's gradients along its path: maps of u and dev ``(G, d, ...)``, covariance by noise."""
        path, dev = self._paths(played)
        steep = self.clients.curvature
        _, own = played.weighed_noise([self.kind.make(1)] * played.steps)
        maps = steep @ self._from_minima(path)[:, :-1].sum(1)
        return maps, steep @ dev[:, :-1].sum(1), np.trace(steep @ own @ steep, axis1=1, axis2=2)

    def _summed_gradients(self, played: Played, at: Any) -> Array:
        walked, _, noise = self._walked(played)
        number = self.clients.number
        return self.square((number[:, None, None] * walked).sum(0), at=at) + number @ noise

    def _mean_path(self, played: Played, at: Any) -> Array:
        walked, _, noise = self._walked(played)
        c, square = self.clients, self.kind.make(played.steps) ** 2
        mean = self.square((c.weights[:, None, None] * walked).sum(0), at=at)
        return (mean + (c.weights**2 / c.number) @ noise) / square

    @cached_property
    def _gradient_drift(self) -> Array:
        def apart(played: Played, at: Any) -> Array:
            walked, dev, noise = self._walked(played)
            steps = self.kind.make(played.steps)
            model = np.broadcast_to(self._model, walked.shape)
            start = self.clients.curvature @ self._from_minima(model)
            return self.square(start - walked / steps, dev / steps, at) + noise / steps**2

        return self._over_rounds(apart)

    # ---- who moved, and how far ----

    def _moves(self, played: Played) -> Array:
        """The server's step in expectation over the draw, as a map of u ``(d, n)``."""
        return played.round.mean[1 : 1 + self.clients.dim] - self._model

    def _by_chance(self, one: Round, at: Any) -> Array:
        """The covariance of what is sent, summed over the groups, by draw and noise ``(R, r, r)``."""
        sent, states = one.shape[3], State(*(x[at] for x in self.states))
        noise = one.noisy[:, :sent, :sent].sum(0)
        if one.draw.certain:
            return np.broadcast_to(noise, (len(states.mean), *noise.shape))
        drawn = one.drawn(*states)[..., :, :sent, :, :sent]
        return drawn.sum((-4, -2)) + noise

    def _global_step(self, played: Played, at: Any) -> Array:
        moves = played.round.moves[1 : 1 + self.clients.dim]
        chance = np.trace(moves @ self._by_chance(played.round, at) @ moves.T, axis1=1, axis2=2)
        return self.square(self._moves(played), at=at) + chance

    def _alignment(self, played: Played, at: Any) -> Array:
        return self.inner(self.clients.hessian @ self._from_best(self._model), self._moves(played), at=at)

    def _mean_update(self, played: Played, at: Any) -> Array:
        """With all clients and no relaxed start the server's step is the mean gradient times step size and steps."""
        step = self._global_step(played, at)
        model = self.kind.eye(self.clients.dim, played.start.shape[-1], 1)
        if self.draw.certain and (played.start == np.broadcast_to(model, played.start.shape)).all():
            return step / (played.sizes[0] * played.steps) ** 2
        return np.full(step.shape, np.nan)

    def _active_divergence(self, played: Played, at: Any) -> Array:
        """Around the old model, sum a |end - new|^2 = sum a |end - old|^2 - 2 <sum a (end - old), step> + |step|^2."""
        path, dev = self._paths(played)
        one, where = played.with_ends
        ends = self.square(path[:, -1] - self._model, dev[:, -1], at)
        ends = ends + np.trace(played.path_noise[:, -1], axis1=1, axis2=2)
        counted = self.clients.counted if self.draw.certain else self.clients.number * self.draw.mean[:, 0]
        d = self.clients.dim
        moves = one.moves[1 : 1 + d]
        drawn = moves @ self._by_chance(one, at)[:, :, where:]
        across = self.inner(self._moves(played), one.sent_mean[where:] - self._model, at=at)
        across = across + np.trace(drawn, axis1=1, axis2=2)
        found = ends @ counted - 2 * across + self._global_step(played, at)
        return found if self.kind.exact else np.maximum(found, 0.0)

    # ---- local iterations ----

    def _average(self, played: Played, at: Any, name: str) -> Array:
        """A reading at the average of all clients after 0 to K local steps ``(R, K + 1)``."""
        c, metric = self.clients, self.metric(name)
        maps = (c.weights[:, None, None, None] * played.of_u).sum(0)
        spread = ((c.weights**2 / c.number)[:, None, None, None] * played.path_noise).sum(0)
        maps = self._from_best(maps)
        found = self.inner(maps, metric @ maps, at=at) + (metric * spread).sum((-2, -1))
        return found if self.kind.exact else np.maximum(found, 0.0)

    def _consensus(self, played: Played, at: Any, axes: slice) -> Array:
        """The mean squared distance of the clients' models from their average after 0 to K steps, of some axes."""
        c = self.clients
        path, dev = (x[:, :, axes] for x in self._paths(played))
        mean = (c.weights[:, None, None, None] * path).sum(0)
        each = np.trace(played.path_noise[:, :, axes, axes], axis1=2, axis2=3)
        shared = c.weights / c.number  # the weight of one client
        # The distance of a client's dev from the average's, and of its noise, leaves the others' shares out.
        found = self.square(path - mean, dev, at) + each * (1 - shared[:, None])
        return np.asarray((found * c.weights[:, None]).sum(1))

    def iterations(self, name: str) -> Array:
        """A reading at the average of all clients before every local step, and at the last server model.

        ``consensus_distance`` is the clients' mean squared distance from that average, 0 at the end.
        """
        if name == "consensus_distance":
            rows = [self._consensus(p, slice(r, r + 1), slice(None))[0, :-1] for r, p in enumerate(self.played)]
            return self.kind.given(np.concatenate([*rows, self.kind.zeros(1)]))
        rows = self._rows(lambda p, at: self._average(p, at, name)[:, :-1])
        return self.kind.given(np.concatenate([*rows, self._at_model(name)[-1:]]))

    def consensus(self, name: str) -> list[Array]:
        """By round the clients' mean squared distance from their average after 0 to K steps, of a layer or all."""
        where = slice(None) if self.layers is None or name == "model" else self.layers[name]
        return [self.kind.given(row) for row in self._rows(lambda p, at: self._consensus(p, at, where))]

    def average_gap(self, weights: Weights | None = None) -> Any:
        """The loss gap at the mean of the averages of all clients before every local step; all must take part.

        ``weights`` (numbers) say how much each of them counts; without them all count equally.
        """
        if not self.draw.certain:
            total = sum(int(size) for size in self.clients.sizes)
            raise EmpiricsError(
                f"the average of the iterates is that of all clients' models: all {total} clients must take part in "
                "every round"
            )
        c, kind, d = self.clients, self.kind, self.clients.dim
        ends = np.cumsum([0, *(p.steps for p in self.played)])
        steps = int(ends[-1])
        shares = [kind.make(1) / steps] * steps if weights is None else list(map(kind.make, weights.shares(steps)))
        n = len(self.first.mean)
        mean = np.concatenate([self.first.mean, kind.zeros(d)])
        covariance = kind.zeros(n + d, n + d)
        whole = kind.zeros(n + d, n + d)
        for p, begin in zip(self.played, ends, strict=False):
            here = shares[begin : begin + p.steps]
            path = (c.weights[:, None, None, None] * p.of_u[:, :-1]).sum(0)
            whole[:n, :n], whole[n:, n:] = p.round.mean, kind.eye(d)
            whole[n:, :n] = sum(share * step for share, step in zip(here, path, strict=True))
            mean, covariance = whole @ mean, whole @ covariance @ whole.T
            covariance += self._joint_noise(p, here)
        own, away = covariance[n:, n:], mean[n:] - c.best
        gap = (c.hessian * (own + np.outer(away, away))).sum() / 2
        return kind.give(gap)

    def _joint_noise(self, played: Played, shares: Sequence[Any]) -> Array:
        """The covariance of (u, the sum of averages) that a round's noise makes, where all clients take part."""
        c, kind, d = self.clients, self.kind, self.clients.dim
        n = len(self.first.mean)
        across, own = played.weighed_noise(shares)
        found = kind.zeros(n + d, n + d)
        found[:n, :n], by_noise = played.round.added, played.round.by_noise
        for g, (weight, size) in enumerate(zip(c.weights, c.number, strict=True)):
            found[:n, n:] += by_noise[g] @ across[g] * weight / size
            found[n:, n:] += weight**2 / size * own[g]
        found[n:, :n] = found[:n, n:].T
        return found


def _same(one: Any, other: Any) -> bool:
    tables = zip((t for g in one for t in g), (t for g in other for t in g), strict=True)
    return all(
        x is y or all(a.shape == b.shape and bool((a == b).all()) for a, b in zip(x, y, strict=True)) for x, y in tables
    )
