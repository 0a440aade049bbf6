"""Where the theorems apply: up to the ends of their conditions, and not beyond (values: ``tests/twins``)."""

import warnings
from dataclasses import replace
from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from loops import cases

from bounds import get
from bounds.fedinit.common import BETA_DECAY, CONTRACTION, STEP_DESCENT, STEP_GRADIENT_SUM, STEP_PL, STEP_SAMPLING
from bounds.fedinit.stability import T_0_IN_RANGE
from bounds.points import POINTS

ENDS = [
    # bound, quantity, the last value inside (of None: nothing is asked there), the first one outside, other values
    ("fedals.one_round_inexact", "non_iidness", [-0.003, 0.029, 0.071], [-0.004, 0.029, 0.071]),
    ("fedcog.disagreement_loss", "jensen_shannon", log(2) - 1e-9, 0.71),
    ("fedcog.generation_loss", "disagreement_loss", 1 - log(2) + 1e-9, 0.29),
    ("fedcog.complementary_allocation", "class_count", [8, 8, 9], [8, 8, 8]),
    ("fedcog.theorem_sharp", "step_size", 0.999 / 1.7, 0.59, {"local_steps": 1}),
    ("fedinit.theorem_3", "step_size_scale", 12.7, 12.9),
    ("decaying_k.runtime", "iterations", 43, 42, {"rounds": 43}),
    ("decaying_k.per_second", "runtime", 1.01 * (6.71 / 21.3 + 6.71 / 4.9 + 0.017 * 6),
     0.99 * (6.71 / 21.3 + 6.71 / 4.9 + 0.017 * 6), {"local_steps": 6}),
    ("decaying_k.theorem_1", "step_size", 0.2, 0.2000001, {"smoothness": 1.25}),
    ("decaying_k.theorem_1_appendix", "takes_part", None, [1, 1, 1]),
    ("decaying_k.lemma_1_printed", "cohort", 2, 1),
    ("decaying_k.lemma_1", "cohort", 1, 1, {}, {"clients": 1, "client_gradient_variance": [0.7]}),
    ("decaying_k.lemma_1", "step_size", None, 2.7),
    ("decaying_k.k_star", "grad_cap_sq", None, 0),
    ("decaying_k.k_star", "minibatch_time", None, 270.0),
    ("classics.field_guide_theorem_1", "step_size", 1 / (4 * 1.3), 1.00001 / (4 * 1.3)),
    ("classics.local_gd_lemma_1_short_step", "step_size", 1 / (4 * 1.3), 1.00001 / (4 * 1.3)),
    ("classics.local_gd_theorem_1", "step_size", 1 / (4 * 1.3 * 6), 1.00001 / (4 * 1.3 * 6)),
    ("classics.local_sgd_lemma_1", "step_size", 1 / (2 * 1.3), 1.00001 / (2 * 1.3)),
    ("classics.local_sgd_theorem_1", "step_size", 1 / (4 * 1.3), 1.00001 / (4 * 1.3)),
    ("classics.bottou_4_6", "step_size", 0.83 / (1.3 * (0.29 + 1.21**2)), 0.83001 / (1.3 * (0.29 + 1.21**2))),
    ("classics.bottou_4_7", "step_size_scale", None, 3.0),
    ("classics.bottou_4_7", "step_offset", None, 14.0),
    ("classics.bottou_4_7", "step_offset", None, 0.9, {"step_size_scale": 3.1}),
    ("classics.needell_2_1", "step_size", 0.999999 / 1.3, 1.00001 / 1.3),
    ("classics.local_gd_corollary_1", "local_steps", 9, 10),
    ("classics.hardt_5_4", "smoothness", *(x * 3.8 * sqrt(247 * (59 + 2 * 247) / (2.6 * 59)) for x in (1, 1.00001))),
    *((f"decaying_k.{star}", "current_loss", None, -0.2, {"optimal_loss": -0.3}) for star in
      ("k_star", "k_star_printed", "k_star_rounds", "eta_star", "eta_star_printed", "eta_star_capped")),
    *((f"fedals.{name}", word, None, [0.02, -0.03, 0.05]) for name in
      ("one_round", "participation_case1", "participation_case2") for word in ("local_gap", "non_iidness")),
    *((f"fedinit.{name}", word, None, value) for name, word, value in [
        ("kappa_1", "relaxation", 0.12),
        ("kappa_2", "relaxation", -0.01),
        ("theorem_1", "relaxation", -0.06),
        ("theorem_1", "local_steps", 1),
        ("theorem_1", "contraction", 0.86),
        ("theorem_2", "step_size", 0.03),
        ("contraction_cap", "step_size", 0.0514),
        ("contraction_cap", "local_steps", 1),
        ("theorem_4_recursion", "relaxation", 0.11),
        ("theorem_5", "relaxation", 0.103),
        ("lemma_2", "step_size", 0.06),
        ("lemma_3", "step_size", 0.16),
        ("divergence_weight", "relaxation", 0),
        ("local_steps_order", "dissimilarity_offset", 0),
        ("step_size_theorem_2_order", "pl_constant", 0.002),
        *((name, word, value) for name, (word, value) in product(
            ("theorem_3", "theorem_3_printed", "stability_separation"),
            (("relaxation", 0), ("relaxation", 0.118), ("samples", 1)))),
    ]),
]  # fmt: skip


@cases("end", ENDS)
def test_a_theorem_applies_up_to_the_ends_of_its_conditions_and_not_beyond(end):
    name, word, inside, outside, *more = end
    bound, point = get(name), {**POINTS[name], **(more[0] if more else {})}
    if inside is not None:
        assert np.isfinite(bound(**point | {word: inside})).all(), name
    beyond = point | {word: outside} | (more[1] if len(more) > 1 else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(bound(**beyond)).all(), (name, word)
    assert bound.failed(**beyond), (name, word)


def at(name, **other):
    return get(f"fedinit.{name}"), {**POINTS[f"fedinit.{name}"], **other}


def test_fedinits_theorems_apply_just_below_their_step_size_caps_and_not_just_above():
    caps = {STEP_DESCENT, STEP_SAMPLING, STEP_GRADIENT_SUM, STEP_PL}
    sizes = ((11, 3, 0.37), (5, 4, 0.37), (3, 2, 1.29))
    for name, (clients, cohort, pl_constant) in product(("theorem_1", "theorem_2", "theorem_4", "theorem_5"), sizes):
        bound, v = at(name, clients=clients, cohort=cohort, contraction=0.99)
        v |= {"pl_constant": pl_constant} if "pl_constant" in v else {}
        card = get(f"fedinit.step_size_cap_{name}")
        cap = card(**{q.name: v[q.name] for q in card.quantities})
        assert not caps & set(bound.failed(**v | {"step_size": 0.9999 * cap}))
        assert caps & set(bound.failed(**v | {"step_size": 1.0001 * cap}))
    bound, v = at("theorem_5", relaxation=0.10205)  # between its two caps
    assert set(bound.failed(**v)) == {BETA_DECAY, CONTRACTION}
    bound, v = at("theorem_4_recursion")
    cap = sqrt(v["cohort"] / v["clients"]) / (v["local_steps"] * v["smoothness"])
    assert bound.holds(**v | {"step_size": 0.999 * cap})
    assert bound.failed(**v | {"step_size": 1.001 * cap}) == (STEP_GRADIENT_SUM,)


@pytest.mark.parametrize(("scale", "applies"), [(12.7, True), (12.9, False)])
def test_theorem_3_applies_while_the_drifts_factor_covers_one_plus_the_relaxation(scale, applies):
    bound, v = at("theorem_3", step_size_scale=scale)
    drift = bound.parts(outside=True, **v)["client drift"]
    t_0, there = at("t_0", step_size_scale=scale)
    growth = (v["rounds"] * v["local_steps"] / t_0(**there)) ** (scale * v["smoothness"])
    one_shift = v["lipschitz"] * (1 + v["relaxation"]) * growth * v["summed_divergence_root"]
    assert (drift >= one_shift) is applies is bound.holds(**v)


def test_theorem_3_does_not_apply_where_t_0_exceeds_the_samples_and_its_print_does():
    bound, v = at("theorem_3", rounds=10**8)
    t_0, there = at("t_0", rounds=10**8)
    assert t_0(**there) > v["samples"]
    assert bound.failed(**v) == (T_0_IN_RANGE,)
    assert np.isfinite(get("fedinit.theorem_3_printed")(**v))


THEOREM, COROLLARY = POINTS["fedcog.theorem"], POINTS["fedcog.corollary"]
L, BETA_SQ = COROLLARY["smoothness"], COROLLARY["dissimilarity_factor"]


@pytest.mark.parametrize(("tau", "beta_sq", "first"), [(2, 1.1, True), (9, 1.1, False), (9, 5.2, False)])
def test_fedcogs_step_size_conditions_end_where_they_say(tau, beta_sq, first):
    limits = (1 / (2 * tau), 1 / sqrt(2 * tau * (tau - 1) * (2 * beta_sq + 1)))
    assert (limits[0] < limits[1]) is first
    bound, point = get("fedcog.theorem"), THEOREM | {"local_steps": tau, "dissimilarity_factor": beta_sq}
    edge = min(limits) / THEOREM["smoothness"]
    assert bound.holds(**point | {"step_size": edge * (1 - 1e-9)})
    (failed,) = bound.failed(**point | {"step_size": edge * (1 + 1e-9)})
    assert failed.words.startswith("eta L <= 1/(2 tau)" if first else "eta L <= 1/sqrt")
    alone = THEOREM | {"local_steps": 1, "dissimilarity_factor": 1e9, "step_size": 0.4999 / THEOREM["smoothness"]}
    parts = bound.parts(**alone)
    assert parts["drift by noise"] == parts["drift by heterogeneity"] == 0
    assert bound.holds(**alone)


@pytest.mark.parametrize(("tau", "T"), [(1, 13), (3, 70), (5, 240), (40, 1200), (40, 900)])
def test_the_corollary_is_the_theorem_at_its_step_size_from_the_number_of_rounds_it_needs(tau, T):
    theorem, corollary, point = get("fedcog.theorem"), get("fedcog.corollary"), COROLLARY | {"local_steps": tau}
    there = THEOREM | {"local_steps": tau, "rounds": T, "step_size": 1 / sqrt(tau * T)}
    assert corollary.holds(**point | {"rounds": T}) == theorem.holds(**there)
    assert corollary.formula(**point | {"rounds": T}) == pytest.approx(theorem.formula(**there), rel=1e-12)
    fewest = int(np.ceil(max(4 * tau * L**2, 2 * (tau - 1) * (2 * BETA_SQ + 1) * L**2)))
    assert corollary.holds(**point | {"rounds": fewest})
    assert not corollary.holds(**point | {"rounds": fewest - 1})
    assert np.isfinite(get("fedcog.corollary_printed")(**POINTS["fedcog.corollary_printed"] | {"rounds": 100}))


def test_condition_63_asks_below_1_what_theorem_and_proof_ask_and_above_it_holds_for_the_wrong_reason():
    draws = np.random.default_rng(5)
    tau, beta_sq = draws.integers(2, 9, 4000), 1 + draws.exponential(2, 4000)
    load = draws.uniform(0.02, 0.999, 4000)  # A
    size = np.sqrt(load / (2 * tau * (tau - 1))) / THEOREM["smoothness"]
    changed = {"local_steps": tau, "dissimilarity_factor": beta_sq, "step_size": size}
    by_proof = load * beta_sq / (1 - load) <= 0.5
    assert 100 < by_proof.sum() < 3900
    for name, word in (("fedcog.theorem", "sqrt"), ("fedcog.descent_one_round", "(63)")):
        bound = get(name)
        conditions = tuple(c for c in bound.conditions if word in c.words)
        assert len(conditions) == 1
        judged = replace(bound, conditions=conditions).holds(**POINTS[name] | changed)
        assert (judged == by_proof).all()
    one_round = get("fedcog.descent_one_round")
    point = POINTS[one_round.name] | {"local_steps": 40, "smoothness": 2.1, "step_size": 0.0122}
    assert 2 * 40 * 39 * (2.1 * 0.0122) ** 2 > 1
    failed = {c.words for c in one_round.failed(**point)}
    assert "drift does not feed itself: A < 1" in failed
    assert not any("(63)" in words for words in failed)
