"""What a referee would write of it first."""

from ..review import Review

REVIEW = Review(
    summary=(
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
)
