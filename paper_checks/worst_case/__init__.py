"""Exact worst cases and certified rates over whole classes of federations, by semidefinite programs (PEP).

A module imports from those before it in this list only:

- data: ``symbolic_run``, ``coordinates``, ``program``, ``formulation``, ``constraints``, ``objectives``,
  ``question``, ``methods``, ``one_round``
- solve: ``interior_point``, ``symmetry``, ``solve``, ``interpolants``, ``replay``, ``lyapunov``,
  ``rate_case``
- certify: ``verify`` (stand-alone), ``sum_of_squares``, ``rational_federation``, ``worst_case_proof``, ``rate_proof``,
  ``rate_search``
- table: ``grid_point``, ``jobs``, ``tightness_table``, ``tightness_report``, ``proof_archive``, ``theorem_rates``,
  ``after_rounds``
- command: ``tightness``, ``rate``
"""
