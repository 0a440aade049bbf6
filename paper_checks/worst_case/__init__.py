"""Exact worst cases and certified rates of federated methods over whole classes of federations, as in PEPit.

``fedbounds tightness BOUND`` compares a bound with the largest value of its metric after some rounds. In reading order:

1. ``problem``: the method with its setting, the assumptions and the metric; ``grid_point`` takes them from a bound.
2. ``function_class``: L-smooth, mu-strongly convex functions and their interpolation inequality.
3. ``linear_run``: the method's own code, run on unknown vectors: its models are linear in the gradients.
4. ``gram``: the Gram matrix of these vectors; ``constraints`` and ``objectives`` are linear in it.
5. ``formulation``: the semidefinite program (``program``) of all these.
6. ``solve``: its solution (``interior_point``; ``symmetry`` for drawn cohorts); ``replay`` runs a worst federation.
7. ``certificate``: a proof in exact fractions (``methods``, ``exact``), which ``verify`` checks without the rest
   of the project.
8. ``tightness``: the command; ``jobs`` compute its grid points, ``tightness_table``, ``tightness_report`` show them.

``fedbounds rate METHOD`` certifies a contraction that holds after every number of rounds: ``rate_problem``,
``one_round`` (a round as a linear map), ``lyapunov`` (the semidefinite program of a quadratic form that contracts),
``rate_search`` (the smallest contraction, and proofs), ``after_rounds``, ``theorem_rates`` and ``rate`` (the command).
"""
