"""The verb ``rate``: the smallest certified contraction per round, for every number of rounds and of clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bounds.showing.files import refuse_foreign
from bounds.showing.usage import UsageError, writable_file
from empirics.algorithms.algorithm import Algorithm

from .rate_table import file_names, points, Rates, rates

PROOF_BEGINS = '{"kind":"rate"'
"""How the files begin that are written."""
METHODS = """\
METHOD adds and scales its gradients: fedavg(), fedprox(mu=0.1), fedinit(beta=0.1), scaffold(), fedavgm(momentum=0.3),
fedcm(alpha=0.5), relaxed(scaffold(), beta=0.05), your own; others are refused.
quantity=value: local_steps, step_size, smoothness and strong_convexity; gradient_variance and clients for noise;
cohort and clients where some clients are drawn a round (methods whose clients keep nothing, scaffold(), fedinit());
rounds, initial_distance_sq and optimum_dissimilarity (zeta^2) for what is proved after so many rounds, beside the exact
worst case without noise and what quadratics reach. Ranges, lists: a table."""
RATE_JSON = """\
--json prints a list, one object for every place: method, local_steps, step_size, smoothness, strong_convexity, clients,
cohort, gradient_variance, rounds, initial_distance_sq, optimum_dissimilarity; contraction (the smallest certified),
quadratics (no method's certificate can be below: two quadratics); stated, start_distance, start_dissimilarity, floor,
noise_floor, half (rounds), proved: |w_T - w*|^2 <= stated^T (start_distance |w_0 - w*|^2 + start_dissimilarity zeta^2)
+ floor zeta^2 + noise_floor sigma^2; least_stated, least_floor, least_noise_floor: the same where the floor is least;
bound (after rounds), bound_proved, worst_case (the exact one after them, full gradients), instance (what quadratics
reach then), why (nothing is certified, or proved). What is not asked for, or not there, is null."""


def rate(
    method: str | Algorithm, *words: str, output: Path | str | None = None, **quantities: float | Sequence[float]
) -> Rates:
    """Certify the smallest contraction per round of a method, and what is left after many rounds.

    Args:
        method: The algorithm, such as "fedinit(beta=0.1)" or path/file.py:variable; one that adds and scales its
            gradients.
        words: Numbers, ranges a:b:n, lists, @file.json.
        output: Write the proofs: FILE.json, FILE-least.json, FILE-rounds.json.
        quantities: ``local_steps, step_size, smoothness, strong_convexity``; ``gradient_variance`` with ``clients`` for
            noisy gradients; ``cohort`` with ``clients`` where some are drawn a round; ``rounds, initial_distance_sq,
            optimum_dissimilarity`` for a number after so many rounds. A list asks for several points, each with each.

    Raises:
        BoundsError: for values that are not allowed, and for a method that is no linear map of its gradients.

    >>> found = rate("fedavg()", local_steps=2, step_size=0.25, smoothness=1, strong_convexity=0.1)
    >>> found.records()[0]["stated"]
    0.9037
    """
    if isinstance(method, str) and ("=" in method.partition("(")[0] or method.startswith("@")):
        raise UsageError(f'rate needs a method, such as "scaffold()", before the values; got {method!r}')
    path = None if output is None else Path(output)
    if path is not None:
        writable_file("-o", path, ".json")
    chosen, at = points(method, words, quantities)
    for named in file_names(path, len(at)) if path is not None else ():
        for file in named.values():
            writable_file("-o", file)
            if file != path:  # nobody typed this name
                refuse_foreign(file, PROOF_BEGINS)
    found = rates(chosen, at)
    return found if path is None else replace(found, wrote=tuple(found.write(path)))
