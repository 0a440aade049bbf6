"""What a referee would write of them first."""

from ..review import Review

REVIEW = Review(
    summary=(
        "Apart from the slips below, no exact run and no search violates a classic theorem as printed. The evidence of "
        "each says how much of every term some instance needs, and a search how many planted violations it finds. The "
        "Field Guide's Theorem 1 is the sum of its two lemmas [classics.field_guide_theorem_1], and its tuned form has "
        "a little to spare [classics.field_guide_theorem_1_tuned]. Li et al. leave open with which step size the first "
        "local step is taken; their bounds hold in both readings [classics.li_first_step].",
        "Local SGD on one loss is printed with a slip that matters: Theorem 2 has the square of L where its proof has "
        "L, and is false for small L [classics.local_sgd_theorem_2]; in Corollary 2 a distance lacks its square and L "
        "[classics.local_sgd_corollary_2]. Both are repaired by their own proofs. In local gradient descent one line "
        "of "
        "the proof takes a detour that does not lead back [classics.local_gd_theorem_1.relaxed], and the smallest "
        "number "
        "of local steps that is read off (6) can be less than one [classics.local_gd_eq_6.smallest].",
        "For clients of unequal weights Li et al. scale the losses. The scaled gradients can exceed the bound that is "
        "put in for them, but Theorem 3 uses only their mean over the clients, and holds with it "
        "[classics.li_unbalanced].",
        "FedProx's Corollary 7 lets sampling take more of the descent than its proof leaves for it "
        "[classics.fedprox_corollary_7], and ProxSkip names the inverse of the chance that it means "
        "[classics.proxskip_range]; their theorems are not touched.",
    ),
    theorems={
        "Field Guide, Theorem 1": {
            "a fixed step": "classics.field_guide_theorem_1",
            "the tuned step": "classics.field_guide_theorem_1_tuned",
        },
        "Li et al., Theorems 1 to 3": {
            "all take part": "classics.li_theorem_1",
            "drawn with replacement": "classics.li_theorem_2",
            "drawn without": "classics.li_theorem_3",
            "unequal weights": "classics.li_unbalanced",
            "either first step": "classics.li_first_step",
        },
        "Local GD, Theorem 1": {
            "epochs of H steps": "classics.local_gd_theorem_1",
            "a first epoch of H + 1": "classics.local_gd_theorem_1.first_epoch",
            "the proof": "classics.local_gd_theorem_1.relaxed",
        },
        "Local SGD, Theorems 1 and 2": {
            "strongly convex": "classics.local_sgd_theorem_1",
            "convex": "classics.local_sgd_theorem_2",
        },
        "SGD on one machine": {
            "fixed step": "classics.bottou_4_6",
            "falling step": "classics.bottou_4_7",
            "no convexity": "classics.bottou_4_8",
            "variance at the minimiser": "classics.needell_2_1",
        },
        "Hardt et al., stability": {
            "convex samples": "classics.hardt_3_7",
            "no convexity": "classics.hardt_3_8",
            "risk of the average": "classics.hardt_5_4",
        },
        "FedProx": {"Theorem 4": "classics.fedprox_theorem_4", "Corollary 7": "classics.fedprox_corollary_7"},
        "SCAFFOLD": {"convex": "classics.scaffold_convex", "no convexity": "classics.scaffold_nonconvex"},
        "FedNova": {"Theorem 2": "classics.fednova_theorem_2"},
        "ProxSkip": {"Theorem 3.6": "classics.proxskip_3_6", "range of p": "classics.proxskip_range"},
    },
    findings={
        "classics.local_sgd_theorem_2": "The proof has L, the print its square, which is too small for L < 1: for L/2 "
        "x^2 below 0 and L/4 x^2 above, from x_0 = 0 with a coin of +-1 for noise, L = 1e-6, M = 1e6, H = T = 8, gamma "
        "= 1/(4L) the gap is at least 305.017, the bound 5/2.",
        "classics.local_sgd_corollary_2": "A distance lacks its square and L: for x^2 from x_0 = 20 with M = T = H = "
        "1 and no noise the gap is 225, the bound 160.",
        "classics.local_gd_theorem_1.relaxed": "With 2 L the gaps take up to 10/16 of themselves; the line allows 1/2.",
        "classics.local_gd_eq_6.smallest": "Where the accuracy is high this number is below one local step: 0.163299.",
        "classics.fedprox_corollary_7": "The proof's sqrt(2) B/sqrt(K) <= 1/2 does not follow: at B = 1/2 "
        "sqrt(K), K = 1e8, rho is 0.837918 of 1/(24 L B^2).",
        "classics.proxskip_range": "The inverse is meant: 1/sqrt(gamma mu) is 2.35702, and no chance is above 1.",
    },
    survives=(
        "SGD on one machine: instances need the start in full and of the noise all or half, so that these constants "
        "cannot be much smaller [classics.bottou_4_6], [classics.bottou_4_7], [classics.bottou_4_8], "
        "[classics.needell_2_1].",
        "The Field Guide, Khaled et al., SCAFFOLD and ProxSkip: some instance needs a share of every term, though a "
        "small one of drift, controls and heterogeneity, where smaller constants may do "
        "[classics.field_guide_theorem_1], [classics.local_gd_theorem_1], [classics.local_sgd_theorem_1], "
        "[classics.scaffold_convex], [classics.scaffold_nonconvex], [classics.proxskip_3_6].",
        "Li et al.: the start, the variance and the sampling of clients are needed. No instance needs 6 L Gamma or "
        "8 (E-1)^2 G^2, so that these two constants were not tested [classics.li_theorem_1], [classics.li_theorem_2], "
        "[classics.li_theorem_3]; nor were the two constants of FedProx for sampling [classics.fedprox_theorem_4].",
    ),
    change=(
        "Local SGD: L for its square in (9), and L and a square in (10) [classics.local_sgd_theorem_2], "
        "[classics.local_sgd_corollary_2].",
        "Local GD: apply Lemma 2 to the factor 3/2 [classics.local_gd_theorem_1.relaxed].",
    ),
)
