"""Many rounds at once in exact numbers: the map of a round, found by playing it, is squared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from typing import Any

import mpmath

from .plain import Law, Number

Row = list[Number]
Orbit = list[tuple[int, ...]]
"""Places, or pairs of them, whose moments are equal."""
CLOSE = 1e-40
"""The share of the largest coefficient that is left of nothing by rounding."""


class Jumps:
    """The affine map that a round is of the first and second moments of the variables that outlive it.

    ``axes`` that do not meet in a round have a map each, and all are found at once; where they meet there is one map.
    ``kept`` counts the variables of one axis after the other: x, y, x, y for two. ``swaps`` are exchanges of variables
    that change no law, so that moments are counted once for all that are equal.
    """

    def __init__(
        self,
        play: Callable[[Law], Law],
        first: Law,
        kept: Sequence[int],
        axes: int,
        swaps: Sequence[Mapping[int, int]] = (),
    ) -> None:
        self.axes, self.size = [list(kept[axis::axes]) for axis in range(axes)], len(first.mean)
        places = range(len(self.axes[0]))
        found = {variable: place for place, variable in enumerate(self.axes[0])}
        exchanges = [{found[x]: found[y] for x, y in swap.items() if x in found} for swap in swaps]
        self.means = _orbits(((a,) for a in places), exchanges)
        self.pairs = _orbits(combinations_with_replacement(places, 2), exchanges)
        self.zero = 0 * first.mean[0]
        self.first = self._numbers(first)
        places = range(len(self.means) + len(self.pairs))
        self.constant = self._numbers(play(self._law([[self.zero for _ in places]] * axes)))
        played = [self._numbers(play(self._law([[self.zero + (j == i) for j in places]] * axes))) for i in places]
        self.linear = [
            [[played[i][axis][j] - base[j] for i in places] for j in places] for axis, base in enumerate(self.constant)
        ]
        self._known: dict[int, tuple[list[Row], list[Row]]] = {}

    def _numbers(self, law: Law) -> list[Row]:
        """Means and mean products of every axis."""
        found = []
        for kept in self.axes:
            means = [law.mean[i] for i in kept]
            seconds = [(kept[a], kept[b]) for (a, b), *_ in self.pairs]
            found.append([means[a] for (a,), *_ in self.means])
            found[-1] += [law.spread[x][y] + law.mean[x] * law.mean[y] for x, y in seconds]
        return found

    def _law(self, numbers: Sequence[Row]) -> Law:
        """A law with these moments; what does not outlive a round has none, nor have axes with one another."""
        law = Law([self.zero] * self.size, [[self.zero] * self.size for _ in range(self.size)])
        for kept, mine in zip(self.axes, numbers, strict=True):
            for alike, value in zip(self.means + self.pairs, mine, strict=True):
                for places in alike:
                    x, y = kept[places[0]], kept[places[-1]]
                    if len(places) == 1:
                        law.mean[x] = value
                    else:
                        law.spread[x][y] = law.spread[y][x] = value - law.mean[x] * law.mean[y]
        return law

    def _at(self, rounds: int) -> tuple[list[Row], list[Row]]:
        """The moments of every axis after so many rounds, and the sums of those before each."""
        if rounds not in self._known:
            each = [_reached(*axis, rounds) for axis in zip(self.linear, self.constant, self.first, strict=True)]
            self._known[rounds] = [last for last, _ in each], [total for _, total in each]
        return self._known[rounds]

    def after(self, rounds: int) -> Law:
        """The law after so many rounds."""
        return self._law(self._at(rounds)[0])

    def mean(self, rounds: int) -> Law:
        """The law whose moments are the means of those before each of so many rounds."""
        return self._law([[x / rounds for x in total] for total in self._at(rounds)[1]])

    def one_way(self, first: Law, last: Law) -> bool:
        """Whether every moment keeps to itself and never turns, and all squares move the same way."""
        largest = max(abs(x) for axis in self.linear for row in axis for x in row)
        for axis in self.linear:
            for i, row in enumerate(axis):
                if row[i] < 0 or any(abs(x) > CLOSE * largest for j, x in enumerate(row) if j != i):
                    return False
        squares = [n for n, ((a, *b), *_) in enumerate(self.means + self.pairs) if b == [a]]
        ends = zip(self._numbers(first), self._numbers(last), strict=True)
        moved = [two[i] - one[i] for one, two in ends for i in squares]
        return all(x >= 0 for x in moved) or all(x <= 0 for x in moved)

    def around(self, first: Law, last: Law) -> Iterator[Law]:
        """Laws of which one has at least the expected squared gradient, anywhere, of every law between two ends."""
        number, largest = len(self.means), []
        for one, two in zip(self._numbers(first), self._numbers(last), strict=True):
            largest.append([max(abs(x), abs(y)) for x, y in zip(one, two, strict=True)])
        for signs in product((1, -1), repeat=number * len(self.axes)):
            laws = []
            for axis, mine in enumerate(largest):
                signed = [s * x for s, x in zip(signs[axis * number :], mine[:number], strict=False)]
                squares = zip(mine[number:], self.pairs, strict=True)
                laws.append(signed + [x if a == b else self.zero for x, ((a, b), *_) in squares])
            yield self._law(laws)


def _orbits(all_of: Iterable[tuple[int, ...]], swaps: Sequence[Mapping[int, int]]) -> list[Orbit]:
    """What exchanges that do not meet make of one another, gathered."""
    found: dict[tuple[int, ...], Orbit] = {}
    for places in all_of:
        images = {places}
        for swap in swaps:
            images |= {tuple(sorted(swap.get(a, a) for a in image)) for image in images}
        found.setdefault(min(images), []).append(places)
    return list(found.values())


def _reached(linear: Sequence[Row], constant: Row, first: Row, rounds: int) -> tuple[Row, Row]:
    """The vector after so many rounds x -> linear x + constant, and the sum of those before each round.

    After k rounds x is power x_0 + shift; what comes in k more rounds is the same map of what came in the first k.
    """
    last, total, shift, power, done = first, [0 * x for x in first], [0 * x for x in first], None, 0
    for digit in f"{rounds:b}" if rounds else "":
        if power is not None:
            total = [s + p + done * t for s, p, t in zip(total, _times(power, total), shift, strict=True)]
            last = [p + t for p, t in zip(_times(power, last), shift, strict=True)]
            shift = [p + t for p, t in zip(_times(power, shift), shift, strict=True)]
            power, done = _product(power, power), 2 * done
        if digit == "1":
            total = [s + x for s, x in zip(total, last, strict=True)]
            last = [p + c for p, c in zip(_times(linear, last), constant, strict=True)]
            shift = [p + c for p, c in zip(_times(linear, shift), constant, strict=True)]
            power, done = linear if power is None else _product(linear, power), done + 1
    return last, total


def _times(matrix: Sequence[Row], vector: Row) -> Row:
    return [_dot(row, vector) for row in matrix]


def _product(left: Sequence[Row], right: Sequence[Row]) -> list[Row]:
    columns = list(zip(*right, strict=True))
    return [[_dot(row, column) for column in columns] for row in left]


def _dot(row: Sequence[Any], column: Sequence[Any]) -> Any:
    if isinstance(row[0], mpmath.mpf):
        return mpmath.fdot(row, column)  # rounds once, and takes a quarter of the time
    return sum((a * b for a, b in zip(row, column, strict=True) if a and b), 0 * row[0])
