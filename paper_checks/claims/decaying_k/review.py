"""What a referee would write of it first."""

from ..review import Review

REVIEW = Review(
    summary=(
        "The paper's closed forms are not the minimisers of its bound. K* (9) has lost a factor G^2 under its root "
        "and with it its unit [decaying_k.theorem_2]; eta* (11) has lost K under its root [decaying_k.corollary_2_1]; "
        "the derivative behind (9) leaves a bracket undifferentiated that depends on K [decaying_k.eq_24]. With one G "
        "for the whole run their order in the loss and the runtime is untouched [decaying_k.theorem_2_order]; a new "
        "run from every round has a new G, and then the best K need not fall with the loss [decaying_k.restart]. "
        "Minimised over both, (8) has one best K for all runtimes and losses as long as the best step size is at most "
        "1/(4L) [decaying_k.joint_minimum], and among schedules of the same rounds and steps Theorem 1 prefers equal "
        "K_r [decaying_k.three_schedules]. The schedules that follow the loss are quotients of (9) and (11) if one "
        "runtime is taken for both [decaying_k.eq_13]; the text takes the first at W = 0, where (9) has no value "
        "[decaying_k.k_0_at_zero]. That K should decay with time rests on reading the runtime that lies ahead as the "
        "time that has passed [decaying_k.theorem_2_decay]; so does the fall of the step size "
        "[decaying_k.corollary_2_1_decay].",
        "Theorem 1 is violated with the constant that the paper calls the largest gradient norm, L times the distance "
        "from the start to the optimum: that is no bound on the gradients of clients "
        "[decaying_k.gradient_cap_of_training], and one-dimensional quadratics break the theorem "
        "[decaying_k.theorem_1_with_its_g] and the lemma under it [decaying_k.lemma_1]. With a true bound on the "
        "gradients, nonnegative losses, equal weights, uniform draws, independent noise, the sampling factor of the "
        "cited work and its limit on step sizes in the lemmas too [decaying_k.lemma_1_step_size] the statements are "
        "repaired [decaying_k.theorem_1]. The appendix ends in another formula than the theorem, with 16 for 8 + 4/N "
        "[decaying_k.a_2_last_display]; two slips in it are undone by (17) itself [decaying_k.eq_18], "
        "[decaying_k.eq_20].",
        "Table 4's relative numbers of steps do not follow from its schedule over the stated rounds; over equal "
        "runtimes three of four do [decaying_k.table_4_k_rounds], and there K_r-rounds takes no less than a tenth of "
        "the steps [decaying_k.results_tenth], [decaying_k.conclusion_tenfold]. The networks have no smoothness "
        "constant [decaying_k.setting_step_sizes]; with K_0 or K_r-rounds as published, were the theorem to apply, "
        "its bound would say no more than that gradients stay below G [decaying_k.setting_informative]. The repaired "
        "lemma needs noise that is independent over clients and steps [decaying_k.lemma_1_independence].",
    ),
    theorems={
        "Lemma 1": {
            "G as the text defines it": "decaying_k.lemma_1",
            "G bounds the clients' gradients": "decaying_k.lemma_1.worst_case",
            "noise shared by clients": "decaying_k.lemma_1_independence",
            "sharper": "decaying_k.lemma_1.sharp",
        },
        "Lemma 2": {
            "G bounds the clients' gradients": "decaying_k.lemma_2_repaired.worst_case",
            "as printed, losses of any sign": "decaying_k.lemma_2",
        },
        "Theorem 1": {
            "as printed, losses of any sign": "decaying_k.theorem_1",
            "line 11's plain mean, unequal shares": "decaying_k.algorithm_1_line_11",
            "G as the text defines it": "decaying_k.theorem_1_with_its_g",
            "G bounds the clients' gradients": "decaying_k.theorem_1.worst_case",
            "sharper": "decaying_k.theorem_1.sharp",
        },
        "Theorem 2, K*": {"minimises the bound": "decaying_k.theorem_2"},
        "Corollary 2.1, eta*": {"minimises the bound": "decaying_k.corollary_2_1"},
    },
    findings={
        "decaying_k.theorem_1_with_its_g": "That G bounds no client's gradients: for (x - 1)^2/2 and (x + 1)^2/2, one "
        "client a round, K = 20, eta = 6.5e-5, R = 2500, x_1^2 = (1 - q)/(1 + q) with q = (1 - eta)^20, the smallest "
        "E||grad F||^2 is 0.000648417, the bound 0.000597813.",
        "decaying_k.algorithm_1_line_11": "A plain mean of the participants minimises the plain mean of the losses, "
        "whatever their shares: for x^2/2 and (x - 4)^2/2, shares 1/4, 3/4, K = 1, eta = 1/1000 and a start at 2 the "
        "squared gradient is 1 at every iteration, and (6) with G^2 = 4 and T = 10^6 says 0.05.",
        "decaying_k.three_schedules": "For the same rounds and steps equal K_r have the smallest bound: in 1,000 "
        "rounds from K_0 = 80, with the loss 30/(29 + r) and a plateau at round 501, the drift of (6) is 2.11 times "
        "(K_r-rounds), 1.32 times (K_r-error) and 3.01 times (K_r-step) that of even rounds.",
        "decaying_k.joint_minimum": "Minimised over K and eta together, (8) has one best K as long as the best step "
        "size is at most 1/(4L): for L = 1, kappa = 50, F^* = Gamma = 18, G^2 = 1, N = 4, tau = 2, beta = 1 and no "
        "noise it is K = 2 for W = 500, F = 20 and K = 2 for W = 4000, F = 19.",
        "decaying_k.theorem_2": "G^2 is lost under the root, so that K* changes with the unit of the loss: for G^2 = "
        "10 the print gives 1.54202 and a bound of 54.3049, the minimiser 0.715743 gives 32.3627.",
        "decaying_k.theorem_2_decay": "W is the time that is left, not the time that has passed, so that at an equal "
        "loss the best K rises: after seven eighths of the run it is 2 times that at the start.",
        "decaying_k.corollary_2_1": "K is lost under the root, and (11) is sqrt(K) times too large: for K = 5 it "
        "gives 0.179853 and a bound of 16.6386, the minimiser 0.0804326 gives 12.4017.",
        "decaying_k.setting_informative": "The drift term alone is at least 102 (CIFAR100) to 4.363e+04 (Sent140) "
        "times G^2 with K_0, and at least 1.528 times (CIFAR100) with K_r-rounds; no gradient is taken to exceed G.",
        "decaying_k.theorem_1": "Where F^* < 0 the bound can be negative: F = x^2 + y^2/2 - 1 for both clients, "
        "started at the minimum, step_size = 1/8, K = 1, T = 4: all gradients are 0 against a bound of -8.",
        "decaying_k.table_4_k_rounds": "In 10,000 rounds of each the schedule makes 0.077635 (Sent140, printed 0.21) "
        "and 0.075515 (Shakespeare, printed 0.74); in the same time all but CIFAR100 agree (0.143516, printed 0.090).",
    },
    survives=(
        "With G a bound on the clients' gradients no worst case of the table (two clients, all present, no noise, F^* "
        "= 0) is above Theorem 1, which is 463 times as large at least [decaying_k.theorem_1.worst_case]; a bound "
        "without kappa and Gamma holds too, which gradient descent attains [decaying_k.theorem_1.sharp]: at the 22 "
        "places of its own table (steps of .5/L and .9/L) it is 1.1 times the worst case at least "
        "[decaying_k.theorem_1_sharp.worst_case].",
        "K* falls at least like W^(-1/3), grows with the cohort and does not depend on the time of a step for a number "
        "of rounds [decaying_k.theorem_2_order], [decaying_k.remark_2_2], [decaying_k.remark_2_3].",
    ),
    change=(
        "Define G as a bound on the clients' gradients, and count losses from the smallest one "
        "[decaying_k.gradient_cap_of_training].",
        "Ask for equal weights and independent noise [decaying_k.algorithm_1_line_11], "
        "[decaying_k.lemma_1_independence].",
        "Put G^2 under the root of (9) and K under that of (11); minimise (8) with its bracket differentiated "
        "[decaying_k.theorem_2], [decaying_k.corollary_2_1], [decaying_k.eq_24].",
        "Say over which runs the relative numbers of steps are counted [decaying_k.table_4_k_rounds].",
    ),
)
