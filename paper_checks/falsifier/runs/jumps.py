"""Many rounds at once in exact numbers: the map of a round, found by playing it, is squared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from .plain import Law, Number

Row = list[Number]
CLOSE = 1e-40
"""The share of the largest coefficient that is left of nothing by rounding."""


class Jumps:
    """The affine map that a round is of the first and second moments of the variables that outlive it."""

    def __init__(self, play: Callable[[Law], Law], first: Law, kept: Sequence[int]) -> None:
        self.kept, self.size = list(kept), len(first.mean)
        self.pairs = [(a, b) for a in range(len(kept)) for b in range(a, len(kept))]
        self.first, self.zero = self._numbers(first), 0 * first.mean[0]
        blank = [self.zero] * len(self.first)
        base = self._numbers(play(self._law(blank)))
        columns = []
        for i in range(len(blank)):
            found = self._numbers(play(self._law([self.zero + (j == i) for j in range(len(blank))])))
            columns.append([x - y for x, y in zip(found, base, strict=True)])
        self.linear = [[column[i] for column in columns] for i in range(len(blank))]
        self.constant = base

    def _numbers(self, law: Law) -> Row:
        means = [law.mean[i] for i in self.kept]
        return means + [law.spread[self.kept[a]][self.kept[b]] + means[a] * means[b] for a, b in self.pairs]

    def _law(self, numbers: Row) -> Law:
        """A law with these moments; what does not outlive a round has none."""
        law = Law([self.zero] * self.size, [[self.zero] * self.size for _ in range(self.size)])
        for i, value in zip(self.kept, numbers, strict=False):
            law.mean[i] = value
        for (a, b), value in zip(self.pairs, numbers[len(self.kept) :], strict=True):
            x, y = self.kept[a], self.kept[b]
            law.spread[x][y] = law.spread[y][x] = value - numbers[a] * numbers[b]
        return law

    def _whole(self) -> list[Row]:
        """The map on (moments, sum of the moments before, 1)."""
        size, one = len(self.first), self.zero + 1
        rows = [[*self.linear[i], *[self.zero] * size, self.constant[i]] for i in range(size)]
        rows += [[self.zero + (j in (i, size + i)) for j in range(2 * size + 1)] for i in range(size)]
        return [*rows, [self.zero] * (2 * size) + [one]]

    def _at(self, rounds: int) -> Row:
        now, power = [*self.first, *[self.zero] * len(self.first), self.zero + 1], self._whole()
        while rounds:
            if rounds & 1:
                now = [_dot(row, now) for row in power]
            rounds >>= 1
            if rounds:
                columns = list(zip(*power, strict=True))
                power = [[_dot(row, column) for column in columns] for row in power]
        return now

    def after(self, rounds: int) -> Law:
        """The law after so many rounds."""
        return self._law(self._at(rounds)[: len(self.first)])

    def mean(self, rounds: int) -> Law:
        """The law whose moments are the means of those before each of so many rounds."""
        size = len(self.first)
        return self._law([x / rounds for x in self._at(rounds)[size : 2 * size]])

    def one_way(self, first: Law, last: Law) -> bool:
        """Whether every moment keeps to itself and never turns, and all squares move the same way."""
        largest = max(abs(x) for row in self.linear for x in row)
        for i, row in enumerate(self.linear):
            if row[i] < 0 or any(abs(x) > CLOSE * largest for j, x in enumerate(row) if j != i):
                return False
        one, two = self._numbers(first), self._numbers(last)
        squares = [len(self.kept) + n for n, (a, b) in enumerate(self.pairs) if a == b]
        moved = [two[i] - one[i] for i in squares]
        return all(x >= 0 for x in moved) or all(x <= 0 for x in moved)

    def around(self, first: Law, last: Law) -> Iterator[Law]:
        """Laws of which one has at least the expected squared gradient, anywhere, of every law between two ends."""
        one, two = ([abs(x) for x in self._numbers(law)] for law in (first, last))
        largest = [max(pair) for pair in zip(one, two, strict=True)]
        number = len(self.kept)
        cross = [x if a == b else self.zero for x, (a, b) in zip(largest[number:], self.pairs, strict=True)]
        for signs in product((1, -1), repeat=number):
            yield self._law([s * x for s, x in zip(signs, largest, strict=False)] + cross)


def _dot(row: Sequence[Any], column: Sequence[Any]) -> Any:
    return sum((a * b for a, b in zip(row, column, strict=True) if a and b), 0 * row[0])
