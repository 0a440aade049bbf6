"""Theorem 2 and Corollary 2.1: the bound per second (8), the best local steps and the best step size, (9) to (12)."""

from __future__ import annotations

import numpy as np
import sympy as sp

from bounds.decaying_k.letters import L

from ..claim import Book, Finding, finding


def smaller(book: Book) -> sp.Expr:
    """Return the smaller of the minimiser and the limit on the step size."""
    return sp.Min(book["decaying_k.eta_star"].expr, 1 / (4 * L), evaluate=False)


def joint_minimum(book: Book) -> Finding:
    """The best K at the best step size falls with the loss, for two runtimes (kappa = 50, Gamma = 18, N = 4)."""
    values = {
        "client_weight": [0.25] * 4, "client_gradient_variance": [0.0] * 4, "smoothness": 1.0, "cohort": 4,
        "strong_convexity": 0.02, "heterogeneity": 18.0, "optimal_loss": 18.0, "grad_cap_sq": 1.0,
        "minibatch_time": 1.0, "model_size": 10.0, "download_rate": 20.0, "upload_rate": 20 / 3,
    }  # fmt: skip
    best, steps = {}, np.arange(1, 41)
    for runtime, loss in ((500, 20.0), (4000, 19.0)):
        run = {**values, "runtime": runtime, "current_loss": loss, "local_steps": steps}
        step_size = book["decaying_k.eta_star"].formula(**run)
        best[runtime] = int(steps[np.argmin(book["decaying_k.per_second"].formula(**run, step_size=step_size))])
    evidence = "best with the step size: " + ", ".join(f"K = {k} for W = {w}" for w, k in best.items())
    witness = {"kappa": "50", "Gamma": "18", "G^2": "1", "N": "4", "tau": "2", "beta": "1", "F": "20, 19"}
    witness |= {"L": "1", "F^*": "18", "sigma_c": "0"}
    return finding(best[4000] < best[500], evidence, witness, as_audited=best == {500: 2, 4000: 2})
