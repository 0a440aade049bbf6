"""Attempts to break statements that hold, beyond the ranges in which ``fedbounds falsify`` and the audit search."""

from dataclasses import replace

import numpy as np
from loops import cases

from bounds.catalog import BOUNDS, get
from bounds.core import About
from paper_checks.audit.running import CLAIMS
from paper_checks.comparing.audit_status import AUDIT_STATUS, FAILS
from paper_checks.falsifier.falsify import FAMILIES

QUADRATICS = FAMILIES["quadratics"]
TABLE = {
    "clients": 40, "kinds": 2, "count_0": 20, "count_1": 20, "dim": 1, "with_replacement": 0, "floor": 0.0,
    "local_steps": 3, "rounds": 12, "step_size": 1e-12, "relaxation": 0.0, "dissimilarity_factor": 1.25, "start_0": 3.0,
    "curvature_0_0": 1.0, "curvature_1_0": 1.0, "minimum_0_0": 1.0, "minimum_1_0": -1.0, "noise_0": 1.0, "noise_1": 1.0,
    "weight_0": 1.0, "weight_1": 1.0,
}  # fmt: skip
BEYOND = {
    "ten thousand local steps": {"local_steps": 10**4, "rounds": 1},
    "huge noise": {"noise_0": 1e12, "noise_1": 1e12},
    "minima far apart": {"minimum_0_0": 1e11, "minimum_1_0": -1e11},
}
ALL_TRAIN = [name.removesuffix(".all_train") for name in CLAIMS if name.endswith(".all_train")]
"""Statements of FedInit that hold if all clients train in every round."""
SOUND = [
    *(name for name, status in AUDIT_STATUS.items() if status.verdict != FAILS and name not in ALL_TRAIN),
    *(f"fedcog.{name}" for name in ("mean_update", "descent", "mean_gradient_drift", "descent_with_drift",
                                    "descent_one_round", "gradient_drift", "theorem_sharp")),
    *(f"decaying_k.{name}" for name in ("lemma_1", "lemma_1_sharp", "lemma_2_repaired")),
    "fedinit.theorem_4_recursion_sharp",
]  # fmt: skip


def beyond(name, attempt, cohort):
    """The statement on an instance with step size and relaxation near the largest that its conditions admit."""
    bound, table = BOUNDS[name], {**TABLE, **BEYOND[attempt], "cohort": cohort}
    bound = replace(bound, about=About("fedinit", "proof")) if name in ALL_TRAIN else bound
    shares = {"step_share": 0.7, "relaxation_share": 0.9, "contraction_share": 0.95, "step_offset": 10.0}
    held = QUADRATICS.inside(bound, table, shares, QUADRATICS.federation(table))
    return QUADRATICS.evaluate(bound, held)


def test_runs_with_larger_numbers_than_any_search_has_break_nothing():
    seen = {}
    for name in [*ALL_TRAIN, *SOUND]:
        if not QUADRATICS.refuses(BOUNDS[name]):
            seen |= {(name, a, n): found for a in BEYOND for n in (5, 40) if (found := beyond(name, a, n)).admissible}
    assert [place for place, found in seen.items() if found.violated] == []
    assert {name for name, *_ in seen} >= {*ALL_TRAIN, *SOUND[-11:]}


# ---- one round of FedALS for half squared distances, in closed form ----


def one_round(*groups):
    """The gap and the quantities of the bounds for groups of clients (number, weight of each, mean, variance, share).

    A client's model is ``share`` of the way from 0 to its only sample.
    """
    count, weight, mean, variance, share = np.array(groups, dtype=float).T
    w = weight / (count @ weight)
    centre, around = count @ (w * share * mean), count @ (w**2 * share**2 * variance)
    behind = (1 - share) ** 2 * (mean**2 + variance)
    averaged = (centre - mean) ** 2 + around + (1 - 2 * w * share) * variance
    values = {"client_weight": w, "local_gap": share * variance, "local_suboptimality": behind / 2,
              "non_iidness": np.maximum(averaged - behind, 0) / 2, "client_gradient_variance": variance,
              "samples_per_round": np.ones(len(w))}  # fmt: skip
    values = {name: np.repeat(x, count.astype(int)) for name, x in values.items()}
    values |= {"smoothness": 1.0, "strong_convexity": 1.0, "samples": 1, "complexity": 0.0}
    return count @ (w**2 * share * variance), {**values, "gradient_variance": variance.max()}


MINIMISERS = [
    one_round((10**5, 1, 0.0, 2.0, 1)),
    one_round((1, 0.5, 1.0, 3.0, 1), (10**5 - 1, 0.5 / (10**5 - 1), -2.0, 0.1, 1)),
]
INEXACT = [one_round((10**5, 1, 1e4, 1.0, 0.5)), one_round((1, 0.9, 0.0, 4.0, 1), (10**5, 1e-6, 0.0, 4.0, 0))]


@cases("name", [
    "one_round", "one_round_sharp", "one_round_noise_sharp", "one_round_constants_sharp", "one_round_inexact",
    "one_round_inexact_joined", "one_round_inexact_sharp", "rounds_inexact_printed", "rounds_inexact",
])  # fmt: skip
def test_no_federation_of_many_clients_has_a_larger_gap_in_one_round(name):
    bound = get(f"fedals.{name}")
    for gap, values in INEXACT if "inexact" in name else MINIMISERS:
        assert float(bound(**{q.name: values[q.name] for q in bound.quantities})) >= gap * (1 - 1e-9) - 1e-18
