"""Federated problems: a model, the clients' samples, and the constants that theorems need.

``tasks.task("softmax(digits)").deal("iid", clients=6, seed=1)`` makes a ``FederatedProblem`` (``problem.py``)
with losses, gradients, minimisers and constants, which are exact for linear models. ``pool.py`` has problems whose data
are the population, ``quadratics/`` federations in closed form, ``own_problem.py`` problems from users' tables.
"""
