"""Decaying-K (Mills, Hu, Min): how many local steps, for how long; every statement of the paper, by theorem family.

The runtime model is in ``runtime``, Theorem 1 and the bound per second (8) in ``convergence``
(repaired in ``repairs``, sharpened in ``sharp``), the best K and eta in ``optima`` and the derivatives in
``derivatives``, the loss estimate in ``practice`` and the schedules of Table 3 in ``schedules``. The import block of
each is its notation table.
"""
