"""FedInit: every bound, order, cap and cost of the paper.

``constants`` has the constants of the theorems and the caps on their parameters; ``optimization`` Theorems 1 and 2,
``stability`` Theorem 3, ``divergence`` Theorems 4 and 5, ``orders`` all statements up to a constant, ``costs`` Table 8.
``repaired`` and ``sharp`` are derived here: corrections, and smaller bounds.
"""
