"""FedInit: small step sizes and relaxations, so that every cap and lambda's condition are met."""

from typing import Any

EVERY: dict[str, Any] = {
    "clients": 11,
    "step_size_budget": 0.8,
    "loss_cap": 3.1,
    "summed_grad_norm_sq": 87.0,
    "summed_divergence_root": 1.9,
    "untouched_steps": 19,
    "generalization_gap": 0.031,
    "grad_norm_sq": 0.52,
    "mean_grad_norm_sq": 0.47,
    "stability": 0.044,
    "cohort": 3,
    "separation": 0.23,
    "optimality_gap": 0.27,
    "local_steps": 5,
    "local_iteration": 57,
    "parameters": 7850,
    "rounds": 40,
    "step_size": 0.0007,
    "relaxation": 0.06,
    "step_size_scale": 0.16,
    "smoothness": 1.3,
    "lipschitz": 0.9,
    "dissimilarity_factor": 1.7,
    "dissimilarity_offset": 0.63,
    "gradient_variance": 0.41,
    "samples": 470,
    "initial_gap": 2.3,
    "contraction": 0.71,
    "initial_divergence": 0.029,
    "divergence": 0.083,
    "pl_constant": 0.37,
    "final_divergence": 0.017,
    "next_divergence": 0.059,
    "loss_decrease": 0.014,
}

_ORDERED = (
    "divergence relaxation local_steps step_size smoothness gradient_variance dissimilarity_offset "
    "dissimilarity_factor clients cohort rounds grad_norm_sq mean_grad_norm_sq initial_divergence final_divergence "
    "summed_grad_norm_sq next_divergence: lemma_2 lemma_3 lemma_4 lemma_4_recursion theorem_4_before "
    "theorem_4_recursion theorem_4_recursion_sharp local_steps_order",
    "samples lipschitz smoothness gradient_variance step_size_scale local_steps rounds relaxation "
    "summed_divergence_root untouched_steps loss_cap: stability_before_t_0 stability_separation theorem_3 "
    "theorem_3_printed",
    "cohort local_steps rounds smoothness initial_gap gradient_variance dissimilarity_offset dissimilarity_factor "
    "step_size_scale samples: theorem_1_order theorem_1_order_appendix theorem_2_order theorem_4_order "
    "theorem_5_order theorem_6",
    "samples lipschitz smoothness gradient_variance loss_cap step_size_scale local_steps rounds: t_0",
    "relaxation step_size local_steps smoothness cohort dissimilarity_factor: contraction_cap",
    "relaxation local_steps smoothness cohort dissimilarity_factor contraction: step_size_cap_contraction",
    "clients cohort local_steps smoothness relaxation: step_size_cap_descent",
    "loss_cap untouched_steps samples lipschitz separation: lemma_5",
    "rounds local_steps step_size_scale smoothness samples: theorem_3_order",
    "contraction pl_constant step_size local_steps: relaxation_cap_theorem_5",
    "relaxation separation: stability_start",
)
"""Words in another order than above, in which the record has drawn random points around them, and the bounds."""

POINTS: dict[str, dict[str, Any]] = {
    f"fedinit.{name}": {word: EVERY[word] for word in words.split()}
    for words, names in (row.split(":") for row in _ORDERED)
    for name in names.split()
}
POINTS["fedinit.theorem_1_sharp"] = {"cohort": 11, "contraction": 0.83, "step_size": 0.007}
