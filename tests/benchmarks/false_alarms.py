"""How often the t tests of ``fedbounds validate`` are wrong, on statements whose truth is known.

    python tests/benchmarks/false_alarms.py [--repetitions 1000] [--write]

``t_test_verdict`` tests over seeds, all rows of a run together, at an error rate of 0.05. The statements say that an
expectation is at most a bound: at equality (where a test errs most often), false by a billionth (which no sample can
tell from equality), true or false by a margin. A word is an error where the column says so. t tests promise their error
rate for means that are nearly normal; rows on other laws show what becomes of it. ``--write`` puts the table into
RESULTS.md beside this file. Exit status 1 when a promised rate is above 0.05 beyond chance (1 % binomial).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from results import machine, options, publish, table
from scipy import stats

from empirics.measuring.estimates import Estimate
from paper_checks.validation.comparison import ERROR_RATE, Verdict
from paper_checks.validation.verdicts import t_test_verdict

Array = np.ndarray[Any, Any]

CLIENTS, SAMPLES, DIMENSION = (1, 2, 4, 8), 20, 5


def gaps(random: np.random.Generator, seeds: int, clients: int) -> Array:
    """Generalization gaps of the mean of Gaussian samples, l = 1/2 ||theta - z||^2, by the definition, one per seed.

    Samples have identity covariance about 0, so the expected gap is DIMENSION / (SAMPLES * clients).
    """
    z = random.standard_normal((seeds, clients * SAMPLES, DIMENSION))
    model = z.mean(1, keepdims=True)
    population = (model[:, 0] ** 2).sum(-1) / 2 + DIMENSION / 2
    return population - ((z - model) ** 2).sum(-1).mean(-1) / 2


def skewed(random: np.random.Generator, seeds: int, clients: int) -> Array:
    """Exponential numbers with the same expectations, far from normal for few seeds."""
    return random.exponential(DIMENSION / (SAMPLES * clients), seeds)


def validated(draw: Callable[..., Array], factor: float, seeds: int, repetitions: int) -> Iterator[str]:
    """The worst word of each run with four rows, for the statement that the gap is at most factor times its mean."""
    for repetition in range(repetitions):
        random = np.random.default_rng([repetition, seeds])
        words = []
        for clients in CLIENTS:
            found = draw(random, seeds, clients) - factor * DIMENSION / (SAMPLES * clients)
            excess = Estimate(found.mean(), found.std(ddof=1) / seeds**0.5)
            words.append(t_test_verdict(excess, seeds, len(CLIENTS)))
        yield from ("violated",) if Verdict.VIOLATED in words else ()
        yield from ("holds",) if Verdict.HOLDS_HERE in words else ()


def row(check: str, truth: str, wrong: str, words: Iterator[str], repetitions: int, promised: bool) -> dict[str, Any]:
    """How often each word was said; the upper end is that of a 95 % interval of the rate of wrong words."""
    count = Counter(words)
    return {
        "check": check,
        "statement": truth,
        "repetitions": f"{repetitions}",
        "violated %": 100 * count["violated"] / repetitions,
        "holds %": 100 * count["holds"] / repetitions,
        "an error is": wrong,
        "at most %": 100 * stats.binomtest(count[wrong], repetitions).proportion_ci(0.95).high,
        "promised": "yes" if promised else "no",
    }


TRUTHS = (
    ("at equality", 1.0, "violated"),
    ("false by 1e-9", 1 - 1e-9, "holds"),
    ("true by 20 %", 1.2, "violated"),
    ("false by 20 %", 0.8, "holds"),
)


def rows(repetitions: int) -> Iterator[dict[str, Any]]:
    for name, draw, seeds in (("Gaussian mean", gaps, 5), ("Gaussian mean", gaps, 30), ("exponential", skewed, 30)):
        for truth, factor, wrong in TRUTHS:
            words = validated(draw, factor, seeds, repetitions)
            check = f"t tests, {name}, {seeds} seeds, {len(CLIENTS)} rows"
            yield row(check, truth, wrong, words, repetitions, promised=draw is gaps)


def above(found: dict[str, Any]) -> bool:
    """Whether the rate of wrong words is above the error rate beyond chance."""
    wrong, repetitions = found["an error is"], int(found["repetitions"])
    count = round(found[f"{wrong} %"] * repetitions / 100)
    promised = found["promised"] == "yes"
    return promised and bool(stats.binomtest(count, repetitions, ERROR_RATE, alternative="greater").pvalue < 0.01)


def main() -> int:
    asked = options(__doc__, repetitions=1000)
    found = list(rows(asked.repetitions))
    loud = [f"{r['check']}, {r['statement']}" for r in found if above(r)]
    said = f"Above the promised error rate beyond chance: {'; '.join(loud) or 'none'}."
    publish(
        "# t tests: how often they are wrong\n\n"
        "Written by `python tests/benchmarks/false_alarms.py --write`, whose docstring says what is measured.\n"
        f"Error rate of every check: {ERROR_RATE:g}. {machine()}.\n\n{table(found)}\n\n{said}\n",
        asked.write,
    )
    return 1 if loud else 0


if __name__ == "__main__":
    sys.exit(main())
