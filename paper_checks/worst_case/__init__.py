"""Exact worst cases and certified rates of federated methods over whole classes of federations.

For everyone who wants to know how tight a bound is, or how fast a method provably converges. Both are semidefinite
programs (performance estimation); proofs in exact fractions can be checked with verify.py alone. Start with
the functions worst_case (in solve.py) and certify_rate (in rate_search.py), or the commands (tightness.py, rate.py).
Each module imports only from those before it in this list:

- data: ``packed``, ``symbolic_run``, ``program``, ``formulation``, ``constraints``, ``objectives``,
  ``question``, ``methods``, ``one_round``
- solve: ``interior_point``, ``symmetry``, ``solve``, ``interpolants``, ``replay``, ``lyapunov``,
  ``rate_case``
- certify: ``verify`` (stand-alone), ``sum_of_squares``, ``rational_federation``, ``worst_case_proof``, ``rate_proof``,
  ``rate_search``
- table: ``grid_point``, ``jobs``, ``tightness_table``, ``tightness_report``, ``theorem_rates``,
  ``after_rounds``
- command: ``tightness``, ``rate``
"""
