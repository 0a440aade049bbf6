"""A search's hit and a certificate never contradict: what an instance measures is below what is proved of its class."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from loops import cases

import paper_checks
from bounds.catalog import BOUNDS
from bounds.core import Statistic
from empirics.training.setting import Setting
from paper_checks.audit.running import CLAIMS, judge, Word
from paper_checks.claims.claim import Book, Grade
from paper_checks.falsifier import falsify
from paper_checks.falsifier.families import FAMILIES
from paper_checks.falsifier.runs import instance as tables
from paper_checks.falsifier.witness import load_witness
from paper_checks.worst_case.grid_point import GridPoint, question
from paper_checks.worst_case.question import Question
from paper_checks.worst_case.solve import answer, worst_case
from paper_checks.worst_case.tightness_table import committed, has_table
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


def test_a_bound_with_a_hit_and_certificates_above_it_fails_elsewhere():
    """Tables hold where F* = 0, without noise, all clients there: hits of their bounds are none of that."""
    met = [(name, hit) for name, hit in HITS.items() if has_table(hit.bound)]
    assert len(met) > 4
    for name, hit in met:
        rows = [row for row in committed(hit.bound) if row["inside"] and row["proved"] == row["proved"]]
        assert all(row["proved"] <= row["bound"] * (1 + 1e-6) for row in rows)
        moved = Fraction(hit.instance["floor"]) or Fraction(hit.value) < 0
        assert outside(hit) or moved, name


def test_a_theorem_that_a_certificate_refutes_fails_in_the_audit():
    """Lemma 1 with 0.97 of all its terms: below the smallest constant that is true, which is proved."""
    claim = CLAIMS["decaying_k.lemma_1.worst_case"]
    lemma = BOUNDS["decaying_k.lemma_1"]
    planted = replace(lemma, terms={name: term * 97 / 100 for name, term in lemma.terms.items()})
    said = judge(claim, Book({lemma.name: planted}))
    assert (said.word, said.finding.grade, said.expected) == (Word.FAILS, Grade.PROVED, False)
    assert judge(claim).word is Word.HOLDS


# ---- the falsifier's best instances ----

CALM = {f"noise_{k}": 0.0 for k in range(4)} | {"noise": 0.0, "cohort_share": 1.0}
CALM |= {"spread": 0.6, "start": 0.9, "smoothness": 1.0, "start_at": 0, "start_0": 1.0, "step_share": 0.8}
CASES = ("fedcog.theorem", "decaying_k.theorem_1_repaired", "fedinit.theorem_1", "fedinit.theorem_2")


def _own(problem, table, words):
    """These assumptions with the numbers of this very federation."""
    factor = float(table.get("dissimilarity_factor", problem.dissimilarity_factor))
    known = {
        "smoothness": problem.smoothness, "strong_convexity": problem.strong_convexity * (1 - 1e-9),
        "pl_constant": problem.pl_constant, "initial_gap": float(problem.loss(problem.start)) - problem.optimal_loss,
        "heterogeneity": problem.heterogeneity, "dissimilarity_factor": factor,
        "dissimilarity_offset": problem.dissimilarity_offset_for(factor), "grad_cap_sq": _cap(problem, table),
    }  # fmt: skip
    return {word: known[word] for word in words}


def _cap(problem, table):
    """The largest squared gradient of a client along the run, by plain loops."""
    most, model = 0.0, problem.start
    for _ in range(table["rounds"]):
        ends = []
        for k in range(problem.clients):
            w = model.copy()
            for _ in range(table["local_steps"]):
                g = problem.curvatures[k] @ (w - problem.minima[k])
                most = max(most, float(g @ g))
                w = w - float(table["step_size"]) * g
            ends.append(w)
        model = sum(ends) / len(ends)
    return most


@cases("name", CASES)
def test_the_worst_case_is_above_the_best_instance_found(name):
    bound = BOUNDS[name]
    box = FAMILIES["quadratics"].box(bound)
    known = {p.name for p in (*box.parameters, *box.words)}
    pins = {"clients": 2, "local_steps": 2, "rounds": 2, **CALM}
    found = falsify(bound, 60, 2, "quadratics", pins={n: x for n, x in pins.items() if n in known})
    table = dict(found.instance)
    assert (table["local_steps"], table["rounds"]) == (2, 2)
    place = GridPoint(clients=table["clients"], rounds=2, local_steps=2, relaxation=float(table.get("relaxation", 0.0)))
    asked = question(bound, place)
    setting = Setting(2, table["clients"], local_steps=2, step_size=float(table["step_size"]))
    own = _own(tables.problem(table), table, asked.assumptions)
    worst = answer(Question(asked.algorithm, setting, own, asked.metric, asked.statistic))
    measured = FAMILIES["quadratics"].evaluate(bound, table).measured
    assert 0 < measured <= worst.value * (1 + 1e-4)
    assert worst.value <= 1e4 * measured  # the comparison says something
