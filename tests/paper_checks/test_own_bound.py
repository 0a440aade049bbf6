"""``fedbounds check FILE.py:bound``: a sound bound keeps the contract, and every planted error is seen."""

import json

OWN = """
from bounds.core import About, Bound, Condition, MIXED, Statistic
from bounds.papers import Source
from bounds.vocabulary import cohort as N, gradient_variance as s, grad_norm_sq, initial_gap as D, rounds as R
from bounds.vocabulary import smoothness as L, step_size as eta

TERMS = {"start": 2 * D / (eta * R), "noise": L * eta * s / N}
HOW = (Condition("short steps", eta * L <= 1),)

def bound(terms=TERMS, conditions=HOW, **more):
    return Bound("own.descent", grad_norm_sq, terms, Source("notes", "line 3"), conditions, **more)

mine = bound()
unit = bound({**TERMS, "noise": L**2 * eta * s / N})
mixed = bound(off_by={"noise": MIXED})
sign = bound({"start": 2 * D / (eta * R), "noise": -L * eta * s / N})
signed = bound(signed=("noise",))
idle = bound(conditions=(*HOW, Condition("idle", L * eta + 1 / (L * eta) >= 1)))
never = bound(conditions=(*HOW, Condition("never", eta * L >= 2)))
letters = bound(letters={D: "x", s: "x"})
twinned = Bound("own.other", grad_norm_sq, TERMS, Source("notes", "line 5"), HOW)
theorem = Bound("own.theorem", grad_norm_sq, TERMS, Source("notes", "Theorem 3"), HOW)

def descent(p):
    return 2 * p.initial_gap / (p.step_size * p.rounds) + p.smoothness * p.step_size * p.gradient_variance / p.cohort

def other(p):
    return 2 * p.initial_gap / (p.step_size * p.rounds) + p.smoothness * p.step_size * p.gradient_variance
"""


def test_a_sound_bound_keeps_the_contract_and_tells_what_moves_it(own, run):
    status, out, _ = run("check", f"{own}:mine", "--json")
    (found,) = json.loads(out)
    assert (status, found["broken"]) == (0, 0)
    assert found["points"] > 5
    assert not any(found["checks"].values())
    assert found["checks"]["it says which number of which algorithm's run it bounds"] is None
    assert {verb: bool(reason) for verb, reason in found["tests"].items()} == {
        "falsify": False, "validate": False, "tightness": True,
    }  # fmt: skip
    assert set(found["rises"]) == {"gradient_variance", "initial_gap", "smoothness"}
    assert set(found["falls"]) == {"cohort", "rounds"}


def test_a_planted_error_is_a_finding(own, run):
    for name, named in (
        ("unit", ("'noise'", "loss^3/parameter^4", "loss^2/parameter^2")),
        ("mixed", ("'noise'",)),
        ("sign", ("'noise'", "negative")),
        ("signed", ("'noise'", "signed")),
        ("idle", ("'idle'", "condition")),
        ("never", ("conditions",)),
        ("letters", ("x stands for gradient_variance and initial_gap",)),
        ("twinned", ("the reference",)),
        ("theorem", ("algorithm",)),
    ):
        status, out, _ = run("check", f"{own}:{name}")
        assert (status, [word for word in named if word not in out]) == (1, []), name
        assert out.count("WRONG") == (2 if name in ("unit", "sign") else 1)  # their reference sees these too


def test_bounds_and_claims_are_checked_apart_and_idle_options_are_refused(own, refused):
    assert "separately" in refused("check", f"{own}:mine", "fedals.lemma_b1")
    assert "--renew" in refused("check", f"{own}:mine", "--renew")
    assert f"{own}:mine" in refused("check", own)
