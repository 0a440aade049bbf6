"""Decaying-K (Mills, Hu, Min): how many local steps, and for how long.

The runtime model is in ``runtime``, Theorem 1 and the bound per second (8) in ``convergence`` (repaired in ``repairs``,
improved in ``sharp``), the best K and eta in ``optima``, the derivatives in ``derivatives``, the loss estimate in
``practice`` and the schedules of Table 3 in ``schedules``. ``letters`` is the notation table.
"""
