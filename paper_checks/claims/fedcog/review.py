"""What a referee would write of it first."""

from ..review import Review

REVIEW = Review(
    summary=(
        "The convergence theorem's chain of inequalities was followed step by step and stands. Its slips are of the "
        "pen: (19) has the wrong sign before the squared step [fedcog.eq_19], which the next line mends "
        "[fedcog.eq_20], and (65) squares the smoothness where the corollary does not [fedcog.eq_65]. The corollary "
        "repeats no condition, though its step size meets the theorem's only for long runs and it fails for short ones "
        "[fedcog.corollary.rounds].",
        "What the theorem says is less than it may seem. It is FedAvg's, for the loss of the task, without any setting "
        "of generation or distillation [fedcog.theorem.gradient]. It needs batches that are fresh at every step and "
        "independent over the clients [fedcog.theorem.fresh_batches], [fedcog.eq_28], and clients that all take part, "
        "as they do not on FLAIR and in Table 7 [fedcog.theorem.participation]. The published steps are too long for "
        "its conditions [fedcog.theorem.settings], so that it is silent on the experiments "
        "[fedcog.theorem.informative]; for the rounds of Table 3 it never says anything [fedcog.theorem.vacuous]. The "
        "shared generated data, which it supposes for simplicity, are not those of the experiments "
        "[fedcog.shared_data.experiments], but no step of the proof depends on them. That some number of local steps "
        "is best needs clients that differ [fedcog.corollary.best_steps].",
        "The orders that the text reads off its tables hold: FedCOG is best in every setting of Table 1 "
        "[fedcog.table_1.best] and every method gains by it in Table 3 [fedcog.table_3.gains]. Numbers are less sure: "
        "one setting has different numbers in different tables [fedcog.table_4.table_3], [fedcog.default_setting], one "
        "pair of numbers stands for runs of different lengths [fedcog.table_3.rounds], and one gain in percent is "
        "rounded up [fedcog.table_7.gain]. The generated inputs, called small, are more numbers than the models have "
        "parameters [fedcog.inputs_small].",
    ),
    theorems={
        "Theorem 5.6": {
            "all take part, fresh batches": "fedcog.theorem.instances",
            "worst case": "fedcog.theorem.worst_case",
            "one batch kept for a round": "fedcog.theorem.fresh_batches",
            "some take part (FLAIR)": "fedcog.theorem.participation",
            "local momentum 0.9 (released code)": "fedcog.theorem.momentum",
            "the experiments' settings": "fedcog.theorem.settings",
        },
        "Corollary 5.7": {"all take part, fresh batches": "fedcog.corollary.rounds"},
    },
    findings=(
        "fedcog.theorem.fresh_batches",
        "fedcog.theorem.participation",
        "fedcog.theorem.settings",
        "fedcog.corollary.best_steps",
        "fedcog.corollary.rounds",
        "fedcog.theorem.gradient",
        "fedcog.theorem.sharp",
        "fedcog.table_2.gains.table_3",
        "fedcog.shared_data",
        "fedcog.inputs_small",
    ),
    survives=(
        "The chain of inequalities, with fresh batches and all clients in every round [fedcog.eq_61], "
        "[fedcog.theorem.instances].",
        "FedCOG is best in every setting of Table 1, and every method gains by it in Table 3 [fedcog.table_1.best], "
        "[fedcog.table_3.gains].",
    ),
    change=(
        "Ask for fresh batches in every step and for all clients in every round [fedcog.eq_28], "
        "[fedcog.theorem.participation].",
        "Repeat the step size's condition in Corollary 5.7 [fedcog.corollary.rounds].",
        "Say that the theorem is FedAvg's: no setting of generation or distillation stands in it "
        "[fedcog.theorem.gradient].",
    ),
)
