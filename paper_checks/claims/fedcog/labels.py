"""Section 4.1, A.1.1 and A.2.2: the labels for which clients generate, and the weights of their two losses."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds.fedcog.labels import floors, largest_remainder, uniform
from bounds.fedcog.letters import C, d, N, n
from bounds.operators import ClassSum

from ..checkers import agree, At
from ..checkers.formulas import relations
from ..checkers.numbers import true_at, value
from ..claim import Book, Finding, finding

EXAMPLE = (500, 0, 400, 200, 400)
"""Class counts of the client in the paper's example."""
BUDGET = 256
"""Number of generated samples."""


def each(name: str, counts: tuple[int, ...], book: Book, samples: int = BUDGET) -> list[sp.Expr]:
    """Evaluate a bound that has a value per class, for each class (a bound is evaluated for the first class)."""
    values = []
    for c in range(len(counts)):
        turned = (counts[c], *counts[:c], *counts[c + 1 :])
        values.append(value(book[name].expr, {d: turned, N: sp.Integer(samples)}))
    return values


def example(book: Book) -> Finding:
    missing = each("fedcog.complementary_count", EXAMPLE, book)
    pairs = {f"class {c}": (missing[c], printed) for c, printed in enumerate((0, 500, 100, 300, 100))}
    share = each("fedcog.complementary_allocation", EXAMPLE, book)[1]
    return agree({**pairs, "all": (sum(missing), 1000), "share of class 1": (share, BUDGET * 500 / 1000)})


def whole_numbers(book: Book) -> Finding:
    shares = each("fedcog.complementary_allocation", EXAMPLE, book)
    fractional = {f"class {c}": f"{float(s):g}" for c, s in enumerate(shares) if abs(s - round(s)) > 1e-9}
    evidence = f"of {BUDGET} samples the example's classes get {', '.join(f'{float(s):g}' for s in shares)}"
    return finding(not fractional, evidence, fractional)


def rounded(book: Book) -> Finding:
    """Rounding by largest remainders uses the whole budget and stays within one sample of every share."""
    missing = [max(EXAMPLE) - x for x in EXAMPLE]
    shares = each("fedcog.complementary_allocation", EXAMPLE, book)
    integers = largest_remainder(missing, BUDGET)
    near = all(abs(k - s) < 1 for k, s in zip(integers, shares, strict=True))
    evidence = f"{integers}, {sum(integers)} in all; rounding down would give {sum(floors(missing, BUDGET))}"
    return finding(near and sum(integers) == BUDGET, evidence)


def evens_out(book: Book, *clients: tuple[int, ...]) -> Finding:
    """The difference of the largest and the smallest class does not grow when the generated samples are added."""
    worse = {}
    for counts in clients:
        shares = each("fedcog.complementary_allocation", counts, book)
        sums = [own + share for own, share in zip(counts, shares, strict=True)]
        before, after = max(counts) - min(counts), float(max(sums) - min(sums))
        if after > before:
            worse[str(counts)] = f"spread {before} becomes {after:g}"
    evidence = "; ".join(f"{name}: {text}" for name, text in worse.items()) or f"{len(clients)} clients evened out"
    return finding(not worse, evidence, worse)


def admitted(book: Book, name: str, cases: Mapping[tuple[int, ...], bool] | None = None) -> Finding:
    """The numeric conditions of a bound admit class counts or not, as ``cases`` says."""
    cases, wrong = cases or {(0, 0, 1): True, (4, 4, 4): True, (0, 0, 0): False}, {}
    for counts, expected in cases.items():
        met = bool(relations(book[name])) and all(true_at(r, {d: counts}) for r in relations(book[name]))
        if met is not expected:
            wrong[str(counts)] = "admitted" if met else "refused"
    return finding(not wrong, f"{len(cases)} clients tried; {wrong or 'all as they should be'}", wrong)


def undefined_for_equal_classes(book: Book) -> Finding:
    share = value(book["fedcog.complementary_allocation"].expr, {d: (3, 3, 3), N: sp.Integer(BUDGET)})
    evidence = f"a client with 3 samples of each of three classes gets {share} samples of a class"
    return finding(share.is_finite, evidence, {"class_count": "3, 3, 3"})


def class_intensity(book: Book) -> sp.Expr:
    """Return the total weight of a class's own and generated samples, with mean losses, times the number of samples."""
    own = book["fedcog.task_weight"].expr * d / ClassSum(d)
    generated = book["fedcog.distillation_weight"].expr * book["fedcog.complementary_allocation"].expr / N
    return (own + generated) * book["fedcog.balanced_samples"].expr


def summed_allocation(book: Book) -> sp.Expr:
    """Return the sum of the allocation over all classes."""
    return ClassSum(book["fedcog.complementary_allocation"].expr)


def list_of_labels(book: Book) -> Finding:
    """The formula counts the list of labels for seven samples of each of ten classes."""
    return agree({"samples": (At("fedcog.uniform_labels", {C: 10, n: 7})(book), sum(uniform(10, 7)))})
