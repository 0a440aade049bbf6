"""What Remark 4.2 says of the one-round bound under partial participation, and whether (73) and (74) bound anything."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F

import sympy as sp

from bounds.fedals.letters import Delta, delta, K, K_hat, L, mu, w, x

from ..checkers import All, At, Requires, resolve, Same, term
from ..claim import Book, Check, Claim, Defect, Finding, judged, Kind, Repair
from . import sampling
from .common import found_too, NONNEGATIVE
from .participation import CASE_1, CASE_2, COUNTED, ONE


def _drift(client: int, weights: Sequence[F]) -> F:
    """Half the expected squared distance of a client's model, of variance 1, from the averaged one, Case I."""
    own = [F(k == client) for k in range(3)]
    return sampling.expected(
        sampling.case_1(3, weights), lambda shares: sum((s - o) ** 2 for s, o in zip(shares, own, strict=True)) / F(2)
    )


def _one_large_client(book: Book, name: str) -> Finding:
    """Half squared distances, clients alike; the averaged model is the large one's but for few draws in a thousand."""
    weights = (F(999, 1000), F(1, 2000), F(1, 2000))
    gap = sampling.out_of_sample_gap(3, (F(1),) * 3, weights)
    drifts = [_drift(client, weights) for client in range(3)]
    stated = book[name](
        client_weight=list(map(float, weights)), smoothness=1.0, strong_convexity=1.0, cohort=3, local_gap=1.0,
        non_iidness=list(map(float, drifts)),
    )  # fmt: skip
    where = "half squared distances, local gaps 1, weights 0.999, 0.0005, 0.0005, three draws"
    return judged(float(gap) <= float(stated), f"{where}: gap {float(gap):.4g}, bound {float(stated):.4g}")


ROOT = sp.sqrt(delta * Delta)


def _averaged(case: str, second: str, third: str) -> All:
    """(73), (74): the two terms of (72) under the second and third identity of a lemma, by their full names."""
    return All(
        {
            "local generalization": Same(
                term(case, "local generalization"), lambda book: L / mu * resolve(At(third, {x: Delta}), book)
            ),
            "non-iidness": Same(
                term(case, "non-iidness"),
                lambda book: 2 * sp.sqrt(L / mu) * resolve(At(second, {x: ROOT}), book),
                where=NONNEGATIVE,
            ),
        }
    )


D1, D2 = "fedals.lemma_d1_weight", "fedals.lemma_d2_weight"
SUBSTITUTED = Claim(
    "fedals.remark_4_2",
    "As formulas, Cases I and II are (6) with 1/cohort and with weight times K over cohort in place of a client's "
    "weight, and (72) with the identities of Lemmas D.1 and D.2 put in, non-iidness taken for a fixed number.",
    Kind.EQUATION.at("Remark 4.2; Appendix D, eqs. (73), (74)"),
    {
        "Case I": Same(CASE_1, At(ONE, {w: 1 / K_hat})),
        "Case II": Same(CASE_2, At(ONE, {w: w * K / K_hat})),
        "Case II, everyone": Same(At(CASE_2, {K_hat: K}), ONE),
        "Case I, Lemma D.1 as printed": _averaged(CASE_1, f"{D1}_printed", f"{D1}_sq_printed"),
        "Case II, Lemma D.2": _averaged(CASE_2, D2, f"{D2}_sq"),
        **{f"signs, {case}": Requires(case, NONNEGATIVE) for case in (CASE_1, CASE_2, COUNTED)},
    },
    note="An identity of formulas, not a proof of bounds: non-iidness depends on who takes part (fedals.eq_71), and "
    "Case I's identities overlook clients that are drawn twice (fedals.lemma_d1.weight). As bounds both fail: "
    "fedals.eq_73.bound, fedals.eq_73.out_of_sample, fedals.eq_74.bound. The weights that the mean over clients is "
    "taken with stay what they are.",
)


def _noise_free(name: str, case: str) -> Check:
    def run(book: Book) -> Finding:
        thirds = (F(1, 3),) * 3
        gap = sampling.participation_gap(case, 2, thirds)
        known = {"client_weight": list(map(float, thirds)), "clients": 3, "cohort": 2, "smoothness": 1.0}
        known |= {"strong_convexity": 1.0, "local_gap": 0.0, "non_iidness": 0.5}
        stated = book[name](**{q.name: known[q.name] for q in book[name].quantities})
        said = f"three equal noise-free clients at -1, 2, 3/2, two take part: gap {gap}, bound {float(stated):.4g}"
        return judged(gap <= float(stated), said)

    return run


FAVOURED = Claim(
    "fedals.eq_73.bound",
    "(73) bounds the expected generalization gap (61) of Case I.",
    Kind.THEOREM.at("Appendix D, eq. (73)"),
    found_too(_noise_free(CASE_1, "I"), CASE_1),
    note="Without noise all local gaps are zero and so is (73), whatever the non-iidness, but the participation gap "
    "that (71) drops is positive.",
    defect=Defect.REFUTED,
)
FAVOURED_2 = Claim(
    "fedals.eq_74.bound",
    "(74) bounds the expected generalization gap (61) of Case II.",
    Kind.THEOREM.at("Appendix D, eq. (74)"),
    found_too(_noise_free(CASE_2, "II"), CASE_2),
    note="As for (73), with equal weights too, where the shares do sum to one.",
    defect=Defect.REFUTED,
)


ONE_LARGE = Claim(
    "fedals.eq_73.out_of_sample",
    "(73) bounds the out-of-sample gap, the second one of (62), of Case I.",
    Kind.THEOREM.at("Appendix D, eqs. (62), (73)"),
    lambda book: _one_large_client(book, CASE_1),
    note="With nearly all weight on one client every draw is that client: the averaged model is its model and its gap "
    "the local gap, while (73) divides it by the squared cohort.",
    repair=Repair(
        "(72) averaged with the moments counted by clients, non-iidness taken for a fixed number",
        {
            "formula": _averaged(COUNTED, D1, f"{D1}_sq"),
            "this instance": lambda book: _one_large_client(book, COUNTED),
        },
        COUNTED,
    ),
    about=("fedals.lemma_d1_weight_sq",),
    defect=Defect.REFUTED,
)
