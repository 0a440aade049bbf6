"""FedCOG, Section 4.1, A.1.1 and A.2.2: for which labels clients generate, and the weights of their two losses."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds.fedcog.labels import floors, largest_remainder, uniform
from bounds.fedcog.letters import C, d, N, n
from bounds.operators import ClassMax, ClassSum

from ..checkers import agreed, All, At, Prints, Same, Total
from ..checkers.formulas import relations
from ..checkers.points import true_at, value
from ..claim import Book, Check, Claim, Defect, Finding, judged, Kind, Repair
from .listing import objective_of_first_step

EXAMPLE = (500, 0, 400, 200, 400)
BUDGET = 256
LACK = ClassSum(ClassMax(d) - d)
SOME_LACK, SOME_DATA = sp.Gt(LACK, 0), sp.Gt(ClassSum(d), 0)


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


def evens_out(*clients: tuple[int, ...]) -> Check:
    """Whether the largest class exceeds the smallest by no more once the generated samples are added."""

    def run(book: Book) -> Finding:
        off = {}
        for counts in clients:
            shares = each("fedcog.complementary_allocation", counts, book)
            added = [own + share for own, share in zip(counts, shares, strict=True)]
            before, after = max(counts) - min(counts), float(max(added) - min(added))
            if after > before:
                off[str(counts)] = f"spread {before} becomes {after:g}"
        said = "; ".join(f"{name}: {text}" for name, text in off.items()) or f"{len(clients)} clients evened out"
        return judged(not off, said, off)

    return run


def admitted(name: str, cases: Mapping[tuple[int, ...], bool]) -> Check:
    """Whether the numeric conditions admit these class counts, as they should."""

    def run(book: Book) -> Finding:
        wrong = {}
        for counts, wanted in cases.items():
            met = bool(relations(book[name])) and all(true_at(r, {d: counts}) for r in relations(book[name]))
            if met is not wanted:
                wrong[str(counts)] = "admitted" if met else "refused"
        return judged(not wrong, f"{len(cases)} clients tried; {wrong or 'all as they should be'}", wrong)

    return run


def undefined_for_equal_classes(book: Book) -> Finding:
    share = value(book["fedcog.complementary_allocation"].expr, {d: (3, 3, 3), N: sp.Integer(BUDGET)})
    said = f"a client with 3 samples of each of three classes gets {share} samples of a class"
    return judged(share.is_finite, said, {"class_count": "3, 3, 3"})


def class_intensity(book: Book) -> sp.Expr:
    """What the samples of one class weigh together, own and generated, both losses being means; times all samples."""
    own = book["fedcog.task_weight"].expr * d / ClassSum(d)
    made = book["fedcog.distillation_weight"].expr * book["fedcog.complementary_allocation"].expr / N
    return (own + made) * book["fedcog.balanced_samples"].expr


SOME: Mapping[tuple[int, ...], bool] = {(0, 0, 1): True, (4, 4, 4): True, (0, 0, 0): False}

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fedcog.labels.budget",
        "Uniform labels, n of every class, can make the default of 256 generated samples on CIFAR-10 or CIFAR-100.",
        Kind.SETTING.at("Sections 4.1 and 6.1 and A.1.1"),
        All(
            {
                "n times the classes": Same("fedcog.uniform_labels", n * C),
                "a list of them": lambda book: agreed(
                    {"samples": (At("fedcog.uniform_labels", {C: 10, n: 7})(book), sum(uniform(10, 7)))}
                ),
                **{
                    f"{number} classes": Prints(
                        {"samples of every class": str(BUDGET // number)}, {"samples of every class": BUDGET / number}
                    )
                    for number in (10, 100)
                },
            },
            wrong=("10 classes", "100 classes"),
        ),
        note="25.6 of every class, and 2.56. The text does not say which rule the experiments use.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
    Claim(
        "fedcog.labels.example",
        "The complementary count is what a class lacks to the largest one; the shares sum to the budget; and the "
        "worked example follows: [500, 0, 400, 200, 400] lacks [0, 500, 100, 300, 100].",
        Kind.EQUATION.at("A.1.1"),
        {
            "example": example,
            "count": Same("fedcog.complementary_count", ClassMax(d) - d),
            "sum": Same(lambda book: ClassSum(book["fedcog.complementary_allocation"].expr), N, where=(SOME_LACK,)),
        },
    ),
    Claim(
        "fedcog.labels.whole",
        "The allocation is a whole number of samples for every class.",
        Kind.EQUATION.at("A.1.1"),
        whole_numbers,
        note="Rounding is left open; the released code rounds down and generates fewer samples than the budget.",
        repair=Repair("rounded by largest remainders", rounded),
        defect=Defect.SLIP,
        ours=True,
    ),
    Claim(
        "fedcog.labels.defined",
        "The allocation is defined for every client.",
        Kind.DEFINITION.at("A.1.1"),
        undefined_for_equal_classes,
        note="0/0 for a client that lacks nothing; what it generates is not stated.",
        repair=Repair(
            "for clients whose classes are not all equally frequent",
            admitted("fedcog.complementary_allocation", {(3, 2, 3): True, (3, 3, 3): False, (0, 0, 1): True}),
            "fedcog.complementary_allocation",
        ),
        defect=Defect.SLIP,
        ours=True,
    ),
    Claim(
        "fedcog.labels.more_uniform",
        "The generated samples make the client's classes more evenly filled.",
        Kind.REMARK.at("A.1.1"),
        evens_out((10, 9, 10), EXAMPLE),
        note="True of the paper's example. A client that lacks few samples gets the whole budget in those classes: "
        "beyond twice what it lacks, the imbalance turns round and grows.",
        repair=Repair("for a budget below twice what is lacking", evens_out(EXAMPLE, (90, 20, 0, 60), (0, 129))),
        defect=Defect.REFUTED,
    ),
    Claim(
        "fedcog.weights.intensity",
        "The two weights sum to one, and with them all classes are supervised with the same intensity.",
        Kind.REMARK.at("A.2.2"),
        {
            "intensity": Same(class_intensity, ClassMax(d), where=(SOME_LACK, SOME_DATA)),
            "sum": Same(Total(((1, "fedcog.task_weight"), (1, "fedcog.distillation_weight"))), 1, where=(SOME_DATA,)),
            "own and lacking samples": Same("fedcog.balanced_samples", ClassMax(d) * ClassSum(1)),
            **{
                f"{name} of a client with some data": admitted(f"fedcog.{name}", SOME)
                for name in ("task_weight", "distillation_weight", "balanced_samples")
            },
        },
        note="Exactly, if both losses are means over their samples and a generated sample supervises as strongly as "
        "one of the client's own; the rounding of the allocation aside.",
    ),
    Claim(
        "fedcog.weights.objective",
        "With the weights of A.2.2, as with that of (3), what is left of the objective at the server's model is the "
        "task loss of Section 3.",
        Kind.SETTING.at("A.2.2, Section 3 and Theorem 5.6"),
        All(
            {
                "(3)": lambda book: objective_of_first_step(0.01, False),
                "A.2.2": lambda book: objective_of_first_step(None, False),
            },
            wrong=("A.2.2",),
        ),
        note="The distillation loss has no slope there. The fewer samples a client has beside those that it lacks, the "
        "less it counts: 1/5 for two of ten classes, 1 for a balanced client. Of (x^2/2, (x - 1)^2/2), equally large, "
        "the first with one of two classes, the minimiser moves from 1/2 to 2/3. The theorem, whose losses have no "
        "weights, then bounds another gradient.",
        repair=Repair(
            "it is the loss in which client k has the weight p_k N_real/(N_real + N_gen)",
            lambda book: objective_of_first_step(None, True),
        ),
        defect=Defect.SETTINGS,
        ours=True,
    ),
)
