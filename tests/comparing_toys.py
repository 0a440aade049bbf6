"""Random federations of quadratics whose words and runs are known exactly, and the same ones known less well."""

import math
from functools import cache

import numpy as np

from bounds.bounded_quantity import AFTER, WEIGHTED, WITH_LAST
from bounds.places import VIRTUAL
from bounds.scenario import Scenario
from empirics.algorithms import algorithm
from empirics.exact import exact_run
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting


@cache
def played(seed, full=False, short=1.0, steps=0):
    """A random federation, its plan with steps ``short`` times as long as usual, and the exact moments of its run.

    The plan has so many local ``steps``, 0 for any.
    """
    draws = np.random.default_rng([seed, 5])
    clients = int(draws.integers(2, 5))
    curvature = (0.4, 0.7 + 1.6 * draws.random())
    problem = random_quadratics(
        seed, clients, 2, curvature, spread=float(draws.uniform(0.1, 2)), noise=float(draws.uniform(0, 0.6))
    )
    plan = {
        "cohort": clients if full else int(draws.integers(1, clients + 1)),
        "local_steps": steps or int(draws.integers(1, 5)),
        "rounds": int(draws.integers(2, 9)),
        "step_size": short * float(10 ** draws.uniform(-3, -0.6) / problem.smoothness),
    }
    return problem, plan, exact_run(problem, algorithm("fedavg()"), Setting(**plan))


def words(problem, plan, run):
    """What ties speak of, by plain arithmetic."""
    K, R, eta, N = (plan[w] for w in ("local_steps", "rounds", "step_size", "cohort"))
    C, sigmas = problem.clients, np.trace(problem.noise, axis1=1, axis2=2)
    curves = np.linalg.eigvalsh(problem.curvatures)
    gradients = np.array([A @ (problem.minimiser - b) for A, b in zip(problem.curvatures, problem.minima, strict=True)])
    losses = [float(problem.loss(w)) for w in (problem.start, problem.minimiser)]
    best = [float(c) for c in problem.floors]
    size, down, up, beta = 0.7, 2.3, 0.9, 0.013
    tau = size / down + size / up
    return {
        "clients": C, "client_weight": [1 / C] * C, "cohort": N, "participation": N / C,
        "local_steps": K, "rounds": R, "step_size": eta, "iterations": K * R,
        "initial_step_size": eta, "initial_local_steps": K, "squared_step_sizes": sum([eta**2] * (K * R)),
        "summed_step_sizes": sum([eta] * (K * R)),
        "steps_cubed_ratio": sum([K**3] * R) / sum([K] * R), "step_scale": eta * (K * R) ** 0.5,
        "parameters": size * 10**6 / 32, "model_size": size, "download_rate": down, "upload_rate": up,
        "communication_time": tau, "minibatch_time": beta, "runtime": (R + 0.4) * (tau + beta * K),
        "smoothness": curves.max(), "strong_convexity": curves.min(), "condition_number": curves.max() / curves.min(),
        "pl_constant": np.linalg.eigvalsh(problem.curvatures.mean(0)).min(),
        "initial_loss": losses[0], "optimal_loss": losses[1], "initial_gap": losses[0] - losses[1],
        "client_gradient_variance": sigmas, "gradient_variance": sigmas.max(),
        "grad_cap_sq": run.rounds["grad_cap_sq"].max(),
        "lipschitz": math.sqrt(run.rounds["grad_cap_sq"].max()) * 1.3,
        "heterogeneity": losses[1] - np.mean(best), "optimum_dissimilarity": (gradients**2).sum(-1).mean(),
        "initial_distance_sq": ((problem.start - problem.minimiser) ** 2).sum(),
        "final_divergence": run.server["divergence"][-1],
    }  # fmt: skip


def outcomes(problem, plan, seed):
    """What a run gives, at models drawn anywhere, by plain arithmetic; times and losses are made up."""
    draws = np.random.default_rng([seed, 17])
    C, K, eta = problem.clients, plan["local_steps"], plan["step_size"]
    server, then = draws.standard_normal((2, 2)) * 2
    models = server + draws.standard_normal((C, 2))
    loss, later = float(problem.loss(server)), float(problem.loss(then))
    gap = loss - float(problem.loss(problem.minimiser))
    clients = np.array([A @ (server - b) for A, b in zip(problem.curvatures, problem.minima, strict=True)])
    apart, spread = ((models - models.mean(0)) ** 2).sum(-1), ((models - server) ** 2).sum(-1)
    paths = clients - draws.standard_normal((C, 2))
    of_rounds = draws.uniform(0.1, 3, plan["rounds"])
    population, of_participants, empirical = draws.uniform(0.2, 2, 3)
    down, up, beta, size = *draws.uniform(0.5, 3, (2, C)), draws.uniform(0.01, 0.1, C), 0.7
    top = np.linalg.eigvalsh(problem.curvatures).max()
    return {
        "train_loss": loss, "optimality_gap": gap, "distance_sq": ((server - problem.minimiser) ** 2).sum(),
        "grad_norm_sq": (clients.mean(0) ** 2).sum(), "client_grad_norm_sq": (clients**2).sum(-1),
        "mean_client_grad_sq": (clients**2).sum(-1).mean(), "dissimilarity_offset": problem.dissimilarity_offset,
        "dissimilarity_factor": problem.dissimilarity_factor,
        "loss_decrease": loss - later, "loss_change": later - loss,
        "client_distance_sq": apart, "consensus_distance": apart.mean(), "divergence": spread.mean(),
        "gradient_drift": ((clients - paths) ** 2).sum(-1),
        "mean_gradient_drift": ((clients.mean(0) - paths.mean(0)) ** 2).sum(),
        "summed_divergence_root": np.sqrt(of_rounds).sum(), "mean_divergence": of_rounds.mean(),
        "out_of_sample_gap": of_participants - empirical, "participation_gap": population - of_participants,
        "generalization_gap": population - empirical, "excess_risk": population - empirical + gap,
        "drift_factor": 2 * K * (K - 1) * (eta * top) ** 2,
        "model_size": size, "client_download_rate": down, "client_upload_rate": up, "client_minibatch_time": beta,
        "client_round_time": size / down + size / up + K * beta,
        "round_time": (size / down + size / up + K * beta)[: plan["cohort"]].max(),
        "step_size_scale": 0.3 * eta, "step_size_budget": 0.3 * eta * K,
    }  # fmt: skip


def measured(quantity, run, step_size, weights=None):
    """The number that a class is about, off an exact run of FedAvg; ``weights`` (numbers) where not all count alike."""
    virtual = quantity.at == VIRTUAL
    series = run.iterations(quantity.target) if virtual else run.server[quantity.target]
    if quantity.statistic == "last":
        return float(series[-1])
    if not (quantity.statistic == "min" if virtual else quantity.over == WITH_LAST):
        series = series[1:] if quantity.over == AFTER else series[:-1]
    if quantity.statistic == WEIGHTED:
        return float(step_size * series.sum())
    if quantity.weights:
        return float(np.array(weights.shares(len(series))) @ series)
    return float(series.min() if quantity.statistic == "min" else series.mean())


DROPPED = (
    (),
    ("initial_gap", "optimal_loss", "heterogeneity"),
    ("pl_constant", "gradient_variance", "client_gradient_variance"),
    ("heterogeneity", "pl_constant", "condition_number", "iterations"),
)


def blurred(problem, plan, run, leave, draws):
    """The same federation, known less well: words left out, constants within intervals that hold the true ones."""
    known = {w: v for w, v in words(problem, plan, run).items() if w not in ("runtime", "lipschitz", *leave)}
    ends = {}
    for word in ("smoothness", "strong_convexity", "initial_gap", "heterogeneity", "grad_cap_sq"):
        if word in known and word not in leave:
            ends[word] = [known[word] * draws.uniform(0.8, 1), known[word] * draws.uniform(1, 1.1)]
    ends["smoothness"][1] = max(ends["smoothness"][1], known["smoothness"])
    free = ("initial_loss", "condition_number", "pl_constant", "steps_cubed_ratio")
    known = {w: v for w, v in known.items() if w not in free or (w == "pl_constant" and w not in leave)}
    if "optimal_loss" in known:
        known["initial_loss"] = known["optimal_loss"] + known.pop("initial_gap") if "initial_gap" in known else 9.0
        ends.pop("initial_gap", None)
    else:
        known["initial_distance_sq"] = float(((problem.start - problem.minimiser) ** 2).sum())
    return Scenario.of({**known, "_interval": ends})
