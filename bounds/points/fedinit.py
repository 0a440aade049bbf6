"""Generic points for FedInit: small step sizes and relaxations, so that every cap and lambda's condition are met."""

from typing import Any

RUN = {"clients": 11, "cohort": 3, "local_steps": 5, "rounds": 40, "step_size": 0.0007, "relaxation": 0.06}
LOSS = {
    "smoothness": 1.3,
    "dissimilarity_factor": 1.7,
    "dissimilarity_offset": 0.63,
    "gradient_variance": 0.41,
    "initial_gap": 2.3,
}
PROOF = {"contraction": 0.71, "pl_constant": 0.37}
STATE = {
    "divergence": 0.083,
    "next_divergence": 0.059,
    "grad_norm_sq": 0.52,
    "summed_grad_norm_sq": 87.0,
    "loss_decrease": 0.014,
    "mean_grad_norm_sq": 0.47,
    "initial_divergence": 0.029,
    "final_divergence": 0.017,
}
STABILITY = {
    "samples": 470,
    "loss_cap": 3.1,
    "lipschitz": 0.9,
    "separation": 0.23,
    "untouched_steps": 19,
    "step_size_scale": 0.16,
    "summed_divergence_root": 1.9,
    "stability": 0.044,
    "generalization_gap": 0.031,
    "optimality_gap": 0.27,
    "step_size_budget": 0.8,
    "local_iteration": 57,
    "parameters": 7850,
}
ALL: dict[str, Any] = {**RUN, **LOSS, **PROOF, **STATE, **STABILITY}


def _take(*words: str, **other: Any) -> dict[str, Any]:
    """The values of ``words`` at the common point, with some of them replaced."""
    return {**{word: ALL[word] for word in words}, **other}


_DRIFT = ("divergence", "relaxation", "local_steps", "step_size", "smoothness")
_NOISE = ("gradient_variance", "dissimilarity_offset", "dissimilarity_factor")
_FEDERATION = ("clients", "cohort")
_LEMMA_4 = (*_DRIFT, *_NOISE, *_FEDERATION, "grad_norm_sq", "summed_grad_norm_sq")
_CONVERGENCE = (*RUN, *LOSS, "contraction")
_ORDER = ("cohort", "local_steps", "rounds", "smoothness", "initial_gap", "gradient_variance", "dissimilarity_offset")
_SEPARATION = (
    "samples",
    "lipschitz",
    "smoothness",
    "gradient_variance",
    "step_size_scale",
    "local_steps",
    "rounds",
    "relaxation",
    "summed_divergence_root",
)
_T_0 = (
    "samples",
    "lipschitz",
    "smoothness",
    "gradient_variance",
    "loss_cap",
    "step_size_scale",
    "local_steps",
    "rounds",
)
_CAP = ("clients", "cohort", "local_steps", "smoothness")

POINTS: dict[str, dict[str, Any]] = {
    "fedinit.kappa_1": _take("relaxation"),
    "fedinit.kappa_2": _take("relaxation"),
    "fedinit.contraction_cap": _take(
        "relaxation", "step_size", "local_steps", "smoothness", "cohort", "dissimilarity_factor"
    ),
    "fedinit.step_size_cap_theorem_1": _take(*_CAP),
    "fedinit.step_size_cap_theorem_2": _take(*_CAP, *PROOF),
    "fedinit.step_size_cap_theorem_4": _take(*_CAP),
    "fedinit.step_size_cap_theorem_5": _take(*_CAP, *PROOF),
    "fedinit.step_size_cap_lemma_2": _take("local_steps", "smoothness"),
    "fedinit.step_size_cap_lemma_3": _take("local_steps", "smoothness"),
    "fedinit.step_size_cap_descent": _take(*_CAP, "relaxation"),
    "fedinit.relaxation_cap_theorem_1": {},
    "fedinit.relaxation_cap_theorem_4": {},
    "fedinit.relaxation_cap_theorem_5": _take(*PROOF, "step_size", "local_steps"),
    "fedinit.lemma_2": _take(*_DRIFT, *_NOISE, "grad_norm_sq"),
    "fedinit.lemma_3": _take(*_LEMMA_4),
    "fedinit.lemma_4_recursion": _take(*_LEMMA_4),
    "fedinit.lemma_4": _take(*_LEMMA_4, "next_divergence"),
    "fedinit.descent": _take(
        *(w for w in _CONVERGENCE if w not in ("rounds", "initial_gap")),
        "divergence",
        "next_divergence",
        "loss_decrease",
    ),
    "fedinit.theorem_1": _take(*_CONVERGENCE),
    "fedinit.theorem_2": _take(*_CONVERGENCE, "pl_constant"),
    "fedinit.theorem_4_recursion": _take(*_DRIFT, *_NOISE, *_FEDERATION, "grad_norm_sq"),
    "fedinit.theorem_4_before": _take(
        *(w for w in _DRIFT if w != "divergence"),
        *_NOISE,
        *_FEDERATION,
        "rounds",
        "mean_grad_norm_sq",
        "initial_divergence",
        "final_divergence",
    ),
    "fedinit.theorem_4": _take(*_CONVERGENCE, "initial_divergence", "final_divergence"),
    "fedinit.theorem_5": _take(*_CONVERGENCE, "pl_constant"),
    "fedinit.step_size_cap_contraction": _take(
        "relaxation", "local_steps", "smoothness", "cohort", "dissimilarity_factor", "contraction"
    ),
    "fedinit.theorem_2_potential": _take(*_CONVERGENCE, "pl_constant"),
    "fedinit.theorem_4_recursion_sharp": _take(*_DRIFT, *_NOISE, "grad_norm_sq"),
    "fedinit.theorem_1_sharp": _take(
        *(word for word in _CONVERGENCE if word != "clients"), cohort=11, contraction=0.83, step_size=0.007
    ),
    "fedinit.theorem_5_geometric": _take(*_CONVERGENCE, "pl_constant"),
    "fedinit.stability_step_clients": _take(
        "clients", "separation", "step_size", "smoothness", "lipschitz", "gradient_variance", "samples"
    ),
    "fedinit.stability_start": _take("relaxation", "separation"),
    "fedinit.divergence_weight": _take("relaxation", "step_size_scale", "smoothness"),
    "fedinit.lemma_1": _take("stability"),
    "fedinit.lemma_5": _take("loss_cap", "untouched_steps", "samples", "lipschitz", "separation"),
    "fedinit.lemma_6": _take("separation", "step_size", "smoothness", "gradient_variance"),
    "fedinit.lemma_7": _take("separation", "step_size", "lipschitz", "gradient_variance"),
    "fedinit.stability_step": _take(
        "separation", "step_size", "smoothness", "lipschitz", "gradient_variance", "samples"
    ),
    "fedinit.stability_round": _take("relaxation", "divergence"),
    "fedinit.stability_separation": _take(*_SEPARATION, "untouched_steps"),
    "fedinit.stability_before_t_0": _take(*_SEPARATION, "untouched_steps", "loss_cap"),
    "fedinit.t_0": _take(*_T_0),
    "fedinit.theorem_3": _take(*_SEPARATION, "loss_cap"),
    "fedinit.theorem_3_printed": _take(*_SEPARATION, "loss_cap"),
    "fedinit.step_size_theorem_3": _take("step_size_budget", "local_steps", "local_iteration"),
    "fedinit.excess_risk_split": _take("generalization_gap", "optimality_gap"),
    "fedinit.step_size_theorem_1_order": _take("cohort", "local_steps", "rounds"),
    "fedinit.step_size_theorem_2_order": _take("cohort", "local_steps", "rounds", *PROOF),
    "fedinit.local_steps_order": _take("gradient_variance", "dissimilarity_offset"),
    "fedinit.theorem_1_order": _take(*_ORDER),
    "fedinit.theorem_1_order_appendix": _take(*_ORDER),
    "fedinit.theorem_2_order": _take(*_ORDER),
    "fedinit.theorem_3_order": _take("rounds", "local_steps", "step_size_scale", "smoothness", "samples"),
    "fedinit.theorem_4_order": _take(*_ORDER, "dissimilarity_factor"),
    "fedinit.theorem_5_order": _take(*(w for w in _ORDER if w != "smoothness")),
    "fedinit.theorem_6": _take(*_ORDER, "step_size_scale", "samples"),
    **{
        f"fedinit.cost_{cost}_{method}": _take(*words, "parameters")
        for cost, words in (
            ("communication", ("cohort",)),
            ("gradients", ("cohort", "local_steps")),
            ("storage", ("clients",)),
        )
        for method in ("fedavg", "fedadam", "fedsam", "scaffold", "feddyn", "fedcm", "fedinit")
    },
}
