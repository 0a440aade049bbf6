"""FedCOG, Algorithm 1 and the remarks on it: its lines, its messages, and the data that the theory shares."""

from __future__ import annotations

from bounds.fedcog.letters import F_k, L_kd, lambda_kd

from ..checkers import All, Same
from ..claim import Claim, Defect, Kind, Repair
from . import listing
from .listing import LABELS

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fedcog.algorithm.training",
        "Lines 6 to 10: local steps on task plus weighted distillation loss from the server model, then the weighted "
        "average. The engine does the same, and without weight on the distillation FedAvg.",
        Kind.ALGORITHM.at("Algorithm 1, lines 6 to 10, and eq. (3)"),
        {
            "engine": listing.lines_6_to_10,
            "no weight": listing.off_switch,
            "(3)": Same("fedcog.local_objective", F_k + lambda_kd * L_kd),
        },
    ),
    Claim(
        "fedcog.algorithm.one_step",
        "With one local step and the weight of (3) it is FedAvg, whatever is generated: the first step starts at the "
        "teacher.",
        Kind.REMARK.at("Algorithm 1, lines 6 and 8, derived"),
        listing.one_step,
        note="What distillation changes it changes from the second local step of a round on. With the weights of A.2.2 "
        "the first step differs too, fedcog.weights.objective.",
        ours=True,
    ),
    Claim(
        "fedcog.algorithm.first_round",
        "Every model that a line of the listing reads was made before.",
        Kind.ALGORITHM.at("Algorithm 1, line 5"),
        listing.first_round,
        note="In round 0 no client has a model of the round before. The experiments begin "
        "after rounds of FedAvg; with few participants most clients of a round have no model of the last one, which is "
        "left open as well.",
        defect=Defect.GAP,
        ours=True,
    ),
    Claim(
        "fedcog.algorithm.indices",
        "The clients that are averaged are those that were trained.",
        Kind.ALGORITHM.at("Algorithm 1, lines 4 and 10"),
        lambda book: listing.indices(1, len(LABELS)),
        note="The loop counts from 0 to K - 1, the sum from 1 to K.",
        repair=Repair("both from 0 to K - 1", lambda book: listing.indices(0, len(LABELS) - 1)),
        defect=Defect.SLIP,
    ),
    Claim(
        "fedcog.messages",
        "As listed, a client gets and sends one model a round, as FedAvg's clients do and SCAFFOLD's with two, and the "
        "server needs the weighted sum of the models alone, as secure aggregation does.",
        Kind.ALGORITHM.at("Section 4.3, Section 6.1 and Algorithm 1, lines 3, 9 and 10"),
        listing.messages,
        note="Of the listing and the engine that follows it; what the released code sends was not watched.",
    ),
    Claim(
        "fedcog.plug_in",
        "FedAvg, FedAvgM, FedProx and SCAFFOLD can be combined with it by changing local objectives alone.",
        Kind.ALGORITHM.at("Section 4.3"),
        listing.plugged_in,
        note="The rule of combination is not stated; here the method's own step, correction and messages stay. MOON, "
        "the fifth method of Table 3, was not tried.",
    ),
    Claim(
        "fedcog.shared_data",
        "All clients have the same generated data if they use the global model alone and one seed.",
        Kind.ASSUMPTION.at("Section 5, text before eq. (4)"),
        All(
            {
                "uniform labels": lambda book: listing.generated("uniform", 0.0, shared=True),
                "complementary labels": lambda book: listing.generated("complementary", 0.0, shared=True),
            },
            wrong=("complementary labels",),
        ),
        note="The text leaves the labels out: with the uniform ones of Section 4.1 it is right, with the complementary "
        "ones of A.1.1, which the released code uses, it is not.",
        defect=Defect.READING,
    ),
    Claim(
        "fedcog.shared_data.experiments",
        "The experiments share generated data as the theory supposes.",
        Kind.SETTING.at("Section 5 and Section 6.1"),
        lambda book: listing.generated("uniform", 0.1, shared=False),
        note="The text supposes it for simplicity. The default weight of the disagreement is 0.1, and every "
        "client disagrees with its own model. The lemma and the steps of the proof would also serve data of each "
        "client's own.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
)
