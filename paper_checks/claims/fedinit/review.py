"""What a referee would write of it first."""

from ..review import Review


def variants(statement: str) -> dict[str, str]:
    """The claims on a statement in each variant of FedInit."""
    ends = {"Algorithm 1 as listed": "dominates", "released code": "code", "all clients train": "all_train"}
    return {variant: f"fedinit.{statement}.{end}" for variant, end in ends.items()}


REVIEW = Review(
    summary=(
        "The constants of Theorem 1 survive recomputation: they follow from the lemmas as stated "
        "[fedinit.theorem_1.constants]; Theorem 2's would if a weighted sum of decreases could be dropped "
        "[fedinit.theorem_2.weighted_decreases]. What the lemmas are about is less firm. They bound rounds in which "
        "every client trains, while Algorithm 1 leaves the models of absent clients behind "
        "[fedinit.lemma_4_recursion.dominates], their proofs let the relaxed starts cancel, which they do only where "
        "all take part [fedinit.lemma_3.starts_cancel], and the noise of a step is taken to be independent of the "
        "gradients after it [fedinit.lemma_3.noise_split]. Several conditions are left out or do not do what the "
        "proof asks of them: the step-size cap of Lemma 2 stands in its proof alone [fedinit.lemma_2.no_cap], Theorem "
        "1's caps keep the bracket of the descent nonpositive only up to a smaller relaxation than stated "
        "[fedinit.descent.bracket_sign], and the range given for Theorem 5 does not imply what its proof uses "
        "[fedinit.theorem_5.hidden_condition].",
        "Of Algorithm 1 as it is listed, where absent clients keep their last models, Theorems 1 and 2 are false "
        "[fedinit.theorem_1.dominates], [fedinit.theorem_2.dominates]: with one of 100 clients a round, equal "
        "parabolas and beta = 0.1 the expected model grows, from beta = N/(C-N) on for small steps "
        "[fedinit.start.threshold]. In that reading so are Lemma 3 and the descent inequality "
        "[fedinit.lemma_3.dominates], [fedinit.descent.dominates]. Theorems 4 and 5 are false of it even for FedAvg, "
        "beta = 0 [fedinit.theorem_4.dominates], [fedinit.theorem_5.dominates], and so of the released code, where no "
        "search found Theorems 1 and 2 violated [fedinit.theorem_1.code], but exact runs the descent inequality they "
        "are derived from [fedinit.descent.code]. In rounds in which all clients train, which is what the proofs speak "
        "of, no search found any of the four violated [fedinit.theorem_1.all_train]; where all take part smaller "
        "bounds are derived [fedinit.theorem_1.sharp]. What noise parts a relaxed start parts further "
        "[fedinit.start.gathers_noise].",
        "Theorem 3 is not what its proof yields: the first term loses a factor of almost 2 "
        "[fedinit.theorem_3.first_term] and the second the Lipschitz constant, so that it is no loss "
        "[fedinit.theorem_3.drift_term]. As printed its first term does not fall like 1/S "
        "[fedinit.theorem_3.order_in_samples], which Theorem 6 then states [fedinit.theorem_6.stability]; and where "
        "Theorem 3 sums the divergence over all rounds, Theorem 6 has it once [fedinit.theorem_6.divergence]. The "
        "three assumptions that Theorems 3 and 6 need at once exclude each other on the whole space, but for constant "
        "losses [fedinit.assumptions.together]. The advice on K mixes two choices of one constant "
        "[fedinit.theorem_6.selection_of_k], and Section 5.2 blames at large K the term that asks for large K "
        "[fedinit.theorem_6.large_k]; nor does Theorem 2 keep Theorem 1's best K [fedinit.theorem_2.properties], nor "
        "need G dominate (10) [fedinit.theorem_1.dominant_term]. The divergence term, said not to be affected by S, "
        "depends on S if the second part of (14) is meant, not if Delta^t is "
        "[fedinit.theorem_3.divergence_and_samples]. At the rate of Theorem 5 local models approach the server model; "
        "its discussion names the global optimum [fedinit.theorem_5.global_optimum]. Theorems 3 and 6 are "
        "judged by algebra and orders alone: no run and no search tests the stability bound.",
        "Of the sentences that lean on the tables several do not hold: some quote other numbers than the tables have "
        "[fedinit.text.drop], [fedinit.text.scaffold_drop], not every method gains by the relaxed start "
        "[fedinit.table_2.improves] nor SCAFFOLD as much as stated [fedinit.appendix.gain], and FedInit's clients "
        "keep a vector that Table 8 does not count, if it counts what is kept [fedinit.table_8.storage]. FedInit is "
        "ahead in most columns of Table 1 [fedinit.table_1.best].",
    ),
    theorems={
        "Lemma 1": {
            "derivation from the lemmas": "fedinit.lemma_1",
        },
        "Lemma 2": {
            "derivation from the lemmas": "fedinit.lemma_2.no_cap",
            **variants("lemma_2"),
            "all take part: worst case": "fedinit.lemma_2.worst_case",
        },
        "Lemma 3": {
            "derivation from the lemmas": "fedinit.lemma_3.cap",
            **variants("lemma_3"),
        },
        "Lemma 4": {
            "derivation from the lemmas": "fedinit.lemma_3.noise_split",
            **variants("lemma_4_recursion"),
        },
        "descent inequality": {
            "derivation from the lemmas": "fedinit.descent.bracket_sign",
            **variants("descent"),
        },
        "Theorem 1": {
            "derivation from the lemmas": "fedinit.theorem_1",
            **variants("theorem_1"),
            "all take part: worst case": "fedinit.theorem_1.worst_case",
            "all take part, sharper": "fedinit.theorem_1.sharp",
            "the orders that the text reads off it": "fedinit.theorem_1.order",
        },
        "Theorem 2": {
            "derivation from the lemmas": "fedinit.theorem_2.weighted_decreases",
            **variants("theorem_2"),
            "all take part: worst case": "fedinit.theorem_2.worst_case",
            "the orders that the text reads off it": "fedinit.theorem_2.order",
        },
        "Theorem 3": {
            "derivation from the lemmas": "fedinit.theorem_3.drift_term",
            "the orders that the text reads off it": "fedinit.theorem_3.order_in_samples",
        },
        "Theorem 4, recursion": {
            "derivation from the lemmas": "fedinit.theorem_4.recursion",
            **variants("theorem_4_recursion"),
            "all take part: worst case": "fedinit.theorem_4_recursion.worst_case",
            "all take part, sharper": "fedinit.theorem_4_recursion.sharp",
        },
        "Theorem 4": {
            "derivation from the lemmas": "fedinit.theorem_4",
            **variants("theorem_4"),
            "all take part: worst case": "fedinit.theorem_4.worst_case",
            "the orders that the text reads off it": "fedinit.theorem_4.order",
        },
        "Theorem 5": {
            "derivation from the lemmas": "fedinit.theorem_5.hidden_condition",
            **variants("theorem_5"),
            "all take part: worst case": "fedinit.theorem_5.worst_case",
            "the orders that the text reads off it": "fedinit.theorem_5.initial_loss",
        },
        "Theorem 6": {
            "derivation from the lemmas": "fedinit.theorem_6.divergence",
            "the orders that the text reads off it": "fedinit.theorem_6.stability",
        },
        "Algorithm 1": {
            "released code": "fedinit.algorithm_1.code",
        },
    },
    findings={
        "fedinit.theorem_1.dominates": "A participant starts beyond the server model, away from its own old one: for "
        "w^2/2 each, C = 100, N = 1, K = 2, eta K L = 1/400, beta = 1/10, T = 100 the mean squared gradient is 856.2, "
        "the bound 8.",
        "fedinit.theorem_5.dominates": "It fails for FedAvg, beta = 0, as absent clients fall behind: for w^2/2 each "
        "with noise, C = 100000, N = 1, K = 2, eta K L = 1/200000 the divergence tends to 8.333e-07, the bound to "
        "1.744e-07.",
        "fedinit.divergence_weight.artefact": "It comes from putting the power 1/(beta c L) of 1 + beta for 1 + beta; "
        "with 1 + beta the factor is 1.0149 at beta = 0.01 and 1.0010 at beta = 0.001: the smaller the better, and of "
        "the range from 0 on beta = 0 is best.",
        "fedinit.theorem_2.weighted_decreases": "The weights favour late rounds: where the divergence rises and falls "
        "again, Delta = 0, 1, 0 with the weight 1/2 a round, the sum is 1/2 and Delta^0 - Delta^T is 0.",
        "fedinit.assumptions.together": "On the whole space only constant losses meet them: for L_G = 1/2 and mu = 10 "
        "the gap is at most 0.0125 everywhere, and yet it grows from 3/500 to 4.33558e+84 along gradient ascent.",
        "fedinit.theorem_3.order_in_samples": "The number of samples stands inside a power too: on a logarithmic "
        "scale the term falls with slope -0.333 where cL is one half, and -1 is stated.",
        "fedinit.theorem_6.divergence": "Theorem 3 sums over all rounds, (18) has one of them: the ratio of the two "
        "terms grows like T, with slope 1.000 where 0 is stated.",
        "fedinit.theorem_1.lambda_exists": "The caps can leave less than nothing: for 3 of 5 clients, K = 5, L = 2, "
        "B^2 = 1268/997 and beta = 1/10 the share is -23.0482.",
        "fedinit.theorem_6.selection_of_k": "With this c the second term falls with K in long runs as the third does, "
        "and no best K follows: it is 3.9685 at K = 5 and 3.75748 with one step more.",
        "fedinit.settings.best_relaxation": "Every explicit bound but that on generalisation grows with beta: at beta "
        "= 0.1 the divergence's weight is 25 times what it is at beta = 0, kappa_1 3.73 times, kappa_2 3.8 times.",
    },
    survives=(
        "The constants of Theorem 1 are those that the lemmas give [fedinit.theorem_1.constants].",
        "Where all clients train in every round no search and no exact worst case was above Theorems 1, 2, 4 and 5 "
        "[fedinit.theorem_1.worst_case], [fedinit.theorem_5.worst_case].",
        "The orders of Theorems 1, 2 and 4 at the step sizes of the text [fedinit.theorem_1.order], "
        "[fedinit.theorem_4.order].",
    ),
    change=(
        "State that the theorems are about rounds in which all clients train [fedinit.theorem_1.dominates]; averaging "
        "moves instead of models [fedinit.algorithm_1.code] leaves Theorems 4 and 5 false [fedinit.theorem_4.code], "
        "[fedinit.theorem_5.code].",
        "Put the step-size cap of the proof into Lemma 2, a third cap and the upper end of lambda into Theorem 1 "
        "[fedinit.lemma_2.no_cap], [fedinit.theorem_1.lambda_exists].",
        "Give Theorem 3 its lost factors and ask for t_0 <= S [fedinit.theorem_3.first_term], "
        "[fedinit.theorem_3.drift_term], [fedinit.t_0.admissible]; sum the divergence over the rounds in Theorem 6 "
        "[fedinit.theorem_6.divergence].",
    ),
)
