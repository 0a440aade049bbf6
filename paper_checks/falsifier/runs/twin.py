"""What a table's run says, by ``plain`` arithmetic: every reading, and the statement where it does worst."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from bounds.core import Bound
from bounds.weights import Weights

from ...runs import schedules
from ...runs.demands import demands
from ...runs.methods import knob
from ..collected import Collected
from ..exact import decimal, RATIONAL, WORKING
from ..kinds import kinds
from .constants import constants
from .jumps import Jumps
from .moments import ALL, ENDS, MEAN
from .plain import Form, Law, Number, Table

Sends = Callable[[int, int], dict[int, Number]]
VIRTUAL = "at the average of all clients"
SUMS = ("summed_grad_norm_sq", "mean_path_gradient_sq", "gradient_drift", "mean_gradient_drift")
RATIONAL_STEPS = 60
"""Local steps of all kinds and rounds up to which numbers stay rational; beyond, 60 digits are carried."""


class PlainRun(Collected):
    """The readings of a run, collected round by round; one or two clients stand for each kind.

    ``looked`` is as in ``moments``: of a long run a few moments, reached by squaring the map of a round. Along the
    local steps only ``wanted`` words are read, and ``VIRTUAL``; all, unless told.
    """

    def __init__(
        self,
        table: Table,
        beta: Number,
        reading: str,
        looked: str = ALL,
        memory: bool = True,
        wanted: frozenset[str] | None = None,
        averaging: bool = False,
        weights: Weights | None = None,
    ) -> None:
        super().__init__()
        self._again = partial(type(self), table, beta, reading, looked, memory, wanted, averaging)
        self.wanted, self.averaging, self.steps_taken = wanted, averaging, 0
        if averaging:
            self.shares = (weights or Weights(growth=table.kind(1))).shares(
                int(table.raw["rounds"]) * int(table.raw["local_steps"])
            )
        self.table = table.centred() if looked == ENDS else table
        self.beta, self.reading = beta, reading
        self.kinds, self.dim = table.kinds, table.dim
        self.people = [(k, j) for k in range(self.kinds) for j in range(min(table.counts[k], 2))]
        rounds, law = int(table.raw["rounds"]), self._first()
        if looked == ALL:
            for _ in range(rounds):
                law = self._round(law)
        else:
            law = self._far(law, rounds, looked, memory)
        self._read_server(law)
        self._read_along(law)
        if averaging:
            whole = self.table.kind(1)
            away: list[tuple[Form, Number]] = [
                ({self._index("average", 0, i): whole}, -self.table.minimiser[i]) for i in range(self.dim)
            ]
            self._average_gap = self._times(law, away, self._times_curvature(away)) / 2

    def _far(self, law: Law, rounds: int, looked: str, memory: bool) -> Law:
        """The readings at the moments that are looked at; the law after the last round."""
        jumps = Jumps(self._silent, law, self._outliving(memory), self.dim if self.table.straight else 1, self._swaps())
        last, mean = jumps.after(rounds), jumps.mean(rounds)
        before = {MEAN: [mean], ENDS: [law, jumps.after(rounds - 1)]}.get(looked) or [jumps.after(rounds - 1)]
        for each in before:
            self._round(each)
        if looked == ENDS:
            if not jumps.one_way(law, last):
                raise ArithmeticError("between the ends of the run its moments may lie anywhere")
            caps = [self._silent_cap(each) for each in jumps.around(law, last)]
            self._rounds["grad_cap_sq"] = [max(caps)] * len(before)
        return last

    def _outliving(self, memory: bool) -> list[int]:
        """The variables that outlive a round, one axis after the other."""
        return [self._index("model", 0, i) for i in range(self.dim)] + self._lasts() * memory

    def _silent(self, law: Law) -> Law:
        """A round that leaves no readings."""
        kept = self._server, self._rounds, self._along
        self._server, self._rounds, self._along = {}, {}, {}
        after = self._round(law)
        self._seen = self._rounds
        self._server, self._rounds, self._along = kept
        return after

    def _silent_cap(self, law: Law) -> Number:
        self._silent(law)
        return self._seen["grad_cap_sq"][0]

    # ---- variables ----

    def _index(self, kind: str, who: int = 0, axis: int = 0) -> int:
        number = len(self.people)
        block = {"model": 0, "last": 1, "local": 1 + number, "sum": 1 + 2 * number, "average": 1 + 3 * number}[kind]
        return (block + who) * self.dim + axis

    def _lasts(self) -> list[int]:
        return [self._index("last", r, i) for r in range(len(self.people)) for i in range(self.dim)]

    def _swaps(self) -> list[dict[int, int]]:
        """The two clients that stand for a kind, exchanged."""
        found = []
        for r, (_, j) in enumerate(self.people):
            if j:
                ours = [(self._index("last", r - 1, i), self._index("last", r, i)) for i in range(self.dim)]
                found.append(dict(ours) | {y: x for x, y in ours})
        return found

    def _who(self, kind: int, besides: int | None = None) -> int:
        """A client of a kind that stands for all of it, another than ``besides``."""
        mine = [r for r, (k, _) in enumerate(self.people) if k == kind and r != besides]
        return mine[0]

    def _first(self) -> Law:
        size = (1 + 3 * len(self.people)) * self.dim
        zero = 0 * self.table.step_size
        mean = [self.table.start[i % self.dim] for i in range(size)]
        if self.averaging:
            mean += [zero] * self.dim
            size += self.dim
        return Law(mean, [[zero] * size for _ in range(size)])

    def _at(self, kind: str, who: int = 0, weight: Number = 1) -> list[dict[int, Number]]:
        return [{self._index(kind, who, i): weight} for i in range(self.dim)]

    def _mean_square(
        self,
        law: Law,
        weights: Sequence[Number],
        forms: Callable[[int], list[tuple[Form, Number]]],
        beside: Callable[[int], list[tuple[Form, Number]]] | None = None,
    ) -> Number:
        """The expected square of a sum over all clients, with whole kinds' ``weights``, of forms of each.

        With other forms, its product with the same sum of these.
        """
        also = beside or forms
        shares = [w / c for w, c in zip(weights, self.table.counts, strict=True)]
        total = 0 * self.table.step_size
        for r, (k, j) in enumerate(self.people):
            if j:
                continue
            count = self.table.counts[k]
            total += count * shares[k] ** 2 * self._times(law, forms(r), also(r))
            for h in range(self.kinds):
                others = count * (self.table.counts[h] - (h == k))
                if others:
                    total += others * shares[k] * shares[h] * self._times(law, forms(r), also(self._who(h, r)))
        return total

    def _times(self, law: Law, left: list[tuple[Form, Number]], right: list[tuple[Form, Number]]) -> Number:
        """The expected inner product of two vectors of forms plus constants."""
        total = 0 * self.table.step_size
        for (form, shift), (other, move) in zip(left, right, strict=True):
            means = [sum(c * law.mean[i] for i, c in f.items()) for f in (form, other)]
            total += law.product(form, other) + means[0] * move + means[1] * shift + shift * move
        return total

    # ---- a round ----

    def _round(self, law: Law) -> Law:
        self._read_server(law)
        before = law.copy()
        table, zero = self.table, 0 * self.table.step_size
        drift, largest = zero, zero
        self._begin(law)
        for _ in range(int(table.raw["local_steps"])):
            if self._asked("local_drift"):
                apart = [law.square(self._apart("local", self._who(k), "model")) for k in range(self.kinds)]
                drift += sum(c * d for c, d in zip(table.counts, apart, strict=True)) / table.clients
            if self._asked("grad_cap_sq"):
                norms = [law.square(self._gradient(self._who(k), "local")) + table.noise[k] for k in range(self.kinds)]
                largest = max(largest, *norms)
            if self._asked(VIRTUAL):
                self._read_virtual(law)
            if self.averaging:
                self._add_up(law)
            self._step(law)
            self.steps_taken += 1
        self._note(self._rounds, "local_drift", drift)
        self._note(self._rounds, "grad_cap_sq", largest)
        if self._asked(*SUMS):
            self._read_sums(law)
        return self._combine(before, law)

    def _asked(self, *words: str) -> bool:
        return self.wanted is None or not self.wanted.isdisjoint(words)

    def _begin(self, law: Law) -> None:
        forms: dict[int, tuple[Form, Number]] = {}
        for r in range(len(self.people)):
            for i in range(self.dim):
                relaxed = {self._index("model", 0, i): 1 + self.beta, self._index("last", r, i): -self.beta}
                forms[self._index("local", r, i)] = (relaxed, 0 * self.beta)
                forms[self._index("sum", r, i)] = ({}, 0 * self.beta)
        law.replace(forms, {})

    def _gradient(self, who: int, at: str) -> list[tuple[Form, Number]]:
        """The client's gradient at one of its models, as forms plus constants."""
        kind = self.people[who][0]
        matrix, minimum = self.table.curvatures[kind], self.table.minima[kind]
        place = who if at != "model" else 0
        return [
            (
                {self._index(at, place, j): matrix[i][j] for j in range(self.dim)},
                -sum(matrix[i][j] * minimum[j] for j in range(self.dim)),
            )
            for i in range(self.dim)
        ]

    def _step(self, law: Law) -> None:
        """One SGD step of every client; the gradients at the models before it are added up."""
        eta, table = self._step_size, self.table
        for r, (kind, _) in enumerate(self.people):
            forms: dict[int, tuple[Form, Number]] = {}
            pulls = self._pull(r)
            for i, (form, constant) in enumerate(self._gradient(r, "local")):
                own, total = self._index("local", r, i), self._index("sum", r, i)
                forms[own] = (_plus({own: eta / eta}, pulls[i][0], -eta), -eta * pulls[i][1])
                if self._asked(*SUMS):
                    forms[total] = (_plus({total: eta / eta}, form, eta / eta), constant)
            noise = {self._index("local", r, i): eta * eta * table.noise[kind] / self.dim for i in range(self.dim)}
            law.replace(forms, noise)

    def _pull(self, who: int) -> list[tuple[Form, Number]]:
        """What a step of a client goes along, but for noise."""
        return self._gradient(who, "local")

    @property
    def _step_size(self) -> Number:
        """That of the local step that comes next."""
        first, offset = self.table.step_size, self.table.step_offset
        return first if offset is None else first / (1 + self.steps_taken / offset)

    def _add_up(self, law: Law) -> None:
        """Add the average of all clients' models, every one of whom is a kind of its own, to the sum so far."""
        forms = {}
        for i in range(self.dim):
            own = self._index("average", 0, i)
            share = self.shares[self.steps_taken]
            form = {self._index("local", r, i): share * self.table.weights[k] for r, (k, _) in enumerate(self.people)}
            forms[own] = ({own: self.table.kind(1), **form}, 0 * self.table.step_size)
        law.replace(forms, {})

    def average_gap(self, weights: Weights | None = None) -> Number:
        """The loss gap at the mean of the averages before every local step; with weights the run is played again."""
        return self._average_gap if weights is None else self._again(weights=weights)._average_gap

    def _carry(self, law: Law, after: Law, raw: dict[tuple[int, int], Number]) -> None:
        """What the sum of averages has in common with the models after a round of all clients."""
        one = self.table.kind(1)
        for e in range(self.dim):
            total = self._index("average", 0, e)
            after.mean[total] = law.mean[total]
            for i in range(self.dim):
                own = self._index("average", 0, i)
                raw[own, total] = law.product({own: one}, {total: one})
                ends = [law.product({self._index("local", r, i): one}, {total: one}) for r in range(len(self.people))]
                shares = [self.table.weights[k] for k, _ in self.people]
                raw[i, total] = raw[total, i] = sum(p * end for p, end in zip(shares, ends, strict=True))
                for r, end in enumerate(ends):
                    raw[self._index("last", r, i), total] = raw[total, self._index("last", r, i)] = end

    def _sent(self, who: int, axis: int) -> dict[int, Number]:
        """What the server averages of a client."""
        end = {self._index("local", who, axis): self.table.kind(1)}
        if self.reading != "code":
            return end
        return end | {self._index("model", 0, axis): -self.beta, self._index("last", who, axis): self.beta}

    def _kept(self, who: int, axis: int) -> dict[int, Number]:
        """What a client remembers that has worked."""
        return {self._index("local", who, axis): self.table.kind(1)}

    def _servers(self) -> dict[str, Sends]:
        """The server's vectors, each an average over the draw of what clients send for it."""
        return {"model": self._sent}

    def _combine(self, before: Law, law: Law) -> Law:
        """The law after the server's average, by what any two clients expect of the draw, and who remembers what."""
        after, dim = self._first(), self.dim
        after.spread = [[0 * x for x in row] for row in after.spread]
        people = range(len(self.people))
        raw: dict[tuple[int, int], Number] = {}
        servers = self._servers()
        for i in range(dim):
            for name, sent in servers.items():
                after.mean[self._index(name, 0, i)] = sum(
                    self.table.counts[k] * self.table.pairs.alone(k)[0] * _mean(law, sent(self._who(k), i))
                    for k in range(self.kinds)
                )
            for r in people:
                own, works = self._index("last", r, i), self._works(r)
                after.mean[own] = works * _mean(law, self._kept(r, i)) + (1 - works) * law.mean[own]
        for i in range(dim):
            for e in range(dim):
                for name, sent in servers.items():
                    at = self._index(name, 0, i)
                    for other, theirs in servers.items():
                        raw[at, self._index(other, 0, e)] = self._averages(law, sent, i, theirs, e)
                    for r in people:
                        last = self._index("last", r, e)
                        raw[at, last] = raw[last, at] = self._with_memory(law, sent, i, r, e)
                for r in people:
                    for t in people:
                        raw[self._index("last", r, i), self._index("last", t, e)] = self._memories(law, r, i, t, e)
        if self.averaging:
            self._carry(law, after, raw)
        for (x, y), value in raw.items():
            after.spread[x][y] = value - after.mean[x] * after.mean[y]
        self._read_moved(before, law, after)
        return after

    def _works(self, who: int) -> Number:
        return self.table.kind(1) if self.reading == "proof" else self.table.pairs.alone(self.people[who][0])[1]

    def _averages(self, law: Law, one: Sends, i: int, other: Sends, e: int) -> Number:
        """The expected product of two averages over the same draw, of axis i of one thing and axis e of another."""
        total = 0 * self.table.step_size
        for k, count in enumerate(self.table.counts):
            r = self._who(k)
            total += count * self.table.pairs.alone(k)[2] * law.product(one(r, i), other(r, e))
            for h, number in enumerate(self.table.counts):
                if others := count * (number - (h == k)):
                    both = self.table.pairs.together(k, h)[0]
                    total += others * both * law.product(one(r, i), other(self._who(h, r), e))
        return total

    def _with_memory(self, law: Law, sends: Sends, i: int, who: int, e: int) -> Number:
        """The expected product of axis i of the average of what is sent and a client's next memory's axis e."""
        kind, one = self.people[who][0], self.table.kind(1)
        end, last = self._kept(who, e), {self._index("last", who, e): one}
        total = self.table.pairs.alone(kind)[0] * law.product(sends(who, i), end)
        for k, count in enumerate(self.table.counts):
            if not (others := count - (k == kind)):
                continue
            weight, sent = self.table.pairs.alone(k)[0], sends(self._who(k, who), i)
            joined = weight if self.reading == "proof" else self.table.pairs.together(k, kind)[1]
            total += others * (joined * law.product(sent, end) + (weight - joined) * law.product(sent, last))
        return total

    def _memories(self, law: Law, r: int, i: int, t: int, e: int) -> Number:
        """The expected product of two clients' next memories, or of one with itself."""
        one = self.table.kind(1)
        ends = self._kept(r, i), self._kept(t, e)
        lasts = {self._index("last", r, i): one}, {self._index("last", t, e): one}
        p, q = self._works(r), self._works(t)
        both = p if r == t else one if self.reading == "proof" else self._both(r, t)
        return (
            both * law.product(ends[0], ends[1])
            + (p - both) * law.product(ends[0], lasts[1])
            + (q - both) * law.product(lasts[0], ends[1])
            + (1 - p - q + both) * law.product(lasts[0], lasts[1])
        )

    def _both(self, r: int, t: int) -> Number:
        return self.table.pairs.together(self.people[r][0], self.people[t][0])[2]

    def _read_moved(self, before: Law, law: Law, after: Law) -> None:
        """The server's step, its product with the gradient, and how far from its end the drawn clients end."""
        one, axes = self.table.kind(1), range(self.dim)
        models = [{self._index("model", 0, i): one} for i in axes]
        alone, counted = self.table.pairs.alone, self.table.counts
        sent = [[(c * alone(k)[0], self._sent(self._who(k), i)) for k, c in enumerate(counted)] for i in axes]
        new = sum(after.product(m, m) for m in models)
        step = new + sum(before.product(m, m) for m in models)
        step -= 2 * sum(weight * law.product(models[i], form) for i in axes for weight, form in sent[i])
        aligned = 0 * self.table.step_size
        for i in axes:
            gradient = {self._index("model", 0, j): self.table.curvature[i][j] for j in axes}
            constant = -sum(self.table.curvature[i][j] * self.table.minimiser[j] for j in axes)
            moves = [*sent[i], (-one, models[i])]
            aligned += sum(w * (law.product(gradient, form) + constant * _mean(law, form)) for w, form in moves)

        def end(who: int, i: int) -> dict[int, Number]:
            return {self._index("local", who, i): one}

        pairs = self.table.pairs
        shares = [one * c / self.table.clients if pairs.everybody else c * alone(k)[0] for k, c in enumerate(counted)]
        apart = new + sum(
            share * law.product(end(self._who(k), i), end(self._who(k), i))
            for k, share in enumerate(shares)
            for i in axes
        )
        if pairs.everybody:
            across = sum(
                after.product(models[i], {self._index("last", self._who(k), i): one}) * share
                for k, share in enumerate(shares)
                for i in axes
            )
        else:
            across = sum(self._averages(law, self._sent, i, end, i) for i in axes)
        self._note(self._rounds, "global_step", step)
        self._note(self._rounds, "active_divergence", apart - 2 * across)
        self._note(self._rounds, "step_alignment", aligned)
        steps = self.table.step_size * int(self.table.raw["local_steps"])
        self._note(self._rounds, "mean_update_sq", step / (steps * steps))

    # ---- readings ----

    def _note(self, kind: dict[str, list[Any]], name: str, value: Any) -> None:
        kind.setdefault(name, []).append(value)

    def _apart(self, kind: str, who: int, other: str) -> list[tuple[Form, Number]]:
        zero = 0 * self.table.step_size
        return [
            ({self._index(kind, who, i): 1 + zero, self._index(other, 0, i): -1 + zero}, zero) for i in range(self.dim)
        ]

    def _times_curvature(self, away: list[tuple[Form, Number]]) -> list[tuple[Form, Number]]:
        found: list[tuple[Form, Number]] = []
        for row in self.table.curvature:
            joined: dict[int, Number] = {}
            for coefficient, (form, _) in zip(row, away, strict=True):
                joined = _plus(joined, form, coefficient)
            found.append((joined, sum(c * constant for c, (_, constant) in zip(row, away, strict=True))))
        return found

    def _away(self, kind: str, who: int = 0) -> list[tuple[Form, Number]]:
        """The distance of a model from the minimiser."""
        return [(form, -self.table.minimiser[i]) for i, form in enumerate(self._at(kind, who, self.table.kind(1)))]

    def _read_along(self, law: Law) -> None:
        """Distance and gradient at the server model."""
        away = self._away("model")
        slope = self._times_curvature(away)
        self._note(self._along, "distance_sq", law.square(away))
        self._note(self._along, "grad_norm_sq", law.square(slope))
        self._note(self._along, "optimality_gap", self._times(law, away, slope) / 2)

    def _read_virtual(self, law: Law) -> None:
        """Distance and gradient at the average of all clients' local models."""

        def away(who: int) -> list[tuple[Form, Number]]:
            return self._away("local", who)

        def slope(who: int) -> list[tuple[Form, Number]]:
            return self._times_curvature(away(who))

        self._note(self._along, "distance_sq", self._mean_square(law, self.table.weights, away))
        self._note(self._along, "grad_norm_sq", self._mean_square(law, self.table.weights, slope))
        if self._asked("optimality_gap"):
            self._note(self._along, "optimality_gap", self._mean_square(law, self.table.weights, away, slope) / 2)

    def _read_server(self, law: Law) -> None:
        away, table = self._away("model"), self.table
        self._note(self._server, "grad_norm_sq", law.square(self._times_curvature(away)))
        self._note(self._server, "optimality_gap", self._times(law, away, self._times_curvature(away)) / 2)
        self._note(self._server, "distance_sq", law.square(away))
        clients = [law.square(self._gradient(self._who(k), "model")) for k in range(self.kinds)]
        self._note(self._server, "client_grad_norm_sq", clients)
        self._note(self._server, "mean_client_grad_sq", sum(p * g for p, g in zip(table.weights, clients, strict=True)))
        self._apart_from_last(law)

    def _apart_from_last(self, law: Law) -> None:
        apart = [law.square(self._apart("last", self._who(k), "model")) for k in range(self.kinds)]
        mean = sum(c * d for c, d in zip(self.table.counts, apart, strict=True)) / self.table.clients
        self._note(self._server, "divergence", mean)

    def _read_sums(self, law: Law) -> None:
        """Gradients added up along the paths."""
        table, steps = self.table, int(self.table.raw["local_steps"])
        zero = 0 * table.step_size

        def walked(who: int) -> list[tuple[Form, Number]]:
            return [({self._index("sum", who, i): 1 + zero}, zero) for i in range(self.dim)]

        drift = []
        for k in range(self.kinds):
            who = self._who(k)
            forms = [
                (_plus(form, {self._index("sum", who, i): 1 + zero}, -(1 + zero) / steps), constant)
                for i, (form, constant) in enumerate(self._gradient(who, "model"))
            ]
            drift.append(law.square(forms))
        whole = [(1 + zero) * count for count in table.counts]
        self._note(self._rounds, "summed_grad_norm_sq", self._mean_square(law, whole, walked))
        mean = self._mean_square(law, table.weights, walked) / (steps * steps)
        self._note(self._rounds, "mean_path_gradient_sq", mean)
        self._note(self._rounds, "gradient_drift", drift)
        self._note(self._rounds, "mean_gradient_drift", sum(p * d for p, d in zip(table.weights, drift, strict=True)))


def _mean(law: Law, form: Form) -> Number:
    return sum(c * law.mean[i] for i, c in form.items())


def _plus(form: Form, other: Form, factor: Number) -> dict[int, Number]:
    """A form plus another one times a factor."""
    joined = dict(form)
    for i, c in other.items():
        joined[i] = joined.get(i, 0) + factor * c
    return joined


def told(
    bound: Bound, instance: Mapping[str, Any], looked: str, memory: bool, wanted: frozenset[str], play: type[PlainRun]
) -> tuple[dict[str, Any], PlainRun, str]:
    """The constants of an instance, its run as ``play`` makes it, and the arithmetic they were done in."""
    drawn = instance["cohort"] if instance["with_replacement"] else 1
    steps = max(kinds(instance) * instance["local_steps"] * instance["rounds"], drawn)
    rationally = steps <= RATIONAL_STEPS
    table = Table(instance, Fraction if rationally else decimal)
    known = constants(table)
    if schedules.pinned(bound):
        told = schedules.chosen(bound, known)
        table.step_size, table.step_offset = told[schedules.FIRST], told.get(schedules.OFFSET)
        known = constants(table)
    average = demands(bound).average
    run = play(table, *knob(bound.about, "relaxation", table.beta), looked, memory, wanted, average)
    return known, run, RATIONAL if rationally else f"{WORKING} digits"
