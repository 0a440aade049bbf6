"""A scenario: where a word comes from, what follows from it, and what of it is put into a bound."""

import json

import numpy as np
import pytest
from refusals import all_refused

from bounds import Bound, BOUNDS, Condition, Source, vocabulary as q
from bounds.core import About, Statistic
from bounds.errors import BoundsError, MissingQuantityError
from bounds.identities import WHY_NOT
from bounds.scenario import Scenario
from bounds.scenario_values import Provenance, QUANTITIES
from bounds.substituting import chosen_values, pairs

PLAN = {"clients": 12, "cohort": 5, "local_steps": 3, "rounds": 40, "step_size": 0.03}


def own(terms, *conditions, signed=()):
    return Bound(
        name="own.bound", target=q.grad_norm_sq, terms=terms, conditions=conditions, source=Source("notes", "1"),
        about=About("fedavg"), statistic=Statistic("min", "rounds", "server model"), signed=signed,
    )  # fmt: skip


# ---- sources ----


def test_a_typed_value_goes_before_that_of_a_file_and_ties_follow_it(tmp_path):
    file = tmp_path / "c.json"
    file.write_text(json.dumps({"smoothness": 2.5, "strong_convexity": 0.4, "_how": {"smoothness": "by hand"}}))
    s = Scenario.of(f"@{file}", "smoothness=3.5", **PLAN)
    assert (s["smoothness"].value, s["smoothness"].how) == (3.5, "typed")
    assert s["condition_number"].value == pytest.approx(3.5 / 0.4)
    assert s["pl_constant"].value == 0.4
    other = s.at(strong_convexity=0.7)
    assert other["condition_number"].value == pytest.approx(3.5 / 0.7)
    assert s["condition_number"].value == pytest.approx(3.5 / 0.4)


@pytest.mark.parametrize(
    ("word", "notes", "expected"),
    [
        ("grad_cap_sq", {"_interval": {"grad_cap_sq": [3.5, None]}}, ("interval", 3.5, np.inf)),
        ("gradient_variance", {"_interval": {"gradient_variance": [2.5, 7.5]},
                               "_provenance": {"gradient_variance": "proved"}}, ("proved", 2.5, 7.5)),
        ("grad_cap_sq", {"_provenance": {"grad_cap_sq": "proved"}}, ("assumed", 3.5, 3.5)),
        ("grad_cap_sq", {"_provenance": {"grad_cap_sq": "proved"}, "_up_to": {"grad_cap_sq": {"step_size": 0.3}}},
         ("proved", 3.5, 3.5)),
        ("grad_cap_sq", {"_interval": {"grad_cap_sq": [2.5, 7.5]}}, ("interval", 2.5, 7.5)),
        ("grad_cap_sq", {"_provenance": {"grad_cap_sq": "lower"}}, ("lower", 3.5, np.inf)),
        ("heterogeneity", {"_how": {"heterogeneity": "not a lower estimate"}}, ("assumed", 3.5, 3.5)),
    ],
)  # fmt: skip
def test_notes_say_what_a_value_is_worth(word, notes, expected):
    stated = Scenario.of({word: 3.5, **notes})[word]
    assert (stated.provenance, stated.low, stated.high) == expected


def test_a_word_is_worth_what_its_worst_source_is():
    notes = {"_provenance": {"initial_loss": "exact", "optimal_loss": "interval"}}
    s = Scenario.of({"initial_loss": 2.7, "optimal_loss": 0.4, **notes}, **PLAN)
    assert s["initial_gap"].provenance == "interval"
    assert s["iterations"].provenance == "chosen"
    assert set(Provenance) >= {stated.provenance for _, stated in s.items()}


def test_what_cannot_be_is_refused():
    all_refused(
        [
            ({"initial_gap": 0.2, "optimal_loss": 0.5, "initial_loss": 1.3}, "initial_gap 0.2 0.8"),
            ({"rounds": 7, "local_steps": 4, "iterations": 27}, "rounds 7 6.75"),
            ({"client_weight": [0.7, 0.3], "client_grad_norm_sq": [2]}, "client_weight 2 client_grad_norm_sq 1"),
            ({"client_weight": [0.3, 0.7], "clients": 3}, "clients 3 2"),
            ({"smoothness": 1.5, "strong_convexity": 2.5}, "condition_number >= 1"),
            ({"strong_convexity": 0.3, "pl_constant": 1.5, "smoothness": 0.9}, "pl_constant smoothness"),
            ({"runtime": 2.5, "communication_time": 3, "minibatch_time": 0.1, "local_steps": 4}, "rounds"),
            ({"dissimilarity_offset": 0.3}, "dissimilarity_factor"),
            ({"rounds": [3, 4]}, "rounds"),
            ({"step_size": -0.3}, "step_size > 0"),
            ({"step_sise": 0.3}, "'step_size'"),
            ({"sampling": "bernoulli"}, "sampling"),
            ({"smoothness": "uniform"}, "smoothness=NUMBER"),
            ({"clients": 1e9}, "clients 1000000"),
        ],
        lambda given: Scenario.of(**given),
    )


def test_files_and_notes_that_are_wrong_are_refused():
    all_refused(
        [
            ({"grad_cap_sq": 2.5, "_up_to": {"grad_cap_sq": 0.3}}, "_up_to grad_cap_sq"),
            ({"smoothness": 2.5, "_provenance": {"smoothness": "sure"}}, "_provenance smoothness"),
            ({"smoothness": 1.7, "_provenance": 3}, "_provenance"),
            ({"smoothness": 1.7, "_how": {"smoothness": 3}}, "_how"),
        ],
        Scenario.of,
    )


# ---- sources of one word ----


def test_two_sources_of_one_strength_that_disagree_are_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.json").write_text('{"smoothness": 2.5}')
    interval = {"smoothness": 2.5, "_interval": {"smoothness": [2.1, 3.6]}}
    cases = [
        (({"smoothness": 2.5}, {"smoothness": 3.5}), "smoothness 2.5 3.5"),
        (("@c.json", {"smoothness": 3.5}), "smoothness 2.5 c.json 3.5"),
        (("sampling=with_replacement", "sampling=without_replacement"), "sampling with_replacement"),
        ((interval, {"smoothness": 3.5}), "smoothness 2.5 3.5"),
    ]
    all_refused(cases, lambda sources: Scenario.of(*sources))
    cases = [("client_weight=0.3,0.7", "client_weight 0.3 0.7 0.4 0.6"), ("client_weight=uniform", "client_weight")]
    all_refused(cases, lambda source: Scenario.of(source, client_weight=[0.4, 0.6]))


def test_two_sources_that_agree_are_one():
    wide = {"smoothness": 2.5, "_interval": {"smoothness": [2.1, 3.6]}, "_provenance": {"smoothness": "interval"}}
    other = {"smoothness": 3.5, "_interval": {"smoothness": [2.4, 3.7]}, "_provenance": {"smoothness": "proved"}}
    assert Scenario.of(wide, other)["smoothness"].value == Scenario.of(other, wide)["smoothness"].value == 3.5
    near = Scenario.of({"smoothness": 2.5}, {"smoothness": 2.5 * (1 + 1e-10)}, "sampling=with_replacement",
                       sampling="with_replacement")  # fmt: skip
    assert near["smoothness"].value == pytest.approx(2.5)
    assert near.sampling == "with_replacement"
    assert Scenario.of({"smoothness": 2.5}, {"smoothness": 3.5}, smoothness=4.5)["smoothness"].value == 4.5


@pytest.mark.parametrize(("word", "value", "ratio"), [("smoothness", 3.1, 3.1 / 0.4), ("strong_convexity", 0.3, 8.0)])
def test_what_a_file_derives_from_a_constant_is_computed_again_where_that_is_typed(word, value, ratio):
    file = {"smoothness": 2.4, "strong_convexity": 0.4, "condition_number": 6.0}
    for s in (Scenario.of(file, **{word: value}), Scenario.of(file).at(**{word: value})):
        assert s["condition_number"].value == pytest.approx(ratio)
    with pytest.raises(BoundsError, match="condition_number"):
        Scenario.of(file, condition_number=5.0)
    with pytest.raises(BoundsError, match="condition_number"):  # typed all three, one of them is wrong
        Scenario.of(**{**file, word: value})


def test_what_holds_for_short_steps_alone_is_left_out_beyond():
    file = {"grad_cap_sq": 7.5, "_provenance": {"grad_cap_sq": "proved"},
            "_up_to": {"grad_cap_sq": {"step_size": 0.3, "relaxation": 0}}}  # fmt: skip
    bound = own({"a": q.grad_cap_sq})
    s = Scenario.of(file, step_size=0.3, lipschitz=9.0)
    assert s["grad_cap_sq"].value == 7.5
    for beyond in ({"step_size": 0.31}, {"relaxation": 0.02}):
        assert s.at(**beyond)["grad_cap_sq"].value == 81  # what follows from others still does
    alone = Scenario.of(file, step_size=0.31)
    assert "grad_cap_sq" not in alone
    assert "step_size up to 0.3 only; here it is 0.31" in alone.missing(bound)["grad_cap_sq"]
    assert alone.at(step_size=0.2)["grad_cap_sq"].value == 7.5
    assert Scenario.of(file, step_size=0.31, grad_cap_sq=8.5)["grad_cap_sq"].value == 8.5


@pytest.mark.parametrize("weights", [[0.2, 0.3, 0.5], "uniform"])
def test_other_weights_make_what_a_file_says_of_the_global_loss_stale(weights):
    file = {"client_weight": [0.25, 0.35, 0.4], "initial_gap": 1.3, "heterogeneity": 0.2, "grad_cap_sq": 3.3,
            "smoothness": 2.5, "strong_convexity": 0.4, "pl_constant": 0.6, "gradient_variance": 0.7,
            "local_gap": [0.1, 0.2, 0.3], "dissimilarity_offset": 0.3, "dissimilarity_factor": 2.1}  # fmt: skip
    stale = {"initial_gap", "heterogeneity", "grad_cap_sq", "local_gap", "dissimilarity_offset"}
    typed = f"client_weight={weights}" if isinstance(weights, str) else f"client_weight={','.join(map(str, weights))}"
    for s in (Scenario.of(file, typed), Scenario.of(file).at(client_weight=[0.2, 0.3, 0.5])):
        assert not stale & set(s)
        assert (s["pl_constant"].value, s["smoothness"].value, s["gradient_variance"].value) == (0.4, 2.5, 0.7)
        said = s.missing(own({"a": q.initial_gap}))["initial_gap"]
        assert "given is for other weights of the clients" in said
        assert "initial_gap" not in s.at(local_steps=3)  # not back again
        assert s.at(initial_gap=1.7)["initial_gap"].value == 1.7
    kept = Scenario.of(file, typed, heterogeneity=0.9)
    assert kept["heterogeneity"].value == 0.9
    assert stale <= set(Scenario.of(file, client_weight=[0.25, 0.35, 0.4]))


def test_half_of_a_pair_goes_with_the_other_half_of_its_source():
    file = {"dissimilarity_offset": 0.3, "dissimilarity_factor": 2.5}
    s = Scenario.of(file, dissimilarity_offset=0.7, dissimilarity_factor=1.5)
    assert [(p.offset, p.factor) for p in pairs(s)] == [(0.7, 1.5)]
    with pytest.raises(BoundsError, match="dissimilarity_factor"):
        Scenario.of(file, dissimilarity_offset=0.7)
    bound = own({"a": q.dissimilarity_offset + q.dissimilarity_factor})
    assert Scenario.of(file).substituted(bound).high == 2.8
    for word in file:  # one lower estimate of the two leaves no upper end
        assert Scenario.of(file | {"_provenance": {word: "lower"}}).substituted(bound).high == np.inf


def test_a_number_for_all_clients_becomes_a_list_of_them_and_counts_none():
    s = Scenario.of(**PLAN, gradient_variance=0.7)
    assert s["client_gradient_variance"].value == (0.7,) * 12
    assert s["client_weight"].value == pytest.approx([1 / 12] * 12)
    assert sum(s["takes_part"].value) == 5
    variances = {"gradient_variance": 1.7}, {"client_gradient_variance": 1.7}, {"grad_cap_sq": 2.9}
    assert all("clients" not in Scenario.of(cohort=3, local_steps=2, **one) for one in variances)
    assert Scenario.of(clients=3, client_gradient_variance=0.7)["client_gradient_variance"].value == (0.7, 0.7, 0.7)
    file = {"client_weight": [0.2, 0.3, 0.5]}
    assert Scenario.of(file)["client_weight"].value == (0.2, 0.3, 0.5)
    s = Scenario.of(file, clients=3, client_weight="uniform")  # in place of those of the file
    assert s["client_weight"].value == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("low", [None, 0.0])
def test_a_constant_from_below_without_a_lower_end_is_no_constant(low):
    """With mu somewhere below 0.5, maybe hardly above 0, no theorem on mu holds."""
    loose = {"strong_convexity": 0.5, "_interval": {"strong_convexity": [low, 0.5]}}
    known = {"smoothness": 2.0, "initial_gap": 3.0, "optimum_dissimilarity": 1.3}
    s = Scenario.of(loose, **known)
    assert s["strong_convexity"].only_estimated
    assert s["pl_constant"].only_estimated
    assert not pairs(s)
    assert "initial_distance_sq" not in s
    sure = Scenario.of(strong_convexity=0.5, **known)
    assert pairs(sure)
    assert sure["initial_distance_sq"].value == pytest.approx(12)
    seen = {"smoothness": 2.0, "_provenance": {"smoothness": "lower"}}
    assert "initial_gap" not in Scenario.of(seen, initial_distance_sq=3.0)
    assert "optimum_dissimilarity" not in Scenario.of(seen, heterogeneity=3.0)


def test_rounds_are_the_whole_ones_that_a_runtime_holds():
    s = Scenario.of(clients=4, local_steps=5, step_size=0.1, runtime=20, communication_time=0.3, minibatch_time=0.02)
    assert s["rounds"].value == 50  # 20/0.4, whole but for rounding
    assert s.at(local_steps=6)["rounds"].value == 47
    per_second = BOUNDS["decaying_k.per_second"]
    given = {"smoothness": 1.5, "strong_convexity": 0.3, "initial_loss": 2.5, "optimal_loss": 0.4, "grad_cap_sq": 3.3,
             "heterogeneity": 0.2, "gradient_variance": 0.7, "parameters": 600}  # fmt: skip
    full = s.at(local_steps=6, **given)
    put = full.values(per_second)
    assert put["runtime"] == pytest.approx(47 * 0.42)
    by_rounds = BOUNDS["decaying_k.per_rounds"]
    assert full.substituted(per_second).value == pytest.approx(full.substituted(by_rounds).value, rel=1e-9)


# ---- into a bound ----


def test_admissible_constants_are_put_in_at_their_weaker_end():
    bound = own({"a": q.smoothness * q.grad_cap_sq / q.pl_constant})
    interval = {"smoothness": [1.5, 2.7], "grad_cap_sq": [3.5, 7.9], "pl_constant": [0.3, 0.5]}
    s = Scenario.of({"smoothness": 2.5, "grad_cap_sq": 7.5, "pl_constant": 0.4, "_interval": interval})
    put = s.substituted(bound)
    assert put.values == {"smoothness": 2.7, "grad_cap_sq": 7.9, "pl_constant": 0.3}
    assert put.value == pytest.approx(2.7 * 7.9 / 0.3)
    assert put.high == put.value
    assert put.low == pytest.approx(1.5 * 3.5 / 0.5)


@pytest.mark.parametrize(("sign", "end"), [(1, 0.9), (-1, 0.2)])
def test_a_defined_number_counts_with_the_end_where_the_bound_is_largest(sign, end):
    bound = own({"a": 5 + sign * q.optimal_loss}, signed=("a",))
    s = Scenario.of({"optimal_loss": 0.4, "_interval": {"optimal_loss": [0.2, 0.9]}})
    put = s.substituted(bound)
    assert put.values["optimal_loss"] == end
    assert put.value == pytest.approx(5 + sign * end)
    assert put.low == pytest.approx(5 + sign * (1.1 - end))


def test_with_a_lower_estimate_a_bound_is_a_floor():
    bound = own({"a": q.grad_cap_sq / q.strong_convexity})
    notes = {"_provenance": {"grad_cap_sq": "lower", "strong_convexity": "lower"}}
    put = Scenario.of({"grad_cap_sq": 3.5, "strong_convexity": 0.7, **notes}).substituted(bound)
    assert put.lower_estimates == ("grad_cap_sq",)  # a lower estimate of mu is as good as any
    assert (put.value, put.high) == (pytest.approx(5.0), np.inf)


def test_of_the_pairs_that_hold_the_best_is_taken():
    # at s = sqrt(zeta^2 / (gap e)) the sum (1 + 1/s) zeta^2 + (1 + (1 + s) e) gap is smallest
    zeta, gap, L, mu = 0.7, 2.5, 3.5, 0.4
    e = (L - mu) ** 2 / (4 * L * mu)
    bound = own({"a": q.dissimilarity_offset + q.dissimilarity_factor * q.initial_gap})
    s = Scenario.of(optimum_dissimilarity=zeta, smoothness=L, strong_convexity=mu, initial_gap=gap)
    split = np.sqrt(zeta / (gap * e))
    best = (1 + 1 / split) * zeta + (1 + (1 + split) * e) * gap
    assert s.substituted(bound).value == pytest.approx(best, rel=1e-2)
    assert s.substituted(bound).value >= best
    assert s.at(grad_cap_sq=0.05).substituted(bound).value == pytest.approx(0.05 + gap)
    better = s.at(dissimilarity_offset=0.3, dissimilarity_factor=1.2)
    assert better.substituted(bound).value == pytest.approx(0.3 + 1.2 * gap)


def test_a_free_constant_is_the_best_that_the_conditions_allow():
    bound = own({"a": 2.5 / q.contraction}, Condition("cap", q.contraction < 1 - q.step_size * q.rounds / 70))
    s = Scenario.of(step_size=0.7, rounds=30)
    put = s.substituted(bound)
    assert put.value == pytest.approx(2.5 / 0.7, rel=1e-6)
    assert put.values["contraction"] < 0.7
    assert s.at(contraction=0.25).substituted(bound).value == pytest.approx(10)
    silent = s.at(rounds=300).substituted(bound)
    assert np.isnan(silent.value)
    assert 0 < silent.values["contraction"] < 1


def test_missing_words_are_said_with_how_to_give_them_or_why_they_follow_from_no_other():
    bound = BOUNDS["decaying_k.theorem_1_repaired"]
    s = Scenario.of(**PLAN, smoothness=2.5, strong_convexity=0.4, initial_loss=1.7, optimal_loss=0.6)
    assert set(s.missing(bound)) == {"client_gradient_variance", "grad_cap_sq", "heterogeneity"}
    assert "optimum_dissimilarity" in s.missing(bound)["heterogeneity"]
    with pytest.raises(MissingQuantityError, match="grad_cap_sq"):
        s.values(bound)
    full = s.at(grad_cap_sq=3.5, optimum_dissimilarity=0.3)
    assert not full.missing(bound)
    assert full.values(bound)["heterogeneity"] == pytest.approx(0.3 / 0.8)
    lacking = s.missing(BOUNDS["fedinit.theorem_3"])
    assert all(WHY_NOT[word] in lacking[word] for word in WHY_NOT if word in lacking)
    assert {"step_size_scale", "lipschitz"} <= set(lacking) & set(WHY_NOT)
    assert "sqrt(mean_divergence)*rounds" in lacking["summed_divergence_root"]
    assert set(WHY_NOT) <= set(QUANTITIES)


def test_numbers_of_a_run_follow_from_one_another():
    """By hand: what is not typed in any of the others is computed, on the side where it is safe."""
    known = {"smoothness": 2.5, "strong_convexity": 0.4, "train_loss": 1.9, "optimal_loss": 0.6}
    s = Scenario.of(**PLAN, **known, mean_divergence=0.09)
    assert s["optimality_gap"].value == pytest.approx(1.3)
    assert (s["distance_sq"].value, s["distance_sq"].low) == (pytest.approx(2 * 1.3 / 0.4), 0)
    assert s["grad_norm_sq"].value == pytest.approx(2 * 2.5 * 1.3)
    assert s["summed_divergence_root"].value == pytest.approx(40 * 0.3)
    assert s["drift_factor"].value == pytest.approx(2 * 3 * 2 * (0.03 * 2.5) ** 2)
    times = {"client_download_rate": [2.0, 3.0, 1.5], "client_upload_rate": [0.9, 0.7, 1.1],
             "client_minibatch_time": [0.02, 0.05, 0.03], "model_size": 0.6}  # fmt: skip
    slow = Scenario.of(**times, clients=3, cohort=2, local_steps=4)
    assert (slow["download_rate"].value, slow["upload_rate"].value, slow["minibatch_time"].value) == (1.5, 0.7, 0.05)
    each = [0.6 / 2 + 0.6 / 0.9 + 0.08, 0.6 / 3 + 0.6 / 0.7 + 0.2, 0.6 / 1.5 + 0.6 / 1.1 + 0.12]
    assert slow["client_round_time"].value == pytest.approx(each)
    assert slow["round_time"].high >= max(each)


def test_facts_are_what_assumptions_read_and_theorems_on_single_samples_take_their_smoothness():
    s = Scenario.of(smoothness=2.5, sample_smoothness=8.5)
    assert s.source_of("smoothness", BOUNDS["fedals.one_round"]) == "sample_smoothness"
    assert s.source_of("smoothness", BOUNDS["fedinit.theorem_1"]) == "smoothness"
    s = Scenario.of(**PLAN, smoothness=2.5, strong_convexity=0.4, initial_gap=1.3)
    assumed = [c.assumption for c in BOUNDS["fedcog.theorem"].conditions if c.assumption]
    holds = {one.name: one.holds(*s.facts) for one in assumed}
    assert holds["full_participation"] is False
    assert holds["smooth"] is holds["shared_generated_data"] is holds["fixed_step_size"] is True
    assert holds["bounded_variance"] is None
    assert s.method == "fedavg"
    assert s.at(relaxation=0.05).method == "fedinit(relaxation=0.05)"
    assert s.at(cohort=12).facts[2].cohort == 12


# ---- computed again in part, and at several plans at once ----


def test_a_scenario_that_is_changed_is_the_one_that_is_made_anew():
    told = {"clients": 5, "cohort": 3, "step_size": 0.1, "smoothness": 2.5, "strong_convexity": 0.3, "runtime": 40.0,
            "local_steps": 2, "communication_time": 0.3, "minibatch_time": 0.02, "optimum_dissimilarity": 0.7,
            "gradient_variance": 0.9, "initial_gap": 1.3}  # fmt: skip
    draws = np.random.default_rng(2)
    words = [*told]
    s = Scenario.of(**told)
    for _ in range(40):
        changed = {w: told[w] * draws.uniform(0.6, 1.4) for w in draws.choice(words[2:], 2, replace=False)}
        changed |= {"local_steps": int(draws.integers(1, 9)), "clients": int(draws.integers(3, 8))}
        told |= changed
        s = s.at(**changed)
        fresh = Scenario.of(**told)
        assert dict(s.items()) == dict(fresh.items())


@pytest.mark.parametrize("name", ["fedinit.theorem_1", "fedcog.theorem_sharp", "decaying_k.lemma_2_repaired"])
def test_constants_that_are_chosen_along_plans_are_those_of_each_plan(name):
    bound = BOUNDS[name]
    s = Scenario.of(clients=5, cohort=5, local_steps=2, rounds=900, step_size=0.01, smoothness=2.5, initial_gap=1.3,
                    strong_convexity=0.3, optimum_dissimilarity=0.7, gradient_variance=0.9, grad_cap_sq=2.3,
                    initial_loss=2.2)  # fmt: skip
    sizes = np.array([1e-4, 3e-3, 0.02])
    along = chosen_values(s, bound, {"step_size": sizes})
    for i, size in enumerate(sizes):
        for word, value in s.at(step_size=float(size)).values(bound).items():
            if word not in ("squared_step_sizes", "summed_step_sizes"):
                found = along[word]
                assert (found[i] if np.shape(found) == (3,) else found) == pytest.approx(value, rel=1e-9)
