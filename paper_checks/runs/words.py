"""The sources of quantities in a run, one row each: what determines it, per what, and from which other quantity.

The meaning of quantities, and the identities between them, are in ``bounds``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bounds.assumptions import FULL_PARTICIPATION, ONE_CLIENT
from bounds.core import Bound
from empirics.measuring import MEASUREMENTS

PROBLEM, PLAN, PROOF, RUN = "problem", "plan", "proof", "run"
"""What determines a quantity: the federation, the plan, a proof whose constants are free, or the run."""
STATE, ROUND, ITERATION = "state", "round", "iteration"
"""Per what a run has a value: the server model before the first round and after every one, a round, a local iteration
of all clients."""

RUNS, EXACT, QUADRATICS, CURVES, ATOMS, WORST = "runs", "exact", "quadratics", "curves", "atoms", "worst cases"
"""Kinds of evidence: training, exact moments of training on quadratics, the falsifier's three families of instances,
semidefinite programs."""
ENDS, AVERAGE = "ends of steps", "average"
"""Quantities with a statistic of their own: the mean over the models after each local step (at the server model where a
round ends: all clients take part), and a reading at the unweighted mean of the models before each of them."""
SEARCHED = (QUADRATICS, CURVES)
MOMENTS = (EXACT, *SEARCHED)
LOCAL_SGD = (RUNS, *MOMENTS, WORST)
EVERY = (*LOCAL_SGD, ATOMS)


@dataclass(frozen=True)
class Word:
    """One row. ``problem``, ``plan``, ``proof`` and ``run`` list the kinds of evidence in which that determines it.

    ``per``: per what a run has a value; ``of`` and ``how``: the quantity it is computed from, by a key of
    ``statistics.MADE``. ``target`` lists the evidence that measures it as a target (where that is not ``run``),
    ``along`` the evidence that measures it at every local iteration, at the average of all clients.
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
    along: tuple[str, ...] = ()

    def giver(self, evidence: str) -> str:
        """What determines the quantity in this kind of evidence; empty if nothing does."""
        return next((who for who in (PROBLEM, PLAN, PROOF, RUN) if evidence in getattr(self, who)), "")


def _table(*rows: Word) -> dict[str, Word]:
    found = {row.name: row for row in rows}
    if len(found) < len(rows):
        raise ValueError("a quantity has two rows")
    return found


WORDS = _table(
    # ---- the federation's ----
    Word("clients", problem=EVERY),
    Word("client_weight", problem=EVERY),
    Word("smoothness", problem=EVERY),
    Word("strong_convexity", problem=EVERY),
    Word("client_gradient_variance", problem=EVERY),
    Word("pl_constant", problem=LOCAL_SGD),
    Word("gradient_variance", problem=LOCAL_SGD),
    Word("dissimilarity_offset", problem=LOCAL_SGD),
    Word("dissimilarity_factor", problem=LOCAL_SGD),
    Word("optimal_loss", problem=LOCAL_SGD),
    Word("initial_loss", problem=LOCAL_SGD),
    Word("current_loss", problem=LOCAL_SGD),
    Word("initial_gap", problem=LOCAL_SGD),
    Word("heterogeneity", problem=(RUNS, EXACT, QUADRATICS, WORST)),
    Word("initial_distance_sq", problem=LOCAL_SGD),
    Word("condition_number", problem=LOCAL_SGD),
    Word("optimum_dissimilarity", problem=LOCAL_SGD),
    Word("control_error", problem=(RUNS, EXACT, QUADRATICS, WORST)),
    Word("uniform_dissimilarity", problem=(*MOMENTS, WORST)),
    Word("alignment", problem=LOCAL_SGD),
    Word("gradient_norm_factor", problem=LOCAL_SGD),
    Word("variance_growth", problem=LOCAL_SGD),
    Word("lipschitz", problem=(RUNS,)),
    Word("loss_cap", problem=(RUNS,)),
    Word("parameters", problem=(RUNS,)),
    Word("model_size", problem=(RUNS,)),
    Word("complexity", problem=(RUNS,)),
    # ---- the plan's ----
    Word("cohort", plan=EVERY),
    Word("local_steps", plan=LOCAL_SGD),
    Word("rounds", plan=LOCAL_SGD),
    Word("iterations", plan=LOCAL_SGD),
    Word("steps_cubed_ratio", plan=LOCAL_SGD),
    Word("step_size", plan=LOCAL_SGD),
    Word("server_step_size", plan=LOCAL_SGD),
    Word("step_size_scale", plan=LOCAL_SGD),
    Word("step_offset", plan=LOCAL_SGD),
    Word("relaxation", plan=LOCAL_SGD),
    Word("contraction", proof=LOCAL_SGD),
    Word("squared_step_sizes", plan=(*SEARCHED, WORST)),
    Word("summed_step_sizes", plan=(RUNS,)),
    Word("untouched_steps", plan=(RUNS,)),
    Word("takes_part", plan=(WORST,)),
    Word("samples", plan=(RUNS, ATOMS)),
    Word("samples_per_round", plan=(RUNS,)),
    Word("download_rate", plan=(RUNS,)),
    Word("upload_rate", plan=(RUNS,)),
    Word("minibatch_time", plan=(RUNS,)),
    # ---- the run's, at every server model ----
    Word("grad_norm_sq", plan=(WORST,), run=MOMENTS, per=STATE, target=(*MOMENTS, WORST),
         along=(RUNS, *MOMENTS, WORST)),
    Word("optimality_gap", run=MOMENTS, per=STATE, target=(*MOMENTS, WORST), along=LOCAL_SGD),
    Word("distance_sq", plan=(WORST,), run=(EXACT,), per=STATE, target=(*MOMENTS, WORST), along=LOCAL_SGD),
    Word("mean_gap", per=STATE, of="optimality_gap", how=ENDS, target=LOCAL_SGD, along=LOCAL_SGD),
    Word("average_gap", per=STATE, of="optimality_gap", how=AVERAGE, target=LOCAL_SGD, along=LOCAL_SGD),
    Word("client_grad_norm_sq", run=SEARCHED, per=STATE),
    Word("mean_client_grad_sq", run=SEARCHED, per=STATE),
    Word("divergence", plan=(WORST,), run=MOMENTS, per=STATE, target=(*MOMENTS, WORST)),
    # ---- in every round ----
    Word("local_drift", run=MOMENTS, per=ROUND, target=(*MOMENTS, WORST)),
    Word("global_step", run=MOMENTS, per=ROUND, target=(*MOMENTS, WORST)),
    Word("active_divergence", run=MOMENTS, per=ROUND, target=SEARCHED),
    Word("summed_consensus", run=(EXACT,), per=ROUND),
    Word("summed_gap", run=(EXACT,), per=ROUND),
    Word("round_gap", run=(EXACT,), per=ROUND),
    Word("round_end_distance_sq", run=(EXACT,), per=ROUND),
    Word("consensus_distance", per=ROUND, target=(WORST,), along=(EXACT, WORST)),
    Word("loss_change", run=(RUNS, *MOMENTS), per=ROUND, of="train_loss", how="change",
         target=(RUNS, *MOMENTS, WORST)),
    Word("summed_grad_norm_sq", run=MOMENTS, per=ROUND),
    Word("mean_path_gradient_sq", run=SEARCHED, per=ROUND),
    Word("gradient_drift", run=SEARCHED, per=ROUND),
    Word("mean_gradient_drift", run=SEARCHED, per=ROUND, target=(*SEARCHED, WORST)),
    Word("step_alignment", run=SEARCHED, per=ROUND),
    Word("mean_update_sq", run=SEARCHED, per=ROUND),
    # ---- computed from another quantity ----
    Word("grad_cap_sq", problem=(RUNS,), plan=(WORST,), run=MOMENTS, of="grad_cap_sq", how="largest", target=()),
    Word("loss_decrease", run=(RUNS, *SEARCHED), of="train_loss", how="decrease"),
    Word("mean_grad_norm_sq", run=(RUNS, *MOMENTS), of="grad_norm_sq", how="mean", target=(RUNS, *MOMENTS, WORST)),
    Word("next_divergence", run=(RUNS, *MOMENTS), of="divergence", how="next", target=(RUNS, *MOMENTS, WORST)),
    Word("mean_divergence", run=(RUNS, *MOMENTS), of="divergence", how="mean", target=(RUNS, *MOMENTS, WORST)),
    Word("final_divergence", plan=(WORST,), run=(RUNS, *MOMENTS), of="divergence", how="end",
         target=(RUNS, *MOMENTS, WORST)),
    Word("initial_divergence", plan=(WORST,), run=(RUNS, *MOMENTS), of="divergence", how="first",
         target=(RUNS,)),
    Word("next_distance_sq", of="distance_sq", how="next", along=(*MOMENTS, WORST)),
    Word("weighted_grad_norm_sq", per=ROUND, of="grad_norm_sq", how="weighted", target=(WORST,),
         along=(*SEARCHED, WORST)),
    Word("summed_divergence_root", run=(RUNS,), of="divergence", how="roots", target=()),
    # ---- of pairs of runs ----
    Word("stability", run=(RUNS,), per=ROUND),
    Word("separation", run=(RUNS,), per=ROUND),
    Word("swap_gap", run=(RUNS,), per=ROUND, target=()),
    # ---- of one round of learning on every data set ----
    Word("generalization_gap", run=(ATOMS,)),
    Word("out_of_sample_gap", run=(ATOMS,)),
    Word("participation_gap", run=(ATOMS,)),
    Word("local_gap", run=(ATOMS,)),
    Word("non_iidness", run=(ATOMS,)),
    Word("local_suboptimality", run=(ATOMS,), target=()),
    Word("client_distance_sq", run=(ATOMS,), target=()),
)  # fmt: skip
"""Training also measures all of ``MEASUREMENTS``."""


def giver(word: str, evidence: str) -> str:
    """What determines a quantity beside a bound's target in this kind of evidence; empty if nothing does."""
    found = WORDS[word].giver(evidence) if word in WORDS else ""
    return found or (RUN if evidence == RUNS and word in MEASUREMENTS else "")


@cache
def given_by(who: str, evidence: str) -> tuple[str, ...]:
    """The quantities that this (``problem``, ``plan``, ...) determines in this kind of evidence."""
    return tuple(name for name, word in WORDS.items() if word.giver(evidence) == who)


def free(bound: Bound) -> tuple[str, ...]:
    """The quantities of a bound that are constants of its proof: they may be chosen freely."""
    return tuple(q.name for q in bound.quantities if q.name in WORDS and WORDS[q.name].proof)


def along(bound: Bound) -> bool:
    """Whether the statement is on local iterations: at the average of all clients, before every local step.

    A statement on every round has one number per round, at any models.
    """
    at = bound.statistic
    if at is None or (at.kind, at.over) == ("every", "rounds"):
        return False
    # Where all clients take part, a run ends with the average of their models at the server.
    everyone = any(c.assumption in (FULL_PARTICIPATION, ONE_CLIENT) for c in bound.conditions)
    if at.kind == "last" and ("virtual" not in at.at or everyone):
        return False
    return at.over == ITERATION + "s" or "virtual" in at.at


def readable(word: str, evidence: str, iterated: bool) -> bool:
    """Whether this kind of evidence measures a quantity as a target; ``iterated``: at every local iteration."""
    row = WORDS.get(word)
    if iterated:
        return row is not None and evidence in row.along
    if evidence == RUNS and word in MEASUREMENTS:
        return True
    return row is not None and evidence in (row.run if row.target is None else row.target)
