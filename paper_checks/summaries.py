"""What a referee would write of each paper. A claim in [brackets] gets the verdict of the run behind it."""

from __future__ import annotations

SUMMARIES: dict[str, tuple[str, ...]] = {
    "fedals": (
        "The bound for one round of exact local solvers, (6), is derived soundly; what is read into it is not. The "
        "discussion takes the non-iidness of identically distributed clients for zero "
        "[fedals.discussion.iid_non_iidness] and so arrives at a gap that falls like 1/K^2 "
        "[fedals.discussion.one_over_k_squared]. Identically distributed clients still have minimisers of their own: "
        "for the mean of Gaussians the gap is exactly the local gap over K, the second term of (6) dominates, and the "
        "first term alone is violated [fedals.discussion.one_over_k_squared.witness].",
        "For inexact solvers the theorem does not reduce to the exact one [fedals.theorem_c1.identical]; for many "
        "rounds a square is opened as if twice the squares were equal to it [fedals.eq_41], a suboptimality is lost on "
        "the way [fedals.eq_57], and the two versions of the paper do not state the same bound "
        "[fedals.theorem_4_3.versions]. For partial participation two of the averaging identities fail as soon as a "
        "client can be drawn twice [fedals.lemma_d1.weight], the participation gap of an averaged model is not zero "
        "[fedals.eq_71.witness], and the resulting bounds on the whole gap are violated by instances "
        "[fedals.eq_73.witness], [fedals.eq_74.witness].",
        "The algorithm that the experiments must have run is not the listing of version 1, whose else-branch never "
        "sends the extractor [fedals.algorithm_1.else_if]; Table 2's communicated parameters are met to the last digit "
        "by the algorithm as it is described, counted in both directions. At the paper's own settings the bound says "
        "nothing about networks [fedals.settings.vacuous].",
    ),
    "fedinit": (
        "The theorems on optimisation and consistency stand on lemmas whose constants survive recomputation; every "
        "statement held on all exact instances that were searched within its conditions. Several conditions are left "
        "out or do not do what the proof asks of them: the step-size cap of Lemma 2 is used but not stated "
        "[fedinit.lemma_2.no_cap], Theorem 1's caps do not by themselves keep the bracket of the descent nonpositive "
        "[fedinit.descent.bracket_sign], and the range given for Theorem 5 does not imply what its proof uses "
        "[fedinit.theorem_5.hidden_condition].",
        "Theorem 3 is not what its proof yields: the first term loses a factor and the Lipschitz constant "
        "[fedinit.theorem_3.first_term], so that it is no loss [fedinit.theorem_3.units], and the choice of the "
        "untouched steps balances two parts where it is said to be best [fedinit.t_0.minimiser]. The orders of "
        "Theorems 5 and 6 hide logarithms and leave terms aside [fedinit.theorem_5.no_logarithm], "
        "[fedinit.theorem_6.constant_c]. The three assumptions that Theorem 6 needs at once exclude each other on the "
        "whole space [fedinit.assumptions.together].",
        "Several sentences that lean on the tables are contradicted by them: the method is not best in every column "
        "[fedinit.table_1.best], accuracy does not follow consistency over the relaxations [fedinit.table_3.tracks], "
        "and speed ratios are not the quotients of the printed numbers [fedinit.table_11.rounds_ratios].",
    ),
    "decaying_k": (
        "The paper's closed forms are not the minimisers of its bound. K* (9) has lost a factor G^(2/3) and with it its "
        "unit [decaying_k.theorem_2], [decaying_k.theorem_2_unit]; eta* (11) has lost sqrt(K) "
        "[decaying_k.corollary_2_1]; the derivative behind (9) leaves a bracket undifferentiated that depends on K "
        "[decaying_k.eq_24]. The schedules divide two values of (9) and drop the runtime on the way "
        "[decaying_k.eq_13]. That K should decay rests on reading the runtime that is left as the time that has passed "
        "[decaying_k.theorem_2_decay].",
        "Theorem 1 itself is false with the constant that the paper calls the largest gradient norm, L times the "
        "distance from the start to the optimum: that is no bound on the gradients of clients, and one-dimensional "
        "quadratics violate the theorem [decaying_k.theorem_1_with_its_g] and the lemma under it "
        "[decaying_k.lemma_1]. With a true bound on the gradients, nonnegative losses and the sampling factor of the "
        "cited work the statements are repaired. The appendix ends in another formula than the theorem "
        "[decaying_k.a_2_last_display].",
        "Table 4's relative numbers of steps do not follow from its schedule over the stated rounds "
        "[decaying_k.table_4_k_rounds], and at the published settings the bound says no more than that gradients stay "
        "below G [decaying_k.setting_informative].",
    ),
    "fedcog": (
        "The convergence theorem's chain of inequalities was followed step by step; (19) has the wrong sign "
        "[fedcog.eq_19] and is violated as printed [fedcog.eq_19.instance], which the next line silently mends. The "
        "corollary is stated for every number of rounds although its step size meets the theorem's limit only for "
        "long runs [fedcog.corollary.rounds], carries the hidden unit of that step size [fedcog.corollary.unit], and "
        "differs from the line of its proof [fedcog.eq_65].",
        "What the theorem speaks of is not what is run: the generated data change every round while the objective of "
        "the analysis stays [fedcog.lemma_5_5.of_eq_4], experiments do not share generated data as the theory supposes "
        "[fedcog.shared_data.experiments], and with a single round of the method the bound says nothing at the "
        "published settings [fedcog.theorem.vacuous.table_3.cifar].",
        "The tables agree with each other only in part: averages are off [fedcog.table_1.averages], the same run has "
        "different numbers in different tables [fedcog.table_4.table_3], and the printed seconds do not grow with the "
        "passes that the method makes [fedcog.table_11.passes].",
    ),
}
