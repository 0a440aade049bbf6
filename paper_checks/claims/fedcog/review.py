"""What a referee would write of it first."""

from ..review import Review

REVIEW = Review(
    summary=(
        "The convergence theorem's chain of inequalities was followed step by step and stands. Its slips are of the "
        "pen: (19) has the wrong sign before the squared step [fedcog.eq_19], which the next line mends "
        "[fedcog.eq_20], and (65) squares the smoothness where the corollary does not [fedcog.eq_65]. The corollary "
        "repeats no condition, though its step size meets the theorem's only for long runs and it can fail for short "
        "ones [fedcog.corollary.rounds].",
        "What the theorem says is less than it may seem. It is FedAvg's, for the loss of the task, without any setting "
        "of generation or distillation [fedcog.theorem.gradient]. It needs batches that are fresh at every step and "
        "independent over the clients [fedcog.theorem.fresh_batches], [fedcog.eq_28], and clients that all take part, "
        "as they do not on FLAIR and in Table 7 [fedcog.theorem.participation]. The published steps are too long for "
        "its conditions [fedcog.theorem.settings], so that it is silent on the experiments "
        "[fedcog.theorem.informative]; for the rounds of Table 3 it never says anything [fedcog.theorem.vacuous]. The "
        "shared generated data, which it supposes for simplicity, are not those of the experiments "
        "[fedcog.shared_data.experiments], but no step of the proof depends on them. Where clients are alike and "
        "gradients exact, no number of local steps is best [fedcog.corollary.best_steps].",
        "The orders that the text reads off its tables hold of the printed means: FedCOG is best in every setting of "
        "Table 1, within noise in 10 pairs [fedcog.table_1.best], and every method gains by it in Table 3 "
        "[fedcog.table_3.gains]. Numbers are less sure: one setting has different numbers in different tables "
        "[fedcog.table_4.table_3], [fedcog.default_setting], one pair of numbers is printed for two lengths of run "
        "[fedcog.table_3.rounds], and one gain in percent is rounded up [fedcog.table_7.gain]. The generated inputs, "
        "called small, are more numbers than the models have parameters [fedcog.inputs_small].",
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
    findings={
        "fedcog.theorem.participation": "No term of it is the variance of drawing clients: for (x - 1)^2/2 and (x + "
        "1)^2/2, one a round, tau = 1, eta = 1/2, T = 20 the squared gradient is 0.3333 in every round, the bound "
        "0.2667.",
        "fedcog.theorem.fresh_batches": "Noises must be independent over clients and steps: for 16 clients x^2/2 with "
        "one coin of +-1 for all, tau = 1, eta = 1/4, T = 100 the squared gradient is 0.1429 in every round, the "
        "bound 0.07393.",
        "fedcog.theorem.settings": "Output biases alone need L >= 1/4, so that 400 steps of 1/100 have eta L = 1/400, "
        "where at most 1/(2 tau) = 1/800 is allowed [fedcog.theorem.informative].",
        "fedcog.table_2.gains.table_3": "Against the FedAvg of Table 3, beside the same numbers of FedCOG, they are "
        "1.2603 % (C-F1, printed 14) and 7.18013 % (O-F1, printed 15).",
        "fedcog.table_4.per_round": "Table 4's means are 19.27 s a round (FedAvg) and 37.27 s (FedCOG): by the "
        "two means, within noise, a round of FedCOG took 1.93 times as long.",
        "fedcog.corollary.rounds": "Its step 1/sqrt(tau T) is too long for a short run: initial gap 2, L = 9, tau = "
        "1, T = 4, no noise, clients alike: the smallest squared gradient is 36, the bound 4.",
        "fedcog.weights.step_size": "The weights of A.2.2 shrink the step of the task loss, and the methods are "
        "compared at two step sizes, if the tables used them: 0.002 in place of 1/100 for 2 of 10 labels, 0.001 for 10 "
        "of 100 (CIFAR-100).",
        "fedcog.default_setting": "Tables 1, 5, 6 and 8 share one setting, as far as they state it, and FedCOG has "
        "64.83 in Table 1, 65.61 in Table 6, 61.98 in Table 8: most gains that the text argues from are smaller than "
        "the last shift.",
        "fedcog.labels.more_uniform": "A client that lacks few samples gets the whole budget in those classes: (10, "
        "9, 10) has spread 1 and ends with 255.",
        "fedcog.corollary.best_steps": "Where clients are alike and exact, (6) only falls: it is 4 at tau = 1, 2 at "
        "tau = 4, 1 at tau = 16, 0.5 at tau = 64.",
    },
    survives=(
        "The chain of inequalities, with fresh batches and all clients in every round [fedcog.eq_61], "
        "[fedcog.theorem.instances].",
        "By the printed means FedCOG is best in every setting of Table 1, and every method gains by it in Table 3 "
        "[fedcog.table_1.best], [fedcog.table_3.gains].",
    ),
    change=(
        "Ask for fresh batches in every step and for all clients in every round [fedcog.eq_28], "
        "[fedcog.theorem.participation].",
        "Repeat the step size's condition in Corollary 5.7 [fedcog.corollary.rounds].",
        "Say that the theorem is FedAvg's: no setting of generation or distillation stands in it "
        "[fedcog.theorem.gradient].",
    ),
)
