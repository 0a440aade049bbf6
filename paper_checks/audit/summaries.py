"""What a referee would write of each paper. A claim in [brackets] gets the verdict of the run behind it."""

from __future__ import annotations

SUMMARIES: dict[str, tuple[str, ...]] = {
    "fedals": (
        "The bound for one round of exact local solvers, (6), is derived soundly; what is read into it is not. The "
        "discussion takes the non-iidness of identically distributed clients for zero "
        "[fedals.discussion.iid_non_iidness] and so arrives at a gap that falls like 1/K^2 "
        "[fedals.discussion.one_over_k_squared]. Identically distributed clients still have minimisers of their own: "
        "for squared distances the gap is exactly the local gap over K, the second term of (6) is at least twice the "
        "first [fedals.discussion.iid_second_term], and the first term alone is no bound. The advantage that is "
        "claimed over earlier work rests on it [fedals.discussion.enhancement], and so does the explanation of the iid "
        "experiments [fedals.settings.iid_factor].",
        "The proof of the bound for many rounds has gaps. Its first step measures a model that has not seen the "
        "round's samples, a slip of an index [fedals.eq_56]; its last puts in a rate for local steps that forgets "
        "where they start [fedals.eq_58.local_steps] and asks nothing of the step size [fedals.eq_58.constant_step]. "
        "The step between loses a suboptimality [fedals.eq_57], but is true [fedals.eq_57.true]. Constants and "
        "complexity stay open, so that no instance could refute the theorem itself [fedals.theorem_4_3.constants].",
        "For partial participation two of the averaging identities are true by draws and false by clients "
        "[fedals.lemma_d1.weight]. More serious, fixed numbers are put in the place of a model that depends on who "
        "takes part: its participation gap is not zero [fedals.eq_71], and clients without any noise violate both "
        "bounds on the whole gap [fedals.eq_73.bound], [fedals.eq_74.bound].",
        "Algorithm 1 has slips that the experiments cannot have shared: the else-branch of version 1 never sends the "
        "extractor [fedals.algorithm_1.else_if], and version 2 writes averages where they are not read "
        "[fedals.algorithm_1.assignment]. Table 2's communicated parameters are those of the algorithm as it is "
        "described, to the last digit [fedals.table_2.parameters]. FedALS improves on both baselines in every non-iid "
        "experiment [fedals.table_1.baselines]; together with SCAFFOLD it does not improve further "
        "[fedals.table_1.complementary], and the split that Table 3 recommends is behind the default of Table 1 "
        "[fedals.table_3.default].",
    ),
    "fedinit": (
        "The constants of Theorem 1 survive recomputation: they follow from the lemmas as stated "
        "[fedinit.theorem_1.constants]; Theorem 2's would if a weighted sum of decreases could be dropped "
        "[fedinit.theorem_2.weighted_decreases]. What the lemmas are about is less firm. They bound rounds in which "
        "every client trains, while Algorithm 1 leaves the models of absent clients behind [fedinit.lemma_4.stale], "
        "their proofs let the relaxed starts cancel, which they do only where all take part "
        "[fedinit.lemma_3.starts_cancel], and the noise of a step is taken to be independent of the gradients after "
        "it [fedinit.lemma_3.noise_split]. Several conditions are left out or do not do what the proof asks of them: "
        "the step-size cap of Lemma 2 stands in its proof alone [fedinit.lemma_2.no_cap], Theorem 1's caps keep the "
        "bracket of the descent nonpositive only up to a smaller relaxation than stated "
        "[fedinit.descent.bracket_sign], and the range given for Theorem 5 does not imply what its proof uses "
        "[fedinit.theorem_5.hidden_condition]. All the same, in the reading of its proof no theorem on optimisation or "
        "divergence was violated by any instance that a search visited [fedinit.theorem_1.dominates], "
        "[fedinit.theorem_4.dominates].",
        "Theorem 3 is not what its proof yields: the first term loses a factor of almost 2 "
        "[fedinit.theorem_3.first_term] and the second the Lipschitz constant [fedinit.theorem_3.drift_term], so that "
        "it is no loss [fedinit.theorem_3.units]. As printed its first term does not fall like 1/S "
        "[fedinit.theorem_3.order_in_samples], which Theorem 6 then states [fedinit.theorem_6.stability]; and where "
        "Theorem 3 sums the divergence over all rounds, Theorem 6 has it once [fedinit.theorem_6.divergence]. The "
        "three assumptions that Theorems 3 and 6 need at once exclude each other on the whole space, but for constant "
        "losses [fedinit.assumptions.together]. The advice on K mixes two choices of one constant "
        "[fedinit.theorem_6.selection_of_k].",
        "Of the sentences that lean on the tables most hold; a few quote other numbers than the tables have "
        "[fedinit.text.drop], [fedinit.text.scaffold_drop], and not every method gains by the relaxed start "
        "[fedinit.table_2.improves]. FedInit is ahead in most columns of Table 1 [fedinit.table_1.best].",
    ),
    "decaying_k": (
        "The paper's closed forms are not the minimisers of its bound. K* (9) has lost a factor G^2 under its root and "
        "with it its unit [decaying_k.theorem_2]; eta* (11) has lost K under its root "
        "[decaying_k.corollary_2_1]; the derivative behind (9) leaves a bracket undifferentiated that depends on K "
        "[decaying_k.eq_24]. How both depend on the loss and the runtime is not touched by this "
        "[decaying_k.theorem_2_order], and schedules that are tuned at the start do not see the lost factors. The "
        "schedules that follow the loss are quotients of (9) and (11) if one runtime is taken for both "
        "[decaying_k.eq_13]; the text takes the first at W = 0, where (9) has no value "
        "[decaying_k.k_0_at_zero]. That K should decay with time rests on reading the runtime that lies ahead as the "
        "time that has passed [decaying_k.theorem_2_decay].",
        "Theorem 1 is violated with the constant that the paper calls the largest gradient norm, L times the distance "
        "from the start to the optimum: that is no bound on the gradients of clients "
        "[decaying_k.gradient_cap_of_training], and one-dimensional quadratics break the theorem "
        "[decaying_k.theorem_1_with_its_g] and the lemma under it [decaying_k.lemma_1]. With a true bound on the "
        "gradients, nonnegative losses and the sampling factor of the cited work the statements are repaired "
        "[decaying_k.theorem_1]. The appendix ends in another formula than the theorem, with 16 for 8 + 4/N "
        "[decaying_k.a_2_last_display]; two slips in it are undone by (17) itself [decaying_k.eq_18], "
        "[decaying_k.eq_20].",
        "Table 4's relative numbers of steps do not follow from its schedule over the stated rounds; over equal "
        "runtimes three of four do [decaying_k.table_4_k_rounds], and there no schedule takes less than a tenth of the "
        "steps [decaying_k.results_tenth], [decaying_k.conclusion_tenfold]. The networks have no smoothness constant "
        "[decaying_k.setting_step_sizes]; at the published settings, were the theorem to apply to them, its bound "
        "would say no more than that gradients stay below G [decaying_k.setting_informative]. The repaired lemma "
        "needs noise that is independent over clients and steps [decaying_k.lemma_1_independence].",
    ),
    "fedcog": (
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
}
