"""Exact worst cases and certified rates of federated methods over whole classes of federations.

For everyone who wants to know how tight a bound is, or how fast a method provably converges. Both are semidefinite
programs, as in PEPit (performance estimation): the unknowns are inner products of the gradients and models of a run,
and the constraints are the interpolation inequalities of smooth, convex functions.

A *worst case* is the largest value of a metric after a given number of rounds: see ``worst_case`` in ``solve.py``. Its
specification is a ``Question`` (``question.py``): the method's own code is run on unknown vectors
(``symbolic_run.py``), and the models give inequalities (``formulation.py``), constraints and objectives. The command
``fedbounds tightness`` compares a bound with its worst case on a grid.

A *rate* holds after every number of rounds: see ``certify_rate`` in ``rate_search.py``. One round is a linear map
(``one_round.py``), and a quadratic form of the state is sought that every federation contracts (``lyapunov.py``). The
command is ``fedbounds rate``.

Both have proofs in exact fractions, which ``verify.py`` checks alone, without the rest of the project.

Each module imports only from those before it in this list:

- numbers: ``rounding``, ``packed``
- program: ``symbolic_run``, ``program``, ``formulation``, ``constraints``, ``objectives``, ``question``
- solution: ``interior_point``, ``symmetry``, ``solve``, ``replay``
- proof: ``verify`` (stand-alone), ``methods``, ``sum_of_squares``, ``worst_case_proof``
- rate: ``one_round``, ``lyapunov``, ``rate_case``, ``rate_search``
- table: ``grid_point``, ``jobs``, ``tightness_table``, ``tightness_report``, ``tightness``
- rates beside it: ``theorem_rates``, ``after_rounds``, ``rate``
"""
