"""FedCOG, Section 4: the losses (1) to (4), the range of the disagreement, and Lemma 5.5 on the objective (4)."""

from __future__ import annotations

import sympy as sp

from bounds.domains import FRACTION
from bounds.fedcog.letters import js, L_c, L_dis, lambda_dis
from bounds.quantities import quantity
from bounds.vocabulary import next_task_loss

from ..checkers import All, At, EdgeIs, ImpliedBy, MonotoneIn, Refuted, Same
from ..claim import Claim, Defect, Kind, Repair
from . import distilling, outputs

LOWEST = 1 - sp.log(2)
chance = quantity("target_chance", "s", "the chance that the local model gives to the target", domain=FRACTION)
SURE = (sp.log(2 / (1 + chance)) + chance * sp.log(2 * chance / (1 + chance)) + (1 - chance) * sp.log(2)) / 2
"""(2)'s divergence of outputs of which the one is sure of the target: the target, and all other classes together."""
OF_SURE = sp.log(2) - ((1 + chance) * sp.log(1 + chance) - chance * sp.log(chance)) / 2

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fedcog.eq_1",
        "The generation loss, which the training engine minimises over the inputs, is the mean over the generated "
        "samples of cross-entropy plus weighted disagreement.",
        Kind.DEFINITION.at("eq. (1) and Algorithm 1, line 5"),
        {
            "formula": outputs.generation_loss,
            "engine": outputs.engine_loss,
            "disagreement at least": EdgeIs("fedcog.generation_loss", L_dis, LOWEST, below=False),
            "disagreement at most": EdgeIs("fedcog.generation_loss", L_dis, sp.S.One),
        },
        damaged="printed without a bracket after the sum; read with both terms inside the mean",
    ),
    Claim(
        "fedcog.eq_1.least",
        "For lambda_dis > 0 and over all outputs (1) is smallest where the global model is sure of the target and the "
        "local model gives it no chance, and only there.",
        Kind.REMARK.at("Section 4.1, text after eq. (2)"),
        {
            "never lower": ImpliedBy(
                lambda_dis * LOWEST,
                "fedcog.generation_loss",
                under=("fedcog.generation_loss",),
                squares=(L_c, lambda_dis * (L_dis - LOWEST)),
            ),
            "a sure global model": Same(SURE, OF_SURE),
            "it falls in that chance": Same(sp.diff(OF_SURE, chance), -sp.log(1 + 1 / chance) / 2),
            "strictly": ImpliedBy(0, sp.log(1 + 1 / chance) / 2),
        },
        note="Of outputs: no finite input reaches them, fedcog.eq_1.minimum.",
        ours=True,
    ),
    Claim(
        "fedcog.eq_1.minimum",
        "The minimum over the inputs in (1), which defines the generated data, is attained.",
        Kind.DEFINITION.at("eq. (1)"),
        outputs.falls_for_ever,
        note="A softmax is never sure, so that every input is above the smallest value, fedcog.eq_1.least, and inputs "
        "far out come as near to it as one likes. With inputs from a bounded set, such as pixel values, a minimum is "
        "attained; the text lets them be any numbers. What is generated depends on start, optimiser and the 100 steps.",
        defect=Defect.READING,
        ours=True,
    ),
    Claim(
        "fedcog.eq_2",
        "The disagreement loss is one minus half the two divergences to the mean output: it falls as the models "
        "disagree, from 1 to 1 - ln 2 where they share no class.",
        Kind.DEFINITION.at("eq. (2) and the text after it"),
        {
            "formula": Same("fedcog.disagreement_loss", 1 - js),
            "on outputs": outputs.disagreement,
            "falls": MonotoneIn("fedcog.disagreement_loss", js, up=False),
            "largest": Same("fedcog.disagreement_upper", At("fedcog.disagreement_loss", {js: 0})),
            "smallest": Same("fedcog.disagreement_lower", At("fedcog.disagreement_loss", {js: sp.log(2)})),
            "the divergence ends there": EdgeIs("fedcog.disagreement_loss", js, sp.log(2)),
            "ends on outputs": outputs.divergence_range,
        },
        note="The name misleads: it is a loss on agreement. With natural logarithms, as the released code has them.",
    ),
    Claim(
        "fedcog.eq_2.zero",
        "Complete disagreement makes the disagreement loss zero, as 'one minus a divergence' suggests.",
        Kind.REMARK.at("eq. (2)"),
        All(
            {
                "natural logarithm": Same(LOWEST, 0),
                "logarithm to base 2": outputs.disjoint_in_bits,
            },
            wrong=("natural logarithm",),
        ),
        note="The base is not stated. The released code takes natural logarithms: a floor of 0.307 stays in the loss, "
        "and the weight of the disagreement is 0.69 of what base 2 would give.",
        defect=Defect.READING,
    ),
    Claim(
        "fedcog.eq_3.reuse",
        "The global model's outputs on the generated data are left over from the generation: none are computed again.",
        Kind.REMARK.at("Section 4.2, text after eq. (3)"),
        All(
            {
                "the inputs after the last update": outputs.stale_teacher,
                "the inputs last evaluated": outputs.fresh_teacher,
            },
            wrong=("the inputs after the last update",),
        ),
        note="The last update moves the inputs after their last evaluation. One more pass, or keeping the inputs from "
        "before it, makes the sentence true; which is done is not stated.",
        defect=Defect.READING,
    ),
    Claim(
        "fedcog.eq_4",
        "The objective (4) depends on the model and on the generated data alone.",
        Kind.DEFINITION.at("eq. (4) = (8)"),
        distilling.data_alone,
        note="The teacher, which (10) and (11) show, and the weight of the distillation are left out.",
        defect=Defect.SLIP,
    ),
    Claim(
        "fedcog.eq_10",
        "(10) and (11) write out the distillation loss of (3).",
        Kind.PROOF.at("eq. (10) to (11)"),
        distilling.argument_order,
        note="The student stands first there, the teacher in (3), and the weight is missing. Nothing depends on it.",
        repair=Repair(
            "either order is zero where the models agree and positive elsewhere: all that the lemma uses",
            distilling.either_order_serves,
        ),
        defect=Defect.SLIP,
    ),
    Claim(
        "fedcog.lemma_5_5",
        "A new round's data and teacher never raise the objective at the model that opens the round; (58) uses it.",
        Kind.THEOREM.at("Lemma 5.5 = A.5, eq. (9) = (12), and eq. (58)"),
        {
            "the old objective": distilling.lemma_value,
            "the new one": distilling.lemma_instance,
            "in general": ImpliedBy(next_task_loss, "fedcog.lemma_5_5"),
            "with the old teacher it may": Refuted(distilling.fixed_teacher),
        },
        note="With the teacher of (10) and (11), the server model that opens the round: its distillation loss is then "
        "0 and can only have fallen. New data alone, which is all that (4) shows to change, can raise the objective. "
        "It needs no shared data.",
    ),
)
