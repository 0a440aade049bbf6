"""Whether a bound stays valid with derived words: ``python tests/benchmarks/substitution.py [--draws 10000]``.

A draw is a random federation of quadratics whose words and runs are known exactly, told to a ``Scenario`` less well:
words are left out, so that they follow by ties, and constants lie in intervals. Every word that follows must be on the
safe side of the true one, every pair of dissimilarity constants must hold at random models, and a bound of the
catalogue that speaks must not be below the exact number of each class that conversions lead to. Statements that the
audit refuted are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

import numpy as np
from comparing_toys import blurred, DROPPED, measured, played, words
from threadpoolctl import threadpool_limits

from bounds.bounded_quantity import BoundedQuantity, implicit_conditions, mismatch, routes, sides_of
from bounds.catalog import BOUNDS
from bounds.scenario import Scenario
from bounds.scenario_values import ADMISSIBLE, Role
from bounds.substituting import pairs
from paper_checks.comparing.audit_status import AUDIT_STATUS, FAILS
from paper_checks.runs import schedules

CLOSE = 1e-9
DRAWS = 10_000
OF_ONE = 10
"""Draws that share a federation and its run: each is told less well in another way, and looks at the first bound that
speaks, in an order of its own."""
UNTRUE = ("runtime", "download_rate", "upload_rate", "lipschitz", "cohort", "relaxation")
"""Words that a scenario takes to be something where the true run has something else, or that the toys make up."""
TARGETS = ("grad_norm_sq", "optimality_gap", "distance_sq")
SOUND = tuple(
    name
    for name, bound in BOUNDS.items()
    if bound.relation == "<=" and (quantity := BoundedQuantity.of(bound)).target in TARGETS
    and quantity.statistic != "every"
    and (name not in AUDIT_STATUS or AUDIT_STATUS[name].verdict != FAILS)
)  # fmt: skip


@dataclass
class Tally:
    """What was looked at: derived words, pairs, numbers of rows; the largest share of a bound that is true; faults."""

    words: int = 0
    pairs: int = 0
    rows: int = 0
    spoken: dict[str, int] = field(default_factory=dict)
    share: float = 0.0
    faults: list[str] = field(default_factory=list)

    def fault(self, seed: int, what: str) -> None:
        self.faults.append(f"seed {seed}: {what}")


def looked_at(seed: int, tally: Tally, words_alone: bool = False) -> None:
    """One draw: the federation of ``seed // OF_ONE``, told in the way of ``seed``; or its words alone."""
    draws = np.random.default_rng([seed, 11])
    group = seed // OF_ONE
    problem, plan, run = played(group, bool(group % 2), short=(1.0, 0.1, 0.01)[group % 3])
    s = blurred(problem, plan, run, DROPPED[seed % len(DROPPED)], draws)
    _words(seed, s, words(problem, plan, run), tally)
    if words_alone:
        return
    models = problem.minimiser + draws.standard_normal((8, 2)) * 10 ** draws.uniform(-2, 2, (8, 1))
    clients = (problem.client_gradients(models) ** 2).sum(-1).mean(-1)
    whole = (problem.gradient(models) ** 2).sum(-1)
    for pair in pairs(s):
        if pair.how.startswith("along the run"):
            continue  # which says nothing of models elsewhere
        tally.pairs += 1
        if not np.all(clients <= (pair.offset + pair.factor * whole) * (1 + CLOSE)):
            tally.fault(seed, f"the pair {pair} does not hold")
    any(_bound(seed, s, SOUND[i], run, plan["step_size"], tally) for i in draws.permutation(len(SOUND)))


def _words(seed: int, s: Scenario, true: dict, tally: Tally) -> None:
    for word, stated in s.items():
        if word not in true or word in UNTRUE or stated.support == {word} or stated.only_estimated:
            continue
        tally.words += 1
        right = np.asarray(true[word], dtype=float)
        room = CLOSE * (1 + np.abs(right))
        if stated.role in ADMISSIBLE:
            safe = np.asarray(stated.safe)
            fine = safe <= right + room if stated.role == Role.DOWN else safe >= right - room
        elif stated.role in (Role.DESIGN, Role.COST):
            fine = np.abs(np.asarray(stated.value) - right) <= room
        else:
            fine = (np.asarray(stated.low) <= right + room) & (right <= np.asarray(stated.high) + room)
        if not np.all(fine):
            tally.fault(seed, f"{s.how(word)}, and it is {true[word]}")


def _bound(seed: int, s: Scenario, name: str, run, step_size: float, tally: Tally) -> bool:
    """Whether the bound speaks, on any class."""
    bound = BOUNDS[name]
    if s.missing(bound) or _refused(bound, s):
        return False
    put = s.substituted(bound)
    if not np.isfinite(put.high):
        return False
    before = tally.rows
    for way in routes(BoundedQuantity.of(bound), s)[0]:
        if mismatch(way.to, s) or way.to.statistic == "expectation":
            continue
        weights = schedules.weights(bound.statistic, put.values) if way.to.weights else None
        true = measured(way.to, run, step_size, weights)
        tally.rows += 1
        tally.spoken[name] = tally.spoken.get(name, 0) + 1
        tally.share = max(tally.share, true / (put.high * way.factor))
        if true > put.high * way.factor * (1 + CLOSE):
            tally.fault(seed, f"{name} gives {put.high * way.factor:.6g} for {way.to}, and it is {true:.6g}")
    return tally.rows > before


def _refused(bound, s: Scenario) -> bool:
    """Whether an assumption or a condition in words fails."""
    in_words = [c for c in (*bound.conditions, *implicit_conditions(bound)) if c.kind == "words"]
    sides = [sides_of(condition, s) for condition in in_words]
    unequal = any(two is not None and not np.isclose(*two, rtol=CLOSE, atol=0) for two in sides)
    return unequal or any(c.assumption.holds(*s.facts) is False for c in bound.conditions if c.assumption)


def many(draws: int, first: int = 0, told: bool = False, words_alone: bool = False) -> Tally:
    tally, began = Tally(), time.perf_counter()
    for seed in range(first, first + draws):
        looked_at(seed, tally, words_alone)
        if told and (seed + 1 - first) % 500 == 0:
            print(f"{seed + 1 - first} draws, {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--first", type=int, default=0, help="seed of the first draw")
    asked = parser.parse_args()
    wall, own = time.perf_counter(), time.process_time()
    with threadpool_limits(1):
        tally = many(asked.draws, asked.first, told=True)
    print(f"seeds {asked.first} to {asked.first + asked.draws - 1}, federations of {OF_ONE} draws each")
    print(f"{time.process_time() - own:.0f} s of one core, {time.perf_counter() - wall:.0f} s")
    print(f"{tally.words} derived words, {tally.pairs} pairs, {tally.rows} rows")
    for name, count in sorted(tally.spoken.items()):
        print(f"  {name} {count}")
    print(f"largest share of a bound that is true: {tally.share:.6g}")
    print(f"faults: {len(tally.faults)}")
    for fault in tally.faults[:20]:
        print(f"  {fault}")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
