"""What a referee would write of it first."""

from ..review import Review

REVIEW = Review(
    summary=(
        "The bound for one round of exact local solvers, (6), is derived soundly for losses that are convex in the "
        "parameters, minimisers without a gradient and independent clients [fedals.eqs_16_37]; its words allow losses "
        "that are convex in the prediction alone, and minimisers at a boundary, and there it fails "
        "[fedals.theorem_4_1.conditions], [fedals.theorem_4_1.boundary]. What is read into it is not sound. The "
        "discussion takes the non-iidness of identically distributed clients for zero "
        "[fedals.discussion.iid_non_iidness] and so arrives at a gap that falls like 1/K^2 "
        "[fedals.discussion.one_over_k_squared]. Identically distributed clients still have minimisers of their own: "
        "for squared distances, equal weights and equal sample counts the gap is exactly the local gap over K, the "
        "second term of (6) is at least twice the first [fedals.discussion.iid_second_term], and the first term alone "
        "is not a bound. The advantage that is claimed over earlier work rests on it [fedals.related.tighter], and so "
        "does the explanation of the iid experiments [fedals.settings.iid_factor]. That non-iidness can deteriorate "
        "generalization is true within the assumptions of Theorem 4.1: where the curvature of the loss differs from "
        "sample to sample, the gap can grow with the distance of the clients without limit, at unchanged local gaps "
        "[fedals.discussion.non_iid_hurts]. Where the variance of the gradients is bounded at all models, which "
        "Theorem 4.1 does not assume, there is a bound without non-iidness [fedals.theorem_4_1.noise].",
        "The bound for many rounds is false as it is stated, for any step size: with steps of constant size the "
        "non-iidness becomes negative, the number under the root does, and no constants in the O's save it "
        "[fedals.theorem_4_3.conditions], [fedals.theorem_4_3.constants]. In its proof the first step measures a model "
        "that has not seen the round's samples, a slip of an index [fedals.eq_56]; its last puts in a rate for local "
        "steps that forgets where they start [fedals.eq_58.local_steps] and asks nothing of the step size "
        "[fedals.eq_58.constant_step]. The step between loses a suboptimality [fedals.eq_57], but is true "
        "[fedals.eq_57.true]. Steps of at most 2/(L + mu) do have a bound by constants alone "
        "[fedals.theorem_4_3.noise]. The advice that is read off it, to average less often, is about what (8) measures "
        "and not about the model that is returned: where all samples have one constant Hessian that is the same model "
        "whatever the periods [fedals.section_5.same_model].",
        "For partial participation two of the averaging identities are true by draws and false by clients "
        "[fedals.lemma_d1.weight]. More serious, fixed numbers are put in the place of a model that depends on who "
        "takes part: its participation gap is not zero [fedals.eq_71], and clients without any noise violate both "
        "bounds on the whole gap [fedals.eq_73.bound], [fedals.eq_74.bound].",
        "Algorithms 1 and 4 have slips: the else-branch of version 1 never sends the extractor, which the "
        "experiments did send [fedals.algorithm_1.else_if], version 2 writes averages where they are not read "
        "[fedals.algorithm_1.assignment], and the head's control variables stay where they begin "
        "[fedals.algorithm_4.head]. Table 2's communicated parameters are those of the algorithm as it is described, "
        "to the last digit, counted both ways and with the released code's shortcuts [fedals.table_2.parameters]. No "
        "generalization gap is measured, though the text explains accuracies by it [fedals.table_1.generalization]. "
        "SCAFFOLD is said to send twice what FedAvg sends; in Algorithm 3, started with control variables of zero, "
        "none of them has to be sent [fedals.communication.scaffold], and with the momentum of the experiments in its "
        "steps it need not converge [fedals.algorithm_3.momentum]. By the printed means FedALS improves on both "
        "baselines in every non-iid experiment (MNIST within noise) [fedals.table_1.baselines]; SCAFFOLD does not "
        "improve it further: within noise row by row, pooled p = .025 against it, if the deviations are of 20 runs "
        "[fedals.table_1.complementary], and the split that Table 3 recommends is behind the default of Table 1 "
        "[fedals.table_3.default].",
    ),
    theorems={
        "Theorem 4.1 (one round)": {
            "derivation": "fedals.eqs_16_37",
            "losses convex in the parameters": "fedals.theorem_4_1.search",
            "convex in the output only": "fedals.theorem_4_1.conditions",
            "minimisers at a boundary": "fedals.theorem_4_1.boundary",
            "best constants": "fedals.theorem_4_1.sharp",
            "bounded gradient variance, without non-iidness": "fedals.theorem_4_1.noise",
        },
        "Theorem C.1 (inexact)": {
            "derivation": "fedals.eqs_39_53",
            "losses convex in the parameters": "fedals.theorem_c1.joined.search",
            "smaller constants": "fedals.theorem_c1.sharp.search",
        },
        "Theorem C.2, eq. (57)": {
            "derivation": "fedals.eq_57",
            "losses convex in the parameters": "fedals.eq_57.repaired.search",
        },
        "Theorem 4.3 (many rounds)": {
            "derivation": "fedals.eq_58.local_steps",
            "losses convex in the parameters": "fedals.theorem_4_3.squared_distances",
            "any hidden constants": "fedals.theorem_4_3.constants",
            "bounded gradient variance, without non-iidness": "fedals.theorem_4_3.noise",
        },
        "Case I, eq. (73)": {
            "derivation": "fedals.lemma_d1.weight",
            "losses convex in the parameters": "fedals.eq_73.bound",
            "out-of-sample gap alone, bounded gradient variance": "fedals.eq_73.noise",
        },
        "Case II, eq. (74)": {
            "derivation": "fedals.eq_71",
            "losses convex in the parameters": "fedals.eq_74.bound",
        },
    },
    findings={
        "fedals.theorem_4_3.constants": "B is negative under the root: n clients on coins of n and -n, n steps of 1/L "
        "each, have gap 1 for every n, while the terms beside the root tend to 0 (65/512 at n = 16).",
        "fedals.discussion.one_over_k_squared": "For squared distances and equal weights it is exactly a local gap "
        "over K: 0.2 of one for 5 clients, not 0.04 [fedals.settings.iid_factor].",
        "fedals.algorithm_1.assignment": "Averages are written where no step reads them, so none is ever used: run to "
        "the letter the models end at (0.8101, 1.085), which is each client on its own; from the averages they would "
        "end at (0.4018, 1.7376).",
        "fedals.eq_73.bound": "Without noise the bound is 0 however far apart the clients are: of three equal "
        "noise-free clients at -1, 2, 3/2 two take part, and the gap is 31/36.",
        "fedals.eq_71": "The averaged model depends on who takes part, and lies nearer to them: of noise-free clients "
        "of weights 47/100, 31/100, 11/50 at -1, 2, 3/2 two take part, and the participation gap of Case I is "
        "9873/10000.",
        "fedals.discussion.iid_non_iidness": "Every client fits its own sample, so that for squared distances the "
        "non-iidness is local_gap (1 - 1/clients)/2: 2.25 for 10 clients of local gap 5.",
        "fedals.section_5.same_model": "Where all samples share a constant Hessian, averages commute with steps: 12 "
        "steps return 1 model for (tau, alpha) = (1, 1), (1, 12), (3, 2), (4, 3) and (12, 1); what falls from 0.125 "
        "(tau = 1) to 0.04035 (tau = 12) is (8).",
        "fedals.table_3.initial_layers": "10 of 12 results are below FedAvg's with the same tau: 0.6058 against "
        "0.7010 on SVHN where the first layer alone is averaged less often.",
        "fedals.communication.scaffold": "Where everyone takes part and control variables start at zero their mean "
        "follows from averaged models: after round 6 it is (0.077598, -0.03421), and so is the move that the models "
        "show; nothing else has to be sent.",
        "fedals.theorem_4_1.conditions": "A loss that is convex in the prediction need not be so in the parameters "
        "that are averaged: for predictions 901 w/(1 + 900 |w|) and weights as 1/100 to 7/50 the gap is 0.9333, the "
        "bound 0.8132.",
    },
    survives=(
        "Theorem 4.1 for losses that are convex in the parameters, with exact minimisers without a gradient and "
        "independent clients [fedals.eqs_16_37], [fedals.theorem_4_1.search].",
        "Under the same conditions Theorem C.1, and with fresh samples in every round (57) with the suboptimality "
        "written out [fedals.eqs_39_53], [fedals.eq_57.true].",
        "By the printed means FedALS does better than both baselines in every non-iid experiment "
        "[fedals.table_1.baselines].",
    ),
    change=(
        "Drop the 1/K^2 of the discussion: for squared distances and iid clients of equal weight and sample count the "
        "second term is the larger one [fedals.discussion.iid_second_term].",
        "Ask in Theorem 4.1 for convexity in the parameters, minimisers without a gradient and independent clients "
        "[fedals.theorem_4_1.conditions], [fedals.theorem_4_1.boundary], [fedals.theorem_4_1.independence_needed].",
        "Put (57), or constants alone [fedals.theorem_4_3.noise], in place of Theorem 4.3, and bound the participation "
        "gap in Cases I and II [fedals.eq_71].",
        "Mend the assignments of Algorithm 1, its else-branch and Algorithm 4's head [fedals.algorithm_1.assignment], "
        "[fedals.algorithm_1.else_if], [fedals.algorithm_4.head].",
    ),
)
