"""Exact worst cases and certified rates over whole classes of federations, by semidefinite programs (PEP).

Modules import from their own layer's earlier modules and from the layers above them in this list only:

- data: ``program``, ``symbolic_run``, ``cohort_tree``, ``coordinates``, ``formulation``, ``constraints``,
  ``objectives``, ``one_round``
- solve: ``solver``, ``conditioning``, ``interior_point``, ``refining``, ``symmetry``, ``solve``, ``lyapunov``
- certify: ``verify`` (stand-alone), ``sum_of_squares``, ``worst_case_proof``, ``rate_proof``, ``replay``
- table: ``grid_point``, ``tightness_table``, ``rate_table``
- command: ``tightness``, ``rate``
"""
