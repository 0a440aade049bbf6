"""Findings on FedCOG once more, by arithmetic of their own: nothing here runs a check of the audit."""

from __future__ import annotations

from fractions import Fraction
from statistics import mean

import pytest
import sympy as sp

from bounds.catalog import BOUNDS
from bounds.vocabulary import jensen_shannon as js, step_size as eta
from paper_checks.audit.running import CLAIMS, verdict_of
from paper_checks.claims.checkers import EdgeIs
from paper_checks.claims.claim import Book, Status
from paper_checks.worst_case.tightness_table import committed


def test_the_worst_drift_of_two_steps_is_set_by_the_squared_gradient_alone():
    """The second gradient is at most eta L times the first away, the mean of both half of that: no start, no kappa."""
    rows = [r for r in committed("fedcog.mean_gradient_drift") if r["local_steps"] == 2]
    assert len(rows) == 8
    for r in rows:
        worst = (r["step_size"] / 2) ** 2 * (r["dissimilarity_factor"] * r["grad_norm_sq"] + r["heterogeneity"])
        assert r["worst_case"] == pytest.approx(worst, rel=1e-6)


def test_one_of_two_clients_a_round_breaks_the_theorem():
    """Minima +-1, tau = 1, eta = 1/2: x goes to (x +- 1)/2, so that E x^2 = 1/3 stays; violated from T = 17 on.

    Every client's least loss is 0, so that the gap of Assumption 5.2 is the mean of (x - 1)^2/2 and (x + 1)^2/2.
    """
    square = Fraction(1, 3)
    loss = mean([(square + 1) / 2 - x for x in (Fraction(1, 7), Fraction(-1, 7))])  # the part linear in x cancels
    assert mean([square / 4 + Fraction(sign) ** 2 / 4 for sign in (-1, 1)]) == square
    at = {"initial_gap": float(loss), "local_steps": 1, "step_size": 0.5, "smoothness": 1.0, "gradient_variance": 0.0,
          "client_weight": [0.5, 0.5], "dissimilarity_factor": 1.0, "dissimilarity_offset": 1.0}  # fmt: skip
    bounds = [float(BOUNDS["fedcog.theorem"](**at, rounds=t)) for t in (16, 17, 20)]
    assert bounds == pytest.approx([square, Fraction(16, 51), Fraction(4, 15)])
    witness = verdict_of(CLAIMS["fedcog.theorem.participation"]).finding.witness["instance"]
    assert int(witness.rpartition("T = ")[2]) >= 17
    assert CLAIMS["fedcog.theorem.participation"].audited is Status.FAILS


def test_an_edge_is_found_on_its_side_alone():
    edges = [
        EdgeIs("fedcog.disagreement_loss", js, sp.log(2)),
        EdgeIs("fedcog.disagreement_loss", js, sp.log(2), closed=False),
        EdgeIs("fedcog.disagreement_loss", js, sp.log(2), below=False),
        EdgeIs("fedcog.disagreement_loss", js, sp.Rational(69, 100)),
        EdgeIs("fedcog.disagreement_loss", js, sp.Rational(7, 10)),
        EdgeIs("fedcog.disagreement_upper", js, sp.Rational(7, 10)),  # no condition at all
        EdgeIs("fedcog.gradient_drift", eta, -1),
    ]
    assert [edge(Book()).status for edge in edges] == [Status.HOLDS, *[Status.FAILS] * 6]
