"""Federated problems: a model, the clients' samples, and the constants that theorems need.

``tasks.task("softmax(digits)").deal("dirichlet(0.5)", clients=6, seed=1)`` makes a ``FederatedProblem``
(``problem.py``), which has losses, gradients, minimisers and constants such as smoothness; those of linear models are
exact. ``pool.py`` has problems whose data are the population, ``quadratics/`` federations in closed form,
``own_problem.py`` problems from users' tables; ``evaluation.py`` computes means over clients' samples.
"""
