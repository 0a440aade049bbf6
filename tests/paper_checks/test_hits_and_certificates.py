"""A search's hit and a certificate never contradict: what an instance measures is below what is proved of its class."""

from fractions import Fraction
from pathlib import Path

import numpy as np
from loops import cases

import paper_checks
from bounds.catalog import BOUNDS
from bounds.core import Statistic
from empirics.training.setting import Setting
from paper_checks.falsifier import quadratic_tables as tables
from paper_checks.falsifier.witness import load_witness
from paper_checks.worst_case.solve import worst_case
from paper_checks.worst_case.worst_case_proof import certify

FOLDER = Path(paper_checks.__file__).parent / "counterexamples"
HITS = {path.stem: load_witness(path) for path in sorted(FOLDER.glob("*.json"))}
ROOM = 1e-2
"""How much larger than its instance a class is: proofs need some room around a start at the minimiser."""


def exact(hit):
    """The instance in whole numbers and fractions."""
    read = {name: Fraction(value) for name, value in hit.instance.items()}
    return {name: int(value) if value.denominator == 1 else value for name, value in read.items()}


def outside(hit):
    """What the hit has that no certificate speaks of; empty where its federation is of a certified class."""
    table = exact(hit)
    if hit.family != "quadratics":
        return "no run"
    if any(value for name, value in table.items() if name.startswith("noise")):
        return "noise"
    return "absent clients" if table["cohort"] < table["clients"] else ""


def proved(hit):
    """The certificate of all federations with this one's constants, and some room."""
    table = exact(hit)
    problem, bound = tables.problem(table), BOUNDS[hit.bound]
    away = problem.start - problem.minimiser
    slopes = [h @ (problem.minimiser - m) for h, m in zip(problem.curvatures, problem.minima, strict=True)]
    given = {
        "smoothness": problem.smoothness * (1 + ROOM),
        "strong_convexity": problem.strong_convexity * (1 - ROOM),
        "initial_distance_sq": float(away @ away) * (1 + ROOM) + ROOM,
        "optimum_dissimilarity": float(np.mean([s @ s for s in slopes])) * (1 + ROOM) + ROOM,
    }
    plan = Setting(
        table["rounds"], table["clients"], local_steps=table["local_steps"], step_size=float(table["step_size"])
    )
    at = bound.statistic or Statistic("last", "rounds")
    worst = worst_case("fedavg()", plan, given, bound.target.name, at)
    return certify(worst.question, worst.value)


@cases("name", [name for name, hit in HITS.items() if not outside(hit)])
def test_a_hit_is_below_what_is_proved_of_its_class(name):
    assert Fraction(HITS[name].measured) <= proved(HITS[name]).bound


def test_a_hit_that_moves_comes_near_what_is_proved():
    """One step of 3/2 on curvature 1 leaves a quarter: the class is 1 % larger, and no more than that is proved."""
    hit = HITS["decaying_k_claim.lemma_1_step_size"]
    assert Fraction(1, 4) == Fraction(hit.measured) <= proved(hit).bound < Fraction(1, 4) * Fraction(11, 10)
