"""The contract can fail: bounds with one planted error each, and the test that must see it.

Other planted errors are those of ``tests/paper_checks/test_own_bound.py``, by ``fedbounds check``.
"""

from dataclasses import replace

import pytest
import sympy as sp
import test_every_bound as contract
from loops import cases
from refusals import all_refused

from bounds import BOUNDS
from bounds.core import MIXED
from bounds.points import POINTS
from bounds.vocabulary import local_gap, smoothness as L, strong_convexity as mu

SOUND = BOUNDS["fedals.one_round"]
POINT = POINTS[SOUND.name]
LOCAL, DRIFT = SOUND.terms["local generalization"], SOUND.terms["non-iidness"]


def with_terms(local=LOCAL, drift=DRIFT):
    return replace(SOUND, terms={"local generalization": local, "non-iidness": drift})


units = contract.test_every_term_carries_the_unit_of_the_target.one
renders = contract.test_its_formula_renders.one
generic = contract.test_its_point_is_generic.one
PLANTED = {
    "a lost root": lambda: units(with_terms(drift=DRIFT / sp.sqrt(mu))),  # sqrt(L)/mu for sqrt(L/mu)
    "added units": lambda: units(with_terms(local=LOCAL + L)),
    "units declared mixed that are not": lambda: units(replace(SOUND, off_by={"non-iidness": MIXED})),
    "an unreadable letter": lambda: renders(replace(SOUND, letters={local_gap: r"\nonsense{x}"})),
    "a one": lambda: generic(SOUND, {**POINT, "smoothness": 1}),
    "equal numbers": lambda: generic(SOUND, {**POINT, "smoothness": 3.7, "strong_convexity": 3.7}),
}


@cases("planted", PLANTED.values())
def test_a_planted_error_is_seen_and_the_sound_bound_passes(planted):
    units(SOUND)
    with pytest.raises((AssertionError, ValueError)):
        planted()


def test_loops_report_every_failure_by_name():
    with pytest.raises(AssertionError, match=r"2 of 3 fail:\n.*'a'.*ZeroDivisionError.*\n.*'c'.*ZeroDivisionError"):
        cases("name unused", [("a", 1), ("b", 1), ("c", 1)])(lambda name: 1 / (name == "b"))()

    def refuse(case):
        if case == 2:
            raise ValueError("said something else")
        if case == 3:
            raise TypeError("of another kind")
        if case == 4:
            raise ValueError("it is 4 words")
        if case == 5:
            raise ValueError("it is 44")

    wrong = [(1, "a"), (2, "b"), (3, ""), (4, "4"), (5, "4")]
    with pytest.raises(AssertionError, match=r"4 fail:\ncase 0.*\ncase 1.*\ncase 2.*\ncase 4"):
        all_refused(wrong, refuse, kind=ValueError)
