"""FedCOG, Section 4: the losses (1) to (4), the range of the disagreement, and Lemma 5.5 on the objective (4)."""

from __future__ import annotations

import sympy as sp

from bounds.vocabulary import (
    disagreement_loss as L_dis,
    distillation_loss as L_kd,
    distillation_weight as lambda_kd,
    jensen_shannon as js,
    local_task_loss as F_k,
)

from ..checkers import At, Computed, EdgeIs, MonotoneIn, Readings, Refuted, Same
from ..claim import Claim, Kind, Repair, Status
from . import distilling, outputs

LOWEST = 1 - sp.log(2)

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fedcog.eq_1",
        "The generation loss is the mean over the generated samples of cross-entropy plus weighted disagreement.",
        Kind.DEFINITION.at("eq. (1)"),
        Computed("evaluates it sample by sample", outputs.generation_loss),
        damaged="printed without a bracket after the sum; read with both terms inside the mean",
    ),
    Claim(
        "fedcog.eq_1.engine",
        "What the training engine minimises over the inputs is (1).",
        Kind.ALGORITHM.at("eq. (1) and Algorithm 1, line 5"),
        Computed("the engine's loss against a plain loop", outputs.engine_loss),
    ),
    Claim(
        "fedcog.eq_1.least",
        "(1) is smallest where the global model is sure of the target and the local model gives it no chance.",
        Kind.REMARK.at("Section 4.1, text after eq. (2)"),
        Computed("goes through a grid of pairs of outputs", outputs.least_generation_loss),
        note="Over all outputs; which of them inputs can reach depends on the networks.",
    ),
    Claim(
        "fedcog.eq_2",
        "The disagreement loss is one minus half the two divergences to the mean output.",
        Kind.DEFINITION.at("eq. (2)"),
        {
            "formula": Same("fedcog.disagreement_loss", 1 - js),
            "on outputs": Computed("evaluates it class by class", outputs.disagreement),
        },
    ),
    Claim(
        "fedcog.eq_2.falls",
        "The more the models disagree, the smaller the disagreement loss.",
        Kind.REMARK.at("Section 4.1, text after eq. (2)"),
        MonotoneIn("fedcog.disagreement_loss", js, up=False),
        note="The name misleads: it is a loss on agreement.",
    ),
    Claim(
        "fedcog.eq_2.highest",
        "It is largest, 1, where the outputs agree.",
        Kind.DEFINITION.at("range of eq. (2), derived"),
        Same("fedcog.disagreement_upper", At("fedcog.disagreement_loss", {js: 0})),
    ),
    Claim(
        "fedcog.eq_2.lowest",
        "It is smallest where the outputs share no class; with natural logarithms that is 1 - ln 2.",
        Kind.DEFINITION.at("range of eq. (2), derived"),
        {
            "value": Same("fedcog.disagreement_lower", At("fedcog.disagreement_loss", {js: sp.log(2)})),
            "the divergence ends there": EdgeIs("fedcog.disagreement_loss", js, sp.log(2)),
            "on outputs": Computed("random and disjoint outputs", outputs.divergence_range),
        },
    ),
    Claim(
        "fedcog.eq_2.zero",
        "Complete disagreement makes the disagreement loss zero, as 'one minus a divergence' suggests.",
        Kind.REMARK.at("eq. (2)"),
        Readings(
            {
                "natural logarithm": Same(LOWEST, 0),
                "logarithm to base 2": Computed("disjoint outputs in bits", outputs.disjoint_in_bits),
            }
        ),
        known=Status.OPEN,
        note="The base is not stated. The released code takes natural logarithms: a floor of 0.307 stays in the loss, "
        "and the weight of the disagreement is 0.69 of what base 2 would give.",
    ),
    Claim(
        "fedcog.eq_1.range",
        "In (1) a disagreement loss lies between 1 - ln 2 and 1.",
        Kind.DEFINITION.at("eq. (1) with the range of eq. (2)"),
        {
            "below": EdgeIs("fedcog.generation_loss", L_dis, LOWEST, below=False),
            "above": EdgeIs("fedcog.generation_loss", L_dis, sp.S.One),
        },
    ),
    Claim(
        "fedcog.eq_3",
        "A client minimises its task loss plus the weighted divergence from the global model's outputs to its own.",
        Kind.DEFINITION.at("eq. (3)"),
        Same("fedcog.local_objective", F_k + lambda_kd * L_kd),
    ),
    Claim(
        "fedcog.eq_3.reuse",
        "The global model's outputs on the generated data are left over from the generation: none are computed again.",
        Kind.REMARK.at("Section 4.2, text after eq. (3)"),
        Readings(
            {
                "the inputs after the last update": Computed("outputs before and after it", outputs.stale_teacher),
                "the inputs last evaluated": Computed("outputs there", outputs.fresh_teacher),
            }
        ),
        known=Status.OPEN,
        note="The last update moves the inputs after their last evaluation. One more pass, or keeping the inputs from "
        "before it, makes the sentence true; which is done is not stated.",
    ),
    Claim(
        "fedcog.eq_4",
        "The objective (4) depends on the model and on the generated data alone.",
        Kind.DEFINITION.at("eq. (4) = (8)"),
        Computed("one model and one data set, two teachers", distilling.data_alone),
        known=Status.FAILS,
        note="A slip of notation: the teacher, which (10) and (11) show, and the weight of the distillation are left "
        "out.",
    ),
    Claim(
        "fedcog.eq_10",
        "(10) and (11) write out the distillation loss of (3).",
        Kind.PROOF.at("eq. (10) to (11)"),
        Computed("the two orders of the arguments on one instance", distilling.argument_order),
        known=Status.FAILS,
        note="A slip: the student stands first there, the teacher in (3), and the weight is missing. Nothing depends "
        "on it.",
        repair=Repair(
            "either order is zero where the models agree and positive elsewhere: all that the lemma uses",
            Computed("both orders", distilling.either_order_serves),
        ),
    ),
    Claim(
        "fedcog.lemma_5_5",
        "A new round's data and teacher never raise the objective at the model that opens the round.",
        Kind.THEOREM.at("Lemma 5.5 = A.5, eq. (9) = (12)"),
        {
            "the old objective": Computed("(11) on an instance", distilling.lemma_value),
            "the new one": Computed("(10) on the instance", distilling.lemma_instance),
        },
        note="With the teacher of (10) and (11): the server model that opens the round. It needs no shared data.",
    ),
    Claim(
        "fedcog.lemma_5_5.of_eq_4",
        "Lemma 5.5 needs that the teacher moves on with the round, as in (10) and (11): new data alone, which is all "
        "that (4) shows to change, can raise the objective.",
        Kind.ASSUMPTION.at("Lemma 5.5 with eq. (4)"),
        Refuted(Computed("one teacher on both sides", distilling.fixed_teacher)),
        note="Ours: the algorithm does move the teacher, so that nothing is wrong with the lemma.",
        about=("fedcog.lemma_5_5",),
    ),
)
