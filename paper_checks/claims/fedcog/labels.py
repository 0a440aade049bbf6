"""FedCOG, Section 4.1, A.1.1 and A.2.2: for which labels clients generate, and the weights of their two losses."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds.fedcog.labels import floors, largest_remainder, uniform
from bounds.fedcog.letters import C, d, N, n
from bounds.operators import ClassSum

from ..checkers import agreed, At, Prints
from ..checkers.formulas import relations
from ..checkers.points import true_at, value
from ..claim import Book, Finding, judged

EXAMPLE = (500, 0, 400, 200, 400)
BUDGET = 256


def each(name: str, counts: tuple[int, ...], book: Book, samples: int = BUDGET) -> list[sp.Expr]:
    """A bound over classes, class by class (the first class stands for the others in turn)."""
    found = []
    for c in range(len(counts)):
        turned = (counts[c], *counts[:c], *counts[c + 1 :])
        found.append(value(book[name].expr, {d: turned, N: sp.Integer(samples)}))
    return found


def example(book: Book) -> Finding:
    lack = each("fedcog.complementary_count", EXAMPLE, book)
    pairs = {f"class {c}": (lack[c], wanted) for c, wanted in enumerate((0, 500, 100, 300, 100))}
    share = each("fedcog.complementary_allocation", EXAMPLE, book)[1]
    return agreed({**pairs, "all": (sum(lack), 1000), "share of class 1": (share, BUDGET * 500 / 1000)})


def whole_numbers(book: Book) -> Finding:
    shares = each("fedcog.complementary_allocation", EXAMPLE, book)
    broken = {f"class {c}": f"{float(s):g}" for c, s in enumerate(shares) if abs(s - round(s)) > 1e-9}
    said = f"of {BUDGET} samples the example's classes get {', '.join(f'{float(s):g}' for s in shares)}"
    return judged(not broken, said, broken)


def rounded(book: Book) -> Finding:
    """Largest remainders spend the whole budget and stay within one sample of every share; floors lose some."""
    lack = [max(EXAMPLE) - x for x in EXAMPLE]
    shares = each("fedcog.complementary_allocation", EXAMPLE, book)
    kept = largest_remainder(lack, BUDGET)
    near = all(abs(k - s) < 1 for k, s in zip(kept, shares, strict=True))
    said = f"{kept}, {sum(kept)} in all; rounding down would give {sum(floors(lack, BUDGET))}"
    return judged(near and sum(kept) == BUDGET, said)


def evens_out(book: Book, *clients: tuple[int, ...]) -> Finding:
    """Whether the largest class exceeds the smallest by no more once the generated samples are added."""
    off = {}
    for counts in clients:
        shares = each("fedcog.complementary_allocation", counts, book)
        added = [own + share for own, share in zip(counts, shares, strict=True)]
        before, after = max(counts) - min(counts), float(max(added) - min(added))
        if after > before:
            off[str(counts)] = f"spread {before} becomes {after:g}"
    said = "; ".join(f"{name}: {text}" for name, text in off.items()) or f"{len(clients)} clients evened out"
    return judged(not off, said, off)


def admitted(book: Book, name: str, cases: Mapping[tuple[int, ...], bool] | None = None) -> Finding:
    """Whether the numeric conditions admit these class counts, as they should."""
    cases, wrong = cases or {(0, 0, 1): True, (4, 4, 4): True, (0, 0, 0): False}, {}
    for counts, wanted in cases.items():
        met = bool(relations(book[name])) and all(true_at(r, {d: counts}) for r in relations(book[name]))
        if met is not wanted:
            wrong[str(counts)] = "admitted" if met else "refused"
    return judged(not wrong, f"{len(cases)} clients tried; {wrong or 'all as they should be'}", wrong)


def undefined_for_equal_classes(book: Book) -> Finding:
    share = value(book["fedcog.complementary_allocation"].expr, {d: (3, 3, 3), N: sp.Integer(BUDGET)})
    said = f"a client with 3 samples of each of three classes gets {share} samples of a class"
    return judged(share.is_finite, said, {"class_count": "3, 3, 3"})


def class_intensity(book: Book) -> sp.Expr:
    """What the samples of one class weigh together, own and generated, both losses being means; times all samples."""
    own = book["fedcog.task_weight"].expr * d / ClassSum(d)
    made = book["fedcog.distillation_weight"].expr * book["fedcog.complementary_allocation"].expr / N
    return (own + made) * book["fedcog.balanced_samples"].expr


def summed_allocation(book: Book) -> sp.Expr:
    """The shares of all classes."""
    return ClassSum(book["fedcog.complementary_allocation"].expr)


def list_of_labels(book: Book) -> Finding:
    """Seven samples of each of ten classes, in the formula and in the list of their labels."""
    return agreed({"samples": (At("fedcog.uniform_labels", {C: 10, n: 7})(book), sum(uniform(10, 7)))})


def dealt(book: Book, classes: int) -> Finding:
    """The budget dealt evenly to so many classes, against the whole number below."""
    label = "samples of every class"
    return Prints({label: str(BUDGET // classes)}, {label: BUDGET / classes})(book)
