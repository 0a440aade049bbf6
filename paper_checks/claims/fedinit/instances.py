"""Every explicit statement against exact runs, once for each variant of FedInit.

Variants: Algorithm 1 as listed (``dominates``: a client that takes no part keeps its last local model), the released
code (``code``: moves are averaged instead of models), and what the proofs analyse (``all_train``: all clients train,
N of them are averaged). A theorem speaks of Algorithm 1, and is true or refuted there. Steps of the proofs average over
all clients what Algorithm 1 defines for participants alone: an absent client counts with what it would do were it
drawn, and where variants differ it is a matter of reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from bounds.core import About
from bounds.fedinit.common import ALL_TRAIN

from ..checkers.instances import Dominates
from ..claim import Book, Check, Checks, Claim, Defect, Finding, Kind, Repair, Status
from . import absent
from .absent import EqualParabolas, exceeds


def _searched(name: str, reading: str) -> Check:
    """The search of ``Dominates`` with the statement taken to be about one variant of FedInit."""

    def run(book: Book) -> Finding:
        bound = book[f"fedinit.{name}"]
        asked = tuple(c for c in bound.conditions if c is not ALL_TRAIN or reading == "proof")
        of_variant = replace(bound, conditions=asked, about=About("fedinit", reading))
        return Dominates(bound.name)(Book({bound.name: of_variant}))

    return run


def _last_divergence(plan: EqualParabolas) -> Fraction:
    return Fraction(plan.run.server["divergence"][-1])


def _mean_divergence(plan: EqualParabolas) -> Fraction:
    return Fraction(plan.run.server["divergence"][:-1].mean())


class Statement(NamedTuple):
    """What is bounded and where; what refutes it as listed and in the released code, if anything; notes by variant."""

    name: str
    words: str
    place: str
    listed: Checks | None = None
    code: Checks | None = None
    note: str = ""
    of_code: str = ""
    of_all: str = ""


EVERY_ROUND = "where all clients train in every round and N of them are averaged, as the proof takes it"
GROWS = (
    "A participant starts beyond the server model, away from its own model, which is C/N rounds old on average; its "
    "offset is averaged into the next server model. Without noise and with equal clients the expected models grow once "
    "a(1 + beta)(1 - N/C) > 1, a = (1 - eta L)^K: for small steps from beta = N/(C - N) on (fedinit.start.threshold). "
    "All printed conditions are met, Theorem 1's cap on the step size and the one its bracket needs."
)
STALE = (
    "beta = 0, FedAvg, suffices: w^t = a^t while absent clients stay about C/N rounds behind, which the bound does not "
    "know of. At beta = 0 it is decided only by the meaning of w_{i,K}^{t-1} for absent clients."
)
SAME = "beta = 0, FedAvg, is one method in the listing and in the code."
WEAK = (
    "A weak search: in this variant it finds none of the violations of the descent inequality and of Theorems 4 and 5; "
    "exact runs of 100 clients or more, of which one takes part in a round, show them."
)
OLD_RECURSION = exceeds("lemma_4_recursion", absent.OLD, _last_divergence)
OLD_THEOREM_4 = exceeds("theorem_4", absent.PLAIN, _mean_divergence)
OLD_BOTH = exceeds("theorem_4_recursion", absent.PLAIN, _last_divergence)
SETTLED = exceeds("theorem_5", absent.NOISY, lambda plan: plan.settled_divergence)

STATEMENTS = (
    Statement(
        "lemma_2",
        "With the proof's cap eta <= 1/(2 sqrt(2) K L), Lemma 2 bounds the exact local drift",
        "Lemma 2, eq. (24)",
        note="It speaks of one client's steps from its relaxed start, which the variants share, so that any client may "
        "be taken as if it were drawn. Were absent clients counted where they stay, even FedAvg would break it: their "
        "distance to the server model is in V_1 then, and not in the bound.",
    ),
    Statement(
        "lemma_3",
        "Lemma 3 bounds the exact step of the server model",
        "Lemma 3, eq. (25)",
        exceeds("lemma_3", absent.SWINGS, lambda plan: plan.run.rounds["global_step"][-1]),
        note="Averaged starts move the server model by beta times its distance to the mean of the clients' models, "
        "whatever N is, where the bound has 15 beta^2/N times the divergence: 1.4 times the bound there, 30 times with "
        "1000 of 10,000 clients.",
        of_code="Moves are averaged: the relaxed starts enter by the gradients alone.",
    ),
    Statement(
        "lemma_4_recursion",
        "Lemma 4's recursion bounds the exact divergence",
        "Lemma 4, proof; Table 4",
        OLD_RECURSION,
        OLD_RECURSION,
        "beta = 0, FedAvg, suffices: absent clients stay behind while the bound shrinks with the gradient.",
        SAME,
    ),
    Statement(
        "descent",
        "The descent inequality holds in every round",
        "Appendix A.2.2, last display",
        exceeds("descent", absent.TENTH, lambda plan: plan.run.server["grad_norm_sq"][-2]),
        exceeds("descent", absent.MOVES, lambda plan: plan.run.server["grad_norm_sq"][-2]),
        "The loss rises where old models carry the server model past the minimiser. The repair's search is weak: it "
        "finds none of the violations planted in it.",
        "The first models of clients not yet drawn part from the server model faster than the loss falls. The step "
        "size meets the printed caps, not the one that the bracket asks for (fedinit.step_size_cap_descent).",
        "A weak search: it finds none of the violations planted in it.",
    ),
    Statement(
        "theorem_4_recursion",
        "Theorem 4's recursion bounds the exact divergence",
        "Appendix A.2.5",
        OLD_BOTH,
        OLD_BOTH,
        STALE,
        SAME,
    ),
    Statement(
        "theorem_1",
        "Theorem 1 bounds the exact mean squared gradient",
        "Theorem 1, eq. (9)",
        exceeds("theorem_1", absent.FEW, lambda plan: plan.run.server["grad_norm_sq"][:-1].mean()),
        note=GROWS,
        of_code=WEAK,
    ),
    Statement(
        "theorem_2",
        "Theorem 2 bounds the exact loss gap",
        "Theorem 2, eq. (11)",
        exceeds("theorem_2", absent.FEW, lambda plan: plan.run.server["optimality_gap"][-1]),
        note=f"{GROWS} Where all clients train both sides become D as the step size vanishes.",
        of_code=WEAK,
    ),
    Statement(
        "theorem_4",
        "Theorem 4 bounds the exact mean divergence",
        "Theorem 4, eq. (16)",
        {"a relaxed start": exceeds("theorem_4", absent.FEW, _mean_divergence), "FedAvg": OLD_THEOREM_4},
        OLD_THEOREM_4,
        f"{STALE} With beta > N/(C - N) the models themselves grow.",
        SAME,
    ),
    Statement(
        "theorem_5",
        "Theorem 5 bounds the exact last divergence",
        "Theorem 5, eq. (17)",
        {
            "noise alone, as T grows": SETTLED,
            "a relaxed start": exceeds("theorem_5", absent.FEW, _last_divergence),
        },
        SETTLED,
        "beta = 0, FedAvg from the minimiser, suffices: with noise alone Delta^T settles at "
        "2v(1 - 1/C)/((1 + a)(1 - (1 - 1/C)a)) for N = 1, v the variance that a round adds: about C rounds of noise, "
        "where the bound has a number of rounds that does not depend on C. With beta > N/(C - N) it grows without end.",
        SAME,
    ),
)


def _variants(each: Statement) -> Iterator[Claim]:
    """The statement under Algorithm 1 as listed, in the released code, and where all clients train."""
    where, everyone = Kind.THEOREM.at(each.place), _searched(each.name, "proof")
    others = f"See fedinit.{each.name}.code, fedinit.{each.name}.all_train."
    step = not each.name.removeprefix("theorem_").isdigit()
    told = {"known": Status.FAILS, "repair": Repair(EVERY_ROUND, everyone)}
    told |= {"defect": Defect.READING if step else Defect.REFUTED}
    about = (f"fedinit.{each.name}",)
    yield Claim(
        f"fedinit.{each.name}.dominates",
        f"{each.words} in Algorithm 1 as listed, where a client that takes no part keeps its last local model.",
        where,
        each.listed or _searched(each.name, "intended"),
        note=f"{each.note} {others}",
        about=about,
        **(told if each.listed else {}),  # type: ignore[arg-type]
    )
    yield Claim(
        f"fedinit.{each.name}.code",
        f"{each.words} in the released code, which averages moves instead of models.",
        where,
        each.code or _searched(each.name, "code"),
        Status.FAILS if each.code else Status.HOLDS,
        each.of_code,
        defect=Defect.READING if each.code else None,
        about=about,
        ours=True,
    )
    words = f"{each.words} {EVERY_ROUND}."
    yield Claim(f"fedinit.{each.name}.all_train", words, where, everyone, note=each.of_all, about=about, ours=True)


def _repaired(name: str, words: str, where: str, note: str = "") -> Claim:
    check = Dominates(f"fedinit.{name}")
    return Claim(f"fedinit.{name}.dominates", words, Kind.THEOREM.at(where), check, note=note, ours=True)


CLAIMS: tuple[Claim, ...] = (
    *(claim for each in STATEMENTS for claim in _variants(each)),
    _repaired(
        "theorem_2_potential",
        "Theorem 2 as repaired by a potential bounds the exact loss gap where all clients train.",
        "Theorem 2, eq. (11), repaired",
    ),
    _repaired(
        "theorem_5_geometric",
        "Theorem 5 as repaired by the geometric sum bounds the exact last divergence where all clients train.",
        "Theorem 5, proof, repaired",
        "A weak search: it finds one of the three violations planted in it.",
    ),
)
