"""Where each quantity gets its value in a run: one row per quantity.

A row says what determines the quantity (the problem, the plan or the run), how often a run has a value of it, and
from which other quantity it is computed. The meaning of quantities and the identities between them are in ``bounds``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bounds.assumptions import FULL_PARTICIPATION, ONE_CLIENT
from bounds.core import Bound
from bounds.places import VIRTUAL
from empirics.measuring import MEASUREMENTS

PROBLEM, PLAN, PROOF, RUN = "problem", "plan", "proof", "run"
"""What determines a quantity: the federation, the plan, a proof with free constants, or the run."""
STATE, ROUND, ITERATION = "state", "round", "iteration"
"""What a run has one value for: each state of the server model (before the first round and after every round), each
round, or each local iteration of all clients."""

RUNS, EXACT, QUADRATICS, CURVES, ATOMS, WORST = "runs", "exact", "quadratics", "curves", "atoms", "worst cases"
"""Kinds of evidence: training, exact moments of training on quadratics, the three families of instances that the
falsifier searches, and worst cases by semidefinite programs."""
ENDS, AVERAGE = "ends of steps", "average"
"""Special values of ``how``. ENDS: the mean over the models after each local step (all clients take part, so the model
at the end of a round is the server's). AVERAGE: the value at the unweighted mean of the models before each step."""
SEARCHED = (QUADRATICS, CURVES)
MOMENTS = (EXACT, *SEARCHED)
LOCAL_SGD = (RUNS, *MOMENTS, WORST)
EVERY = (*LOCAL_SGD, ATOMS)


@dataclass(frozen=True)
class Origin:
    """Where one quantity gets its value.

    ``problem``, ``plan``, ``proof`` and ``run`` list the kinds of evidence in which that determines the quantity.
    ``target`` lists those that measure it as the target of a bound (None: the same as ``run``), ``iterated`` those that
    measure it at every local iteration, at the average of all clients. A run has a value per state, round or iteration
    (``per``), or computes it from another quantity (``of``) by a key of ``statistics.COMBINE`` (``how``).
    """

    name: str
    problem: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    proof: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    per: str = ""
    of: str = ""
    how: str = ""
    target: tuple[str, ...] | None = None
    iterated: tuple[str, ...] = ()

    def origin(self, evidence: str) -> str:
        """What determines the quantity in this kind of evidence; empty if nothing does."""
        return next((name for name in (PROBLEM, PLAN, PROOF, RUN) if evidence in getattr(self, name)), "")


def _table(*rows: Origin) -> dict[str, Origin]:
    table = {row.name: row for row in rows}
    if len(table) < len(rows):
        raise ValueError("a quantity has two rows")
    return table


ORIGINS = _table(
    # ---- of the federation ----
    Origin("clients", problem=EVERY),
    Origin("client_weight", problem=EVERY),
    Origin("smoothness", problem=EVERY),
    Origin("strong_convexity", problem=EVERY),
    Origin("client_gradient_variance", problem=EVERY),
    Origin("pl_constant", problem=LOCAL_SGD),
    Origin("gradient_variance", problem=LOCAL_SGD),
    Origin("dissimilarity_offset", problem=LOCAL_SGD),
    Origin("dissimilarity_factor", problem=LOCAL_SGD),
    Origin("optimal_loss", problem=LOCAL_SGD),
    Origin("initial_loss", problem=LOCAL_SGD),
    Origin("current_loss", problem=LOCAL_SGD),
    Origin("initial_gap", problem=LOCAL_SGD),
    Origin("heterogeneity", problem=(RUNS, EXACT, QUADRATICS, WORST)),
    Origin("initial_distance_sq", problem=LOCAL_SGD),
    Origin("condition_number", problem=LOCAL_SGD),
    Origin("optimum_dissimilarity", problem=LOCAL_SGD),
    Origin("control_error", problem=(RUNS, EXACT, QUADRATICS, WORST)),
    Origin("uniform_dissimilarity", problem=(*MOMENTS, WORST)),
    Origin("alignment", problem=LOCAL_SGD),
    Origin("gradient_norm_factor", problem=LOCAL_SGD),
    Origin("variance_growth", problem=LOCAL_SGD),
    Origin("lipschitz", problem=(RUNS,)),
    Origin("loss_cap", problem=(RUNS,)),
    Origin("parameters", problem=(RUNS,)),
    Origin("model_size", problem=(RUNS,)),
    Origin("complexity", problem=(RUNS,)),
    # ---- of the plan ----
    Origin("cohort", plan=EVERY),
    Origin("local_steps", plan=LOCAL_SGD),
    Origin("rounds", plan=LOCAL_SGD),
    Origin("iterations", plan=LOCAL_SGD),
    Origin("steps_cubed_ratio", plan=LOCAL_SGD),
    Origin("step_size", plan=LOCAL_SGD),
    Origin("server_step_size", plan=LOCAL_SGD),
    Origin("step_size_scale", plan=LOCAL_SGD),
    Origin("step_offset", plan=LOCAL_SGD),
    Origin("relaxation", plan=LOCAL_SGD),
    Origin("contraction", proof=LOCAL_SGD),
    Origin("squared_step_sizes", plan=(*SEARCHED, WORST)),
    Origin("summed_step_sizes", plan=(RUNS,)),
    Origin("untouched_steps", plan=(RUNS,)),
    Origin("takes_part", plan=(WORST,)),
    Origin("samples", plan=(RUNS, ATOMS)),
    Origin("samples_per_round", plan=(RUNS,)),
    Origin("download_rate", plan=(RUNS,)),
    Origin("upload_rate", plan=(RUNS,)),
    Origin("minibatch_time", plan=(RUNS,)),
    # ---- of a run, at every server model ----
    Origin("grad_norm_sq", plan=(WORST,), run=MOMENTS, per=STATE, target=(*MOMENTS, WORST),
         iterated=(RUNS, *MOMENTS, WORST)),
    Origin("optimality_gap", run=MOMENTS, per=STATE, target=(*MOMENTS, WORST), iterated=LOCAL_SGD),
    Origin("distance_sq", plan=(WORST,), run=(EXACT,), per=STATE, target=(*MOMENTS, WORST), iterated=LOCAL_SGD),
    Origin("mean_gap", per=STATE, of="optimality_gap", how=ENDS, target=LOCAL_SGD, iterated=LOCAL_SGD),
    Origin("average_gap", per=STATE, of="optimality_gap", how=AVERAGE, target=LOCAL_SGD, iterated=LOCAL_SGD),
    Origin("client_grad_norm_sq", run=SEARCHED, per=STATE),
    Origin("mean_client_grad_sq", run=SEARCHED, per=STATE),
    Origin("divergence", plan=(WORST,), run=MOMENTS, per=STATE, target=(*MOMENTS, WORST)),
    # ---- of a run, in every round ----
    Origin("local_drift", run=MOMENTS, per=ROUND, target=(*MOMENTS, WORST)),
    Origin("global_step", run=MOMENTS, per=ROUND, target=(*MOMENTS, WORST)),
    Origin("active_divergence", run=MOMENTS, per=ROUND, target=SEARCHED),
    Origin("summed_consensus", run=(EXACT,), per=ROUND),
    Origin("summed_gap", run=(EXACT,), per=ROUND),
    Origin("round_gap", run=(EXACT,), per=ROUND),
    Origin("round_end_distance_sq", run=(EXACT,), per=ROUND),
    Origin("consensus_distance", per=ROUND, target=(WORST,), iterated=(EXACT, WORST)),
    Origin("loss_change", run=(RUNS, *MOMENTS), per=ROUND, of="train_loss", how="change",
         target=(RUNS, *MOMENTS, WORST)),
    Origin("summed_grad_norm_sq", run=MOMENTS, per=ROUND),
    Origin("mean_path_gradient_sq", run=SEARCHED, per=ROUND),
    Origin("gradient_drift", run=SEARCHED, per=ROUND),
    Origin("mean_gradient_drift", run=SEARCHED, per=ROUND, target=(*SEARCHED, WORST)),
    Origin("step_alignment", run=SEARCHED, per=ROUND),
    Origin("mean_update_sq", run=SEARCHED, per=ROUND),
    # ---- computed from another quantity ----
    Origin("grad_cap_sq", problem=(RUNS,), plan=(WORST,), run=MOMENTS, of="grad_cap_sq", how="largest", target=()),
    Origin("loss_decrease", run=(RUNS, *SEARCHED), of="train_loss", how="decrease"),
    Origin("mean_grad_norm_sq", run=(RUNS, *MOMENTS), of="grad_norm_sq", how="mean", target=(RUNS, *MOMENTS, WORST)),
    Origin("next_divergence", run=(RUNS, *MOMENTS), of="divergence", how="next", target=(RUNS, *MOMENTS, WORST)),
    Origin("mean_divergence", run=(RUNS, *MOMENTS), of="divergence", how="mean", target=(RUNS, *MOMENTS, WORST)),
    Origin("final_divergence", plan=(WORST,), run=(RUNS, *MOMENTS), of="divergence", how="end",
         target=(RUNS, *MOMENTS, WORST)),
    Origin("initial_divergence", plan=(WORST,), run=(RUNS, *MOMENTS), of="divergence", how="first",
         target=(RUNS,)),
    Origin("next_distance_sq", of="distance_sq", how="next", iterated=(*MOMENTS, WORST)),
    Origin("weighted_grad_norm_sq", per=ROUND, of="grad_norm_sq", how="weighted", target=(WORST,),
         iterated=(*SEARCHED, WORST)),
    Origin("summed_divergence_root", run=(RUNS,), of="divergence", how="roots", target=()),
    # ---- of pairs of runs ----
    Origin("stability", run=(RUNS,), per=ROUND),
    Origin("separation", run=(RUNS,), per=ROUND),
    Origin("swap_gap", run=(RUNS,), per=ROUND, target=()),
    # ---- of one round of learning on every data set ----
    Origin("generalization_gap", run=(ATOMS,)),
    Origin("out_of_sample_gap", run=(ATOMS,)),
    Origin("participation_gap", run=(ATOMS,)),
    Origin("local_gap", run=(ATOMS,)),
    Origin("non_iidness", run=(ATOMS,)),
    Origin("local_suboptimality", run=(ATOMS,), target=()),
    Origin("client_distance_sq", run=(ATOMS,), target=()),
)  # fmt: skip
"""The rows by name. Training also measures every quantity in ``MEASUREMENTS``, with or without a row here."""


def origin(quantity: str, evidence: str) -> str:
    """What determines a quantity on the right side of a bound in this kind of evidence; empty if nothing does."""
    listed = ORIGINS[quantity].origin(evidence) if quantity in ORIGINS else ""
    return listed or (RUN if evidence == RUNS and quantity in MEASUREMENTS else "")


@cache
def quantities_from(source: str, evidence: str) -> tuple[str, ...]:
    """The quantities that a source (``problem``, ``plan``, ...) determines in this kind of evidence."""
    return tuple(name for name, row in ORIGINS.items() if row.origin(evidence) == source)


def free_constants(bound: Bound) -> tuple[str, ...]:
    """The quantities of a bound that are free constants of its proof."""
    return tuple(q.name for q in bound.quantities if q.name in ORIGINS and ORIGINS[q.name].proof)


def on_local_iterations(bound: Bound) -> bool:
    """Whether a bound is on local iterations: on the average of all clients' models before every local step."""
    at = bound.statistic
    if at is None or (at.kind, at.over) == ("every", "rounds"):
        return False
    # With full participation a run ends with the average of all models at the server.
    everyone = any(c.assumption in (FULL_PARTICIPATION, ONE_CLIENT) for c in bound.conditions)
    if at.kind == "last" and (at.at != VIRTUAL or everyone):
        return False
    return at.over == "iterations" or at.at == VIRTUAL


def measurable(quantity: str, evidence: str, iterated: bool) -> bool:
    """Whether this kind of evidence measures a quantity as a target; ``iterated``: at every local iteration."""
    row = ORIGINS.get(quantity)
    if iterated:
        return row is not None and evidence in row.iterated
    if evidence == RUNS and quantity in MEASUREMENTS:
        return True
    return row is not None and evidence in (row.run if row.target is None else row.target)
